# SPDX-License-Identifier: Apache-2.0

"""The Python client in front of real Nova."""

import collections
import concurrent.futures
import contextlib
import inspect
import threading
import types
from unittest import mock

from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session
from nova.compute import multi_cell_list
from nova import context as nova_context
from nova import objects
from nova.tests import fixtures as nova_fixtures

from pcloud.client.deploy import checks
from pcloud.client.deploy import deployments
from pcloud.client.deploy import plans
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import sync
from pcloud.client import servers
from pcloud.client import v1
from pcloud.tests.functional import base
from pcloud.tests.functional import shared_cloud


class _InProject(noauth.NoAuth):
    """Logged in to a project, without Keystone."""

    def __init__(self, endpoint, project_id):
        super().__init__(endpoint=endpoint)
        self._project_id = project_id

    def get_project_id(self, session, **options):
        """Return the id of the project."""
        return self._project_id


class ClientTestCase(shared_cloud.SharedCloudTestCase):
    """The Python client is logged in without Keystone.

    :cvar library: the class of the client
    """

    library = v1.Client

    def as_library(self, user: base.Client) -> v1.Client:
        """Return the Python client, logged in as a user."""
        return self.library(
            ksa_session.Session(_InProject(self.base_url, user.project_id)),
            additional_headers={
                'X-Auth-User': user.auth_user, 'X-User-Id': user.auth_user,
                'X-Auth-Project-Id': user.project_id,
                'X-Roles': ','.join(user.roles)})


class ServersTest(ClientTestCase):
    """Servers are in two cells."""

    NUMBER_OF_CELLS = 2
    hosts = {'node-1': 'az1', 'node-2': 'az2'}

    def furnish(self):
        super().furnish()
        self.nova = self.as_library(self.alice).servers
        self.near = [self.boot(self.alice, {'service': 'web'}, zone='az1')
                     for _ in range(2)]
        self.far = [self.boot(self.alice, {'service': 'web'}, zone='az2')
                    for _ in range(2)]
        self.boot(self.bob, zone='az2')

    def _start_compute(self, host, cell_name=None):
        return super()._start_compute(
            host, 'cell2' if host == 'node-2' else 'cell1')

    def _ids(self, *groups):
        return sorted(each['id'] for group in groups for each in group)

    @contextlib.contextmanager
    def _lose_the_second_cell(self):
        with nova_fixtures.DownCellFixture(objects.CellMappingList(
                objects=[self.cell_mappings['cell2']])):
            ask = nova_context.scatter_gather_cells

            def ask_any(context, cells, timeout, read, *args, **more):
                # The fixture expects a method, or a function of Nova 32.
                is_expected = inspect.ismethod(read) or read is getattr(
                    multi_cell_list, 'query_wrapper', None)
                return ask(context, cells, timeout,
                           read if is_expected else
                           types.MethodType(lambda _, *its: read(*its), self),
                           *args, **more)
            with mock.patch.object(
                    nova_context, 'scatter_gather_cells', ask_any):
                yield

    def test_all_pages(self):
        for size in (1, 2, 3, 4, 5):
            self.flags(max_limit=size, group='api')
            self.assertEqual(
                self._ids(self.near, self.far),
                sorted(each.id for each in self.nova.list_all()))

    def test_what_is_told_of_one(self):
        found = {each.id: each for each in self.nova.list_known()}
        shown = self.alice.get_server(self.far[0]['id'])
        self.assertEqual(
            (shown['created'], shown['hostId'], '', 'web'),
            (found[shown['id']].created, found[shown['id']].host_id,
             found[shown['id']].task, found[shown['id']].hint('service')))

    def test_a_cell_that_is_down(self):
        with self._lose_the_second_cell():
            found = {each.id: each for each in self.nova.list_all()}
            self.assertRaises(servers.NotAllKnown, self.nova.list_known)
        self.assertEqual(self._ids(self.near, self.far), sorted(found))
        for each in self.near:
            self.assertEqual('ACTIVE', found[each['id']].status)
        for each in self.far:
            self.assertEqual(servers.Server(
                each['id'], status='UNKNOWN',
                created=found[each['id']].created), found[each['id']])

    def test_a_cell_that_is_down_and_many_servers(self):
        """Nova tells of as many as have place on the first page."""
        for size in (1, 2, 3, 4, 5):
            self.flags(max_limit=size, group='api')
            with self._lose_the_second_cell():
                found = {each.id: each for each in self.nova.list_all()}
                self.assertRaises(servers.NotAllKnown, self.nova.list_known)
            self.assertEqual(self._ids(self.near, self.far), sorted(found))
            self.assertEqual(
                self._ids(self.far), sorted(
                    each.id for each in found.values()
                    if each.status == 'UNKNOWN'))

    def test_servers_that_are_hidden(self):
        """Everybody is told of the own project's alone."""
        path = '/os-pcloud-hidden-servers'
        self.assertEqual({'hidden_servers': []},
                         self.alice.get_json(path))
        with self._lose_the_second_cell():
            self.assertEqual({'hidden_servers': self._ids(self.far)},
                             self.alice.get_json(path))
            hidden = self.bob.get_json(path)['hidden_servers']
            self.assertEqual([], self.admin.get_json(path)['hidden_servers'])
        self.assertEqual(1, len(hidden))
        self.assertNotIn(hidden[0], self._ids(self.far))


class ServicesTest(ClientTestCase):
    """Services are deployed and brought up to date."""

    hosts = {'node-1': 'az1', 'node-2': 'az2'}

    def setUp(self):
        super().setUp()
        self.told = []
        self.pace = server_runs.Pace(60, self.told.append)
        self.image = servers.Image(self.glance.image1['id'])
        self.client = self.as_library(self.alice)
        self._flavor('helper', 512)
        self._flavor('medium', 2560)
        self._flavor('large', 5120)

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'ColocationFilter'],
                   group='filter_scheduler')

    def _flavor(self, name, memory_mb):
        self.make_flavor(name, memory_mb=memory_mb,
                         extra_specs={'pcloud:co_located': 'allow'})

    def _find_image(self, _name):
        return self.image

    def _part(self, service, flavor='helper'):
        return plans.Part(service, self.image.id, flavor)

    def _deploy(self, *parts, user=None, **order):
        *parts, main = parts
        return deployments.deploy(
            self.as_library(user or self.alice), self._find_image,
            plans.Order(main, tuple(parts), networks='none', **order),
            self.pace)

    def _where(self, service):
        return [self.host_of({'id': each.id})
                for each in self.client.servers.list_all()
                if each.hint('service') == service]

    def test_a_group_goes_to_the_unit_with_room(self):
        """Of 7680 MiB two groups of 3072 fit, and none beside 5120."""
        for zone in ('az1', 'az2'):
            self.boot(self.alice, {'service': 'db'}, zone=zone)
        self.boot(self.alice, zone='az1', flavorRef='large')
        group = self._part('disk'), self._part('web', 'medium')
        for _ in range(2):
            disk, web = self._deploy(*group, parent='db')
            self.assertEqual(web.id, disk.parent)
            self.assertEqual('node-2', self.host_of({'id': web.parent}))
        self.assertEqual(['node-2'] * 2, self._where('disk'))
        # She may not ask how much is free outside of Pclouds.
        error = self.assertRaises(
            server_runs.DeploymentFailed, self._deploy, *group, parent='db')
        self.assertIn('no host has room for all of its group', str(error))
        self.assertEqual(['node-2'] * 2, self._where('disk'))

    def test_a_group_in_a_large_cloud(self):
        """Placement's limit does not hide the host of the parent."""
        self.flags(max_placement_results=1, group='scheduler')
        group = self._part('disk'), self._part('web', 'medium')
        for zone, host in (('az1', 'node-1'), ('az2', 'node-2')):
            self.boot(self.admin, {'service': zone}, zone=zone)
            units = self._deploy(*group, parent=zone, user=self.admin)
            self.assertEqual(
                [host] * 2, [self.host_of({'id': unit.id}) for unit in units])

    def test_a_parent_that_cannot_be_stopped(self):
        disk, web = self._deploy(self._part('disk'), self._part('web'))
        self._act(web, 'lock')
        for undeploy, text, names in (
                (deployments.undeploy, 'nothing was deleted.',
                 ['disk', 'web']),
                (deployments.undeploy_by_force, 'Not deleted: web', ['web'])):
            error = self.assertRaises(
                server_runs.NotStopped, undeploy, self.client, 'web',
                self.pace)
            self.assertIn(text, str(error))
            self.assertIn(f'unlock it (openstack server unlock {web.id})',
                          str(error))
            self.assertEqual(names, sorted(
                each.name for each in self.client.servers.list_all()))
        self._act(web, 'unlock')
        deployments.undeploy(self.client, 'web', self.pace)
        self.assertEqual([], self.client.servers.list_all())

    def _act(self, unit, action):
        response = self.alice.call(
            'POST', f'/servers/{unit.id}/action', {action: None})
        self.assertEqual(202, response.status_code)

    def test_room_for_some(self):
        group = self._part('disk'), self._part('web', 'large')
        error = self.assertRaises(
            checks.DeploymentRefused, self._deploy, *group, count=3,
            user=self.admin)
        self.assertIn('no room outside of Pclouds for 3 times helper and '
                      'large together on one host, only for 2', str(error))
        # Who may not ask has it tried, and taken back.
        error = self.assertRaises(
            server_runs.DeploymentFailed, self._deploy, *group, count=3)
        self.assertIn('no host has room for all of its group', str(error))
        self.assertEqual([], self.client.servers.list_all())
        self.assertEqual(4, len(self._deploy(*group, count=2)))

    def test_two_runs_at_the_same_time(self):
        """None of them sees what the other is about to start."""
        self._deploy(self._part('db'))
        before = self._where('db')
        self.boot(self.alice, {'service': 'db'}, zone={
            'node-1': 'az2', 'node-2': 'az1'}[before[0]])
        both = threading.Barrier(2)

        def find_image(name):
            # Both have looked, and none has started anything.
            both.wait(60)
            return self.image

        def run():
            client = self.as_library(self.alice)
            return deployments.deploy(client, find_image, plans.Order(
                self._part('agent'), scale_with='db', networks='none'),
                self.pace)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(run) for _ in range(2)]
            units = [unit for each in runs for unit in each.result()]
        self.assertEqual(2, len(units))
        self.assertEqual(2, len([each for each in self.told
                                 if 'not needed' in each]), self.told)
        self.assertEqual({'node-1': 1, 'node-2': 1},
                         collections.Counter(self._where('agent')))
        self.assertEqual([], sync.sync(self.client, 'agent', self.pace))
