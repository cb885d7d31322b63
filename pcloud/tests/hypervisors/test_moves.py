# SPDX-License-Identifier: Apache-2.0

"""Servers that Nova starts and moves, always inside of their Pcloud."""

from pcloud.tests.hypervisors import base
from pcloud.tests.hypervisors import guests


class MovesTest(base.HypervisorTest):

    def setUp(self):
        super().setUp()
        self.new_hosts(2)
        self.there = {self.real(name) for name in ('h1', 'h2')}
        self.compute = self.owner.cloud.compute

    def assert_moved(self, server, before):
        """Assert that a server is on the other host of the Pcloud."""
        self.assertEqual(self.there - {before}, {self.host_of(server)})

    def test_start(self):
        server, = self.counting(1)
        self.assertIn(self.host_of(server), self.there)
        tick = self.last(server)
        self.assertEqual((tick.boot, 1), (tick.disk, tick.boots))
        outside = self.boot()
        self.assertEqual(('ERROR', None),
                         (outside.status, self.host_of(outside)))

    def test_live_migration(self):
        server, = self.counting(1)
        host, before = self.host_of(server), self.last(server)
        self.admin.cloud.compute.live_migrate_server(
            server.id, host=None, block_migration='auto')
        beside = self.started()
        self.assertIn(self.host_of(beside), self.there)
        self.wait_for(server, 'ACTIVE')
        self.assert_moved(server, host)
        self.assert_went_on(server, before)

    def test_cold_migration_and_resize(self):
        server, = self.counting(1)
        host, before = self.host_of(server), self.last(server)
        self.admin.cloud.compute.migrate_server(server.id)
        self.wait_for(server, 'VERIFY_RESIZE')
        self.assert_moved(server, host)
        beside = self.started()
        self.assertIn(self.host_of(beside), self.there)
        self.compute.confirm_server_resize(server.id)
        self.wait_for(server, 'ACTIVE')
        before = self.assert_started_again(server, before)

        self.compute.resize_server(server.id, self.flavors['m1.micro'])
        self.wait_for(server, 'VERIFY_RESIZE')
        self.assertIn(self.host_of(server), self.there)
        self.assert_started_again(server, before)
        self.compute.revert_server_resize(server.id)
        self.wait_for(server, 'ACTIVE')
        self.assertIn(self.host_of(server), self.there)
        # The disk on the host of before has seen one start less.
        self.assert_started_again(server, before)

    def test_shelve_and_unshelve(self):
        server, = self.counting(1)
        before = self.last(server)
        self.compute.shelve_server(server.id)
        self.wait_for(server, 'SHELVED_OFFLOADED')
        self.assertIsNone(self.host_of(server))
        beside = self.started()
        self.compute.unshelve_server(server.id)
        self.wait_for(server, 'ACTIVE')
        self.assertLessEqual({self.host_of(each) for each in (server, beside)},
                             self.there)
        now = guests.other_boot(self.owner, server, before)
        self.assertEqual((before.disk, 2), (now.disk, now.boots))
