# SPDX-License-Identifier: Apache-2.0

"""What users of openstacksdk expect of the calls of `conn.pcloud`."""

import datetime
import json

import ddt
import fixtures
import openstack
from openstack import exceptions

from pcloud.sdk import proxy
from pcloud.sdk.resources import hosts
from pcloud.tests.unit.client import base as client_base
from pcloud.tests.unit.sdk import base

ID = client_base.PCLOUD_ID
FARM = f'/os-pclouds/{ID}'
HOST = client_base.HOST
WAITING = {'id': client_base.OTHER_ID, 'name': 'web-1', 'host_flavor': 'gold',
           'availability_zone': None, 'position': 1,
           'since': '2026-11-24T18:00:00Z', 'until': '2100-01-01T00:00:00Z'}


def _pcloud(number, name='farm'):
    return {**client_base.PCLOUD, 'name': name,
            'id': f'00000000-0000-4000-8000-{number:012}'}


class AttachTest(base.SdkTestCase):

    def test_attach_asks_nothing(self):
        self.assertIs(self.pcloud, self.conn.pcloud)
        self.assertEqual([], self.http.request_history)

    def test_each_connection_has_its_own(self):
        self.assertFalse(hasattr(self.connection(), 'pcloud'))

    def test_line_of_clouds_yaml(self):
        conn = self.connection(vendor_hook='pcloud.sdk:attach')

        self.assertIsInstance(conn.pcloud, proxy.Proxy)

    def test_cloud_of_clouds_yaml(self):
        folder = self.useFixture(fixtures.TempDir())
        file = folder.join('clouds.yaml')
        with open(file, 'w') as clouds:
            json.dump({'clouds': {'mine': {
                'vendor_hook': 'pcloud.sdk:attach', 'region_name': 'RegionOne',
                'auth': {'auth_url': client_base.KEYSTONE,
                         'username': 'user', 'password': 'secret',
                         'project_name': 'own', 'user_domain_id': 'default',
                         'project_domain_id': 'default'}}}}, clouds)
        self.useFixture(fixtures.EnvironmentVariable(
            'OS_CLIENT_CONFIG_FILE', file))
        self.answer_farm()

        conn = openstack.connect(cloud='mine')

        self.assertEqual(['farm'], [
            each.name for each in conn.pcloud.pclouds()])
        self.assertEqual('token',
                         self.http.last_request.headers['X-Auth-Token'])


class PcloudsTest(base.SdkTestCase):
    """Lists, names and changes."""

    def test_all_pages(self):
        """The server caps pages, and gives no links."""
        everything = [_pcloud(number) for number in range(5)]

        def page(request, _context):
            marker = request.qs.get('marker', [''])[0]
            after = [each for each in everything if each['id'] > marker]
            return {'pclouds': after[:2]}
        self.answer('GET', '/os-pclouds', json=page)

        self.assertEqual([each['id'] for each in everything],
                         [each.id for each in self.pcloud.pclouds()])
        self.assertEqual(4, len(self.calls()))

    def test_members_are_compared_here(self):
        self.answer_pclouds(_pcloud(1), {**_pcloud(2), 'host_count': 7})

        found, = self.pcloud.pclouds(host_count=7)

        self.assertEqual(_pcloud(2)['id'], found.id)
        self.assertNotIn('host_count', self.calls()[0].query)

    def test_what_a_tenant_may_not_see_is_none(self):
        self.answer('GET', FARM, json={'pcloud': {
            'id': ID, 'name': 'farm', 'owner': 'x'}})

        pcloud = self.pcloud.get_pcloud(ID)

        self.assertEqual((None, None), (pcloud.tenants, pcloud.host_count))

    def test_find(self):
        self.answer('GET', '/os-pclouds/farm', status_code=404, json={})
        self.answer_farm()

        self.assertEqual(
            ID, self.pcloud.find_pcloud('farm', ignore_missing=False).id)
        self.assertEqual({'name': ['farm']}, self.calls()[1].query)

    def test_find_in_every_project(self):
        self.answer('GET', '/os-pclouds/farm', status_code=404, json={})
        self.answer_farm()

        self.pcloud.find_pcloud('farm', ignore_missing=False,
                                all_projects=True)
        self.assertEqual(['true'], self.calls()[1].query['all_tenants'])

    def test_find_nothing(self):
        self.answer('GET', '/os-pclouds/tin', status_code=404, json={})
        self.answer_pclouds()

        self.assertIsNone(self.pcloud.find_pcloud('tin'))
        self.assertRaises(
            exceptions.NotFoundException, self.pcloud.find_pcloud, 'tin',
            ignore_missing=False)

    def test_find_two(self):
        self.answer('GET', '/os-pclouds/farm', status_code=404, json={})
        self.answer_pclouds(_pcloud(1), _pcloud(2))

        self.assertRaises(exceptions.DuplicateResource,
                          self.pcloud.find_pcloud, 'farm')

    def test_name_that_no_url_has(self):
        """Nothing but the list is asked: the URL is another resource's."""
        odd = f'{ID}/hosts'
        self.answer_pclouds({**client_base.PCLOUD, 'name': odd})

        self.assertEqual(
            ID, self.pcloud.find_pcloud(odd, ignore_missing=False).id)
        self.assertEqual({'/os-pclouds'}, {
            call.path for call in self.calls()})

    def test_change_of_what_is_known_already(self):
        self.answer('GET', FARM, json={'pcloud': client_base.PCLOUD})
        self.answer('PUT', FARM, json={'pcloud': {
            **client_base.PCLOUD, 'name': 'plant'}})
        pcloud = self.pcloud.get_pcloud(ID)

        self.pcloud.update_pcloud(pcloud, name='farm')
        self.assertEqual([], self.changes())

        self.assertEqual(
            'plant', self.pcloud.update_pcloud(pcloud, name='plant').name)
        self.assertEqual({'pcloud': {'name': 'plant'}}, self.last_call()[2])

    def test_delete(self):
        self.answer('DELETE', FARM, status_code=404, json={})

        self.assertIsNone(self.pcloud.delete_pcloud(ID))
        self.assertRaises(exceptions.NotFoundException,
                          self.pcloud.delete_pcloud, ID, ignore_missing=False)

    def test_quota(self):
        self.answer('GET', f'/os-pcloud-quotas/{client_base.PROJECT}',
                    json={'quota': client_base.QUOTA})

        quota = self.pcloud.get_quota()

        self.assertEqual((10, 4), (quota.units, quota.usage['units']))

    def test_default_that_nobody_has_set(self):
        self.answer(
            'GET', f'/os-pcloud-policies/project/{client_base.PROJECT}',
            status_code=404, json={})

        default = self.pcloud.get_default_pcloud()

        self.assertEqual((None, None), (
            default.default_pcloud, default.default_pcloud_source))
        self.assertRaises(ValueError, self.pcloud.get_default_pcloud,
                          'domain')


@ddt.ddt
class RefusalsTest(base.SdkTestCase):
    """The exceptions of openstacksdk, with the words of the API."""

    @ddt.data((400, exceptions.BadRequestException),
              (403, exceptions.ForbiddenException),
              (404, exceptions.NotFoundException),
              (409, exceptions.ConflictException),
              (500, exceptions.HttpException))
    @ddt.unpack
    def test_kind(self, status, kind):
        refusal = {'status_code': status, 'json': {
            'someFault': {'code': status, 'message': 'no free host'}}}
        self.answer('GET', FARM, **refusal)
        self.answer('POST', f'{FARM}/hosts', **refusal)
        self.answer('PUT', f'{FARM}/hosts/web', **refusal)
        self.answer('DELETE', f'{FARM}/hosts/web', **refusal)
        self.answer('GET', '/os-pcloud-hidden-servers', **refusal)
        tenant = f'{FARM}/tenants/{client_base.PROJECT}'
        self.answer('PUT', tenant, **refusal)

        for method, arguments, options in (
                ('get_pcloud', (ID,), {}),
                ('add_host', (ID,), {'name': 'web', 'host_flavor': 'gold'}),
                ('add_hosts', (ID, 'web', 2), {'host_flavor': 'gold'}),
                ('add_or_wait_for_host', (ID,), {'name': 'web'}),
                ('drain_host', ('web', ID), {}),
                ('remove_host', ('web', ID), {'ignore_missing': False}),
                ('add_tenant', (ID, client_base.PROJECT), {}),
                ('hidden_servers', (), {})):
            error = self.assertRaises(
                exceptions.HttpException, getattr(self.pcloud, method),
                *arguments, **options)
            self.assertIs(kind, type(error), method)
            self.assertIn('no free host', str(error), method)

    @ddt.data('', '.', '..', 'a/b', 'a?force=1', 'a#b', '%2e%2e')
    def test_names_that_would_be_other_urls(self, name):
        for method, arguments in (
                ('get_host', (name, ID)), ('remove_host', (name, ID)),
                ('enable_host', (name, ID)),
                ('delete_pcloud', (name,)), ('get_policy', (name, 'x')),
                ('delete_quota', (name,)), ('get_usage', (name,)),
                ('get_usage_by_day', (name,))):
            self.assertRaises(
                exceptions.BadRequestException,
                getattr(self.pcloud, method), *arguments)
        self.assertEqual([], self.calls())

    def test_name_without_a_pcloud(self):
        self.assertRaises(ValueError, self.pcloud.get_host, 'web')


class HostsTest(base.SdkTestCase):
    """Hosts, drains and waits."""

    def setUp(self):
        super().setUp()
        self.naps = []
        self.useFixture(fixtures.MonkeyPatch(
            'time.sleep', lambda seconds: self.naps.append(seconds)))

    def _drained(self, **drain):
        return {'json': {'host': {**HOST, 'state': 'draining', 'drain': {
            'remaining': ['a'], 'blockers': [], 'release': False,
            'deadline': None, **drain}}}}

    def test_a_host_knows_its_pcloud(self):
        self.answer('GET', f'{FARM}/hosts', json={'hosts': [HOST]})
        self.answer('PUT', f'{FARM}/hosts/web-1', json={'host': {
            **HOST, 'state': 'enabled'}})
        self.answer('DELETE', f'{FARM}/hosts/web-1', status_code=204)

        host, = self.pcloud.hosts(ID)
        self.assertEqual(('web-1', 'web-1', ID),
                         (host.id, host.name, host.pcloud_id))
        self.assertEqual('enabled', self.pcloud.enable_host(host).state)
        self.pcloud.remove_host(host)

        self.assertEqual(('DELETE', f'{FARM}/hosts/web-1', None),
                         self.last_call())

    def test_a_change_is_sent_whatever_is_known(self):
        """What was read before may be old."""
        self.answer('GET', f'{FARM}/hosts/web-1', json={'host': HOST})
        self.answer('PUT', f'{FARM}/hosts/web-1', json={'host': HOST})

        self.pcloud.disable_host(self.pcloud.get_host('web-1', ID))

        self.assertEqual({'host': {'state': 'disabled'}}, self.last_call()[2])

    def test_a_member_that_is_gone(self):
        """The API leaves out what a host does not have any more."""
        path = '/os-host-flavors/gold/hosts/node-1'
        self.answer(
            'PUT', path,
            {'json': {'host': {'host': 'node-1', 'status': 'enabled',
                               'maintenance': {'reason': 'disks'}}}},
            {'json': {'host': {'host': 'node-1', 'status': 'enabled'}}})
        host = self.pcloud.set_maintenance(
            'gold', 'node-1', '2100-01-01T00:00:00Z')
        self.assertEqual({'reason': 'disks'}, host.maintenance)

        host = self.pcloud.unset_maintenance('gold', host)

        self.assertEqual(('node-1', 'enabled', None, None), (
            host.host, host.status, host.maintenance,
            host.to_dict()['maintenance']))

    def test_several(self):
        self.answer('POST', f'{FARM}/hosts', json={'hosts': [
            {**HOST, 'name': 'web-1'}, {**HOST, 'name': 'web-2'}]})

        self.assertEqual(
            [('web-1', ID), ('web-2', ID)],
            [(each.name, each.pcloud_id) for each in self.pcloud.add_hosts(
                ID, 'web', 2, host_flavor='gold')])

    def test_wait_for_drain(self):
        self.answer('GET', f'{FARM}/hosts/web-1', self._drained(),
                    self._drained(remaining=None), self._drained(remaining=[]))

        host = self.pcloud.wait_for_drain('web-1', ID, interval=7)

        self.assertEqual([], host.drain['remaining'])
        self.assertEqual([7, 7], self.naps)

    def test_wait_until_the_host_has_left(self):
        self.answer('GET', f'{FARM}/hosts/web-1',
                    self._drained(remaining=[], release=True),
                    {'status_code': 404, 'json': {}})

        self.assertEqual(
            'web-1', self.pcloud.wait_for_drain('web-1', ID).id)
        self.assertEqual(1, len(self.naps))

    def test_drain_that_has_ended(self):
        self.answer('GET', f'{FARM}/hosts/web-1', json={'host': HOST})

        self.assertRaises(exceptions.ResourceFailure,
                          self.pcloud.wait_for_drain, 'web-1', ID)

    def test_deadline(self):
        past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(1)
        self.answer('GET', f'{FARM}/hosts/web-1', self._drained(
            deadline=past.isoformat(timespec='seconds')))

        error = self.assertRaises(exceptions.ResourceFailure,
                                  self.pcloud.wait_for_drain, 'web-1', ID)
        self.assertIn("['a'] remain", str(error))

    def test_the_time_is_up(self):
        self.answer('GET', f'{FARM}/hosts/web-1', self._drained())

        self.useFixture(fixtures.MonkeyPatch(
            'time.monotonic', iter(range(1000)).__next__))
        self.useFixture(fixtures.MonkeyPatch(
            'time.time', iter(range(1000)).__next__))
        self.assertRaises(
            exceptions.ResourceTimeout, self.pcloud.wait_for_drain,
            'web-1', ID, wait=3)

    def test_wait_for_a_host(self):
        self.answer('POST', f'{FARM}/hosts', status_code=202,
                    json={'waiting': WAITING})
        self.answer('GET', f'{FARM}/waiting', {'json': {'waiting': [WAITING]}},
                    {'json': {'waiting': []}})
        self.answer('GET', f'{FARM}/hosts/web-1', json={'host': HOST})

        entry = self.pcloud.add_or_wait_for_host(
            ID, name='web-1', host_flavor='gold',
            wait_until='2100-01-01T00:00:00Z')
        self.assertEqual((1, ID), (entry.position, entry.pcloud_id))
        host = self.pcloud.wait_for_host(entry)

        self.assertEqual(('web-1', 'gold'), (host.name, host.host_flavor))
        self.assertEqual(1, len(self.naps))

    def test_wait_in_vain(self):
        self.answer('GET', f'{FARM}/waiting', json={'waiting': []})
        self.answer('GET', f'{FARM}/hosts/web-1', status_code=404, json={})
        entry = self.pcloud._known(hosts.Waiting, ID, dict(WAITING))

        self.assertRaises(exceptions.ResourceFailure,
                          self.pcloud.wait_for_host, entry)

    def test_a_host_was_free(self):
        self.answer('POST', f'{FARM}/hosts', json={'host': HOST})

        host = self.pcloud.add_or_wait_for_host(ID, name='web-1')

        self.assertEqual('disabled', host.state)

    def test_a_pool_of_several_pages(self):
        names = ['n1', 'n2', 'n3']

        def page(request, _context):
            marker = request.qs.get('marker', [''])[0]
            return {'host_flavor': {**client_base.FLAVOR, 'hosts': [
                {'host': name, 'status': 'enabled'} for name in names
                if name > marker][:2]}}
        self.answer('GET', '/os-host-flavors/gold', json=page)

        self.assertEqual(names, [
            each.host for each in self.pcloud.pool_hosts('gold')])

    def test_many_servers_by_name(self):
        self.answer('GET', '/os-pcloud-servers', json={'servers': []})

        self.assertEqual([], list(self.pcloud.placed_servers(
            f'id-{number}' for number in range(150))))
        self.assertEqual([100, 50], [
            len(call.query['server']) for call in self.calls()])
