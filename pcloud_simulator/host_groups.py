# SPDX-License-Identifier: Apache-2.0

"""Groups of hosts that Nova's weighers cannot tell apart by their servers.

Hosts of one shape that have given out the same amounts are a group. For each
size of servers, the groups with capacity are kept in the order of their
weights: a server that starts or ends moves one host from one group to another,
and leaves the order of all other groups as it was.

Rule: reference-simulation-choice
"""

from __future__ import annotations

import bisect
import collections
from collections.abc import Sequence
import dataclasses
from typing import TypeAlias

from pcloud_simulator import fleets
from pcloud_simulator import weight_sets
from pcloud_simulator import workload

# Weighers that look at what the servers of a host take.
WEIGHERS = (weight_sets.RAM, weight_sets.CPU, weight_sets.DISK,
            weight_sets.SERVERS)
# Nova normalises what is left from 0, and servers from the least number.
_FROM_LEAST = (weight_sets.SERVERS,)

# Number of the shape, and what is given out: memory, cpus, disk, servers.
Use: TypeAlias = tuple[int, int, int, int, int]
# Of each weigher, the amount with weight 0 and the distance to weight 1.
Spans: TypeAlias = tuple[tuple[float, float], ...]


@dataclasses.dataclass(slots=True, eq=False)
class Group:
    """Hosts of one shape that have given out the same amounts.

    :ivar number: another one for each group
    :ivar memory_mb: what Placement has left, as are `vcpus` and `disk_gb`
    :ivar amounts: what Nova's weighers look at, in the order of `WEIGHERS`
    :ivar hosts: as bits
    :ivar candidates: of the sizes that fit on the hosts
    """

    number: int
    shape: fleets.Shape
    memory_mb: int
    vcpus: int
    disk_gb: int
    amounts: tuple[float, ...]
    hosts: int = 0
    candidates: list[Candidates] = dataclasses.field(default_factory=list)

    def room(self, size: workload.Size) -> int:
        """Return how many servers of a size still fit onto each host."""
        if not self.shape.takes(size):
            return 0
        most = min(self.memory_mb // size.memory_mb, self.vcpus // size.vcpus)
        if size.disk_gb:
            most = min(most, self.disk_gb // size.disk_gb)
        return max(most, 0)


def group(number: int, shape: fleets.Shape, use: Use) -> Group:
    """Return a group without hosts.

    Placement multiplies what there is with the ratio; Nova's weighers do so
    for cpus alone. An amount below 0 counts as 0, as Nova's weighers count.
    """
    _, memory_mb, vcpus, disk_gb, servers = use
    return Group(
        number, shape, int(shape.memory_mb * shape.ram_ratio) - memory_mb,
        int(shape.vcpus * shape.cpu_ratio) - vcpus,
        int(shape.disk_gb * shape.disk_ratio) - disk_gb,
        (max(shape.memory_mb - memory_mb, 0),
         max(shape.vcpus * shape.cpu_ratio - vcpus, 0),
         max(shape.disk_gb - disk_gb, 0), servers))


class Candidates:
    """The groups with capacity for a server of a size.

    :ivar size: the size
    :ivar hosts: of all groups, as bits
    """

    def __init__(
        self, size: workload.Size, weights: weight_sets.Weights,
    ) -> None:
        self.size = size
        self.hosts = 0
        self._weights = [
            (place, weights.weight(weigher), weigher in _FROM_LEAST)
            for place, weigher in enumerate(WEIGHERS)
            if weights.weight(weigher)]
        # For each weigher, how many groups have an amount.
        self._counts = [collections.Counter[float]() for _ in self._weights]
        self._spans: Spans = ()
        # Minus the weight, the number of the group, the group.
        self._order: list[tuple[float, int, Group]] = []

    def offer(self, group_: Group) -> None:
        """Take a group with capacity; leave out any other group."""
        if not group_.room(self.size):
            return
        for (place, *_), counts in zip(
                self._weights, self._counts, strict=True):
            counts[group_.amounts[place]] += 1
        bisect.insort(self._order, self._entry(group_))
        self.hosts |= group_.hosts
        group_.candidates.append(self)

    def drop(self, group_: Group) -> None:
        """Leave out a group that has no host any more."""
        for (place, *_), counts in zip(
                self._weights, self._counts, strict=True):
            amount = group_.amounts[place]
            counts[amount] -= 1
            if not counts[amount]:
                del counts[amount]
        del self._order[bisect.bisect_left(self._order, self._entry(group_))]

    def order(self) -> Sequence[tuple[float, int, Group]]:
        """Return the groups with minus their weights, the best group first.

        The second value of each triple only makes orders total.
        """
        spans = tuple(
            (low, max(counts) - low)
            for (_, _, from_least), counts in zip(
                self._weights, self._counts, strict=True)
            for low in [min(counts) if from_least else 0])
        if spans != self._spans:
            self._spans = spans
            self._order = sorted(
                self._entry(entry[-1]) for entry in self._order)
        return self._order

    def _entry(self, group_: Group) -> tuple[float, int, Group]:
        # Before the first choice, no order is known.
        total = 0.0
        for (place, weight, _), (low, distance) in zip(
                self._weights, self._spans):
            if distance:
                total -= weight * ((group_.amounts[place] - low) / distance)
        return total, group_.number, group_
