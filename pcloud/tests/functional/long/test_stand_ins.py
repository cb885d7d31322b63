# SPDX-License-Identifier: Apache-2.0

"""Free hosts that stand in while hosts are in maintenance."""

from unittest import mock

from nova import objects

from pcloud.audit import all_checks
from pcloud.backend.aggregates import step_rows
from pcloud import exception
from pcloud.moving import maintenance_reactions
from pcloud.objects.changing_hands import allocation
from pcloud.objects.changing_hands import host_removal
from pcloud.tests.functional.quick import test_maintenance_policy
from pcloud.tests.support import kills
from pcloud.tests.support import outages


class ReplaceTest(test_maintenance_policy.PolicyTestCase):

    def setUp(self):
        super().setUp()
        self.choose('replace')
        self.put('b', 'disabled')

    def only(self, *open_hosts):
        super().only(*open_hosts)
        self.put('b', 'enabled' if open_hosts == ('b',) else 'disabled')

    def joined(self):
        """Return the names of the hosts that have joined."""
        return set(self.names()) - {'a', 'b'}

    def test_a_free_host_joins(self):
        self.limit(2)
        server = self.start_on('a')
        self.announce()
        name, = self.joined()
        self.real[name] = self.real_of(name)
        self.assertEqual(name, self.replacement())
        self.assertRegex(name, '^a-r[0-9a-f]{4}$')
        self.assertEqual({'a': 'draining', 'b': 'disabled', name: 'enabled'},
                         self.names())
        self.assertEqual(2, self.in_use())
        self.assertEqual((3, 2), (self.pcloud_shown()['host_count'],
                                  self.pcloud_shown()['units']))
        self.assertEqual(2, self.alice.get_json(
            '/os-pclouds')['pclouds'][0]['units'])
        self.wait_until(lambda: self.moved_to(server, name))
        self.assertEqual([], self.kinds())
        # Who has stood in counts, whatever the limit is, and leaves again.
        self.withdraw()
        self.assertEqual('enabled', self.names()['a'])
        self.assertEqual(3, self.in_use())

        def has_left():
            self.work()
            self.assertEqual(set(), self.joined())

        self.wait_until(has_left)
        self.work()
        self.assertEqual('a', self.name_of(server))
        self.assertEqual(2, self.in_use())
        self.assertEqual([], self.kinds())
        self.assertFalse([key for key in self.metadata() if key.startswith(
            ('pcloud:maintained', 'pcloud:replaces'))])

    def moved_to(self, server, name):
        self.work()
        self.assertEqual(name, self.name_of(server))
        self.assertEqual(['completed'], self.migrations(server))

    def test_it_leaves_where_the_quota_allows_both(self):
        self.announce()
        name = self.replacement()
        self.assertEqual(2, self.in_use())
        with mock.patch.object(host_removal, 'release'):
            self.withdraw()
        self.assertEqual({'a': 'enabled', 'b': 'disabled', name: 'draining'},
                         self.names())
        self.assertEqual((3, 3), (
            self.in_use(), self.pcloud_shown()['units']))
        self.work()
        self.assertEqual({'a': 'enabled', 'b': 'disabled'}, self.names())
        self.assertEqual(2, self.in_use())

    def test_the_old_host_goes(self):
        self.announce()
        name = self.replacement()
        self.put('a', 'disabled')
        self.assertEqual(204, self.alice.call(
            'DELETE', f'{self.path}/a').status_code)
        self.assertEqual(2, self.in_use())
        self.assertEqual({'b': 'disabled', name: 'draining'}, self.names())
        self.work()
        self.assertEqual({'b'}, set(self.names()))
        self.withdraw()
        self.assertEqual(1, self.in_use())
        self.assertEqual([], self.kinds())

    def test_the_replacement_goes(self):
        self.announce()
        name = self.replacement()
        self.put(name, 'disabled')
        self.assertEqual(204, self.alice.call(
            'DELETE', f'{self.path}/{name}').status_code)
        self.work()
        self.assertEqual({'a', 'b'}, set(self.names()))
        self.assertNotIn('replacement', self.get()['maintenance'])
        self.assertEqual(2, self.in_use())
        self.withdraw()
        self.assertEqual('enabled', self.names()['a'])
        self.assertEqual([], self.kinds())

    def test_no_free_host(self):
        self.add_host(self.alice, self.pcloud, 'c', 'gpu')
        self.put('c', 'enabled')
        self.announce()
        maintenance = self.get()['maintenance']
        self.assertIn('No free host of host flavor gpu in zone az1',
                      maintenance['problem'])
        self.assertNotIn('node-', maintenance['problem'])
        self.assertEqual([maintenance], [
            each['maintenance'] for each
            in self.alice.get_json(self.path)['hosts']
            if each['name'] == 'a'])
        self.assertEqual('draining', self.names()['a'])
        self.assertEqual({'a', 'b', 'c'}, set(self.names()))

    def test_free_host_in_maintenance_itself(self):
        free, = {'node-1', 'node-2', 'node-3'} - set(self.real.values())
        self.real['free'] = free
        self.announce(test_maintenance_policy.FAR, 'free')
        self.announce()
        self.assertIn('problem', self.get()['maintenance'])
        del self.real['free']

    def test_limit_below_what_is_in_use(self):
        self.limit(1)
        self.announce()
        self.assertIn('problem', self.get()['maintenance'])
        self.assertEqual('draining', self.names()['a'])

    def test_announced_again_before_the_replacement_has_left(self):
        self.limit(2)
        self.announce()
        name = self.replacement()
        with mock.patch.object(host_removal, 'release'):
            self.withdraw()
            self.assertEqual('draining', self.names()[name])
            self.announce()
        self.assertEqual({'a': 'draining', 'b': 'disabled', name: 'enabled'},
                         self.names())
        self.assertEqual(name, self.replacement())
        self.assertEqual(2, self.in_use())

    def test_nova_deletes_the_service_of_the_old_host(self):
        self.announce()
        self.aggregate(f'Pcloud:{self.pcloud}').delete_host(self.real['a'])
        self.assertEqual(2, self.in_use())
        self._repair('replacement-not-ended', 'reaction-without-host')
        self.assertEqual('draining', self.names()[self.joined().pop()])

    def test_the_old_host_joins_again(self):
        """All hosts count, whoever stood in for which."""
        self.limit(3)
        self.announce()
        name = self.replacement()
        self.act(self.start(), {'lock': None})
        for aggregate in f'Pcloud:{self.pcloud}', 'Pcloud:host_flavor:gpu':
            self.aggregate(aggregate).delete_host(self.real['a'])
        self.assertEqual(2, self.in_use())
        self.work()
        self.disable_service(self.real['a'])
        self.admin.call_json('POST', '/os-host-flavors/gpu/hosts', {
            'host': {'host': self.real['a']}})
        self.add_host(self.alice, self.pcloud, 'new', 'gpu')
        self.assertEqual((3, 3), (self.in_use(), len(self.names())))
        self.assertNotIn('a', self.names())
        self.assertEqual('draining', self.names()[name])
        self.assertEqual([], self.kinds())

    def test_a_host_that_stands_in_for_a_host_without_maintenance(self):
        self.announce()
        self.set_metadata(**{f'pcloud:maintained:{self.real["a"]}': None})
        self.assertEqual(2, self.in_use())
        self._repair('replacement-not-ended')
        self.assertEqual(3, self.in_use())

    def _repair(self, *kinds):
        """Repair what an audit finds."""
        found = all_checks.find(self.context, settle=0)
        self.assertLessEqual(set(kinds), {each.kind for each in found})
        for finding in found:
            if finding.repair is not None:
                finding.repair(self.context)
        self.assertTrue(set(kinds).isdisjoint(self.kinds()))

    def test_several_at_once(self):
        with mock.patch.object(maintenance_reactions, '_attempt'):
            self.announce()
        self.work_at_once()
        self.assertEqual(1, len(self.joined()))
        self.assertEqual(2, self.in_use())
        self.assertEqual([], self.kinds())

    def test_another_begins_while_one_reads(self):
        """Who has read no reaction makes no second, and ends none."""
        with mock.patch.object(maintenance_reactions, '_attempt'):
            self.announce()
        others, wishes = [self.work], step_rows.wishes

        def read_before_another(*arguments):
            found = wishes(*arguments)
            if others:
                others.pop()()
            return found

        with mock.patch.object(step_rows, 'wishes', read_before_another):
            self.work()
        self.assertEqual([], others)
        self.assertEqual('draining', self.names()['a'])
        self.assertEqual((1, 2), (len(self.joined()), self.in_use()))

    def test_free_host_that_another_gets(self):
        take = allocation._check_alone
        lost = [allocation.Lost('another change has the host')]

        def lose_first(*arguments):
            if lost:
                raise lost.pop()
            take(*arguments)

        with mock.patch.object(allocation, '_check_alone', lose_first):
            self.announce()
            self.assertEqual({'a': 'enabled', 'b': 'disabled'}, self.names())
            self.work()
        self.assertEqual(1, len(self.joined()))

    def test_free_hosts_whose_cell_is_silent(self):
        """There is time to wait for the answer, but not for ever."""
        silent = mock.patch.object(
            allocation, 'choose', side_effect=exception.Unavailable())
        self.flags(maintenance_lead=3700, group='pcloud')
        with silent:
            self.announce()
            self.assertEqual({'a': 'enabled', 'b': 'disabled'}, self.names())
            self.flags(maintenance_lead=7300, group='pcloud')
            self.work()
        self.assertEqual({'a': 'draining', 'b': 'disabled'}, self.names())
        self.assertIn('problem', self.get()['maintenance'])

    def test_part_that_is_away(self):
        self.flags(maintenance_lead=3700, group='pcloud')
        with outages.SilentPlacement(self.placement.fixture._client):
            self.announce()
        self.work()
        self.assertEqual(1, len(self.joined()))
        self.assertEqual([], self.kinds())

    def test_killed_at_any_statement(self):
        with mock.patch.object(maintenance_reactions, '_attempt'):
            self.announce()
        self.killed_until(lambda: self.assertEqual(1, len(self.joined())))
        self.assertEqual(2, self.in_use())
        with mock.patch.object(maintenance_reactions, '_attempt'):
            self.withdraw()
        self.killed_until(lambda: self.assertEqual(
            {'a': 'enabled', 'b': 'disabled'}, self.names()))
        self.assertEqual(2, self.in_use())
        self.assertEqual([], self.kinds())

    def killed_until(self, check):
        """Kill workers at one more statement each, until one lives."""
        number = 1
        engine, *_ = self.engines()
        while kills.is_killed(engine, number, self.work):
            self.assertIn(self.in_use(), (2, 3))
            self.assertLessEqual(len(self.joined()), 1)
            number += 1
            self.later(seconds=122)
        self.assertGreater(number, 10)
        self.work()
        check()

    def test_service_is_closed_and_opened(self):
        self.announce('2020-01-01T00:00:00Z')
        self.assertTrue(objects.Service.get_by_compute_host(
            self.context, self.real['a']).disabled)
        self.withdraw()
        self.assertFalse(objects.Service.get_by_compute_host(
            self.context, self.real['a']).disabled)
