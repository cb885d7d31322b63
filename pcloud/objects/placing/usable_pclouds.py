# SPDX-License-Identifier: Apache-2.0

"""A Pcloud as the owner's rules leave it for a server.

Rule: reference-house-rules
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from nova import context as nova_context
from nova import objects

from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud.rules.placing import access
from pcloud.rules.placing import hints
from pcloud.rules.placing import house_rules


def asked(spec: objects.RequestSpec) -> house_rules.Asked:
    """Return what a request asks a Pcloud for.

    A request that does not say its flavor has none that a list allows.

    :raises: `exception.InvalidValue` for a wrong name of a host
    """
    image = spec.image if 'image' in spec else None
    unknown = (house_rules.NO_IMAGE if 'is_bfv' in spec and spec.is_bfv
               else None)
    return house_rules.Asked(
        spec.project_id, spec.flavor.flavorid if 'flavor' in spec else '',
        image.id if image is not None and 'id' in image and image.id
        else unknown,
        hints.host_name(spec.scheduler_hints
                        if 'scheduler_hints' in spec else None))


def find(
    context: nova_context.RequestContext, pcloud_id: str,
    asked: house_rules.Asked,
) -> tuple[str, access.Pcloud]:
    """Return `isolation.usable_pcloud` with the hosts that a server may have.

    :raises: `exception.PcloudUnusable`, also where the owner of the Pcloud
        does not allow what is asked for
    """
    uuid, pcloud = isolation.usable_pcloud(context, pcloud_id, asked.project)
    try:
        return uuid, house_rules.narrowed(pcloud, asked)
    except (exception.HouseRuleBroken, exception.NamedHostUnknown) as error:
        raise exception.PcloudUnusable(
            pcloud=pcloud_id, reason=error.details['reason'])
