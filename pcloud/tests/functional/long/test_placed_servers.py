# SPDX-License-Identifier: Apache-2.0

"""Which servers of a project are on hosts of which Pclouds."""

from unittest import mock

import ddt
from oslo_utils import uuidutils

from pcloud.api import enforcer
from pcloud.api.policies import pclouds as policies
from pcloud.tests.functional.quick import test_cells
from pcloud.tests.functional.quick import test_client
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

PATH = '/os-pcloud-servers'


@ddt.ddt
class PlacedServersTest(shared_cloud.SharedCloudTestCase):

    hosts = {f'node-{number}': 'az1' for number in range(1, 4)}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, self.pcloud, 'web-1', 'gpu')
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.inside = self.boot(self.alice, {'pcloud': self.pcloud})['id']
        self.outside = self.boot(self.alice)['id']
        self.borrowed = self.boot(self.bob, {'pcloud': self.pcloud})['id']

    def ask(self, user, query=''):
        return user.get_json(f'{PATH}{query}')['servers']

    def place(self, server, host='web-1', rack=None):
        return {'server': server, 'host': host, 'rack': rack, 'pcloud': {
            'id': self.pcloud, 'name': self._name()}}

    def _name(self):
        return self.alice.get_json(f'/os-pclouds/{self.pcloud}')[
            'pcloud']['name']

    def test_owner_sees_the_host(self):
        self.assertEqual([self.place(self.inside)], self.ask(self.alice))

    def test_tenant_sees_no_host(self):
        self.assertEqual([self.place(self.borrowed, None)],
                         self.ask(self.bob))

    def _racks(self, **racks):
        for rack, hosts in racks.items():
            self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
                'attribute': {'value': rack, 'hosts': hosts}})

    def test_racks_have_the_numbers_that_the_hosts_have(self):
        self.add_host(self.alice, self.pcloud, 'a-first', 'gpu')
        host = self.host_of({'id': self.inside})
        self._racks(right=sorted(self.hosts.keys() - {host}), left=[host])
        number = {host['name']: host['rack'] for host in self.alice.get_json(
            f'/os-pclouds/{self.pcloud}/hosts')['hosts']}
        self.assertEqual({'a-first': 1, 'web-1': 2}, number)
        self.assertEqual([self.place(self.inside, rack=2)],
                         self.ask(self.alice))
        self.assertEqual([self.place(self.borrowed, None, 2)],
                         self.ask(self.bob))
        self._racks(right=[host])
        self.assertEqual([self.place(self.inside, rack=1)],
                         self.ask(self.alice))

    def test_names_of_racks_as_the_policy_says(self):
        self._racks(cellar=list(self.hosts))
        allow = enforcer.Enforcer.allow

        def allow_names(self, context, rule, project_id):
            return rule == policies.RACK_NAMES or allow(
                self, context, rule, project_id)

        with mock.patch.object(enforcer.Enforcer, 'allow', allow_names):
            for user, server, host in ((self.alice, self.inside, 'web-1'),
                                       (self.bob, self.borrowed, None)):
                self.assertEqual(
                    [{**self.place(server, host, 1), 'rack_name': 'cellar'}],
                    self.ask(user))
            self.assertEqual(['cellar'], self.rack_names(self.alice))
        # By default nobody sees the names, not even an administrator.
        self.assertEqual([None], self.rack_names(self.alice))
        self.assertEqual([None], self.rack_names(self.admin))

    def rack_names(self, user):
        return [host.get('rack_name') for host in user.get_json(
            f'/os-pclouds/{self.pcloud}/hosts')['hosts']]

    def test_tenant_that_is_removed(self):
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.assertEqual([], self.ask(self.bob))

    def test_administrators_are_told_of_their_own_project(self):
        self.assertEqual([], self.ask(self.admin))
        self.assertEqual(
            [], self.ask(self.admin, f'?server={self.inside}'))

    def test_named_servers(self):
        query = '&'.join(f'server={each}' for each in (
            self.inside, self.outside, self.borrowed,
            uuidutils.generate_uuid(), self.inside))
        self.assertEqual([self.place(self.inside)],
                         self.ask(self.alice, f'?{query}'))
        self.assertEqual([self.place(self.borrowed, None)],
                         self.ask(self.bob, f'?{query}'))

    def test_pages(self):
        other = self.boot(self.alice, {'pcloud': self.pcloud})['id']
        both = sorted([self.inside, other])
        for more in ('', f'&server={both[0]}&server={both[1]}'):
            first = self.ask(self.alice, f'?limit=1{more}')
            self.assertEqual([self.place(both[0])], first)
            self.assertEqual([self.place(both[1])], self.ask(
                self.alice, f'?limit=1&marker={both[0]}{more}'))
            self.assertEqual([], self.ask(
                self.alice, f'?marker={both[1]}{more}'))

    def test_operators_limit(self):
        other = self.boot(self.alice, {'pcloud': self.pcloud})['id']
        self.flags(max_limit=1, group='api')
        self.assertEqual(1, len(self.ask(self.alice)))
        # Who names a page of servers gets a page.
        self.assertEqual(2, len(self.ask(
            self.alice, f'?server={self.inside}&server={other}')))

    def test_shelved_server(self):
        self.flags(shelved_offload_time=0)
        self.alice.call_json(
            'POST', f'/servers/{self.inside}/action', {'shelve': None})
        self.wait_for({'id': self.inside}, status='SHELVED_OFFLOADED')
        self.assertEqual([], self.ask(self.alice))

    @ddt.data('server=x', 'server=', 'marker=x', 'limit=-1', 'name=x',
              'server=7F3C8A52-4A0E-4C35-9D6E-5B1F2C7E8A90')
    def test_wrong_queries(self, query):
        self.assertEqual(
            400, self.alice.call('GET', f'{PATH}?{query}').status_code)

    def test_too_many_servers(self):
        query = '&'.join(f'server={uuidutils.generate_uuid()}'
                         for _ in range(101))
        self.assertEqual(
            400, self.alice.call('GET', f'{PATH}?{query}').status_code)

    def test_host_whose_node_is_lost(self):
        """A host without a row of its node has a name, but no number."""
        host = self.host_of({'id': self.inside})
        self._racks(right=[host])
        self.write_metadata(self.pcloud, **{f'pcloud:node:{host}': None})
        self.assertEqual([self.place(self.inside)], self.ask(self.alice))


class ClientTest(test_client.ClientTestCase):
    """The lists that the command shows, of the owner and of a tenant."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1')
        self.pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, self.pcloud, 'web-1', 'gpu')
        self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
            'attribute': {'value': 'secret', 'hosts': ['node-1']}})
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.flags(shelved_offload_time=0)
        self.own = {}
        for user in (self.alice, self.bob):
            inside, shelved = (self.boot(user, {'pcloud': self.pcloud})
                               for _ in range(2))
            self.own[user.project_id] = {
                inside['id']: 'inside', shelved['id']: 'shelved',
                self.boot(user)['id']: 'outside'}
            user.call_json('POST', f'/servers/{shelved["id"]}/action',
                           {'shelve': None})
            self.wait_for(shelved, status='SHELVED_OFFLOADED')

    def _listed(self, user, pcloud_id=None):
        listed = self.as_library(user).list_servers(pcloud_id)
        self.assertEqual(sorted(each.name for each in listed),
                         [each.name for each in listed])
        own = self.own[user.project_id]
        return {own[each.id]: (each.pcloud, each.host, each.rack)
                for each in listed}

    def test_owner_and_tenant(self):
        shown = {'shelved': ('mine', None, None),
                 'outside': (None, None, None)}
        self.assertEqual(shown | {'inside': ('mine', 'web-1', 1)},
                         self._listed(self.alice))
        self.assertEqual(shown | {'inside': ('mine', None, 1)},
                         self._listed(self.bob))

    def test_of_a_pcloud(self):
        self.assertEqual({'inside', 'shelved'},
                         self._listed(self.alice, self.pcloud).keys())
        self.assertEqual({}, self._listed(
            self.alice, self.make_pcloud(self.alice, 'other')))

    def test_tenant_that_is_removed_sees_no_pcloud(self):
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}?force=1')
        self.assertEqual(
            dict.fromkeys(('inside', 'shelved', 'outside'),
                          (None, None, None)), self._listed(self.bob))


class SilentCellTest(test_cells.CellsTestCase):

    def test_servers_in_a_silent_cell_are_left_out(self):
        alive, dead = (self.servers[name]['id'] for name in ('alive', 'dead'))
        self.assertEqual(
            {alive: 'alive', dead: 'dead'},
            {each['server']: each['host']
             for each in self.alice.get_json(PATH)['servers']})
        self.outage()
        for query in ('', f'?server={alive}&server={dead}'):
            self.assertEqual([alive], [
                each['server'] for each
                in self.alice.get_json(PATH + query)['servers']])
