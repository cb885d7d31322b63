# SPDX-License-Identifier: Apache-2.0

"""The one predicate "closed", as Python and as the database tell it."""

import collections
import itertools
import random

import ddt
import fixtures
from nova import context as nova_context
from nova.db.api import models
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import timeutils
import testtools

from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import pool_rows
from pcloud import exception
from pcloud import names
from pcloud.rules.placing import access

CLOSED = (names.TYPE_PCLOUD, names.TYPE_POOL)
OTHER = (None, '', names.TYPE_POLICY, names.TYPE_ATTRIBUTE,
         names.TYPE_JOURNAL, 'anything')
# How a name begins, whether the name closes, and whether the name says pool.
NAMES = (
    ('rack ', False, False),
    ('Pcloud', False, False),
    (names.JOURNAL, False, False),
    ('A Pcloud:', False, False),
    ('Pcloud:', True, False),
    ('Pcloud:7f3c8a52-4a0e-4c35-9d6e-5b1f2c7e8a9', True, False),
    ('Pcloud:attributes:', True, False),
    ('Pcloud:policy', True, False),
    ('Pcloud:hostXflavor:', True, False),
    ('Pcloud:host_flavor:', True, True),
    ('Pcloud:attribute:rack=', False, False),
    ('Pcloud:policy:cloud:', False, False),
    # Databases compare names without case.
    ('pCLOUD:', True, False),
    ('pcloud:Host_Flavor:', True, True),
    ('PCLOUD:ATTRIBUTE:', False, False),
    ('pcloud:Policy:', False, False),
)


def _table():
    """Yield the beginning of a name, a type, is closed, is a Pcloud."""
    for (begin, closes, is_pool), kind in itertools.product(
            NAMES, CLOSED + OTHER):
        closed = closes or kind in CLOSED
        yield (begin, kind, closed,
               closed and not is_pool and kind != names.TYPE_POOL)


@ddt.ddt
class PredicateTest(testtools.TestCase):

    @ddt.idata(_table())
    @ddt.unpack
    def test_python(self, begin, kind, closed, is_pcloud):
        metadata = {} if kind is None else {names.TYPE: kind}
        self.assertIs(closed, isolation.is_closed(begin + '1', metadata))
        self.assertIs(is_pcloud, isolation.is_pcloud(begin + '1', metadata))


class _Cut:
    """A database that cuts strings short, as MySQL does, and tells nobody."""

    def __init__(self):
        self.values = []

    def step(self, value, separator):
        self.values.append(value)
        self.separator = separator

    def finalize(self):
        return self.separator.join(self.values)[:100]


class DatabaseTestCase(testtools.TestCase):
    """An empty database of Nova's API."""

    def setUp(self):
        super().setUp()
        self.database = database = enginefacade.transaction_context()
        database.configure(connection='sqlite://')
        self.useFixture(fixtures.MonkeyPatch(
            'nova.db.api.api.context_manager', database))
        models.BASE.metadata.create_all(database.writer.get_engine())
        self.context = nova_context.get_admin_context()

    def _add(self, uuid, name, metadata, *hosts):
        with self.database.writer.using(self.context) as session:
            aggregate = models.Aggregate(uuid=uuid, name=name)
            session.add(aggregate)
            session.flush()
            session.add_all(models.AggregateHost(
                aggregate_id=aggregate.id, host=host) for host in hosts)
            session.add_all(models.AggregateMetadata(
                aggregate_id=aggregate.id, key=key, value=value)
                for key, value in metadata.items())


@ddt.ddt
class DatabaseTest(DatabaseTestCase):
    """Every query that asks who is closed gives the answer of Python."""

    def setUp(self):
        super().setUp()
        self.closed, self.pclouds = set(), set()
        for number, row in enumerate(_table()):
            self._add_row(number, *row)
        self.all = range(number + 1)

    def _add_row(self, number, begin, kind, closed, is_pcloud):
        name = f'{begin}{number}'
        metadata = {'ssd': 'true'} | ({} if kind is None else {
            names.TYPE: kind})
        self._add(f'uuid-{number}', name, metadata, f'host-{number}')
        if isolation.is_closed(name, metadata):
            self.closed.add(number)
        if isolation.is_pcloud(name, metadata):
            self.pclouds.add(number)

    def _hosts(self, numbers):
        return {f'host-{number}' for number in numbers}

    def test_both_are_told_of(self):
        self.assertLess(set(), self.pclouds)
        self.assertLess(self.pclouds, self.closed)
        self.assertLess(self.closed, set(self.all))

    def test_closed_hosts(self):
        self.assertEqual(self._hosts(self.closed),
                         isolation.closed_hosts(self.context))

    def _close(self, *hosts):
        """Have only some hosts in a pool, and no others anywhere."""
        with self.database.writer.using(self.context) as session:
            session.query(models.AggregateHost).delete()
            session.add_all(models.AggregateHost(
                aggregate_id=0, host=host) for host in hosts)

    def test_no_closed_hosts(self):
        self._close()
        self.assertEqual(frozenset(), isolation.closed_hosts(self.context))

    @ddt.data(
        {'Host', 'host', 'a,b', ''}, {''}, {'h\u00f6st', 'host'},
        {'a\nb', 'c'}, {f'host-{number:04}' for number in range(5000)})
    def test_closed_hosts_with_any_name(self, hosts):
        self._close(*hosts)
        self.assertEqual(hosts, isolation.closed_hosts(self.context))

    # Cut within a name, between names, and not at all.
    @ddt.data(7, 9, 10, 19, 4)
    def test_string_that_was_cut_short_opens_no_host(self, length):
        engine = self.database.writer.get_engine()
        with engine.connect() as connection:
            connection.connection.driver_connection.create_aggregate(
                'group_concat', 2, _Cut)
        hosts = {f'{number:0{length}}' for number in range(11)}
        self._close(*hosts)
        self.assertEqual(hosts, isolation.closed_hosts(self.context))

    def _have_newest_host(self, number):
        """Have a cloud to which so many hosts have ever been added."""
        with self.database.writer.using(self.context) as session:
            session.add(models.HostMapping(
                id=number, cell_id=1, host='the-newest'))

    def _closed_among(self, *hosts):
        return isolation.closed_among(self.context, hosts).intersection(hosts)

    # All closed hosts are read in a small cloud, and hosts by name in a large.
    @ddt.data(1, 10 ** 6)
    def test_closed_among(self, newest):
        self._have_newest_host(newest)
        asked = self._hosts(list(self.all)[::2]) | {'host-x', 'HOST-0'}
        self.assertEqual(
            self._hosts(self.closed) & asked,
            self._closed_among(*asked))
        self.assertEqual(set(), self._closed_among())

    @ddt.data(1, 10 ** 6)
    def test_closed_among_with_any_name(self, newest):
        self._have_newest_host(newest)
        hosts = ["it's", '50%', '%s', '%%', ':host', 'a\\b', "\\'", 'a,b',
                 'a\nb', 'h\u00f6st', '']
        self._close(*hosts)
        for host in hosts:
            self.assertEqual({host}, self._closed_among(host, 'another'))
        self.assertEqual(set(hosts), self._closed_among(*hosts, 'another'))

    @ddt.data(1, 10 ** 6)
    def test_hosts_with_something_due_are_closed(self, newest):
        self._have_newest_host(newest)
        with self.database.writer.using(self.context) as session:
            session.add(models.Aggregate(
                id=10 ** 6, uuid='journal', name=names.JOURNAL))
            session.flush()
            session.add_all(models.AggregateMetadata(
                aggregate_id=10 ** 6, key=names.DUE_PREFIX + host, value='x')
                for host in ('42', 'host-left'))
        self.assertEqual({'42', 'host-left'}, self._closed_among(
            '42', 'host-left', 'another'))
        self.assertLess({'42', 'host-left'},
                        isolation.closed_hosts(self.context))

    def test_a_row_of_no_aggregate_closes(self):
        with self.database.writer.using(self.context) as session:
            session.add(models.AggregateHost(aggregate_id=0, host='lost'))
        self.assertEqual({'lost'}, self._closed_among('lost'))
        self.assertIn('lost', isolation.closed_hosts(self.context))

    def test_closed_aggregates(self):
        found = isolation.closed_aggregates(self.context)
        self.assertEqual(
            sorted(f'uuid-{number}' for number in self.closed),
            sorted(each.uuid for each in found))

    def test_closed_of_a_host(self):
        for number in self.all:
            found = closed_rows.closed_of(self.context, f'host-{number}')
            self.assertEqual(
                {f'uuid-{number}'} & {f'uuid-{each}' for each in self.closed},
                {each.uuid for each in found})
            self.assertEqual(
                number in self.closed, bool({each.name for each in found}))

    def test_pclouds_of_hosts(self):
        self.assertEqual(
            self._hosts(self.pclouds),
            isolation.pclouds_of(self.context, self._hosts(self.all)).keys())

    def test_free_hosts_of_a_pool(self):
        with self.database.writer.using(self.context) as session:
            pool = models.Aggregate(uuid='pool', name=names.pool('gpu'))
            session.add(pool)
            session.flush()
            session.add_all(models.AggregateHost(
                aggregate_id=pool.id, host=host,
                updated_at=timeutils.utcnow())
                for host in self._hosts(self.all))
            # As Nova's own call puts a host there.
            session.add(models.AggregateHost(
                aggregate_id=pool.id, host='by-hand'))
        self.assertEqual({'by-hand'}, pool_rows.unregistered(
            self.context, ['by-hand', 'host-0', 'absent']).keys())
        self.assertEqual([True, False, False], [
            pool_rows.is_registered(self.context, 'gpu', host)
            for host in ('host-0', 'by-hand', 'absent')])
        self.assertEqual(
            ['by-hand'], pool_rows.settling(self.context, 'gpu'))
        self.assertEqual(
            self._hosts(set(self.all) - self.pclouds),
            set(pool_rows.unallocated(self.context, 'gpu')))
        self.assertEqual(
            self._hosts(set(self.all) - self.pclouds),
            set(pool_rows.drawn(
                self.context, 'gpu', len(self.all) + 1, random.Random(0))))
        self.assertEqual([], pool_rows.drawn(
            self.context, 'other', 1, random.Random(0)))

    def test_each_free_host_is_drawn_as_often(self):
        """Numbers of other aggregates lie between those of the pool."""
        with self.database.writer.using(self.context) as session:
            pool, other = (models.Aggregate(uuid=name, name=name) for name
                           in (names.pool('gpu'), 'other'))
            session.add_all([pool, other])
            session.flush()
            for number in range(12):
                session.add(models.AggregateHost(
                    aggregate_id=pool.id if number % 3 else other.id,
                    host=f'new-{number}', updated_at=timeutils.utcnow()))
                session.flush()
        chance, times = random.Random(0), 600
        found = collections.Counter(
            host for _ in range(times) for host in pool_rows.drawn(
                self.context, 'gpu', 3, chance))
        self.assertEqual({f'new-{number}' for number in range(12)
                          if number % 3}, set(found))
        # Three of the numbers from the second to the last are drawn.
        for count in found.values():
            self.assertAlmostEqual(times * 3 / 11, count, delta=50)


ID = '7f3c8a52-4a0e-4c35-9d6e-5b1f2c7e8a90'
ALICE, BOB = 'a' * 32, 'b' * 32
METADATA = {
    names.TYPE: names.TYPE_PCLOUD, names.ID: ID, names.OWNER: ALICE,
    names.tenant_key(ALICE): names.TENANT_VALUE,
    names.tenant_key(BOB): names.TENANT_VALUE,
    names.caps_key(BOB): 'servers=2', names.PIN_BY_TENANTS: '1',
    names.host_key('web'): 'node-1', names.state_key('node-1'): 'enabled',
    names.FLAVORS_PREFIX + '0': '1,2', names.IMAGES_PREFIX + '0': 'i'}


class AccessTest(DatabaseTestCase):
    """What access to one Pcloud depends on."""

    def _access(self):
        return isolation.pcloud_access(self.context, ID)

    def test_a_host_without_anything(self):
        self._add('uuid', names.pcloud(ID), {
            names.TYPE: names.TYPE_PCLOUD, names.ID: ID}, 'host-1')
        self.assertEqual(
            ('uuid', access.Pcloud(ID, frozenset(), {'host-1': 1}, {})),
            self._access())

    def test_all_that_there_may_be(self):
        self._add('uuid', names.pcloud(ID), METADATA,
                  'one', 'two', 'due', 'new', 'gone')
        self._add('pool', names.pool('gpu'), {}, 'one', 'two', 'due', 'new')
        self._add('other', names.pcloud(ID.replace('7', '8')), {},
                  'two', 'else')
        self._add('journal', names.JOURNAL, {
            names.due_key('due'): 'x', names.UNOPENED_PREFIX + 'new': '1',
            names.REPLACES_PREFIX + 'gone': 'host=old',
            names.REPLACES_PREFIX + 'new': 'host=one',
            names.maintenance_key('one'): 'begin=20310506T000000Z'})
        self.assertEqual(('uuid', access.Pcloud(
            ID, frozenset({ALICE, BOB}),
            {'one': 1, 'two': 2, 'due': 1, 'new': 1, 'gone': 1},
            {'node-1': 'enabled'}, due=frozenset({'due'}), owner=ALICE,
            unopened=frozenset({'new'}), leaving=frozenset({'gone'}),
            named={'web': 'node-1'}, pin_by_tenants=True,
            flavors=frozenset({'1', '2'}), images=frozenset({'i'}),
            caps={BOB: 'servers=2'},
            maintenances={'one': 'begin=20310506T000000Z'})),
            self._access())

    def test_a_ratio_that_cannot_be_read(self):
        self.useFixture(fixtures.FakeLogger())
        self._add('uuid', names.pcloud(ID),
                  METADATA | {names.CPU_RATIO: 'much'})
        _, pcloud = self._access()
        self.assertFalse(pcloud.is_clear)

    def test_what_is_not_whole(self):
        self.assertIsNone(self._access())
        self._add('uuid', names.pcloud(ID), METADATA | {names.ID: 'x'})
        self.assertIsNone(self._access())

    def test_usable(self):
        """Whoever may not use a Pcloud is told that there is none."""
        refused = self.assertRaises(
            exception.PcloudUnusable, isolation.usable_pcloud, self.context,
            ID, BOB)
        self._add('uuid', names.pcloud(ID), METADATA)
        self.assertEqual(self._access(), isolation.usable_pcloud(
            self.context, ID, BOB))
        for project in ('c' * 32, '', None):
            error = self.assertRaises(
                exception.PcloudUnusable, isolation.usable_pcloud,
                self.context, ID, project)
            self.assertEqual(str(refused), str(error))
        self.assertIn(ID, str(refused))
