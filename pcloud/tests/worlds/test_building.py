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

"""Servers that are built late, and on alternates, while hosts change hands."""

from unittest import mock

import fixtures

from pcloud.audit import all_checks
from pcloud.backend import arrivals
from pcloud.tests.functional import base
from pcloud.tests.functional import driver
from pcloud.tests.worlds import copies
from pcloud.tests.worlds import turns
from pcloud.tests.worlds import world

GPU = '/os-host-flavors/gpu/hosts'


class BuildingTestCase(world.WorldTestCase):
    """Servers whose first build fails, with a single alternate host."""

    compute_driver = 'fake.HeldDriver'

    def setUp(self):
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.HeldDriver', driver.HeldDriver))
        driver.HeldDriver.gate = driver.Gate()
        # The first build fails, and no later build.
        driver.HeldDriver.gate.failures = 1
        super().setUp()
        self.make_pool('gpu')
        self.mine = self.make_pcloud(self.alice)

    def builder(self, project, hint=None, number=1):
        """Return the actor that has servers built."""
        def work():
            user = self.client_of('builder', project)
            body = {'server': {**self._build_server(
                flavor_id='1', networks='none', az='az1'), 'name': 'built',
                'min_count': number, 'return_reservation_id': True}}
            if hint:
                body['os:scheduler_hints'] = {'pcloud': hint}
            user.call_json('POST', '/servers', body)
        return turns.Actor('builder', work, stands=False)

    def taking(self, project, pcloud):
        """Yield the calls that get a host and have servers placed there."""
        path = f'/os-pclouds/{pcloud}/hosts'
        yield project, world.MEMBER, ('POST', path, {
            'host': {'name': 'new', 'host_flavor': 'gpu'}})
        yield project, world.MEMBER, ('PUT', f'{path}/new', {
            'host': {'state': 'enabled'}})

    def remembered(self):
        """Return the aggregates that the scheduler knows."""
        known = self.scheduler.manager.host_manager.aggs_by_id
        return {key: [each.name, sorted(each.hosts), each.metadata]
                for key, each in known.items()}

    def _check_end(self):
        # The servers, and hosts that wait for them, may be the only findings.
        self.assertLessEqual(
            {each.kind for each in all_checks.find(self.context, settle=0)},
            {'server-on-free-host', 'change-not-finished'})
        for server in self.admin.get_servers(
                search_opts={'all_tenants': 1}):
            self._delete_server(server)
        super()._check_end()


class EnteringTest(BuildingTestCase):
    """A public host of two enters a pool, and a user requests the host."""

    def setUp(self):
        super().setUp()
        self.entering = self.actor(
            'mover',
            (base.CAROL, world.ADMIN, (
                'PUT', f'/os-services/{self.service_id("node-2")}',
                {'status': 'disabled'})),
            (base.CAROL, world.ADMIN, (
                'POST', GPU, {'host': {'host': 'node-2'}})),
            *self.taking(base.ALICE, self.mine))

    def test_one_server(self):
        self.explore(self.builder(base.BOB), self.entering)

    def test_two_servers(self):
        self.explore(self.builder(base.BOB, number=2), self.entering)


class LeavingTestCase(BuildingTestCase):
    """A host of two leaves a Pcloud, and a second user requests the host."""

    def setUp(self):
        super().setUp()
        for host in self.hosts:
            self.disable_service(host)
            self.admin.call_json('POST', GPU, {'host': {'host': host}})
        theirs = self.make_pcloud(self.bob)
        names = {self.add_host(self.alice, self.mine, name, 'gpu'): name
                 for name in 'ab'}
        path = f'/os-pclouds/{self.mine}/hosts/{names["node-2"]}'
        self.leaving = self.actor(
            'mover',
            (base.ALICE, world.MEMBER, ('PUT', path, {
                'host': {'state': 'disabled'}})),
            (base.ALICE, world.MEMBER, ('DELETE', path)),
            *self.taking(base.BOB, theirs))


class LeavingTest(LeavingTestCase):

    def test_one_server(self):
        self.explore(self.builder(base.ALICE, self.mine), self.leaving)

    def test_two_servers(self):
        self.explore(
            self.builder(base.ALICE, self.mine, 2), self.leaving)


class PlantedTest(LeavingTestCase):
    """The same with hosts that do not settle."""

    def test_a_server_on_a_host_of_another_project(self):
        with (mock.patch.object(arrivals, 'awaited', lambda *_: frozenset()),
              self.assertRaisesRegex(copies.CopyFailed, "'node-2' not in")):
            self.explore(self.builder(base.ALICE, self.mine), self.leaving)
