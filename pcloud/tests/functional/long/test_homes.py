# SPDX-License-Identifier: Apache-2.0

"""Shelved servers whose Pcloud is deleted, or closed to their project."""

from unittest import mock

import fixtures
from nova import objects

from pcloud.api.nova_calls import kept_requests
from pcloud.audit import all_checks
from pcloud.objects import homes
from pcloud.tests.functional.quick import test_api
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import outages

_HOST = 'OS-EXT-SRV-ATTR:host'


class HomeTestCase(test_api.ApiTestCase):
    """A Pcloud with a host and two tenants, of which one has a server."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.flags(shelved_offload_time=0)
        self.make_pool('gpu', 'node-1')
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}'
        self.of_bob = f'{self.path}/tenants/{base.BOB}'
        self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.check(204, self.alice, 'PUT', self.of_bob)

    def setUp(self):
        super().setUp()
        self.flags(shelved_offload_time=0)

    def shelved(self, user, hints=None):
        """Start a server, shelve the server, and return the id."""
        server = self.boot(user, {'pcloud': self.pcloud}
                           if hints is None else hints)
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED', **{_HOST: None})
        return server['id']

    def remove_host(self):
        host = f'{self.path}/hosts/a'
        self.check(200, self.alice, 'PUT', host,
                   {'host': {'state': 'disabled'}})
        self.check(204, self.alice, 'DELETE', host)

    def reasons(self, path):
        """Return the objects that a refused deletion names."""
        response = self.alice.call('DELETE', path)
        self.assertEqual(409, response.status_code, response.text)
        fault = response.json()['conflictingRequest']
        self.assertIn('force=1', fault['message'])
        for reason in fault['reasons']:
            self.assertEqual('server', reason['type'])
            self.assertIn(reason['uuid'], fault['message'])
        return [reason['uuid'] for reason in fault['reasons']]

    def unshelve(self, user, server, **more):
        return user.call('POST', f'/servers/{server}/action',
                         {'unshelve': more or None})

    def assert_homeless(self, server, *users):
        for user in users or [self.bob]:
            response = self.unshelve(user, server)
            self.assertEqual(409, response.status_code, response.text)
            self.assertIn(self.pcloud, response.text)
            self.assertIn('it does not exist, or the project is not one of '
                          'its tenants', response.text)

    def lost(self):
        """Return the messages of the audit about lost servers."""
        return [each.message for each in
                all_checks.find(self.context, settle=0)
                if (each.kind, each.aggregate) ==
                ('server-without-home', f'Pcloud:{self.pcloud}')]


class HomeTest(HomeTestCase):

    def test_a_deleted_pcloud(self):
        servers = sorted([self.shelved(self.alice), self.shelved(self.bob)])
        self.assertIn('has hosts',
                      self.check(409, self.alice, 'DELETE', self.path))
        self.remove_host()
        self.assertEqual(servers, self.reasons(self.path))
        self.check(200, self.alice, 'GET', self.path)
        self.assertEqual([], self.lost())
        self.check(204, self.alice, 'DELETE', f'{self.path}?force=1')
        message, = self.lost()
        self.assertIn('2 shelved servers', message)
        for server, user in zip(servers, (self.admin, self.admin)):
            self.assertIn(server, message)
            self.assert_homeless(server, user)

    def test_a_removed_tenant(self):
        server = self.shelved(self.bob)
        self.shelved(self.alice)
        self.assertEqual([server], self.reasons(self.of_bob))
        self.check(204, self.alice, 'DELETE', f'{self.of_bob}?force=true')
        self.check(404, self.alice, 'DELETE', self.of_bob)
        message, = self.lost()
        self.assertIn(server, message)
        self.assertIn('1 shelved server ', message)
        self.assert_homeless(server, self.bob, self.admin)
        self.assertEqual(404, self.unshelve(self.alice, server).status_code)
        # The way out that the answer names.
        self.check(204, self.alice, 'PUT', self.of_bob)
        self.assertEqual([], self.lost())
        self.assertEqual(202, self.unshelve(self.bob, server).status_code)
        self.wait_for({'id': server}, status='ACTIVE')

    def test_the_other_way_out(self):
        """A new server from the image of the shelved server."""
        server = self.shelved(self.bob)
        self.check(204, self.alice, 'DELETE', f'{self.of_bob}?force=1')
        self.assert_homeless(server)
        name = self.bob.get_server(server)['name']
        # Later versions do not list images.
        self.bob.microversion = '2.35'
        image, = [each['id'] for each in self.bob.get_images()
                  if each['name'] == f'{name}-shelved']
        self.bob.microversion = 'latest'
        self.boot(self.bob, imageRef=image)

    def test_every_version_of_the_call(self):
        server = self.shelved(self.bob)
        self.check(204, self.alice, 'DELETE', f'{self.of_bob}?force=1')
        for version, more in (
                ('2.1', {}), ('2.76', {}),
                ('2.77', {'availability_zone': 'az1'}),
                ('2.91', {'availability_zone': None})):
            self.bob.microversion = version
            response = self.unshelve(self.bob, server, **more)
            self.assertEqual(409, response.status_code, response.text)
        self.assertEqual(409, self.unshelve(
            self.admin, server, host='node-2').status_code)
        self.wait_for({'id': server}, status='SHELVED_OFFLOADED')

    def test_servers_with_another_home(self):
        for hints in ({'pcloud_prefer': self.pcloud}, {'pcloud': 'none'}):
            server = self.shelved(self.bob, hints)
            self.check(204, self.alice, 'DELETE', self.of_bob)
            self.assertEqual([], self.lost())
            self.assertEqual(
                202, self.unshelve(self.bob, server).status_code)
            self.wait_for({'id': server}, status='ACTIVE')
            self.check(204, self.alice, 'PUT', self.of_bob)

    def test_servers_of_another_pcloud(self):
        other = self.make_pcloud(self.alice, 'other')
        self.shelved(self.alice)
        self.check(204, self.alice, 'DELETE', f'/os-pclouds/{other}')

    def test_servers_on_hosts(self):
        """A running server stays; a shelved one leaves the host one day."""
        running = self.boot(self.bob, {'pcloud': self.pcloud})
        self.check(204, self.alice, 'DELETE', self.of_bob)
        self.check(204, self.alice, 'PUT', self.of_bob)
        self.flags(shelved_offload_time=-1)
        self.act(running, {'shelve': None})
        self.wait_for(running, status='SHELVED')
        self.assertEqual([running['id']], self.reasons(self.of_bob))
        self.check(204, self.alice, 'DELETE', f'{self.of_bob}?force=1')
        self.assertEqual([], self.lost())
        self.assertEqual(
            202, self.unshelve(self.bob, running['id']).status_code)
        self.wait_for(running, status='ACTIVE')

    def test_deleted_servers(self):
        server = self.shelved(self.bob)
        self.bob.call_json('DELETE', f'/servers/{server}')
        self._wait_until_deleted({'id': server})
        self.check(204, self.alice, 'DELETE', self.of_bob)

    def test_many_servers(self):
        servers = sorted(self.shelved(self.alice) for _ in range(3))
        self.useFixture(fixtures.MockPatchObject(homes, '_MOST', 2))
        self.remove_host()
        self.assertEqual(servers[:2], self.reasons(self.path))
        self.assertIn('3 shelved servers', self.check(
            409, self.alice, 'DELETE', self.path))
        self.assertIn('and 1 more', self.check(
            409, self.alice, 'DELETE', self.path))

    def test_few_and_many_servers_cost_the_same(self):
        """Deletions, removals, the audit, and unshelving without a home."""
        def costs(server):
            def audit():
                return all_checks.find(self.context, settle=0)

            found = [counting.least(lambda: self.alice.call('DELETE', path))
                     for path in (self.of_bob, self.path)]
            self.check(204, self.alice, 'DELETE', f'{self.of_bob}?force=1')
            found += map(counting.least, (
                audit, lambda: self.unshelve(self.bob, server)))
            self.check(204, self.alice, 'PUT', self.of_bob)
            return found

        server = self.shelved(self.bob)
        other = self.shelved(self.bob, {'pcloud': 'none'})
        self.remove_host()
        few = costs(server)
        self.admin.call_json('POST', f'{self.path}/hosts', {
            'host': {'name': 'a', 'host_flavor': 'gpu'}})
        self.check(200, self.alice, 'PUT', f'{self.path}/hosts/a',
                   {'host': {'state': 'enabled'}})
        for _ in range(3):
            self.shelved(self.bob)
        self.remove_host()
        self.assertEqual(few, costs(server))
        # Who uses no Pcloud pays for one statement.
        found, check = [], kept_requests.check
        with mock.patch.object(
                kept_requests, 'check', lambda call: found.append(
                    counting.count(lambda: check(call)))):
            self.unshelve(self.bob, other)
        self.assertEqual([counting.Count(1, 0)], found)
        self.wait_for({'id': other}, status='ACTIVE')

    def test_a_server_of_a_strict_default(self):
        self.admin.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.BOB}', {
                'policy': {'default_pcloud': {
                    'pcloud': self.pcloud, 'mode': 'strict'}}})
        server = self.shelved(self.bob, {})
        self.assertEqual([server], self.reasons(self.of_bob))
        self.check(204, self.alice, 'DELETE', f'{self.of_bob}?force=1')
        self.assert_homeless(server)

    def test_a_silent_cell(self):
        """Nobody is told that there is no such server."""
        self.shelved(self.bob)
        self.remove_host()
        cell = next(each for each in objects.CellMappingList.get_all(
            self.context) if not each.is_cell0())
        with outages.SilentCell(cell):
            for path in (self.of_bob, self.path):
                self.check(503, self.alice, 'DELETE', path)
            self.assertIn('shelved servers', [
                each.aggregate for each in all_checks.find(
                    self.context, settle=0) if each.kind == 'not-looked-at'])
            for path in (self.of_bob, self.path):
                self.check(204, self.alice, 'DELETE', f'{path}?force=1')

    def test_what_force_takes(self):
        for query in ('force=perhaps', 'farce=1'):
            self.check(400, self.alice, 'DELETE', f'{self.path}?{query}')
            self.check(400, self.alice, 'DELETE', f'{self.of_bob}?{query}')
        self.assertIn('has hosts', self.check(
            409, self.alice, 'DELETE', f'{self.path}?force=1'))
