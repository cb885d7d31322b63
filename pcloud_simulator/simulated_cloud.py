# SPDX-License-Identifier: Apache-2.0

"""Hosts, the servers on the hosts, and the choice of a host for a server.

Rule: reference-simulation-choice
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import datetime
import math
from typing import TypeAlias

from pcloud_simulator import bits
from pcloud_simulator import fleets
from pcloud_simulator import host_groups
from pcloud_simulator import host_scores
from pcloud_simulator import weight_sets
from pcloud_simulator import workload

# Weights are sums of numbers with a point; what differs by less is equal.
EQUAL = 1e-9

# As `host_groups.Candidates.order` returns the groups.
Order: TypeAlias = Sequence[tuple[float, int, host_groups.Group]]


@dataclasses.dataclass(frozen=True)
class Fragmentation:
    """How much of the free memory is in pieces that are too small.

    :ivar free_mb: the free memory of all hosts
    :ivar usable_mb: the free memory that servers of the wanted size can take
    """

    free_mb: int
    usable_mb: int

    @property
    def share(self) -> float:
        """The part of the free memory that is lost, from 0 to 1."""
        return 1 - self.usable_mb / self.free_mb if self.free_mb else 0.0


class _Blocks:
    """Groups in the order of their weights, in blocks."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._size = math.isqrt(len(order)) + 1
        self._unions: list[int] = []

    def __iter__(self) -> Iterator[tuple[float, int, Order]]:
        """Yield minus the greatest weight, the hosts, and the block.

        The hosts of a block are joined when they are first wanted.
        """
        for number, start in enumerate(range(
                0, len(self._order), self._size)):
            block = self._order[start:start + self._size]
            if number == len(self._unions):
                self._unions.append(bits.union(
                    group.hosts for *_, group in block))
            yield block[0][0], self._unions[number], block


class SimulatedCloud:
    """The hosts of a cloud, which fill up and run empty.

    :ivar hosts: in the order of their numbers
    """

    def __init__(
        self, hosts: Sequence[fleets.FleetHost], weights: weight_sets.Weights,
        begin: datetime.datetime, bucket: datetime.timedelta,
    ) -> None:
        """Make a cloud without servers.

        :param begin: earlier reboots have passed
        :param bucket: see `pcloud.rules.placing.attributes.reboot_scores`
        """
        self.hosts = host_scores.in_order(hosts)
        self._weights = weights
        self._scores = host_scores.HostScores(
            self.hosts, weights, begin, bucket)
        # Where no weigher counts servers, more hosts are alike.
        self._counts_servers = bool(weights.weight(weight_sets.SERVERS))
        self._shapes = list(dict.fromkeys(host.shape for host in self.hosts))
        self._made = 0
        self._groups: dict[host_groups.Use, host_groups.Group] = {}
        self._candidates: dict[workload.Size, host_groups.Candidates] = {}
        numbers = {shape: number
                   for number, shape in enumerate(self._shapes)}
        self._uses: list[host_groups.Use] = [
            (numbers[host.shape], 0, 0, 0, 0) for host in self.hosts]
        for number in range(len(self.hosts)):
            self._enter(number)

    def _enter(self, host: int) -> None:
        use, bit = self._uses[host], 1 << host
        group = self._groups.get(use) or self._new_group(use)
        group.hosts |= bit
        for candidates in group.candidates:
            candidates.hosts |= bit

    def _new_group(self, use: host_groups.Use) -> host_groups.Group:
        self._made += 1
        group = self._groups[use] = host_groups.group(
            self._made, self._shapes[use[0]], use)
        for candidates in self._candidates.values():
            candidates.offer(group)
        return group

    def _leave(self, host: int) -> None:
        use, bit = self._uses[host], 1 << host
        group = self._groups[use]
        group.hosts ^= bit
        for candidates in group.candidates:
            candidates.hosts ^= bit
        if not group.hosts:
            del self._groups[use]
            for candidates in group.candidates:
                candidates.drop(group)

    def start(self, host: int, size: workload.Size) -> None:
        """Put a server onto a host, whether the server fits or not."""
        self._change(host, size, 1)

    def end(self, host: int, size: workload.Size) -> None:
        """Take a server from its host."""
        self._change(host, size, -1)

    def _change(self, host: int, size: workload.Size, sign: int) -> None:
        self._leave(host)
        shape, memory_mb, vcpus, disk_gb, servers = self._uses[host]
        self._uses[host] = (
            shape, memory_mb + sign * size.memory_mb,
            vcpus + sign * size.vcpus, disk_gb + sign * size.disk_gb,
            servers + sign * self._counts_servers)
        self._enter(host)

    def reboot(self, host: int) -> None:
        """Take note that the date of a host's reboot has passed."""
        self._scores.reboot_passed(host)

    def with_room(self, size: workload.Size) -> int:
        """Return the hosts with capacity for a server, as bits."""
        return self._with_room(size).hosts

    def _with_room(self, size: workload.Size) -> host_groups.Candidates:
        if size not in self._candidates:
            candidates = host_groups.Candidates(size, self._weights)
            self._candidates[size] = candidates
            for group in self._groups.values():
                candidates.offer(group)
        return self._candidates[size]

    def best(self, size: workload.Size) -> int:
        """Return the hosts with the most weight for a server, as bits.

        :returns: 0 when the server fits on no host
        """
        candidates = self._with_room(size)
        if candidates.hosts.bit_count() < 2:
            return candidates.hosts
        return _heaviest(self._scores.parts(candidates.hosts),
                         candidates.order())

    def ranked(self, size: workload.Size) -> Iterator[int]:
        """Yield sets of hosts of equal weight for a server, the best first.

        The hosts of `best` are the first set.
        """
        candidates = self._with_room(size)
        if not candidates.hosts:
            return
        weighed = sorted((
            (weight - less, both)
            for hosts, weight in self._scores.parts(candidates.hosts)
            for less, _, group in candidates.order()
            if (both := hosts & group.hosts)), reverse=True)
        top, equal = weighed[0][0], 0
        for weight, hosts in weighed:
            if weight < top - EQUAL:
                yield equal
                top, equal = weight, 0
            equal |= hosts
        yield equal

    def fragmentation(self, size: workload.Size) -> Fragmentation:
        """Return how much free memory servers of a size cannot take."""
        free = usable = 0
        for group in self._groups.values():
            count = group.hosts.bit_count()
            free += count * max(group.memory_mb, 0)
            usable += count * group.room(size) * size.memory_mb
        return Fragmentation(free, usable)


def _heaviest(parts: host_scores.Parts, order: Order) -> int:
    """Return the hosts whose weights in both lists have the greatest sum.

    Most parts have no host in common with most groups, so the groups are
    looked at in blocks, and one by one where a block has a host of the part.

    :param parts: hosts and weights, the greatest weight first
    """
    best = float('-inf')
    found: list[tuple[float, int]] = []
    blocks = _Blocks(order)
    for hosts, weight in parts:
        for minus, union, block in blocks:
            if weight - minus < best - EQUAL:
                break
            if not hosts & union:
                continue
            for less, _, group in block:
                if both := hosts & group.hosts:
                    found.append((weight - less, both))
                    best = max(best, weight - less)
    return bits.union(
        hosts for weight, hosts in found if weight >= best - EQUAL)
