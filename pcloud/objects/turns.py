# SPDX-License-Identifier: Apache-2.0

"""Take turns at some work, by a row in the metadata of an aggregate.

Rule: reference-changes-turns
"""

import dataclasses

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.aggregates import rows
from pcloud.backend.changes import change
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud.rules import turns


@dataclasses.dataclass(frozen=True)
class Turn:
    """The turn of a process at some work.

    :ivar aggregate: the name of the aggregate that keeps the turn
    :ivar key: the metadata key of the work
    :ivar anchor: the anchor of the changes of the turn
    :ivar token: what tells the process from all others, 8 hexadecimal digits
    :ivar lasts: after how many seconds the process is taken for dead
    """

    aggregate: str
    key: str
    anchor: str
    token: str
    lasts: int


def is_free(context: nova_context.RequestContext, turn: Turn) -> bool:
    """Whether nobody has the turn (one query)."""
    return _is_nobodys(
        rows.value(context, turn.aggregate, turn.key), turn.lasts)


def take(context: nova_context.RequestContext, turn: Turn) -> bool:
    """Take a turn, unless somebody else has the turn.

    :returns: whether the turn was taken
    :raises: `exception.AggregateGone`, and as `change.run`
    """
    def work(written: writes.Rows) -> bool:
        aggregate = written.find(turn.aggregate)
        if aggregate is None:
            raise exception.AggregateGone()
        there = _value(written, aggregate.id, turn)
        if not _is_nobodys(there, turn.lasts):
            return False
        if there is None:
            written.insert(aggregate.id, {turn.key: _text(turn)})
        else:
            written.exchange(aggregate.id, turn.key, _text(turn))
        return True

    return change.run(context, [turn.anchor], work)


def is_own(written: writes.Rows, turn: Turn) -> bool:
    """Whether a process still has the turn, within a change."""
    return _own(written, turn) is not None


def is_nobodys(
    written: writes.Rows, aggregate_id: int, key: str, lasts: int,
) -> bool:
    """Whether nobody has a turn, within a change with the turn's anchor.

    :param aggregate_id: the id of the aggregate that keeps the turn
    :param key: as `Turn.key`
    :param lasts: as `Turn.lasts`
    """
    return _is_nobodys(written.values(aggregate_id, [key]).get(key), lasts)


def end(context: nova_context.RequestContext, turn: Turn) -> bool:
    """End a turn, and return whether it was not lost before.

    :raises: as `change.run`
    """
    def work(written: writes.Rows) -> bool:
        aggregate_id = _own(written, turn)
        return aggregate_id is not None and written.drop(
            aggregate_id, [turn.key]) > 0

    return change.run(context, [turn.anchor], work)


def _own(written: writes.Rows, turn: Turn) -> int | None:
    """Return the id of the aggregate, None when the turn was lost."""
    aggregate = written.find(turn.aggregate)
    if aggregate is None:
        return None
    there = turns.Turn.known(_value(written, aggregate.id, turn))
    return aggregate.id if there is not None and (
        there.token == turn.token) else None


def _value(
    written: writes.Rows, aggregate_id: int, turn: Turn,
) -> str | None:
    return written.values(aggregate_id, [turn.key]).get(turn.key)


def _text(turn: Turn) -> str:
    return turns.Turn(
        turn.token, int(timeutils.utcnow_ts() + turn.lasts) + 1).text()


def _is_nobodys(text: str | None, lasts: int) -> bool:
    """Whether a turn is nobody's, as written.

    What nobody can read is nobody's turn.
    """
    there = turns.Turn.known(text)
    return there is None or turns.has_lapsed(
        there.until, lasts, timeutils.utcnow_ts())
