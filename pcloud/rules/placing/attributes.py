# SPDX-License-Identifier: Apache-2.0

"""Host attributes: valid values, effective values and scores.

Scores are from 0.0 to 1.0, and higher is better.

Rule: reference-attributes
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import datetime
import functools
import math
import re
import typing

from pcloud import exception

PLATFORM = 'platform_version'
REBOOT = 'next_reboot'
HARDWARE = 'hardware_class'
RACK = 'rack'
# The attributes that Pcloud's rules read.
KNOWN = (PLATFORM, REBOOT, HARDWARE, RACK)
# Those whose values are versions, dates and numbers.
ORDERED = (PLATFORM, REBOOT, HARDWARE)

_STAMP = re.compile(r'\d{8}T\d{6}Z', re.ASCII)
# A long number without a dot is rather a part of a stamp.
_DOTTED = re.compile(r'\d{1,6}|\d{1,9}(\.\d{1,9})+', re.ASCII)
_ISO = re.compile(r'\d{4}-?\d\d-?\d\d([T ].+)?', re.ASCII)
_DATE = re.compile(r'\d{4}-?\d\d-?\d\d', re.ASCII)
_LAST_MOMENT = datetime.time(23, 59, 59)
_NUMBER = re.compile(r'-?\d{1,15}(\.\d{1,15})?', re.ASCII)
_STAMP_FORMAT = '%Y%m%dT%H%M%SZ'

# Thousands of hosts share a few values, which are read for every request.
_remembered = functools.lru_cache(maxsize=4096)


@dataclasses.dataclass(frozen=True)
class Statement:
    """The value of an attribute in one aggregate of a host.

    :ivar value: the attribute's value, as written
    :ivar own: whether the aggregate is the attribute's own, and not an
        aggregate with other purposes too
    """

    value: str
    own: bool


@dataclasses.dataclass(frozen=True, order=True)
class Platform:
    """A platform's version; versions of the same kind can be compared.

    :ivar dotted: whether the version is dotted, and not a stamp
    :ivar order: seconds since 1970, or the numbers between the dots
    """

    dotted: bool
    order: float | tuple[int, ...]


@_remembered
def platform(value: str) -> Platform:
    """Read a platform's version: a stamp or a dotted version.

    :raises: `exception.InvalidValue`
    """
    if _STAMP.fullmatch(value):
        try:
            moment = datetime.datetime.strptime(value, _STAMP_FORMAT)
        except ValueError:
            pass
        else:
            return Platform(False, moment.replace(
                tzinfo=datetime.UTC).timestamp())
    elif _DOTTED.fullmatch(value):
        numbers = [int(part) for part in value.split('.')]
        # 1.0 is 1.
        while len(numbers) > 1 and numbers[-1] == 0:
            numbers.pop()
        return Platform(True, tuple(numbers))
    raise exception.InvalidValue(
        f'Host attribute {PLATFORM}', value,
        'a stamp such as 20261231T235959Z, or a dotted version '
        'such as 2.10.1')


def is_before(value: str | None, version: Platform) -> bool:
    """Whether a host's platform is older than a version.

    A platform that is not known, or of the other kind, counts as the oldest.

    :param value: the version of the host's platform, None while unknown
    :raises: `exception.InvalidValue`
    """
    its = None if value is None else platform(value)
    return its is None or its.dotted != version.dotted or its < version


@_remembered
def reboot(value: str) -> datetime.datetime:
    """Read the moment of a reboot: ISO 8601, in UTC when no zone is given.

    A date without a time means the end of the day, when the date passes.

    :raises: `exception.InvalidValue`
    """
    try:
        if not _ISO.fullmatch(value):
            raise ValueError(value)
        moment = datetime.datetime.fromisoformat(value)
        if _DATE.fullmatch(value):
            moment = datetime.datetime.combine(moment, _LAST_MOMENT)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        return moment.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise exception.InvalidValue(
            f'Host attribute {REBOOT}', value,
            'ISO 8601, such as 2026-12-31T23:59:59Z')


def right_spelling(name: str, there: Collection[str]) -> str:
    """Return the name of an attribute in the right letter case.

    ===================================  ==============================
    names that differ from the name in   the right name
    letter case alone
    ===================================  ==============================
    none                                 the name
    an attribute of `KNOWN`              the attribute of `KNOWN`
    others, and the name is there too    the name
    others, and the name is not there    the first of the others
    ===================================  ==============================

    :param there: the names of attributes that hosts have

    Rule: reference-attributes-spelling
    """
    others = sorted(other for other in {*KNOWN, *there}
                    if other.casefold() == name.casefold())
    known = [other for other in others if other in KNOWN]
    if known or (others and name not in there):
        return (known or others)[0]
    return name


def hardware(value: str) -> float:
    """Read a hardware class: a number, higher is better.

    :raises: `exception.InvalidValue`
    """
    if not _NUMBER.fullmatch(value):
        raise exception.InvalidValue(
            f'Host attribute {HARDWARE}', value, 'a number such as 3 or 2.5')
    return float(value)


def rack(value: str) -> str:
    """Read the name of a rack.

    :raises: `exception.InvalidValue`
    """
    if not value.strip():
        raise exception.InvalidValue(
            f'Host attribute {RACK}', value, 'a name that is not empty')
    return value


_READERS: dict[str, Callable] = {
    PLATFORM: platform, REBOOT: reboot, HARDWARE: hardware, RACK: rack}


def read(name: str, value: str) -> typing.Any:
    """Read an attribute's value; the value of an unknown attribute is text.

    :returns: a value to compare or to compute with
    :raises: `exception.InvalidValue`
    """
    return _READERS.get(name, str)(value)


def is_at_least(value: typing.Any, least: typing.Any) -> bool:
    """Whether a value of an attribute of `ORDERED` is not below another.

    A stamp and a dotted version have no order.

    :param value: as `read` makes values of the attribute
    """
    if isinstance(value, Platform) and value.dotted != least.dotted:
        return False
    return value >= least


def effective(
    name: str, statements: Iterable[Statement], now: datetime.datetime,
) -> tuple[str | None, list[str]]:
    """Decide which value is effective when several aggregates have a value.

    ================  ====================================================
    attribute         effective value
    ================  ====================================================
    ``next_reboot``   the earliest date that has not passed
    any other         a value of an aggregate of the attribute's own before
                      values of other aggregates; among equals the first in
                      the order of letters, so every scheduler takes the
                      same value
    ================  ====================================================

    :param now: earlier dates have passed
    :returns: the effective value, or None; and the invalid values

    Rule: reference-attributes-effective
    """
    valid, bad = [], []
    for statement in sorted(set(statements), key=lambda entry: (
            not entry.own, entry.value)):
        try:
            read(name, statement.value)
        except exception.InvalidValue:
            bad.append(statement.value)
        else:
            valid.append(statement.value)
    if name == REBOOT:
        valid = sorted((value for value in valid if reboot(value) > now),
                       key=reboot)
    return (valid[0] if valid else None), bad


def all_values(
    name: str, statements: Iterable[Statement], now: datetime.datetime,
) -> frozenset:
    """Return the values that a host has of an attribute, as `read` makes them.

    The attributes of `_READERS` have their effective value alone. Any other
    attribute may be a list, separated by commas; the lists of aggregates of
    equal rank are joined.
    """
    if name in _READERS:
        value, _ = effective(name, statements, now)
        return frozenset() if value is None else frozenset(
            [read(name, value)])
    statements = set(statements)
    own_only = any(statement.own for statement in statements)
    return frozenset(
        part.strip() for statement in statements
        if statement.own or not own_only
        for part in statement.value.split(','))


def conflicting(name: str, statements: Iterable[Statement]) -> list[str]:
    """Return the different values of equal rank, of which one is effective.

    Different spellings of the same value do not conflict, nor do invalid
    values. Dates of reboots do not conflict: several reboots may be planned.
    """
    statements = set(statements)
    if name == REBOOT:
        return []
    standing: dict[object, str] = {}
    for statement in statements:
        if statement.own == any(other.own for other in statements):
            try:
                standing.setdefault(
                    read(name, statement.value), statement.value)
            except exception.InvalidValue:
                continue
    return sorted(standing.values()) if len(standing) > 1 else []


def platform_scores(
    platforms: Sequence[Platform | None], counts: Sequence[int] | None = None,
) -> list[float]:
    """Score hosts by their platform, the newest with 1.0, the oldest 0.0.

    Stamps are placed by time. Versions, which have no distance, are placed by
    rank. Without a known platform a host gets 0.0, like the oldest; where
    stamps and versions are mixed, so does a host with the rarer kind.

    :param counts: how many hosts have each platform; None for one host each

    Rule: reference-attributes-platform
    """
    known = [version for version in platforms if version is not None]
    if counts is None:
        counts = [1] * len(platforms)
    dotted = 0 < sum(
        count if version.dotted else -count for version, count
        in zip(platforms, counts, strict=True) if version is not None)
    # All are times, or all are versions.
    places: list[typing.Any] = sorted(
        {version.order for version in known if version.dotted == dotted})
    if len(places) < 2:
        return [
            1.0 if version is not None and version.dotted == dotted else 0.0
            for version in platforms]
    if dotted:
        last = len(places) - 1
        scores = {place: number / last
                  for number, place in enumerate(places)}
    else:
        oldest, newest = places[0], places[-1]
        scores = {place: (place - oldest) / (newest - oldest)
                  for place in places}
    return [scores[version.order]
            if version is not None and version.dotted == dotted else 0.0
            for version in platforms]


def reboot_scores(
    dates: Sequence[datetime.datetime | None], now: datetime.datetime,
    bucket: datetime.timedelta,
) -> list[float]:
    """Score hosts by their next reboot, a later reboot higher.

    Hosts fall into buckets, counted back from the latest date. Hosts without
    a coming reboot are a bucket of their own, the best. The buckets with hosts
    are equally far from each other, so a single date in the far future does
    not give all other hosts the same score.

    :param bucket: the length of a bucket, more than 0
    :returns: 0.0 for the bucket to be rebooted first, 1.0 for the last, and
        1.0 for all hosts of a single bucket

    Rule: reference-attributes-reboot
    """
    coming = [None if date is None or date <= now else date
              for date in dates]
    latest = max((date for date in coming if date), default=now)
    # No date is later than any date; buckets count back from the latest.
    numbers = [-1 if date is None else math.floor((latest - date) / bucket)
               for date in coming]
    order = sorted(set(numbers), reverse=True)
    last = max(len(order) - 1, 1)
    if len(order) == 1:
        return [1.0] * len(numbers)
    scores = {number: place / last for place, number in enumerate(order)}
    return [scores[number] for number in numbers]


def hardware_scores(classes: Sequence[float | None]) -> list[float]:
    """Score hosts by their hardware class, linearly from 0.0 to 1.0.

    A host without a class gets 0.0, like a host with the lowest class. Hosts
    with a class get 1.0 when all classes are equal.

    Rule: reference-attributes-hardware
    """
    known = [class_ for class_ in classes if class_ is not None]
    if not known:
        return [0.0] * len(classes)
    lowest, highest = min(known), max(known)
    if lowest == highest:
        return [0.0 if class_ is None else 1.0 for class_ in classes]
    return [0.0 if class_ is None else (class_ - lowest) / (highest - lowest)
            for class_ in classes]


def reboots_within(
    date: datetime.datetime | None, now: datetime.datetime,
    span: datetime.timedelta,
) -> bool:
    """Whether a host is rebooted soon; past dates do not count.

    Rule: reference-attributes-filter
    """
    return date is not None and now < date <= now + span


def ordinals(racks: Iterable[str | None]) -> dict[str, int]:
    """Number racks from 1, in an order independent of their names.

    The order is the order of the first appearance: of the hosts in whatever
    order their owner sees the hosts.
    """
    numbers: dict[str, int] = {}
    for value in racks:
        if value is not None:
            numbers.setdefault(value, len(numbers) + 1)
    return numbers
