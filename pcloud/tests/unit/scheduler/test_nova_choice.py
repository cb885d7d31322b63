# SPDX-License-Identifier: Apache-2.0

"""How Nova chooses a host after all weighers.

Rule: reference-attributes-chance
"""

import collections
from unittest import mock

import nova.conf
from nova.scheduler import manager
from nova.scheduler import weights
from oslo_config import fixture as config_fixture
import testtools

CONF = nova.conf.CONF
WEIGHTS = {'h1': 1.5, 'h2': 1.5, 'h3': 1.48, 'h4': 0.2}


class ChoiceTest(testtools.TestCase):

    def _chosen(self, **options):
        """Return how often each host was chosen."""
        self.useFixture(config_fixture.Config(CONF)).config(
            group='filter_scheduler', **options)
        scheduler = mock.Mock(spec=manager.SchedulerManager)
        scheduler.host_manager = mock.Mock()
        scheduler.host_manager.get_weighed_hosts.side_effect = lambda *_: [
            weights.WeighedHost(host, weight)
            for host, weight in WEIGHTS.items()]
        return collections.Counter(
            manager.SchedulerManager._get_sorted_hosts(
                scheduler, None, [*WEIGHTS], 0)[0] for _ in range(3000))

    def test_by_default_the_first(self):
        self.assertEqual({'h1': 3000}, self._chosen())

    def test_one_of_equals(self):
        chosen = self._chosen(shuffle_best_same_weighed_hosts=True)
        self.assertEqual({'h1', 'h2'}, {*chosen})
        self._assert_alike(chosen)

    def test_one_of_the_best_whatever_their_weights_are(self):
        chosen = self._chosen(host_subset_size=3)
        self.assertEqual({'h1', 'h2', 'h3'}, {*chosen})
        self._assert_alike(chosen)
        self.assertEqual({*WEIGHTS}, {*self._chosen(host_subset_size=9)})

    def _assert_alike(self, chosen):
        # Ten standard deviations.
        for count in chosen.values():
            self.assertAlmostEqual(3000 / len(chosen), count, delta=270)
