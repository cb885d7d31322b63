# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Weeks of a cloud: what the weighers make of them."""

import logging
import random

import fixtures
from nova import conf as nova_conf
from oslo_config import fixture
import testtools

from pcloud.trace_replay import fake_cloud
from pcloud.trace_replay import replay
from pcloud.trace_replay import trace

CONF = nova_conf.CONF
OLDEST, NEWEST = fake_cloud.PLATFORMS[0], fake_cloud.PLATFORMS[-1]


class ReplayTest(testtools.TestCase):
    """40 hosts, and three weeks in which servers live for one."""

    def setUp(self):
        super().setUp()
        # Nova writes every weight of every host, thousands of times.
        self.useFixture(fixtures.FakeLogger(
            'nova.weights', level=logging.INFO))
        self.conf = self.useFixture(fixture.Config(CONF))
        CONF([], project='nova', default_config_files=[])
        self.servers = trace.make(
            random.Random(7), days=21, servers=120, lifetime=7)

    def _run(self, weighers):
        return replay.run(self.servers, 40, 21, weighers,
                          random.Random(8))

    def test_the_trace(self):
        self.assertEqual(120, sum(each.start == 0 for each in self.servers))
        self.assertEqual(
            self.servers, sorted(self.servers, key=lambda each: each.start))
        now = sum(each.start <= 14 < each.end for each in self.servers)
        self.assertTrue(90 < now < 150, now)

    def test_old_platforms_drain(self):
        default = self._run(replay.NOVA)
        self.conf.config(
            ram_weight_multiplier=-0.1, cpu_weight_multiplier=0.0,
            disk_weight_multiplier=0.0, group='filter_scheduler')
        ours = self._run(replay.PCLOUD)

        self.assertEqual(default.days[0], ours.days[0])
        self.assertEqual(sum(default.days[-1].values()),
                         sum(ours.days[-1].values()))
        self.assertGreater(default.share(OLDEST)[-1], 0.15)
        self.assertLess(ours.share(OLDEST)[-1], 0.05)
        self.assertGreater(ours.share(NEWEST)[-1], 0.5)

        def hit(outcome):
            return sum(count for week, count in outcome.by_reboot.items()
                       if week is not None)

        self.assertLess(hit(ours), hit(default) / 2)

    def test_it_can_be_repeated(self):
        self.assertEqual(self._run(replay.PCLOUD),
                         self._run(replay.PCLOUD))
