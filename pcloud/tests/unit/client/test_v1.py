# SPDX-License-Identifier: Apache-2.0

"""What the Python client does beyond one request."""

import ddt
from keystoneauth1 import exceptions as ksa_exceptions
from novaclient import client as nova_client
import openstack
from openstack import config as openstack_config

from pcloud.client import exceptions
from pcloud.client import plan_resources
from pcloud.client import resources
from pcloud.client import servers
from pcloud.client import v1
from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'
HIDDEN = '/os-pcloud-hidden-servers'
POLICY = f'/os-pcloud-policies/pcloud/{base.PCLOUD_ID}'


def _pcloud(number, name='farm'):
    return {**base.PCLOUD, 'name': name,
            'id': f'00000000-0000-4000-8000-{number:012}'}


class TestConstruction(base.CloudTestCase):
    """The ways to get a client."""

    def _assert_reaches_the_cloud(self, client):
        self.answer_farm()
        self.assertEqual(['farm'],
                         [pcloud.name for pcloud in client.list_pclouds()])
        request = self.http.last_request
        self.assertTrue(request.url.startswith(f'{base.NOVA}/os-pclouds?'))
        self.assertEqual('token', request.headers['X-Auth-Token'])

    def test_from_a_session(self):
        self._assert_reaches_the_cloud(v1.Client(session=self.session()))

    def test_adapter_options(self):
        flavors = self.http.get(
            'http://elsewhere.test/v2.1/os-host-flavors',
            json={'host_flavors': []})

        v1.Client(session=self.session(),
                  endpoint_override='http://elsewhere.test/v2.1',
                  ).list_host_flavors()

        self.assertTrue(flavors.called)

    def test_only_reading_is_repeated(self):
        lost = ksa_exceptions.ConnectFailure('gone')
        read = self.answer('GET', f'{FARM}/hosts', {'exc': lost},
                           {'json': {'hosts': []}})
        added = self.answer('POST', f'{FARM}/hosts', exc=lost)
        client = v1.Client(session=self.session(), connect_retries=1,
                           connect_retry_delay=0.01)

        client.list_hosts(base.PCLOUD_ID)
        self.assertRaises(ksa_exceptions.ConnectFailure, client.add_host,
                          base.PCLOUD_ID, 'web', 'gpu')

        self.assertEqual(2, read.call_count)
        self.assertEqual(1, added.call_count)

    def test_from_an_openstacksdk_connection(self):
        region = openstack_config.cloud_region.from_session(
            self.session(), region_name='RegionOne')
        connection = openstack.connection.Connection(config=region)

        self._assert_reaches_the_cloud(
            v1.Client.from_adapter(connection.compute))

    def test_from_a_novaclient(self):
        nova = nova_client.Client('2.96', session=self.session())

        self._assert_reaches_the_cloud(v1.Client.from_adapter(nova.client))


class TestPlacedServers(base.CloudTestCase):

    def test_a_hundred_servers_a_request(self):
        asked = self.answer('GET', '/os-pcloud-servers', json=lambda request,
                            _context: {'servers': [
                                {'server': each, 'host': None,
                                 'pcloud': {'id': base.PCLOUD_ID,
                                            'name': 'farm'}}
                                for each in request.qs['server']]})
        ids = [f's{number}' for number in range(201)]

        found = v1.Client(self.session()).list_placed_servers(iter(ids))

        self.assertEqual(ids, [server.server for server in found])
        self.assertEqual(3, asked.call_count)

    def test_no_server(self):
        self.assertEqual(
            [], v1.Client(self.session()).list_placed_servers([]))


@ddt.ddt
class TestFinding(base.CloudTestCase):
    """Pages and names."""

    def setUp(self):
        super().setUp()
        self.client = v1.Client(self.session())

    def _pages_of(self, size, pclouds):
        """Let the server give out pages of a size, whatever was asked."""
        ids = [pcloud['id'] for pcloud in pclouds]

        def page(request, _context):
            marker = request.qs.get('marker', [None])[0]
            begin = ids.index(marker) + 1 if marker else 0
            return {'pclouds': pclouds[begin:begin + size]}
        self.answer('GET', '/os-pclouds', json=page)

    @ddt.data(1, 2, 3, 4, 5, 6)
    def test_all_pages_are_read(self, size):
        pclouds = [_pcloud(number) for number in range(5)]
        self._pages_of(size, pclouds)

        found = self.client.list_pclouds(name='farm', all_tenants=True)

        self.assertEqual([pcloud['id'] for pcloud in pclouds],
                         [pcloud.id for pcloud in found])
        for call in self.calls():
            self.assertEqual((['1'], ['farm']), (
                call.query['all_tenants'], call.query['name']))
            self.assertIn('limit', call.query)

    def test_a_marker_that_was_deleted_meanwhile(self):
        pclouds = [_pcloud(number) for number in range(4)]

        def page(request, context):
            marker = request.qs.get('marker', [None])[0]
            if marker == pclouds[1]['id']:
                context.status_code = 400
                return {'badRequest': {'message': 'no such marker'}}
            return {'pclouds': {None: pclouds[:2],
                                pclouds[0]['id']: pclouds[2:]}.get(
                                    marker, [])}
        self.answer('GET', '/os-pclouds', json=page)

        self.assertEqual([pcloud['id'] for pcloud in pclouds],
                         [each.id for each in self.client.list_pclouds()])

    def test_a_query_that_is_refused(self):
        self.answer('GET', '/os-pclouds', status_code=400, json={
            'badRequest': {'message': 'name is too long'}})

        self.assertRaises(exceptions.BadRequest, self.client.list_pclouds)
        self.assertEqual(1, len(self.calls()))

    def test_a_server_without_pages(self):
        self.answer('GET', '/os-pclouds',
                    json={'pclouds': [_pcloud(1), _pcloud(2)]})

        self.assertEqual(2, len(self.client.list_pclouds()))
        self.assertEqual(2, len(self.calls()))

    def test_what_is_free(self):
        free = {'hosts': 1, 'vcpus': 9, 'memory_mb': 7168}
        self.answer('GET', '/os-pclouds', json={'pclouds': [
            {**_pcloud(1), 'free': free, 'servers': 2}]})

        pcloud, = self.client.list_pclouds(detail=True)

        self.assertEqual((free, 2), (pcloud.free, pcloud.servers))
        for call in self.calls():
            self.assertEqual(['1'], call.query['detail'])

    def test_findings(self):
        finding = {'kind': 'state-without-host', 'text': 'gone is no host'}
        self.answer('GET', '/os-pcloud-audit', json={'findings': [finding]})

        self.assertEqual(
            [resources.Finding(**finding)], self.client.audit())

    def test_no_pclouds(self):
        self.answer('GET', '/os-pclouds', json={'pclouds': []})

        self.assertEqual([], self.client.list_pclouds())
        self.assertEqual(1, len(self.calls()))

    def test_a_name_on_a_later_page(self):
        self._pages_of(1, [_pcloud(1, 'barn'), _pcloud(2)])

        self.assertEqual(_pcloud(2)['id'], self.client.find_pcloud('farm').id)

    def test_only_the_exact_name_counts(self):
        self.answer_pclouds(_pcloud(1, 'farmland'), _pcloud(2), _pcloud(
            3, 'FARM'))

        self.assertEqual(_pcloud(2)['id'], self.client.find_pcloud('farm').id)

    def test_an_ambiguous_name(self):
        self.answer_pclouds(_pcloud(1), _pcloud(2))

        error = self.assertRaises(exceptions.AmbiguousName,
                                  self.client.find_pcloud, 'farm')

        self.assertEqual((_pcloud(1)['id'], _pcloud(2)['id']),
                         error.candidates)

    def test_a_name_that_looks_like_an_id(self):
        self.answer('GET', FARM, status_code=404, json={})
        self.answer_pclouds(_pcloud(1, base.PCLOUD_ID))

        self.assertEqual(_pcloud(1)['id'],
                         self.client.find_pcloud(base.PCLOUD_ID).id)

    @ddt.data(_pcloud(1)['id'].replace('4', 'A').replace('8', 'b'),
              base.PCLOUD_ID.replace('-', ''), f'{{{base.PCLOUD_ID}}}')
    def test_a_name_that_is_no_id(self, name):
        """An id has small letters and hyphens; all else is a name."""
        self.answer_pclouds(_pcloud(1, name))

        self.assertEqual(_pcloud(1)['id'], self.client.find_pcloud(name).id)
        self.assertEqual({'/os-pclouds'}, {
            call.path for call in self.calls()})

    def _answer_by_scope(self, own, everybody):
        def page(request, context):
            if 'all_tenants' not in request.qs:
                found = own
            elif everybody is None:
                context.status_code = 403
                return {'forbidden': {'message': 'admin only'}}
            else:
                found = everybody
            return {'pclouds': [] if 'marker' in request.qs else found}
        self.answer('GET', '/os-pclouds', json=page)

    def test_an_admin_finds_those_of_others(self):
        self._answer_by_scope([], [_pcloud(1)])

        self.assertEqual(_pcloud(1)['id'], self.client.find_pcloud('farm').id)

    def test_an_admin_finds_the_own_first(self):
        self._answer_by_scope([_pcloud(2)], [_pcloud(1), _pcloud(2)])

        self.assertEqual(_pcloud(2)['id'], self.client.find_pcloud('farm').id)

    def test_an_unknown_name(self):
        self._answer_by_scope([], None)

        error = self.assertRaises(exceptions.NotFound,
                                  self.client.find_pcloud, 'farm')

        self.assertIn("id or name 'farm'", str(error))

    def test_a_name_is_quoted_in_the_query(self):
        self._answer_by_scope([_pcloud(1, 'a&b=c #d')], None)

        self.assertEqual(_pcloud(1)['id'],
                         self.client.find_pcloud('a&b=c #d').id)
        self.assertEqual(['a&b=c #d'], self.calls()[0].query['name'])


@ddt.ddt
class TestListingServers(base.CloudTestCase):
    """Nova shows what it cannot reach only to who asks for no page."""

    def setUp(self):
        super().setUp()
        self.client = v1.Client(self.session())
        self.asked = []
        self.answer('GET', HIDDEN, json={'hidden_servers': []})

    def _servers(self, size, number=5, gone=()):
        ids = [f'id-{each}' for each in range(number)]

        def page(request, context):
            self.asked.append(request.qs)
            marker = request.qs.get('marker', [None])[0]
            if marker in gone:
                context.status_code = 400
                return {'badRequest': {'message': 'no such marker'}}
            begin = ids.index(marker) + 1 if marker else 0
            body = {'servers': [{'id': each}
                                for each in ids[begin:begin + size]]}
            if len(body['servers']) == size:
                body['servers_links'] = [{'rel': 'next', 'href': 'x'}]
            return body
        self.answer('GET', '/servers/detail', json=page)
        return ids

    @ddt.data(1, 2, 4, 5, 6)
    def test_all_pages(self, size):
        ids = self._servers(size)

        self.assertEqual(
            ids, [each.id for each in self.client.servers.list_all()])
        self.assertEqual(
            [{}, *({'marker': [each]} for each in ids[size - 1::size])],
            self.asked)

    def test_one_page(self):
        self._servers(1000)
        self.client.servers.list_all()
        self.assertEqual([{}], self.asked)
        self.assertNotIn(HIDDEN, [call.path for call in self.calls()])

    def test_what_has_no_place_on_a_full_page(self):
        ids = self._servers(2)
        self.answer('GET', HIDDEN, json={'hidden_servers': [ids[0], 'far']})
        self.assertEqual(
            [(each, '') for each in ids] + [('far', 'UNKNOWN')],
            [(each.id, each.status)
             for each in self.client.servers.list_all()])

    def test_a_marker_that_is_gone(self):
        ids = self._servers(2, gone=['id-1'])
        self.assertEqual(set(ids), {
            each.id for each in self.client.servers.list_all()})

    def test_a_part_of_the_cloud_that_does_not_answer(self):
        self.answer('GET', '/servers/detail', json={'servers': [
            {'id': 'x', 'status': 'UNKNOWN'}, {'id': 'y'},
            {'id': 'z', 'status': 'UNKNOWN'}]})

        self.assertEqual(3, len(self.client.servers.list_all()))
        error = self.assertRaises(servers.NotAllKnown,
                                  self.client.servers.list_known)
        self.assertIn('of yours 2 are in it', str(error))


class TestRoom(base.CloudTestCase):
    """The call that asks for capacity."""

    ROOM = '/os-pcloud-room'

    def setUp(self):
        super().setUp()
        self.client = v1.Client(self.session())

    def test_enough(self):
        self.answer('GET', self.ROOM, json={
            'room': {'groups': 1, 'reason': None}})

        self.assertEqual(plan_resources.Room(1), self.client.room(['s']))
        self.assertEqual({'flavor': ['s'], 'count': ['1']},
                         self.calls()[-1].query)

    def test_everything_that_can_be_asked(self):
        self.answer('GET', self.ROOM, json={
            'room': {'groups': 2, 'reason': 'full'}})

        found = self.client.room(
            iter(['s', 's', 'a b']), pcloud_id=base.PCLOUD_ID, parent='db',
            count=3)

        self.assertEqual(plan_resources.Room(2, 'full'), found)
        self.assertEqual({
            'flavor': ['s', 's', 'a b'], 'count': ['3'], 'in': ['db'],
            'pcloud': [base.PCLOUD_ID]}, self.calls()[-1].query)

    def _answer_404(self, without_query):
        def answer(request, context):
            context.status_code = 404 if request.qs else without_query
            return {'itemNotFound': {'code': 404, 'message': 'no flavor'}}
        self.answer('GET', self.ROOM, json=answer)

    def test_an_unknown_flavor(self):
        self._answer_404(400)
        self.answer_farm()

        error = self.assertRaises(exceptions.NotFound, self.client.room,
                                  ['s'])

        self.assertEqual('no flavor', error.message)

    def test_a_cloud_without_pclouds(self):
        self._answer_404(404)
        self.answer('GET', '/os-pclouds', status_code=404, json={})

        self.assertRaises(exceptions.ExtensionNotEnabled, self.client.room,
                          ['s'])


class TestResources(base.CloudTestCase):
    """What the client returns."""

    def setUp(self):
        super().setUp()
        self.client = v1.Client(self.session())

    def test_members_of_a_newer_server_are_ignored(self):
        self.answer('GET', FARM,
                    json={'pcloud': {**base.PCLOUD, 'colour': 'blue'}})

        self.assertEqual(
            resources.Pcloud(
                base.PCLOUD_ID, 'farm', base.PROJECT,
                (base.PROJECT, base.OTHER_PROJECT), 2, 8, 4.0, None),
            self.client.get_pcloud(base.PCLOUD_ID))

    def test_a_host_of_a_pool(self):
        self.answer('PUT', '/os-host-flavors/gold/hosts/node-1', json={
            'host': {'host': 'node-1', 'fenced': True}})

        self.assertEqual(
            resources.PoolHost('node-1', fenced=True),
            self.client.set_fenced('gold', 'node-1', True))

    def test_what_a_tenant_may_not_see_is_none(self):
        self.answer('GET', FARM, json={'pcloud': {
            'id': base.PCLOUD_ID, 'name': 'farm', 'owner': base.PROJECT}})

        pcloud = self.client.get_pcloud(base.PCLOUD_ID)

        self.assertEqual((None, None), (pcloud.tenants, pcloud.host_count))

    def test_an_update_sends_none_but_not_what_is_unset(self):
        self.answer('PUT', FARM, json={'pcloud': base.PCLOUD})

        self.client.update_pcloud(base.PCLOUD_ID, cpu_allocation_ratio=None)

        self.assertEqual({'pcloud': {'cpu_allocation_ratio': None}},
                         self.last_call()[2])

    def test_a_host_by_what_it_must_have(self):
        self.answer('POST', f'{FARM}/hosts', json={'host': base.HOST})

        host = self.client.add_host(base.PCLOUD_ID, 'web-1',
                                    constraints='ram=64G')

        self.assertEqual('gold', host.host_flavor)
        self.assertEqual({'host': {'name': 'web-1',
                                   'constraints': 'ram=64G'}},
                         self.last_call()[2])

    def test_a_host_with_arguments_by_position(self):
        self.answer('POST', f'{FARM}/hosts', json={'host': base.HOST})

        self.client.add_host(base.PCLOUD_ID, 'web-1', 'gold', 'az1')

        self.assertEqual({'host': {
            'name': 'web-1', 'host_flavor': 'gold',
            'availability_zone': 'az1'}}, self.last_call()[2])

    def test_no_constraints_are_not_the_same_as_none_given(self):
        self.answer('PUT', POLICY, json={'policy': base.POLICY})

        self.client.update_policy('pcloud', base.PCLOUD_ID, constraints='')
        self.assertEqual({'policy': {'constraints': ''}},
                         self.last_call()[2])

        self.client.update_policy('pcloud', base.PCLOUD_ID, customer_keys=())
        self.assertEqual({'policy': {'customer_keys': []}},
                         self.last_call()[2])

    def test_no_default_is_not_the_same_as_none_given(self):
        self.answer('PUT', POLICY, json={'policy': base.POLICY})

        for default in ({'pcloud': base.PCLOUD_ID, 'mode': 'strict'}, None):
            self.client.update_policy(
                'pcloud', base.PCLOUD_ID, default_pcloud=default)
            self.assertEqual({'policy': {'default_pcloud': default}},
                             self.last_call()[2])

    def test_a_policy(self):
        self.answer('GET', POLICY, json={'policy': base.POLICY})

        policy = self.client.get_policy('pcloud', base.PCLOUD_ID)

        self.assertEqual(('ram=2G rack=r1', None),
                         (policy.constraints, policy.effective))
        self.assertEqual({}, self.calls()[-1].query)

    def test_an_effective_policy(self):
        self.answer('GET', POLICY, json={'policy': {
            **base.POLICY, 'constraints': '', 'effective': base.EFFECTIVE}})

        policy = self.client.get_effective_policy('pcloud', base.PCLOUD_ID)

        self.assertEqual('', policy.constraints)
        self.assertEqual((
            resources.Setting('cpu', '1', 'built-in'),
            resources.Setting('rack', None, 'cloud'),
            resources.Setting('ram', '2G', 'role big one')),
            policy.effective)
        self.assertEqual({'effective': ['1']}, self.calls()[-1].query)

    def test_a_setting_that_makes_no_sense(self):
        for setting in ('ram=2G', None, {'key': 'ram'}):
            self.answer('GET', POLICY, json={'policy': {
                **base.POLICY, 'effective': [setting]}})

            self.assertRaises(
                exceptions.UnexpectedResponse,
                self.client.get_effective_policy, 'pcloud', base.PCLOUD_ID)

    def test_resources_cannot_be_changed(self):
        pcloud = resources.Pcloud('id', 'name', 'owner')

        self.assertRaises(AttributeError, setattr, pcloud, 'name', 'other')
