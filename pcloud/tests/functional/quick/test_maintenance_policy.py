# SPDX-License-Identifier: Apache-2.0

"""What Pclouds do when hosts of theirs are going to be in maintenance."""

import datetime
import threading

from oslo_utils import timeutils

from pcloud.api.policies import hosts as policies
from pcloud import names
from pcloud.tests.functional.quick import test_moving

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

    def work_at_once(self):
        """Have four workers look at the same moment, and one afterwards."""
        threads = [threading.Thread(target=self.work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.work()

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
