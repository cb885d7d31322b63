# SPDX-License-Identifier: Apache-2.0

"""What a rehearsal says of a host is what its recovery does."""

import os
import random

from pcloud.tests.functional.long import test_recoveries

# The number of Pclouds that are drawn.
_PCLOUDS = int(os.environ.get('PCLOUD_TEST_BUNDLES', '5'))
# Sizes of servers in MiB, which divide each other, or do not.
_SIZES = (512, 1024, 2048)
_ODD_SIZES = (512, 896, 1280, 1792)


class RehearsedTest(test_recoveries.RecoveryTestCase):

    own_cloud = True

    def furnish(self):
        super().furnish()
        self.limit(3)
        self.real['c'] = self.add_host(self.alice, self.pcloud, 'c', 'gpu')
        self.only('a', 'b', 'c')
        for size in {*_SIZES, *_ODD_SIZES}:
            self.make_flavor(f'm{size}', memory_mb=size)

    def _fill(self, chance, sizes):
        """Start servers on the hosts, some of which come first."""
        for name in ('a', 'b', 'c'):
            self.only(name)
            # A host has 7680 MiB for servers.
            left = chance.randrange(2048, 7681)
            while left >= sizes[0]:
                size = chance.choice([
                    each for each in sizes if each <= left])
                left -= size
                self.boot(self.alice, {'pcloud': self.pcloud},
                          flavorRef=f'm{size}', metadata={
                              'HA_Enabled': str(not chance.randrange(4))},
                          **test_recoveries.on_volume())
        self.only('a', 'b', 'c')

    def _rehearsed(self):
        """Return how many servers of a have no room, at least and at most."""
        found = self.alice.get_json(
            f'/os-pclouds/{self.pcloud}/rehearsal')['rehearsal']
        loss, = (each for each in found['losses'] if each['host'] == 'a')
        return loss['survives'], tuple(loss['no_room'].values())

    def _recover(self):
        """Fail the host a; return how many servers have no room at last."""
        self.fail()

        def is_over():
            self.later(seconds=1)
            self.work()
            shown = self.recovery_of()
            self.assertEqual(len(shown['remaining']), len([
                each for each in shown['blockers']
                if each['rule'] == 'no_room']))
            return len(shown['remaining'])

        return self.wait_until(is_over)

    def _drawn(self, sizes):
        """Draw Pclouds; yield what was told of the host a, and what was lost.

        The state of the chance is in the message of a failure.
        """
        # One after the other, in order.
        self.flags(recovery_parallel=1, group='pcloud')
        seed = random.randrange(1000)
        for number in range(_PCLOUDS):
            chance = random.Random(f'{seed} {number}')
            self._fill(chance, sizes)
            survives, bounds = self._rehearsed()
            yield (seed, number), survives, bounds, self._recover()
            self._empty()

    def test_sizes_that_divide_each_other(self):
        for drawn, survives, (least, most), lost in self._drawn(_SIZES):
            self.assertTrue(least <= lost <= most, (drawn, least, lost, most))
            if survives is not None:
                self.assertEqual(survives, not lost, drawn)

    def test_other_sizes(self):
        """Nothing is promised that a scheduler may miss."""
        for drawn, survives, (least, most), lost in self._drawn(_ODD_SIZES):
            self.assertTrue(least <= lost <= most, (drawn, least, lost, most))
            if survives is not None:
                self.assertEqual(survives, not lost, drawn)

    def _empty(self):
        for server in self.admin.get_servers(
                search_opts={'all_tenants': 1}):
            self.admin.delete_server(server['id'])
            self._wait_until_deleted(server)
        self.come_back()
        self.wait_until(self._is_back)
        # What has begun within an hour counts.
        self.later(seconds=3601)

    def _is_back(self):
        self.work()
        self.assertIsNone(self.recovery_of())
