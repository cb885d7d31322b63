# SPDX-License-Identifier: Apache-2.0

"""Machine constraints on hosts that do not report each of their sizes."""

import fixtures

from pcloud.tests.support import base
from pcloud.tests.support import driver
from pcloud.tests.support import shared_cloud

# Each flavor can start on one of the hosts.
FLAVORS = {
    'pinned': {'extra_specs': {'hw:cpu_policy': 'dedicated'}},
    'bare': {'extra_specs': {
        'resources:VCPU': '0', 'resources:MEMORY_MB': '0',
        'resources:DISK_GB': '0', 'resources:CUSTOM_BAREMETAL': '1'}},
    'volumes': {}}


class HostKindsTest(shared_cloud.SharedCloudTestCase):

    hosts = dict.fromkeys(driver.KindsDriver.sizes, 'az1')
    compute_driver = 'fake.KindsDriver'

    def _configure(self):
        super()._configure()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.KindsDriver', driver.KindsDriver))
        self.flags(enabled_filters=['ComputeFilter', 'NUMATopologyFilter',
                                    'PcloudFilter', 'ConstraintsFilter'],
                   group='filter_scheduler')
        # The host for volumes has less disk than Nova reserves.
        self.flags(reserved_host_memory_mb=0)

    def furnish(self):
        super().furnish()
        for name, more in FLAVORS.items():
            self.make_flavor(name, **more)

    def started(self, flavor, written=None):
        """Boot a server that starts; return its host."""
        server = self._boot(flavor, written, 'ACTIVE')
        host = self.host_of(server)
        self.alice.delete_server(server["id"])
        return host

    def fault_of(self, flavor, written=None):
        """Boot a server that no host takes; return its fault."""
        server = self._boot(flavor, written, 'ERROR')
        fault = self.fault(server)
        self.alice.delete_server(server["id"])
        return fault

    def _boot(self, flavor, written, expected):
        hints = {} if written is None else {'constraints': written}
        return self.boot(self.alice, hints, flavorRef=flavor,
                         expected=expected)

    def test_nobody_has_set_a_constraint(self):
        for flavor in FLAVORS:
            self.assertEqual(flavor, self.started(flavor))

    def test_what_is_not_reported_is_not_judged(self):
        self.assertEqual('bare', self.started(
            'bare', 'cpu=64 ram=1T storage=1P'))
        self.assertEqual('pinned', self.started('pinned', 'cpu=4 ram=8G'))

    def test_what_is_reported_is_judged(self):
        for flavor, written in (('pinned', 'cpu=5'), ('pinned', 'ram=9G'),
                                ('volumes', 'cpu=1'),
                                ('volumes', 'storage=3G')):
            self.assertIn('machine constraints',
                          self.fault_of(flavor, written), written)
        self.assertEqual('volumes', self.started('volumes', 'storage=2G'))

    def test_a_policy_of_the_project(self):
        path = f'/os-pcloud-policies/project/{base.ALICE}'
        self.admin.call_json('PUT', path, {'policy': {'constraints': 'cpu=1'}})
        self.addCleanup(self.admin.call, 'DELETE', path)
        self.assertEqual(['pinned', 'bare'],
                         [self.started(each) for each in ('pinned', 'bare')])
        self.assertIn('storage=4G', self.fault_of('volumes'))

    def test_what_each_kind_is(self):
        for host in FLAVORS:
            self.make_pool(f'of-{host}', host)
        flavors = {each['id']: each for each in self.bob.get_json(
            '/os-host-flavors')['host_flavors']}
        self.assertEqual(
            {'of-pinned': (4, {'PCPU': 4, 'MEMORY_MB': 8192, 'DISK_GB': 100}),
             'of-bare': (0, {'CUSTOM_BAREMETAL': 1}),
             'of-volumes': (8, {'VCPU': 8, 'MEMORY_MB': 8192, 'DISK_GB': 2})},
            {id_: (each['vcpus'], each['resources'])
             for id_, each in flavors.items()})

    def test_an_owner_counts_dedicated_cpus(self):
        self.make_pool('of-pinned', 'pinned')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'of-pinned')
        self.boot(self.alice, {'pcloud': pcloud}, flavorRef='pinned')
        host, = self.alice.get_json(f'/os-pclouds/{pcloud}/hosts')['hosts']
        self.assertEqual((4, {'total': 4, 'used': 1}),
                         (host['vcpus'], host['resources']['PCPU']))
        self.assertEqual(1, host['vcpus_used'])

    def test_a_host_by_its_dedicated_cpus(self):
        for host in FLAVORS:
            self.make_pool(f'of-{host}', host)
        path = f'/os-pclouds/{self.make_pcloud(self.alice)}/hosts'
        added = self.alice.call_json('POST', path, {'host': {
            'name': 'a', 'constraints': 'cpu=3 storage=8G'}})
        self.assertEqual('of-pinned', added['host']['host_flavor'])
