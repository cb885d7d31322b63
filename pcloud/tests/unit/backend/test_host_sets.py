# SPDX-License-Identifier: Apache-2.0

"""The hosts of groups, on SQLite, where nothing is kept."""

from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm
import testtools

from pcloud.backend import host_sets


class SqliteTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        engine = sa.create_engine('sqlite://')
        self.addCleanup(engine.dispose)
        models.BASE.metadata.create_all(engine)
        self.session = orm.Session(engine)
        self.addCleanup(self.session.close)

    def _add(self, aggregate_id, host):
        row = models.AggregateHost(aggregate_id=aggregate_id, host=host)
        self.session.add(row)
        self.session.flush()
        return row

    def test_row_with_the_id_of_a_row_that_is_gone(self):
        self._add(1, 'a')
        gone = self._add(2, 'b')
        self.assertEqual({1: {'a'}, 2: {'b'}}, host_sets.read(
            self.session, host_sets.AGGREGATES))
        id_ = gone.id
        self.session.delete(gone)
        self.session.flush()
        self.assertEqual(id_, self._add(2, 'c').id)
        self.assertEqual({1: {'a'}, 2: {'c'}}, host_sets.read(
            self.session, host_sets.AGGREGATES))

    def test_nothing(self):
        self.assertEqual({}, host_sets.read(
            self.session, host_sets.AGGREGATES))
