# SPDX-License-Identifier: Apache-2.0

"""Sizes of hosts, as known to the scheduler."""

import ddt
from nova import objects
from nova.scheduler import host_manager
import testtools

from pcloud.rules.placing import constraints
from pcloud.scheduler import host_capacity

_WANTED = {constraints.CPU: 4, constraints.RAM: 512,
           constraints.STORAGE: 4097}


def _hosts(count):
    made = [host_manager.HostState(f'h{number}', 'n', 'c')
            for number in range(count)]
    for each in made:
        each.vcpus_total, each.total_usable_ram_mb = 4, 512
        each.total_usable_disk_gb = 5
    return made


def _topology(*cells):
    """Return the cpus of cells, shared and dedicated, as libvirt lists them.

    :param cells: for each cell two sets of cpus
    """
    return objects.NUMATopology(cells=[
        objects.NUMACell(id=number, cpuset=shared, pcpuset=dedicated)
        for number, (shared, dedicated) in enumerate(cells)])


@ddt.ddt
class CpusTest(testtools.TestCase):
    """Hosts as nova-compute reports them."""

    def setUp(self):
        super().setUp()
        objects.register_all()

    @ddt.unpack
    @ddt.data(
        # cpu_dedicated_set alone, cpu_shared_set alone, both.
        (0, [(set(), {0, 1}), (set(), {2, 3})], 4),
        (4, [({0, 1}, set()), ({2, 3}, set())], 4),
        (2, [({0}, {1}), ({2}, {3})], 4),
        # Neither of the options: each cpu is listed as both.
        (4, [({0, 1}, {0, 1}), ({2, 3}, {2, 3})], 4),
        # A hypervisor without NUMA; Ironic; before the first report.
        (4, None, 4), (0, None, 0), (None, None, 0))
    def test_shared_and_dedicated(self, vcpus, cells, expected):
        host, = _hosts(1)
        host.vcpus_total = vcpus
        host.numa_topology = None if cells is None else _topology(*cells)
        self.assertEqual(
            expected, host_capacity.sizes(host)[constraints.CPU])
        self.assertEqual(
            [expected], host_capacity.columns([host])[constraints.CPU])
        self.assertEqual(
            ([0], [host_capacity.sizes(host)]), host_capacity.grouped([host]))
        # By the names of Placement, shared and dedicated apart.
        self.assertEqual(
            {'VCPU': vcpus or 0, 'PCPU': expected - (vcpus or 0),
             'MEMORY_MB': 512, 'DISK_GB': 5},
            {name: of(host) for name, of in host_capacity.CLASSES.items()})

    def test_another_report(self):
        """What was found of a topology is not that of the next one."""
        host = host_manager.HostState('host', 'node', None)
        for dedicated in ({2, 3}, {2, 3, 4}, set()):
            host.numa_topology = _topology(({0, 1}, dedicated))
            for _ in range(2):
                self.assertEqual(len(dedicated),
                                 host_capacity.dedicated_cpus(host))


@ddt.ddt
class AreAllAsLargeTest(testtools.TestCase):

    def _are(self, hosts, **wanted):
        return host_capacity.are_all_as_large(hosts, {**_WANTED, **wanted})

    @ddt.data(0, 1, 1024, 1025, 3000)
    def test_number_of_hosts(self, count):
        self.assertTrue(self._are(_hosts(count)))

    @ddt.unpack
    @ddt.data(('vcpus_total', 3), ('total_usable_ram_mb', 511),
              ('total_usable_disk_gb', 4), ('vcpus_total', None),
              ('total_usable_ram_mb', None), ('total_usable_disk_gb', None),
              ('vcpus_total', 0))
    def test_a_smaller_host_anywhere(self, name, value):
        for place in (0, 1023, 1024, 2399):
            hosts = _hosts(2400)
            setattr(hosts[place], name, value)
            self.assertFalse(self._are(hosts), place)

    def test_what_is_not_wanted_does_not_count(self):
        hosts = _hosts(1300)
        hosts[1270].vcpus_total = None
        self.assertFalse(self._are(hosts))
        self.assertTrue(self._are(hosts, cpu=0))
        self.assertTrue(host_capacity.are_all_as_large(hosts, {}))
