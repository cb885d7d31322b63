# SPDX-License-Identifier: Apache-2.0

"""A rebalance under way: what is kept of each server, and what is next.

What is kept is a wish. Whether a server has been asked for, is on its way or
has arrived is read from Nova each time, so nothing is lost where a process
dies.

Rule: reference-rebalancing-steps, reference-metadata-records
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import json

from pcloud.rules import coded
from pcloud.rules import forms
from pcloud.rules.moving import blockers
from pcloud.rules.moving import draining
from pcloud.rules import record

_NODE = record.word('<uuid>', forms.UUID)

# What is next for a server.
DONE, GO, WAIT = 'done', 'go', 'wait'
# A host that a server has left is given back within so many seconds.
LAG = 60


@dataclasses.dataclass(frozen=True)
class Assignment(record.Record):
    """What is kept of a server that is to be moved.

    :ivar plan: what tells the rebalance from all others, 8 hexadecimal digits
    :ivar step: the number of the step, from 1
    :ivar since: when the rebalance began, in seconds since the epoch
    :ivar move: `draining.LIVE`, or `draining.ANY` where stopped servers are
        moved too
    :ivar source: the uuid of the node to leave
    :ivar target: the uuid of the node to go to
    """

    plan: str = dataclasses.field(metadata=record.word(
        '<8 hexadecimal digits>', '[0-9a-f]{8}'))
    step: int = dataclasses.field(metadata=record.WHOLE)
    since: int = dataclasses.field(metadata=record.INSTANT)
    move: str = dataclasses.field(
        metadata=record.choice(draining.LIVE, draining.ANY))
    source: str = dataclasses.field(metadata=_NODE)
    target: str = dataclasses.field(metadata=_NODE)

    def __post_init__(self) -> None:
        """Refuse a step before the first."""
        if self.step < 1:
            raise ValueError(self.step)


@dataclasses.dataclass(frozen=True)
class Stopped(record.Record):
    """Why a rebalance has ended before its end.

    :ivar at: in seconds since the epoch
    :ivar code: the code of the reason
    :ivar params: the params of the reason, as JSON
    """

    at: int = dataclasses.field(metadata=record.INSTANT)
    code: str = dataclasses.field(metadata=record.word(
        '<code>', '[a-z_]{1,30}'))
    params: str = dataclasses.field(metadata=record.TEXT, default='{}')

    def __post_init__(self) -> None:
        """Refuse what is no reason."""
        try:
            self.reason
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError(self.params) from error

    @property
    def reason(self) -> coded.Reason:
        """The reason."""
        return coded.Reason(self.code, **json.loads(self.params))


def stopped(at: int, reason: coded.Reason) -> Stopped:
    """Return why a rebalance has ended.

    :param at: in seconds since the epoch
    """
    return Stopped(at, reason.code, json.dumps(reason.params))


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
    obstacle: blockers.Why | None


class Stop(Exception):
    """The world is not as planned, so nothing more is moved."""

    def __init__(self, reason: coded.Reason) -> None:
        super().__init__(reason)
        self.reason = reason


# What ends by itself.
_PASSING = (blockers.TASK, blockers.MIGRATION)


def next_of(server: str, row: Assignment, seen: Seen) -> str:
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
        raise Stop(coded.Reason('server_left', server=server))
    if seen.is_under_way:
        return WAIT
    if seen.place == row.target:
        return DONE
    if seen.place != row.source:
        raise Stop(coded.Reason('server_elsewhere', server=server))
    if seen.failed:
        raise Stop(coded.Reason('move_failed', server=server))
    if seen.obstacle is None:
        return GO
    rule, reason = seen.obstacle
    if rule in _PASSING:
        return WAIT
    raise Stop(coded.Reason(
        'server_stays', server=server, why=reason.code, **reason.params))


def waits_for_room(ended: Collection[float], now: float) -> bool:
    """Whether a host that has no capacity may still get back some.

    What a server that was moved has left is free a moment after its arrival.

    :param ended: when the latest moves have ended, in seconds since the epoch
    :param now: seconds since the epoch
    """
    return any(moment > now - LAG for moment in ended)
