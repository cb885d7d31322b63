# SPDX-License-Identifier: Apache-2.0
"""One change of Nova's aggregates: one transaction, whole or not at all.

All aggregates, hosts and metadata are in one database. A change locks its
anchors in the journal, writes its rows, and reads last what other changes may
have done meanwhile, so the change sees every earlier commit. An exception
rolls the transaction back, and nothing has to be undone.

A transaction is repeated after a deadlock or a lost connection. When the
answer to a commit is lost, the next attempt waits at the lock of the anchors
for the end of the first attempt, and finds the mark of the first attempt there
if the commit has arrived. Where the wait takes too long, the outcome is
reported as unknown.

Rule: reference-changes-order
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from typing import Generic
from typing import TypeVar

from nova import context as nova_context
from nova.db.api import api as api_db
from oslo_db import exception as db_exc
from sqlalchemy import exc as sa_exc
import tenacity

from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import exception

Result = TypeVar('Result')

# Seconds after which no further attempt is begun.
PATIENCE = 20.0


def _is_late(state: tenacity.RetryCallState) -> bool:
    return state.seconds_since_start >= PATIENCE


_AGAIN = (writes.Again, db_exc.DBDeadlock, db_exc.DBConnectionError)
# All that a database may raise: some errors are not translated by oslo.db.
_DATABASE = (writes.Again, db_exc.DBError, sa_exc.SQLAlchemyError)


def run(
    context: nova_context.RequestContext, anchors: Collection[str],
    work: Callable[[writes.Rows], Result],
) -> Result:
    """Make a change in one transaction.

    :param anchors: what no other change may touch meanwhile, see `journal`
    :param work: writes the rows and returns the result; called once an
        attempt. Writes that may have to wait for other changes come before the
        first read
    :returns: the result of `work` in the committed attempt
    :raises: whatever `work` raises, `exception.Conflict` when other changes
        were always first, `exception.OutcomeUnknown` when the database went
        away at the commit, `oslo_db.exception.DBConnectionError` when the
        database went away before the commit
    """
    return _Change(context, anchors, work).run()


class _Change(Generic[Result]):
    """The attempts of one change.

    :ivar _before: ``journal key of an anchor -> newest mark`` before the
        latest attempt to write rows
    :ivar _result: the result of the latest attempt
    :ivar _asked: the mark of an attempt with a requested commit of unknown
        outcome, or None
    """

    def __init__(
        self, context: nova_context.RequestContext,
        anchors: Collection[str], work: Callable[[writes.Rows], Result],
    ) -> None:
        self._context = context
        self._anchors = anchors
        self._work = work
        self._before: Mapping[str, str | None] = {}
        # Not there before the first attempt asks for its commit.
        self._result: Result
        self._asked: str | None = None

    def run(self) -> Result:
        """Try until the change is made or refused, or time is up."""
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._may_be_done_anew),
            wait=tenacity.wait_random_exponential(multiplier=0.05, max=1),
            stop=_is_late, reraise=True)
        try:
            return attempts(self._attempt)
        except _DATABASE as error:
            if self._asked:
                raise exception.OutcomeUnknown() from error
            if isinstance(error, (writes.Again, db_exc.DBDeadlock)):
                raise exception.Conflict(
                    'Other requests change the same thing at the moment; '
                    'nothing was changed, try again.') from error
            raise

    def _may_be_done_anew(self, error: BaseException) -> bool:
        """Whether an attempt was rolled back, or has an unknown outcome."""
        return isinstance(error, _AGAIN) or (
            self._asked is not None and isinstance(error, _DATABASE))

    def _attempt(self) -> Result:
        mark = due.new_mark()
        journal_id = journal.find(self._context)
        with api_db.context_manager.writer.using(self._context) as session:
            try:
                if journal_id is None:
                    journal_id = journal.create(session)
                marks = journal.mark(
                    session, journal_id, self._anchors, mark)
            except (db_exc.DBDuplicateEntry,
                    db_exc.DBReferenceError) as error:
                raise writes.Again() from error
            if self._asked and self._has_arrived(marks):
                return self._result
            self._before = {key: next(iter(its[1:]), None)
                            for key, its in marks.items()}
            self._asked = None
            self._result = self._work(writes.Rows(
                session, journal_id, mark, self._before))
            self._asked = mark
        return self._result

    def _has_arrived(self, marks: Mapping[str, list[str]]) -> bool:
        """Whether the marks of the anchors show the commit in doubt.

        :raises: `exception.OutcomeUnknown` when so many changes came after the
            commit that the commit's mark may have been dropped
        """
        if any(self._asked in its for its in marks.values()):
            return True
        for key, its in marks.items():
            before = self._before.get(key)
            if before in its or (before is None and len(its) <= journal.KEPT):
                return False
        raise exception.OutcomeUnknown()
