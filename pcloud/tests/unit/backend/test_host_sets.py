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
