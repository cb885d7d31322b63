# SPDX-License-Identifier: Apache-2.0

"""The hosts of groups that are kept in memory agree with MariaDB's rows."""

import collections
import random
from unittest import mock

from nova.db.api import models as api_models
from nova.db.main import models as main_models
from oslo_utils import uuidutils
import sqlalchemy as sa
from sqlalchemy import orm
import testtools

from pcloud.backend import host_sets
from pcloud.tests.concurrency import mariadb

_DATABASES = _ONE, _OTHER = 'sets', 'other_sets'
_STEPS = 60


class HostSetsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()
        mariadb.create(_DATABASES)
        self.addCleanup(mariadb.drop, _DATABASES)
        self.engine, self.other = map(self._engine, _DATABASES)
        self.statements = []
        sa.event.listen(
            self.engine, 'before_cursor_execute',
            lambda connection, cursor, statement, *rest:
                self.statements.append(statement))

    def _engine(self, name):
        engine = sa.create_engine(mariadb.url(name))
        self.addCleanup(engine.dispose)
        with engine.begin() as connection:
            for model in (api_models.Aggregate, api_models.AggregateHost,
                          api_models.CellMapping, api_models.HostMapping,
                          main_models.Service):
                connection.execute(sa.schema.CreateTable(model.__table__))
        return engine

    def _write(self, *statements, engine=None):
        with (engine or self.engine).begin() as connection:
            connection.execute(sa.text('SET foreign_key_checks = 0'))
            for statement in statements:
                connection.execute(statement)

    def _join(self, aggregate_id, host, **values):
        # A host may be there already.
        return sa.insert(api_models.AggregateHost).prefix_with(
            'IGNORE').values(aggregate_id=aggregate_id, host=host, **values)

    def _leave(self, host):
        return sa.delete(api_models.AggregateHost).where(
            api_models.AggregateHost.host == host)

    def _read(self, source=host_sets.AGGREGATES, engine=None):
        self.statements.clear()
        with orm.Session(engine or self.engine) as session:
            found = host_sets.read(session, source)
        self.statements = [each for each in self.statements
                           if not each.startswith('SET ')]
        return found

    def _slowly(self):
        row, found = api_models.AggregateHost, collections.defaultdict(set)
        with orm.Session(self.engine) as session:
            for id_, host in session.execute(
                    sa.select(row.aggregate_id, row.host)):
                found[id_].add(host)
        return found

    def test_any_changes(self):
        chance = random.Random(23)
        for step in range(_STEPS):
            for _ in range(chance.randrange(4)):
                host = f'h{chance.randrange(20)}'
                self._write(self._leave(host) if chance.random() < 0.5 else
                            self._join(chance.randrange(1, 4), host))
            self.assertEqual(self._slowly(), self._read(), step)

    def test_only_what_has_changed_is_read_again(self):
        self._write(self._join(1, 'a'), self._join(2, 'b'))
        before = self._read()
        self.assertEqual(before, self._read())
        self.assertEqual(1, len(self.statements))
        self._write(self._join(2, 'c'))
        after = self._read()
        self.assertEqual({1: {'a'}, 2: {'b', 'c'}}, after)
        self.assertIs(before[1], after[1])
        self.assertEqual(2, len(self.statements))
        self._write(self._leave('a'))
        self.assertEqual({2: {'b', 'c'}}, self._read())

    def test_host_comes_for_another_below_the_largest_id(self):
        self._write(self._join(1, 'a', id=3), self._join(1, 'b', id=9))
        self._read()
        # The change began before the change with the largest id.
        self._write(self._leave('a'), self._join(1, 'c', id=5))
        self.assertEqual({1: {'b', 'c'}}, self._read())

    def test_row_that_was_changed_by_hand_is_seen_after_a_minute(self):
        self._write(self._join(1, 'a'))
        now = host_sets.time.monotonic()
        self._read()
        self._write(sa.update(api_models.AggregateHost).values(host='b'))
        with mock.patch.object(host_sets.time, 'monotonic', lambda: now + 30):
            self.assertEqual({1: {'a'}}, self._read())
        with mock.patch.object(host_sets.time, 'monotonic', lambda: now + 90):
            self.assertEqual({1: {'b'}}, self._read())

    def test_after_a_minute_what_has_not_changed_is_the_same_object(self):
        self._write(self._join(1, 'a'), self._join(2, 'b'),
                    self._join(3, 'c'))
        now = host_sets.time.monotonic()
        before = self._read()
        self._write(self._leave('c'), sa.update(
            api_models.AggregateHost).where(
                api_models.AggregateHost.host == 'b').values(host='d'))
        with mock.patch.object(host_sets.time, 'monotonic', lambda: now + 90):
            after = self._read()
        self.assertEqual(2, len(self.statements))
        self.assertEqual({1: {'a'}, 2: {'d'}}, after)
        self.assertIs(before[1], after[1])

    def test_aggregate_with_a_row_without_host(self):
        self._write(self._join(1, 'a'), self._join(2, None))
        self.assertEqual({1: {'a'}}, self._read())
        self._write(self._join(1, 'b'))
        self.assertEqual({1: {'a', 'b'}}, self._read())
        self._write(self._join(2, 'c'))
        self.assertEqual({1: {'a', 'b'}, 2: {'c'}}, self._read())

    def test_aggregate_that_goes_while_the_names_are_read(self):
        self._write(self._join(1, 'a'), self._join(2, 'b', id=5))
        self.assertEqual({1: {'a'}}, self._read_while(self._leave('b')))
        self._write(self._join(2, 'b', id=5), self._join(1, 'c'))
        self.assertEqual({1: {'a', 'c'}, 2: {'b'}}, self._read())

    def test_aggregate_that_comes_while_the_names_are_read(self):
        self._write(self._join(1, 'a'))
        self._read_while(self._join(2, 'b'))
        self.assertEqual({1: {'a'}, 2: {'b'}}, self._read())

    def _read_while(self, statement):
        """Read, and write where the names are read after the stamps."""
        original = host_sets._hosts

        def hosts(session, *args):
            # Each statement sees what is committed by now.
            session.rollback()
            self._write(statement)
            return original(session, *args)

        with mock.patch.object(host_sets, '_hosts', hosts):
            return self._read()

    def test_each_database_has_its_own(self):
        self._write(self._join(1, 'a'))
        self._write(self._join(1, 'b'), engine=self.other)
        self.assertEqual({1: {'a'}}, self._read())
        self.assertEqual({1: {'b'}}, self._read(engine=self.other))
        self.assertEqual({1: {'a'}}, self._read())

    def test_cells_and_services(self):
        self._write(sa.insert(api_models.HostMapping).values(
            cell_id=2, host='a'))
        self.assertEqual({2: {'a'}}, self._read(host_sets.CELLS))
        self.assertEqual({}, self._read())
        for host, binary, deleted in (
                ('a', 'nova-compute', 0), ('b', 'nova-scheduler', 0),
                ('c', 'nova-compute', 7)):
            self._write(sa.insert(main_models.Service).values(
                host=host, binary=binary, deleted=deleted, report_count=0,
                uuid=uuidutils.generate_uuid()))
        self.assertEqual({'nova-compute': {'a'}},
                         self._read(host_sets.SERVICES))
        # Nova deletes a service by a number in the service's row.
        self._write(sa.update(main_models.Service).values(
            deleted=main_models.Service.id))
        self.assertEqual({}, self._read(host_sets.SERVICES))
