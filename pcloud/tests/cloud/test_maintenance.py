# SPDX-License-Identifier: Apache-2.0


"""Hosts that are announced for maintenance while their servers run."""

import datetime

from pcloud.tests.cloud import base
from pcloud.tests.cloud import waiting

SERVERS = 2


class MaintenanceTest(base.CloudTest):

    hosts = 3

    def setUp(self):
        super().setUp()
        self.pcloud = self.new_pcloud()
        self.owner = self.stage.users['owner'].pclouds
        waiting.until(self.has_h1, 'h1 is added')
        self.owner.set_host_state(self.pcloud.id, 'h1', 'enabled')
        self.servers = [self.started('owner', pcloud=self.pcloud.id)
                        for _ in range(SERVERS)]
        self.there = self.real(self.pcloud, 'h1')
        self.addCleanup(self.withdraw)

    def has_h1(self):
        """Have a host join that another of the same zone can replace."""
        available = self.owner.get_host_flavor(self.stage.flavor_id).available
        zone = max(available, key=available.get)
        # Hosts that tests before have given back may not be free yet.
        if available[zone] < 2:
            return False
        self.owner.add_host(self.pcloud.id, 'h1', self.stage.flavor_id,
                            availability_zone=zone)
        return True

    def announce(self, **span):
        begin = datetime.datetime.now(datetime.UTC) + datetime.timedelta(
            **span)
        self.stage.admin.pclouds.set_maintenance(
            self.stage.flavor_id, self.there,
            begin=begin.strftime('%Y-%m-%dT%H:%M:%SZ'), reason='new fans')

    def withdraw(self):
        self.stage.admin.pclouds.unset_maintenance(
            self.stage.flavor_id, self.there)

    def states(self):
        """Return the states of the hosts, and have all done that is due."""
        # Whatever the owner changes is followed by what is due.
        self.owner.update_pcloud(
            self.pcloud.id,
            maintenance_policy=self.owner.get_pcloud(
                self.pcloud.id).maintenance_policy)
        return {each.name: each.state
                for each in self.owner.list_hosts(self.pcloud.id)}

    def are_on(self, name):
        self.states()
        return {self.real(self.pcloud, name)} == set(
            map(self.host_of, self.servers))

    def in_use(self):
        return self.owner.get_quota(
            self.pcloud.owner).units_in_use

    def test_a_free_host_stands_in(self):
        before = self.in_use()
        self.owner.update_pcloud(
            self.pcloud.id, maintenance_policy='replace')
        self.announce(hours=1)

        def joined():
            return self.owner.get_host(
                self.pcloud.id, 'h1').maintenance.get('replacement')

        waiting.until(lambda: self.states() and joined(), 'a host has joined')
        name = joined()
        self.assertEqual({'h1': 'draining', name: 'enabled'}, self.states())
        self.assertEqual(before, self.in_use())
        waiting.until(lambda: self.are_on(name), 'the servers have moved')
        self.withdraw()
        waiting.until(lambda: self.states() == {'h1': 'enabled'},
                      'the host is back, and the other host has left')
        self.assertEqual(before, self.in_use())
        for server in self.servers:
            self.assertEqual('ACTIVE', self.stage.admin.cloud.compute
                             .get_server(server.id).status)

    def test_servers_that_cannot_move_stay(self):
        self.add_host(self.pcloud, 'h2')
        self.owner.update_pcloud(
            self.pcloud.id, maintenance_policy='migrate')
        self.announce(hours=1)
        self.assertEqual({'h1': 'draining', 'h2': 'disabled'}, self.states())
        self.assertEqual({'no_room'}, {each['rule'] for each in (
            self.owner.get_host(self.pcloud.id, 'h1').drain['blockers'])})
        self.withdraw()
        waiting.until(lambda: self.states() == {
            'h1': 'enabled', 'h2': 'disabled'}, 'the host is back')
        self.assertEqual({self.there}, set(map(self.host_of, self.servers)))
