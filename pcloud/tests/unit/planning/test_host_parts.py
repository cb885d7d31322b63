# SPDX-License-Identifier: Apache-2.0

"""Nova is asked about the parts of hosts, and about alike hosts once."""

import types
from unittest import mock

from nova import objects
from nova.pci import stats as pci_stats
from nova.virt import hardware
import testtools

from pcloud.planning import demands
from pcloud.planning import host_parts
from pcloud.planning.programs import fitting
from pcloud.planning.programs import providers
from pcloud.rules import capacity

ALIAS = {'vendor_id': '10de', 'product_id': '1db4'}


def topology(*free, first=0):
    """Return cells with so many free dedicated cpus.

    :param first: the number of the first cpu
    """
    cells = []
    for number, its in enumerate(free):
        cpus = set(range(first, first + its))
        cells.append(objects.NUMACell(
            id=number, cpuset=set(), pcpuset=cpus, memory=1024, cpu_usage=0,
            memory_usage=0, siblings=[{cpu} for cpu in cpus] or [set()],
            pinned_cpus=set(), socket=0, mempages=[objects.NUMAPagesTopology(
                size_kb=4, total=262144, used=0)],
            network_metadata=objects.NetworkMetadata(
                physnets=set(), tunneled=False)))
        first += its
    return objects.NUMATopology(cells=cells)


def devices(*pools):
    """Return the devices of pools: how many, of which type, in which cell."""
    return pci_stats.PciDeviceStats(None, objects.PciDevicePoolList(objects=[
        objects.PciDevicePool(
            **ALIAS, count=count, numa_node=cell, tags={'dev_type': type_})
        for count, type_, cell in pools]))


def state(cells=None, pools=()):
    return types.SimpleNamespace(
        numa_topology=cells, pci_stats=devices(*pools),
        cpu_allocation_ratio=1.0, ram_allocation_ratio=1.0)


def pinned(*cpus):
    """Return the cells of a server, with so many dedicated cpus in each."""
    return objects.InstanceNUMATopology(cells=[objects.InstanceNUMACell(
        id=number, cpuset=set(), pcpuset={
            100 * number + cpu for cpu in range(its)}, memory=1,
        cpu_policy='dedicated', pagesize=None)
        for number, its in enumerate(cpus)])


def demand(cells=None, count=0, groups=()):
    return demands.Demand(providers.Demand(groups), cells, [
        objects.InstancePCIRequest(
            count=count, spec=[ALIAS], alias_name='gpu',
            request_id='7bd6b7f0-7b2b-4b13-9c4f-5d2b8c1d7a10',
            numa_policy='required')] if count else [])


def needing(*its):
    return host_parts.Hosts(demands.Demands(
        dict(enumerate(its)), frozenset(['VGPU']), {}))


def limits(parts, its, found=None, count=9):
    """Return how many servers of each kind a host takes."""
    kinds = [fitting.ServerKind({}, count)] * len(parts._needed.of)
    host = parts.packed(kinds, its, found or capacity.Host(
        {}, frozenset()), fitting.TargetHost({}))
    return [fitting.room(kind, place, host)
            for place, kind in enumerate(kinds)], host.patterns.is_complete


class LooksTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()

    def test_cells(self):
        parts = needing(demand(pinned(3)), demand(pinned(2)))
        self.assertEqual(([2, 3], True), limits(parts, state(topology(5, 3))))

    def test_devices_of_a_cell(self):
        parts = needing(demand(pinned(1), 1), demand(count=2))
        self.assertEqual(([2, 1], True), limits(parts, state(
            topology(1, 9), [(2, 'type-PCI', 0), (1, 'type-PCI', 1)])))

    def test_cells_without_devices_are_filled_first(self):
        """Servers in two cells have to come before those in one cell."""
        parts = needing(demand(pinned(1)), demand(pinned(1, 1)))
        kinds = [fitting.ServerKind({}, 9)] * 2
        for pools, order in (([], [0, 1]), ([(1, 'type-PCI', 0)], [1, 0])):
            host = parts.packed(kinds, state(topology(2, 2), pools),
                                capacity.Host({}, frozenset()),
                                fitting.TargetHost({}))
            self.assertTrue(host.patterns.allow((2, 1)))
            self.assertEqual(order, host.patterns.order((2, 1)))

    def test_a_host_without_cells_is_left_to_filters(self):
        self.assertEqual(
            ([9], True), limits(needing(demand(pinned(1))), state()))

    def test_what_the_scheduler_knows_is_left_alone(self):
        its = state(topology(4), [(2, 'type-PCI', 0)])
        limits(needing(demand(pinned(1), 1)), its)
        self.assertEqual(set(), its.numa_topology.cells[0].pinned_cpus)
        self.assertEqual([2], [
            pool['count'] for pool in its.pci_stats.pools])

    def test_hosts_that_are_alike_are_asked_about_once(self):
        parts = needing(demand(pinned(2)))
        with mock.patch.object(
                hardware, 'numa_fit_instance_to_host',
                side_effect=hardware.numa_fit_instance_to_host) as asked:
            self.assertEqual(([4], True), limits(
                parts, state(topology(4, 4))))
            number = asked.call_count
            self.assertEqual(([4], True), limits(
                parts, state(topology(4, 4, first=50))))
            self.assertEqual(number, asked.call_count)
            self.assertEqual(([2], True), limits(
                parts, state(topology(4, 0))))
            self.assertLess(number, asked.call_count)

    def test_too_many_questions(self):
        """What is found is a proof, and no more is."""
        with mock.patch.object(host_parts, '_ASKED', 3):
            found, is_complete = limits(
                needing(demand(pinned(1))), state(topology(9)))
        self.assertEqual(([3], False), (found, is_complete))

    def test_too_many_ways(self):
        uuids = [str(number) for number in range(5)]
        groups = [providers.Group(str(number), {'VGPU': 1}, frozenset(uuids))
                  for number in range(5)]
        # All have something else free, so no way is like another.
        found = capacity.Host({}, frozenset(), tuple(
            capacity.Provider(uuid, {'VGPU': 10 + number})
            for number, uuid in enumerate(uuids)))
        _, is_complete = limits(
            needing(demand(groups=groups)), state(), found, 1)
        self.assertFalse(is_complete)

    def test_devices_that_exclude_each_other(self):
        parts = needing(demand(count=1))
        self.assertEqual([], parts.doubts(state(
            pools=[(1, 'type-VF', 0)])))
        self.assertEqual(1, len(parts.doubts(state(
            pools=[(1, 'type-VF', 0), (1, 'type-PF', 0)]))))
        self.assertEqual([], needing(demand(pinned(1))).doubts(state(
            pools=[(1, 'type-VF', 0), (1, 'type-PF', 0)])))
