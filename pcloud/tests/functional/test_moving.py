# SPDX-License-Identifier: Apache-2.0

"""Servers that Nova moves from drained hosts, inside the Pcloud alone."""

import datetime
import threading
from unittest import mock

from nova.compute import power_state
from nova import exception as nova_exception
from nova import objects
from nova.objects import fields
from oslo_utils import timeutils

from pcloud.api.policies import hosts as policies
from pcloud.backend import server_calls
from pcloud import names
from pcloud.rules import moving
from pcloud.rules import turns
from pcloud.tests import counting
from pcloud.tests.functional import base
from pcloud.tests.functional import outages
from pcloud.tests.functional import test_draining

GROUPS = '2.64'


class MovingTestCase(test_draining.DrainingTestCase):
    """A Pcloud with the hosts a, b and c; only a takes servers."""

    def furnish(self):
        super().furnish()
        self.real['c'] = self.add_host(
            self.alice, self.pcloud, 'c', 'gpu')
        self.only('a')

    def only(self, *open_hosts):
        """Enable some hosts, and disable the others."""
        for name in self.real:
            self.put(name, 'enabled' if name in open_hosts else 'disabled')

    def start(self, hint=None, user=None):
        """Start a server on a host that takes servers."""
        return self.boot(user or self.alice, hint or {'pcloud': self.pcloud})

    def name_of(self, server):
        """Return the owner's name of the host of a server."""
        host, = (name for name, real in self.real.items()
                 if real == self.host_of(server))
        return host

    def drain(self, name='a', **drain):
        """Drain a host, have a worker look, and return what was answered."""
        answer = super().drain(name, **drain)
        self.work()
        return answer

    def arrives(self, server, name, status='ACTIVE'):
        """Wait until a server is on a host."""
        return self.wait_for(server, status=status, **{
            'OS-EXT-SRV-ATTR:host': self.real[name]})

    def migrations(self, server):
        """Return the statuses of the migrations of a server, oldest first."""
        return [each.status for each in self.moves(server)]

    def ends(self, server, status):
        """Wait until the only migration of a server has ended."""
        # The server has arrived a moment before.
        self.wait_until(lambda: self.assertEqual(
            [status], self.migrations(server)))

    def moves(self, server):
        with self.in_cell() as context:
            found = objects.MigrationList.get_by_filters(
                context, {'instance_uuid': server['id']})
        return sorted(found, key=lambda each: each.id)

    def in_cell(self):
        return test_draining.nova_context.target_cell(
            self.context, self.cell_mappings['cell1'])

    def later(self, **delta):
        """Set the clock forward."""
        self.at(timeutils.utcnow() + datetime.timedelta(**delta))


class LiveTest(MovingTestCase):

    def test_servers_move_and_the_host_leaves(self):
        servers = [self.start() for _ in range(2)]
        self.only('a', 'b')
        shown = self.drain(move='live', release=True)['drain']
        self.assertEqual(
            ('live', {server['id'] for server in servers}, []),
            (shown['move'], set(shown['remaining']), shown['blockers']))
        for server in servers:
            self.arrives(server, 'b')
        self.assertEqual([], self.get()['drain']['remaining'])
        self.work()
        self.assertEqual({'b', 'c'}, set(self.names()))
        self.assertEqual([], self.kinds())
        for server in servers:
            self.ends(server, 'completed')

    def test_few_at_the_same_time(self):
        self.flags(drain_parallel=1, group='pcloud')
        servers = [self.start() for _ in range(2)]
        self.only('a', 'b')
        with mock.patch.object(server_calls, 'move_live') as ask:
            self.drain(move='live')
        self.assertEqual(1, ask.call_count)
        self.drain(move='live')
        self.wait_until(lambda: self.assertEqual(
            1, len(self.get()['drain']['remaining'])))
        self.wait_until(self.step_until_gone)
        self.assertEqual({'b'}, set(map(self.name_of, servers)))

    def step_until_gone(self):
        self.work()
        self.assertEqual([], self.get()['drain']['remaining'])

    def test_server_under_way_counts(self):
        self.flags(drain_parallel=1, group='pcloud')
        servers = [self.start() for _ in range(2)]
        self.only('a', 'b')
        with self.in_cell() as context:
            objects.Migration(
                context, instance_uuid=servers[0]['id'],
                migration_type='live-migration', status='running',
                source_compute=self.real['a'],
                dest_compute=self.real['b']).create()
        self.drain(move='live')
        self.work()
        self.assertEqual({servers[0]['id']: 'migration'}, self.blockers())
        self.assertEqual([], self.migrations(servers[1]))

    def test_stopped_server_stays(self):
        server = self.start()
        self.act(server, {'os-stop': None})
        self.wait_for(server, status='SHUTOFF')
        self.only('a', 'b')
        self.drain(move='live')
        self.assertEqual({server['id']: 'not_migratable'}, self.blockers())

    def test_without_moving_nothing_moves(self):
        server = self.start()
        self.only('a', 'b')
        self.drain(move='none')
        self.work()
        self.assertEqual([], self.migrations(server))

    def test_server_that_prefers_the_pcloud(self):
        server = self.start({'pcloud_prefer': self.pcloud})
        self.only('a', 'b')
        self.drain(move='live')
        self.arrives(server, 'b')
        self.put('b', 'enabled')
        self.only('b')
        self.drain('b', move='live')
        self.assertEqual({server['id']: 'no_room'}, self.blockers('b'))
        self.assertEqual('b', self.name_of(server))

    def test_user_who_may_not_move(self):
        self.start()
        before = self.dump()
        with self.forbid(policies.MOVE):
            answer = self.put('a', move='live')
        self.assertEqual(403, answer.status_code, answer.text)
        self.assertEqual(before, self.dump())

    def test_deadline_that_has_passed(self):
        server = self.start()
        now = timeutils.utcnow().replace(microsecond=0)
        self.drain(move='live', deadline=(
            f'{(now + test_draining.HOUR).isoformat()}Z'))
        self.assertEqual({server['id']: 'no_room'}, self.blockers())
        # Services that report meanwhile have to be up afterwards.
        self.at(now + test_draining.HOUR)
        self.put('b', 'enabled')
        self.work()
        self.assertEqual({}, self.blockers())
        self.assertEqual([], self.migrations(server))

    def test_calls_move_nothing(self):
        server = self.start()
        self.only('a', 'b')
        self.put('a', move='live')
        self.put('c', 'disabled')
        self.assertEqual({}, self.blockers())
        self.assertEqual([], self.migrations(server))
        self.work()
        self.arrives(server, 'b')

    def test_looking_changes_nothing(self):
        self.start()
        self.drain(move='live')
        self.only('b')
        self.drain(move='live', dry_run=True)
        before = self.dump()
        self.get()
        self.alice.get_json(self.path)
        self.assertEqual(before, self.dump())


class ColdTest(MovingTestCase):

    def setUp(self):
        super().setUp()
        self.server = self.start()
        self.act(self.server, {'os-stop': None})
        self.wait_for(self.server, status='SHUTOFF')
        self.only('a', 'b')

    def test_pcloud_confirms_what_pcloud_began(self):
        self.drain(move='any', release=True)
        self.arrives(self.server, 'b', 'VERIFY_RESIZE')
        self.assertEqual({self.server['id']: 'resize_not_confirmed'},
                         self.blockers())
        self.work()
        self.arrives(self.server, 'b', 'SHUTOFF')

        def released():
            self.work()
            self.assertEqual({'b', 'c'}, set(self.names()))

        self.wait_until(released)
        self.ends(self.server, 'confirmed')
        self.assertEqual([], self.kinds())

    def test_a_users_migration_is_not_confirmed(self):
        self.act(self.server, {'migrate': None})
        self.arrives(self.server, 'b', 'VERIFY_RESIZE')
        self.drain(move='any')
        self.work()
        self.assertEqual(['finished'], self.migrations(self.server))
        self.assertEqual({self.server['id']: 'resize_not_confirmed'},
                         self.blockers())

    def test_a_users_migration_after_one_of_pcloud(self):
        self.drain(move='any')
        self.arrives(self.server, 'b', 'VERIFY_RESIZE')
        self.work()
        self.arrives(self.server, 'b', 'SHUTOFF')
        self.only('c')
        self.act(self.server, {'migrate': None})
        self.arrives(self.server, 'c', 'VERIFY_RESIZE')
        self.drain('b', move='any')
        self.work()
        self.assertEqual('VERIFY_RESIZE', self.admin.get_server(
            self.server['id'])['status'])


class ObstacleTest(MovingTestCase):
    """What keeps servers from being moved."""

    def test_no_room(self):
        server = self.start()
        self.drain(move='live')
        self.assertEqual({server['id']: 'no_room'}, self.blockers())
        self.put('b', 'enabled')
        self.work()
        self.arrives(server, 'b')

    def test_project_that_is_no_tenant_any_more(self):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.CAROL}')
        carol = self.client_of('carol', base.CAROL)
        server = self.start(user=carol)
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/tenants/{base.CAROL}')
        self.only('a', 'b')
        self.drain(move='live')
        self.assertEqual({server['id']: 'placement'}, self.blockers())

    def test_server_without_power(self):
        server = self.start()
        instance = objects.Instance.get_by_uuid(self.context, server['id'])
        instance.power_state = power_state.NOSTATE
        instance.save()
        self.only('a', 'b')
        self.drain(move='live')
        self.assertEqual({server['id']: 'not_migratable'}, self.blockers())
        self.assertEqual([], self.migrations(server))
        instance.power_state = power_state.RUNNING
        instance.save()
        self.work()
        self.arrives(server, 'b')

    def test_flavor_of_another_project_that_nova_refuses(self):
        """The owner sees nothing of the flavor."""
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.CAROL}')
        flavor = self.make_flavor('secret', is_public=False)
        self.admin.call_json('POST', f'/flavors/{flavor}/action', {
            'addTenantAccess': {'tenant': base.CAROL}})
        server = self.boot(
            self.admin, {'pcloud': self.pcloud}, flavorRef=flavor)
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id'])
        spec.flavor.extra_specs = {'hw:cpu_policy': 'wrong'}
        spec.save()
        self.only('a', 'b')
        blocker, = self.drain(move='live')['drain']['blockers']
        self.assertEqual('not_migratable', blocker['rule'])
        self.assertNotIn('secret', blocker['reason'])

    def test_server_on_a_host_that_is_down(self):
        """Nova would refuse to move the server, or have nobody move it."""
        server = self.start()
        self.only('a', 'b')
        self.set_down(self.real['a'])
        self.drain(move='live')
        self.assertEqual({server['id']: 'not_migratable'}, self.blockers())
        self.assertEqual([], self.migrations(server))
        self.set_down(self.real['a'], False)
        self.work()
        self.arrives(server, 'b')

    def test_scheduler_that_finds_no_host(self):
        self.alice.microversion = GROUPS
        group = self.alice.post_server_groups(
            {'name': 'together', 'policy': 'affinity'})
        hint = {'pcloud': self.pcloud, 'group': group['id']}
        servers = [self.start(hint) for _ in range(2)]
        self.only('a', 'b')
        self.drain(move='live')
        self.wait_until(lambda: self.assertEqual(
            dict.fromkeys((each['id'] for each in servers), 'placement'),
            self.blockers()))
        self.work()
        self.assertEqual(['error'], self.migrations(servers[0]))
        self.later(seconds=61)
        self.work()
        self.wait_until(lambda: self.assertEqual(
            ['error'] * 2, self.migrations(servers[0])))
        self.assertEqual({'a'}, set(map(self.name_of, servers)))

    def test_migration_that_fails(self):
        server = self.start()
        self.only('a', 'b')
        with mock.patch.object(
                self.computes[self.real['a']].driver, 'live_migration',
                # As a hypervisor does whose guest stays where it is.
                side_effect=lambda context, instance, dest, post, recover,
                block=False, data=None: recover(
                    context, instance, dest, data)):
            self.drain(move='live')
            self.wait_until(lambda: self.assertEqual(
                {server['id']: 'migration'}, self.failed(server)))
        self.work()
        self.assertEqual(1, len(self.migrations(server)))
        self.later(seconds=61)
        self.work()
        self.arrives(server, 'b')

    def failed(self, server):
        self.assertIn(self.migrations(server), [['error'], ['failed']])
        return self.blockers()

    def test_no_ping_pong(self):
        server = self.start()
        self.only('a', 'b')
        self.drain('a', move='live')
        self.arrives(server, 'b')
        self.put('a', 'enabled')
        self.drain('b', move='live')
        self.arrives(server, 'a')
        self.only('a', 'b')
        self.drain('a', move='live')
        self.work()
        self.assertEqual({server['id']: 'migration'}, self.blockers())
        self.assertEqual(2, len(self.migrations(server)))
        self.later(hours=1)
        self.work()
        self.arrives(server, 'b')

    def test_locked(self):
        server = self.start()
        self.only('a', 'b')
        self.act(server, {'lock': None})
        self.drain(move='live')
        self.assertEqual({server['id']: 'locked'}, self.blockers())
        self.assertEqual([], self.migrations(server))


class TrialTest(MovingTestCase):

    def test_what_a_drain_would_do(self):
        server = self.start()
        self.only('a', 'b')
        before = self.dump()
        self.drain(dry_run=True)
        shown = self.drain(move='live', dry_run=True)
        self.assertEqual(before, self.dump())
        self.assertEqual('draining', shown['state'])
        self.assertEqual([{'server': server['id'], 'host': 'b'}],
                         shown['drain']['moves'])
        self.assertEqual([], shown['drain']['blockers'])
        self.only('a')
        shown = self.drain(move='live', dry_run=True)
        self.assertEqual(([], ['no_room']), (
            shown['drain']['moves'],
            [each['rule'] for each in shown['drain']['blockers']]))

    def test_hosts_that_would_be_drained_together(self):
        self.start()
        self.only('a', 'b')
        before = self.dump()
        for others, rules in ((['c'], []), (['C', 'B'], ['no_room'])):
            shown = self.drain(
                move='live', dry_run=True, together_with=others)
            self.assertEqual(rules, [
                each['rule'] for each in shown['drain']['blockers']])
        self.assertEqual(before, self.dump())

    def test_hosts_of_a_trial_that_are_not_there(self):
        for status, wish in (
                (404, {'dry_run': True, 'together_with': ['nope']}),
                (400, {'dry_run': False, 'together_with': ['b']}),
                (400, {'together_with': ['b']}),
                (400, {'dry_run': True, 'together_with': 'b'}),
                (400, {'dry_run': True, 'together_with': ['b b']})):
            with self.subTest(wish=wish):
                answer = self.put('a', move='live', **wish)
                self.assertEqual(status, answer.status_code, answer.text)

    def test_hosts_that_are_drained_already(self):
        self.start()
        self.only('a', 'b')
        self.drain('b', move='live')
        shown = self.drain(move='live', dry_run=True)
        self.assertEqual(['no_room'], [
            each['rule'] for each in shown['drain']['blockers']])


class TurnTest(MovingTestCase):
    """One process at a time moves servers, and may die at any line."""

    def setUp(self):
        super().setUp()
        self.server = self.start()
        self.drain(move='live')
        self.put('b', 'enabled')
        self.assertEqual([], self.migrations(self.server))

    def test_turn_of_somebody_else(self):
        now = int(timeutils.utcnow_ts())
        self.set_metadata(**{
            names.MOVING_TURN: str(turns.Turn('0' * 8, now + 60))})
        self.work()
        self.assertEqual([], self.migrations(self.server))
        self.later(seconds=62)
        self.work()
        self.arrives(self.server, 'b')
        self.assertNotIn(names.MOVING_TURN, self.metadata())

    def test_several_at_once(self):
        asked = []
        with mock.patch.object(server_calls, 'move_live',
                               lambda *arguments: asked.append(arguments)):
            threads = [threading.Thread(target=self.work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        # Who comes after the turn of another may ask Nova again.
        self.assertIn(len(asked), range(1, 5))
        self.work()
        self.arrives(self.server, 'b')
        self.ends(self.server, 'completed')

    def test_two_that_ask_nova_for_the_same(self):
        refused = []

        def ask():
            try:
                server_calls.move_live(
                    self.context, self.server['id'], None)
            except nova_exception.NovaException as error:
                refused.append(error)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.arrives(self.server, 'b')
        self.assertEqual(1, len(refused))
        self.ends(self.server, 'completed')

    def test_death_before_nova_is_asked(self):
        with mock.patch.object(server_calls, 'move_live',
                               side_effect=KeyboardInterrupt):
            self.assertRaises(KeyboardInterrupt, self.work)
        self.work()
        self.arrives(self.server, 'b')

    def test_broker_that_is_away(self):
        with outages.SilentBroker():
            self.work()
        self.assertIsNone(self.admin.get_server(
            self.server['id'])['OS-EXT-STS:task_state'])
        self.work()
        self.arrives(self.server, 'b')

    def test_placement_that_is_away(self):
        with outages.SilentPlacement(
                self.placement.fixture._client):
            self.work()
            self.assertEqual({}, self.blockers())
        self.assertEqual([], self.migrations(self.server))

    def test_neutron_that_answers_with_an_error(self):
        """Calls that change the Pcloud are answered, and a worker goes on."""
        with outages.FailingNeutron(
                self.neutron, server_calls._api().network_api):
            self.assertTrue(self.work())
            self.assertEqual(200, self.put('c', 'disabled').status_code)
        self.assertEqual([], self.migrations(self.server))
        self.work()
        self.arrives(self.server, 'b')

    def test_launch_at_the_same_moment(self):
        other = self.start()
        self.work()
        self.arrives(self.server, 'b')
        self.assertEqual('b', self.name_of(other))


class AtOnceTest(MovingTestCase):

    def test_drains_a_removal_and_a_launch(self):
        servers = [self.start() for _ in range(2)]
        self.only('a', 'b')
        answers = []
        body = {'server': self._build_server(flavor_id='1', networks='none'),
                'os:scheduler_hints': {'pcloud': self.pcloud}}
        threads = [threading.Thread(target=lambda call=call: answers.append(
            call().status_code)) for call in (
            lambda: self.put('a', move='live', release=True),
            lambda: self.put('b', move='live'),
            lambda: self.alice.call('DELETE', f'{self.path}/a'),
            lambda: self.put('c', 'enabled'),
            lambda: self.alice.call('POST', '/servers', body))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(answers), {200, 202, 204, 409})

        def given_back():
            # Who was first on its way to b may not be moved again for an hour.
            self.put('c', 'enabled')
            self.work()
            self.assertNotIn('a', self.names())

        self.wait_until(given_back)
        for server in servers:
            self.assertIn(self.name_of(self.wait_for(
                server, status='ACTIVE')), ('b', 'c'))
        for server in self.admin.get_servers(search_opts={'all_tenants': 1}):
            self.assertIn(server['OS-EXT-SRV-ATTR:host'],
                          (None, self.real['b'], self.real['c']))
        self.wait_until(lambda: self.assertEqual([], self.kinds()))


class NoSchedulerTest(MovingTestCase):

    own_cloud = True

    def test_server_is_left_alone(self):
        server = self.start()
        self.only('a', 'b')
        self.scheduler.stop()
        with mock.patch.object(server_calls, '_PATIENCE', 1):
            self.drain(move='live')
        self.assertEqual(('ACTIVE', None), tuple(
            self.admin.get_server(server['id'])[key]
            for key in ('status', 'OS-EXT-STS:task_state')))
        self.assertEqual([], self.migrations(server))
        self.scheduler.start()
        self.work()
        self.arrives(server, 'b')


class CostTest(MovingTestCase):

    def test_looking(self):
        """Looking costs the same for one server and for several."""
        def look():
            self.get()
            self.alice.get_json(self.path)

        self.start()
        self.drain(move='live')
        one = counting.least(look)
        self.only('a', 'b')
        for _ in range(3):
            self.start()
        self.only()
        self.drain('a', move='live')
        self.drain('b', move='live')
        self.assertEqual(one, counting.least(look))

    def test_history_is_bounded(self):
        self.assertEqual(86400, moving.HISTORY)
        self.assertIn('migration', fields.MigrationType.ALL)
