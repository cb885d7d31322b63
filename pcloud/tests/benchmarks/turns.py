# SPDX-License-Identifier: Apache-2.0

"""Works that take turns, and the ratios of their processor times.

Other work of the machine only adds to a time, so that the least of many turns
is the best estimate, and only more turns tell a missed ratio from bad luck.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import statistics

from pcloud.tests.benchmarks import results

# After so many times the planned turns a missed ratio is believed.
_PATIENCE = 4


@dataclasses.dataclass(frozen=True)
class Bound:
    """A wanted ratio of two works.

    :ivar most: the most time of `work`, as a multiple of the time of `other`
    :ivar why: the reason
    """

    work: str
    other: str
    most: float
    why: str


class Turns:
    """Works that do the same thing in several places.

    :param name: what all works do
    :param works: name of the work -> function that works once and returns the
        seconds of processor time
    :ivar seconds: name of the work -> seconds of each turn
    """

    def __init__(
        self, name: str, works: Mapping[str, Callable[[], float]],
    ) -> None:
        self.name = name
        self.seconds: dict[str, list[float]] = {each: [] for each in works}
        self._works = dict(works)
        self._bounds: Sequence[Bound] = ()

    def __getstate__(self) -> dict:
        """Leave out the works: functions do not go to other processes."""
        return {**self.__dict__, '_works': {}}

    def take(self, repeat: int, bounds: Sequence[Bound] = ()) -> None:
        """Take turns, and more turns as long as a bound is missed.

        The first turn does not count: what is read once and cached is not the
        work's.

        :param repeat: the number of turns when all bounds are met
        """
        self._bounds = tuple(bounds)
        for work in self._works.values():
            work()
        for number in range(repeat * _PATIENCE):
            if number >= repeat and not self.missed():
                return
            names = list(self._works)
            start = number % len(names)
            for name in names[start:] + names[:start]:
                self.seconds[name].append(self._works[name]())

    def ratio(self, work: str, other: str) -> float:
        """Return the least time of a work as a multiple of another's."""
        return min(self.seconds[work]) / min(self.seconds[other])

    def missed(self) -> list[Bound]:
        """Return the bounds that are missed."""
        return [each for each in self._bounds
                if self.ratio(each.work, each.other) > each.most]

    def rows(self, table: str) -> Iterator[results.Row]:
        """Yield the milliseconds of each work, and each bound."""
        for work, seconds in self.seconds.items():
            for word, pick in (('least', min), ('median', statistics.median)):
                yield results.Row(table, self.name, f'ms {work}, {word}',
                                  1000 * pick(seconds))
        for each in self._bounds:
            yield results.Row(
                table, f'{self.name}, {each.work}',
                f'{results.TIMES}{each.other}',
                self.ratio(each.work, each.other), each.most, why=each.why)
