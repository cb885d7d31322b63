# SPDX-License-Identifier: Apache-2.0

"""A request for servers, as a launch into a Pcloud that grows.

Rule: reference-default-pcloud-grow
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping

from nova.compute import api
from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.policies import servers as policies

from pcloud.api.nova_calls import images
from pcloud.api.nova_calls import launch_sizes
from pcloud import exception
from pcloud.explain import conductor
from pcloud.growth import launches
from pcloud.rules.placing import default_pcloud
from pcloud.rules.placing import hints as hint_rules


def check(
    context: nova_context.RequestContext, default: default_pcloud.Default,
    server: Mapping, hints: Mapping, flavor_id: str,
    properties: Mapping[str, str],
) -> None:
    """Refuse servers for which a growing Pcloud has and gets no capacity.

    Nothing is changed. A request that Nova refuses in any case, or of a caller
    who may not create servers, is left to Nova.

    :param default: the default that counts, in mode ``grow``
    :param server: the server in the body of the call
    :param hints: all hints of the server
    :param properties: the properties of the server's image
    :raises: as `launches.check`
    """
    if not context.can(policies.SERVERS % 'create', fatal=False):
        return
    spec = _spec(context, server, hints, flavor_id, properties)
    if spec is not None:
        launches.check(context, spec, default)


def _spec(
    context: nova_context.RequestContext, server: Mapping, hints: Mapping,
    flavor_id: str, properties: Mapping[str, str],
) -> objects.RequestSpec | None:
    """Return the request for the servers.

    :returns: None for a request that Nova, or Nova's scheduler, will refuse
        however much capacity there is
    """
    try:
        flavor = objects.Flavor.get_by_flavor_id(context, flavor_id, 'no')
        zone, _, _ = api.API.parse_availability_zone(
            None, server.get('availability_zone'))
        spec = conductor.make(
            context, flavor, objects.ImageMeta.from_dict(
                {'properties': dict(properties)}), context.project_id,
            {name: hint_rules.values(hints, name) for name in hints}, zone)
        spec.num_instances = launch_sizes.count(server)
        spec.is_bfv = images.is_on_volume(server)
        return spec
    except (exception.FlavorUnusable, exception.ServerGroupUnknown,
            nova_exception.NovaException, ValueError, TypeError):
        return None
