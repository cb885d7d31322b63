# SPDX-License-Identifier: Apache-2.0

"""Whether servers fit that need NUMA cells, PCI devices or providers."""

import json
import os

import fixtures

from pcloud.tests.support import driver
from pcloud.tests.support import shared_cloud

# How many bundles are started; the suite of what takes long starts more.
BUNDLES, MORE_BUNDLES = 4, int(os.environ.get('PCLOUD_TEST_BUNDLES', 100))
DEVICE = {'vendor_id': '10de', 'product_id': '1db4'}
PINNED = {'hw:cpu_policy': 'dedicated'}

CELLS = {'node-1': (2, 2), 'node-2': (3, 1), 'node-3': (2, 2)}
DEVICES = {'node-1': (2, 1), 'node-2': (0, 2), 'node-3': (1, 0)}
VIRTUAL = {'node-1': (4, 2), 'node-2': (3, 3), 'node-3': (1,)}


class PartsTestCase(shared_cloud.SharedCloudTestCase):
    """Three hosts with parts; the owner calls them web, db and log."""

    hosts = dict.fromkeys(CELLS, 'az1')
    compute_driver = 'fake.PartsDriver'
    in_placement = False

    def _configure(self):
        super()._configure()
        for name, its in (('cells', CELLS), ('devices', DEVICES),
                          ('virtual', VIRTUAL)):
            self.useFixture(fixtures.MonkeyPatch(
                f'pcloud.tests.support.driver.PartsDriver.{name}', its))
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.PartsDriver', driver.PartsDriver))
        self.flags(enabled_filters=[
            'ComputeFilter', 'ComputeCapabilitiesFilter',
            'ImagePropertiesFilter', 'NUMATopologyFilter',
            'PciPassthroughFilter', 'PcloudFilter'],
            group='filter_scheduler')
        self.flags(reserved_host_memory_mb=0)
        self.flags(device_spec=[json.dumps(DEVICE)], alias=[json.dumps({
            **DEVICE, 'name': 'gpu', 'device_type': 'type-PCI',
            'numa_policy': 'legacy'})], group='pci')
        self.flags(report_in_placement=self.in_placement, group='pci')
        self.flags(pci_in_placement=self.in_placement,
                   group='filter_scheduler')

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', *CELLS, units=1)
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}'
        self.names = {}
        # Which of the hosts is allocated is left to chance.
        for name in ('web', 'db', 'log'):
            self.names[self.add_host(
                self.alice, self.pcloud, name, 'gpu', True)] = name

    def flavor(self, name, vcpus=1, memory_mb=128, **extra_specs):
        return self.make_flavor(
            name, vcpus=vcpus, memory_mb=memory_mb, extra_specs={
                key.replace('__', ':'): str(value)
                for key, value in extra_specs.items()})

    def pinned(self, name, vcpus, **extra_specs):
        return self.flavor(name, vcpus, hw__cpu_policy='dedicated',
                           **extra_specs)

    def only(self, *hosts):
        """Let some hosts alone take servers."""
        for host, name in self.names.items():
            self.alice.call_json('PUT', f'{self.path}/hosts/{name}', {
                'host': {'state': 'enabled' if host in hosts
                         else 'disabled'}})

    def ask(self, *servers, **more):
        return self.alice.call_json('POST', f'{self.path}/simulate', {
            'simulate': {'servers': [
                {'flavor': flavor, 'count': count}
                for flavor, count in servers], **more}})['simulate']

    def bounds(self, *servers, **more):
        """Return how many servers fit, if that is proven."""
        found = self.ask(*servers, **more)
        self.assertTrue(found['exact'], found)
        self.assertEqual(*found['bounds'].values())
        return found['bounds']['least']

    def explained(self, flavor):
        """Return what each host takes more."""
        found = self.alice.get_json(f'{self.path}/explain?flavor={flavor}')
        return {each['name']: each['fits']
                for each in found['explain']['hosts']}

    def launch(self, flavor, expected='ACTIVE'):
        return self.boot(self.alice, {'pcloud': self.pcloud}, expected,
                         flavorRef=flavor)


class InPlacementTest(PartsTestCase):
    """The same where Placement has the PCI devices."""

    in_placement = own_cloud = True

    def test_devices(self):
        for flavor, number in (
                (self.flavor('pci', pci_passthrough__alias='gpu:1'), 6),
                (self.flavor('pci2', pci_passthrough__alias='gpu:2'), 2),
                (self.pinned('near', 2, pci_passthrough__alias='gpu:1'), 5)):
            self.assertEqual(number, self.bounds((flavor, 100)), flavor)
        self.only('node-2')
        self.launch(flavor)
        self.assertEqual(0, self.bounds((flavor, 9)))
        self.launch(flavor, 'ERROR')
