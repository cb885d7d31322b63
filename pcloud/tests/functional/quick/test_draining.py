# SPDX-License-Identifier: Apache-2.0

"""Hosts of a Pcloud that their owner has emptied."""

import contextlib
import datetime
from unittest import mock

from nova.compute import task_states
from nova import context as nova_context
from nova import objects
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils

from pcloud.api import enforcer
from pcloud.api.policies import hosts as policies
from pcloud.audit import all_checks
from pcloud.backend.aggregates import isolation
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

HOUR = datetime.timedelta(hours=1)


class DrainingTestCase(shared_cloud.SharedCloudTestCase):
    """A Pcloud with the hosts a and b, and a free host."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', *self.hosts)
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}/hosts'
        self.real = {name: self.add_host(
            self.alice, self.pcloud, name, 'gpu') for name in ('a', 'b')}
        self.work()

    def put(self, name, state='draining', user=None, **drain):
        """Return the answer to a change of the state of a host."""
        body = {'state': state} | ({'drain': drain} if drain else {})
        return (user or self.alice).call(
            'PUT', f'{self.path}/{name}', {'host': body})

    def drain(self, name='a', **drain):
        """Drain a host, and return the host."""
        answer = self.put(name, **drain)
        self.assertEqual(200, answer.status_code, answer.text)
        return answer.json()['host']

    def get(self, name='a'):
        """Return a host as the owner sees the host."""
        return self.alice.get_json(f'{self.path}/{name}')['host']

    def blockers(self, name='a'):
        """Return the rules by server; check what else there is to see."""
        drain = self.get(name)['drain']
        listed, = (each['drain'] for each
                   in self.alice.get_json(self.path)['hosts']
                   if each['name'] == name)
        self.assertEqual(drain, listed)
        for blocker in drain['blockers']:
            self.assertEqual({'server', 'rule', 'reason', 'code', 'params',
                              'since'}, set(blocker))
            self.assertIn(blocker['server'], drain['remaining'])
            self.assertIsNotNone(blocker['since'])
            self.assertNotIn('node-', blocker['reason'])
        return {each['server']: each['rule'] for each in drain['blockers']}

    def names(self):
        """Return the names of the hosts."""
        return {each['name']: each['state'] for each in
                self.alice.get_json(self.path)['hosts']}

    def metadata(self):
        """Return the metadata of the Pcloud."""
        return self.pcloud_metadata(self.pcloud)

    def set_metadata(self, **metadata):
        """Write metadata of the Pcloud by hand; None deletes a key."""
        self.write_metadata(self.pcloud, **metadata)

    def key(self, name='a'):
        """Return the key of the drain of a host."""
        return f'pcloud:drain:{self.real[name]}'

    def state_key(self, name='a'):
        """Return the metadata key of the state of a host."""
        return f'pcloud:host_state:{self.real[name]}.hv.example.org'

    def forbid(self, *rules):
        """Have nobody pass some policy rules about what alice owns."""
        allow = enforcer.Enforcer.allow

        def allow_others(self, context, rule, project_id):
            return not (rule in rules and project_id == base.ALICE) and allow(
                self, context, rule, project_id)

        return mock.patch.object(enforcer.Enforcer, 'allow', allow_others)

    def kinds(self):
        """Return the kinds of what an audit finds."""
        return [each.kind for each in all_checks.find(self.context, settle=0)]

    def at(self, moment):
        """Set the clock."""
        self.useFixture(utils_fixture.TimeFixture(moment))


class StateTest(DrainingTestCase):
    """What is kept, and what is seen."""

    def test_what_the_owner_sees(self):
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        name, = (name for name, real in self.real.items()
                 if real == self.host_of(server))
        self.assertNotIn('drain', self.get(name))
        deadline = timeutils.utcnow().replace(microsecond=0) + HOUR
        shown = self.drain(name, release=True, move='none',
                           deadline=f'{deadline.isoformat()}Z')
        self.assertEqual('draining', shown['state'])
        self.assertEqual(
            {'deadline': f'{deadline.isoformat()}Z', 'move': 'none',
             'release': True, 'remaining': [server['id']], 'blockers': []},
            {key: shown['drain'][key] for key in (
                'deadline', 'move', 'release', 'remaining', 'blockers')})
        self.assertEqual(shown['drain'], self.get(name)['drain'])
        self.assertIn(shown['drain'], [
            each.get('drain') for each
            in self.alice.get_json(self.path)['hosts']])

    def test_who_knows_no_drains_sees_a_disabled_host(self):
        self.drain()
        self.assertEqual(
            'disabled', self.metadata()[self.state_key()])
        _, pcloud = isolation.pcloud_access(self.context, self.pcloud)
        self.assertEqual('disabled', pcloud.states[
            self.state_key().removeprefix('pcloud:host_state:')])

    def test_it_takes_no_new_servers(self):
        self.drain('a')
        self.drain('b')
        self.boot(self.alice, {'pcloud': self.pcloud}, 'ERROR')

    def test_defaults(self):
        shown = self.drain()['drain']
        self.assertEqual((None, 'none', False), (
            shown['deadline'], shown['move'], shown['release']))

    def test_another_state_ends_it(self):
        for state in ('enabled', 'disabled'):
            self.drain()
            answer = self.put('a', state).json()['host']
            self.assertEqual((state, None),
                             (answer['state'], answer.get('drain')))
            self.assertNotIn(self.key(), self.metadata())
            self.assertEqual([], self.kinds())

    def test_another_drain_of_the_same_host(self):
        since = self.drain(release=False)['drain']['since']
        self.at(timeutils.utcnow() + HOUR)
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual(self.real['b'], self.host_of(server))
        self.drain('b', release=True)
        shown = self.drain(release=False)['drain']
        self.assertEqual(since, shown['since'])
        self.assertNotEqual(since, self.get('b')['drain']['since'])

    def test_what_is_refused(self):
        before = self.dump()
        for code, answer in (
                (400, self.put('a', deadline='2020-01-01T00:00:00Z')),
                (400, self.put('a', deadline='tomorrow')),
                (400, self.put('a', deadline='9999-12-31')),
                (400, self.put('a', move='walk')),
                (400, self.put('a', release=1)),
                (400, self.put('a', more=1)),
                (400, self.put('a', 'enabled', release=True)),
                (400, self.put('a', 'disabled', move='none')),
                (400, self.put('a', 'Draining')),
                (404, self.put('c')),
                (404, self.put('a', user=self.bob))):
            self.assertEqual(code, answer.status_code, answer.text)
        self.assertEqual(before, self.dump())

    def test_removal(self):
        self.drain()
        self.alice.call_json('DELETE', f'{self.path}/A')
        self.assertEqual({'b': 'enabled'}, self.names())
        self.assertNotIn(self.key(), self.metadata())
        self.assertEqual([], self.kinds())


class ReleaseTest(DrainingTestCase):
    """A host that leaves the Pcloud once the host is empty."""

    def setUp(self):
        super().setUp()
        self.put('b', 'disabled')
        self.server = self.boot(self.alice, {'pcloud': self.pcloud})
        self.put('b', 'enabled')
        self.drain(release=True)

    def empty(self):
        """Delete the server, and show that reading releases no host."""
        self._delete_server(self.server)
        before = self.dump()
        self.assertEqual([], self.get()['drain']['remaining'])
        self.assertEqual({'a': 'draining', 'b': 'enabled'}, self.names())
        self.assertEqual(before, self.dump())

    def test_worker_that_looks(self):
        for state in ('disabled', 'enabled'):
            self.put('b', state)
            self.work()
            self.assertIn('a', self.names())
        self.empty()
        self.put('b', 'disabled')
        self.work()
        self.assertEqual({'b': 'disabled'}, self.names())
        self.assertNotIn(self.key(), self.metadata())
        self.assertEqual([], self.kinds())

    def test_calls_release_no_host(self):
        self.empty()
        self.put('b', 'disabled')
        self.put('b', 'enabled')
        self.drain(release=True)
        self.add_host(self.alice, self.pcloud, 'c', 'gpu')
        self.alice.call_json('PUT', f'{self.path}/c', {
            'host': {'state': 'disabled'}})
        self.alice.call_json('DELETE', f'{self.path}/c')
        self.assertEqual(409, self.alice.call(
            'DELETE', f'/os-pclouds/{self.pcloud}').status_code)
        self.assertEqual({'a': 'draining', 'b': 'enabled'}, self.names())

    def test_addition_that_needs_the_units(self):
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': 2}}})
        self.empty()
        self.work()
        self.add_host(self.alice, self.pcloud, 'c', 'gpu')
        self.assertEqual({'b': 'enabled', 'c': 'enabled'}, self.names())

    def test_deletion_of_the_pcloud(self):
        self.put('b', 'disabled')
        self.alice.call_json('DELETE', f'{self.path}/b')
        self._delete_server(self.server)
        self.work()
        self.alice.call_json('DELETE', f'/os-pclouds/{self.pcloud}')

    def test_owner_who_changes_the_wish(self):
        self.empty()
        self.assertEqual(200, self.put('a', 'enabled').status_code)
        self.put('b', 'disabled')
        self.work()
        self.assertEqual({'a': 'enabled', 'b': 'disabled'}, self.names())

    def test_who_may_not_remove(self):
        """Who may not remove a host has no drain remove the host."""
        before = self.dump()
        with self.forbid(policies.REMOVE):
            for user in self.alice, self.admin:
                for drain in {}, {'dry_run': True}:
                    answer = self.put('b', user=user, release=True, **drain)
                    self.assertEqual(403, answer.status_code, answer.text)
                    self.assertIn(policies.REMOVE, answer.text)
            self.assertEqual(before, self.dump())
            self.drain('b')
            self.drain('a', release=False)
            self.assertFalse(self.get()['drain']['release'])

    def test_empty_host_leaves_with_the_next_look(self):
        shown = self.drain('b', release=True)['drain']
        self.assertEqual(([], []), (shown['remaining'], shown['blockers']))
        self.work()
        self.assertEqual({'a': 'draining'}, self.names())

    def test_drain_without_release(self):
        self.drain(release=False)
        self._delete_server(self.server)
        self.put('b', 'disabled')
        self.work()
        self.assertEqual({'a': 'draining', 'b': 'disabled'}, self.names())

    def test_resize_that_is_not_confirmed(self):
        self.act(self.server, {'migrate': None})
        self.wait_for(self.server, status='VERIFY_RESIZE')
        self.put('b', 'disabled')
        self.work()
        self.assertEqual({'a': 'draining', 'b': 'disabled'}, self.names())
        self.act(self.server, {'confirmResize': None})
        self.wait_for(self.server, status='ACTIVE')

        def released():
            self.work()
            self.assertEqual({'b': 'disabled'}, self.names())

        self.wait_until(released)

    def test_cost(self):
        """Drained hosts cost no call, and a look the same for several."""
        def call():
            self.assertEqual(200, self.put('b', 'disabled').status_code)

        one, look = counting.least(call), counting.least(self.work)
        self.add_host(self.alice, self.pcloud, 'c', 'gpu')
        self.boot(self.alice, {'pcloud': self.pcloud})
        self.drain('c', release=True)
        self.assertEqual(one, counting.least(call))
        self.assertEqual(look, counting.least(self.work))
        self.put('a', 'disabled')
        self.put('c', 'disabled')
        self.assertEqual(one, counting.least(call))


class BlockersTest(DrainingTestCase):
    """Servers that do not leave, each made with a real Nova."""

    def furnish(self):
        super().furnish()
        self.flags(shelved_offload_time=-1, reclaim_instance_interval=3600)
        self.put('b', 'disabled')
        self.server = self.boot(self.alice, {'pcloud': self.pcloud})
        self.put('b', 'enabled')
        self.drain()

    def setUp(self):
        super().setUp()
        self.flags(shelved_offload_time=-1, reclaim_instance_interval=3600)

    def after(self, rule, *actions, status):
        """Act on the server, and show the rule that holds then."""
        for action in actions:
            self.act(self.server, action)
        self.wait_for(self.server, status=status)
        self.assertEqual({self.server['id']: rule} if rule else {},
                         self.blockers())

    def test_server_that_can_be_moved(self):
        self.after(None, status='ACTIVE')
        self.after(None, {'pause': None}, status='PAUSED')
        self.after(None, {'unpause': None}, status='ACTIVE')
        self.after(None, {'os-stop': None}, status='SHUTOFF')
        self.assertEqual([self.server['id']],
                         self.get()['drain']['remaining'])

    def test_server_that_nobody_can_move(self):
        self.after('not_migratable', {'suspend': None}, status='SUSPENDED')

    def test_locked(self):
        self.after('locked', {'lock': None}, status='ACTIVE')
        self.after(None, {'unlock': None}, status='ACTIVE')

    def test_error(self):
        self.after('error', {'os-resetState': {'state': 'error'}},
                   status='ERROR')

    def test_shelved(self):
        self.after('shelved', {'shelve': None}, status='SHELVED')
        self.act(self.server, {'shelveOffload': None})
        self.wait_for(self.server, status='SHELVED_OFFLOADED')
        self.assertEqual({}, self.blockers())
        self.assertEqual([], self.get()['drain']['remaining'])

    def test_soft_deleted(self):
        self.admin.delete_server(self.server['id'])
        self.after('soft_deleted', status='SOFT_DELETED')
        self.act(self.server, {'forceDelete': None})
        self._wait_until_deleted(self.server)

    def test_task(self):
        with self._row() as instance:
            instance.task_state = task_states.POWERING_OFF
            instance.save()
        self.assertEqual({self.server['id']: 'task'}, self.blockers())
        with self._row() as instance:
            instance.task_state = None
            instance.save()

    @contextlib.contextmanager
    def _row(self):
        with nova_context.target_cell(
                self.context, self.cell_mappings['cell1']) as context:
            yield objects.Instance.get_by_uuid(context, self.server['id'])

    def test_migration_under_way(self):
        with self._row() as instance:
            migration = objects.Migration(
                instance._context, instance_uuid=instance.uuid,
                migration_type='live-migration', status='running',
                source_compute=instance.host, dest_compute=self.real['b'])
            migration.create()
        self.assertEqual({self.server['id']: 'migration'}, self.blockers())
        self.drain('b')
        self.assertEqual({self.server['id']: 'migration'}, self.blockers('b'))
        with self._row():
            migration.status = 'error'
            migration.save()
        self.assertEqual({}, self.blockers('b'))

    def test_resize_that_is_not_confirmed(self):
        self.after('resize_not_confirmed', {'migrate': None},
                   status='VERIFY_RESIZE')
        self.assertEqual(self.real['b'], self.host_of(self.server))
        self.assertEqual([], self.get()['instances'])
        self.assertEqual([self.server['id']],
                         self.get()['drain']['remaining'])
        self.drain('b')
        self.assertEqual({self.server['id']: 'resize_not_confirmed'},
                         self.blockers('b'))
        self.act(self.server, {'confirmResize': None})
        self.wait_for(self.server, status='ACTIVE')
        self.wait_until(lambda: self.assertEqual({}, self.blockers()))

    def test_removal_names_what_is_in_the_way(self):
        self.act(self.server, {'lock': None})
        expected = self.get()['drain']['blockers']
        self.put('a', 'disabled')
        fault = self.alice.call('DELETE', f'{self.path}/a').json()[
            'conflictingRequest']
        self.assertEqual(['locked'], [
            each['rule'] for each in fault['blockers']])
        self.assertEqual(expected, fault['blockers'])

    def test_cost(self):
        """Looking costs the same for one server and for several."""
        def look():
            self.get()
            self.alice.get_json(self.path)

        self.act(self.server, {'lock': None})
        one = counting.least(look)
        self.put('a', 'enabled')
        self.put('b', 'disabled')
        for _ in range(2):
            self.boot(self.alice, {'pcloud': self.pcloud})
        self.drain('a')
        self.drain('b')
        self.assertEqual(3, len(self.get()['drain']['remaining']))
        self.assertEqual(one, counting.least(look))


class DeadlineTest(DrainingTestCase):

    def setUp(self):
        super().setUp()
        self.now = timeutils.utcnow().replace(microsecond=0)
        self.drain(deadline=f'{(self.now + HOUR).isoformat()}Z')
        self.notifier.reset()

    def _told(self):
        """Return the payloads of the new notifications of the deadline."""
        found = [each['payload']['nova_object.data'] for each
                 in self.notifier.versioned_notifications
                 if each['event_type'] == 'pcloud.host.drain.overdue']
        self.notifier.reset()
        return found

    def test_it_is_told_once(self):
        self.work()
        self.assertEqual([], self._told())
        self.at(self.now + HOUR)
        self.get()
        self.put('b', 'disabled')
        self.assertEqual([], self._told())
        self.work()
        self.assertEqual([{
            'pcloud_id': self.pcloud, 'owner': base.ALICE, 'name': 'a',
            'host_flavor': 'gpu', 'units': 1, 'availability_zone': 'az1',
            'state': 'draining', 'reason': None}], self._told())
        self.put('b', 'enabled')
        self.work()
        self.assertEqual([], self._told())
        self.assertEqual({'a': 'draining', 'b': 'enabled'}, self.names())
        self.assertEqual([], self.kinds())

    def test_clock_that_steps_back(self):
        self.at(self.now + HOUR)
        self.work()
        self.at(self.now - HOUR)
        self.work()
        self.assertEqual(1, len(self._told()))

    def test_another_deadline(self):
        self.at(self.now + HOUR)
        self.work()
        self.drain(deadline=f'{(self.now + 2 * HOUR).isoformat()}Z')
        self.work()
        self.assertEqual(1, len(self._told()))
        self.at(self.now + 3 * HOUR)
        self.work()
        self.assertEqual(1, len(self._told()))
