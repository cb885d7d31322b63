# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Take turns at work on a Pcloud, by a row in the metadata of the Pcloud.

Rule: reference-changes-turns
"""

import dataclasses

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend import change
from pcloud.backend import pcloud_rows
from pcloud.backend import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import pclouds
from pcloud.rules import turns as rules


@dataclasses.dataclass(frozen=True)
class Turn:
    """The turn of a process at some work on a Pcloud.

    :ivar key: the metadata key of the work
    :ivar anchor: the anchor of the changes of the turn
    :ivar token: what tells the process from all others, 8 hexadecimal digits
    :ivar lasts: after how many seconds the process is taken for dead
    """

    pcloud: pclouds.Head
    key: str
    anchor: str
    token: str
    lasts: int


def is_free(context: nova_context.RequestContext, turn: Turn) -> bool:
    """Whether nobody has the turn (one query)."""
    return _is_nobodys(pcloud_rows.value(
        context, turn.pcloud.aggregate.id, turn.key), turn.lasts)


def take(context: nova_context.RequestContext, turn: Turn) -> bool:
    """Take a turn, unless somebody else has the turn.

    :returns: whether the turn was taken
    :raises: `exception.PcloudNotFound`, and as `change.run`
    """
    def work(written: writes.Rows) -> bool:
        if written.find(names.pcloud(turn.pcloud.id)) is None:
            raise exception.PcloudNotFound(pcloud=turn.pcloud.id)
        there = _value(written, turn)
        if not _is_nobodys(there, turn.lasts):
            return False
        if there is None:
            written.insert(turn.pcloud.aggregate.id, {turn.key: _text(turn)})
        else:
            _exchange(written, turn)
        return True

    return change.run(context, [turn.anchor], work)


def is_own(written: writes.Rows, turn: Turn) -> bool:
    """Whether a process still has the turn, within a change."""
    there = _value(written, turn)
    try:
        return there is not None and rules.parse(there).token == turn.token
    except exception.InvalidTurn:
        return False


def renew(context: nova_context.RequestContext, turn: Turn) -> bool:
    """Keep a turn for longer, and return whether it was not lost before.

    :raises: as `change.run`
    """
    def work(written: writes.Rows) -> bool:
        if not is_own(written, turn):
            return False
        _exchange(written, turn)
        return True

    return change.run(context, [turn.anchor], work)


def end(context: nova_context.RequestContext, turn: Turn) -> None:
    """End a turn, if the process still has the turn.

    :raises: as `change.run`
    """
    def work(written: writes.Rows) -> None:
        if is_own(written, turn):
            written.drop(turn.pcloud.aggregate.id, [turn.key])

    change.run(context, [turn.anchor], work)


def _value(written: writes.Rows, turn: Turn) -> str | None:
    return written.values(turn.pcloud.aggregate.id, [turn.key]).get(turn.key)


def _exchange(written: writes.Rows, turn: Turn) -> None:
    written.exchange(turn.pcloud.aggregate.id, turn.key, _text(turn))


def _text(turn: Turn) -> str:
    return str(rules.Turn(
        turn.token, int(timeutils.utcnow_ts() + turn.lasts) + 1))


def _is_nobodys(text: str | None, lasts: int) -> bool:
    """Whether a turn is nobody's, as written.

    What nobody can read is nobody's turn.
    """
    try:
        return text is None or rules.has_lapsed(
            rules.parse(text).until, lasts, timeutils.utcnow_ts())
    except exception.InvalidTurn:
        return True
