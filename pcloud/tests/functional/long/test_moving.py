# SPDX-License-Identifier: Apache-2.0

"""Servers that Nova moves from drained hosts, inside the Pcloud alone."""

import threading
from unittest import mock

from nova.compute import power_state
from nova.conductor import manager as conductor
from nova import exception as nova_exception
from nova import objects
from oslo_utils import timeutils

from pcloud.backend.calls import server_calls
from pcloud import names
from pcloud.rules import turns
from pcloud.tests.functional.quick import test_moving
from pcloud.tests.support import base
from pcloud.tests.support import outages

GROUPS = '2.64'


class ColdTest(test_moving.MovingTestCase):

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


class ObstacleTest(test_moving.MovingTestCase):
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

    def test_disks_that_hosts_neither_copy_nor_share(self):
        """A blocker, and no failure: the server runs on where it is."""
        server, other = self.start(), self.start()
        self.only('a', 'b')

        def check(context, instance, data, *devices):
            if instance.uuid == server['id']:
                raise nova_exception.InvalidSharedStorage(
                    path='node-1', reason='a local disk')
            return data

        source = self.computes[self.real['a']].driver
        with mock.patch.object(
                source, 'check_can_live_migrate_source', check):
            self.drain(move='live', release=True)
            self.wait_until(lambda: self.assertEqual(
                {server['id']: 'not_migratable'}, self.failed(server)))
            self.arrives(other, 'b')
            blocker, = self.get()['drain']['blockers']
            self.assertEqual('hosts_refuse', blocker['code'])
            self.work()
            self.assertEqual(['error'], self.migrations(server))
            self.arrives(server, 'a')
        self.assertEqual('draining', self.names()['a'])
        self.assertEqual([], self.kinds())
        self.later(seconds=61)
        self.work()
        self.arrives(server, 'b')

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


class NoSchedulerTest(test_moving.MovingTestCase):

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


class TurnTest(test_moving.MovingTestCase):
    """One process at a time moves servers, and may die at any line."""

    def setUp(self):
        super().setUp()
        self.server = self.start()
        self.drain(move='live')
        self.put('b', 'enabled')
        self.assertEqual([], self.migrations(self.server))

    def test_turn_of_somebody_else(self):
        now = int(timeutils.utcnow_ts())
        key = names.moving_key(self.pcloud)
        self.set_metadata(**{key: turns.Turn('0' * 8, now + 60).text()})
        self.work()
        self.assertEqual([], self.migrations(self.server))
        self.later(seconds=62)
        self.work()
        self.arrives(self.server, 'b')
        self.assertNotIn(key, self.aggregate(names.JOURNAL).metadata)

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


class KilledComputeTest(test_moving.MovingTestCase):
    """nova-compute is killed while the service prepares a migration.

    A hypervisor that runs real guests shows the same, and takes minutes.
    """

    # nova-compute is started again, with a service of its own.
    own_cloud = True

    def setUp(self):
        super().setUp()
        self.server = self.start()
        self.only('a', 'b')
        self.manager = self.computes[self.real['a']].manager

    def kill(self):
        """Have nova-compute of a end where the service prepares a move."""
        with mock.patch.object(
                type(self.manager), '_do_live_migration',
                side_effect=lambda *arguments, **more: None):
            self.drain(move='live')
            self.wait_until(lambda: self.assertEqual(
                ['queued'], self.migrations(self.server)))

    def start_again(self):
        real = self.real['a']
        self.computes[real] = self.restart_compute_service(
            self.computes[real])
        # Nova calls the server idle, and the migration stays.
        self.wait_for(self.server, status='ACTIVE')
        self.assertEqual(['queued'], self.migrations(self.server))

    def test_blocked_until_the_request_is_dead(self):
        self.kill()
        self.assertEqual({self.server['id']: 'migration'}, self.blockers())
        self.start_again()
        self.work()
        self.assertEqual({self.server['id']: 'migration'}, self.blockers())
        self.later(minutes=61)
        self.work()
        # The failure is known; there is a minute to wait.
        self.later(minutes=62)
        self.work()
        self.arrives(self.server, 'b')
        self.wait_until(lambda: self.assertEqual(
            ['error', 'completed'], self.migrations(self.server)))
        self.work()
        self.assertEqual([], self.get()['drain']['remaining'])
        self.assertEqual([], self.kinds())

    def test_of_somebody_else(self):
        """What an administrator has begun is not taken for dead."""
        with mock.patch.object(
                type(self.manager), '_do_live_migration',
                side_effect=lambda *arguments, **more: None):
            self.act(self.server, {'os-migrateLive': {
                'host': None, 'block_migration': 'auto'}})
            self.wait_until(lambda: self.assertEqual(
                ['queued'], self.migrations(self.server)))
        self.start_again()
        self.drain(move='live')
        self.later(minutes=61)
        self.work()
        self.assertEqual({self.server['id']: 'migration'}, self.blockers())
        self.assertEqual(['queued'], self.migrations(self.server))

    def test_conductor_that_dies(self):
        """Nova has recorded the move, and asks no host."""
        with mock.patch.object(
                conductor.ComputeTaskManager, '_live_migrate',
                self._record_alone):
            self.drain(move='live')
            self.wait_until(lambda: self.assertEqual(
                ['accepted'], self.migrations(self.server)))
        self.work()
        self.assertEqual({self.server['id']: 'migration'}, self.blockers())
        self.later(minutes=61)
        self.work()
        self.later(minutes=62)
        self.work()
        self.arrives(self.server, 'b')

    @staticmethod
    def _record_alone(manager, context, instance, *arguments, **more):
        objects.Migration(
            context.elevated(), instance_uuid=instance.uuid,
            migration_type='live-migration', status='accepted',
            source_compute=instance.host,
            source_node=instance.node).create()
