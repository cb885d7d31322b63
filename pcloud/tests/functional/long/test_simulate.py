# SPDX-License-Identifier: Apache-2.0

"""Whether servers fit a Pcloud together, told by and tried on real Nova."""

import os
import random

from pcloud.planning.programs import solvers
from pcloud.tests.functional.quick import test_simulate

# How many bundles are started; the suite of what takes long starts more.
BUNDLES = int(os.environ.get('PCLOUD_TEST_BUNDLES', 5))


class StartTest(test_simulate.SimulateTestCase):
    """What is said to fit starts, and what starts was said to fit."""

    def furnish(self):
        super().furnish()
        for name in ('web', 'db', 'log'):
            self.add(name)

    def _bundle(self, seed):
        """Return a bundle of one server too many, at random."""
        chance = random.Random(seed)
        servers = []
        for number in range(chance.randint(2, 3)):
            flavor = self.make_flavor(
                f'f{seed}-{number}', vcpus=chance.randint(2, 5),
                memory_mb=256 * chance.randint(4, 14))
            servers.append([flavor, chance.randint(1, 2)])
        while self.ask(*servers)['bounds']['least'] == sum(
                count for _, count in servers):
            servers[chance.randrange(len(servers))][1] += 1
        return servers

    def _launch(self, flavor, expected='ACTIVE'):
        return self.boot(self.alice, {'pcloud': self.pcloud}, expected,
                         flavorRef=flavor)

    def test_by_the_plan(self):
        """The owner leads servers by enabling a host after the other."""
        for seed in range(1, 1 + BUNDLES):
            servers = self._bundle(seed)
            # Of some bundles not all have capacity.
            max(servers, key=lambda each: each[1])[1] -= (seed - 1) % 2
            found = self.ask(*servers)
            self.assertTrue(found['exact'])
            started = []
            for name in ('web', 'db', 'log'):
                for other in ('web', 'db', 'log'):
                    self.set_state(
                        other, 'enabled' if other == name else 'disabled')
                for each in found['placed']:
                    if each['host'] == name:
                        started += [self._launch(each['flavor'])
                                    for _ in range(each['count'])]
            self.assertEqual(found['bounds']['least'], len(started))
            for name in ('web', 'db', 'log'):
                self.set_state(name, 'enabled')
            left = {flavor: count - sum(
                each['count'] for each in found['placed']
                if each['flavor'] == flavor) for flavor, count in servers}
            self.assertEqual(found['fits'], not any(left.values()))
            for flavor, count in left.items():
                if count:
                    self._launch(flavor, 'ERROR')
            for server in started:
                self._delete_server(server)

    def test_in_any_order(self):
        """Whatever Nova starts was not said to be impossible.

        The other way round is not promised: Nova spreads servers, so the last
        of the servers that fit may find what is free in pieces.
        """
        outcomes = []
        for seed in range(3, 3 + BUNDLES):
            servers = self._bundle(seed)
            # Nova spreads servers, and leaves some capacity unused.
            for _ in range(seed % 3 * 2):
                max(servers, key=lambda each: each[1])[1] -= 1
            found = self.ask(*servers)
            self.assertTrue(found['exact'] or not solvers.is_there(), seed)
            order = [flavor for flavor, count in servers
                     for _ in range(count)]
            if seed % 2:
                random.Random(seed).shuffle(order)
            began = [self._any_state(flavor) for flavor in order]
            active = [server['status'] for server in began].count('ACTIVE')
            self.assertLessEqual(active, found['bounds']['most'], seed)
            outcomes.append((found['fits'], active == len(order)))
            for server in began:
                self._delete_server(server)
        self.assertNotIn((False, True), outcomes)
        self.assertIn((True, True), outcomes)

    def _any_state(self, flavor):
        server = self._build_server(flavor_id=flavor, networks='none')
        made = self.alice.post_server({
            'server': server,
            'os:scheduler_hints': {'pcloud': self.pcloud}})
        return self.wait_until(lambda: self._built(made))
