# SPDX-License-Identifier: Apache-2.0

"""Works that take turns, and the ratios of their processor times.

Other work of the machine only adds to a time, so that the least of many turns
is the best estimate, and only more turns tell a missed ratio from bad luck.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import statistics
import sys

from pcloud.tests.benchmarks import tables

# After so many times the planned turns a missed ratio is believed.
_PATIENCE = 4


@dataclasses.dataclass(frozen=True)
class Bound:
    """A wanted ratio of two works.

    :ivar most: the most time of `work`, as a multiple of the time of `other`
    """

    work: str
    other: str
    most: float


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

    def missed(self) -> list[str]:
        """Return a sentence for each bound that is missed."""
        return [
            f'{self.name}: {each.work} takes '
            f'{self.ratio(each.work, each.other):.3f} times as long as '
            f'{each.other}; at most {each.most} is wanted'
            for each in self._bounds
            if self.ratio(each.work, each.other) > each.most]


def seconds(measured: Sequence[Turns]) -> dict[str, list[float]]:
    """Return what was done, and by which work -> seconds of each turn."""
    return {f'{each.name}, {work}': taken for each in measured
            for work, taken in each.seconds.items()}


def table(measured: Sequence[Turns]) -> str:
    """Return the measurements in milliseconds, as reStructuredText.

    The ratios are multiples of the first work.
    """
    names = list(dict.fromkeys(
        name for each in measured for name in each.seconds))
    rows = [['', *(f'{name}, {kind}' for name in names
                   for kind in ('least', 'median', 'ratio'))]]
    rows += [[f'``{each.name}``', *(
        cell for name in names for cell in _cells(each, name))]
        for each in measured]
    return tables.listed(rows)


def _cells(measured: Turns, name: str) -> list[str]:
    seconds = measured.seconds.get(name)
    if not seconds:
        return ['', '', '']
    return [f'{1000 * min(seconds):,.1f}',
            f'{1000 * statistics.median(seconds):,.1f}',
            f'{measured.ratio(name, next(iter(measured.seconds))):.3f}']


def report_missed(measured: Sequence[Turns]) -> int:
    """Print the bounds that are missed; return 1 when there is one."""
    wrong = [line for each in measured for line in each.missed()]
    for line in wrong:
        print(line, file=sys.stderr)
    return int(bool(wrong))
