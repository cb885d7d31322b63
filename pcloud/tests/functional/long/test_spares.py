# SPDX-License-Identifier: Apache-2.0

"""Hosts that an owner keeps for the time when other hosts are away."""

from unittest import mock

import ddt
from nova import objects

from pcloud.audit import all_checks
from pcloud.backend.aggregates import pcloud_rows
from pcloud import exception
from pcloud.objects.changing_hands import stand_ins
from pcloud.objects import pclouds
from pcloud.rules.moving import maintenance_policies
from pcloud.tests.functional.quick import test_maintenance_policy
from pcloud.tests.support import counting


class SparesTestCase(test_maintenance_policy.PolicyTestCase):
    """A Pcloud with the hosts a and b; b is a spare, and a host is free."""

    def setUp(self):
        super().setUp()
        self.spare('b')

    def spare(self, name, expected=200):
        """Have a host be a spare; return the host."""
        answer = self.put(name, 'spare')
        self.assertEqual(expected, answer.status_code, answer.text)
        return answer.json().get('host')

    def spare_rows(self):
        """Return the service hosts that the journal has as spares."""
        return {key.removeprefix('pcloud:spare:') for key in self.metadata()
                if key.startswith('pcloud:spare:')}

    def kept(self):
        """Return all rows of the hosts but those of nodes."""
        return {key: value for key, value in self.of_hosts().items()
                if not key.startswith('pcloud:node:')}

    def start_on_a(self):
        """Start a server, which a alone takes."""
        return self.start()


class StateTest(SparesTestCase):

    def test_shown(self):
        self.assertEqual({'a': 'enabled', 'b': 'spare'}, self.names())
        self.assertEqual('spare', self.get('b')['state'])
        self.assertEqual('spare', self.spare('b')['state'])
        self.assertEqual({self.real['b']}, self.spare_rows())
        self.assertEqual('disabled', self.metadata()[self.state_key('b')])
        self.assertEqual((2, 2), (self.in_use(), self.pcloud_shown()['units']))
        self.assertEqual([], self.kinds())

    def test_it_takes_no_servers(self):
        self.put('a', 'disabled')
        self.boot(self.alice, {'pcloud': self.pcloud}, expected='ERROR')

    def test_other_states_end_it(self):
        for state in 'enabled', 'disabled', 'draining':
            self.spare('b')
            self.put('b', state)
            self.assertEqual(state, self.names()['b'])
            self.assertEqual(set(), self.spare_rows())
        self.spare('b')
        self.assertEqual({'state': 'spare'}, {
            key: value for key, value in self.get('b').items()
            if key in ('state', 'drain')})
        self.assertNotIn(self.key('b'), self.metadata())

    def test_host_with_servers(self):
        server = self.start_on_a()
        self.assertEqual([server['id']], self.spare('a')['instances'])
        self.work()
        self.assertEqual('a', self.name_of(server))

    def test_refused(self):
        self.assertEqual(404, self.put('b', 'spare', self.bob).status_code)
        self.assertEqual(404, self.put('x', 'spare').status_code)
        self.assertEqual(400, self.put('b', 'spare', move='none').status_code)
        self.assertEqual(400, self.put('b', 'Spare').status_code)
        before = self.dump()
        with self.forbid(test_maintenance_policy.policies.UPDATE):
            self.spare('a', 403)
        self.assertEqual(before, self.dump())

    def test_it_is_removed_as_a_disabled_host(self):
        self.assertEqual(204, self.alice.call(
            'DELETE', f'{self.path}/b').status_code)
        self.assertEqual(set(), self.spare_rows())
        self.assertEqual([], self.kinds())

    def test_it_is_no_goal_and_no_source_of_a_rebalance(self):
        server = self.start_on('b')
        self.spare('b')
        self.assertEqual('b', self.name_of(server))
        self.assertEqual([], self.alice.get_json(
            f'/os-pclouds/{self.pcloud}/rebalance?goal=free_hosts'
        )['rebalance']['moves'])

    def test_what_is_wrong_by_hand(self):
        self.set_metadata(**{self.state_key('b'): 'enabled'})
        self.assertEqual('enabled', self.names()['b'])
        self.assertIn('spare-not-ended', self.kinds())
        self.repair()
        self.assertEqual(set(), self.spare_rows())
        self.spare('b')
        self.set_metadata(**{f'pcloud:spare:{self.real["b"]}': 'yes'})
        self.assertEqual('disabled', self.names()['b'])
        self.assertEqual(['value-not-valid'], self.kinds())
        self.spare('b')
        self.assertEqual([], self.kinds())
        with self.in_cell() as context:
            objects.Service.get_by_compute_host(
                context, self.real['b']).destroy()
        objects.Aggregate.get_by_uuid(self.context, self.aggregate(
            f'Pcloud:{self.pcloud}').uuid).delete_host(self.real['b'])
        self.assertIn('spare-without-host', self.kinds())
        self.repair()
        self.assertNotIn('spare-without-host', self.kinds())

    def repair(self):
        for finding in all_checks.find(self.context, settle=0):
            if finding.repair is not None:
                finding.repair(self.context)


@ddt.ddt
class StandInTest(SparesTestCase):

    def setUp(self):
        super().setUp()
        self.choose('replace')

    def back(self):
        """Have a worker look until b is a spare again."""
        def is_back():
            self.work()
            self.assertEqual('spare', self.names()['b'])

        self.wait_until(is_back)

    def test_it_comes_first_and_comes_back(self):
        before = self.kept()
        server = self.start_on_a()
        self.announce()
        self.assertEqual('b', self.replacement())
        self.assertEqual({'a': 'draining', 'b': 'enabled'}, self.names())
        self.assertEqual(set(), self.spare_rows())
        # It is the owner's, and has counted always.
        self.assertEqual((2, 2), (self.in_use(), self.pcloud_shown()['units']))
        self.assertEqual(2, self.alice.get_json(
            '/os-pclouds')['pclouds'][0]['units'])
        self.arrives(server, 'b')
        self.ends(server, 'completed')
        self.work()
        self.assertEqual([], self.kinds())
        self.withdraw()
        self.back()
        self.assertEqual({'a': 'enabled', 'b': 'spare'}, self.names())
        self.assertEqual('a', self.name_of(server))
        self.assertEqual(before.keys(), self.kept().keys())
        self.assertEqual((2, 2), (self.in_use(), self.pcloud_shown()['units']))
        self.assertEqual([], self.kinds())

    def test_it_is_closed_until_it_is_empty(self):
        server = self.start_on_a()
        self.announce()
        self.arrives(server, 'b')
        self.ends(server, 'completed')
        self.act(server, {'lock': None})
        self.withdraw()
        self.work()
        self.assertEqual({'a': 'enabled', 'b': 'draining'}, self.names())
        shown = self.get('b')['drain']
        self.assertEqual(
            ('live', False, None, [server['id']]), (
                shown['move'], shown['release'], shown['deadline'],
                shown['remaining']))
        # On its way back it is the first choice still.
        self.announce()
        self.assertEqual('b', self.replacement())
        self.assertEqual({'a': 'draining', 'b': 'enabled'}, self.names())

    @ddt.data('enabled', 'disabled', 'draining')
    def test_whatever_the_owner_wishes_it_stays(self, state):
        self.announce()
        self.put('b', state)
        self.assertNotIn('replacement', self.get()['maintenance'])
        self.withdraw()
        self.work()
        self.assertEqual({'a': 'enabled', 'b': state}, self.names())
        self.assertEqual(2, self.in_use())
        self.assertEqual([], self.kinds())

    def test_host_in_maintenance_that_is_made_a_spare(self):
        self.announce()
        self.spare('a')
        self.work()
        self.withdraw()
        self.work()
        self.assertEqual({'a': 'spare', 'b': 'spare'}, self.names())
        self.assertEqual([], self.kinds())

    def test_spare_that_was_never_enabled(self):
        self.put('b', 'disabled')
        self.real['c'] = self.add_host(
            self.alice, self.pcloud, 'c', 'gpu', enable=False)
        self.spare('c')
        server = self.start_on_a()
        self.announce()
        self.assertEqual('c', self.replacement())
        self.arrives(server, 'c')
        self.ends(server, 'completed')
        self.assertEqual([], self.kinds())

    def test_the_owner_has_it_back_at_once(self):
        self.announce()
        self.spare('b')
        self.assertEqual('spare', self.names()['b'])
        self.withdraw()
        self.work()
        self.assertEqual({'a': 'enabled', 'b': 'spare'}, self.names())

    def test_state_on_its_way_back(self):
        server = self.start_on_a()
        self.announce()
        self.arrives(server, 'b')
        self.ends(server, 'completed')
        self.act(server, {'lock': None})
        self.withdraw()
        self.put('b', 'enabled')
        self.work()
        self.assertEqual('enabled', self.names()['b'])

    def test_the_other_host_goes(self):
        self.announce()
        self.put('a', 'disabled')
        self.assertEqual(204, self.alice.call(
            'DELETE', f'{self.path}/a').status_code)
        self.work()
        self.assertEqual({'b': 'spare'}, self.names())
        self.assertEqual(1, self.in_use())

    def test_compute_service_of_the_other_host_is_deleted(self):
        self.announce()
        objects.Aggregate.get_by_uuid(self.context, self.aggregate(
            f'Pcloud:{self.pcloud}').uuid).delete_host(self.real['a'])
        self.assertIn('replacement-not-ended', self.kinds())
        self.work()
        self.assertEqual('spare', self.names()['b'])

    def test_the_policy_changes(self):
        self.announce()
        self.choose('stay')
        self.work()
        self.assertEqual({'a': 'enabled', 'b': 'spare'}, self.names())

    def test_another_beginning(self):
        self.announce()
        self.announce('2090-01-01T00:00:00Z')
        self.work()
        self.assertEqual({'a': 'enabled', 'b': 'spare'}, self.names())
        self.announce()
        self.announce('2020-01-01T00:00:00Z')
        self.assertEqual('b', self.replacement())
        self.assertEqual({'a': 'draining', 'b': 'enabled'}, self.names())

    def test_spare_in_a_maintenance(self):
        self.announce(name='b')
        self.assertEqual({'a': 'enabled', 'b': 'draining'}, self.names())
        self.assertNotIn('replacement', self.get('b')['maintenance'])
        # A free host joins for a, as the spare is going to be away.
        self.announce()
        self.assertRegex(self.replacement(), '^a-r[0-9a-f]{4}$')
        self.withdraw('b')
        self.assertEqual('spare', self.names()['b'])
        self.assertEqual({self.real['b']}, self.spare_rows())

    def test_host_that_has_joined_is_no_spare(self):
        self.announce(name='b')
        self.announce()
        name = self.replacement()
        before = self.kept()
        self.assertIn('cannot be a spare', self.refused(name, 'spare'))
        self.assertEqual(before, self.kept())

    def test_spare_that_is_down(self):
        self.set_down(self.real['b'])
        self.announce()
        self.assertNotEqual('b', self.replacement())
        self.assertEqual('spare', self.names()['b'])

    def test_owner_who_is_faster(self):
        choose = stand_ins.choose

        def slow(*arguments):
            chosen = choose(*arguments)
            self.put('b', 'disabled')
            return chosen

        with mock.patch.object(stand_ins, 'choose', slow):
            self.announce()
        self.assertEqual({'a': 'enabled', 'b': 'disabled'}, self.names())
        self.work()
        self.assertRegex(self.replacement(), '^a-r[0-9a-f]{4}$')

    def test_one_transaction(self):
        before = self.kept()
        with mock.patch.object(
                stand_ins, 'write',
                side_effect=exception.Unavailable()):
            self.announce()
        self.assertEqual(before, self.kept())


class ChoiceTest(SparesTestCase):
    """Other hosts of the Pcloud: c of the same kind."""

    def setUp(self):
        super().setUp()
        self.real['c'] = self.add_host(self.alice, self.pcloud, 'c', 'gpu')

    def chosen(self):
        head = pclouds.head(self.context, self.pcloud)
        return stand_ins.choose(
            self.context, head, pcloud_rows.find(self.context, self.pcloud),
            maintenance_policies.StandIn(host=self.real['a']), 'a')

    def test_empty_spares_come_first(self):
        self.spare('c')
        self.assertEqual('b', self.chosen().name)
        self.put('a', 'disabled')
        self.put('b', 'enabled')
        self.boot(self.alice, {'pcloud': self.pcloud})
        self.spare('b')
        self.assertEqual('c', self.chosen().name)
        self.put('c', 'disabled')
        self.assertEqual('b', self.chosen().name)
        self.put('b', 'disabled')
        # All hosts of the pool are taken.
        self.assertRaises(exception.NoFreeHost, self.chosen)

    def test_what_it_costs(self):
        one = counting.least(self.chosen)
        self.spare('c')
        self.assertEqual(one, counting.least(self.chosen))
