# SPDX-License-Identifier: Apache-2.0

"""Hosts that are emptied while their servers run, and given back."""

from pcloud.client import exceptions
from pcloud.tests.cloud import base
from pcloud.tests.cloud import waiting

SERVERS = 3


class DrainingTest(base.CloudTest):

    def setUp(self):
        super().setUp()
        self.pcloud = self.new_pcloud(1)
        self.servers = [self.started('owner', pcloud=self.pcloud.id)
                        for _ in range(SERVERS)]
        self.add_host(self.pcloud, 'h2')
        self.owner = self.stage.users['owner'].pclouds

    def drain(self, name='h1', **wish):
        host = self.owner.drain_host(self.pcloud.id, name, **wish)
        self.assertEqual('draining', host.state)
        return host.drain

    def left(self, **wish):
        """Return what is left on h1, and have the next servers moved."""
        try:
            return self.drain(**wish)['remaining']
        except exceptions.NotFound:
            return []

    def test_servers_move_and_the_host_leaves(self):
        wish = {'move': 'live', 'release': True}
        self.assertEqual({'no_room'}, {
            each['rule'] for each in self.drain(**wish)['blockers']})
        self.owner.set_host_state(self.pcloud.id, 'h2', 'enabled')
        self.assertEqual(SERVERS, len(self.drain(
            dry_run=True, **wish)['moves']) + len(
                self.drain(dry_run=True, **wish)['blockers']))
        waiting.until(lambda: not self.left(**wish), 'h1 is empty')
        waiting.until(self.only_h2, 'h1 has left')
        there = self.real(self.pcloud, 'h2')
        for server in self.servers:
            found = self.stage.admin.cloud.compute.get_server(server.id)
            self.assertEqual(('ACTIVE', there),
                             (found.status, found.compute_host))

    def only_h2(self):
        # Whatever the owner changes is followed by what is due.
        self.owner.set_host_state(self.pcloud.id, 'h2', 'enabled')
        return ['h2'] == [each.name for each
                          in self.owner.list_hosts(self.pcloud.id)]

    def test_stopped_servers_move_too(self):
        compute = self.stage.users['owner'].cloud.compute
        compute.stop_server(self.servers[0])
        waiting.until(lambda: compute.get_server(
            self.servers[0].id).status == 'SHUTOFF', 'it is stopped')
        self.owner.set_host_state(self.pcloud.id, 'h2', 'enabled')
        waiting.until(lambda: not self.left(move='any'), 'h1 is empty')
        there = self.real(self.pcloud, 'h2')
        waiting.until(lambda: compute.get_server(
            self.servers[0].id).status == 'SHUTOFF', 'its move is confirmed')
        for server in self.servers:
            self.assertEqual(there, self.host_of(server))

    def test_locked_server_stays(self):
        compute = self.stage.users['owner'].cloud.compute
        compute.lock_server(self.servers[0])
        self.owner.set_host_state(self.pcloud.id, 'h2', 'enabled')
        waiting.until(lambda: self.left(move='live') == [
            self.servers[0].id], 'the others have moved')
        self.assertEqual(
            [(self.servers[0].id, 'locked')],
            [(each['server'], each['rule'])
             for each in self.drain(move='live')['blockers']])
        compute.unlock_server(self.servers[0])
        waiting.until(lambda: not self.left(move='live'), 'h1 is empty')
