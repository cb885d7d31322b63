# SPDX-License-Identifier: Apache-2.0

import random

import testtools

from pcloud.planning.programs import fitting
from pcloud.planning.programs import scheduled


def kind(count, memory, cpus=1, apart=False):
    return fitting.ServerKind({'MEMORY_MB': memory, 'VCPU': cpus}, count,
                              apart)


def host(memory, cpus=100, **more):
    return fitting.TargetHost({'MEMORY_MB': memory, 'VCPU': cpus}, **more)


class SureTest(testtools.TestCase):

    def test_one_kind_is_exact(self):
        self.assertEqual([3], scheduled.sure(
            [kind(4, 2)], [host(5), host(3)], [0]))

    def test_sizes_that_divide_each_other_are_exact(self):
        # Eight places for small ones, of which the large ones take four.
        self.assertEqual([2, 4], scheduled.sure(
            [kind(2, 2), kind(5, 1)], [host(4), host(4)], [0, 1]))

    def test_sizes_that_do_not(self):
        # 3 + 3 and 2 + 2 + 2 fit; with 3 + 2 on each, one has no place.
        kinds, hosts = [kind(2, 3), kind(3, 2)], [host(6), host(6)]
        self.assertEqual([2, 2], scheduled.sure(kinds, hosts, [0, 1]))

    def test_equal_ranks_come_in_any_order(self):
        kinds, hosts = [kind(1, 4), kind(4, 1)], [host(4), host(4)]
        self.assertEqual([1, 4], scheduled.sure(kinds, hosts, [0, 1]))
        self.assertEqual([0, 4], scheduled.sure(kinds, hosts, [0, 0]))

    def test_hosts_that_refuse_a_kind(self):
        self.assertEqual([1], scheduled.sure([kind(3, 2)], [
            host(2), host(9, refused=frozenset([0]))], [0]))

    def test_apart(self):
        self.assertEqual([0], scheduled.sure(
            [kind(2, 1, apart=True)], [host(9)], [0]))

    def test_no_host_and_no_server(self):
        self.assertEqual([0], scheduled.sure([kind(2, 1)], [], [0]))
        self.assertEqual([], scheduled.sure([], [host(1)], []))

    def test_no_scheduler_places_less(self):
        for seed in range(2000):
            chance = random.Random(seed)
            kinds = [kind(chance.randrange(4), chance.randrange(1, 9),
                          chance.randrange(1, 5))
                     for _ in range(chance.randrange(1, 5))]
            hosts = [host(chance.randrange(25), chance.randrange(15))
                     for _ in range(chance.randrange(1, 5))]
            ranks = [chance.randrange(4) for _ in kinds]
            sure = scheduled.sure(kinds, hosts, ranks)
            placed = self._place(chance, kinds, hosts, ranks)
            for least, number in zip(sure, placed):
                self.assertTrue(least <= number, (seed, sure, placed))

    def _place(self, chance, kinds, hosts, ranks):
        """Place servers in the order of the ranks, each on any host."""
        servers = [place for place, each in enumerate(kinds)
                   for _ in range(each.count)]
        chance.shuffle(servers)
        servers.sort(key=lambda place: ranks[place])
        left = [dict(each.free) for each in hosts]
        placed = [0] * len(kinds)
        for place in servers:
            needs = kinds[place].amounts
            able = [free for free in left if all(
                free[name] >= needs[name] for name in needs)]
            if able:
                free = chance.choice(able)
                for name in needs:
                    free[name] -= needs[name]
                placed[place] += 1
        return placed
