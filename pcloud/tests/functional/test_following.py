# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Scaled services follow others by passes of a worker, in front of real Nova.

Keystone is not there, so a context takes the place of a token.
"""

import threading
from unittest import mock

from nova import context as nova_context
from oslo_utils import fixture as utils_fixture

from pcloud.backend import complaints
from pcloud.client.deploy import deployments
from pcloud.client import resources
from pcloud import exception
from pcloud.tests import counting
from pcloud.tests.functional import kills
from pcloud.tests.functional import outages
from pcloud.tests.functional import test_scaling
from pcloud.worker import credentials
from pcloud.worker import passes
from pcloud.worker import scaled_services
from pcloud.worker import tenant_calls


def _context(project, user):
    """Return the context of a member of a project, as with a token."""
    return nova_context.RequestContext(
        user_id=user, project_id=project, roles=['member', 'reader'],
        is_admin=False, auth_token='token', overwrite=False)


class FollowingTestCase(test_scaling.ScalingTestCase):
    """There is a unit of db on the first host, and one of agent with it."""

    def setUp(self):
        super().setUp()
        self.memory = scaled_services.Memory()
        patch = mock.patch.object(credentials, 'context', side_effect=_context)
        self.log_in = patch.start()
        self.addCleanup(patch.stop)
        complaints.once.cache_clear()

    def once(self, memory=None):
        """Make a pass, and return whether all could be done."""
        return passes.services(
            nova_context.get_admin_context(),
            self.memory if memory is None else memory)

    def another(self):
        """Make a pass of another worker, which remembers nothing."""
        return self.once(scaled_services.Memory())

    def warnings(self):
        """Return the lines of the log about scaled services."""
        return [line for line in self.stdlog.logger.output.splitlines()
                if 'caled services' in line and 'WARNING' in line]

    def _unit_on(self, host):
        unit, = [unit for unit in self._units()
                 if self.host_of({'id': unit.id}) == host]
        return unit


class FollowingTest(FollowingTestCase):

    def test_one_that_comes_and_goes(self):
        second = self._have_db(2)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())
        like, new = (self.alice.get_server(self._unit_on(host).id)
                     for host in ('node-1', 'node-2'))
        self.assertEqual('agent-1', new['name'])
        for member in ('tenant_id', 'user_id', 'flavor', 'image',
                       'config_drive', 'key_name'):
            self.assertEqual(like[member], new[member], member)
        self.assertEqual(
            {'service': ['agent'], 'in': [second['id']]},
            new['scheduler_hints'])
        self.assertEqual({'pcloud_scale_with', 'pcloud_scaled_at'},
                         new['metadata'].keys())
        self._delete(second)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1}, self._hosts())

    def test_the_user_is_the_user_of_the_unit_that_is_copied(self):
        eve = self.client_of('eve', self.alice.project_id)
        self.client = self.as_library(eve)
        self._deploy('log')
        self._have_db(2)
        self.assertTrue(self.once())
        self._hosts()
        self._hosts('log')
        self.assertEqual(
            [('agent', 'alice')] * 2 + [('log', 'eve')] * 2,
            sorted((unit.hint('service'),
                    self.alice.get_server(unit.id)['user_id'])
                   for service in ('agent', 'log')
                   for unit in self._units(service)))

    def test_services_that_share_a_server(self):
        """What is co-located with a unit goes with the unit."""
        second = self._have_db(2)
        self.once()
        self._hosts()
        unit = self._unit_on('node-2')
        self.boot(self.alice, {'service': 'child', 'in': unit.id},
                  flavorRef='helper', name='child')
        self._delete(second)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1}, self._hosts())
        self.assertEqual([], self._units('child'))

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
        self.memory = scaled_services.Memory()
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


class PcloudTest(FollowingTestCase):
    """The service is in a Pcloud."""

    def test_units_in_a_pcloud(self):
        self.make_pool('gpu', 'node-2', 'node-3')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu')
        self.boot(self.alice, {'service': 'db', 'pcloud': pcloud})
        self.assertTrue(self.once())
        self.assertEqual(2, len(self._hosts()))
        unit, = [unit for unit in self._units() if unit.hint('pcloud')]
        self.assertEqual(pcloud, unit.hint('pcloud'))
        self.assertTrue(self.once())
        self.assertEqual(1, self.log_in.call_count)


class TroubleTest(FollowingTestCase):
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
        self.assertIn('there is no room', self.warnings()[0])

        # What comes meanwhile is not kept waiting.
        self._have_db(3)
        self.assertTrue(self.once())
        self.assertEqual({'node-1': 1, 'node-3': 1}, self._hosts())

        # When there is room, a later pass finds the room.
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
                               return_value=resources.Room(1, None)):
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
        self.log_in.side_effect = exception.WorkerHasNoRole(
            project=self.alice.project_id, reason='HTTP 401')
        for _ in range(3):
            self.assertTrue(self.another())
        self.assertEqual({'node-1': 1}, self._hosts())
        warning, = self.warnings()
        self.assertIn('openstack pcloud service sync', warning)

    def test_one_project_of_two(self):
        """The first project's failure does not keep the other one waiting."""
        self._have_db(2)
        theirs = self.client_of('dora', 'f' * 32)
        self.client, client = self.as_library(theirs), self.client
        self.boot(theirs, {'service': 'db'}, zone='az1')
        self._deploy('agent')
        self.boot(theirs, {'service': 'db'}, zone='az3')

        def failing(project, user):
            if project == self.alice.project_id:
                raise failure
            return _context(project, user)

        self.log_in.side_effect = failing
        failure = exception.Unavailable()
        self.assertFalse(self.once())
        self.assertEqual({'node-1': 1, 'node-3': 1}, self._hosts())
        failure = KeyError('nobody expects this')
        self.assertTrue(self.once())
        self.client = client
        self.assertEqual({'node-1': 1}, self._hosts())


class TwoWorkersTest(FollowingTestCase):
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
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())
        self.another()
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())

    def test_workers_at_the_same_time(self):
        self._have_db(2)
        workers = [threading.Thread(target=self.another) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertTrue(self.another())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())

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

        Whoever is killed after a call is killed before the next one.
        """
        number, is_killed = 0, True
        while is_killed:
            number += 1
            second = self._have_db(2)
            is_killed = self._killed_before(number)
            self._has_after_a_pass({'node-1': 1, 'node-2': 1})
            self._delete(second)
            is_killed |= self._killed_before(number)
            self._has_after_a_pass({'node-1': 1})
        self.assertGreater(number, 7)

    def _has_after_a_pass(self, expected):
        # What is being deleted is waited for.
        def passed():
            self.assertTrue(self.another())
            self.assertEqual(expected, self._hosts())

        self.wait_until(passed)
