# SPDX-License-Identifier: Apache-2.0

"""How long a project has held hosts, in seconds, and what that costs.

A host is held from the change by which it joins a Pcloud of the project to the
change by which it leaves: a span. A span that is over is added to the sums of
its project, host flavor and months, and of the days of the latest months, by
the units and the price that the host flavor had in each second. Months and
days begin at midnight in UTC.

Rule: reference-usage-ledger
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import datetime
import decimal
import re

from pcloud import exception
from pcloud.rules import forms
from pcloud.rules import record

# How many months are kept beside the present one.
KEPT_MONTHS = 13
# Of how many months beside the present one the days are kept.
KEPT_DAYS_OF = 1
# Up to 999,999,999.999999 an hour.
PRICE = r'[0-9]{1,9}(?:\.[0-9]{1,6})?'
_MILLIONTHS = 10 ** 6
_HOUR = 3600
# The epoch counts no leap seconds: each of its days begins with a multiple.
_DAY = 24 * _HOUR
_MONTH = re.compile(r'([0-9]{4})-(0[1-9]|1[0-2])')
_STAMP = '%Y%m%dT%H%M%SZ'
# Hours and costs are shown to a millionth, which tells each second.
_SHOWN = decimal.Decimal(1).scaleb(-6)


@dataclasses.dataclass(frozen=True)
class Span(record.Record):
    """A host that is held.

    :ivar flavor: the id of the host flavor
    :ivar pcloud: the id of the Pcloud
    :ivar since: seconds since the epoch
    :ivar free: whether the host counts nothing, as it stands in for another
    :ivar project: the id of the project that owns the Pcloud
    """

    flavor: str = dataclasses.field(metadata=record.word(
        '<host flavor>', forms.HOST_FLAVOR_ID))
    pcloud: str = dataclasses.field(metadata=record.word(
        '<Pcloud id>', forms.UUID))
    since: int = dataclasses.field(metadata=record.INSTANT)
    free: bool = dataclasses.field(
        default=False, metadata=record.FLAG, kw_only=True)
    project: str = dataclasses.field(metadata=record.TEXT, kw_only=True)


@dataclasses.dataclass(frozen=True)
class Rate(record.Record):
    """What a host of a host flavor costs from a moment on.

    :ivar units: what it counts in quotas
    :ivar price: what an hour costs, as a decimal text; None without a price
    """

    units: int = dataclasses.field(metadata=record.WHOLE)
    price: str | None = dataclasses.field(
        default=None, metadata=record.word('<decimal>', PRICE))

    @property
    def millionths(self) -> int | None:
        """The price in millionths, exactly."""
        return None if self.price is None else int(
            decimal.Decimal(self.price).scaleb(6))


# Rates with the moments from which they count, the earliest first.
Rates = Iterable[tuple[int, Rate]]
# Yields each month or day between two moments, with its seconds.
Split = Callable[[int, int], Iterator[tuple[str, int]]]


@dataclasses.dataclass(frozen=True)
class Sum(record.Record):
    """What the hosts of a host flavor have come to.

    :ivar spans: how often a host was held
    :ivar seconds: for how long, all hosts together
    :ivar unit_seconds: likewise, each second as often as the host has units
    :ivar cost: likewise, each second with the price of an hour in millionths;
        None where no second had a price
    """

    spans: int = dataclasses.field(default=0, metadata=record.LARGE)
    seconds: int = dataclasses.field(default=0, metadata=record.LARGE)
    unit_seconds: int = dataclasses.field(default=0, metadata=record.LARGE)
    cost: int | None = dataclasses.field(default=None, metadata=record.LARGE)

    def plus(self, other: Sum) -> Sum:
        """Return what both come to."""
        costs = [each for each in (self.cost, other.cost) if each is not None]
        return Sum(self.spans + other.spans, self.seconds + other.seconds,
                   self.unit_seconds + other.unit_seconds,
                   sum(costs) if costs else None)

    @property
    def host_hours(self) -> decimal.Decimal:
        """The hours, to a millionth."""
        return _shown(self.seconds, _HOUR)

    @property
    def unit_hours(self) -> decimal.Decimal:
        """The hours, each as often as the host has units, to a millionth."""
        return _shown(self.unit_seconds, _HOUR)

    @property
    def price(self) -> decimal.Decimal | None:
        """The cost, to a millionth; None where no second had a price."""
        return None if self.cost is None else _shown(
            self.cost, _HOUR * _MILLIONTHS)


def read_price(text: str) -> str:
    """Return the price of an hour, as it is.

    :raises: `exception.InvalidValue`
    """
    if re.fullmatch(PRICE, text):
        return text
    raise exception.InvalidValue(
        'Price', text, 'a decimal number of at most 9 digits, and at most 6 '
        'after the point')


def _shown(number: int, divisor: int) -> decimal.Decimal:
    with decimal.localcontext(prec=60):
        return (decimal.Decimal(number) / divisor).quantize(_SHOWN)


def stamp(moment: int) -> str:
    """Return a moment as in the key of a rate, such as "20261127T180543Z".

    :param moment: seconds since the epoch
    """
    return _at(moment).strftime(_STAMP)


def moment_of(text: str) -> int | None:
    """Return the moment of a `stamp`, None for another text."""
    try:
        found = int(datetime.datetime.strptime(text, _STAMP).replace(
            tzinfo=datetime.UTC).timestamp())
    except ValueError:
        return None
    return found if stamp(found) == text else None


def month_of(moment: int) -> str:
    """Return the month of a moment.

    :param moment: seconds since the epoch
    :returns: such as "2026-11"
    """
    return _at(moment).strftime('%Y-%m')


def day_of(moment: int) -> str:
    """Return the day of a moment.

    :param moment: seconds since the epoch
    :returns: such as "2026-11-01"
    """
    return _at(moment).date().isoformat()


def bounds(month: str) -> tuple[int, int]:
    """Return the first second of a month, and that of the following month.

    :raises: `exception.InvalidValue`
    """
    found = _MONTH.fullmatch(month)
    if found is None or not 1970 <= int(found[1]) <= 2105:
        raise exception.InvalidValue(
            'Month', month, 'a year and a month, such as 2026-11')
    year, number = int(found[1]), int(found[2])
    return _begin(year, number), _begin(
        year + number // 12, number % 12 + 1)


def days_of(month: str) -> list[str]:
    """Return the days of a month, such as "2026-11-01".

    :raises: as `bounds`
    """
    return [day for day, _ in by_day(*bounds(month))]


def oldest(now: int) -> str:
    """Return the oldest month that is kept.

    :param now: seconds since the epoch
    """
    return _months_before(now, KEPT_MONTHS)


def oldest_of_days(now: int) -> str:
    """Return the oldest month of which the days are kept.

    :param now: seconds since the epoch
    """
    return _months_before(now, KEPT_DAYS_OF)


def is_kept(period: str, now: int) -> bool:
    """Whether the sums of a month, or of a day, are kept.

    :param period: such as "2026-11" or "2026-11-01"
    :param now: seconds since the epoch
    """
    return period >= (oldest(now) if _MONTH.fullmatch(period)
                      else oldest_of_days(now))


def check_month(month: str, now: int) -> None:
    """Refuse a month of which nothing is known.

    :raises: `exception.InvalidValue`
    """
    bounds(month)
    if not oldest(now) <= month <= month_of(now):
        raise exception.InvalidValue(
            'Month', month, f'one from {oldest(now)} to {month_of(now)}')


def check_days(month: str, now: int) -> None:
    """Refuse a month of which nothing is known by the day.

    :raises: `exception.InvalidValue`
    """
    check_month(month, now)
    if month < oldest_of_days(now):
        raise exception.InvalidValue(
            'Month', month, f'{oldest_of_days(now)} or {month_of(now)}, as '
            'days are kept of no other')


def _months_before(now: int, number: int) -> str:
    there = _at(now)
    months = there.year * 12 + there.month - 1 - number
    return f'{months // 12:04}-{months % 12 + 1:02}'


def _at(moment: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(moment, datetime.UTC)


def _begin(year: int, month: int) -> int:
    return int(datetime.datetime(
        year, month, 1, tzinfo=datetime.UTC).timestamp())


def by_month(begin: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield each month between two moments with its seconds."""
    while begin < end:
        month = month_of(begin)
        _, following = bounds(month)
        yield month, min(end, following) - begin
        begin = following


def by_day(begin: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield each day between two moments with its seconds."""
    while begin < end:
        following = begin - begin % _DAY + _DAY
        yield day_of(begin), min(end, following) - begin
        begin = following


def used(
    span: Span, end: int, rates: Rates, split: Split = by_month,
) -> dict[str, Sum]:
    """Return what a span has come to by a moment.

    =================  =====================================================
    span               comes to
    =================  =====================================================
    free               nothing
    since `end` or     nothing: a clock that goes backwards takes nothing
    later              away
    earlier            in each month (or day) one span, and each second by
                       the rate that counts in it; the first rate counts
                       before too
    =================  =====================================================

    :param end: seconds since the epoch
    :param rates: of the host flavor of the span; none count no units
    :returns: ``month or day -> sum``
    """
    found: dict[str, Sum] = {}
    if span.free:
        return found
    for begin, until, rate in _pieces(span.since, end, list(rates)):
        for period, seconds in split(begin, until):
            price = rate.millionths
            found[period] = found.get(period, Sum(1)).plus(Sum(
                0, seconds, seconds * rate.units,
                None if price is None else seconds * price))
    return found


def _pieces(
    begin: int, end: int, rates: list[tuple[int, Rate]],
) -> Iterator[tuple[int, int, Rate]]:
    """Yield the parts of a time in which one rate counts."""
    borders = [since for since, _ in rates[1:]]
    for first, last, rate in zip(
            [begin, *borders], [*borders, end],
            [rate for _, rate in rates] or [Rate(0)], strict=True):
        if max(first, begin) < min(last, end):
            yield max(first, begin), min(last, end), rate


def to_keep(span: Span, end: int, rates: Rates) -> dict[str, Sum]:
    """Return what a span adds to the sums that are kept when it ends.

    :param end: as `used`; likewise rates
    :returns: ``month or day -> sum``
    """
    months = used(span, end, rates)
    days = _within(span, bounds(oldest_of_days(end))[0], end, rates)
    return {period: its for period, its in (months | days).items()
            if is_kept(period, end)}


def totals(
    closed: Mapping[str, Sum], spans: Iterable[tuple[Span, Rates]],
    month: str, now: int,
) -> dict[str, Sum]:
    """Return what the host flavors of a project have come to in a month.

    :param closed: ``host flavor -> sum`` of the spans that are over
    :param spans: the spans that are not over, each with the rates of its host
        flavor
    :param now: seconds since the epoch
    :returns: ``host flavor -> sum``, in order; none where nothing was held
    """
    found = dict(closed)
    _, following = bounds(month)
    for span, rates in spans:
        its = used(span, min(now, following), rates).get(month)
        if its is not None:
            found[span.flavor] = found.get(span.flavor, Sum()).plus(its)
    return dict(sorted(found.items()))


def daily(
    closed: Mapping[str, Mapping[str, Sum]],
    spans: Iterable[tuple[Span, Rates]], month: str, now: int,
) -> dict[str, dict[str, Sum]]:
    """Return what they have come to in each day of a month.

    Seconds and costs of all days together are those of `totals`.

    :param closed: ``day -> host flavor -> sum``, as `totals`; sums of other
        periods may be there too
    :param spans: as `totals`
    :param now: as `totals`
    :returns: ``day -> host flavor -> sum``, in order, of each day up to now;
        also of later days that a clock which went backwards has left
    """
    begin, following = bounds(month)
    end = min(now, following)
    found = {day: dict(closed.get(day, {})) for day in days_of(month)
             if day in closed or day <= day_of(now)}
    for span, rates in spans:
        for day, its in _within(span, begin, end, rates).items():
            found[day][span.flavor] = found[day].get(
                span.flavor, Sum()).plus(its)
    return {day: dict(sorted(its.items())) for day, its in found.items()}


def _within(
    span: Span, begin: int, end: int, rates: Rates,
) -> dict[str, Sum]:
    """Return what a span has come to in each day from a moment on."""
    return used(dataclasses.replace(span, since=max(span.since, begin)),
                end, rates, by_day)
