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

"""Whether a Pcloud has room for a launch, with all servers under way.

Rule: reference-default-pcloud-grow-room
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from nova import objects
from oslo_log import log as logging

from pcloud.backend import inventories
from pcloud.backend import isolation
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.growth import tickets
from pcloud.objects import reconcile
from pcloud.rules import access
from pcloud.rules import capacity
from pcloud.rules import growth as rules
from pcloud.scheduler import candidates
from pcloud.scheduler import preferred_pcloud
from pcloud.scheduler import request

LOG = logging.getLogger(__name__)

# How often servers under way are read again while Placement gives some of
# them allocations.
_ROUNDS = 20
_GROUP = 'group'


@dataclasses.dataclass(frozen=True)
class Launch:
    """Servers that are about to be asked for.

    :ivar spec: the request with a destination, narrowed by Nova's own request
        filters
    :ivar zone: the availability zone asked for, None for any
    """

    spec: objects.RequestSpec
    zone: str | None

    @property
    def demand(self) -> rules.Demand:
        """The room that the servers need."""
        group = self.spec.instance_group
        return rules.Demand(candidates.need(self.spec),
                            request.servers(self.spec),
                            group.uuid if group is not None else None)


@dataclasses.dataclass(frozen=True)
class Room:
    """The free room in a Pcloud.

    :ivar hosts: what is free on the hosts that take servers, by service host
    :ivar waiting: the servers under way without allocations
    :ivar placed: the servers in no cell that have allocations
    :ivar size: the number of hosts in the Pcloud
    """

    hosts: Mapping[str, capacity.Host]
    waiting: Collection[rules.Demand]
    placed: Collection[rules.Demand]
    size: int

    def with_hosts(self, more: Mapping[str, capacity.Host]) -> Room:
        """Return the room with more hosts."""
        return dataclasses.replace(self, hosts={**self.hosts, **more})

    def shortage(self, launch: Launch) -> int:
        """Return how many servers find no place: of the launch, or under way.

        The servers of a group are placed together, with the members of the
        group that have no host yet.
        """
        demand = launch.demand
        together = [each.count for each in (*self.waiting, *self.placed)
                    if demand.group is not None and
                    each.group == demand.group]
        free, homeless = rules.left(self.hosts, (
            each for each in self.waiting
            if demand.group is None or each.group != demand.group))
        places = preferred_pcloud.places(launch.spec, {
            host: capacity.fits(demand.need, left)
            for host, left in free.items()})
        return homeless + max(0, demand.count + sum(together) - places)

    def is_spare(self, host: str) -> bool:
        """Whether all servers under way find room without a host."""
        return self.without(host)._homeless <= self._homeless

    @property
    def _homeless(self) -> int:
        """The number of servers under way that no host has room for."""
        return rules.left(self.hosts, self.waiting)[1]

    def without(self, host: str) -> Room:
        """Return the room without a host."""
        return dataclasses.replace(self, hosts={
            name: free for name, free in self.hosts.items() if name != host})


def at_least(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
    launch: Launch,
) -> Room:
    """Return the room that there is, or less.

    A server under way may count twice. Five queries, a query a cell, and one
    call of Placement.

    :raises: `exception.PcloudUnusable`, `exception.Unavailable` when Placement
        does not answer
    """
    demands = [*_demands(request_specs.queued(
        context, ticket.pcloud.id)).values(),
        *(kept.demand for kept in tickets.reservations(
            context, ticket).values())]
    hosts, size = _free(context, ticket, launch, demands)
    return Room(hosts, demands, (), size)


def exactly(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
    launch: Launch,
) -> Room:
    """Return the room that there is, while no other launch has a reservation.

    Servers without allocations are read before and after the free room, until
    they are the same: else a server might count twice, or not at all. One call
    of Placement a server in no cell.

    :raises: `exception.PcloudUnusable`, `exception.Unavailable` when Placement
        does not answer
    """
    waiting, placed = _under_way(context, ticket)
    hosts, size = _free(context, ticket, launch, waiting.values())
    for _ in range(_ROUNDS):
        before = waiting.keys()
        waiting, placed = _under_way(context, ticket)
        if waiting.keys() == before:
            break
        hosts, size = _free(context, ticket, launch, waiting.values())
    else:
        LOG.info('Servers of Pcloud %s got allocations all the time while '
                 'the room was read; perhaps some count twice.',
                 ticket.pcloud.id)
    return Room(hosts, waiting.values(), placed.values(), size)


def _under_way(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
) -> tuple[dict[str, rules.Demand], dict[str, rules.Demand]]:
    """Return the servers in no cell, without and with allocations."""
    servers = _demands(request_specs.queued(context, ticket.pcloud.id))
    placed = {server: demand for server, demand in servers.items()
              if inventories.has_allocation(context, server)}
    return {server: demand for server, demand in servers.items()
            if server not in placed}, placed


def _demands(
    queued: Mapping[str, request_specs.Asked],
) -> dict[str, rules.Demand]:
    """Return what each of some servers needs; most have the same flavor."""
    needs: dict[tuple[str, bool], capacity.Need] = {}
    demands = {}
    for server, asked in queued.items():
        kind = asked.flavor.flavorid, asked.on_volume
        if kind not in needs:
            needs[kind] = candidates.need_of(asked.flavor, asked.on_volume)
        demands[server] = rules.Demand(
            needs[kind], 1, next(iter(asked.hints.get(_GROUP) or ()), None))
    return demands


def _free(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
    launch: Launch, demands: Iterable[rules.Demand],
) -> tuple[dict[str, capacity.Host], int]:
    """Return what is free on hosts that take servers, and the Pcloud's size.

    :raises: `exception.Unavailable` while a host is closed that is enabled
    """
    uuid, pcloud = _settled_pcloud(context, ticket, launch)
    need = launch.demand.need
    asked = rules.smallest([need, *(each.need for each in demands)])
    destination = launch.spec.requested_destination.obj_clone()
    destination.require_aggregates([uuid])
    offered = candidates.offered(
        context, asked if asked.amounts else need, destination)
    return {host: offered[node.uuid] for host, node
            in preferred_pcloud.serving(context, launch.spec, pcloud).items()
            if node.uuid in offered}, len(pcloud.hosts)


def _settled_pcloud(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
    launch: Launch,
) -> tuple[str, access.Pcloud]:
    """Return a Pcloud, after what is due for its enabled hosts is done."""
    pcloud_id, project = ticket.pcloud.id, launch.spec.project_id
    uuid, pcloud = isolation.usable_pcloud(context, pcloud_id, project)
    if pcloud.due:
        reconcile.finish(context, sorted(pcloud.due))
        uuid, pcloud = isolation.usable_pcloud(context, pcloud_id, project)
    if pcloud.due and access.ENABLED in pcloud.states.values():
        # An enabled host that is closed would look like no room.
        raise exception.Unavailable()
    return uuid, pcloud
