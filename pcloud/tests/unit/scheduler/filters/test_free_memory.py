# SPDX-License-Identifier: Apache-2.0

"""Free memory, with Nova's own host states."""

import ddt
from nova import conf as nova_conf
from nova import objects
from nova.scheduler import filters as nova_filters
from nova.scheduler import host_manager
from oslo_config import fixture
from oslo_utils.fixture import uuidsentinel as uuids
import testtools

from pcloud.scheduler.filters import free_memory


def _node(memory_mb, used_mb, free_mb):
    """Return a compute node as the resource tracker leaves the node."""
    return objects.ComputeNode(
        uuid=uuids.node, memory_mb=memory_mb, memory_mb_used=used_mb,
        free_ram_mb=free_mb, vcpus=8, vcpus_used=0, local_gb=100,
        local_gb_used=0, free_disk_gb=100, disk_available_least=None,
        updated_at=None, numa_topology=None, pci_device_pools=None,
        host_ip='192.0.2.1', hypervisor_type='QEMU', hypervisor_version=1,
        hypervisor_hostname='n', cpu_info='', supported_hv_specs=[],
        stats={}, metrics=None, cpu_allocation_ratio=16.0,
        ram_allocation_ratio=1.5, disk_allocation_ratio=1.0)


def _host(name, free_mb, memory_mb=8192):
    host = host_manager.HostState(name, f'{name}.hv', uuids.cell)
    host.update(_node(memory_mb, 512, free_mb))
    return host


def _spec(memory_mb, **more):
    return objects.RequestSpec(**{
        'flavor': objects.Flavor(
            memory_mb=memory_mb, vcpus=1, root_gb=1, ephemeral_gb=0),
        'scheduler_hints': {}, 'num_instances': 1, 'instance_uuid': uuids.a,
        'pci_requests': None, 'numa_topology': None, **more})


@ddt.ddt
class FreeMemoryFilterTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()
        self.conf = self.useFixture(fixture.Config(nova_conf.CONF))
        nova_conf.CONF([], project='nova', default_config_files=[])
        self.filter = free_memory.FreeMemoryFilter()

    def _kept(self, spec, *hosts):
        return [each.host for each in nova_filters.HostFilterHandler()
                .get_filtered_objects([self.filter], hosts, spec) or ()]

    @ddt.data((1024, ['more']), (1023, ['more', 'equal']), (0, [
        'more', 'equal', 'less']), (7000, []))
    @ddt.unpack
    def test_the_overhead(self, overhead, expected):
        self.conf.config(group='pcloud', free_memory_overhead_mb=overhead)
        self.assertEqual(expected, self._kept(
            _spec(512), _host('more', 1537), _host('equal', 1536),
            _host('less', 1535), _host('none', -3)))

    def test_a_host_of_which_nothing_is_known(self):
        unreported = _host('unreported', -512, memory_mb=0)
        fresh = host_manager.HostState('fresh', 'fresh.hv', uuids.cell)
        self.assertEqual(['unreported', 'fresh', 'silent'], self._kept(
            _spec(512), unreported, fresh, _host('silent', None),
            _host('full', 0)))

    def test_each_server_of_a_request_counts(self):
        """As in nova-scheduler, which takes a server's memory at once."""
        hosts = [_host('h1', 4000), _host('h2', 2000)]
        spec = _spec(900, num_instances=3)
        taken = []
        for uuid in (uuids.a, uuids.b, uuids.c, uuids.d):
            spec.instance_uuid = uuid
            kept = self._kept(spec, *hosts)
            taken.append(kept)
            hosts = [each for each in hosts if each.host in kept]
            hosts[0].consume_from_request(spec)
        # 4000, 3100 and 2200 are more than 900 + 1024; 1300 is not.
        self.assertEqual(
            [['h1', 'h2'], ['h1', 'h2'], ['h1', 'h2'], ['h2']], taken)

    def test_a_rebuild_stays(self):
        rebuild = _spec(512, force_hosts=['full'], force_nodes=[])
        rebuild.scheduler_hints['_nova_check_type'] = ['rebuild']
        self.assertEqual(['full'], self._kept(rebuild, _host('full', 0)))

    def test_a_request_for_more_memory(self):
        """Of a resize the new flavor counts, wherever the server is."""
        host = _host('h1', 2000)
        self.assertEqual(['h1'], self._kept(_spec(975), host))
        self.assertEqual([], self._kept(_spec(976), host))

    def test_why(self):
        spec = _spec(512)
        hosts = [_host('h1', 5000), _host('h2', 1500), _host('h3', None)]
        first, second, third = self.filter.why(hosts, spec)
        self.assertEqual((None, None), (first, third))
        self.assertEqual(
            'its free memory is not more than the 512 MiB of the server and '
            'the 1024 MiB that stay free', second.text)
        self.assertEqual('1500 MiB of memory are free', second.detail)
        self.assertNotIn('1500', second.tenant_text)

    def test_what_is_not_known(self):
        first, second = self.filter.unknown(
            [_host('h1', 5000), _host('h2', None)])
        self.assertIsNone(first)
        self.assertEqual('it is kept, since it is not known how much memory '
                         'is free', second.text)
