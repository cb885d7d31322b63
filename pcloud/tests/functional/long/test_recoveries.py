# SPDX-License-Identifier: Apache-2.0

"""What Pclouds do when hosts of theirs have failed."""

import threading
from unittest import mock

import fixtures
from nova.conductor import rpcapi
from nova import objects
import oslo_messaging
from oslo_utils import uuidutils

from pcloud.api import enforcer
from pcloud.api.policies import host_flavors as flavor_policies
from pcloud.api.policies import hosts as policies
from pcloud.backend.calls import server_calls
from pcloud.backend.cells import asking
from pcloud import exception
from pcloud.metrics import inventory
from pcloud.moving import due_pclouds
from pcloud.moving import steps
from pcloud import names
from pcloud.rules.moving import recovery
from pcloud.tests.functional.quick import test_maintenance_policy
from pcloud.tests.support import counting
from pcloud.tests.support import kills

FLAVOR = '/os-host-flavors/gpu/hosts'


def on_volume():
    """Return members of a server whose root disk is a volume of its own."""
    return {'imageRef': '', 'block_device_mapping_v2': [{
        'boot_index': 0, 'source_type': 'volume',
        'destination_type': 'volume', 'uuid': uuidutils.generate_uuid()}]}


class RecoveryTestCase(test_maintenance_policy.PolicyTestCase):
    """A Pcloud with the hosts a and b, which take servers, and a free host."""

    wished = 'in_place'

    def furnish(self):
        super().furnish()
        self.limit(2)
        self.wish(self.wished)

    def wish(self, policy, expected=200, user=None):
        """Choose what is done for failed hosts; return the Pcloud."""
        answer = (user or self.alice).call(
            'PUT', f'/os-pclouds/{self.pcloud}',
            {'pcloud': {'host_recovery': policy}})
        self.assertEqual(expected, answer.status_code, answer.text)
        return answer.json().get('pcloud')

    def fence(self, name='a', is_fenced=True):
        """Say whether a host is fenced; return the host of the pool."""
        answer = self.admin.call('PUT', f'{FLAVOR}/{self.real[name]}', {
            'host': {'fenced': is_fenced}})
        self.assertEqual(200, answer.status_code, answer.text)
        return answer.json()['host']

    def fail(self, *hosts):
        """Have hosts be fenced for long enough, and a worker look."""
        for name in hosts or ('a',):
            self.fence(name)
        self.later(seconds=301)
        self.work()

    def come_back(self, name='a'):
        """Have nova-compute of a host start again."""
        real = self.real[name]
        self.computes[real] = self.restart_compute_service(
            self.computes[real])
        self.fence(name, False)

    def start_on(self, name, on_disk=False, **more):
        """Start a server on a host, with its disk on a volume."""
        self.only(name)
        server = self.boot(self.alice, {'pcloud': self.pcloud}, **(
            {} if on_disk else on_volume()), **more)
        self.only('a', 'b')
        return server

    def recovery_of(self, name='a'):
        """Return the recovery of a host, checked against the list."""
        def agreed():
            # Nova goes on between the two reads.
            shown = self.get(name).get('recovery')
            listed, = (each.get('recovery') for each
                       in self.alice.get_json(self.path)['hosts']
                       if each['name'] == name)
            self.assertEqual(shown, listed)
            return shown

        return self.wait_until(agreed)

    def stays(self, name='a'):
        """Return the rules of the servers that stay, by server."""
        return {each['server']: each['rule']
                for each in self.recovery_of(name)['blockers']}

    def evacuated(self, server, name='b', status='ACTIVE'):
        """Wait until a server was started on another host."""
        self.arrives(server, name, status)
        self.ends(server, 'done')

    def step_until_done(self, name='a'):
        def is_done():
            self.work()
            self.assertEqual('done', self.recovery_of(name)['state'])

        self.wait_until(is_done)

    def told(self):
        """Return the states that listeners were told, and forget them."""
        found = [each['payload']['nova_object.data'] for each
                 in self.notifier.versioned_notifications
                 if each['event_type'] == 'pcloud.host.recovery']
        self.notifier.reset()
        return [(each['name'], each['state']) for each in found]

    def kept_of(self, prefix):
        """Return what the journal keeps with a prefix, by host."""
        return names.stripped(self.aggregate(names.JOURNAL).metadata, prefix)


class ChoiceTest(RecoveryTestCase):

    wished = 'off'

    def test_shown(self):
        self.assertNotIn('host_recovery', self.pcloud_shown())
        for policy in ('in_place', 'replace'):
            changed = self.wish(policy)
            self.assertEqual(policy, changed['host_recovery'])
            self.assertEqual(changed, self.pcloud_shown())
            self.assertEqual([changed], self.alice.get_json(
                '/os-pclouds')['pclouds'])
        for policy in ('off', None):
            self.wish('in_place')
            self.assertNotIn('host_recovery', self.wish(policy))
            self.assertNotIn('pcloud:host_recovery', self.metadata())
        self.wish('restart', 400)
        self.wish('in_place', 404, self.bob)

    def test_who_may_not_do_the_same_by_hand(self):
        for forbidden, allowed in (
                (policies.UPDATE, ['off']), (policies.MOVE, ['off']),
                (policies.ADD, ['off', 'in_place']),
                (policies.REMOVE, ['off', 'in_place'])):
            with self.forbid(forbidden):
                for policy in ('off', 'in_place', 'replace'):
                    for user in self.alice, self.admin:
                        before = self.dump()
                        self.wish(policy, 200 if policy in allowed else 403,
                                  user)
                        if policy not in allowed:
                            self.assertEqual(before, self.dump())

    def test_value_that_is_not_right(self):
        self.set_metadata(**{'pcloud:host_recovery': 'restart'})
        self.assertNotIn('host_recovery', self.pcloud_shown())
        self.fail()
        self.assertIsNone(self.recovery_of())
        self.assertEqual(['value-not-valid'], self.kinds())


class FenceTest(RecoveryTestCase):

    def service(self):
        with self.in_cell() as context:
            return objects.Service.get_by_compute_host(
                context, self.real['a'])

    def pool_host(self):
        found = self.admin.get_json('/os-host-flavors/gpu')['host_flavor']
        return next(each for each in found['hosts']
                    if each['host'] == self.real['a'])

    def test_what_nova_keeps(self):
        self.assertNotIn('fenced', self.pool_host())
        shown = self.fence()
        self.assertEqual((True, 'down'), (shown['fenced'], shown['state']))
        self.assertTrue(self.service().forced_down)
        self.assertTrue(self.pool_host()['fenced'])
        self.assertEqual(shown, self.fence())
        self.assertNotIn('fenced', self.fence(is_fenced=False))
        self.assertFalse(self.service().forced_down)
        self.assertEqual('up', self.pool_host()['state'])

    def test_who(self):
        path = f'{FLAVOR}/{self.real["a"]}'
        body = {'host': {'fenced': True}}
        for user, expected in ((self.alice, 403), (self.bob, 403)):
            self.assertEqual(
                expected, user.call('PUT', path, body).status_code)
        with self.forbidden(flavor_policies.MAINTAIN_HOST):
            self.assertEqual(200, self.admin.call(
                'PUT', path, body).status_code)
            self.assertEqual(403, self.admin.call(
                'PUT', path, {'host': {'maintenance': None}}).status_code)
        with self.forbidden(flavor_policies.FENCE_HOST):
            self.assertEqual(403, self.admin.call(
                'PUT', path, {'host': {'fenced': False}}).status_code)
            self.assertEqual(200, self.admin.call(
                'PUT', path, {'host': {'maintenance': None}}).status_code)
        self.assertTrue(self.service().forced_down)

    def forbidden(self, rule):
        """Have nobody pass a rule."""
        allow = enforcer.Enforcer.allow
        return mock.patch.object(
            enforcer.Enforcer, 'allow',
            lambda self_, context, its, project_id: its != rule and allow(
                self_, context, its, project_id))

    def test_what_is_not_right(self):
        for body in ({}, {'fenced': 1}, {'fenced': None},
                     {'fenced': True, 'maintenance': None},
                     {'fenced': True, 'x': 1}):
            self.assertEqual(400, self.admin.call(
                'PUT', f'{FLAVOR}/{self.real["a"]}',
                {'host': body}).status_code, body)
        for path in (f'{FLAVOR}/node-9', '/os-host-flavors/x/hosts/node-1'):
            self.assertEqual(404, self.admin.call(
                'PUT', path, {'host': {'fenced': True}}).status_code)


class TriggerTest(RecoveryTestCase):

    def test_not_before_its_time(self):
        server = self.start_on('a')
        self.fence()
        self.work()
        self.later(seconds=299)
        self.work()
        self.assertIsNone(self.recovery_of())
        self.assertEqual('enabled', self.names()['a'])
        self.later(seconds=2)
        self.work()
        shown = self.recovery_of()
        self.assertEqual({'state', 'since', 'remaining', 'blockers'},
                         set(shown))
        self.assertEqual(('moving', [server['id']]),
                         (shown['state'], shown['remaining']))
        self.assertEqual({'a': 'disabled', 'b': 'enabled'}, self.names())
        self.evacuated(server)
        self.work()
        self.assertEqual('done', self.recovery_of()['state'])
        self.assertEqual([], self.recovery_of()['remaining'])
        with mock.patch.object(asking, '_is_silence', return_value=True):
            self.work()
        self.assertEqual('done', self.recovery_of()['state'])
        self.assertEqual(
            [('a', 'moving'), ('a', 'done')], self.told())

    def test_down_and_not_fenced(self):
        self.start_on('a')
        self.flags(service_down_time=60)
        self.later(days=1)
        with self.in_cell() as context:
            service = objects.Service.get_by_compute_host(
                context, self.real['b'])
            service.last_seen_up = test_maintenance_policy.timeutils.utcnow()
            service.save()
        self.work()
        self.assertEqual('down', self.get()['status'])
        self.assertIsNone(self.recovery_of())
        self.assertEqual('enabled', self.names()['a'])

    def test_service_that_reports_still(self):
        self.fence()
        self.later(seconds=301)
        with self.in_cell() as context:
            service = objects.Service.get_by_compute_host(
                context, self.real['a'])
            service.last_seen_up = test_maintenance_policy.timeutils.utcnow()
            service.save()
        self.work()
        self.assertIsNone(self.recovery_of())

    def test_off(self):
        self.wish('off')
        self.start_on('a')
        self.fail()
        self.assertIsNone(self.recovery_of())
        self.assertEqual([], self.told())

    def test_silent_cell(self):
        self.start_on('a')
        self.fence()
        self.later(seconds=301)
        before = self.dump()
        with mock.patch.object(asking, '_is_silence', return_value=True):
            self.work()
        self.assertEqual(before, self.dump())
        self.work()
        self.assertEqual('moving', self.recovery_of()['state'])

    def test_broker_that_is_away(self):
        server = self.start_on('a')
        self.fence()
        self.later(seconds=301)
        with mock.patch.object(
                server_calls, 'check_services',
                side_effect=exception.Unavailable):
            self.work()
        self.assertEqual([], self.migrations(server))
        self.assertEqual({}, self.stays())
        self.work()
        self.evacuated(server)

    def test_host_that_comes_back_before(self):
        self.fence()
        self.later(seconds=200)
        self.work()
        self.fence(is_fenced=False)
        self.later(seconds=301)
        self.work()
        self.assertIsNone(self.recovery_of())
        self.assertEqual('enabled', self.names()['a'])


class ServersTest(RecoveryTestCase):

    def test_local_disk(self):
        on_disk = self.start_on('a', on_disk=True)
        other = self.start_on('a')
        self.fail()
        self.evacuated(other)
        self.work()
        self.assertEqual({on_disk['id']: 'local_disk'}, self.stays())
        self.assertEqual([], self.migrations(on_disk))
        self.assertEqual('moving', self.recovery_of()['state'])
        self.flags(recovery_shared_disks=True, group='pcloud')
        self.assertEqual({}, self.stays())
        self.work()
        self.evacuated(on_disk)

    def test_ephemeral_disks_and_swap(self):
        self.make_flavor('extra', ephemeral_gb=1)
        server = self.start_on('a', flavorRef='extra')
        self.fail()
        self.assertEqual({server['id']: 'local_disk'}, self.stays())

    def test_locked_and_stopped(self):
        locked, stopped, both = (self.start_on('a') for _ in range(3))
        for server in (stopped, both):
            self.act(server, {'os-stop': None})
            self.wait_for(server, status='SHUTOFF')
        for server in (locked, both):
            self.act(server, {'lock': None})
        self.fail()
        self.evacuated(locked)
        self.evacuated(stopped, status='SHUTOFF')
        self.evacuated(both, status='SHUTOFF')
        self.assertEqual([True, False, True], [
            self.admin.get_server(each['id'])['locked']
            for each in (locked, stopped, both)])

    def test_what_nova_refuses(self):
        paused = self.start_on('a')
        self.act(paused, {'pause': None})
        self.wait_for(paused, status='PAUSED')
        broken = self.start_on('a')
        self.act(broken, {'os-resetState': {'state': 'error'}})
        self.fail()
        self.assertEqual({paused['id']: 'not_migratable',
                          broken['id']: 'error'}, self.stays())

    def test_whose_request_is_not_for_the_pcloud(self):
        server = self.start_on('a')
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/tenants/'
            f'{self.alice.project_id}')
        self.fail()
        self.assertEqual({server['id']: 'placement'}, self.stays())

    def test_priority_and_parallel(self):
        self.flags(recovery_parallel=1, group='pcloud')
        self.make_flavor('large', memory_mb=1024)
        small, large = self.start_on('a'), self.start_on(
            'a', flavorRef='large')
        first = self.start_on('a', metadata={'HA_Enabled': 'True'})
        asked = []
        evacuate = server_calls.evacuate

        def ask(context, server):
            asked.append(server)
            evacuate(context, server)

        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.backend.calls.server_calls.evacuate', ask))
        self.fail()
        self.assertEqual([first['id']], asked)
        self.step_until_done()
        self.assertEqual(
            [each['id'] for each in (first, large, small)], asked)

    def test_no_room_first_come_those_with_the_property(self):
        self.make_flavor('half', memory_mb=3000)
        self.start_on('b', flavorRef='half')
        plain = self.start_on('a', flavorRef='half')
        first = self.start_on('a', flavorRef='half', metadata={
            'HA_Enabled': 'true'})
        self.fail()
        self.evacuated(first)
        self.work()
        self.assertEqual({plain['id']: 'no_room'}, self.stays())
        self.assertEqual('ACTIVE', self.admin.get_server(
            plain['id'])['status'])

    def test_no_worker(self):
        self.start_on('a', on_disk=True)
        self.fail()
        self.later(seconds=301)
        self.assertEqual([None], [
            each['server'] for each in self.recovery_of()['blockers']
            if each['rule'] == 'no_worker'])

    def test_scheduler_that_finds_no_host(self):
        server = self.start_on('a')
        self.act(server, {'os-stop': None})
        self.wait_for(server, status='SHUTOFF')
        with mock.patch(
                'pcloud.scheduler.filters.pcloud.PcloudFilter.filter_all',
                return_value=[]):
            self.fail()
            self.ends(server, 'error')
            self.wait_for(server, status='ERROR')
        self.assertEqual({server['id']: 'placement'}, self.stays())
        self.work()
        self.assertEqual(1, len(self.migrations(server)))
        self.later(seconds=61)
        self.work()
        self.arrives(server, 'b', 'SHUTOFF')


class LostTest(RecoveryTestCase):

    def lose(self, method):
        return mock.patch(f'nova.conductor.rpcapi.ComputeTaskAPI.{method}')

    def test_cast_that_is_lost(self):
        server = self.start_on('a')
        with self.lose('rebuild_instance'):
            self.fail()
        self.assertEqual({server['id']: 'migration'}, self.stays())
        self.work()
        self.assertEqual(['accepted'], self.migrations(server))
        self.later(seconds=3601)
        self.work()
        self.assertEqual('error', self.migrations(server)[0])
        self.later(seconds=61)
        self.work()
        self.arrives(server, 'b')

    def test_answer_that_is_lost(self):
        """Nova has the server started, and nobody tells the worker so."""
        server = self.start_on('a')
        cast = rpcapi.ComputeTaskAPI.rebuild_instance

        def ask(*arguments, **more):
            cast(*arguments, **more)
            raise oslo_messaging.MessagingTimeout()

        with mock.patch.object(
                rpcapi.ComputeTaskAPI, 'rebuild_instance', ask):
            self.fail()
        self.evacuated(server)
        self.step_until_done()
        self.assertEqual(['done'], self.migrations(server))

    def test_cast_that_is_refused(self):
        """The broker is lost after Nova has marked the server as busy."""
        server = self.start_on('a')
        with mock.patch.object(
                rpcapi.ComputeTaskAPI, 'rebuild_instance',
                side_effect=oslo_messaging.MessageDeliveryFailure):
            self.fail()
        self.work()
        self.assertEqual({server['id']: 'migration'}, self.stays())
        self.later(seconds=3601)
        self.work()
        self.later(seconds=61)
        self.work()
        self.arrives(server, 'b')

    def test_crash_at_each_statement(self):
        """All of a beginning is written, or nothing."""
        server = self.start_on('a')
        self.fence()
        self.later(seconds=301)
        engine = self.engines()[0]
        before = self.of_hosts()
        number = 0
        with mock.patch.object(steps, '_move'):
            while True:
                number += 1
                if not kills.is_killed(engine, number, self.work):
                    break
                self.assertIn(
                    ('pcloud:recovery:' + self.real['a'] in self.of_hosts(),
                     self.of_hosts()[self.state_key()]),
                    ((False, 'enabled'), (True, 'disabled')))
                self.later(seconds=23)
        self.assertNotEqual(before, self.of_hosts())
        self.assertGreater(number, 20)
        self.later(seconds=23)
        self.work()
        self.evacuated(server)

    def test_two_workers(self):
        servers = [self.start_on('a') for _ in range(2)]
        self.fence()
        self.later(seconds=301)
        threads = [threading.Thread(target=self.work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.work()
        for server in servers:
            self.evacuated(server)
        self.assertEqual([('a', 'moving')], self.told()[:1])


class HeldTest(RecoveryTestCase):

    def setUp(self):
        super().setUp()
        self.flags(recovery_max_hosts=1, group='pcloud')

    def test_held_and_released(self):
        server = self.start_on('a')
        self.fence('b')
        self.later(seconds=301)
        self.work()
        self.assertEqual('done', self.recovered('b'))
        self.told()
        self.fail('a')
        self.assertEqual('held', self.recovery_of()['state'])
        self.assertEqual('enabled', self.names()['a'])
        self.assertEqual([server['id']], self.recovery_of()['remaining'])
        for _ in range(2):
            self.later(seconds=1)
            self.work()
        self.assertEqual([('a', 'held')], self.told())
        # An hour later the host is still held: a person has to look.
        self.later(seconds=3600)
        self.work()
        self.assertEqual('held', self.recovery_of()['state'])
        self.fence('a')
        self.work()
        self.assertEqual('moving', self.recovery_of()['state'])
        self.assertEqual([('a', 'moving')], self.told())
        self.assertEqual({server['id']: 'no_room'}, self.stays())

    def recovered(self, name):
        self.work()
        return self.recovery_of(name)['state']

    def test_two_workers_and_two_pclouds(self):
        """No two recoveries count past each other."""
        self.limit(3)
        other = self.make_pcloud(self.alice, 'other')
        self.alice.call_json('PUT', f'/os-pclouds/{other}', {
            'pcloud': {'host_recovery': 'in_place'}})
        self.real['c'] = self.add_host(self.alice, other, 'c', 'gpu')
        for name in ('a', 'c'):
            self.fence(name)
        self.later(seconds=301)
        threads = [threading.Thread(target=self.work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.work()
        states = sorted(
            recovery.Recovery.read(value).state for value
            in self.kept_of(names.RECOVERY_PREFIX).values())
        self.assertEqual(['done', 'held'], states)
        self.assertEqual({'moving': 0, 'done': 1, 'held': 1},
                         inventory.recoveries(self.context))

    def test_an_hour_later(self):
        self.fail('b')
        self.later(seconds=3600)
        self.fail('a')
        self.assertNotEqual('held', self.recovery_of()['state'])
        self.assertEqual({self.real['a']}, set(
            self.kept_of(names.RECOVERED_PREFIX)))

    def test_host_that_came_back_counts(self):
        self.fail('b')
        self.fence('b', False)
        self.work()
        self.assertIsNone(self.recovery_of('b'))
        self.fail('a')
        self.assertEqual('held', self.recovery_of()['state'])

    def test_held_host_that_comes_back(self):
        self.fail('b')
        self.fail('a')
        self.fence('a', False)
        self.work()
        self.assertIsNone(self.recovery_of())
        self.assertEqual('enabled', self.names()['a'])
        self.assertEqual([], self.kinds())


class InPlaceReturnTest(RecoveryTestCase):

    own_cloud = True

    def test_empty(self):
        server = self.start_on('a')
        self.fail()
        self.evacuated(server)
        self.step_until_done()
        # Nova has not let go of the server yet.
        self.fence('a', False)
        self.work()
        self.assertEqual('done', self.recovery_of()['state'])
        self.told()
        self.come_back()
        self.work()
        self.assertIsNone(self.recovery_of())
        self.assertEqual({'a': 'enabled', 'b': 'enabled'}, self.names())
        self.assertEqual([('a', 'returned')], self.told())
        self.assertEqual('b', self.name_of(server))
        self.assertEqual([], self.kinds())


class InPlaceEndTest(RecoveryTestCase):

    def test_host_that_the_owner_had_disabled(self):
        self.put('a', 'disabled')
        self.fail()
        self.fence('a', False)
        self.work()
        self.assertEqual({'a': 'disabled', 'b': 'enabled'}, self.names())
        self.assertIsNone(self.recovery_of())

    def test_with_servers_that_stay(self):
        server = self.start_on('a', on_disk=True)
        self.fail()
        self.assertEqual({server['id']: 'local_disk'}, self.stays())
        self.fence('a', False)
        self.work()
        self.assertIsNone(self.recovery_of())
        self.assertEqual('enabled', self.names()['a'])
        self.assertEqual('a', self.name_of(server))

    def test_owner_who_changes_it_meanwhile(self):
        self.fail()
        for state in ('enabled', 'disabled', 'draining'):
            self.assertIn('recovered', self.refused('a', state))

    def test_drain_goes_on_afterwards(self):
        server = self.start_on('a', on_disk=True)
        self.only('a')
        self.drain(move='live')
        self.only_b()
        self.fail()
        self.assertEqual('draining', self.names()['a'])
        self.assertEqual({server['id']: 'local_disk'}, self.stays())
        self.assertEqual([], self.migrations(server))
        self.fence('a', False)
        self.work()
        self.work()
        self.arrives(server, 'b')

    def only_b(self):
        self.put('b', 'enabled')

    def test_off_meanwhile(self):
        server = self.start_on('a', on_disk=True)
        self.fail()
        self.wish('off')
        self.flags(recovery_shared_disks=True, group='pcloud')
        self.work()
        self.assertEqual([], self.migrations(server))
        self.fence('a', False)
        self.work()
        self.assertEqual('enabled', self.names()['a'])

    def test_rows_whose_host_is_gone(self):
        self.fail()
        self.assertEqual([], self.kinds())
        service = self.service_id(self.real['a'])
        self.fence('a', False)
        self.admin.call('DELETE', f'/os-services/{service}')
        self.assertIn('recovery-without-host', self.kinds())


class ReplaceTest(RecoveryTestCase):

    wished = 'replace'

    def replacement(self, name='a'):
        return self.recovery_of(name)['replacement']

    def test_a_free_host_joins(self):
        server = self.start_on('a')
        self.put('b', 'disabled')
        self.fail()
        name = self.replacement()
        self.assertRegex(name, '^a-r[0-9a-f]{4}$')
        self.real[name] = self.real_of(name)
        self.assertEqual({'a': 'disabled', 'b': 'disabled',
                          name: 'enabled'}, self.names())
        self.assertEqual((2, 3, 2), (
            self.in_use(), self.pcloud_shown()['host_count'],
            self.pcloud_shown()['units']))
        self.assertEqual(2, self.alice.get_json(
            '/os-pclouds')['pclouds'][0]['units'])
        self.evacuated(server, name)
        self.step_until_done()
        self.assertEqual(name, self.replacement())
        self.assertEqual([], self.kinds())
        added = [each for each in self.notifier.versioned_notifications
                 if each['event_type'] == 'pcloud.host.add']
        self.assertEqual(['recovery'], [
            each['payload']['nova_object.data']['reason'] for each in added])

    def test_spare_that_fails(self):
        """No host joins for it, and it is a spare when it comes back."""
        self.put('b', 'spare')
        self.fail('b')
        self.assertNotIn('replacement', self.recovery_of('b'))
        self.assertEqual(['a', 'b'], sorted(self.names()))
        self.fence('b', False)
        self.work()
        self.assertEqual({'a': 'enabled', 'b': 'spare'}, self.names())
        self.assertEqual([], self.kinds())

    def test_owner_who_closes_the_spare_that_stands_in(self):
        self.start_on('a', on_disk=True)
        self.put('b', 'spare')
        self.fail()
        self.assertEqual(200, self.put('b', 'disabled').status_code)
        self.assertNotIn('replacement', self.recovery_of())
        self.assertEqual({'a': 'disabled', 'b': 'disabled'}, self.names())

    def test_what_a_stand_in_counts(self):
        """Nothing, until it takes the place of the failed host."""
        self.fail()
        name = self.replacement()
        host = self.real_of(name)
        self.assertIn('free=1', self.kept_of(names.SPAN_PREFIX)[host])
        self.fence('a', False)
        self.work()
        self.assertEqual({'b': 'enabled', name: 'enabled'}, self.names())
        self.assertNotIn('free=1', self.kept_of(names.SPAN_PREFIX)[host])
        self.assertEqual([], self.kinds())

    def test_no_free_host(self):
        """The servers start in place, and a host joins when one is free."""
        self.limit(3)
        self.add_host(self.alice, self.pcloud, 'c', 'gpu')
        self.put('c', 'disabled')
        server = self.start_on('a')
        self.fail()
        self.assertNotIn('replacement', self.recovery_of())
        self.evacuated(server)
        self.step_until_done()
        self.assertNotIn('replacement', self.recovery_of())
        answer = self.alice.call('DELETE', f'{self.path}/c')
        self.assertEqual(204, answer.status_code, answer.text)
        self.work()
        self.assertIn('replacement', self.recovery_of())
        self.assertEqual(2, self.in_use())

    def test_the_failed_host_goes(self):
        """Nova's service of the host is deleted: who has joined stays."""
        self.fail()
        name = self.replacement()
        service = self.service_id(self.real['a'])
        self.fence('a', False)
        self.assertEqual(204, self.admin.call(
            'DELETE', f'/os-services/{service}').status_code)
        self.assertEqual({'b': 'enabled', name: 'enabled'}, self.names())
        self.assertEqual((2, 2), (
            self.in_use(), self.pcloud_shown()['units']))
        self.work()
        self.assertEqual({'b': 'enabled', name: 'enabled'}, self.names())
        self.assertEqual((2, 2), (
            self.in_use(), self.pcloud_shown()['units']))
        self.assertEqual({}, self.kept_of(names.REPLACES_PREFIX))

    def test_it_comes_back_without_servers(self):
        self.fail()
        name = self.replacement()
        self.told()
        self.fence('a', False)
        self.work()
        self.assertEqual({'b': 'enabled', name: 'enabled'}, self.names())
        event, = (each['payload']['nova_object.data'] for each
                  in self.notifier.versioned_notifications
                  if each['event_type'] == 'pcloud.host.recovery')
        self.assertEqual({
            'pcloud_id': self.pcloud, 'owner': self.alice.project_id,
            'name': 'a', 'host_flavor': 'gpu', 'availability_zone': 'az1',
            'state': 'returned', 'since': event['since'],
            'replacement': name}, event)
        self.assertNotIn('node-', str(event))
        self.assertEqual((2, 2), (
            self.in_use(), self.pcloud_shown()['units']))
        self.assertEqual({}, self.kept_of(names.REPLACES_PREFIX))
        self.assertEqual({}, self.kept_of(names.RECOVERY_PREFIX))
        there, = (each for each in self.admin.get_json(
            '/os-host-flavors/gpu')['host_flavor']['hosts']
            if each['host'] == self.real['a'])
        self.assertEqual((None, 'disabled'),
                         (there['pcloud'], there['status']))
        self.work()
        self.assertEqual([], self.kinds())

    def test_it_comes_back_with_servers(self):
        server = self.start_on('a', on_disk=True)
        self.fail()
        name = self.replacement()
        self.fence('a', False)
        self.work()
        self.assertEqual(('done', [server['id']]), tuple(
            self.recovery_of()[key] for key in ('state', 'remaining')))
        self.assertEqual(2, self.in_use())
        self.admin.delete_server(server['id'])
        self._wait_until_deleted(server)

        def has_left():
            self.work()
            self.assertEqual({'b', name}, set(self.names()))

        self.wait_until(has_left)

    def test_crash_at_each_statement(self):
        self.fence()
        self.later(seconds=301)
        engine = self.engines()[0]
        number = 0
        while True:
            number += 1
            if not kills.is_killed(engine, number, self.work):
                break
            has_begun = 'pcloud:recovery:' + self.real['a'] in self.of_hosts()
            self.assertEqual(3 if has_begun else 2, len(self.names()))
            self.assertEqual(2, self.in_use())
            self.later(seconds=23)
        self.assertEqual(3, len(self.names()))
        self.work()
        self.assertEqual([], self.kinds())

    def test_maintained_host_that_fails(self):
        """Who stands in for a maintenance stays for the recovery."""
        self.choose('replace')
        self.announce()
        name = self.get()['maintenance']['replacement']
        self.fail()
        self.assertEqual(name, self.replacement())
        self.withdraw()
        self.assertEqual('enabled', self.names()[name])
        self.assertEqual(2, self.in_use())
        self.fence('a', False)
        self.work()
        self.assertEqual({'b', name}, set(self.names()))
        self.assertEqual('enabled', self.names()[name])
        self.work()
        self.assertEqual([], self.kinds())


class ReplaceReturnTest(RecoveryTestCase):

    wished = 'replace'
    own_cloud = True

    def test_a_spare_comes_first(self):
        """It is no spare any more once the failed host has left."""
        server = self.start_on('a')
        self.put('b', 'spare')
        self.fail()
        self.assertEqual('b', self.recovery_of()['replacement'])
        self.assertEqual({'a': 'disabled', 'b': 'enabled'}, self.names())
        self.assertEqual((2, 2), (
            self.in_use(), self.pcloud_shown()['units']))
        self.evacuated(server)
        self.step_until_done()
        self.come_back()
        self.work()
        self.assertEqual({'b': 'enabled'}, self.names())
        for prefix in (names.REPLACES_PREFIX, names.SPARE_PREFIX,
                       names.RECOVERY_PREFIX):
            self.assertEqual({}, self.kept_of(prefix))
        self.assertEqual((1, 1), (
            self.in_use(), self.pcloud_shown()['units']))
        self.assertEqual([], self.kinds())

    def test_once_nova_has_let_go(self):
        server = self.start_on('a')
        self.put('b', 'disabled')
        self.fail()
        name = self.recovery_of()['replacement']
        self.real[name] = self.real_of(name)
        self.evacuated(server, name)
        self.step_until_done()
        self.fence('a', False)
        self.work()
        self.assertIn('a', self.names())
        self.come_back()
        self.work()
        self.assertEqual({'b', name}, set(self.names()))
        self.assertEqual(name, self.name_of(server))
        self.assertEqual(2, self.in_use())
        self.work()
        self.assertEqual([], self.kinds())


class CostTest(RecoveryTestCase):

    def look(self):
        return due_pclouds.find(self.context)

    def test_pass_costs_the_same_for_few_and_many(self):
        def costs():
            found = [counting.least(self.look)]
            self.fence()
            found.append(counting.least(self.look))
            self.fence(is_fenced=False)
            return found

        few = costs()
        for name in ('shop', 'film', 'farm'):
            other = self.make_pcloud(self.alice, name)
            self.alice.call_json('PUT', f'/os-pclouds/{other}', {
                'pcloud': {'host_recovery': 'replace'}})
        self.assertEqual(few, costs())
        self.wish('off')
        for other in self.alice.get_json('/os-pclouds')['pclouds']:
            self.alice.call_json('PUT', f'/os-pclouds/{other["id"]}', {
                'pcloud': {'host_recovery': 'off'}})
        # Who does not use recoveries pays nothing, whatever is fenced.
        self.assertEqual([2, 2], [cost.sql for cost in costs()])

    def test_done_is_at_rest(self):
        self.fail()
        self.work()
        self.assertEqual('done', self.recovery_of()['state'])
        self.assertEqual({}, self.look())
        self.fence(is_fenced=False)
        self.assertEqual([self.pcloud], list(self.look()))

    def test_looking_costs_the_same_for_few_and_many(self):
        def look():
            self.get()
            self.alice.get_json(self.path)

        self.start_on('a', on_disk=True)
        self.fail()
        one = counting.least(look)
        self.fence('a', False)
        self.work()
        for _ in range(2):
            self.start_on('a', on_disk=True)
        self.fail()
        self.assertEqual(one, counting.least(look))
