# SPDX-License-Identifier: Apache-2.0

"""Hosts whose memory is given out more than once, up to what is there."""

import fixtures

from pcloud.tests.functional.quick import test_explain
from pcloud.tests.support import driver


class _TestCase(test_explain.ExplainTestCase):

    filters = ['ComputeFilter', 'PcloudFilter', 'FreeMemoryFilter']


class FreeMemoryTest(_TestCase):
    """Each host has 7680 MiB for servers; Placement gives twice as much."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def _configure(self):
        super()._configure()
        self.flags(ram_allocation_ratio=2.0)
        # One host after the other, so that only the filter spreads servers.
        self.flags(ram_weight_multiplier=-9.0, group='filter_scheduler')

    def furnish(self):
        super().furnish()
        self.make_flavor('third', memory_mb=2600)

    def _hosts(self, number):
        def started():
            found = self.alice.get_json('/servers/detail')['servers']
            self.assertEqual(['ACTIVE'] * number,
                             [each['status'] for each in found])
            return sorted(map(self.host_of, found))
        return self.wait_until(started)

    def test_servers_of_one_request(self):
        self.boot(self.alice, flavorRef='third', min_count=4)
        self.assertEqual(['node-1'] * 2 + ['node-2'] * 2, self._hosts(4))
        refused = self.boot(self.alice, flavorRef='third', expected='ERROR')
        self.assertIn('No valid host', self.fault(refused))
        found = self.explain('--flavor', 'third')
        self.assertEqual((2, 0, 0, {
            'its free memory is not more than the 2600 MiB of the server and '
            'the 1024 MiB that stay free': 2}),
            self.step(found, 'FreeMemoryFilter'))
        self.assertIn('2480 MiB of memory are free', str(found['filters']))
        self.boot(self.alice, flavorRef='1')
        # Placement has capacity for more.
        self.flags(enabled_filters=['ComputeFilter'],
                   group='filter_scheduler')
        self.assertTrue(
            self.explain('--flavor', 'third')['outcome']['found'])

    def test_more_servers_than_memory(self):
        refused = self.boot(
            self.alice, flavorRef='third', min_count=5, expected='ERROR')
        self.assertIn('No valid host', self.fault(refused))

    def test_a_server_that_moves(self):
        server = self.boot(self.alice, flavorRef='third')
        other = {'node-1': 'node-2', 'node-2': 'node-1'}[self.host_of(server)]
        for _ in range(2):
            self.boot(self.admin, flavorRef='third', host=other)
        self.act(server, {'migrate': None})
        self.wait_until(lambda: self.assertEqual(
            ('migrate', 'Error'), self._latest(server)))
        self.wait_for(server, status='ACTIVE')
        self.assertNotEqual(other, self.host_of(server))
        self.flags(free_memory_overhead_mb=0, group='pcloud')
        self.make_flavor('small', memory_mb=2400)
        self.act(server, {'resize': {'flavorRef': 'small'}})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.assertEqual(other, self.host_of(server))

    def _latest(self, server):
        """Return the latest action of a server, and the message of it."""
        actions = self.admin.get_json(
            f'/servers/{server["id"]}/os-instance-actions')
        latest = actions['instanceActions'][0]
        return latest['action'], latest['message']


class UnreportedTest(_TestCase):
    """A host that reports no memory."""

    hosts = {'bare': 'az1'}
    compute_driver = 'fake.KindsDriver'

    def _configure(self):
        super()._configure()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.KindsDriver', driver.KindsDriver))

    def test_it_takes_servers(self):
        self.make_flavor('bare', extra_specs={
            'resources:VCPU': '0', 'resources:MEMORY_MB': '0',
            'resources:DISK_GB': '0', 'resources:CUSTOM_BAREMETAL': '1'})
        found = self.explain('--flavor', 'bare')
        self.assertEqual((1, 1, 1, {}), self.step(found, 'FreeMemoryFilter'))
        step, = [each for each in found['filters']
                 if each['rule'] == 'FreeMemoryFilter']
        self.assertEqual([{
            'host': 'bare', 'reason': 'it is kept, since it is not known how '
            'much memory is free'}], step['unknown'])
        status, text = self.ask('--flavor', 'bare', '--verbose')
        self.assertEqual(0, status)
        self.assertIn('    1 host: it is kept, since it is not known how much '
                      'memory is free\n        bare\n', text)
        self.boot(self.alice, flavorRef='bare')
