# SPDX-License-Identifier: Apache-2.0

"""A Pcloud as the owner's rules leave it for a server.

Rule: reference-house-rules
"""

from nova import context as nova_context

from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud.rules.placing import access
from pcloud.rules.placing import house_rules


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
