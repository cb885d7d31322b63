# SPDX-License-Identifier: Apache-2.0

"""A stream of launches and changes through a control plane, simulated.

Each operation takes what a measured operation of its kind took: first the part
before the locks, then the part under the locks of its anchors, then the rest,
which tells Placement. The process and MariaDB serve one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools
import random
import statistics

from pcloud.tests.benchmarks.model import costs
from pcloud.tests.benchmarks.model import events
from pcloud.tests.benchmarks.model import limits
from pcloud.tests.benchmarks.model import operations as ops

LAUNCH, CHANGE = 'launches', 'changes'


@dataclasses.dataclass(frozen=True)
class Machine:
    """Processors that all processes share.

    :ivar cores: the number
    :ivar speed: the part of their time that others leave, 0..1
    """

    cores: int
    speed: float


@dataclasses.dataclass
class Outcome:
    """What a stream has come to.

    :ivar taken: `LAUNCH` or `CHANGE` -> seconds from begin to end, for each
        operation that has ended
    :ivar waited: likewise, the seconds of it during which nothing was done
    :ivar begun: likewise, how many have begun
    :ivar shares: resource -> the part of its time that the resource worked
    :ivar waits: kind of an anchor -> how often an operation waited for a row
    """

    taken: dict[str, list[float]]
    waited: dict[str, list[float]]
    begun: dict[str, int]
    shares: dict[str, float] = dataclasses.field(default_factory=dict)
    waits: dict[str, int] = dataclasses.field(default_factory=dict)


def share(seconds: Sequence[float], part: float) -> float:
    """Return the time that a part of the operations does not exceed.

    :param part: 0..1
    """
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def median(seconds: Sequence[float]) -> float:
    """Return the median of some seconds."""
    return statistics.median(seconds)


class Simulation:
    """A control plane, and what goes on there.

    :param found: what the operations cost
    :param machine: the processors of the one machine of all processes; None
        where each process has a processor
    """

    def __init__(
        self, found: costs.Costs, cloud: limits.Cloud, plant: ops.Plant,
        chance: random.Random, machine: Machine | None = None,
    ) -> None:
        self._found, self._cloud, self._plant = found, cloud, plant
        self._chance = chance
        self._clock = events.Clock()
        below = None if machine is None else events.Station(
            self._clock, machine.cores, machine.speed)
        processes = {ops.DATABASE: 1}

        def stations(name: str) -> list[events.Station]:
            places = plant.places[name]
            count = processes.get(name, places)
            return [events.Station(self._clock, places // count, below=below)
                    for _ in range(count)]

        self._stations = {name: stations(name) for name in plant.places}
        self._locks: dict[tuple[str, int], events.Lock] = {}
        self._outcome = Outcome(*({LAUNCH: [], CHANGE: []} for _ in range(2)),
                                {LAUNCH: 0, CHANGE: 0})

    def run(self, rates: Mapping[str, float], seconds: float) -> Outcome:
        """Have a stream come for some seconds.

        :param rates: operation -> number a second
        """
        for name, rate in rates.items():
            if name in (ops.CHOOSE, ops.CHOOSE_HINTED):
                self._often(rate, functools.partial(self._launch, name))
            elif name in ops.CHANGES:
                self._often(rate, functools.partial(self._change, name))
        for number in range(self._plant.workers):
            self._clock.after(self._chance.uniform(0, ops.INTERVAL),
                              lambda number=number: self._pass(number))
        self._clock.run(seconds)
        self._outcome.shares = {
            name: statistics.fmean(each.share(seconds) for each in its)
            for name, its in self._stations.items()}
        for (kind, _), lock in self._locks.items():
            name = limits.anchor(kind)
            self._outcome.shares[name] = max(
                self._outcome.shares.get(name, 0), lock.held / seconds)
            self._outcome.waits[name] = (
                self._outcome.waits.get(name, 0) + lock.waits)
        return self._outcome

    def _often(self, rate: float, begin: Callable[[], None]) -> None:
        """Have something begin again and again, at moments of chance."""
        if not rate:
            return

        def come() -> None:
            begin()
            self._clock.after(self._chance.expovariate(rate), come)

        self._clock.after(self._chance.expovariate(rate), come)

    def _launch(self, choice: str) -> None:
        parts = [(name, self._sample(name)) for name in (ops.ACCEPT, choice)]

        def steps() -> Iterator[events.Step]:
            for name, sample in parts:
                yield from self._steps(name, sample)

        self._begin(LAUNCH, steps(), sum(each.all for _, each in parts))

    def _change(self, name: str) -> None:
        sample = self._sample(name)

        def steps() -> Iterator[events.Step]:
            yield from self._steps(name, sample)
            self._tell(self._found[name].heard)

        self._begin(CHANGE, steps(), sample.all)

    def _tell(self, seconds: float) -> None:
        """Have each scheduler hear of a change, for which nobody waits."""
        if seconds:
            for each in self._stations[ops.SCHEDULER]:
                each.use(seconds, lambda: None)

    def _pass(self, number: int) -> None:
        """Have a worker look, and look again after the interval."""
        sample = self._sample(ops.PASS)
        process = self._stations[ops.WORKER][number]
        events.start(iter([
            events.using(process, sample.own),
            events.using(self._stations[ops.DATABASE][0], sample.database)]),
            lambda: self._clock.after(
                ops.INTERVAL, lambda: self._pass(number)))

    def _begin(
        self, kind: str, steps: Iterator[events.Step], least: float,
    ) -> None:
        """Begin an operation, and note when the operation ends.

        :param least: seconds that the operation takes without waiting
        """
        began = self._clock.now
        self._outcome.begun[kind] += 1

        def end() -> None:
            taken = self._clock.now - began
            self._outcome.taken[kind].append(taken)
            self._outcome.waited[kind].append(max(0.0, taken - least))

        events.start(steps, end)

    def _sample(self, name: str) -> costs.Sample:
        return self._chance.choice(self._found[name].samples)

    def _steps(
        self, name: str, sample: costs.Sample,
    ) -> Iterator[events.Step]:
        """Yield the steps of an operation through a process of its kind."""
        process = self._chance.choice(self._stations[ops.process(name)])
        database = self._stations[ops.DATABASE][0]
        placement = self._chance.choice(self._stations[ops.PLACEMENT])
        locked = self._found[name].locked
        locks = [self._lock(kind) for kind in sorted(locked.anchors)]

        def part(of_all: float) -> Iterator[events.Step]:
            yield events.using(process, sample.own * of_all)
            yield events.using(database, sample.database * of_all)

        yield from part(locked.before)
        yield from map(events.taking, locks)
        yield from part(locked.during)
        yield from map(events.releasing, locks)
        yield events.using(placement, sample.placement)
        yield from part(1 - locked.before - locked.during)

    def _lock(self, kind: str) -> events.Lock:
        """Return the row of one of the anchors of a kind."""
        key = kind, self._chance.randrange(self._cloud.rows.get(kind, 1))
        if key not in self._locks:
            self._locks[key] = events.Lock(self._clock)
        return self._locks[key]


def shares(outcome: Outcome) -> Mapping[str, float]:
    """Return resource -> part of its time, the busiest first."""
    return dict(sorted(outcome.shares.items(), key=lambda each: -each[1]))
