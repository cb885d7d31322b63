# SPDX-License-Identifier: Apache-2.0

"""The Python client in front of real Nova."""

import contextlib
import inspect
import types
from unittest import mock

from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session
from nova.compute import multi_cell_list
from nova import context as nova_context
from nova import objects
from nova.tests import fixtures as nova_fixtures

from pcloud.client import servers
from pcloud.client import v1
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud


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
