# SPDX-License-Identifier: Apache-2.0

"""Passes of the worker over a real cloud."""

import datetime
import threading
from unittest import mock

import fixtures
from keystoneauth1 import access
from keystoneauth1 import fixture as ks_fixture
from nova.conductor import rpcapi as conductor_rpcapi
from nova import context as nova_context
from nova.scheduler.client import query
import oslo_messaging as messaging
from oslo_utils import timeutils

from pcloud.backend.changes import journal
from pcloud.moving import steps
from pcloud import names
from pcloud.objects import pclouds
from pcloud.objects import turns
from pcloud.rules import looks
from pcloud.tests.functional.quick import test_draining
from pcloud.tests.functional.quick import test_moving
from pcloud.tests.support import counting
from pcloud.tests.support import kills
from pcloud.tests.support import outages
from pcloud.worker import credentials


class WorkerTest(test_moving.MovingTestCase):

    def test_a_host_is_emptied_and_given_back(self):
        servers = [self.start() for _ in range(2)]
        self.only('a', 'b')
        self.flags(drain_parallel=1, group='pcloud')
        self.drain(move='live', release=True)

        def given_back():
            self.assertTrue(self.work())
            self.assertEqual({'b', 'c'}, set(self.names()))
            self.assertEqual({'az1': 1}, self.admin.get_json(
                '/os-host-flavors/gpu')['host_flavor']['available'])

        self.wait_until(given_back)
        self.assertEqual({'b'}, set(map(self.name_of, servers)))
        self.assertEqual([], self.kinds())

    def test_hypervisors_get_the_token_of_the_worker(self):
        """A hypervisor fetches images with the token of the move."""
        body = ks_fixture.V3Token()
        body.add_service('image').add_standard_endpoints(
            public='http://glance', region='east')
        self.useFixture(fixtures.MockPatchObject(
            credentials, '_own_token',
            return_value=access.create(body=body, auth_token='a-token')))
        seen = []

        def pre_live_migration(driver, context, *args):
            seen.append((context.auth_token, [
                each['type'] for each in context.service_catalog]))
            return args[-1]

        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.FakeDriver.pre_live_migration',
            pre_live_migration))
        server = self.start()
        self.only('a', 'b')
        self.drain(move='live')
        self.work()
        self.arrives(server, 'b')
        self.assertEqual([('a-token', ['image'])], seen)

    def test_drain_that_was_cancelled_meanwhile(self):
        server = self.start()
        self.act(server, {'os-stop': None})
        self.wait_for(server, status='SHUTOFF')
        self.only('a', 'b')
        self.drain(move='any')
        self.arrives(server, 'b', 'VERIFY_RESIZE')
        self.put('a', 'enabled')
        self.work()
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
        self.work()
        self.assertEqual({server['id']: 'task'}, self.blockers())
        self.later(minutes=2)
        self.work()
        self.arrives(server, 'b')
        self.ends(server, 'completed')

    def test_killed_at_any_statement(self):
        server = self.start()
        self.only('a', 'b')
        with mock.patch.object(steps, '_move'):
            self.drain(move='live', release=True)
        number = 1
        engine, *_ = self.engines()
        while kills.is_killed(engine, number, self.work):
            number += 1
            # Whoever has died has a turn, which lapses.
            self.later(seconds=122)
        self.assertGreater(number, 10)
        self.arrives(server, 'b')
        self.ends(server, 'completed')

        def given_back():
            self.work()
            self.assertEqual({'b', 'c'}, set(self.names()))

        self.wait_until(given_back)
        self.assertEqual([], self.kinds())

    def test_part_that_is_away(self):
        server = self.start()
        self.only('a', 'b')
        with outages.SilentBroker():
            self.drain(move='live')
        with outages.SilentPlacement(self.placement.fixture._client):
            self.work()
        self.assertEqual('a', self.name_of(server))
        self.work()
        self.arrives(server, 'b')

    def test_without_work(self):
        """A pass costs the same for few Pclouds and for many."""
        few = counting.least(self.work)
        for number in range(5):
            self.make_pcloud(self.alice, f'more-{number}')
        self.assertEqual(few, counting.least(self.work))
        self.assertLess(few, counting.Count(12, 0))

    def test_at_rest(self):
        """Nothing is done for what stays as it is, however much it is."""
        self.drain()
        few = counting.least(self.work)
        for name in 'b', 'c':
            self.drain(name)
        for number in range(3):
            self.make_pcloud(self.alice, f'more-{number}')
        with mock.patch.object(steps, 'step') as step:
            self.assertEqual(few, counting.least(self.work))
        step.assert_not_called()
        self.assertLess(few, counting.Count(15, 0))

    def test_two_share(self):
        """Who comes second leaves out what the first is at."""
        other = threading.Thread(target=self.work)
        seen, step = [], steps._step

        def begin_another(*arguments):
            seen.append(arguments)
            if len(seen) == 1:
                other.start()
                other.join()
            step(*arguments)

        server = self.start()
        self.only('a', 'b')
        with mock.patch.object(steps, '_move'):
            self.drain(move='live')
        with mock.patch.object(steps, '_step', begin_another):
            self.work()
        self.assertEqual(1, len(seen))
        self.arrives(server, 'b')

    def test_what_another_has_done(self):
        """Who comes too late takes no turn: that would be two changes."""
        self.drain()
        pcloud = pclouds.head(self.context, self.pcloud)
        with mock.patch.object(turns, 'take', wraps=turns.take) as take:
            steps.step(self.context, pcloud)
            self.assertEqual(1, take.call_count)
            self.alice.call_json('PUT', f'{self.path}/a', {
                'host': {'state': 'disabled'}})
            steps.step(self.context, pcloud)
            self.assertEqual(1, take.call_count)


class SeenTest(test_draining.DrainingTestCase):
    """What tells whether a worker looks."""

    def seen(self):
        return self.alice.get_json('/os-pcloud')['pcloud_api']['worker_seen']

    def forget(self):
        """Have no worker ever have looked."""
        self.aggregate(names.JOURNAL).update_metadata({names.WORKER: None})

    def without_server(self, drain):
        """Return what keeps a whole drain from going on."""
        return [each for each in drain['blockers'] if not each['server']]

    def test_moment(self):
        self.forget()
        self.assertIsNone(self.seen())
        # The first look of an hour is noted in any case.
        now = timeutils.utcnow().replace(minute=0, second=1, microsecond=0)
        for delta, noted in ((0, 0), (59, 0), (61, 61), (99, 61), (3600, 3600),
                             (0, 3600), (-1, -1)):
            self.at(now + datetime.timedelta(seconds=delta))
            self.work()
            self.assertEqual(
                f'{(now + datetime.timedelta(seconds=noted)).isoformat()}Z',
                self.seen())
        self.assertEqual([], self.kinds())

    def test_first_row_of_the_journal(self):
        self.aggregate(names.JOURNAL).destroy()
        self.work()
        self.assertIsNotNone(self.seen())
        self.assertEqual('journal', self.aggregate(
            names.JOURNAL).metadata['pcloud:type'])

    def test_several_that_note_at_once(self):
        self.forget()
        threads = [threading.Thread(target=journal.note_look, args=(
            nova_context.get_admin_context(), looks.Look(number).text()))
            for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertIn(looks.Look.read(journal.look(self.context)).at,
                      range(4))

    def test_no_scheduler_is_told(self):
        self.forget()
        with mock.patch.object(
                query.SchedulerQueryClient, 'update_aggregates') as told:
            self.work()
        self.assertIsNotNone(self.seen())
        told.assert_not_called()

    def test_value_that_is_not_right(self):
        self.aggregate(names.JOURNAL).update_metadata(
            {names.WORKER: 'yesterday'})
        self.assertIsNone(self.seen())
        self.assertEqual(['value-not-valid'], self.kinds())
        self.work()
        self.assertEqual([], self.kinds())

    def test_drain_that_no_worker_looks_at(self):
        for release in False, True:
            self.assertEqual([], self.drain(release=release)['drain'][
                'blockers'])
        self.at(timeutils.utcnow() + datetime.timedelta(seconds=301))
        tried = self.drain('b', move='live', dry_run=True)['drain']
        drained = self.drain('b', move='live')['drain']
        for drain in (tried, drained, self.get('b')['drain'],
                      self.get('a')['drain'], *(
                          each['drain'] for each in self.alice.get_json(
                              self.path)['hosts'])):
            blocker, = self.without_server(drain)
            self.assertEqual('no_worker', blocker['rule'])
            self.assertIn('no worker has looked since', blocker['reason'])
            self.assertIsNotNone(blocker['since'])
        self.forget()
        blocker, = self.without_server(self.get()['drain'])
        self.assertIn('no worker has looked, so', blocker['reason'])
        self.assertEqual(self.get()['drain']['since'], blocker['since'])
        self.assertIn('a', self.names())
        self.work()
        self.assertEqual([], self.get('b')['drain']['blockers'])
        self.assertNotIn('a', self.names())

    def test_it_costs_hosts_without_a_drain_nothing(self):
        def look():
            self.get()

        before = counting.statements(look)
        self.drain('b')
        self.assertEqual(before, counting.statements(look))
