# SPDX-License-Identifier: Apache-2.0

"""Ratios of a host, when several write them and one of them is late."""

from unittest import mock

from pcloud.audit import all_checks
from pcloud.backend.calls import placement
from pcloud.backend.changes import journal
from pcloud import names
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.tests.support import shared_cloud

CPU, RAM = 'cpu_allocation_ratio', 'ram_allocation_ratio'


class RatioTestCase(shared_cloud.SharedCloudTestCase):
    """One host in a pool.

    :ivar before: its ratios
    """

    hosts = {'node-1': 'az1'}
    host, node = 'node-1', 'node-1.hv.example.org'

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1')
        self.provider = self._get_provider_uuid_by_name(self.node)
        self.before = self.ratios()

    def ratios(self):
        """Return the ratios of the host: cpu and ram."""
        found = self._get_provider_inventory(self.provider)
        return tuple(found[resource_class]['allocation_ratio']
                     for resource_class in ('VCPU', 'MEMORY_MB'))

    def update(self, user, pcloud, **changes):
        """Set ratios of a Pcloud."""
        user.call_json('PUT', f'/os-pclouds/{pcloud}', {'pcloud': changes})

    def remove_host(self, user, pcloud, name):
        """Remove a disabled host."""
        user.call_json('DELETE', f'/os-pclouds/{pcloud}/hosts/{name}')


class ConflictTest(RatioTestCase):
    """The compute writes inventories too."""

    def _set(self, times):
        """Set a ratio while the compute comes in between `times` times."""
        left = [times]
        original = placement.write

        def write(*args):
            if left[0]:
                left[0] -= 1
                found = placement.read(self.context, self.provider)
                self.assertTrue(
                    original(self.context, self.provider, found))
            return original(*args)

        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu')
        with mock.patch.object(placement, 'write', write):
            self.update(self.alice, pcloud, **{CPU: 9})

    def _dues(self):
        return list(journal.dues(self.context))

    def test_conflict_is_tried_again(self):
        self._set(times=3)
        self.assertEqual(9, self.ratios()[0])
        self.assertEqual([], self._dues())

    def test_not_for_ever(self):
        """The host stays closed until somebody has told Placement."""
        self._set(times=100)
        self.assertEqual(self.before, self.ratios())
        self.assertEqual(['node-1'], self._dues())
        self.assertTrue(reconcile.host(self.context, 'node-1'))
        self.assertEqual(9, self.ratios()[0])


class LateTest(RatioTestCase):
    """Whoever sets a ratio is held back just before it is written."""

    def _late(self, pcloud, ratio, meanwhile):
        """Set a Pcloud's cpu ratio while something else is done in full."""
        original, waiting = placement.write, [meanwhile]

        def write(*args):
            while waiting:
                waiting.pop()()
            return original(*args)

        with mock.patch.object(placement, 'write', write):
            pclouds.update(
                self.context, pclouds.show(self.context, pcloud),
                {CPU: ratio})
        self.assertEqual([], waiting)

    def test_another_ratio_is_set(self):
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu')
        self._late(pcloud, 3.0,
                   lambda: self.update(self.alice, pcloud, **{CPU: 5}))
        self.assertEqual((5, self.before[1]), self.ratios())

    def test_the_host_leaves(self):
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu', enable=False)
        self._late(pcloud, 3.0,
                   lambda: self.remove_host(self.alice, pcloud, 'a'))
        self.assertEqual(self.before, self.ratios())

    def test_the_host_leaves_and_another_pcloud_takes_it(self):
        pcloud = self.make_pcloud(self.alice)
        other = self.make_pcloud(self.bob)
        self.update(self.bob, other, **{RAM: 2})
        self.add_host(self.alice, pcloud, 'a', 'gpu', enable=False)

        def change_hands():
            self.remove_host(self.alice, pcloud, 'a')
            self.add_host(self.bob, other, 'b', 'gpu', enable=False)

        self._late(pcloud, 3.0, change_hands)
        self.assertEqual((self.before[0], 2), self.ratios())
        self.remove_host(self.bob, other, 'b')
        self.assertEqual(self.before, self.ratios())

    def test_the_host_leaves_and_comes_back(self):
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu', enable=False)

        def come_back():
            self.remove_host(self.alice, pcloud, 'a')
            self.add_host(self.alice, pcloud, 'b', 'gpu', enable=False)

        self._late(pcloud, 3.0, come_back)
        self.assertEqual((3, self.before[1]), self.ratios())
        self.remove_host(self.alice, pcloud, 'b')
        self.assertEqual(self.before, self.ratios())


class KeptTest(RatioTestCase):
    """How a Pcloud keeps the ratios of a host."""

    def furnish(self):
        super().furnish()
        self.pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, self.pcloud, 'a', 'gpu', enable=False)

    def _kept(self):
        kept = self.aggregate('pcloud-journal').metadata
        return {key: value for key, value in kept.items()
                if key.startswith(names.OWN_PREFIX)}

    def _write(self, **metadata):
        self.write_metadata(self.pcloud, **metadata)

    def _both(self):
        cpu, ram = self.before
        return {f'pcloud:own_ratios:{self.host}': f'cpu={cpu:g} ram={ram:g}'}

    def _give_back(self):
        self.remove_host(self.alice, self.pcloud, 'a')
        self.assertEqual(self.before, self.ratios())
        self.assertEqual({}, self._kept())

    def test_both_ratios_at_once(self):
        self.update(self.alice, self.pcloud, **{CPU: 3, RAM: 2})
        self.assertEqual(self._both(), self._kept())
        self._give_back()

    def test_one_ratio_after_the_other(self):
        self.update(self.alice, self.pcloud, **{CPU: 3})
        self.assertEqual(
            {f'pcloud:own_ratios:{self.host}': f'cpu={self.before[0]:g}'},
            self._kept())
        self.update(self.alice, self.pcloud, **{RAM: 2})
        self.assertEqual(self._both(), self._kept())
        self._give_back()

    def test_unreadable_is_left_alone(self):
        """The ratio that the host has by then may be the Pcloud's."""
        self.update(self.alice, self.pcloud, **{CPU: 3})
        rubbish = {f'pcloud:own_ratios:{self.host}': 'cpu=many'}
        self._write(**rubbish)
        self.update(self.alice, self.pcloud, **{CPU: 4, RAM: 2})
        self.assertEqual(rubbish, self._kept())
        self.assertEqual((4, 2), self.ratios())
        self.remove_host(self.alice, self.pcloud, 'a')
        self.assertEqual((4, 2), self.ratios())
        self.assertEqual({}, self._kept())

    def test_host_that_has_left_without_the_ratios(self):
        self.update(self.alice, self.pcloud, **{CPU: 3, RAM: 2})
        kept = self._kept()
        self.remove_host(self.alice, self.pcloud, 'a')
        found = placement.read(self.context, self.provider)
        for name in ('VCPU', 'MEMORY_MB'):
            found['inventories'][name]['allocation_ratio'] = 9
        self.assertTrue(
            placement.write(self.context, self.provider, found))
        self._write(**kept)
        finding, = all_checks.find(self.context, settle=0)
        self.assertEqual('ratio-not-given-back', finding.kind)
        self.assertEqual('the host has its own ratio again',
                         finding.repair(self.context))
        self.assertEqual(self.before, self.ratios())
        self.assertEqual({}, self._kept())


class OddTest(RatioTestCase):

    def test_so_small_that_nothing_is_left(self):
        """As with Nova's own options the host then takes no server."""
        pcloud = self.make_pcloud(self.alice)
        for name in (CPU, RAM):
            self.update(self.alice, pcloud, **{name: 1e-5})
            self.add_host(self.alice, pcloud, 'a', 'gpu')
            self.boot(self.alice, {'pcloud': pcloud}, 'ERROR')
            self.update(self.alice, pcloud, **{name: None})
            self.assertEqual(self.before, self.ratios())
            self.update(self.alice, pcloud, **{name: 1e-5})
            self.alice.call_json(
                'PUT', f'/os-pclouds/{pcloud}/hosts/a',
                {'host': {'state': 'disabled'}})
            self.remove_host(self.alice, pcloud, 'a')
            self.update(self.alice, pcloud, **{name: None})
            self.assertEqual(self.before, self.ratios())

    def test_all_cpus_are_dedicated(self):
        found = placement.read(self.context, self.provider)
        found['inventories']['PCPU'] = {
            **found['inventories'].pop('VCPU'), 'allocation_ratio': 7}
        self.assertTrue(
            placement.write(self.context, self.provider, found))
        pcloud = self.make_pcloud(self.alice)
        self.update(self.alice, pcloud, **{CPU: 4, RAM: 2})
        self.add_host(self.alice, pcloud, 'a', 'gpu', enable=False)
        found = self._get_provider_inventory(self.provider)
        self.assertEqual(7, found['PCPU']['allocation_ratio'])
        self.assertEqual(2, found['MEMORY_MB']['allocation_ratio'])
