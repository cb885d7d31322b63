# SPDX-License-Identifier: Apache-2.0

"""Which hosts a Pcloud gives back because nobody has used the hosts.

The owner says after how many hours, how many hosts stay, and how many empty
hosts are kept for the next servers.

Rule: reference-shrinking
"""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from pcloud.rules import record

# The most hours, about ten years, and the most hosts in a wish to shrink.
MOST_HOURS, MOST_HOSTS = 87_600, 10_000
_HOUR = 3600


@dataclasses.dataclass(frozen=True)
class Shrink(record.Record):
    """The wish of an owner that empty hosts leave the Pcloud.

    :ivar after_hours: after how many hours an empty host leaves, 1 or more
    :ivar min_hosts: how many hosts stay in the Pcloud
    :ivar keep_spare: how many empty, enabled hosts stay
    """

    after_hours: int = dataclasses.field(metadata=record.WHOLE)
    min_hosts: int = dataclasses.field(metadata=record.WHOLE)
    keep_spare: int = dataclasses.field(metadata=record.WHOLE)

    def __post_init__(self) -> None:
        if not (1 <= self.after_hours <= MOST_HOURS and
                self.min_hosts <= MOST_HOSTS and
                self.keep_spare <= MOST_HOSTS):
            raise ValueError(self)


def wish(members: Mapping[str, float]) -> Shrink:
    """Return the wish of a body; to JSON's schemas 2.0 is a whole number."""
    return Shrink(**{name: int(value) for name, value in members.items()})


@dataclasses.dataclass(frozen=True)
class Idle(record.Record):
    """That a worker has seen a host without servers.

    :ivar since: when a worker has first seen that, in seconds since the epoch
    """

    since: int = dataclasses.field(metadata=record.INSTANT)


@dataclasses.dataclass(frozen=True)
class Seen:
    """A host of a Pcloud as a worker sees the host.

    :ivar host: the service host
    :ivar stays: whether nothing has the host leave the Pcloud
    :ivar is_open: whether the host is enabled, and does not stand in for
        another host
    :ivar is_used: whether the host has servers, or migrations that are not
        over; None while the host's cell is silent
    :ivar idle: since when the host is kept as empty; None where nobody can
        tell
    :ivar is_noted: whether there is a row that the host is empty
    """

    host: str
    stays: bool
    is_open: bool
    is_used: bool | None
    idle: Idle | None
    is_noted: bool


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is due for the hosts of a Pcloud.

    :ivar noted: the hosts to be noted as empty from now on
    :ivar forgotten: the hosts of which the note is to be deleted
    :ivar released: the hosts to be drained, and let go
    """

    noted: Sequence[str]
    forgotten: Sequence[str]
    released: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.noted or self.forgotten or self.released)


def plan(shrink: Shrink | None, there: Sequence[Seen], now: float) -> Plan:
    """Return what is due for the hosts of a Pcloud.

    =====  ======  =======  ============================  ================
    open   used    noted    empty                         due
    =====  ======  =======  ============================  ================
    any    silent  any      any                           nothing
    yes    no      no       any                           note
    yes    no      yes      not as long as the wish says  nothing
    yes    no      yes      as long as the wish says      release, see below
    yes    no      wrongly  nobody can tell               forget
    yes    yes     yes      any                           forget
    no     any     yes      any                           forget
    else   else    no       any                           nothing
    =====  ======  =======  ============================  ================

    Hosts are released in the order in which they were noted, as long as
    `Shrink.min_hosts` hosts stay in the Pcloud and `Shrink.keep_spare` of
    them are open and empty. Without a wish every note is forgotten.

    :param shrink: None for no wish
    :param there: all hosts of the Pcloud
    :param now: seconds since the epoch

    Rule: reference-shrinking-hosts
    """
    known = [each for each in there if each.is_used is not None]
    empty = [each for each in known if each.is_open and not each.is_used]
    forgotten = [each.host for each in known if each.is_noted and (
        shrink is None or each not in empty or each.idle is None)]
    if shrink is None:
        return Plan((), forgotten, ())
    long_empty = sorted(
        (each.idle.since, each.host) for each in empty if each.idle is not None
        and each.idle.since + shrink.after_hours * _HOUR <= now)
    most = min(sum(each.stays for each in there) - shrink.min_hosts,
               len(empty) - shrink.keep_spare)
    return Plan([each.host for each in empty if not each.is_noted], forgotten,
                [host for _, host in long_empty[:max(0, most)]])
