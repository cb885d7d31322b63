# SPDX-License-Identifier: Apache-2.0

"""The list of Pclouds, and the page of a Pcloud."""

import time
from unittest import mock

import ddt
from django.core import cache
from keystoneauth1 import exceptions as ksa_exceptions

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard import api
from pcloud_dashboard import shown

# A Pcloud that is not the one of the page.
OTHER = '40000000-0000-4000-8000-000000000000'
REFUSED = {'conflictingRequest': {'code': 409, 'message': 'It is in use.'}}


@ddt.ddt
class ListTest(base.PageTest):

    def setUp(self):
        super().setUp()
        cache.cache.clear()
        self.addCleanup(cache.cache.clear)

    def pclouds(self, count):
        body = base.sample('pclouds/list-detail-resp')['pclouds'][0]
        return {'pclouds': [
            {**body, 'owner': self.owner, 'name': f'farm {number}',
             'id': f'00000000-0000-4000-8000-{number:012}'}
            for number in range(count)]}

    @ddt.data(0, 1, 60)
    def test_list(self, count):
        # The client asks once more for a page without new Pclouds.
        self.answer('GET', '/os-pclouds', [
            {'json': {'pclouds': []}}, {'json': self.pclouds(count)},
            {'json': {'pclouds': []}}])
        page = self.page('index')

        self.assertEqual(min(count, 20), len(page.context['table'].data))
        self.assertLessEqual(len(self.calls()), 4)
        if count:
            self.assertContains(page, '7 GiB')
            self.assertContains(page, '1 (0 empty)')

    def many(self, count):
        """Answer the next page with many Pclouds of the project."""
        cache.cache.clear()
        self.answer('GET', '/os-pclouds', [
            {'json': {'pclouds': []}}, {'json': self.pclouds(count)},
            {'json': {'pclouds': []}}])

    def test_what_many_cost(self):
        for route, *arguments in (('index',), ('detail', self.pcloud_id)):
            self.many(200)
            # The first page of a process reads policies and templates.
            self.page(route, *arguments)
            self.many(200)
            began = time.process_time()
            page = self.page(route, *arguments)
            spent = time.process_time() - began
            print(f'200 Pclouds, {route}: {spent:.2f} s of CPU')
            self.assertEqual(200, page.status_code)
            # It is a third of that on an idle machine.
            self.assertLess(spent, 1.5)

    def test_those_that_have_a_text(self):
        self.many(60)
        page = self.page('index', text='FARM 5')
        self.assertEqual(
            ['farm 5', *(f'farm 5{number}' for number in range(10))],
            [each.name for each in page.context['table'].data])
        self.many(60)
        self.assertContains(self.page('index', page=3), 'Page 3 of 3')

    def test_twins_are_told_apart(self):
        body = self.pclouds(3)
        body['pclouds'][1]['name'] = 'farm 0'
        body['pclouds'][1]['id'] = '11111111-0000-4000-8000-000000000001'
        self.answer('GET', '/os-pclouds', [
            {'json': {'pclouds': []}}, {'json': body},
            {'json': {'pclouds': []}}])
        page = self.page('index')

        self.assertContains(page, '11111111…</code>', 1)
        self.assertContains(page, '00000000…</code>', 1)

    def test_a_borrowed_pcloud_shows_nothing_else(self):
        self.answer('GET', '/os-pclouds', json={'pclouds': [
            base.sample('pclouds/show-tenant-resp')['pcloud']]})
        page = self.page('index')

        self.assertContains(page, 'lent to you')
        self.assertNotContains(page, 'add-hosts')
        self.assertNotContains(page, '/delete')

    def test_a_name_is_text(self):
        body = self.pclouds(1)
        body['pclouds'][0]['name'] = '<script>{$ 1 $}</script>'
        self.answer('GET', '/os-pclouds', json=body)
        page = self.page('index')

        self.assertContains(page, '&lt;script&gt;')
        # Angular would evaluate what is in such braces.
        self.assertNotContains(page, '{$ 1 $}')

    def test_a_reader_sees_no_button(self):
        self.setActiveUser(
            id=self.user.id, token=self.token, username=self.user.name,
            domain_id=self.domain.id, tenant_id=self.tenant.id,
            service_catalog=self.service_catalog, authorized_tenants=[],
            roles=[{'id': '3', 'name': 'reader'}])
        self.answer('GET', '/os-pclouds', json=self.pclouds(1))
        page = self.page('index')

        self.assertContains(page, 'farm 0')
        for button in ('Create Pcloud', 'add-hosts', '/delete',
                       'openLaunchInstanceWizard'):
            self.assertNotContains(page, button)

    def test_a_cloud_without_pclouds(self):
        self.answer('GET', '/os-pclouds', status_code=404)

        request = self.factory.get('/')
        for _ in range(2):
            self.assertFalse(api.has_pclouds(request))
        # The answer is remembered.
        self.assertEqual(1, len(self.calls()))
        self.assertNotEqual(200, self.page('index').status_code)

    def test_nobody_answers(self):
        self.answer('GET', '/os-pclouds', exc=ksa_exceptions.ConnectFailure)
        self.answer('GET', f'/os-pcloud-quotas/{self.owner}',
                    exc=ksa_exceptions.ConnectFailure)
        page = self.page('index')

        self.assertEqual(200, page.status_code)
        self.assertIn('The compute service does not answer.', ' '.join(
            str(each) for each in page.context['messages']))


@ddt.ddt
class PcloudTest(base.PageTest):

    def setUp(self):
        super().setUp()
        self.have_no_instances()

    def test_hosts(self):
        page = self.page('detail', self.pcloud_id)

        self.assertContains(page, '1 of 40 (10 × 4)')
        self.assertContains(page, '1 GiB of 8 GiB')
        self.assertContains(page, 'role="switch"')
        self.assertContains(page, 'c1d9e4b6')

    def test_servers_to_scale(self):
        server, = base.sample('hosts/list-resp')['hosts'][0]['instances']
        flavor = self.flavors.list()[0]
        self.answer('GET', '/servers/detail', json={'servers': [{
            'id': server, 'name': 'db', 'status': 'ACTIVE', 'hostId': 'abc',
            'flavor': {'original_name': flavor.name}}]})
        page = self.page('detail', self.pcloud_id)

        host, = page.context['hosts']
        for bar, need in ((host.vcpus, flavor.vcpus),
                          (host.memory, flavor.ram)):
            self.assertEqual(
                (shown.Part('db', 100 * need / max(need, bar.used)),),
                bar.parts)
        self.assertContains(page, 'class="pcloud-bar-part"', 2)

    @ddt.data(1, 50)
    def test_as_many_calls_for_any_number_of_hosts(self, count):
        host = base.sample('hosts/list-resp')['hosts'][0]
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            {**host, 'name': f'web-{number}'} for number in range(count)]})
        self.page('detail', self.pcloud_id)

        self.assertEqual(
            [('GET', self.at), ('GET', f'{self.at}/hosts'),
             ('GET', '/servers/detail'), ('GET', '/servers/detail'),
             ('GET', f'{self.at}/waiting')],
            [call for call in self.calls() if call[1] != '/os-pclouds'])

    def test_real_hosts_are_left_out(self):
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            base.sample('hosts/show-admin-resp')['host']]})
        real = base.sample('hosts/show-admin-resp')['host'][
            'hypervisor_hostname']

        self.assertNotContains(self.page('detail', self.pcloud_id), real)

    def test_a_drain_in_words(self):
        host = base.sample('hosts/drain-resp')['host']
        server, = host['instances']
        for blockers, left in (
                ([{'server': server, 'reason': 'it is locked'}],
                 ': it is locked</li>'), ([], '</code></li>')):
            host['drain']['blockers'] = blockers
            self.answer('GET', f'{self.at}/hosts', json={'hosts': [host]})
            page = self.page('detail', self.pcloud_id)
            self.assertContains(page, '1 instance left')
            self.assertContains(page, left)
            self.assertContains(page, 'Instances stay until you move')
            self.assertContains(page, 'leaves the Pcloud when it is empty')
            self.assertContains(page, 'Cancel Drain')
        host['drain']['blockers'] = [
            {'server': None, 'reason': 'no worker looks'}]
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [host]})
        page = self.page('detail', self.pcloud_id)
        self.assertContains(page, 'Nothing goes on: no worker looks.')
        self.assertContains(page, '</code></li>')
        host['drain']['remaining'] = None
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [host]})
        self.assertContains(self.page('detail', self.pcloud_id),
                            'What is left is not known.')

    @ddt.data(
        (None, 'Instances stay on the host.'),
        ('migrate', 'Instances move to other hosts before.'),
        ('replace', 'A free host takes the place of the host.'))
    @ddt.unpack
    def test_a_maintenance_in_words(self, policy, text):
        self.answer('GET', self.at, json={'pcloud': {
            **self.pcloud, 'maintenance_policy': policy}})
        host = {**base.sample('hosts/show-resp')['host'],
                'maintenance': {'from': '2100-01-01T20:00:00Z',
                                'until': '2100-01-01T22:00:00Z',
                                'reason': 'Two disks are replaced'}}
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [host]})
        page = self.page('detail', self.pcloud_id)

        self.assertContains(page, 'Maintenance from 01/01/2100 8 p.m.')
        self.assertContains(page, 'to 01/01/2100 10 p.m.')
        self.assertContains(page, ': Two disks are replaced')
        self.assertContains(page, text)

    def test_a_tab_that_cannot_be_read(self):
        self.answer('GET', f'{self.at}/hosts', status_code=409, json=REFUSED)

        self.assertContains(
            self.page('detail', self.pcloud_id), 'It is in use.')

    def test_a_pcloud_that_is_not_there(self):
        self.answer('GET', self.at, status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'No such Pcloud.'}})

        self.assertEqual(302, self.page('detail', self.pcloud_id).status_code)

    def test_settings(self):
        self.answer('GET', f'/os-pcloud-policies/pcloud/{self.pcloud_id}',
                    json=base.sample('policies/show-effective-resp'))
        self.answer('GET', f'/os-pcloud-policies/project/{self.owner}',
                    json=base.sample('policies/show-default-resp'))
        page = self.page('detail', self.pcloud_id, tab='pcloud__settings')

        self.assertContains(page, 'Repel1=1:-100')
        self.assertContains(page, 'start here while there is capacity')

    def test_a_default_elsewhere_by_its_name(self):
        policy = base.sample('policies/show-default-resp')['policy']
        other = {**self.pcloud, 'name': 'other farm', 'id': OTHER}
        policy['default_pcloud']['pcloud'] = OTHER
        self.answer('GET', f'/os-pcloud-policies/pcloud/{self.pcloud_id}',
                    json=base.sample('policies/show-effective-resp'))
        self.answer('GET', f'/os-pcloud-policies/project/{self.owner}',
                    json={'policy': policy})
        hidden = self.page('detail', self.pcloud_id, tab='pcloud__settings')
        self.answer('GET', '/os-pclouds', json={'pclouds': [other]})
        page = self.page('detail', self.pcloud_id, tab='pcloud__settings')

        self.assertContains(
            hidden, 'start in a Pcloud that your project cannot see')
        self.assertContains(page, 'in another Pcloud: other farm.')
        self.assertNotContains(page, OTHER)

    def test_tenants(self):
        self.answer('GET', f'{self.at}/tenants',
                    json=base.sample('tenants/list-resp'))
        self.answer('GET', f'{self.at}/usage',
                    json=base.sample('usage/pcloud-resp'))
        page = self.page('detail', self.pcloud_id, tab='pcloud__tenants')

        for tenant in self.pcloud['tenants']:
            self.assertContains(page, tenant)

    def test_fit(self):
        self.answer('GET', f'{self.at}/explain',
                    json=base.sample('explain/show-resp'))
        with mock.patch.object(horizon_api.nova, 'flavor_list',
                               return_value=self.flavors.list()):
            page = self.page('detail', self.pcloud_id, tab='pcloud__fit')

        self.assertContains(page, '3072 MiB of memory are left')
        self.assertContains(page, 'Start a server of flavor m1.small')

    def test_hosts_that_count_for_a_bundle(self):
        self.answer('GET', f'{self.at}/explain',
                    json=base.sample('explain/show-resp'))
        asked = self.answer('POST', f'{self.at}/simulate', json=base.sample(
            'simulate/ask-resp'))
        with mock.patch.object(horizon_api.nova, 'flavor_list',
                               return_value=self.flavors.list()):
            page = self.page(
                'detail', self.pcloud_id, tab='pcloud__fit',
                bundle_flavor='2', bundle_count='3', bundle_disabled='1',
                bundle_without='web-1  web-2')

        self.assertEqual({'simulate': {
            'servers': [{'flavor': '2', 'count': 3}],
            'include_disabled': True, 'without': ['web-1', 'web-2']}},
            asked.last_request.json())
        self.assertContains(page, 'value="web-1 web-2"')
        self.assertContains(page, 'name="bundle_disabled" value="1" checked')

    def test_a_count_that_python_does_not_read(self):
        self.answer('GET', f'{self.at}/explain',
                    json=base.sample('explain/show-resp'))
        asked = self.answer('POST', f'{self.at}/simulate', status_code=400,
                            json={'badRequest': {
                                'code': 400, 'message': 'Not a number.'}})
        count = '9' * 4301
        with mock.patch.object(horizon_api.nova, 'flavor_list',
                               return_value=self.flavors.list()):
            page = self.page('detail', self.pcloud_id, tab='pcloud__fit',
                             bundle_flavor='2', bundle_count=count)

        self.assertEqual(count, asked.last_request.json()['simulate'][
            'servers'][0]['count'])
        self.assertContains(page, 'Not a number.')

    def test_hosts_that_make_room_for_a_bundle(self):
        self.answer('GET', f'{self.at}/explain',
                    json=base.sample('explain/show-resp'))
        simulation = base.sample('simulate/ask-resp')['simulate']
        self.answer('POST', f'{self.at}/simulate', json={'simulate': {
            **simulation, 'more': [{'host_flavor': 'gpu', 'hosts': 2,
                                    'units': 6, 'free': 2}]}})
        with mock.patch.object(horizon_api.nova, 'flavor_list',
                               return_value=self.flavors.list()):
            page = self.page('detail', self.pcloud_id, tab='pcloud__fit',
                             bundle_flavor='2', bundle_count='3')

        self.assertContains(page, 'Add 2 Hosts of gpu')
        self.assertContains(
            page, 'back=tab%3Dpcloud__fit%26bundle_flavor%3D2%26bundle_count'
                  '%3D3"')


class GermanTest(base.PageTest):

    def test_page(self):
        self.answer('GET', f'{self.at}/hosts', json={'hosts': []})
        self.client.cookies['django_language'] = 'de'
        page = self.page('detail', self.pcloud_id)

        self.assertContains(page, 'In dieser Pcloud starten')
        self.assertContains(page, 'Die Pcloud hat noch keine Hosts.')
