# SPDX-License-Identifier: Apache-2.0

"""Shadow clocks: how long a project holds hosts, by the rows alone.

The rows are looked at again and again. A host that is there in one look and
was not there in the look before has come at a moment between both, and leaves
likewise. So there are bounds for what the project has held, whatever workers
did between two looks. Nothing of the ledger is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set
import dataclasses
import datetime

from pcloud.tests.soak import judge
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

# The ledger counts whole seconds: from the second in which a host comes to the
# second in which the host leaves.
_ROUNDED = 1.0
# Somebody else who changes the units of a host flavor reads the clock at most
# so many seconds before the rows show the change.
_CHANGE = 20.0
# The most units of a host flavor that a client defines.
_MOST_UNITS = 2


@dataclasses.dataclass(frozen=True)
class Look:
    """What a project has at a moment between two moments.

    :ivar held: number of a membership, which is never used again -> host
        flavor
    :ivar leaving: numbers of the memberships that a worker may end
    :ivar units: host flavor -> units of a host, of all host flavors
    :ivar shown: what has an effect at an earlier time is in the rows. Calls of
        the owner begin after the look before, and a change of a worker is not
        in the rows until the change ends
    """

    ended: float
    held: Mapping[int, str]
    leaving: Set[int]
    units: Mapping[str, int]
    shown: float


@dataclasses.dataclass(frozen=True)
class Amount:
    """Bounds of an amount."""

    least: float = 0.0
    most: float = 0.0

    def plus(self, least: float, most: float) -> Amount:
        """Return the bounds of both amounts together."""
        return Amount(self.least + least, self.most + most)

    def within(self, slack: float) -> Amount:
        """Return wider bounds, without negative amounts."""
        return Amount(max(0.0, self.least - slack), self.most + slack)

    def with_earlier(self, other: Amount) -> Amount:
        """Return the bounds of a moment between two moments."""
        return Amount(min(self.least, other.least), self.most)

    def has(self, value: float) -> bool:
        """Return whether an amount is within the bounds."""
        return self.least - 0.01 <= value <= self.most + 0.01


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Bounds of what was held of a host flavor.

    :ivar hosts: how often a host was held
    :ivar units: seconds, each as often as the host has units
    """

    hosts: Amount = Amount()
    seconds: Amount = Amount()
    units: Amount = Amount()


@dataclasses.dataclass(frozen=True)
class Span:
    """How long a host was held."""

    flavor: str
    seconds: Amount = Amount()
    units: Amount = Amount()


class Clock:
    """What a project has held since now, when the project has nothing.

    :ivar spans: number of a membership -> what has come to that by now
    :ivar last: the last look
    """

    def __init__(self) -> None:
        now = soak_stage.now()
        self.last = Look(now, {}, set(), {}, now)
        self.spans: dict[int, Span] = {}

    def look(self, now: Look) -> None:
        """Go on to a look."""
        before, self.last = self.last, now
        for number, flavor in {**before.held, **now.held}.items():
            least, most = _between(number, before, now)
            lowest, highest = _rates(flavor, before, now)
            span = self.spans.get(number, Span(flavor))
            self.spans[number] = Span(
                flavor, span.seconds.plus(least, most), span.units.plus(
                    # What a worker may have taken away is taken away whole.
                    least * (lowest if least > 0 else highest) -
                    (_CHANGE + _ROUNDED) * (highest - lowest),
                    most * highest))

    def bounds(self, earlier: Mapping[int, Span]) -> dict[str, Bounds]:
        """Return host flavor -> what was held, at any moment from a look on.

        :param earlier: `spans` as of that look
        """
        found: dict[str, Bounds] = {}
        for number, span in self.spans.items():
            old = earlier.get(number, Span(span.flavor))
            highest = max(self.last.units.get(span.flavor, 0), _MOST_UNITS)
            seconds = span.seconds.with_earlier(old.seconds).within(_ROUNDED)
            units = span.units.with_earlier(old.units).within(
                _ROUNDED * highest)
            its = found.get(span.flavor, Bounds())
            found[span.flavor] = Bounds(
                its.hosts.plus(float(seconds.least > 0), 1),
                its.seconds.plus(seconds.least, seconds.most),
                its.units.plus(units.least, units.most))
        return found


def _between(number: int, before: Look, now: Look) -> tuple[float, float]:
    """Return the least and the most seconds between the ends of two looks."""
    whole = now.ended - before.ended
    if number in before.held and number in now.held:
        return whole, whole
    if number in before.leaving:
        return before.shown - before.ended, whole
    return 0.0, whole


def _rates(flavor: str, before: Look, now: Look) -> tuple[int, int]:
    """Return the least and the most units of a host between two looks.

    Clients never let units grow, but a host flavor may be new.
    """
    rates = [look.units[flavor] for look in (before, now)
             if flavor in look.units]
    if flavor not in before.units:
        rates.append(_MOST_UNITS)
    return min(rates), max(rates)


def read(reader: rows.Reader, project: str, before: Look) -> Look:
    """Look at the hosts of a project.

    :param before: the look before
    """
    shown = reader.oldest_change() if before.leaving else before.ended
    with reader.moment():
        held = reader.query(
            'SELECT h.id, h.host, p.name FROM aggregate_hosts h '
            'JOIN aggregate_metadata o ON o.aggregate_id = h.aggregate_id '
            'AND o.`key` = "pcloud:owner" AND o.value = %s '
            'JOIN aggregate_hosts g ON g.host = h.host '
            'JOIN aggregates p ON p.id = g.aggregate_id AND p.name LIKE %s',
            (project, f'{rows.POOL}%'))
        released = {key.removeprefix(rows.DRAIN) for key, in reader.query(
            'SELECT m.`key` FROM aggregates a JOIN aggregate_metadata m '
            'ON m.aggregate_id = a.id WHERE a.name = %s AND m.`key` LIKE %s '
            'AND m.value LIKE %s',
            (rows.JOURNAL, f'{rows.DRAIN}%', '%release=1%'))}
        units = reader.query(
            'SELECT a.name, m.value FROM aggregates a JOIN '
            'aggregate_metadata m ON m.aggregate_id = a.id '
            'AND m.`key` = "pcloud:units" WHERE a.name LIKE %s',
            (f'{rows.POOL}%',))
    return Look(
        soak_stage.now(),
        {number: name.removeprefix(rows.POOL) for number, _, name in held},
        {number for number, host, _ in held if host in released},
        {name.removeprefix(rows.POOL): int(value) for name, value in units},
        shown)


def faults(project: str, shown: Iterable[Mapping],
           bounds: Mapping[str, Bounds]) -> Iterator[judge.Violation]:
    """Compare what the API shows with the bounds.

    :param shown: the host flavors of all months together
    """
    found = {flavor: (0.0, 0.0, 0.0) for flavor in bounds}
    for each in shown:
        known = found.get(each['id'], (0.0, 0.0, 0.0))
        found[each['id']] = (
            known[0] + each['hosts'], known[1] + each['host_hours'] * 3600,
            known[2] + each['unit_hours'] * 3600)
    for flavor, (hosts, seconds, units) in sorted(found.items()):
        its = bounds.get(flavor, Bounds())
        for name, value, within in (('hosts', hosts, its.hosts),
                                    ('host-seconds', seconds, its.seconds),
                                    ('unit-seconds', units, its.units)):
            if not within.has(value):
                yield judge.Violation(
                    'usage differs', f'{name} of {flavor}, {project}',
                    f'{value:.3f} is not from {within.least:.3f} to '
                    f'{within.most:.3f}')


def months(begun: float, ended: float) -> list[str]:
    """Return the months of two moments, such as "2026-11"."""
    return sorted({datetime.datetime.fromtimestamp(
        moment, datetime.UTC).strftime('%Y-%m') for moment in (begun, ended)})
