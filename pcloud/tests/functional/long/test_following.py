# SPDX-License-Identifier: Apache-2.0

"""Scaled services follow others by passes of a worker, in front of real Nova.

Keystone is not there, so a context takes the place of a token.
"""

import base64
import dataclasses
import threading
import time
from unittest import mock

import fixtures
from nova.compute import rpcapi as compute_rpcapi
from nova.tests import fixtures as nova_fixtures
from nova.tests.unit import fake_crypto
from oslo_utils import fixture as utils_fixture
from oslo_utils import uuidutils

from pcloud.backend.cells import started_servers
from pcloud.client.deploy import deployments
from pcloud.client.deploy import future_units
from pcloud.client.deploy import waits
from pcloud.client import plan_resources
from pcloud.client import servers
from pcloud import exception
from pcloud.tests.functional.long import test_scaling
from pcloud.tests.functional.quick import test_following
from pcloud.tests.support import counting
from pcloud.tests.support import kills
from pcloud.tests.support import outages
from pcloud.worker import scaled_services
from pcloud.worker import tenant_calls

OTHER_KEY = ('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGO7JdTuWY5L'
             'iZ3GcO0hG5Ve2gjVlBciRDc+Ga/f0lfA')


class FollowingTest(test_following.FollowingTestCase):

    def test_one_that_comes_and_goes(self):
        second = self._have_db(2)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())
        like, new = (self.alice.get_server(self._unit_on(host).id)
                     for host in ('node-1', 'node-2'))
        self.assertEqual('agent-1', new['name'])
        for member in ('tenant_id', 'flavor', 'image', 'config_drive',
                       'key_name'):
            self.assertEqual(like[member], new[member], member)
        self.assertEqual(
            {'service': ['agent'], 'in': [second['id']]},
            new['scheduler_hints'])
        self.assertEqual({'pcloud_scale_with', 'pcloud_scaled_at'},
                         new['metadata'].keys())
        self._delete(second)
        self.pass_until({'node-1': 1})

    def test_the_user_is_the_worker(self):
        """Nobody's name is used, who may be gone or have no right."""
        eve = self.client_of('eve', self.alice.project_id)
        self.client = self.as_library(eve)
        self._deploy('log')
        self._have_db(2)
        self.assertTrue(self.once())
        self._hosts()
        self._hosts('log')
        self.assertEqual(
            [('agent', 'alice'), ('agent', 'worker'), ('log', 'eve'),
             ('log', 'worker')],
            sorted((unit.hint('service'),
                    self.alice.get_server(unit.id)['user_id'])
                   for service in ('agent', 'log')
                   for unit in self._units(service)))
        self.log_in.assert_called_once_with(self.alice.project_id)

    def test_a_copy_has_all_that_the_first_unit_has(self):
        pair = self._have_key_pair('mine')
        # The name is taken.
        worker = self.client_of('worker', self.alice.project_id)
        self.as_library(worker).servers.import_key_pair(
            'mine', 'ssh', OTHER_KEY)
        group = self.neutron.security_group['id']
        # Nova's fake Neutron does not find security groups.
        self.useFixture(fixtures.MonkeyPatch(
            'nova.network.security_group_api.validate_name',
            lambda context, name: name))
        asked = servers.Options(
            networks='none', key_pair='mine', volume_size=2,
            user_data=base64.b64encode(b'#!/bin/sh').decode(),
            security_groups=(group,), metadata={'tier': 'one', 'empty': ''},
            hints={'constraints': 'cpu=1 ram=64M',
                   'placement_key': ['A=1:1', 'B=2:1']},
            devices=({'source_type': 'blank', 'destination_type': 'volume',
                      'volume_size': 1, 'delete_on_termination': True,
                      'tag': 'data'},))
        self._deploy('log', options=asked)
        self.alice.call('DELETE', f'/os-keypairs/{pair["name"]}')
        self._have_db(2)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts('log'))
        old, new = sorted(self._units('log'), key=lambda unit: unit.created)
        for member in 'OS-EXT-SRV-ATTR:user_data', 'image':
            self.assertEqual(*(self.admin.get_server(unit.id)[member]
                               for unit in (old, new)))
        first, second = (test_scaling.started(unit.id) for unit in (old, new))
        self.assertEqual(started_servers.Start(
            self.image.id, 2, asked.user_data, started_servers.KeyPair(
                'mine', pair['public_key']), '', (group,), asked.devices),
            first)
        self.assertEqual((first.key_pair.public_key, 'mine-'), (
            second.key_pair.public_key, second.key_pair.name[:5]))
        self.assertEqual(first, dataclasses.replace(
            second, key_pair=first.key_pair))
        self.assertEqual({
            **{name: tuple([value] if isinstance(value, str) else value)
               for name, value in asked.hints.items()},
            'service': ('log',), 'in': old.hints['in']}, old.hints)
        self.assertEqual({**old.hints, 'in': new.hints['in']}, new.hints)
        self.assertEqual(
            {'tier': 'one', 'empty': '', 'pcloud_scale_with': 'db'}, {
                key: value for key, value in new.metadata.items()
                if key != 'pcloud_scaled_at'})
        self.assertEqual(['mine'], [
            each['keypair']['name'] for each in worker.call_json(
                'GET', '/os-keypairs')['keypairs']])

    def _have_key_pair(self, name):
        return self.alice.call_json('POST', '/os-keypairs', {'keypair': {
            'name': name, 'type': 'ssh',
            'public_key': fake_crypto.get_ssh_public_key()}})['keypair']

    def test_constraints_of_units_to_come(self):
        self._deploy('log', options=servers.Options(
            networks='none', hints={'constraints': 'cpu=1 ram=64M'}))
        future_units.set_constraints(
            self.client, 'log', 'cpu=1 ram=128M', self.pace)
        # A copy is copied, too.
        for number in (2, 3):
            self._have_db(number)
            self.assertTrue(self.once())
            self._hosts('log')
        future_units.set_constraints(self.client, 'log', '', self.pace)
        self.assertEqual(
            ['cpu=1 ram=128M', 'cpu=1 ram=128M', 'cpu=1 ram=64M'],
            sorted(unit.hint('constraints') for unit in self._units('log')))
        self.assertEqual({''}, {
            unit.metadata['pcloud_constraints']
            for unit in self._units('log')})
        self._delete({'id': self._unit_of('log', 'node-3').id})
        self.assertTrue(self.another())
        self._hosts('log')
        self.assertIsNone(
            self._unit_of('log', 'node-3').hint('constraints'))

    def _unit_of(self, service, host):
        unit, = (unit for unit in self._units(service)
                 if self.host_of({'id': unit.id}) == host)
        return unit

    def test_a_copy_without_volumes_that_are_attached(self):
        self._deploy('log')
        unit, = self._units('log')
        volume = nova_fixtures.CinderFixture.SWAP_OLD_VOL
        self.alice.call_json(
            'POST', f'/servers/{unit.id}/os-volume_attachments',
            {'volumeAttachment': {'volumeId': volume}})
        self._have_db(2)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts('log'))
        self.assertIn(f'log-1 is started beside db-2, without the volumes of '
                      f'log: {volume}', self.stdlog.logger.output)

    def test_the_zone_that_was_asked_for(self):
        self.assertEqual(
            'az1', test_scaling.started(self.first['id']).zone)

    def test_a_server_that_is_nowhere(self):
        self.assertEqual(started_servers.Start(), test_scaling.started(
            uuidutils.generate_uuid()))

    def test_services_that_share_a_server(self):
        """What is co-located with a unit goes with the unit."""
        second = self._have_db(2)
        self.once()
        self._hosts()
        unit = self._unit_on('node-2')
        self.boot(self.alice, {'service': 'child', 'in': unit.id},
                  flavorRef='helper', name='child')
        child = {'id': self._units('child')[0].id}
        self._delete(second)
        seen = []

        def removed():
            self.assertTrue(self.once())
            seen.append(self._states(unit.id, child['id']))
            self.assertEqual({'node-1': 1}, self._hosts())

        self.wait_until(removed)
        self.assertEqual([], self._units('child'))
        # The unit is stopped before its child.
        self.assertIn((servers.SHUTOFF, servers.ACTIVE), seen)
        self.assertNotIn((servers.ACTIVE, servers.SHUTOFF), seen)

    def _states(self, *ids):
        """Return the statuses of servers; None where there is none."""
        found = {unit.id: unit.status
                 for unit in self.client.servers.list_all()}
        return tuple(found.get(server_id) for server_id in ids)

    def test_other_projects(self):
        """Units of another project's service of the same name do not count."""
        self.boot(self.bob, {'service': 'db'}, zone='az2')
        self.assertTrue(self.once())
        self.log_in.assert_not_called()
        self.assertEqual({'node-1': 1}, self._hosts())

    def test_without_work(self):
        """A pass costs the same for few services and for many."""
        few = counting.least(self.once)
        for name in ('log', 'trace'):
            self._deploy(name)
        # What has been added in the last minute is looked up once more.
        self.memory = scaled_services.PassMemory()
        self.assertEqual(few, counting.least(self.once))
        # Three for the cell, and where there are scaled services two for each
        # cell, and the servers in no cell.
        self.assertEqual(counting.Count(8, 0), few)
        self.log_in.assert_not_called()

    def test_without_scaled_services(self):
        deployments.undeploy(self.client, 'agent', self.pace)
        self.assertEqual(counting.Count(2, 0), counting.least(self.once))

    def test_a_cell_that_is_silent(self):
        self._have_db(2)
        with outages.SilentCell(self.cell_mappings['cell1']):
            self.assertFalse(self.once())
        self.log_in.assert_not_called()
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())

    def test_a_broker_that_is_away(self):
        self._have_db(2)
        with outages.SilentBroker():
            self.assertFalse(self.once())
        self.assertEqual({'node-1': 1}, self._hosts())
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())

    def test_a_service_that_is_being_deployed(self):
        self._have_db(2)
        unit = self._unit_on('node-1')
        self.alice.call_json('POST', f'/servers/{unit.id}/metadata', {
            'metadata': {'pcloud_deploying': 'yes'}})
        self.assertTrue(self.once())
        self.log_in.assert_not_called()
        self.alice.call('DELETE',
                        f'/servers/{unit.id}/metadata/pcloud_deploying')
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())

    def test_a_service_that_is_being_removed(self):
        """All units are stopped before the first unit is deleted."""
        self._have_db(2)
        unit = {'id': self._unit_on('node-1').id}
        self.act(unit, {'os-stop': None})
        self.wait_for(unit, status='SHUTOFF')
        self.assertTrue(self.once())
        self.log_in.assert_not_called()
        self.act(unit, {'os-start': None})
        self.wait_for(unit, status='ACTIVE')
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())


class TroubleTest(test_following.FollowingTestCase):
    """Something cannot be done."""

    clock = None

    def _have_full_host(self):
        """Start a unit of db, and return a server that needs the rest."""
        self._have_db(2)
        return self.boot(self.alice, zone='az2', flavorRef=self.make_flavor(
            'most', memory_mb=7680 - 512 - 256))

    def _later(self, seconds):
        if self.clock is None:
            self.clock = self.useFixture(utils_fixture.TimeFixture())
        self.clock.advance_time_seconds(seconds)

    def test_no_room(self):
        """Nothing is started, nobody asks at each pass, and all tell once."""
        full = self._have_full_host()
        before = self._hosts()
        for _ in range(3):
            self.assertTrue(self.once())
        self.assertEqual(before, self._hosts())
        self.assertEqual(1, self.log_in.call_count)
        self.assertEqual(1, len(self.warnings()))
        self.assertIn('there is no capacity', self.warnings()[0])

        # What comes meanwhile is not kept waiting.
        self._have_db(3)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-3': 1}, self._hosts())

        # When there is capacity, a later pass finds the capacity.
        self.assertEqual(2, self.log_in.call_count)
        self.assertTrue(self.once())
        self.assertEqual(2, self.log_in.call_count)
        self._later(11)
        self.assertTrue(self.once())
        self.assertEqual(3, self.log_in.call_count)
        self._delete(full)
        self._later(21)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1, 'node-3': 1},
                         self._hosts())

    def test_over_quota(self):
        self._have_db(2)
        self.flags(instances=3, group='quota')
        for _ in range(3):
            self.assertTrue(self.once())
        self.assertEqual({'node-1': 1}, self._hosts())
        self.assertEqual(1, self.log_in.call_count)
        warning, = self.warnings()
        self.assertIn('Quota exceeded', warning)

    def test_a_build_that_fails(self):
        """It is replaced, but not at once."""
        self._have_full_host()
        with mock.patch.object(tenant_calls.Client, 'room',
                               return_value=plan_resources.Room(1, None)):
            self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, None: 1}, self._hosts())
        for _ in range(3):
            self.assertTrue(self.another())
        self.assertEqual(1, self.log_in.call_count)
        self._later(301)
        self.assertTrue(self.another())
        self.assertEqual(2, self.log_in.call_count)
        self.assertEqual({'node-1': 1}, self._hosts())

    def test_a_project_that_nobody_can_log_in_to(self):
        self._have_db(2)
        self.log_in.side_effect = exception.WorkerWithoutToken(
            'Scaled services do not follow in project '
            f'{self.alice.project_id}: the user of [service_user] in '
            'nova.conf cannot log in to the project (HTTP 401).')
        for _ in range(3):
            self.assertTrue(self.another())
        self.assertEqual({'node-1': 1}, self._hosts())
        warning, = self.warnings()
        self.assertIn('Scaled services do not follow', warning)

    def test_one_project_of_two(self):
        """The first project's failure does not keep the other one waiting."""
        self._have_db(2)
        theirs = self.client_of('dora', 'f' * 32)
        self.client, client = self.as_library(theirs), self.client
        self.boot(theirs, {'service': 'db'}, zone='az1')
        self._deploy('agent')
        self.boot(theirs, {'service': 'db'}, zone='az3')

        def failing(project):
            if project == self.alice.project_id:
                raise failure
            return test_following.context_of(project)

        self.log_in.side_effect = failing
        failure = exception.Unavailable()
        self.assertFalse(self.once())
        self.assertEqual({'node-1': 1, 'node-3': 1}, self._hosts())
        failure = KeyError('nobody expects this')
        self.assertTrue(self.once())
        self.client = client
        self.assertEqual({'node-1': 1}, self._hosts())


class TwoWorkersTest(test_following.FollowingTestCase):
    """Any number of workers may run, and any of them may die."""

    def test_a_worker_during_a_pass_of_another(self):
        """Both start a unit, and one stays."""
        self._have_db(2)
        request = tenant_calls._Adapter.request
        posts = []

        def interrupted(adapter, path, method, *args, **options):
            if (path, method) == ('/servers', 'POST'):
                posts.append(path)
                if len(posts) == 1:
                    self.another()
            return request(adapter, path, method, *args, **options)

        with mock.patch.object(tenant_calls._Adapter, 'request', interrupted):
            self.assertTrue(self.once())
        self.assertEqual(2, len(posts))
        self.pass_until({'node-1': 1, 'node-2': 1})
        self.another()
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())

    def test_workers_at_the_same_time(self):
        self._have_db(2)
        workers = [threading.Thread(target=self.another) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.pass_until({'node-1': 1, 'node-2': 1})

    def test_workers_that_remove_at_the_same_time(self):
        """Nova is asked to stop the unit, and to delete the unit, once."""
        second = self._have_db(2)
        self.assertTrue(self.once())
        self._hosts()
        self._delete(second)

        def removed():
            workers = [threading.Thread(target=self.another)
                       for _ in range(3)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            self.assertEqual({'node-1': 1}, self._hosts())

        unit = self._unit_on('node-2')
        send, stops = compute_rpcapi.ComputeAPI.stop_instance, []

        def counted(api, context, instance, *args, **kwargs):
            stops.append(instance.uuid)
            return send(api, context, instance, *args, **kwargs)

        with mock.patch.object(compute_rpcapi.ComputeAPI, 'stop_instance',
                               counted):
            self.wait_until(removed)
        self.assertEqual([unit.id], stops)
        self.assertEqual([], self.warnings())

    def _killed_before(self, number):
        """Kill a worker before one of its calls.

        :returns: whether there were so many calls
        """
        request, left = tenant_calls._Adapter.request, [number]

        def killing(adapter, *args, **options):
            left[0] -= 1
            if not left[0]:
                raise kills.Killed()
            return request(adapter, *args, **options)

        with mock.patch.object(tenant_calls._Adapter, 'request', killing):
            try:
                self.another()
            except kills.Killed:
                return True
        return False

    def test_killed_before_any_call(self):
        """Afterwards there is one unit, and none after the removal.

        Whoever is killed after a call is killed before the next one. A removal
        is two looks: one stops the unit, and one deletes the unit.
        """
        number, is_killed = 0, True
        while is_killed:
            number += 1
            second = self._have_db(2)
            is_killed = self._killed_before(number)
            self._has_after_a_pass({'node-1': 1, 'node-2': 1})
            unit = {'id': self._unit_on('node-2').id}
            self._delete(second)
            is_killed |= self._killed_before(number)
            self.another()
            self.wait_for(unit, status='SHUTOFF')
            is_killed |= self._killed_before(number)
            self._has_after_a_pass({'node-1': 1})
        self.assertGreater(number, 6)

    def _has_after_a_pass(self, expected):
        # What is being deleted is waited for.
        def passed():
            self.assertTrue(self.another())
            self.assertEqual(expected, self._hosts())

        self.wait_until(passed)


class SlowStopTest(test_following.FollowingTestCase):
    """A server takes its time to stop, as its image says."""

    def setUp(self):
        super().setUp()
        self.second = self._have_db(2)
        self.assertTrue(self.once())
        self._hosts()
        self.slow = self._unit_on('node-2')
        self._delete(self.second)
        self.stops = []
        self.send = compute_rpcapi.ComputeAPI.stop_instance
        patch = mock.patch.object(
            compute_rpcapi.ComputeAPI, 'stop_instance', self._hold())
        patch.start()
        self.addCleanup(patch.stop)
        patch = mock.patch.object(waits, 'time', wraps=time)
        self.sleep = patch.start().sleep
        self.addCleanup(patch.stop)

    def _hold(self):
        """Return a call that lets the host be asked later."""
        def stop_instance(*args, **kwargs):
            self.stops.append((args, kwargs))

        return stop_instance

    def stopping(self):
        """Return the servers whose hosts were to stop the servers."""
        return [args[2].uuid for args, _ in self.stops]

    def let_stop(self):
        """Let the servers stop."""
        for args, kwargs in self.stops:
            self.send(*args, **kwargs)

    def test_another_project(self):
        """One pass stops the server, and starts another project's unit."""
        theirs = self.client_of('dora', 'f' * 32)
        client, self.client = self.client, self.as_library(theirs)
        self.boot(theirs, {'service': 'db'}, zone='az1')
        self._deploy('agent')
        self.boot(theirs, {'service': 'db'}, zone='az3')
        self.sleep.reset_mock()
        self.assertTrue(self.once())
        self.sleep.assert_not_called()
        self.assertEqual([self.slow.id], self.stopping())
        self.assertEqual({'node-1': 1, 'node-3': 1}, self._hosts())
        self.client = client
        slow = self.client.servers.get(self.slow.id)
        self.assertEqual('powering-off', slow.task)
        # What is known to be under way costs no call, whoever looks.
        self.log_in.reset_mock()
        self.assertTrue(self.another())
        self.log_in.assert_not_called()
        self.let_stop()
        self.pass_until({'node-1': 1})
        self.sleep.assert_not_called()
        self.assertEqual([self.slow.id], self.stopping())

    def test_what_comes_back_meanwhile(self):
        """What has begun is brought to an end, and a new unit comes."""
        self.assertTrue(self.another())
        self._have_db(2)
        self.assertTrue(self.another())
        self.let_stop()

        def replaced():
            self.another()
            self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())
            self.assertNotEqual(self.slow.id, self._unit_on('node-2').id)

        self.wait_until(replaced)
        self.assertEqual(servers.ACTIVE, self._unit_on('node-2').status)
        self.assertEqual([self.slow.id], self.stopping())
