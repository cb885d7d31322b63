# SPDX-License-Identifier: Apache-2.0

"""What projects have held of hosts in months and days, as bars."""

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import datetime
import decimal
from typing import TypeAlias

from django.utils import formats
from django.utils.translation import gettext as _

from pcloud_dashboard import shown

from pcloud.client import usage_resources

# How many months the API remembers: the present one, and those before.
_KEPT = 13
# Of how many of them the API remembers the days.
_KEPT_BY_DAY = 2
# How many different tints there are; host flavors share them, and have names.
_TINTS = 8

_Held: TypeAlias = usage_resources.Usage | usage_resources.Day


def kept(today: datetime.date) -> list[str]:
    """Return the months that the API remembers, the latest first.

    :param today: the day in UTC, which the API counts in
    """
    last = today.year * 12 + today.month - 1
    return [f'{each // 12:04}-{each % 12 + 1:02}'
            for each in range(last, last - _KEPT, -1)]


def kept_by_day(months: list[str]) -> list[str]:
    """Return the months of which the API remembers the days.

    :param months: as from `kept`
    """
    return months[:_KEPT_BY_DAY]


def title(month: str) -> str:
    """Return a month, such as "2026-11", in words."""
    return formats.date_format(
        datetime.date.fromisoformat(f'{month}-01'), 'YEAR_MONTH_FORMAT')


@dataclasses.dataclass(frozen=True)
class Part:
    """What was held of a host flavor in a month or day.

    :ivar percent: the length of the part in the bar
    :ivar tint: the class of the part; the text says the same
    :ivar text: the hours in words
    """

    host_flavor: str
    percent: float
    tint: int
    text: str


@dataclasses.dataclass(frozen=True)
class Month:
    """What a project has held in a month.

    :ivar text: all hours of hosts together, in words
    :ivar cost: what that comes to; None without prices
    :ivar is_complete: whether the month is over
    """

    month: str
    title: str
    parts: tuple[Part, ...]
    text: str
    cost: str | None
    is_complete: bool


@dataclasses.dataclass(frozen=True)
class Day:
    """What a project has held in a day.

    :ivar number: of the day in its month
    :ivar text: the day, and the hours of each host flavor, in words
    """

    number: int
    parts: tuple[Part, ...]
    text: str


def bars(usages: Iterable[usage_resources.Usage]) -> list[Month]:
    """Return a bar for each month, measured against the fullest of them."""
    found = list(usages)
    names = _names(found)
    most = _most(found)
    return [Month(
        usage.month, title(usage.month),
        _parts(usage.host_flavors, names, most),
        _('%s h') % shown.amount(hours(usage)), cost(usage), usage.complete)
        for usage in found]


def daily(usages: Sequence[usage_resources.Usage]) -> list[Day]:
    """Return a bar for each day of the first of some months.

    The days are measured against the fullest of them, and have the tints of
    the `bars` of all the months. None where the API has told no days.
    """
    found = usages[0].days or () if usages else ()
    names, most = _names(usages), _most(found)
    return [_day(each, _parts(each.host_flavors, names, most))
            for each in found]


def _day(day: usage_resources.Day, parts: tuple[Part, ...]) -> Day:
    date = datetime.date.fromisoformat(day.day)
    return Day(date.day, parts, ', '.join([
        formats.date_format(date, 'MONTH_DAY_FORMAT'),
        *([part.text for part in parts] or [_('%s h') % 0])]))


def _names(usages: Iterable[usage_resources.Usage]) -> list[str]:
    """Return the host flavors of which something was held, in order."""
    return sorted({each.id for usage in usages
                   for each in usage.host_flavors}, key=shown.natural)


def _most(held: Iterable[_Held]) -> float:
    """Return the hours of the fullest of some months or days, never zero."""
    return max(map(hours, held), default=0) or 1


def _parts(
    held: Iterable[usage_resources.HeldFlavor], names: list[str], most: float,
) -> tuple[Part, ...]:
    return tuple(
        Part(each.id, round(100 * each.host_hours / most, 2),
             names.index(each.id) % _TINTS, _('%(flavor)s: %(hours)s h') % {
                 'flavor': each.id, 'hours': shown.amount(each.host_hours)})
        for each in sorted(held, key=lambda each: shown.natural(each.id)))


def hours(usage: _Held) -> float:
    """Return for how long hosts were held, all together."""
    return sum(each.host_hours for each in usage.host_flavors)


def unit_hours(usage: usage_resources.Usage) -> float:
    """Return the same, each host as often as it has units."""
    return sum(each.unit_hours for each in usage.host_flavors)


def cost(usage: usage_resources.Usage) -> str | None:
    """Return what a month has cost, None where no host flavor has a price."""
    costs = [decimal.Decimal(each.cost) for each in usage.host_flavors
             if each.cost is not None]
    if not costs:
        return None
    return money(str(sum(costs)), usage.currency)


def money(amount: str, currency: str | None) -> str:
    """Return an amount of money as users write amounts.

    :param amount: a decimal text of the API
    """
    shown_amount = formats.number_format(
        decimal.Decimal(amount).quantize(decimal.Decimal('0.01')), 2)
    return f'{shown_amount} {currency}' if currency else shown_amount
