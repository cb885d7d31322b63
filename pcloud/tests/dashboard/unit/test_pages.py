# SPDX-License-Identifier: Apache-2.0

"""The pages of owners and tenants."""

import time
from unittest import mock

import ddt
from django.core import cache
from keystoneauth1 import exceptions as ksa_exceptions

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard import api

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
        patch = mock.patch.object(
            horizon_api.nova, 'server_list', return_value=([], False))
        self.server_list = patch.start()

    def test_hosts(self):
        page = self.page('detail', self.pcloud_id)

        self.assertContains(page, '1 of 40 (10 × 4)')
        self.assertContains(page, '1 GiB of 8 GiB')
        self.assertContains(page, 'role="switch"')
        self.assertContains(page, 'c1d9e4b6')
        self.assertEqual(1, self.server_list.call_count)

    @ddt.data(1, 50)
    def test_as_many_calls_for_any_number_of_hosts(self, count):
        host = base.sample('hosts/list-resp')['hosts'][0]
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            {**host, 'name': f'web-{number}'} for number in range(count)]})
        self.page('detail', self.pcloud_id)

        self.assertEqual(
            [('GET', self.at), ('GET', f'{self.at}/hosts'),
             ('GET', '/servers/detail'), ('GET', f'{self.at}/waiting')],
            [call for call in self.calls() if call[1] != '/os-pclouds'])
        self.assertEqual(1, self.server_list.call_count)

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


class FailuresTest(base.PageTest):

    def tab(self, body=None, **query):
        self.answer('GET', f'{self.at}/rehearsal', json={'rehearsal': {
            **base.sample('rehearsal/show-resp')['rehearsal'],
            **(body or {})}})
        self.asked = self.answer(
            'PUT', f'{self.at}/hosts/web-1', status_code=409, json=REFUSED)
        return self.page('detail', self.pcloud_id, tab='pcloud__failures',
                         **query)

    def test_a_host_that_may_not_fail(self):
        page = self.tab()

        self.assertContains(page, '0 of 1 hosts may fail.')
        self.assertContains(page, 'Worst is the loss of web-1: 2 instances')
        self.assertContains(page, '2 instances do not fit')
        self.assertContains(page, '1 more of host flavor gpu')
        # None is free.
        self.assertNotContains(page, 'Add 1 Host of gpu')

    def test_what_would_help(self):
        more = {'host_flavor': 'a&b', 'hosts': 2, 'units': 4, 'free': 2}
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            {**base.sample('hosts/show-resp')['host'], 'state': 'disabled',
             'instances': []}]})
        page = self.tab({'more': [more]}, lose='rack')
        back = 'back=tab%3Dpcloud__failures%26lose%3Drack"'

        self.assertContains(page, f'host_flavor=a%26b&amp;count=2&amp;{back}')
        self.assertContains(page, 'Add 2 Hosts of a&amp;b')
        self.assertContains(page, f'/help?{back}')
        self.assertContains(page, 'Enable web-1</button>')

    def test_any_may_fail(self):
        page = self.tab({'survives': 1, 'worst': None, 'more': []})

        self.assertContains(page, 'Any host may fail')
        self.assertNotContains(page, 'What would help')

    def test_racks(self):
        page = self.tab(base.sample('rehearsal/racks-resp')['rehearsal'],
                        lose='rack')

        self.assertContains(page, '0 of 1 racks may fail.')
        self.assertContains(page, 'rack 1 (web-1)')
        self.assertIn('lose=rack', self.http.request_history[-2].query)

    def test_as_many_calls_for_any_number_of_hosts(self):
        losses = base.sample('rehearsal/show-resp')['rehearsal']['losses']
        self.tab({'losses': losses * 50})

        self.assertEqual(
            [('GET', self.at), ('GET', f'{self.at}/rehearsal'),
             ('GET', f'{self.at}/hosts')],
            [call for call in self.calls() if call[1] != '/os-pclouds'])

    def test_who_takes_over(self):
        drain = base.sample('hosts/drain-resp')
        server, = drain['host']['instances']
        drain['host']['drain'] |= {
            'remaining': [server, 'b'],
            'moves': [{'server': server, 'host': 'web-2'}]}
        host = base.sample('hosts/show-resp')['host']
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            host, {**host, 'name': 'web-2'}]})
        self.tab()
        asked = self.answer('PUT', f'{self.at}/hosts/web-1', json=drain)
        page = self.page('detail', self.pcloud_id, tab='pcloud__failures')

        self.assertEqual({'host': {'state': 'draining', 'drain': {
            'move': 'any', 'dry_run': True}}}, asked.last_request.json())
        self.assertContains(
            page, '<td class="pcloud-cell-fails">✗</td>'
                  '<td class="pcloud-cell-takes">1</td>')
        self.assertContains(
            page, 'web-2 takes over 1, nobody takes over 1')

    def test_of_many_hosts_one_is_asked(self):
        loss, = base.sample('rehearsal/show-resp')['rehearsal']['losses']
        losses = [{**loss, 'host': f'web-{number}'} for number in range(20)]
        page = self.tab({'losses': losses})
        self.assertEqual(0, self.asked.call_count)
        self.assertContains(page, 'id="pcloud-of"')
        self.tab({'losses': losses}, of='web-1')
        self.assertEqual(1, self.asked.call_count)

    def test_a_refused_question_leaves_the_rest(self):
        self.assertContains(self.tab(), '0 of 1 hosts may fail.')
        self.assertEqual(1, self.asked.call_count)


class MovesTest(base.PageTest):

    def setUp(self):
        super().setUp()
        for name, found in (('server_list', ([], False)),
                            ('flavor_list', self.flavors.list())):
            patch = mock.patch.object(
                horizon_api.nova, name, return_value=found)
            patch.start()
            self.addCleanup(patch.stop)
        self.plan = base.sample('rebalance/show-resp')['rebalance']

    def tab(self, body=None, **query):
        self.asked = self.answer(
            'GET', f'{self.at}/rebalance',
            json={'rebalance': {**self.plan, **(body or {})}})
        return self.page('detail', self.pcloud_id, tab='pcloud__moves',
                         **query)

    def test_a_plan(self):
        page = self.tab()

        self.assertContains(page, 'web-2 becomes empty.')
        self.assertContains(page, '3 units can be given back then.')
        self.assertContains(page, 'Move 1 Instance')
        self.assertEqual({'goal': ['free_hosts'], 'move': ['live']},
                         self.asked.last_request.qs)

    def test_to_make_room(self):
        page = self.tab({'fits': True, 'frees': []}, goal='fit', flavor='2',
                        count='3', max_moves='4', move='any')

        self.assertContains(page, 'All of them fit after these moves.')
        self.assertEqual({'goal': ['fit'], 'flavor': ['2'], 'count': ['3'],
                          'max_moves': ['4'], 'move': ['any']},
                         self.asked.last_request.qs)

    def test_what_is_under_way(self):
        page = self.tab({
            'moves': [], 'steps': [], 'frees': [], 'under_way': base.sample(
                'rebalance/begin-resp')['rebalance']['under_way'],
            'stopped': {'at': '2026-01-01T00:00:00Z',
                        'reason': 'No capacity is left.'}})

        self.assertContains(page, '1 instance of an earlier plan is still')
        self.assertContains(page, 'web-2 → web-1')
        self.assertContains(
            page, 'An earlier plan ended before its end: No capacity is left.')
        self.assertContains(page, 'No host can be made empty.')
        self.assertNotContains(page, 'pcloud-begin')
        self.assertContains(page, 'id="pcloud-end-moves"')

    def test_the_plan_is_read_again_with_the_question_that_was_asked(self):
        page = self.tab({'fits': True}, goal='fit', flavor='a&b', count='3')

        self.assertContains(
            page, f'data-address="/project/pclouds/{self.pcloud_id}/?'
                  'tab=pcloud__moves&amp;goal=fit&amp;flavor=a%26b&amp;'
                  'count=3&amp;')

    def end(self, **answer):
        self.tab()
        self.answer('DELETE', f'{self.at}/rebalance', **answer)
        return self.client.post(
            f'/project/pclouds/{self.pcloud_id}/end-moves?'
            'back=tab%3Dpcloud__moves%26goal%3Dfit%26flavor%3D2',
            follow=True)

    def test_end(self):
        page = self.end(status_code=204)

        self.assertIn('Those on their way arrive.', self.messages(page))
        self.assertEqual(['2'], self.asked.last_request.qs['flavor'])

    def test_an_end_that_is_refused(self):
        page = self.end(status_code=409, json=REFUSED)

        self.assertIn('It is in use.', self.messages(page))

    def test_a_number_that_is_none(self):
        self.answer('GET', f'{self.at}/rebalance', status_code=400, json={
            'badRequest': {'code': 400, 'message': 'Wrong number.'}})
        page = self.page('detail', self.pcloud_id, tab='pcloud__moves',
                         max_moves='many')

        self.assertContains(page, 'Wrong number.')
        self.assertContains(page, 'value="many"')

    def begin(self):
        self.tab()
        return self.client.post(
            f'/project/pclouds/{self.pcloud_id}/move', {
                'valid_for': 'abc', 'goal': 'fit', 'flavor': '2',
                'count': '3', 'max_moves': '', 'move': 'live'}, follow=True)

    def messages(self, page):
        return ' '.join(str(each) for each in page.context['messages'])

    def test_begin(self):
        sent = self.answer('POST', f'{self.at}/rebalance', status_code=202,
                           json=base.sample('rebalance/begin-resp'))
        page = self.begin()

        self.assertEqual({'rebalance': {
            'valid_for': 'abc', 'goal': 'fit', 'flavor': '2', 'count': 3,
            'move': 'live'}}, sent.last_request.json())
        self.assertIn('1 instance is being moved.', self.messages(page))
        # The question is asked anew.
        self.assertEqual(['3'], self.asked.last_request.qs['count'])

    def test_a_plan_that_is_out_of_date(self):
        self.answer('POST', f'{self.at}/rebalance', status_code=409,
                    json=REFUSED)
        page = self.begin()

        self.assertIn('It is in use.', self.messages(page))
        self.assertContains(page, 'Move 1 Instance')


class GermanTest(base.PageTest):

    def test_page(self):
        self.answer('GET', f'{self.at}/hosts', json={'hosts': []})
        self.client.cookies['django_language'] = 'de'
        page = self.page('detail', self.pcloud_id)

        self.assertContains(page, 'In dieser Pcloud starten')
        self.assertContains(page, 'Die Pcloud hat noch keine Hosts.')


class FormTest(base.PageTest):

    def test_the_words_of_the_api(self):
        self.answer('DELETE', self.at, status_code=409, json=REFUSED)
        answer = self.send('delete', self.pcloud_id)

        self.assertContains(answer, 'It is in use.')

    def test_create_leads_to_the_page(self):
        made = self.answer('POST', '/os-pclouds', status_code=201,
                           json={'pcloud': self.pcloud})
        answer = self.send('create', name='farm')

        self.assertIn(self.pcloud_id, answer['X-Horizon-Location'])
        self.assertEqual({'pcloud': {'name': 'farm'}},
                         made.last_request.json())

    def test_add_hosts(self):
        added = self.answer('POST', f'{self.at}/hosts', status_code=201,
                            json=base.sample('hosts/add-several-resp'))
        for name in ('web-1', 'web-2'):
            self.answer('PUT', f'{self.at}/hosts/{name}',
                        json=base.sample('hosts/add-resp'))
        self.send('add_hosts', self.pcloud_id, host_flavor='gpu', count='2',
                  name='web-{n}', enable='on', availability_zone='')

        self.assertEqual({'host': {
            'name': 'web', 'count': 2, 'first': 2, 'host_flavor': 'gpu'}},
            added.last_request.json())
        self.assertEqual(2, sum(method == 'PUT' for method, _ in self.calls()))

    def test_add_one_host_by_name(self):
        added = self.answer('POST', f'{self.at}/hosts', status_code=201,
                            json=base.sample('hosts/add-resp'))
        self.send('add_hosts', self.pcloud_id, host_flavor='gpu', count='1',
                  name='build', availability_zone='')

        self.assertEqual(
            {'host': {'name': 'build', 'host_flavor': 'gpu'}},
            added.last_request.json())

    def test_number_that_is_not_at_the_end(self):
        answer = self.send('add_hosts', self.pcloud_id, host_flavor='gpu',
                           count='1', name='{n}-web', availability_zone='')

        self.assertContains(answer, 'stands at the end')

    def test_hosts_that_would_help_are_filled_in(self):
        page = self.client.get(
            self.address('add_hosts', self.pcloud_id) +
            '?host_flavor=gpu&count=3&back=tab%3Dpcloud__failures')

        self.assertEqual(('gpu', '3'), tuple(
            page.context['form'][name].value()
            for name in ('host_flavor', 'count')))
        self.assertContains(page, '?tab=pcloud__failures"')
        page = self.client.get(
            self.address('add_hosts', self.pcloud_id) + '?count=many')
        self.assertEqual(1, page.context['form']['count'].value())

    def test_a_change_that_would_help(self):
        host = base.sample('hosts/add-resp')
        added = self.answer('POST', f'{self.at}/hosts', status_code=201,
                            json=host)
        for name in ('web-1', 'web-2'):
            enabled = self.answer('PUT', f'{self.at}/hosts/{name}', json=host)
        address = (self.address('change', self.pcloud_id) +
                   '?back=tab%3Dpcloud__fit%26flavor%3Da%2526b')
        for form in ({'change': 'enable', 'subject': 'web-2'},
                     {'change': 'add_host', 'subject': 'gpu'}):
            self.assertTrue(self.client.post(address, form).url.endswith(
                f'/{self.pcloud_id}/?tab=pcloud__fit&flavor=a%26b'))

        self.assertEqual(
            {'host': {'name': 'gpu-1', 'host_flavor': 'gpu'}},
            added.last_request.json())
        self.assertEqual({'host': {'state': 'enabled'}},
                         enabled.last_request.json())

    def test_added_hosts_that_cannot_be_enabled(self):
        self.answer('POST', f'{self.at}/hosts', status_code=201,
                    json=base.sample('hosts/add-several-resp'))
        self.answer('PUT', f'{self.at}/hosts/web-1', status_code=409,
                    json=REFUSED)
        answer = self.send('add_hosts', self.pcloud_id, host_flavor='gpu',
                           count='2', name='web-{n}', enable='on',
                           availability_zone='')

        self.assertIn('X-Horizon-Location', answer)

    def test_no_host_at_all(self):
        self.answer('POST', f'{self.at}/hosts', status_code=409,
                    json=REFUSED)
        answer = self.send('add_hosts', self.pcloud_id, host_flavor='gpu',
                           count='3', name='web-{n}', availability_zone='')

        self.assertContains(answer, 'It is in use.')

    def test_neither_a_kind_nor_a_requirement(self):
        answer = self.send(
            'add_hosts', self.pcloud_id, host_flavor='', count='1',
            name='web', availability_zone='')

        self.assertContains(answer, 'Choose a kind of host')

    def test_switch(self):
        self.answer('PUT', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/update-resp'))
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/show-resp'))
        answer = self.send(
            'state', self.pcloud_id, 'web-1', state='enabled').json()

        self.assertIn('is enabled', answer['message'])
        self.assertIn('csrfmiddlewaretoken', answer['row'])
        self.assertIn('<code>VCPU</code>', answer['row'])

    def test_a_switch_after_which_the_api_fails(self):
        self.answer('PUT', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/update-resp'))
        self.answer('GET', f'{self.at}/hosts/web-1', status_code=503)
        answer = self.send(
            'state', self.pcloud_id, 'web-1', state='enabled').json()

        self.assertIn('is enabled', answer['message'])
        self.assertNotIn('<code>VCPU</code>', answer['row'])

    def test_a_switch_that_fails(self):
        self.answer('PUT', f'{self.at}/hosts/web-1', status_code=409,
                    json=REFUSED)

        answer = self.send(
            'state', self.pcloud_id, 'web-1', state='enabled').json()

        self.assertEqual({'failure': 'It is in use.'}, answer)

    def drain(self, answer, **form):
        """Send the form of a drain twice; return what the API was sent."""
        sent = self.answer('PUT', f'{self.at}/hosts/web-1', json=answer)
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/show-resp'))
        with mock.patch.object(
                horizon_api.nova, 'server_list', return_value=([], False)):
            page = self.send('drain', self.pcloud_id, 'web-1', **form)
        self.send('drain', self.pcloud_id, 'web-1', **{
            **form, 'seen': page.context['form'].data['seen']})
        return page, [request.json()['host']['drain']
                      for request in sent.request_history]

    def test_drain(self):
        answer = base.sample('hosts/drain-resp')
        server, = answer['host']['instances']
        wish = {'move': 'live', 'release': True,
                'deadline': '2100-01-01T00:00:00Z'}
        for member, value, text in (
                ('moves', [{'server': server, 'host': 'web-2'}],
                 'moves, for example to web-2.'),
                ('blockers', [{'server': server, 'reason': 'it is locked'}],
                 'stays: it is locked'),
                ('blockers', [], 'stays until you move or delete it.')):
            answer['host']['drain'][member] = value
            page, sent = self.drain(answer, move='live', release='on',
                                    deadline='2100-01-01T00:00')
            self.assertContains(page, f'{server[:8]} {text}')
            self.assertEqual([{**wish, 'dry_run': True}, wish], sent)
            answer['host']['drain'].pop('moves', None)

    def test_drain_of_an_empty_host(self):
        answer = base.sample('hosts/drain-resp')
        answer['host']['drain']['blockers'] = [
            {'server': None, 'reason': 'no worker looks'}]
        for left, text in (([], 'Nothing goes on: no worker looks.'),
                           ([], 'The host is empty.'),
                           (None, 'is not known')):
            answer['host']['drain']['remaining'] = left
            page, _ = self.drain(answer, move='none')
            self.assertContains(page, text)

    def test_a_wish_that_was_changed_after_the_outcome(self):
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/show-resp'))
        sent = self.answer('PUT', f'{self.at}/hosts/web-1',
                           json=base.sample('hosts/drain-resp'))
        with mock.patch.object(
                horizon_api.nova, 'server_list', return_value=([], False)):
            for move in ('live', 'any'):
                page = self.send('drain', self.pcloud_id, 'web-1', move=move,
                                 seen='{"move": "live", "release": null, '
                                      '"deadline": null}')
        self.assertContains(page, 'What would happen now')
        self.assertEqual([None, True], [
            request.json()['host']['drain'].get('dry_run')
            for request in sent.request_history])

    def test_a_drain_that_is_refused(self):
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/show-resp'))
        self.answer('PUT', f'{self.at}/hosts/web-1', status_code=409,
                    json=REFUSED)

        self.assertContains(self.send(
            'drain', self.pcloud_id, 'web-1', move='none'),
            'It is in use.')

    def test_the_present_drain_is_filled_in(self):
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/drain-resp'))
        page = self.page('drain', self.pcloud_id, 'web-1')

        self.assertEqual(('none', True), (
            page.context['form'].initial['move'],
            page.context['form'].initial['release']))
        self.assertContains(page, '2100-01-01T00:00')
