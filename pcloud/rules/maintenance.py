# SPDX-License-Identifier: Apache-2.0
"""The maintenance of a host, which an administrator announces.

A maintenance is one metadata value of the host's pool. The value also keeps
that Pcloud may have closed the host's compute service and has to open it
again, when a maintenance has been withdrawn or put off.

Rule: reference-maintenance
"""

import dataclasses
import datetime
import re

from pcloud import exception
from pcloud.rules import attributes

# So that a value with all its parts is not longer than 255 characters.
REASON_LENGTH = 200

_SECONDS = r'[0-9a-f]{1,8}'
_FORM = re.compile(
    rf'(?:f=({_SECONDS})(?: u=({_SECONDS}))?)?( ?o=1)?(?: r=(.*))?')
# What eight digits of seconds hold.
_LATEST = 0xffffffff


@dataclasses.dataclass(frozen=True)
class Maintenance:
    """A maintenance of a host.

    :ivar begin: when the maintenance begins, in seconds since the epoch
    :ivar end: when the maintenance is expected to be over; None while nobody
        knows
    :ivar reason: what is going to be done
    """

    begin: int
    end: int | None = None
    reason: str = ''

    def has_begun(self, now: float) -> bool:
        """Whether the host is closed by now.

        :param now: seconds since the epoch
        """
        return self.begin <= now

    @property
    def moment(self) -> datetime.datetime:
        """When the maintenance begins, in UTC."""
        return datetime.datetime.fromtimestamp(self.begin, datetime.UTC)


@dataclasses.dataclass(frozen=True)
class Kept:
    """What a metadata value keeps.

    :ivar maintenance: None for a maintenance that was withdrawn
    :ivar reopen: whether the compute service has to be opened where Pcloud has
        closed it, because a maintenance was withdrawn or put off
    """

    maintenance: Maintenance | None
    reopen: bool = False

    def __str__(self) -> str:
        """Return the metadata value, which `parse` reads."""
        there = self.maintenance
        parts = ['o=1'] if self.reopen else []
        if there is not None:
            dates = [f'f={there.begin:x}'] + (
                [] if there.end is None else [f'u={there.end:x}'])
            parts = [*dates, *parts, f'r={there.reason}']
        return ' '.join(parts)


def parse(text: str | None) -> Kept | None:
    """Read a metadata value; return None for a value that is not right.

    ====================  ====================================
    value                 kept
    ====================  ====================================
    ``f=a r=``            a maintenance from 10 on
    ``f=a u=b o=1 r=x``   a maintenance from 10 to 11; to open
    ``o=1``               no maintenance any more; to open
    any other             nothing, the value is not right
    ====================  ====================================
    """
    found = _FORM.fullmatch(text or '')
    if found is None:
        return None
    begin, end, reopen, reason = found.groups()
    if (begin is None) != (reason is None) or not (begin or reopen):
        return None
    kept = Kept(None if begin is None else Maintenance(
        int(begin, 16), None if end is None else int(end, 16), reason),
        bool(reopen))
    return kept if str(kept) == text else None


def of(text: str | None) -> Maintenance | None:
    """Return the maintenance of a host, None for a host without one.

    A value that is not right is no maintenance.

    :param text: the metadata value, None without a value
    """
    kept = parse(text)
    return None if kept is None else kept.maintenance


def read(begin: str, end: str | None, reason: str) -> Maintenance:
    """Read an announcement.

    :param begin: ISO 8601, as `attributes.reboot` reads dates of reboots; a
        date that has passed begins the maintenance at once
    :param end: likewise, None where nobody knows
    :raises: `exception.InvalidValue`
    """
    first, last = _seconds(begin), None if end is None else _seconds(end)
    if last is not None and last < first:
        raise exception.InvalidValue(
            'Maintenance', end, 'not before its beginning')
    if len(reason) > REASON_LENGTH:
        raise exception.InvalidValue(
            'Maintenance', reason,
            f'told in at most {REASON_LENGTH} characters')
    return Maintenance(first, last, reason)


def _seconds(text: str) -> int:
    try:
        moment = int(attributes.reboot(text).timestamp())
    except exception.InvalidValue:
        moment = -1
    if not 0 <= moment <= _LATEST:
        raise exception.InvalidValue(
            'Maintenance', text,
            'at a moment in ISO 8601, such as 2026-12-31T23:59:59Z')
    return moment


def check(host: str, value: str) -> None:
    """Refuse a metadata value that is no maintenance.

    :param host: the service host
    :raises: `exception.InvalidValue`
    """
    if parse(value) is None:
        raise exception.InvalidValue(
            'Maintenance', value, 'as a change has written it')


def next_reboot(
    date: datetime.datetime | None, maintenance: Maintenance | None,
) -> datetime.datetime | None:
    """Return when a host is rebooted next, with regard to a maintenance.

    ============  ===========  =====================
    ``date``      maintenance  rebooted
    ============  ===========  =====================
    none          none         none
    any           none         at the date
    none          any          when it begins
    any           any          whatever is earlier
    ============  ===========  =====================

    :param date: the attribute of the host, None without the attribute

    Rule: reference-maintenance-seen
    """
    if maintenance is None:
        return date
    return maintenance.moment if date is None else min(
        date, maintenance.moment)
