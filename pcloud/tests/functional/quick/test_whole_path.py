# SPDX-License-Identifier: Apache-2.0

"""What a request for a server costs does not grow with the cloud."""

from pcloud.tests.support import big
from pcloud.tests.support import counting


class WholePathTest(big.BigCloud):
    """Asks the scheduler itself, in clouds of which most hosts are rows."""

    def _cost(self, pcloud):
        def ask():
            spec = self.request(pcloud)
            self.select(spec)
            self.give_up(spec)

        return counting.least(ask)

    def test_a_request_sends_the_same_in_small_and_large_clouds(self):
        self.grow(40)
        small = self._cost(self.pcloud), self._cost(None)
        self.grow(200)
        self.assertEqual(small, (self._cost(self.pcloud), self._cost(None)))

    def test_a_pcloud_is_found_among_few_candidates(self):
        self.grow(200)
        self.make_pool('gpu', 'node-2')
        mine = self.make_pcloud(self.bob)
        self.add_host(self.bob, mine, 'a', 'gpu')
        self.flags(max_placement_results=1, group='scheduler')
        for _ in range(3):
            server = self.boot(self.bob, {'pcloud': mine})
            self.assertEqual('node-2', self.host_of(server))
