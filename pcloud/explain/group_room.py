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

"""Room for servers to be together on a host.

Rule: reference-room-groups
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects

from pcloud.backend import computes
from pcloud.backend import isolation
from pcloud.backend import servers
from pcloud import exception
from pcloud.explain import candidates
from pcloud.explain import conductor
from pcloud.rules import capacity
from pcloud.rules import colocation
from pcloud.rules import hints
from pcloud.scheduler import open_hosts
from pcloud.scheduler import request


@dataclasses.dataclass(frozen=True)
class GroupRoom:
    """The number of groups with room.

    :ivar reason: why there is no room for more groups, None when there is
        enough room
    """

    groups: int
    reason: str | None


def find(
    context: nova_context.RequestContext, project_id: str,
    flavors: Sequence[objects.Flavor], count: int,
    pcloud_id: str | None = None, parent: str | None = None,
) -> GroupRoom:
    """Return for how many groups there is room now.

    Placement is called at most twice, and once more in a Pcloud. Outside of
    Pclouds, hosts that are down count too: a check would ask thousands of
    hosts.

    :param flavors: the flavors of a group's servers, which share a host
    :param count: how many groups are wanted
    :param parent: the service, or the id of the server, whose hosts are
        required
    :raises: `exception.Unavailable`, `exception.FlavorUnusable`
    """
    request_hints = {hints.PCLOUD: [pcloud_id]} if pcloud_id else {}
    try:
        specs = [conductor.make(
            context, flavor, conductor.no_image(), project_id, request_hints)
            for flavor in flavors]
        conductor.narrow(context, specs[0])
        hosts = _hosts(context, specs[0], parent)
    except nova_exception.RequestFilterFailed as error:
        return GroupRoom(0, conductor.reason(error))
    except exception.PcloudUnusable as error:
        return GroupRoom(0, str(error))
    nodes = None if hosts is None else _nodes(context, hosts)
    needs = [candidates.need(spec) for spec in specs]
    groups = _groups(
        context, needs, specs[0].requested_destination, count, nodes)
    if groups >= count:
        return GroupRoom(count, None)
    return GroupRoom(groups, _reason(capacity.total(needs), nodes, parent))


def _hosts(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    parent: str | None,
) -> set[str] | None:
    """Return the only right hosts, None when all hosts are right.

    Hosts of a cell that does not answer are not right.

    :raises: `exception.PcloudUnusable`
    """
    hosts = None
    wanted = request.pcloud_id(spec)
    if wanted is not None:
        _, pcloud = isolation.usable_pcloud(
            context, wanted, spec.project_id)
        hosts = set(open_hosts.nodes(context, pcloud))
    if parent is not None:
        there = (servers.hosts(context, spec.project_id, [parent])
                 if colocation.is_server(parent) else
                 servers.units(context, spec.project_id, parent))
        beside = set(there.hosts.values())
        hosts = beside if hosts is None else hosts & beside
    return hosts


def _nodes(
    context: nova_context.RequestContext, hosts: set[str],
) -> set[str]:
    """Return the uuids of the nodes of hosts that are up and enabled."""
    return {node.uuid for compute in computes.load(context, hosts).values()
            if compute.up and compute.enabled for node in compute.nodes}


def _groups(
    context: nova_context.RequestContext,
    needs: Sequence[capacity.Need], destination: objects.Destination | None,
    count: int, nodes: set[str] | None,
) -> int:
    """Return for how many groups there is room, at least."""
    group = capacity.total(needs)
    limit = count if nodes is None else None

    def fitting(hosts: dict[str, capacity.Host]) -> int:
        return sum(capacity.fits(group, host) for uuid, host in hosts.items()
                   if nodes is None or uuid in nodes)

    groups = fitting(candidates.offered(context, group, destination, limit))
    if groups < count and len(needs) > 1:
        # Placement may have enough for a group, but not for a server as large.
        groups = fitting(candidates.offered(
            context, capacity.largest(needs), destination))
    return groups


def _reason(
    group: capacity.Need, nodes: set[str] | None, parent: str | None,
) -> str:
    wanted = ', '.join(capacity.words(group))
    if nodes is not None and not nodes:
        where = f" with '{parent}'" if parent else ''
        return f'there is no host{where} that is up and enabled'
    subject = 'no host' if nodes is None else (
        f'none of the {len(nodes)} hosts that would do')
    return f'{subject} has more room for {wanted} together'
