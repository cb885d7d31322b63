# SPDX-License-Identifier: Apache-2.0


"""What Pclouds do when hosts of theirs are going to be in maintenance."""

import datetime
import threading
from unittest import mock

from nova import objects
from oslo_utils import timeutils

from pcloud.api.policies import hosts as policies
from pcloud.audit import all_checks
from pcloud.backend.aggregates import step_rows
from pcloud import exception
from pcloud.moving import maintenance_reactions
from pcloud import names
from pcloud.objects.changing_hands import allocation
from pcloud.objects.changing_hands import host_removal
from pcloud.tests.functional.quick import test_moving
from pcloud.tests.support import kills
from pcloud.tests.support import outages

FAR = '2100-01-01T00:00:00Z'


def shown(moment):
    """Return a moment as the API shows it."""
    return f'{moment.replace(microsecond=0).isoformat()}Z'


class PolicyTestCase(test_moving.MovingTestCase):
    """A Pcloud with the hosts a and b, which take servers, and a free host."""

    def furnish(self):
        super(test_moving.MovingTestCase, self).furnish()
        self.only('a', 'b')

    def setUp(self):
        super().setUp()
        self.soon = timeutils.utcnow() + datetime.timedelta(hours=1)

    def choose(self, policy, expected=200, user=None):
        """Choose the policy, have a worker look; return the Pcloud."""
        answer = (user or self.alice).call(
            'PUT', f'/os-pclouds/{self.pcloud}',
            {'pcloud': {'maintenance_policy': policy}})
        self.assertEqual(expected, answer.status_code, answer.text)
        self.work()
        return answer.json().get('pcloud')

    def announce(self, begin=None, name='a'):
        """Announce a maintenance of a host, in an hour if not said.

        A worker looks afterwards; so it does when one is withdrawn.
        """
        return self._put(name, {'from': begin or shown(self.soon),
                                'reason': 'a new disk'})

    def withdraw(self, name='a'):
        """Withdraw the maintenance of a host."""
        return self._put(name, None)

    def _put(self, name, wish):
        answer = self.admin.call(
            'PUT', f'/os-host-flavors/gpu/hosts/{self.real[name]}',
            {'host': {'maintenance': wish}})
        self.assertEqual(200, answer.status_code, answer.text)
        self.work()
        return answer.json()['host']

    def start_on(self, name):
        """Start a server on a host."""
        self.only(name)
        server = self.start()
        self.only('a', 'b')
        return server

    def in_use(self):
        """Return the units in use by the owner of the Pcloud."""
        return self.alice.get_json(
            f'/os-pcloud-quotas/{self.alice.project_id}'
        )['quota']['units']['in_use']

    def limit(self, units):
        """Set the limit of the owner of the Pcloud."""
        self.admin.call_json(
            'PUT', f'/os-pcloud-quotas/{self.alice.project_id}',
            {'quota': {'units': {'limit': units}}})

    def pcloud_shown(self):
        """Return the Pcloud as the owner sees it."""
        return self.alice.get_json(f'/os-pclouds/{self.pcloud}')['pcloud']

    def replacement(self, name='a'):
        """Return the name of the host that stands in for a host."""
        return self.get(name)['maintenance']['replacement']

    def real_of(self, name):
        """Return the service host of a host of the Pcloud."""
        return self.admin.get_json(f'{self.path}/{name}')['host'][
            'hypervisor_hostname'].removesuffix('.hv.example.org')

    def of_hosts(self):
        """Return what the Pcloud keeps of its hosts."""
        return {key: value for key, value in self.metadata().items()
                if key.startswith(
                    (*names.OF_HOSTS, *names.KEPT_OF_HOSTS))}

    def refused(self, name, state, **drain):
        """Return the message of a change of a host that is refused."""
        answer = self.put(name, state, **drain)
        self.assertEqual(409, answer.status_code, answer.text)
        return answer.json()['conflictingRequest']['message']


class ChoiceTest(PolicyTestCase):

    def test_shown(self):
        self.assertNotIn('maintenance_policy', self.pcloud_shown())
        for policy in ('migrate', 'replace'):
            changed = self.choose(policy)
            self.assertEqual(policy, changed['maintenance_policy'])
            self.assertEqual(changed, self.pcloud_shown())
            self.assertEqual([changed], self.alice.get_json(
                '/os-pclouds')['pclouds'])
        for policy in ('stay', None):
            self.choose('migrate')
            self.assertNotIn('maintenance_policy', self.choose(policy))
            self.assertNotIn('pcloud:maintenance_policy', self.metadata())
        self.choose('restart', 400)
        self.choose('migrate', 404, self.bob)

    def test_who_may_not_do_the_same_by_hand(self):
        for forbidden, allowed in (
                (policies.UPDATE, ['stay']), (policies.MOVE, ['stay']),
                (policies.ADD, ['stay', 'migrate']),
                (policies.REMOVE, ['stay', 'migrate'])):
            with self.forbid(forbidden):
                for policy in ('stay', 'migrate', 'replace'):
                    for user in self.alice, self.admin:
                        before = self.dump()
                        self.choose(policy, 200 if policy in allowed else 403,
                                    user)
                        if policy not in allowed:
                            self.assertEqual(before, self.dump())

    def test_value_that_is_not_right(self):
        self.set_metadata(**{'pcloud:maintenance_policy': 'restart'})
        self.assertNotIn('maintenance_policy', self.pcloud_shown())
        self.announce()
        self.assertEqual('enabled', self.get()['state'])
        self.assertEqual(['value-not-valid'], self.kinds())


class MigrateTest(PolicyTestCase):

    def setUp(self):
        super().setUp()
        self.choose('migrate')

    def test_servers_leave_and_the_host_comes_back(self):
        server = self.start_on('a')
        self.announce()
        host = self.get()
        self.assertEqual(
            ('draining', 'live', False, shown(self.soon)),
            (host['state'], *(host['drain'][key] for key in (
                'move', 'release', 'deadline'))))
        self.assertEqual({'from', 'until', 'reason'}, set(host['maintenance']))
        self.arrives(server, 'b')
        self.ends(server, 'completed')
        self.work()
        self.assertEqual([], self.kinds())
        self.withdraw()
        self.assertEqual({'a': 'enabled', 'b': 'enabled'}, self.names())
        self.assertFalse([key for key in self.metadata() if 'maint' in key
                          and key != 'pcloud:maintenance_policy'])
        self.assertEqual('b', self.name_of(server))

    def test_host_that_the_owner_had_disabled(self):
        self.put('a', 'disabled')
        self.announce()
        self.assertEqual('draining', self.names()['a'])
        self.withdraw()
        self.assertEqual('disabled', self.names()['a'])

    def test_maintenance_that_begins_at_once(self):
        server = self.start_on('a')
        self.announce('2020-01-01T00:00:00Z')
        host = self.get()
        self.assertEqual(('draining', 'maintenance'),
                         (host['state'], host['status']))
        self.assertGreater(host['drain']['deadline'], shown(
            self.soon + datetime.timedelta(hours=2)))
        self.arrives(server, 'b')
        self.ends(server, 'completed')
        self.withdraw()
        host = self.get()
        self.assertEqual(('enabled', 'up'), (host['state'], host['status']))

    def test_not_before_its_time(self):
        self.announce(FAR)
        self.work()
        self.assertEqual('enabled', self.names()['a'])
        self.flags(maintenance_lead=0xffffffff // 2, group='pcloud')
        self.announce(shown(self.soon + datetime.timedelta(days=9000)))
        self.work()
        self.assertEqual('draining', self.names()['a'])
        self.announce(FAR)
        self.flags(maintenance_lead=60, group='pcloud')
        self.work()
        self.assertEqual('enabled', self.names()['a'])

    def test_owner_who_decides_meanwhile(self):
        for state in ('enabled', 'disabled', 'draining'):
            self.announce()
            self.assertEqual('draining', self.names()['a'])
            self.put('a', state)
            self.work()
            self.assertEqual(state, self.names()['a'])
            self.withdraw()
            self.work()
            self.assertEqual(state, self.names()['a'])
            self.put('a', 'enabled')

    def test_drain_of_the_owner(self):
        before = self.drain(move='none')['drain']
        self.announce()
        self.assertEqual(before, self.get()['drain'])
        self.withdraw()
        self.assertEqual(before, self.get()['drain'])

    def test_policy_that_changes(self):
        self.choose('stay')
        self.announce()
        self.assertEqual('enabled', self.names()['a'])
        self.choose('migrate')
        self.assertEqual('draining', self.names()['a'])
        self.choose('stay')
        self.assertEqual('enabled', self.names()['a'])

    def test_beginning_that_changes(self):
        self.announce()
        later = self.soon + datetime.timedelta(hours=1)
        self.announce(shown(later))
        drain = self.get()['drain']
        self.assertEqual(shown(later), drain['deadline'])
        self.withdraw()
        self.assertEqual('enabled', self.names()['a'])


class ReplaceTest(PolicyTestCase):

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
        self.announce(FAR, 'free')
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
        threads = [threading.Thread(target=self.work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.work()
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
