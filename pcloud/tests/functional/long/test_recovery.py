# SPDX-License-Identifier: Apache-2.0

"""What a rehearsal says of a host is what its recovery does."""

import os
import random

from pcloud.tests.functional.quick import test_recovery

# The number of Pclouds that are drawn.
_PCLOUDS = int(os.environ.get('PCLOUD_TEST_BUNDLES', '5'))
# Sizes of servers that divide each other, in MiB.
_SIZES = (512, 1024, 2048)


class RehearsedTest(test_recovery.RecoveryTestCase):

    own_cloud = True

    def furnish(self):
        super().furnish()
        self.limit(3)
        self.real['c'] = self.add_host(self.alice, self.pcloud, 'c', 'gpu')
        self.only('a', 'b', 'c')
        for size in _SIZES:
            self.make_flavor(f'm{size}', memory_mb=size)

    def _fill(self, chance):
        """Start servers on the hosts; return ``size -> servers of a``."""
        for name in ('a', 'b', 'c'):
            self.only(name)
            # A host has 7680 MiB for servers.
            left = chance.randrange(2048, 7681)
            while left >= _SIZES[0]:
                size = chance.choice([
                    each for each in _SIZES if each <= left])
                left -= size
                self.boot(self.alice, {'pcloud': self.pcloud},
                          flavorRef=f'm{size}', **test_recovery.on_volume())
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

    def test_drawn_pclouds(self):
        # One after the other, the largest first.
        self.flags(recovery_parallel=1, group='pcloud')
        seed = random.randrange(1000)
        told = set()
        for number in range(_PCLOUDS):
            chance = random.Random(f'{seed} {number}')
            self._fill(chance)
            survives, (least, most) = self._rehearsed()
            lost = self._recover()
            self.assertEqual(least, most, (seed, number))
            self.assertEqual((survives, least), (not lost, lost),
                             (seed, number))
            told.add(survives)
            self._empty()

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
