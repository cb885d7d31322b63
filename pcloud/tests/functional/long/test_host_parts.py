# SPDX-License-Identifier: Apache-2.0

"""Whether servers fit that need NUMA cells, PCI devices or providers."""

import functools
import random

from pcloud.planning.programs import solvers
from pcloud.tests.functional.quick import test_host_parts
from pcloud.tests.support import counting
from pcloud.tests.support import explained

BUNDLES = test_host_parts.BUNDLES
CELLS = test_host_parts.CELLS


class TakenPartsTest(test_host_parts.PartsTestCase):
    """Servers that are there have parts of the hosts.

    What nova-compute knows of its devices is not put back after a test.
    """

    own_cloud = True
    # No host is free that could be looked at.
    UNKNOWN = ['whether host flavor gpu adds capacity']

    def test_servers_that_are_there_count(self):
        self.only('node-1')
        flavor = self.pinned('near', 3, pci_passthrough__alias='gpu:1')
        self.assertEqual(2, self.bounds((flavor, 9)))
        self.launch(flavor)
        self.assertEqual(1, self.bounds((flavor, 9)))
        self.launch(flavor)
        found = self.ask((flavor, 1))
        self.assertEqual((False, True), (found['fits'], found['exact']))
        self.launch(flavor, 'ERROR')

    def test_rehearsal(self):
        flavor = self.pinned('near', 2, pci_passthrough__alias='gpu:1')
        self.only('node-3')
        self.launch(flavor)
        self.only(*CELLS)
        self.assertEqual((3, []), self.rehearsed())
        # The devices of the other hosts are taken.
        self.only('node-1')
        for _ in range(3):
            self.launch(flavor)
        self.only('node-2')
        self.launch(flavor)
        self.only(*CELLS)
        self.assertEqual((0, self.UNKNOWN), self.rehearsed())

    def rehearsed(self):
        found = self.alice.get_json(f'{self.path}/rehearsal')['rehearsal']
        self.assertTrue(found['exact'])
        return found['survives'], explained.words(found['not_explained'])

    def test_costs(self):
        """Hosts and servers cost nothing; a group costs a question."""
        plain, pinned = self.flavor('plain'), self.pinned('p1', 1)
        grouped = self.flavor('v3', resources1__VGPU=3)
        ask = functools.partial(self._costs, plain, pinned, grouped)
        self.only('node-1')
        few = ask()
        self.assertEqual([2, 2, 2, 3], [each.http for each in few])
        self.only(*CELLS)
        self.launch(pinned)
        self.assertEqual(few, ask())

    def _costs(self, plain, *others):
        questions = [[(plain, 1)], *(
            [(plain, 1), (other, 1)] for other in (plain, *others))]
        return [counting.least(functools.partial(self.ask, *servers))
                for servers in questions]


class StartTest(test_host_parts.PartsTestCase):
    """What is said to fit starts, and one more does not."""

    own_cloud = True
    seeds = range(BUNDLES)

    def _flavors(self, chance, seed):
        """Return flavors at random that need parts of hosts."""
        kinds = [
            lambda name: self.pinned(name, chance.randint(1, 4)),
            lambda name: self.pinned(
                name, chance.choice([2, 4]), hw__numa_nodes=2),
            lambda name: self.pinned(
                name, chance.randint(1, 3),
                pci_passthrough__alias='gpu:1'),
            lambda name: self.flavor(
                name, pci_passthrough__alias='gpu:%d' % chance.randint(1, 2)),
            lambda name: self.flavor(
                name, resources1__VGPU=chance.randint(1, 3)),
            lambda name: self.flavor(
                name, resources1__VGPU=1, resources2__VGPU=1,
                group_policy=chance.choice(['isolate', 'none'])),
            lambda name: self.flavor(
                name, memory_mb=256 * chance.randint(1, 3),
                hw__mem_page_size='2MB')]
        return [kind(f'f{seed}-{number}') for number, kind in enumerate(
            chance.sample(kinds, chance.randint(1, 2)))]

    def _bundle(self, chance, seed):
        """Return a bundle that fits, of which one more server does not."""
        flavors = self._flavors(chance, seed)
        servers = [[flavor, 0] for flavor in flavors]
        while True:
            each = chance.choice(servers)
            each[1] += 1
            found = self._ask(servers)
            if not found['fits']:
                each[1] -= 1
                return servers, each[0], found['exact']

    def _ask(self, servers):
        return self.ask(*(each for each in servers if each[1]))

    def test_by_the_plan(self):
        exact = 0
        for seed in self.seeds:
            chance = random.Random(seed)
            self.only(*chance.sample(sorted(CELLS), 2))
            able = [name for name in self.names.values()
                    if self._state(name) == 'enabled']
            servers, more, is_exact = self._bundle(chance, seed)
            started = []
            if any(number for _, number in servers):
                found = self._ask(servers)
                self.assertTrue(found['fits'], seed)
                started = self._begin(found)
                self.assertEqual(
                    sum(number for _, number in servers), len(started))
            self.only(*(host for host, name in self.names.items()
                        if name in able))
            if is_exact:
                exact += 1
                self.launch(more, 'ERROR')
            for server in started:
                self._delete_server(server)
        if solvers.is_there():
            self.assertGreater(exact, len(self.seeds) * 0.9)

    def _begin(self, found):
        """Start servers where and in the order in which they are planned."""
        started = []
        for each in found['placed']:
            self.only(*(host for host, name in self.names.items()
                        if name == each['host']))
            for _ in range(each['count']):
                started.append(self.launch(each['flavor']))
        return started

    def _state(self, name):
        return self.alice.get_json(
            f'{self.path}/hosts/{name}')['host']['state']


class PartsTest(test_host_parts.PartsTestCase):

    def hosts_fit(self, flavor):
        """Return how many servers of a flavor fit each host."""
        fits = self.explained(flavor)
        found = [fits[self.names[host]] for host in CELLS]
        self.assertEqual(sum(found), self.bounds((flavor, 100)))
        return found

    def test_pinned(self):
        self.assertEqual([8, 8, 8], self.hosts_fit(self.pinned('p1', 1)))
        # A server is in one cell.
        self.assertEqual([2, 2, 2], self.hosts_fit(
            self.pinned('p3', 3, hw__numa_nodes=1)))
        self.assertEqual([0, 1, 0], self.hosts_fit(
            self.pinned('p6', 6, hw__numa_nodes=1)))
        # Whole cores.
        self.assertEqual([4, 4, 4], self.hosts_fit(
            self.pinned('core', 2, hw__cpu_thread_policy='require')))
        self.assertEqual([2, 1, 2], self.hosts_fit(
            self.pinned('both', 4, hw__numa_nodes=2)))

    def test_huge_pages(self):
        self.assertEqual([4, 4, 4], self.hosts_fit(self.flavor(
            'huge', memory_mb=512, hw__mem_page_size='2MB')))

    def test_devices(self):
        self.assertEqual([3, 2, 1], self.hosts_fit(self.flavor(
            'pci', pci_passthrough__alias='gpu:1')))
        self.assertEqual([1, 1, 0], self.hosts_fit(self.flavor(
            'pci2', pci_passthrough__alias='gpu:2')))
        # Devices and cpus of one cell.
        self.assertEqual([3, 1, 1], self.hosts_fit(self.pinned(
            'near', 2, pci_passthrough__alias='gpu:1')))

    def test_providers(self):
        self.assertEqual([6, 6, 1], self.hosts_fit(
            self.flavor('v1', resources1__VGPU=1)))
        self.assertEqual([1, 2, 0], self.hosts_fit(
            self.flavor('v3', resources1__VGPU=3)))
        self.assertEqual([2, 3, 0], self.hosts_fit(self.flavor(
            'two', resources1__VGPU=1, resources2__VGPU=1,
            group_policy='isolate')))
        self.assertEqual([3, 3, 0], self.hosts_fit(self.flavor(
            'any', resources1__VGPU=1, resources2__VGPU=1,
            group_policy='none')))
        self.assertEqual([4, 3, 1], self.hosts_fit(self.flavor(
            'large', resources1__VGPU=1, trait1__CUSTOM_LARGE='required')))

    def test_together(self):
        """Each flavor alone fits, and both do not."""
        pinned, whole = self.pinned('p3', 3), self.pinned('p4', 4)
        self.only('node-1')
        self.assertEqual(2, self.bounds((pinned, 9)))
        self.assertEqual(2, self.bounds((whole, 9)))
        self.assertTrue(self.ask((pinned, 1), (whole, 1))['fits'])
        found = self.ask((pinned, 2), (whole, 1))
        self.assertFalse(found['fits'])
        if solvers.is_there():
            self.assertTrue(found['exact'])
        # What the parts leave is for others.
        small = self.pinned('p1', 1)
        self.assertTrue(self.ask((pinned, 2), (small, 2))['fits'])
        self.assertFalse(self.ask((pinned, 2), (small, 3))['fits'])

    def test_new_hosts(self):
        """A new host has the parts of the free hosts."""
        flavor = self.pinned('p3', 3)
        self.only()
        for host, name in self.names.items():
            self.alice.call_json('DELETE', f'{self.path}/hosts/{name}')
            self.wait_until(lambda: self.settled(host))
        found = self.ask((flavor, 4))
        self.assertEqual([('gpu', 2)], [
            (each['host_flavor'], each['hosts']) for each in found['more']])

    def settled(self, host):
        flavor = self.admin.get_json('/os-host-flavors/gpu')['host_flavor']
        its, = [each for each in flavor['hosts'] if each['host'] == host]
        self.assertEqual((None, None), (its['settling'], its['pcloud']))
        return True

    def test_accelerators_are_named(self):
        flavor = self.flavor('fpga', accel__device_profile='fpga')
        found = self.ask((flavor, 1))
        self.assertEqual((False, False, 0), (
            found['fits'], found['exact'], found['bounds']['least']))
        self.assertEqual(
            ['flavor fpga asks for accelerators'],
            explained.words(found['not_explained']))
        self.assertIn(found['not_explained'][0], self.alice.get_json(
            f'{self.path}/explain?flavor=fpga')['explain']['not_explained'])


class MoreStartsTest(StartTest):
    """The same, many times."""

    seeds = range(BUNDLES, test_host_parts.MORE_BUNDLES)
