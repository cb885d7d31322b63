# SPDX-License-Identifier: Apache-2.0

"""The servers of a Pcloud that may be moved, and the hosts where they fit.

Rule: reference-rebalancing-plan, reference-rebalancing-pinned
"""

# Nova's objects are registered when its services start, perhaps after us.

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import json

from nova import context as nova_context
from nova import objects
from oslo_utils import timeutils

from pcloud.backend.cells import occupants
from pcloud.backend.cells import past_moves
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.explain import filtering
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.planning import bundles
from pcloud.planning import host_states
from pcloud.planning import layout_requests
from pcloud.planning import new_hosts
from pcloud.planning import obstacles
from pcloud.planning.programs import relocation
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.moving import blockers
from pcloud.rules.placing import access
from pcloud.scheduler import candidates

# Servers asked for with so many different things are looked at, those with
# most servers first: filters are asked about each.
MOST_KINDS = 20

_CLASSES = capacity.VCPU, capacity.MEMORY, capacity.DISK
# GiB of disk, of a provider of which nothing is known.
_PLENTY = 10 ** 9


@dataclasses.dataclass(frozen=True)
class Pinned:
    """A server that no plan moves.

    :ivar host: the owner's name of the host
    :ivar rule: as `blockers` names it, or a name of `layout_requests`
    """

    server: str
    host: str
    rule: str
    reason: coded.Reason


@dataclasses.dataclass(frozen=True)
class Layout:
    """What plans for a Pcloud depend on.

    :ivar hosts: in the order of the world
    :ivar servers: the uuids of the servers of each kind on each host
    :ivar unknown: what may be otherwise and no plan knows
    :ivar silent: further hosts, in cells that do not answer
    """

    hosts: Sequence[hosts.Host]
    world: relocation.World
    servers: Sequence[Sequence[Sequence[str]]]
    pinned: Sequence[Pinned]
    unknown: Sequence[coded.Reason]
    silent: Sequence[coded.Reason]

    @property
    def facts(self) -> str:
        """All that plans depend on, as text."""
        return json.dumps([
            [[host.compute.host, host.name, host.units, its.takes,
              its.can_be_freed, its.takes_new, sorted(its.free.items()),
              sorted(its.most.items())]
             for host, its in zip(self.hosts, self.world.hosts)],
            [[sorted(kind.amounts.items()), sorted(kind.refused), servers]
             for kind, servers in zip(self.world.kinds, self.servers)],
            sorted([each.server, each.host, each.rule]
                   for each in self.pinned),
            [*self.unknown, *self.silent]])


def read(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud, move: str,
    bundle: bundles.Bundle | None,
) -> Layout:
    """Return what plans for a Pcloud depend on.

    Placement is called three times at most. The number of queries depends
    neither on the number of hosts nor on the number of servers, but for the
    queries of filters for each kind of server.

    :param move: `draining.LIVE` or `draining.ANY`
    :param bundle: the new servers that are to fit; None for a plan that
        makes hosts empty
    :raises: `exception.PcloudNotFound`, `exception.Unavailable`
    """
    there = hosts.index(context, pcloud)
    names = [host.compute.host for host in there]
    found, silent = occupants.of_hosts(context, names)
    states = host_states.load(context, names)
    seen = {state.host for state in states} - silent
    if any(host.compute.answered and host.compute.host not in seen
           for host in there):
        # A cell that has answered a moment ago.
        raise exception.Unavailable()
    on = {occupant.uuid: name for name, its in found.items()
          for occupant in its}
    loaded = filtering.load()
    reader = layout_requests.Reader(
        context, pcloud, obstacles.access_of(context, pcloud), there, found,
        request_specs.kept(context, on),
        bundles.sticky_servers(context, loaded, on), states, loaded)
    pasts = past_moves.of_hosts(context, names, timeutils.utcnow_ts())
    pinned, movable = [], []
    for host, occupant in reader.all_occupants():
        obstacle = reader.obstacle(host, occupant, move, pasts)
        if obstacle is None:
            movable.append((host, occupant.uuid))
        else:
            pinned.append(Pinned(occupant.uuid, host.name, *obstacle))
    return _Making(
        reader, bundle, movable, pinned,
        candidates.free(context, _CLASSES, objects.Destination(
            aggregates=[pcloud.aggregate.uuid]))
        if movable or bundle else {}).layout()


_TOO_MANY = layout_requests.Request(capacity.Need({}), frozenset(), (
    blockers.PLACEMENT, coded.Reason('other_kinds_first', kinds=MOST_KINDS)))


class _Making:
    """A layout in the making.

    :ivar _free: ``uuid of the node -> what is free``
    :ivar _kinds: ``what the servers need, and the places of the hosts that
        refuse the servers -> the uuids of the servers on each host``
    """

    def __init__(
        self, reader: layout_requests.Reader, bundle: bundles.Bundle | None,
        movable: Sequence[tuple[hosts.Host, str]],
        pinned: Sequence[Pinned], free: Mapping[str, capacity.Host],
    ) -> None:
        self._reader, self._bundle, self._free = reader, bundle, free
        self._hosts = reader.there
        self._place_of = {
            host.name: place for place, host in enumerate(self._hosts)}
        self._pinned = list(pinned)
        self._unknown = reader.unknown()
        self._kinds: dict[tuple, list[list[str]]] = {}
        for number, group in enumerate(self._groups(movable)):
            if number == MOST_KINDS:
                self._unknown.append(
                    coded.Reason('kinds_unplanned', kinds=MOST_KINDS))
            self._add(group, number < MOST_KINDS)

    def _groups(
        self, movable: Sequence[tuple[hosts.Host, str]],
    ) -> list[list[tuple[hosts.Host, str]]]:
        """Return the servers of equal requests, by cell."""
        cell = {state.host: state.cell_uuid for state in self._reader.states}
        groups: dict[tuple[str, str], list[tuple[hosts.Host, str]]] = {}
        for host, server in movable:
            groups.setdefault((
                self._reader.requests[server].key,
                cell.get(host.compute.host, '')), []).append((host, server))
        return [groups[key] for key in sorted(
            groups, key=lambda key: (-len(groups[key]), key))]

    def _add(
        self, group: Sequence[tuple[hosts.Host, str]], is_asked: bool,
    ) -> None:
        host, server = group[0]
        request = self._reader.request(
            self._reader.requests[server], host.compute.host,
        ) if is_asked else _TOO_MANY
        if request.obstacle is not None:
            self._pinned += [Pinned(server, host.name, *request.obstacle)
                             for host, server in group]
            return
        there = self._kinds.setdefault(
            (_amounts(request.need), self._refused(request)),
            [[] for _ in self._hosts])
        for host, server in group:
            there[self._place_of[host.name]].append(server)

    def _refused(self, request: layout_requests.Request) -> frozenset[int]:
        return frozenset(
            place for place, host in enumerate(self._hosts)
            if host.compute.host not in request.hosts or
            self._is_wrong(host, request.need))

    def _is_wrong(self, host: hosts.Host, need: capacity.Need) -> bool:
        """Whether a host has wrong traits, or has given too much already."""
        there = self._there(host)
        return bool(capacity.wrong_traits(need, there)) or any(
            max(there.free.get(name) or (0,)) < 0
            for name, amount in need.amounts.items() if amount)

    def _there(self, host: hosts.Host) -> capacity.Host:
        return self._free.get(
            host.node.uuid or '', capacity.Host({}, frozenset()))

    def layout(self) -> Layout:
        """Return what has been made."""
        new_on = self._new_on()
        pinned_on = {each.host for each in self._pinned}
        made = [self._host(host, place, host.compute.host in new_on,
                           host.name not in pinned_on)
                for place, host in enumerate(self._hosts)]
        kinds = [relocation.MovableKind(
            dict(amounts), tuple(map(len, servers)), refused)
            for (amounts, refused), servers in sorted(
                self._kinds.items(), key=lambda pair: (
                    pair[0][0], sorted(pair[0][1])))]
        servers = [self._kinds[_key(kind)] for kind in kinds]
        return Layout(
            self._hosts, relocation.World(made, kinds),
            [[sorted(its) for its in there] for there in servers],
            sorted(self._pinned, key=lambda each: (each.host, each.server)),
            list(dict.fromkeys(self._unknown)), [
                coded.Reason('cell_silent', host=host.name)
                for host in self._hosts if not host.compute.answered])

    def _new_on(self) -> set[str]:
        """Return the service hosts right for the new servers."""
        if self._bundle is None:
            return set()
        bundle = self._bundle
        self._unknown += bundles.unknown(bundle, self._reader.states)
        need, = bundle.needs.values()
        kept, = bundle.kept(self._reader.states).values()
        return {host.compute.host for host in self._hosts
                if host.compute.host in kept and not obstacles.status(host)
                and not self._is_wrong(host, need)}

    def _host(
        self, host: hosts.Host, place: int, takes_new: bool,
        is_unpinned: bool,
    ) -> relocation.MovingHost:
        found = self._there(host)
        free = {name: amount for name in self._classes() if (
            amount := self._free_of(name, host, found)) is not None}
        is_open = bool(found.free) and bool(access.host_verdict(
            self._reader.tenancy, host.compute.host,
            host.node.hypervisor_hostname))
        is_empty = not host.instances and not self._reader.found.get(
            host.compute.host)
        return relocation.MovingHost(
            free, new_hosts.largest(host.node.vcpus, host.node.memory_mb,
                                    host.node.disk_gb),
            is_open and not obstacles.status(host) and
            host.maintenance is None and not (
                is_empty and self._bundle is None),
            is_unpinned and not is_empty and not host.is_spare and
            host.compute.answered,
            is_open and takes_new)

    def _classes(self) -> list[str]:
        needs = [dict(amounts) for amounts, _ in self._kinds]
        if self._bundle is not None:
            needs += [dict(need.amounts)
                      for need in self._bundle.needs.values()]
        return sorted({name for each in needs for name in each})

    def _free_of(
        self, name: str, host: hosts.Host, found: capacity.Host,
    ) -> int | None:
        """Return what is free of a class, None for an absent class.

        Of several providers the one with most free counts.
        """
        amounts = found.free.get(name)
        if amounts is None:
            if name != capacity.DISK or not found.free:
                return None
            self._unknown.append(
                coded.Reason('shared_provider', resource=name))
            return _PLENTY
        if len(amounts) > 1:
            self._unknown.append(
                coded.Reason('several_providers', resource=name))
        return max(amounts)


def _amounts(need: capacity.Need) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, amount) for name, amount
                        in need.amounts.items() if amount))


def _key(kind: relocation.MovableKind) -> tuple:
    return tuple(sorted(kind.amounts.items())), kind.refused
