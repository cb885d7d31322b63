# SPDX-License-Identifier: Apache-2.0
"""One change is one transaction, and knows whether its commit arrived."""

import contextlib
import threading
from unittest import mock

from nova.db.api import api as api_db
from nova.db.api import models
from oslo_db import exception as db_exc
import sqlalchemy as sa

from pcloud.backend.aggregates import rows
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

ANCHOR = 'test'


class ChangeTest(shared_cloud.SharedCloudTestCase):
    """Changes of an ordinary aggregate.

    :ivar calls: number of times that the work of a change was done
    """

    hosts = {'node-1': 'az1'}

    def setUp(self):
        super().setUp()
        self.useFixture(base.fixtures.MonkeyPatch(
            'pcloud.backend.changes.change.PATIENCE', 2))
        self.aggregate = self.make_aggregate('mine')
        self.calls = 0

    def _write(self, written):
        """Count in the metadata how often the work was committed."""
        self.calls += 1
        before = written.metadata(self.aggregate).get('count', '0')
        written.set(self.aggregate, {'count': str(int(before) + 1)})
        return self.calls

    def _run(self, work=None):
        return change.run(self.context, [ANCHOR], work or self._write)

    def _count(self):
        aggregate, = rows.read(
            self.context, models.Aggregate.id == self.aggregate)
        return int(aggregate.metadata.get('count', 0))

    @contextlib.contextmanager
    def _commits(self, *fates, then=lambda: None):
        """Have commits of this thread lose their connection.

        :param fates: for each commit in turn, whether the connection is lost
            'before' or 'after' the database gets the commit; further commits
            are undisturbed
        :param then: called once, before the first further attempt
        """
        left, mine = list(fates), threading.get_ident()
        engine = api_db.get_engine()
        original = engine.dialect.do_commit

        def commit(connection):
            if not left or threading.get_ident() != mine:
                return original(connection)
            fate = left.pop(0)
            if fate == 'after':
                original(connection)
            else:
                engine.dialect.do_rollback(connection)
            waiting.append(then)
            raise db_exc.DBConnectionError()

        def find(context):
            # Only between two attempts nobody holds the lock that keeps
            # writers of these tests apart.
            if waiting and threading.get_ident() == mine:
                waiting.pop()()
            return look(context)

        look, waiting = journal.find, []
        engine.dialect.do_commit = commit
        try:
            with mock.patch.object(journal, 'find', find):
                yield
        finally:
            engine.dialect.do_commit = original
        self.assertEqual([], left)

    def test_is_made_once(self):
        self.assertEqual(1, self._run())
        self.assertEqual(1, self._count())

    def test_exception_changes_nothing(self):
        before = self.dump()

        def work(written):
            self._write(written)
            raise exception.HostBusy(name='a')

        self.assertRaises(exception.HostBusy, self._run, work)
        self.assertEqual(before, self.dump())

    def test_commit_that_did_not_arrive_is_made_again(self):
        with self._commits('before', 'before'):
            self.assertEqual(3, self._run())
        self.assertEqual((1, 3), (self._count(), self.calls))

    def test_commit_whose_answer_is_lost_is_not_made_again(self):
        with self._commits('after'):
            self.assertEqual(1, self._run())
        self.assertEqual((1, 1), (self._count(), self.calls))

    def test_others_commit_meanwhile(self):
        """Fewer than there is capacity for in the journal."""
        for fate, committed in (('after', 1), ('before', 2)):
            self.calls = 0
            with self._commits(fate, then=lambda: self._others(
                    journal.KEPT - 1)):
                self._run()
            self.assertEqual(committed, self.calls)

    def test_so_many_commit_meanwhile_that_nobody_knows(self):
        self._run()
        with self._commits('after', then=lambda: self._others(
                journal.KEPT + 1)):
            self.assertRaises(exception.OutcomeUnknown, self._run)

    def _others(self, number):
        def work():
            for _ in range(number):
                change.run(self.context.elevated(), [ANCHOR],
                           lambda written: None)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    def test_database_that_stays_away(self):
        with self._statements_fail():
            self.assertRaises(db_exc.DBConnectionError, self._run)
        self.assertEqual(0, self._count())

    def test_database_that_stays_away_after_the_commit(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._commits(
                'after', then=lambda: stack.enter_context(
                    self._statements_fail())))
            self.assertRaises(exception.OutcomeUnknown, self._run)

    def test_database_that_is_locked_after_the_commit(self):
        """As when the server still takes the lost connection for alive."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._commits(
                'after', then=lambda: stack.enter_context(
                    mock.patch.object(journal, 'mark',
                                      side_effect=db_exc.DBDeadlock()))))
            self.assertRaises(exception.OutcomeUnknown, self._run)
        self.assertEqual(1, self._count())

    @contextlib.contextmanager
    def _statements_fail(self):
        """Have statements of this thread lose their connection."""
        mine = threading.get_ident()

        def fail(*args, **kwargs):
            if threading.get_ident() == mine:
                raise db_exc.DBConnectionError()

        sa.event.listen(sa.Engine, 'before_cursor_execute', fail)
        try:
            yield
        finally:
            sa.event.remove(sa.Engine, 'before_cursor_execute', fail)
