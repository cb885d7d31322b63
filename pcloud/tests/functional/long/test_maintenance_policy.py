# SPDX-License-Identifier: Apache-2.0

"""What Pclouds do when hosts of theirs are going to be in maintenance."""

from unittest import mock

from pcloud.moving import maintenance_reactions
from pcloud.objects.changing_hands import allocation
from pcloud.tests.functional.quick import test_maintenance_policy

FAR = test_maintenance_policy.FAR
shown = test_maintenance_policy.shown


class LeavingTest(test_maintenance_policy.PolicyTestCase):
    """Two hosts have joined for two maintenances; the limit allows two."""

    hosts = test_maintenance_policy.PolicyTestCase.hosts | {'node-4': 'az1'}

    def setUp(self):
        super().setUp()
        self.choose('replace')
        self.limit(2)
        self.own = dict(self.real)
        for name in self.own:
            self.announce(name=name)
        self.joined = {name: self.replacement(name) for name in self.own}
        for name in self.joined.values():
            self.real[name] = self.real_of(name)
        # The servers are started before the test says when they leave.
        self.servers = {name: self.start_on(name)
                        for name in self.joined.values()}
        self.assertEqual({'a', 'b', *self.joined.values()},
                         set(self.names()))
        self.assertEqual(2, self.in_use())

    def only(self, *open_hosts):
        """Open some of the hosts that have joined, and close the others."""
        for name in getattr(self, 'joined', {}).values():
            self.put(name, 'enabled' if not {'a', 'b'}.isdisjoint(open_hosts)
                     or name in open_hosts else 'disabled')
        if not hasattr(self, 'joined'):
            super().only(*open_hosts)

    def lock(self):
        for server in self.servers.values():
            self.act(server, {'lock': None})

    def stop(self):
        for server in self.servers.values():
            self.act(server, {'os-stop': None})
            self.wait_for(server, status='SHUTOFF')

    def check_leaving(self, blocker):
        """The old hosts are back: who stood in counts, and takes nothing."""
        self.assertEqual((4, 4), (self.in_use(), self.pcloud_shown()['units']))
        self.assertEqual(4, self.alice.get_json(
            '/os-pclouds')['pclouds'][0]['units'])
        for name, server in self.servers.items():
            host = self.get(name)
            self.assertEqual(
                ('draining', True, [server['id']]),
                (host['state'], host['drain']['release'],
                 host['drain']['remaining']))
            self.assertEqual({server['id']: blocker}, self.blockers(name))
            before = self.of_hosts()
            for state in 'enabled', 'disabled':
                self.assertIn('has stood in', self.refused(name, state))
            for drain in ({'move': 'live'}, {'move': 'live', 'release': False},
                          {'release': True}, {
                              'move': 'any', 'release': True,
                              'deadline': FAR}):
                self.assertIn('has stood in', self.refused(
                    name, 'draining', **drain))
            self.assertEqual(before, self.of_hosts())
        answer = self.alice.call('POST', self.path, {
            'host': {'name': 'c', 'host_flavor': 'gpu'}})
        self.assertIn(answer.status_code, (403, 409), answer.text)
        self.assertEqual({'a': 'enabled', 'b': 'enabled'} | dict.fromkeys(
            self.joined.values(), 'draining'), self.names())
        # What starts now starts on the hosts that are back.
        self.assertIn(self.name_of(self.start()), ('a', 'b'))
        self.assertEqual([], self.kinds())

    def gone(self):
        """Make passes until nobody is left who stood in."""
        def all_gone():
            self.work()
            self.assertEqual({'a', 'b'}, set(self.names()))

        self.wait_until(all_gone)
        self.assertEqual(2, self.in_use())
        self.assertEqual([], self.kinds())
        self.assertFalse([key for key in self.metadata() if key.startswith(
            ('pcloud:maintained', 'pcloud:replaces'))])

    def test_locked_servers(self):
        self.lock()
        for name in self.own:
            self.withdraw(name)
        self.check_leaving('locked')
        for server in self.servers.values():
            self.act(server, {'unlock': None})
        self.gone()
        for server in self.servers.values():
            self.assertIn(self.name_of(server), self.own)

    def test_stopped_servers(self):
        self.stop()
        for name in self.own:
            self.withdraw(name)
        self.check_leaving('not_migratable')
        first, second = self.servers.items()
        self._delete_server(second[1])
        # The owner may wish for more than the policy moves.
        self.drain(first[0], move='any', release=True)
        self.gone()
        self.assertIn(self.name_of(first[1]), self.own)

    def test_nobody_comes_by(self):
        """Counting and closing need no step after the withdrawal."""
        self.lock()
        with mock.patch.object(maintenance_reactions, '_attempt'):
            for name in self.own:
                self.withdraw(name)
        self.assertEqual(4, self.in_use())
        self.boot(self.alice, {'pcloud': self.pcloud}, expected='ERROR')
        for name in self.servers:
            self.assertEqual('draining', self.get(name)['state'])
            self.refused(name, 'enabled')

    def test_how_a_maintenance_ends(self):
        self.lock()
        name, server = self.joined['a'], self.servers[self.joined['a']]

        def put_off():
            self.announce(FAR)

        def another_policy():
            self.choose('stay')

        for end in put_off, another_policy:
            with mock.patch.object(maintenance_reactions, '_attempt'):
                end()
            self.assertGreater(self.in_use(), 2)
            self.assertEqual([server['id']], self.get(name)['drain'][
                'remaining'])
            self.refused(name, 'enabled')
            self.work()
            self.assertEqual('enabled', self.names()['a'])
            # The same host stands in again for a maintenance to come.
            self.choose('replace')
            self.announce()
            self.announce(name='b')
            self.assertEqual((2, 'enabled', name), (
                self.in_use(), self.names()[name], self.replacement()))
            self.assertEqual(4, len(self.names()))
            self.assertEqual([], self.kinds())

    def test_the_old_host_leaves(self):
        self.lock()
        self.put('a', 'disabled')
        self.assertEqual(204, self.alice.call(
            'DELETE', f'{self.path}/a').status_code)
        self.assertEqual((3, 2), (len(self.names()), self.in_use()))
        self.assertEqual('draining', self.names()[self.joined['a']])
        self.refused(self.joined['a'], 'enabled')
        self.withdraw('a')
        self.assertEqual('draining', self.names()[self.joined['a']])
        self.assertEqual([], self.kinds())

    def test_nova_takes_the_old_host_out(self):
        self.lock()
        self.put(self.joined['b'], 'disabled')
        self.aggregate(f'Pcloud:{self.pcloud}').delete_host(self.own['a'])
        self.assertEqual(2, self.in_use())
        self.assertEqual('enabled', self.names()[self.joined['a']])
        self.boot(self.alice, {'pcloud': self.pcloud}, expected='ERROR')
        with mock.patch.object(maintenance_reactions, '_attempt_to_send_away'):
            self.refused(self.joined['a'], 'enabled')
        self.work()
        self.assertEqual('draining', self.names()[self.joined['a']])

    def test_what_the_owner_wished_before(self):
        """No earlier wish keeps from leaving who has stood in."""
        self.stop()
        first, second = self.joined.values()
        self.put(first, 'disabled')
        self.drain(second, move='any', deadline=shown(self.soon))
        for name in self.own:
            self.withdraw(name)
        for name, move in (first, 'live'), (second, 'any'):
            drain = self.get(name)['drain']
            self.assertEqual((move, True, None), tuple(
                drain[key] for key in ('move', 'release', 'deadline')))

    def test_maintenance_of_who_stands_in(self):
        self.admin.call_json(
            'PUT', f'/os-pcloud-quotas/{self.alice.project_id}',
            {'quota': {'units': {'limit': 3}}})
        self.lock()
        name = self.joined['a']
        self.announce(name=name)
        self.assertEqual(('draining', 2), (self.names()[name], self.in_use()))
        self.withdraw('a')
        self.assertEqual(3, self.in_use())
        self.withdraw(name)
        self.work()
        self.assertEqual(('draining', 3), (self.names()[name], self.in_use()))
        self.assertTrue(self.get(name)['drain']['release'])
        self.announce(name=name)
        self.work()
        self.assertTrue(self.get(name)['drain']['release'])
        self.assertEqual([], self.kinds())

    def test_several_at_once(self):
        self.lock()
        with mock.patch.object(maintenance_reactions, '_attempt'):
            self.withdraw('a')
        self.work_at_once()
        self.assertEqual({'a': 'enabled', 'b': 'draining',
                          self.joined['a']: 'draining',
                          self.joined['b']: 'enabled'}, self.names())
        self.assertEqual(3, self.in_use())
        self.assertEqual([], self.kinds())

    def test_withdrawn_while_one_begins(self):
        """Nobody joins for a maintenance that was withdrawn meanwhile."""
        self.choose('stay')
        self.withdraw('a')
        self.withdraw('b')
        for server in self.servers.values():
            self._delete_server(server)
        self.gone()
        self.choose('replace')
        with mock.patch.object(maintenance_reactions, '_attempt'):
            self.announce()
        choose = allocation.choose

        def choose_late(*arguments):
            chosen = choose(*arguments)
            with mock.patch.object(maintenance_reactions, '_attempt'):
                self.withdraw()
            return chosen

        with mock.patch.object(allocation, 'choose', choose_late):
            self.work()
        self.assertEqual({'a': 'enabled', 'b': 'enabled'}, self.names())
