# SPDX-License-Identifier: Apache-2.0

"""Maintenance and rebalances, while the guests count."""

import datetime

from pcloud.tests.cloud import waiting
from pcloud.tests.hypervisors import base

# The zone of two of the three hosts.
ZONE = 'az1'


class MaintenanceTest(base.HypervisorTest):

    def setUp(self):
        super().setUp()
        self.add_host('h1', ZONE)
        self.here = self.real('h1')
        self.servers = self.counting(2)
        self.before = [self.last(each) for each in self.servers]

    def announce(self, policy):
        self.owner.pclouds.update_pcloud(
            self.pcloud.id, maintenance_policy=policy)
        begin = datetime.datetime.now(datetime.UTC) + datetime.timedelta(
            hours=1)
        self.admin.pclouds.set_maintenance(
            base.FLAVOR, self.here, begin=begin.strftime(
                '%Y-%m-%dT%H:%M:%SZ'), reason='new fans')

    def withdraw(self):
        self.admin.pclouds.unset_maintenance(base.FLAVOR, self.here)

    def units(self):
        return self.owner.pclouds.get_quota(self.pcloud.owner).units_in_use

    def states(self):
        return {each.name: each.state for each
                in self.owner.pclouds.list_hosts(self.pcloud.id)}

    def until_on(self, host):
        waiting.until(
            lambda: set(map(self.host_of, self.servers)) == {host},
            lambda: f'the servers are on {host}: '
                    f'{self.owner.pclouds.get_host(self.pcloud.id, "h1")}')

    def assert_all_went_on(self):
        for server, tick in zip(self.servers, self.before):
            self.wait_for(server, 'ACTIVE')
            self.assert_went_on(server, tick)

    def test_migrate(self):
        self.add_host('h2')
        self.announce('migrate')
        self.until_on(self.real('h2'))
        beside = self.started()
        self.assertEqual(self.real('h2'), self.host_of(beside))
        self.assert_all_went_on()
        self.withdraw()
        waiting.until(lambda: self.states() == {
            'h1': 'enabled', 'h2': 'enabled'}, 'the host is back')

    def test_replace(self):
        units = self.units()
        self.announce('replace')

        def other():
            return self.owner.pclouds.get_host(
                self.pcloud.id, 'h1').maintenance.get('replacement')

        name = waiting.until(other, 'a host has joined')
        self.until_on(self.real(name))
        beside = self.started()
        self.assertEqual(self.real(name), self.host_of(beside))
        self.assertEqual(units, self.units())
        self.assert_all_went_on()
        self.before = [self.last(each) for each in self.servers]
        self.withdraw()
        waiting.until(lambda: self.states() == {'h1': 'enabled'},
                      lambda: f'the other host has left: {self.states()}')
        self.servers.append(beside)
        self.before.append(self.last(beside))
        self.until_on(self.here)
        self.assert_all_went_on()
        self.assertEqual(units, self.units())
        self.assert_audit()

    def test_rebalance(self):
        pclouds = self.owner.pclouds
        self.add_host('h2')
        pclouds.set_host_state(self.pcloud.id, 'h1', 'disabled')
        server, = self.counting(1)
        self.assertEqual(self.real('h2'), self.host_of(server))
        self.servers.append(server)
        self.before.append(self.last(server))
        pclouds.set_host_state(self.pcloud.id, 'h1', 'enabled')
        plan = pclouds.plan_rebalance(self.pcloud.id, 'free_hosts')
        self.assertEqual(['h2'], list(plan.frees))
        pclouds.rebalance(self.pcloud.id, plan.valid_for, 'free_hosts')
        beside = self.started()
        self.assertIn(self.host_of(beside), (self.here, self.real('h2')))
        self.until_on(self.here)
        self.assert_all_went_on()
