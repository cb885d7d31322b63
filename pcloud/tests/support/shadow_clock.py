# SPDX-License-Identifier: Apache-2.0

"""Books of what projects hold of hosts, beside those of the product.

The books read which hosts Nova's aggregates have, and no row of the ledger.
While the clock stands still nothing counts; whenever the clock goes on, each
host that counts is written down for the seconds that pass.
"""

import calendar
import collections
from collections.abc import Collection
from collections.abc import Iterator
import datetime
import decimal
import fractions
import typing

from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa

_POOL = 'Pcloud:host_flavor:'
_MILLIONTH = decimal.Decimal('0.000001')


class Held(typing.NamedTuple):
    """A host that a project holds.

    :ivar membership: what tells the row by which Nova's aggregate has the
        host from all others: SQLite uses the id of a row that is gone again
    :ivar host: the service host
    """

    membership: tuple[int, datetime.datetime]
    host: str
    project: str
    flavor: str


class Cost(typing.NamedTuple):
    """What a host of a host flavor costs.

    :ivar price: of an hour; None without a price
    """

    units: int
    price: fractions.Fraction | None


class Line:
    """What a project has held of a host flavor in a month.

    :ivar memberships: the memberships that counted
    """

    def __init__(self) -> None:
        self.memberships: set[tuple[int, datetime.datetime]] = set()
        self.seconds = self.unit_seconds = 0
        self.cost: fractions.Fraction | None = None

    def shown(self) -> dict:
        """Return the line as the API shows the line, without the id."""
        found = {'hosts': len(self.memberships),
                 'host_hours': _rounded(fractions.Fraction(self.seconds)),
                 'unit_hours': _rounded(fractions.Fraction(
                     self.unit_seconds))}
        if self.cost is not None:
            found['cost'] = _rounded(self.cost)
        return found


class Books:
    """The books of a cloud.

    :ivar lines: (project, host flavor, month or day) -> what was held
    """

    def __init__(self) -> None:
        self.lines: dict[tuple[str, str, str], Line] = (
            collections.defaultdict(Line))

    def write(self, held: Collection[Held], costs: dict[str, Cost],
              begin: int, end: int) -> None:
        """Write down the hosts that count between two moments.

        :param costs: host flavor -> what a host costs
        :param begin: seconds since the epoch
        """
        for period, seconds in (*parts(begin, end), *days(begin, end)):
            for each in held:
                line = self.lines[each.project, each.flavor, period]
                cost = costs[each.flavor]
                line.memberships.add(each.membership)
                line.seconds += seconds
                line.unit_seconds += seconds * cost.units
                if cost.price is not None:
                    line.cost = (line.cost or 0) + cost.price * seconds

    def shown(self, project: str, period: str) -> dict[str, dict]:
        """Return the month or day of a project: flavor -> what is shown."""
        return {flavor: line.shown()
                for (its, flavor, when), line in sorted(self.lines.items())
                if (its, when) == (project, period)}

    def compare_days(self, test, usage: dict) -> None:
        """Compare the days of a month with the books, and with the month.

        A day is shown so that the days come to the month, and may be a
        millionth away for that.
        """
        compare_days(test, usage)
        for day in usage['days']:
            expected = self.shown(usage['project'], day['day'])
            found = shown(day)
            test.assertEqual(expected.keys(), found.keys(), day)
            for flavor, its in found.items():
                test.assertEqual(expected[flavor].keys(), its.keys(), day)
                for name, value in its.items():
                    test.assertLessEqual(
                        abs(value - expected[flavor][name]),
                        0 if name == 'hosts' else _MILLIONTH, (day, name))


def compare_days(test, usage: dict) -> None:
    """Compare what the days of a month come to with the month."""
    found: dict = collections.defaultdict(decimal.Decimal)
    for day in usage['days']:
        for flavor, its in shown(day).items():
            for name, value in its.items():
                found[flavor, name] += value
    test.assertEqual(
        {(flavor, name): value for flavor, its in shown(usage).items()
         for name, value in its.items() if name != 'hosts'},
        {key: value for key, value in found.items() if key[1] != 'hosts'})


def shown(usage: dict) -> dict[str, dict]:
    """Return what the API shows of a project or day, as in the books."""
    return {each['id']: {
        'hosts': each['hosts'],
        **{name: decimal.Decimal(str(each[name])).quantize(_MILLIONTH)
           for name in ('host_hours', 'unit_hours', 'cost')
           if name in each}} for each in usage['host_flavors']}


def parts(begin: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield the months between two moments, each with its seconds."""
    while begin < end:
        day = datetime.datetime.fromtimestamp(begin, datetime.UTC)
        _, days = calendar.monthrange(day.year, day.month)
        border = calendar.timegm((day.year, day.month, days, 24, 0, 0))
        yield f'{day.year}-{day.month:02}', min(end, border) - begin
        begin = border


def days(begin: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield the days between two moments, each with its seconds."""
    while begin < end:
        day = datetime.datetime.fromtimestamp(begin, datetime.UTC)
        border = calendar.timegm(
            (day.year, day.month, day.day, 24, 0, 0))
        yield day.strftime('%Y-%m-%d'), min(end, border) - begin
        begin = border


def look(context) -> tuple[list[Held], dict[str, Cost]]:
    """Return the hosts that are held, and what host flavors cost."""
    aggregate, host, row = (models.Aggregate, models.AggregateHost,
                            models.AggregateMetadata)
    with api_db.context_manager.reader.using(context) as session:
        names = dict(session.execute(
            sa.select(aggregate.id, aggregate.name)).tuples().all())
        members = session.execute(sa.select(
            host.aggregate_id, host.id, host.created_at, host.host,
        )).tuples().all()
        values = {(its, key): value for its, key, value in session.execute(
            sa.select(row.aggregate_id, row.key, row.value).where(
                row.key.in_(('pcloud:owner', 'pcloud:units',
                             'pcloud:price')))).tuples()}
    flavors = {member: names[its].removeprefix(_POOL)
               for its, *_, member in members if names[its].startswith(_POOL)}
    held = [Held((number, since), member, values[its, 'pcloud:owner'],
                 flavors[member])
            for its, number, since, member in members
            if (its, 'pcloud:owner') in values]
    return held, {name.removeprefix(_POOL): Cost(
        int(values[its, 'pcloud:units']), _price(values.get(
            (its, 'pcloud:price'))))
        for its, name in names.items() if name.startswith(_POOL)}


def _price(text: str | None) -> fractions.Fraction | None:
    return None if text is None else fractions.Fraction(text)


def _rounded(per_hour: fractions.Fraction) -> decimal.Decimal:
    value = per_hour / 3600
    with decimal.localcontext(prec=60):
        return (decimal.Decimal(value.numerator) / value.denominator
                ).quantize(_MILLIONTH)
