# SPDX-License-Identifier: Apache-2.0

"""What the operations of a control plane cost, as measured."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import math
import statistics


@dataclasses.dataclass(frozen=True)
class Sample:
    """Seconds of processor time of one operation.

    :ivar own: of the process that does the work
    :ivar placement: of Placement
    :ivar database: of MariaDB
    """

    own: float
    placement: float
    database: float

    @property
    def all(self) -> float:
        """The sum: what the operation takes where nothing else waits."""
        return self.own + self.placement + self.database

    def times(self, factor: float) -> Sample:
        """Return the sample of an operation that takes so many times more."""
        return Sample(self.own * factor, self.placement * factor,
                      self.database * factor)


@dataclasses.dataclass(frozen=True)
class Locked:
    """What an operation locks for other operations.

    :ivar anchors: the kinds of the anchors that a change marks: 'pcloud',
        'owner', 'flavor' and so on
    :ivar rows: rows and index records that are locked when the transactions
        are committed
    :ivar before: the part of the operation before the first lock, 0..1
    :ivar during: the part of the operation while the locks are held, 0..1
    """

    anchors: tuple[str, ...] = ()
    rows: int = 0
    before: float = 0.0
    during: float = 0.0


@dataclasses.dataclass(frozen=True)
class Cost:
    """What an operation costs in a cloud of one size.

    :ivar samples: the processor time of each turn
    :ivar statements: to the databases
    :ivar calls: of Placement
    :ivar locked: what is locked meanwhile
    :ivar cast: bytes that are sent to each scheduler
    :ivar heard: seconds of each scheduler for what is sent
    """

    samples: tuple[Sample, ...]
    statements: int = 0
    calls: int = 0
    locked: Locked = Locked()
    cast: int = 0
    heard: float = 0.0

    @property
    def mean(self) -> Sample:
        """The mean of each part."""
        return Sample(*(statistics.fmean(getattr(each, name)
                                         for each in self.samples)
                        for name in ('own', 'placement', 'database')))


# Name of an operation -> cost.
Costs = Mapping[str, Cost]


def between(found: Mapping[int, Cost], hosts: int) -> Cost:
    """Return the cost in a cloud of a size that was not measured.

    Times between two measured sizes lie on the straight line of the
    logarithms. Below and above, the line of the nearest two sizes goes on, but
    a larger cloud costs no less than a smaller one.

    :param found: number of hosts -> cost
    """
    sizes = sorted(found)
    if hosts in found or len(sizes) == 1:
        return found.get(hosts, found[sizes[0]])
    last = max(1, min(len(sizes) - 1, sum(size < hosts for size in sizes)))
    small, large = sizes[last - 1], sizes[last]
    share = math.log(hosts / small) / math.log(large / small)
    near = found[large if share > 0.5 else small]

    def at(name: str) -> float:
        low, high = (getattr(found[size].mean, name)
                     for size in (small, large))
        return _on_line(low, high, share)

    mean = near.mean
    samples = tuple(Sample(*(
        getattr(each, name) * (at(name) / getattr(mean, name)
                               if getattr(mean, name) else 1)
        for name in ('own', 'placement', 'database')))
        for each in near.samples)
    return dataclasses.replace(near, samples=samples, heard=_on_line(
        found[small].heard, found[large].heard, share))


def _on_line(low: float, high: float, share: float) -> float:
    if low <= 0 or high <= low:
        return max(low, high)
    return low * (high / low) ** share


def sizes(found: Mapping[int, Costs], hosts: int) -> dict[str, Cost]:
    """Return the costs of all operations in a cloud of any size."""
    names: Iterable[str] = next(iter(found.values()))
    return {name: between({size: its[name] for size, its in found.items()},
                          hosts) for name in names}
