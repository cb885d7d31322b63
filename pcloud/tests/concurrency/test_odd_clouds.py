# SPDX-License-Identifier: Apache-2.0

"""Reading without rows of hosts agrees with reading host by host on MariaDB.

MariaDB compares names without letter case.
"""

import random
from unittest import mock

from nova import config
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import models as main_models
from nova import objects
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import uuidutils
import sqlalchemy as sa
import testtools

from pcloud import conf
from pcloud.tests.concurrency import mariadb
from pcloud.tests.support import odd_clouds
from pcloud.tests.support import slow_ways

# Another test of this process may still have a cloud.
_DATABASES = _API, _CELL = 'odd_api', 'odd_cell'
_CLOUDS = 5


def _create_tables(url: str, metadata: sa.MetaData) -> None:
    """Create tables without indexes, some of which are too long here."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(sa.schema.CreateTable(table))
    engine.dispose()


class OddCloudsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()
        mariadb.create(_DATABASES)
        self.addCleanup(mariadb.drop, _DATABASES)
        conf.register_opts(config.CONF)
        # A service stays up on the slowest machine.
        config.CONF.set_override('service_down_time', 3600)
        self.addCleanup(config.CONF.clear_override, 'service_down_time')
        objects.register_all()
        facade = enginefacade.transaction_context()
        facade.configure(connection=mariadb.url(_API))
        for name, base in ((_API, api_models.BASE),
                           (_CELL, main_models.BASE)):
            _create_tables(mariadb.url(name), base.metadata)
        self.addCleanup(facade.writer.get_engine().dispose)
        self.context = nova_context.get_admin_context()
        self.cell = self._create_cell(facade)
        for target, value in ((api_db.__name__ + '.context_manager', facade),
                              ('nova.context.CELLS', [self.cell])):
            patched = mock.patch(target, value)
            patched.start()
            self.addCleanup(patched.stop)

    def _create_cell(self, facade):
        values = {'id': 1, 'uuid': uuidutils.generate_uuid(), 'name': 'odd',
                  'transport_url': 'none:///',
                  'database_connection': mariadb.url(_CELL)}
        with facade.writer.using(self.context) as session:
            session.execute(sa.insert(api_models.CellMapping).values(
                **values))
        return objects.CellMapping(self.context, **values)

    def test_all(self):
        for seed in range(_CLOUDS):
            odd_clouds.OddCloud(
                [self.cell], random.Random(seed), hosts=40).fill()
            for differing in slow_ways.ALL:
                slow_ways.check(self, self.context, differing, f'seed {seed}')
