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

"""Passes of the worker over a real cloud."""

from unittest import mock

from nova.conductor import rpcapi as conductor_rpcapi
from nova import context as nova_context
import oslo_messaging as messaging

from pcloud.tests import counting
from pcloud.tests.functional import kills
from pcloud.tests.functional import outages
from pcloud.tests.functional import test_moving
from pcloud.worker import passes


class WorkerTest(test_moving.MovingTestCase):

    def once(self):
        """Make a pass, and return whether all could be done."""
        return passes.once(nova_context.get_admin_context())

    def test_a_host_is_emptied_and_given_back(self):
        servers = [self.start() for _ in range(2)]
        self.only('a', 'b')
        self.flags(drain_parallel=1, group='pcloud')
        self.drain(move='live', release=True)

        def given_back():
            self.assertTrue(self.once())
            self.assertEqual({'b', 'c'}, set(self.names()))
            self.assertEqual({'az1': 1}, self.admin.get_json(
                '/os-host-flavors/gpu')['host_flavor']['available'])

        self.wait_until(given_back)
        self.assertEqual({'b'}, set(map(self.name_of, servers)))
        self.assertEqual([], self.kinds())

    def test_drain_that_was_cancelled_meanwhile(self):
        server = self.start()
        self.act(server, {'os-stop': None})
        self.wait_for(server, status='SHUTOFF')
        self.only('a', 'b')
        self.drain(move='any')
        self.arrives(server, 'b', 'VERIFY_RESIZE')
        self.put('a', 'enabled')
        self.once()
        self.arrives(server, 'b', 'SHUTOFF')

    def test_message_that_got_lost(self):
        server = self.start()
        self.only('a', 'b')
        with mock.patch.object(
                conductor_rpcapi.ComputeTaskAPI, 'live_migrate_instance',
                side_effect=messaging.MessageDeliveryFailure()):
            self.drain(move='live')
        self.assertEqual({server['id']: 'task'}, self.blockers())
        self.later(minutes=59)
        self.once()
        self.assertEqual({server['id']: 'task'}, self.blockers())
        self.later(minutes=2)
        self.once()
        self.arrives(server, 'b')
        self.ends(server, 'completed')

    def test_killed_at_any_statement(self):
        server = self.start()
        self.only('a', 'b')
        with mock.patch.object(test_moving.steps, '_in_turn'):
            self.drain(move='live', release=True)
        number = 1
        engine, *_ = self.engines()
        while kills.is_killed(engine, number, self.once):
            number += 1
            # Whoever has died has a turn, which lapses.
            self.later(seconds=122)
        self.assertGreater(number, 10)
        self.arrives(server, 'b')
        self.ends(server, 'completed')

        def given_back():
            self.once()
            self.assertEqual({'b', 'c'}, set(self.names()))

        self.wait_until(given_back)
        self.assertEqual([], self.kinds())

    def test_part_that_is_away(self):
        server = self.start()
        self.only('a', 'b')
        with outages.SilentBroker():
            self.drain(move='live')
        with outages.SilentPlacement(self.placement.fixture._client):
            self.once()
        self.assertEqual('a', self.name_of(server))
        self.once()
        self.arrives(server, 'b')

    def test_without_work(self):
        """A pass costs the same for few Pclouds and for many."""
        few = counting.least(self.once)
        for number in range(5):
            self.make_pcloud(self.alice, f'more-{number}')
        self.assertEqual(few, counting.least(self.once))
        self.assertLess(few, counting.Count(8, 0))
