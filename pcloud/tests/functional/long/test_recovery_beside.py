# SPDX-License-Identifier: Apache-2.0

"""Recoveries beside whatever else goes on in a Pcloud, and beside others."""

from unittest import mock

from nova.compute import manager as compute
from nova import exception as nova_exception

from pcloud.backend.cells import past_moves
from pcloud.moving import asking
from pcloud.rules.moving import recovery
from pcloud.tests.functional.long import test_recoveries
from pcloud.tests.support import base

# As Masakari asks.
_MASAKARI = '2.53'
# What Nova answers while a server is busy.
BUSY = nova_exception.InstanceInvalidState(
    instance_uuid='x', attr='task_state', state='x', method='x')


class BesideTestCase(test_recoveries.RecoveryTestCase):
    """A Pcloud with the hosts a, b and c, which take servers."""

    hosts = {f'node-{number}': 'az1' for number in range(1, 6)}
    # Hosts come back, or are out of the pool for a while.
    own_cloud = True

    def furnish(self):
        super().furnish()
        self.limit(5)
        self.real['c'] = self.add_host(self.alice, self.pcloud, 'c', 'gpu')
        self.only('a', 'b', 'c')

    def start_on(self, name, on_disk=False, **more):
        server = super().start_on(name, on_disk, **more)
        self.only('a', 'b', 'c')
        return server

    def states(self):
        """Return the states of the recoveries, by host."""
        found = {each['name']: each.get('recovery') for each in
                 self.alice.get_json(self.path)['hosts']}
        return {name: its['state'] for name, its in found.items() if its}

    def nova_aggregate(self):
        """Return Nova's aggregate of the Pcloud."""
        found, = (each for each in self.admin.get_json(
            '/os-aggregates')['aggregates']
            if each['name'] == f'Pcloud:{self.pcloud}')
        return found

    def assert_inside(self):
        """Assert that all servers are on hosts of the Pcloud, and no fault."""
        self.work()
        self.assertLessEqual(
            set(map(self.host_of, self.alice.get_servers())),
            set(self.nova_aggregate()['hosts']))
        self.assertEqual([], self.kinds())


class FencedRackTest(BesideTestCase):
    """A script fences the hosts of a rack, one after the other."""

    def test_held_and_released(self):
        servers = {name: self.start_on(name) for name in ('a', 'b', 'c')}
        self.real['d'] = self.add_host(self.alice, self.pcloud, 'd', 'gpu')
        self.fail('a', 'b', 'c')
        held, = (name for name, state in self.states().items()
                 if state == recovery.HELD)
        self.assertEqual({'a', 'b', 'c'}, self.states().keys())
        begun = [server for name, server in servers.items() if name != held]
        for server in begun:
            self.evacuated(server, 'd')
        self.later(seconds=60)
        self.work()
        self.assertEqual(recovery.HELD, self.states()[held])
        self.assertEqual(self.real[held], self.host_of(servers[held]))
        self.fence(held)
        self.work()
        self.evacuated(servers[held], 'd')
        self.assert_inside()

    def test_switch_that_is_away(self):
        """All hosts are down, and nobody has fenced one: nothing happens."""
        servers = [self.start_on(name) for name in ('a', 'b')]
        for name in ('a', 'b', 'c'):
            self.computes[self.real[name]].stop()
        self.later(seconds=3600)
        before = self.dump()
        self.work()
        self.assertEqual(before, self.dump())
        self.assertEqual([[], []], list(map(self.migrations, servers)))


class TwoHostsTest(BesideTestCase):

    def test_in_place(self):
        servers = [self.start_on(name) for name in ('a', 'b')]
        self.fail('a', 'b')
        for server in servers:
            self.evacuated(server, 'c')
        self.work()
        self.assertEqual({'a': 'done', 'b': 'done'}, self.states())
        for name in ('a', 'b'):
            self.come_back(name)

        def are_back():
            self.work()
            self.assertEqual({}, self.states())

        self.wait_until(are_back)
        self.assertEqual(dict.fromkeys('abc', 'enabled'), self.names())
        self.assert_inside()

    def test_replaced_by_different_hosts(self):
        self.wish('replace')
        servers = [self.start_on(name) for name in ('a', 'b')]
        self.fail('a', 'b')
        others = {self.recovery_of(name)['replacement']
                  for name in ('a', 'b')}
        self.assertEqual(2, len(others))
        self.assertEqual(3, self.in_use())
        for server in servers:
            self.ends(server, 'done')
        self.assert_inside()


class DrainTest(BesideTestCase):

    def queued(self, server):
        """Have a live migration of a server wait for its turn on a host."""
        with mock.patch.object(compute.ComputeManager, '_do_live_migration',
                               side_effect=lambda *given, **more: None):
            self.only('a')
            self.drain('a', move='live')
            self.put('b', 'enabled')
            self.work()
            self.wait_until(lambda: self.assertEqual(
                ['queued'], self.migrations(server)))

    def test_migrations_that_have_not_begun(self):
        """The host that fails has not begun to move its servers."""
        server = self.start_on('a')
        self.queued(server)
        self.fail()
        self.assertEqual([], past_moves.given_up(
            self.context, [self.real['a']]))
        self.arrives(server, 'b')
        self.wait_until(lambda: self.assertEqual(
            ['error', 'done'], self.migrations(server)))
        self.assert_inside()

    def test_migration_that_has_begun(self):
        """Nobody knows where the guest is: a person has to look."""
        server = self.start_on('a')
        self.queued(server)
        migration, = self.moves(server)
        with self.in_cell():
            migration.status = 'running'
            migration.save()
        self.fail()
        self.assertEqual({server['id']: 'migration'}, self.stays())
        self.assertEqual(['running'], self.migrations(server))
        # The person has looked.
        self.act(server, {'os-resetState': {'state': 'active'}})
        self.work()
        self.arrives(server, 'b')
        self.wait_until(lambda: self.assertEqual(
            ['error', 'done'], self.migrations(server)))
        self.assert_inside()


class RebalanceTest(BesideTestCase):
    """A rebalance is under way when a host fails.

    The small server goes from b to c, and then the large one from a to b.
    """

    hosts = {f'node-{number}': 'az1' for number in range(1, 7)}

    def furnish(self):
        super().furnish()
        for name, memory_mb in (('tiny', 512), ('small', 2048),
                                ('middle', 4096), ('large', 6144)):
            self.make_flavor(name, memory_mb=memory_mb)

    def setUp(self):
        super().setUp()
        self.rebalance = f'/os-pclouds/{self.pcloud}/rebalance'
        self.large = self.start_on('a', flavorRef='large')
        self.small = self.start_on('b', flavorRef='small')
        self.tiny = self.locked_on('b', 'tiny')
        self.middle = self.locked_on('c', 'middle')

    def locked_on(self, name, flavor):
        """Start a server on a host that no rebalance moves."""
        server = self.start_on(name, flavorRef=flavor)
        self.act(server, {'lock': None})
        return server

    def plan(self):
        return self.alice.get_json(
            f'{self.rebalance}?goal=free_hosts')['rebalance']

    def begin(self):
        """Begin the rebalance, and have a worker look."""
        plan = self.plan()
        self.assertEqual(
            [(self.small['id'], 'b', 'c'), (self.large['id'], 'a', 'b')],
            [(each['server'], each['from'], each['to'])
             for each in plan['moves']])
        answer = self.alice.call('POST', self.rebalance, {'rebalance': {
            'valid_for': plan['valid_for'], 'goal': 'free_hosts'}})
        self.assertEqual(202, answer.status_code, answer.text)
        self.work()

    def begin_later(self):
        """Begin the rebalance, whose first server is busy at the moment."""
        with mock.patch.object(asking, 'refusal', return_value=BUSY):
            self.begin()

    def assert_stopped(self, name):
        """Assert that the rebalance has ended for a host that has failed."""
        plan = self.plan()
        self.assertEqual([], plan['under_way'])
        self.assertIn(f'host {name} takes', plan['stopped']['reason'])
        self.assertEqual([], self.migrations(self.large))
        self.assertEqual('a', self.name_of(self.large))

    def test_source_of_a_move_that_has_not_begun(self):
        with mock.patch.object(compute.ComputeManager, '_do_live_migration',
                               side_effect=lambda *given, **more: None):
            self.begin()
            self.wait_until(lambda: self.assertEqual(
                ['queued'], self.migrations(self.small)))
        self.fail('b')
        self.arrives(self.small, 'c')
        self.wait_until(lambda: self.assertEqual(
            ['error', 'done'], self.migrations(self.small)))
        self.ends(self.tiny, 'done')
        self.assert_stopped('b')
        self.assert_inside()

    def test_target(self):
        """The recovery has the room that the rebalance has not taken."""
        self.begin_later()
        self.fail('c')
        self.evacuated(self.middle)
        self.assert_stopped('c')
        self.assertEqual([], self.migrations(self.small))
        self.assert_inside()

    def test_host_that_has_a_later_turn(self):
        """What has moved stays moved; the recovery finds what room is left."""
        self.begin_later()
        with mock.patch.object(asking, 'refusal', return_value=BUSY):
            self.work()
        self.fail('a')
        self.assertEqual({self.large['id']: 'no_room'}, self.stays())
        self.assert_stopped('a')
        # The owner makes room, and the next pass finds the room.
        self.admin.delete_server(self.small['id'])
        self._wait_until_deleted(self.small)
        self.work()
        self.evacuated(self.large)
        self.assert_inside()

    def test_other_host(self):
        """Both go on, each with its own servers."""
        self.limit(6)
        self.real['d'] = self.add_host(self.alice, self.pcloud, 'd', 'gpu')
        self.only('d')
        beside = self.boot(self.alice, {'pcloud': self.pcloud},
                           flavorRef='tiny', **test_recoveries.on_volume())
        self.act(beside, {'lock': None})
        # Else the large server went there.
        self.only('a', 'b', 'c')
        self.begin_later()
        self.fail('d')
        self.ends(beside, 'done')

        def is_done():
            self.work()
            self.assertEqual([], self.plan()['under_way'])

        self.wait_until(is_done)
        self.assertIsNone(self.plan()['stopped'])
        self.assertEqual(['c', 'b'], [
            self.name_of(each) for each in (self.small, self.large)])
        self.assert_inside()


class GrowthTest(BesideTestCase):

    wished = 'replace'

    def test_launch_that_grows_the_pcloud(self):
        """A recovery and a launch each get a host."""
        self.admin.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.ALICE}', {
                'policy': {'default_pcloud': {
                    'pcloud': self.pcloud, 'mode': 'grow',
                    'host_flavor': 'gpu', 'max_hosts': 5}}})
        server = self.start_on('a')
        self.only('a')
        self.fail()
        # The host that stands in takes the launch; no host is lost.
        for _ in range(3):
            self.boot(self.alice, None, flavorRef='2')
        self.ends(server, 'done')
        self.assert_inside()


class MasakariTest(BesideTestCase):
    """What Masakari's engine asks of Nova, while Pcloud does nothing."""

    wished = 'off'

    def ask(self, server, host=None):
        with mock.patch.object(self.admin, 'microversion', _MASAKARI):
            return self.admin.call('POST', f'/servers/{server["id"]}/action', {
                'evacuate': {'host': host} if host else {}})

    def test_auto(self):
        server = self.start_on('a', on_disk=True)
        self.computes[self.real['a']].stop()
        self.fence()
        self.assertEqual(200, self.ask(server).status_code)
        self.ends(server, 'done')
        self.assert_inside()

    def test_reserved_host_in_the_aggregate(self):
        server = self.start_on('a', on_disk=True)
        self.fence()
        foreign, = set(self.hosts) - set(self.real.values()) - {
            self.free_host()}
        added = self.admin.call(
            'POST', f'/os-aggregates/{self.nova_aggregate()["id"]}/action',
            {'add_host': {'host': foreign}})
        self.assertEqual(200, added.status_code, added.text)
        self.assertIn('host-without-state', self.kinds())
        self.only('a')
        refused = self.ask(server, foreign)
        self.assertEqual(200, refused.status_code)
        self.ends(server, 'error')
        self.assertEqual(self.real['a'], self.host_of(server))

    def free_host(self):
        """Return a host of the pool that nobody touches."""
        return max(set(self.hosts) - set(self.real.values()))
