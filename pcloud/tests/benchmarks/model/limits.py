# SPDX-License-Identifier: Apache-2.0

"""What of a control plane breaks first: at which rate, and at which size.

A resource that works for more than all of its time has a queue that grows
without an end, whatever the order of the work: no simulation is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import math

from pcloud.tests.benchmarks.model import costs
from pcloud.tests.benchmarks.model import operations as ops

# The anchors of one hot row each, in a cloud of so many host flavors and
# attributes; those of Pclouds and owners are spread over the Pclouds.
FLAVORS, ATTRIBUTES = 10, 4
# The part of its time that a process should work at most, so that the others
# do not wait for long.
FULL = 0.7
# No cloud is searched beyond.
_MOST_HOSTS = 10_000_000


@dataclasses.dataclass(frozen=True)
class Cloud:
    """The size of a cloud.

    :ivar hosts: compute services
    :ivar pclouds: Pclouds, with an owner each
    """

    hosts: int
    pclouds: int

    @property
    def rows(self) -> dict[str, int]:
        """Kind of an anchor -> number of anchors that are alike."""
        return {'pcloud': self.pclouds, 'owner': self.pclouds,
                'flavor': FLAVORS, 'waiting': FLAVORS,
                'attribute': ATTRIBUTES}


def anchor(kind: str) -> str:
    """Return the resource that the row of an anchor is."""
    return f'row of an anchor: {kind}'


def loads(
    found: costs.Costs, cloud: Cloud, plant: ops.Plant, stream: ops.Stream,
) -> dict[str, float]:
    """Return the part of its time that each resource works.

    :returns: resource -> 0 and more; a resource with more than 1 breaks
    """
    seconds = dict.fromkeys(plant.places, 0.0)
    rows: dict[str, float] = {}
    for name, rate in rates(plant, stream).items():
        cost = found[name]
        mean = cost.mean
        seconds[ops.process(name)] += rate * mean.own
        seconds[ops.PLACEMENT] += rate * mean.placement
        seconds[ops.DATABASE] += rate * mean.database
        # Each scheduler hears what is cast.
        seconds[ops.SCHEDULER] += rate * cost.heard * plant.schedulers
        for kind in cost.locked.anchors:
            if kind in cloud.rows:
                rows[anchor(kind)] = rows.get(anchor(kind), 0) + (
                    rate * mean.all * cost.locked.during / cloud.rows[kind])
    return {**{name: each / plant.places[name]
               for name, each in seconds.items()}, **rows}


def rates(plant: ops.Plant, stream: ops.Stream) -> dict[str, float]:
    """Return operation -> number a second, with the passes of workers."""
    return {**stream.rates, ops.PASS: plant.workers / ops.INTERVAL}


def first(found: Mapping[str, float]) -> tuple[str, float]:
    """Return what breaks first, and at which multiple of the rate.

    :param found: resource -> the part of its time that the resource works
    """
    name = max(found, key=found.__getitem__)
    return name, 1 / found[name]


def largest(load: Callable[[int], float]) -> int | None:
    """Return the largest number of hosts for which a load is at most 1.

    :param load: gets the number of hosts; does not fall
    :returns: to two digits; None when no size breaks
    """
    low, high = 1, _MOST_HOSTS
    if load(high) <= 1:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if load(middle) <= 1:
            low = middle
        else:
            high = middle
    digits = max(0, int(math.log10(low)) - 1)
    return low // 10 ** digits * 10 ** digits


def wanted(load: float, places: int) -> int:
    """Return how many places a resource needs so as to be at most `FULL`."""
    return max(1, math.ceil(load * places / FULL))
