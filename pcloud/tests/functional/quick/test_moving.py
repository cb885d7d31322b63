# SPDX-License-Identifier: Apache-2.0

"""Servers that Nova moves from drained hosts, inside the Pcloud alone."""

import datetime
from unittest import mock

from nova import objects
from oslo_utils import timeutils

from pcloud.api.policies import hosts
from pcloud.backend.calls import server_calls
from pcloud.tests.functional.quick import test_draining


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
        # One look: between two of them a server may have moved.
        its = self.host_of(server)
        host, = (name for name, real in self.real.items() if real == its)
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
        # A server that has arrived is let go of by its old host afterwards.
        self.wait_until(lambda: self.assertEqual(
            [], self.get()['drain']['remaining']))
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
        with self.forbid(hosts.MOVE):
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
