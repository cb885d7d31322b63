# SPDX-License-Identifier: Apache-2.0

"""What a boot without the hint reads does not grow with the cloud.

Rows that MariaDB reads are counted, not time.
"""

from unittest import mock

import ddt
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import uuidutils
import sqlalchemy as sa
import testtools

from pcloud.backend.aggregates import isolation
from pcloud import names
from pcloud.tests.benchmarks import meter
from pcloud.tests.concurrency import mariadb

# Another test of this process may still have a cloud.
_DATABASES = _API, = ('closed_api',)
_TABLES = (models.Aggregate, models.AggregateHost, models.AggregateMetadata,
           models.CellMapping, models.HostMapping)
_RACK = 20


@ddt.ddt
class ClosedHostsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()
        mariadb.create(_DATABASES)
        self.addCleanup(mariadb.drop, _DATABASES)
        self.facade = enginefacade.transaction_context()
        self.facade.configure(connection=mariadb.url(_API))
        engine = self.facade.writer.get_engine()
        self.addCleanup(engine.dispose)
        models.BASE.metadata.create_all(
            engine, tables=[each.__table__ for each in _TABLES])
        patched = mock.patch(
            api_db.__name__ + '.context_manager', self.facade)
        patched.start()
        self.addCleanup(patched.stop)
        self.context = nova_context.get_admin_context()

    def _have_newest_host(self, number):
        """Have a cloud to which so many hosts have ever been added."""
        with self.facade.writer.using(self.context) as session:
            cell = models.CellMapping(uuid=uuidutils.generate_uuid())
            session.add(cell)
            session.flush()
            session.add(models.HostMapping(
                id=number, cell_id=cell.id, host=f'host-{number}'))

    def _write(self, *aggregates):
        """Write aggregates, each of a name, a type and hosts."""
        with self.facade.writer.using(self.context) as session:
            for name, kind, hosts in aggregates:
                aggregate = models.Aggregate(
                    name=name, uuid=uuidutils.generate_uuid())
                session.add(aggregate)
                session.flush()
                session.add_all(models.AggregateHost(
                    aggregate_id=aggregate.id, host=host) for host in hosts)
                session.add_all(models.AggregateMetadata(
                    aggregate_id=aggregate.id, key=key, value=value)
                    for key, value in {'ssd': 'true', **({} if kind is None
                                       else {names.TYPE: kind})}.items())
            for table in _TABLES:
                session.execute(sa.text(
                    f'ANALYZE TABLE {table.__tablename__}'))

    def _grow(self, prefix, count):
        """Add racks of hosts that nobody has, and Pclouds in one pool."""
        hosts = [[f'{prefix}-{rack}-{number}' for number in range(_RACK)]
                 for rack in range(count)]
        self._write(
            (names.pool(prefix), names.TYPE_POOL, sum(hosts, [])),
            *((f'{prefix}-{rack}', None, each + [f'public-{each[0]}'])
              for rack, each in enumerate(hosts)),
            *((names.pcloud(uuidutils.generate_uuid()), names.TYPE_PCLOUD,
               each) for each in hosts))

    def _rows_read(self, hosts):
        """Return how many rows, or keys of indexes, were read."""
        with meter.reading() as read:
            closed = isolation.closed_among(self.context, hosts)
        self.assertEqual({host for host in hosts
                          if not host.startswith('public')}, closed)
        self.assertEqual(2, read.statements)
        return read.rows

    def test_rows_read_in_small_and_large_clouds(self):
        self._have_newest_host(10 ** 6)
        self._grow('small', 4)
        hosts = [f'public-small-{rack}-0' for rack in range(4)] + ['small-1-1']
        few = self._rows_read(hosts)
        self._grow('large', 100)
        self.assertEqual(few, self._rows_read(hosts))

    @ddt.data(1, 10 ** 6)
    def test_hosts_with_any_name(self, newest):
        self._have_newest_host(newest)
        hosts = ["it's", '50%', '%s', '%%', ':host', 'a\\b', "\\'", 'a,b',
                 'a\nb', 'h\u00f6st']
        self._write(('Pcloud:1', None, hosts), ('rack', None, ['public']))
        for asked in (hosts, *([host] for host in hosts)):
            self.assertEqual(set(asked), isolation.closed_among(
                self.context, [*asked, 'public']).intersection(
                    [*asked, 'public']))

    def test_no_name_of_a_pcloud_is_looked_at_for_open_aggregates(self):
        self._have_newest_host(1)
        self._grow('cloud', 4)
        few = self._rows_of_everybody()
        self._write(*((names.pcloud(uuidutils.generate_uuid()),
                       names.TYPE_PCLOUD, []) for _ in range(500)))
        self.assertLess(self._rows_of_everybody(), few + 10)

    def _rows_of_everybody(self):
        with meter.reading() as read:
            isolation.closed_hosts(self.context)
        return read.rows
