# SPDX-License-Identifier: Apache-2.0


"""Schedulers that record the first copies of servers at the same time."""

import threading
from unittest import mock

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import uuidutils
import sqlalchemy as sa
import testtools

from pcloud.backend.aggregates import sticky_copies
from pcloud.tests.concurrency import mariadb

_SCHEDULERS = 2
# Another test of this process may still have a cloud.
_DATABASE = 'sticky_rows'


class StickyRowsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()
        mariadb.create([_DATABASE])
        self.addCleanup(mariadb.drop, [_DATABASE])
        facade = enginefacade.transaction_context()
        facade.configure(connection=mariadb.url(_DATABASE))
        self.engine = facade.writer.get_engine()
        self.addCleanup(self.engine.dispose)
        models.RequestSpec.__table__.create(self.engine)
        patched = mock.patch.object(api_db, 'context_manager', facade)
        patched.start()
        self.addCleanup(patched.stop)

    def test_first_rows_of_two_servers_end_in_no_deadlock(self):
        """No scheduler has to begin again, so each server is inserted once."""
        barrier, inserted, failures = threading.Barrier(_SCHEDULERS), [], []
        insert = sa.insert

        def insert_together(table):
            inserted.append(table)
            if len(inserted) <= _SCHEDULERS:
                barrier.wait()
            return insert(table)

        def write():
            try:
                sticky_copies.write(nova_context.get_admin_context(),
                                    uuidutils.generate_uuid(), 'text')
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=write) for _ in range(_SCHEDULERS)]
        with mock.patch.object(sticky_copies.sa, 'insert', insert_together):
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        self.assertEqual(([], _SCHEDULERS), (failures, len(inserted)))
