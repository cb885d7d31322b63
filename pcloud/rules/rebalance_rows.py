# SPDX-License-Identifier: Apache-2.0

"""A rebalance under way: what is kept of each server, and what is next.

What is kept is a wish. Whether a server has been asked for, is on its way or
has arrived is read from Nova each time, so nothing is lost where a process
dies.

Rule: reference-rebalancing-steps, reference-rebalancing-value
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import re

from pcloud import exception
from pcloud.rules import blockers
from pcloud.rules import draining
from pcloud.rules import uuids

_SECONDS = r'[0-9a-f]{1,8}'
_FORM = re.compile(
    r'p=(?P<plan>[0-9a-f]{8}) n=(?P<step>[1-9][0-9]{0,3}) '
    rf't=(?P<since>{_SECONDS}) '
    rf'v=(?P<move>{draining.LIVE}|{draining.ANY}) '
    rf'f=(?P<source>{uuids.FORM}) h=(?P<target>{uuids.FORM})')
_STOPPED = re.compile(rf't=(?P<at>{_SECONDS}) (?P<reason>\S[^\x00-\x1f]*)')
# A metadata value has 255 characters.
_REASON_LENGTH = 240

# What is next for a server.
DONE, GO, WAIT = 'done', 'go', 'wait'
# A host that a server has left is given back within so many seconds.
LAG = 60


@dataclasses.dataclass(frozen=True)
class Assignment:
    """What is kept of a server that is to be moved.

    :ivar plan: what tells the rebalance from all others, 8 hexadecimal digits
    :ivar step: the number of the step, from 1
    :ivar since: when the rebalance began, in seconds since the epoch
    :ivar move: `draining.LIVE`, or `draining.ANY` where stopped servers are
        moved too
    :ivar source: the uuid of the node to leave
    :ivar target: the uuid of the node to go to
    """

    plan: str
    step: int
    since: int
    move: str
    source: str
    target: str

    def __str__(self) -> str:
        """Return the metadata value, which `parse` reads."""
        return (f'p={self.plan} n={self.step} t={self.since:x} v={self.move} '
                f'f={self.source} h={self.target}')


def parse(text: str) -> Assignment | None:
    """Read a metadata value; return None for a value that is not right."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    return Assignment(
        found['plan'], int(found['step']), int(found['since'], 16),
        found['move'], found['source'], found['target'])


def check(server: str, value: str) -> None:
    """Refuse a metadata value that is no assignment.

    :param server: the uuid of the server
    :raises: `exception.InvalidValue`
    """
    if not uuids.is_uuid(server) or parse(value) is None:
        raise exception.InvalidValue(
            'Rebalance', value,
            'about the uuid of a server, and as a change has written it')


@dataclasses.dataclass(frozen=True)
class Stopped:
    """Why a rebalance has ended before its end.

    :ivar at: in seconds since the epoch
    """

    at: int
    reason: str

    def __str__(self) -> str:
        """Return the metadata value, which `parse_stopped` reads."""
        return f't={self.at:x} {self.reason[:_REASON_LENGTH]}'


def parse_stopped(text: str | None) -> Stopped | None:
    """Read a metadata value; return None for a value that is not right."""
    found = _STOPPED.fullmatch(text or '')
    if found is None:
        return None
    return Stopped(int(found['at'], 16), found['reason'])


def check_stopped(key: str, value: str) -> None:
    """Refuse a metadata value that does not tell why a rebalance ended.

    :raises: `exception.InvalidValue`
    """
    if parse_stopped(value) is None:
        raise exception.InvalidValue(
            'Rebalance', value, 'as a change has written it')


def current(rows: Mapping[str, Assignment]) -> dict[str, Assignment]:
    """Return the assignments of the first step that is not done.

    :param rows: ``server uuid -> assignment``
    """
    first = min((row.step for row in rows.values()), default=0)
    return {server: row for server, row in sorted(rows.items())
            if row.step == first}


@dataclasses.dataclass(frozen=True)
class Seen:
    """A server of the present step.

    :ivar place: the uuid of the node with the server; None for a server that
        is not in the Pcloud any more
    :ivar is_under_way: whether a migration of the server has begun and is not
        over, or waits for its confirmation
    :ivar failed: whether a migration has failed since the rebalance began
    :ivar obstacle: the rule and the reason that keep the server; None for a
        server that can be moved
    """

    place: str | None
    is_under_way: bool
    failed: bool
    obstacle: tuple[str, str] | None


class Stop(Exception):
    """The world is not as planned, so nothing more is moved."""


# What ends by itself.
_PASSING = (blockers.TASK, blockers.MIGRATION)


def next_of(row: Assignment, seen: Seen) -> str:
    """Return `DONE`, `GO` or `WAIT` for a server of the present step.

    The first row that fits counts:

    =========  =========  =======  =================  =====================
    place      under way  failed   obstacle           next
    =========  =========  =======  =================  =====================
    none       any        any      any                stop
    any        yes        any      any                wait
    target     no         any      any                done
    elsewhere  no         any      any                stop
    source     no         yes      any                stop
    source     no         no       task, migration    wait
    source     no         no       any other          stop
    source     no         no       none               go
    =========  =========  =======  =================  =====================

    :raises: `Stop`, with the reason
    """
    if seen.place is None:
        raise Stop('it is not in the Pcloud any more')
    if seen.is_under_way:
        return WAIT
    if seen.place == row.target:
        return DONE
    if seen.place != row.source:
        raise Stop('it is on another host by now')
    if seen.failed:
        raise Stop('its migration has failed')
    if seen.obstacle is None:
        return GO
    rule, reason = seen.obstacle
    if rule in _PASSING:
        return WAIT
    raise Stop(reason)


def waits_for_room(ended: Collection[float], now: float) -> bool:
    """Whether a host that has no room may still get back some.

    What a server that was moved has left is free a moment after its arrival.

    :param ended: when the latest moves have ended, in seconds since the epoch
    :param now: seconds since the epoch
    """
    return any(moment > now - LAG for moment in ended)
