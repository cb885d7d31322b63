# SPDX-License-Identifier: Apache-2.0
"""The maintenance of a host, which an administrator announces.

A maintenance is one metadata value of the host's pool. The value also keeps
that Pcloud may have closed the host's compute service and has to open it
again, when a maintenance has been withdrawn or put off.

Rule: reference-maintenance
"""

import dataclasses
import datetime

from pcloud import exception
from pcloud.rules.placing import attributes
from pcloud.rules import record

# So that a value with all its parts is not longer than 255 characters.
REASON_LENGTH = 200


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
class KeptMaintenance(record.Record):
    """What a metadata value keeps.

    =================================  ====================================
    value                              kept
    =================================  ====================================
    ``begin=... why=Fans``             a maintenance
    ``begin=... end=... open=1``       a maintenance for no stated reason;
                                       to open
    ``open=1``                         no maintenance any more; to open
    =================================  ====================================

    :ivar begin: as of `Maintenance`; None for a maintenance that was withdrawn
    :ivar end: as of `Maintenance`
    :ivar open: whether the compute service has to be opened where Pcloud has
        closed it, because a maintenance was withdrawn or put off
    :ivar why: the reason
    """

    begin: int | None = dataclasses.field(
        default=None, metadata=record.INSTANT)
    end: int | None = dataclasses.field(
        default=None, metadata=record.INSTANT)
    open: bool = dataclasses.field(default=False, metadata=record.FLAG)
    why: str = dataclasses.field(default='', metadata=record.TEXT)

    def __post_init__(self) -> None:
        """Refuse an end and a reason without a maintenance."""
        if self.begin is None and (self.end is not None or self.why):
            raise ValueError('an end or a reason without a beginning')

    @property
    def maintenance(self) -> Maintenance | None:
        """The maintenance, None for a maintenance that was withdrawn."""
        return None if self.begin is None else Maintenance(
            self.begin, self.end, self.why)


def kept(
    maintenance: Maintenance | None, open_: bool = False,
) -> KeptMaintenance:
    """Return what is to be kept of a maintenance.

    :param maintenance: None for a maintenance that was withdrawn
    :param open_: whether the compute service has to be opened
    """
    if maintenance is None:
        return KeptMaintenance(open=open_)
    return KeptMaintenance(maintenance.begin, maintenance.end, open_,
                           maintenance.reason)


def of(text: str | None) -> Maintenance | None:
    """Return the maintenance of a host, None for a host without one.

    A value that is not right is no maintenance.

    :param text: the metadata value, None without a value
    """
    there = KeptMaintenance.known(text)
    return None if there is None else there.maintenance


def read(begin: str, end: str | None, reason: str) -> Maintenance:
    """Read an announcement.

    :param begin: ISO 8601, as `attributes.reboot` reads dates of reboots; a
        date that has passed begins the maintenance immediately
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
    if not 0 <= moment <= record.LATEST:
        raise exception.InvalidValue(
            'Maintenance', text,
            'at a moment in ISO 8601, such as 2026-12-31T23:59:59Z')
    return moment


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
