# SPDX-License-Identifier: Apache-2.0

"""A trace on the hosts of a cloud, under the weights of a policy.

Rule: reference-simulation-choice
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import heapq
import random

from pcloud import exception
from pcloud import text
from pcloud_simulator import bits
from pcloud_simulator import fleets
from pcloud_simulator import simulated_cloud
from pcloud_simulator import weight_sets
from pcloud_simulator import workload

# A moment for dates, where a trace does not tell when it began.
UNDATED = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)

# The order of events at the same moment, after the servers that end.
_REBOOT, _START, _LOOK = range(3)


@dataclasses.dataclass(frozen=True)
class World:
    """What is the same for all policies.

    :ivar hosts: at least one host
    :ivar begin: the moment at which the trace begins
    :ivar bucket: see `pcloud.rules.placing.attributes.reboot_scores`
    :ivar seed: of chance: where servers are that were there before, and which
        of equal hosts is taken
    :ivar looks: how often the cloud is looked at, at equal distances, at the
        beginning and at the end: 2 or more
    """

    trace: workload.Trace
    hosts: Sequence[fleets.FleetHost]
    begin: datetime.datetime
    bucket: datetime.timedelta
    seed: int
    looks: int


@dataclasses.dataclass(frozen=True)
class Look:
    """A cloud at a moment of a trace.

    :ivar day: days since the trace began
    :ivar servers: how many servers run
    :ivar by_platform: platform to the number of servers; None for hosts
        without a platform
    :ivar refused: how many launches found no host until then
    :ivar servers_hit: how many servers were on hosts that were rebooted,
        until then
    :ivar reboots_with_servers: how many reboots hit a server, until then
    :ivar empty_hosts: how many hosts have no server
    :ivar fragmentation: the part of the free memory that servers of the
        largest size cannot take, from 0 to 1
    """

    day: float
    servers: int
    by_platform: Mapping[str | None, int]
    refused: int
    servers_hit: int
    reboots_with_servers: int
    empty_hosts: int
    fragmentation: float


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The looks at a cloud under a policy.

    :ivar launches: how many servers of the trace wanted a host
    """

    policy: str
    launches: int
    looks: Sequence[Look]

    @property
    def last(self) -> Look:
        """The cloud at the end."""
        return self.looks[-1]

    def on(self, platform: str) -> float:
        """Return the part of the servers on a platform at the end."""
        return (self.last.by_platform.get(platform, 0) /
                max(self.last.servers, 1))

    def mean_fragmentation(self) -> float:
        """Return the average of all looks."""
        return sum(look.fragmentation for look in self.looks) / len(self.looks)

    def mean_empty_hosts(self) -> float:
        """Return the average of all looks."""
        return sum(look.empty_hosts for look in self.looks) / len(self.looks)


def too_large(world: World) -> int:
    """Return how many servers are larger than what any host really has."""
    shapes = {host.shape for host in world.hosts}
    sizes = collections.Counter(server.size for server in world.trace.servers)
    return sum(count for size, count in sizes.items()
               if not any(shape.takes(size) for shape in shapes))


def largest(world: World) -> workload.Size:
    """Return the largest size of a server that an empty host can take.

    :raises: `exception.Invalid` when each server is too large
    """
    shapes = {host.shape for host in world.hosts}
    sizes = {server.size for server in world.trace.servers}
    fitting = [size for size in sizes
               if any(shape.takes(size) for shape in shapes)]
    if not fitting:
        raise exception.Invalid(
            'Each server of the trace is larger than any host; the '
            f'smallest takes {_shown(min(sizes))}.')
    return max(fitting)


def _shown(size: workload.Size) -> str:
    return (f'{text.counted(size.vcpus, "vcpu", "vcpus")}, '
            f'{size.memory_mb} MiB of memory and {size.disk_gb} GiB of disk')


def run(world: World, weights: weight_sets.Weights) -> Outcome:
    """Place the servers of a trace, each on a host with the most weight.

    Where a policy has a subset, chance decides among so many of the best.

    Servers that were there before are on their hosts, or else are spread by
    chance over the hosts with capacity, in the same way for all policies.

    :raises: `exception.Invalid` when each server is too large
    """
    replay = _Replay(world, weights)
    looks = [replay.look(moment / workload.DAY)
             for moment, kind, number in _events(world, replay.cloud.hosts)
             if replay.happens(moment, kind, number)]
    return Outcome(weights.name, len(world.trace.servers), looks)


def _events(
    world: World, hosts: Sequence[fleets.FleetHost],
) -> Iterator[tuple[float, int, int]]:
    """Yield moments, kinds of events, and numbers of hosts or servers."""
    length = world.trace.seconds
    events = [(server.start, _START, number)
              for number, server in enumerate(world.trace.servers)]
    for number, host in enumerate(hosts):
        if host.reboot is not None and host.reboot > world.begin:
            moment = (host.reboot - world.begin).total_seconds()
            if moment <= length:
                events.append((moment, _REBOOT, number))
    last = world.looks - 1
    events += [(length * number / last, _LOOK, number)
               for number in range(world.looks)]
    yield from sorted(events)


class _Replay:
    """A cloud in the middle of a trace."""

    def __init__(self, world: World, weights: weight_sets.Weights) -> None:
        self.cloud = simulated_cloud.SimulatedCloud(
            world.hosts, weights, world.begin, world.bucket)
        self._subset = weights.subset
        self._servers = world.trace.servers
        self._largest = largest(world)
        # The first servers have a chance of their own, so that no policy
        # changes where the first servers are.
        self._first_chance = random.Random(world.seed)
        self._chance = random.Random(world.seed + 1)
        self._numbers = {
            host.name: number for number, host in enumerate(self.cloud.hosts)}
        self._ends: list[tuple[float, int, int]] = []
        self._on = [0] * len(self.cloud.hosts)
        self._empty = len(self.cloud.hosts)
        self._by_platform: collections.Counter[str | None] = (
            collections.Counter())
        self._refused = self._servers_hit = self._reboots = 0

    def happens(self, moment: float, kind: int, number: int) -> bool:
        """Let something happen, and return whether to look at the cloud."""
        while self._ends and self._ends[0][0] <= moment:
            _, host, server = heapq.heappop(self._ends)
            self.cloud.end(host, self._servers[server].size)
            self._count(host, -1)
        if kind == _START:
            self._start(number)
        elif kind == _REBOOT:
            self._reboot(number)
        return kind == _LOOK

    def _start(self, number: int) -> None:
        server = self._servers[number]
        host = self._host(server)
        if host is None:
            self._refused += 1
            return
        self.cloud.start(host, server.size)
        self._count(host, 1)
        if server.end < workload.FOREVER:
            heapq.heappush(self._ends, (server.end, host, number))

    def _host(self, server: workload.TraceServer) -> int | None:
        known = self._numbers.get(server.host or '')
        if known is not None:
            return known
        if server.start == 0:
            return bits.pick(
                self.cloud.with_room(server.size), self._first_chance)
        if self._subset == 1:
            return bits.pick(self.cloud.best(server.size), self._chance)
        return bits.pick(self._among_best(server.size), self._chance)

    def _among_best(self, size: workload.Size) -> int:
        """Return as many of the best hosts as chance decides among."""
        found, missing = 0, self._subset
        for hosts in self.cloud.ranked(size):
            while missing < hosts.bit_count():
                # Nova takes the first ones, in an order without a meaning.
                hosts ^= 1 << (bits.pick(hosts, self._chance) or 0)
            found |= hosts
            missing -= hosts.bit_count()
            if not missing:
                break
        return found

    def _reboot(self, host: int) -> None:
        self.cloud.reboot(host)
        self._servers_hit += self._on[host]
        self._reboots += bool(self._on[host])

    def _count(self, host: int, change: int) -> None:
        before = self._on[host]
        self._on[host] += change
        self._empty += bool(before) - bool(self._on[host])
        self._by_platform[self.cloud.hosts[host].platform] += change

    def look(self, day: float) -> Look:
        """Look at the cloud."""
        return Look(
            day, sum(self._on), dict(self._by_platform), self._refused,
            self._servers_hit, self._reboots, self._empty,
            self.cloud.fragmentation(self._largest).share)
