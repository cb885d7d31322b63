# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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

from pcloud.api.nova_calls import images
from pcloud import exception
from pcloud.explain import conductor
from pcloud.growth import launches
from pcloud.growth import room
from pcloud.rules import default_pcloud
from pcloud.rules import hints as hint_rules

_COUNTS = 'min_count', 'max_count'


def prepare(
    context: nova_context.RequestContext, pcloud_id: str,
    growth: default_pcloud.Growth, server: Mapping, hints: Mapping,
    flavor_id: str, properties: Mapping[str, str],
) -> launches.Prepared | None:
    """Make sure that a growing Pcloud has room for the servers of a request.

    :param server: the server in the body of the call
    :param hints: all hints of the server
    :param properties: the properties of the server's image
    :returns: None for a request that Nova, or Nova's scheduler, will refuse
        however much room there is
    :raises: as `launches.prepare`
    """
    launch = _launch(context, server, hints, flavor_id, properties)
    if launch is None:
        return None
    try:
        return launches.prepare(context, pcloud_id, growth, launch)
    except (exception.PcloudNotFound, exception.PcloudUnusable) as error:
        raise exception.GrowthRefused(
            pcloud=pcloud_id, count=launch.demand.count, reason=error)


def _launch(
    context: nova_context.RequestContext, server: Mapping, hints: Mapping,
    flavor_id: str, properties: Mapping[str, str],
) -> room.Launch | None:
    try:
        flavor = objects.Flavor.get_by_flavor_id(context, flavor_id, 'no')
        zone, _, _ = api.API.parse_availability_zone(
            None, server.get('availability_zone'))
        spec = conductor.make(
            context, flavor, objects.ImageMeta.from_dict(
                {'properties': dict(properties)}), context.project_id,
            {name: hint_rules.values(hints, name) for name in hints}, zone)
        spec.num_instances = _count(server)
        spec.requested_destination = objects.Destination()
        spec.is_bfv = images.is_on_volume(server)
        conductor.narrow_as_nova(context, spec)
    except (exception.FlavorUnusable, exception.ServerGroupUnknown,
            nova_exception.NovaException, ValueError, TypeError):
        return None
    if spec.instance_group is not None:
        conductor.look_up_group(context, spec)
    return room.Launch(spec, zone)


def _count(server: Mapping) -> int:
    """Return how many servers a request is for, at most.

    :raises: `ValueError`, `TypeError`
    """
    return max(int(server.get(name) or 1) for name in _COUNTS)
