# SPDX-License-Identifier: Apache-2.0

"""The pages of administrators."""

import time
import types
from unittest import mock

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base

FARM, BARN = (f'00000000-0000-4000-8000-00000000000{number}'
              for number in (1, 2))
IDLE = {'pcloud': None, 'vcpus': 10, 'vcpus_used': 0, 'memory_mb': 8192,
        'memory_mb_used': 512}


class MapTest(base.AdminPageTest):

    def pclouds(self, **names):
        body = base.sample('pclouds/list-detail-resp')['pclouds'][0]
        found = [{**body, 'id': each, 'name': name}
                 for name, each in names.items()]
        self.answer('GET', '/os-pclouds', json=lambda request, context: {
            'pclouds': [] if 'marker' in request.qs else found})

    def hosts(self, *hosts):
        self.answer('GET', '/os-host-flavors', json={'host_flavors': [
            self.flavor(*hosts)]})

    def squares(self, **query):
        return [(name, squares) for name, squares in self.page(
            'map', **query).context['map'].rows]

    def test_one_square_a_host(self):
        self.pclouds(farm=FARM, barn=BARN)
        self.hosts(
            {**IDLE, 'host': 'node-10', 'availability_zone': 'az2'},
            {**IDLE, 'host': 'node-2', 'pcloud': FARM,
             'memory_mb_used': 4096},
            {**IDLE, 'host': 'node-1', 'pcloud': BARN, 'vcpus_used': 12,
             'status': 'disabled', 'maintenance': {
                 'from': '2100-01-01T20:00:00Z', 'reason': 'disks'}},
            {**IDLE, 'host': 'node-3', 'settling': '2026-11-25T12:00:00Z'},
            {'host': 'node-4', 'pcloud': None, 'status': 'unknown',
             'state': 'down', 'vcpus': None, 'vcpus_used': None,
             'memory_mb': None, 'memory_mb_used': None})
        page = self.page('map')
        (first, squares), (second, others) = page.context['map'].rows

        self.assertEqual(('az1', 'az2'), (first, second))
        self.assertEqual(
            [('node-1', 6, '1', '1', True, True),
             ('node-2', 50, '3', '2', False, False),
             ('node-3', 6, '1', 'settling', False, False),
             ('node-4', None, 'unknown', 'free', True, False)],
            [(each.host, each.percent, each.shade, each.border, each.is_out,
              each.is_in_maintenance) for each in squares])
        self.assertEqual(['node-10'], [each.host for each in others])
        self.assertEqual([(1, 'barn'), (2, 'farm')], [
            (each.number, each.name)
            for each in page.context['map'].pclouds])
        self.assertContains(
            page, 'title="node-2: 50 % of the memory is used, host '
                  'flavor gpu, zone az1, Pcloud farm"')
        self.assertContains(page, 'its compute service is disabled, '
                                  'maintenance from 01/01/2100')
        self.assertContains(page, 'node-4: what is used is not known')
        self.assertContains(page, '/admin/host_flavors/gpu/#pcloud-pool-node')

    def test_more_than_there_is(self):
        self.hosts({**IDLE, 'host': 'node-1', 'vcpus_used': 12})
        (_row, (square,)), = self.squares(measure='vcpus')

        self.assertEqual((120, '5'), (square.percent, square.shade))

    def test_rows(self):
        self.hosts({**IDLE, 'host': 'node-1'}, {**IDLE, 'host': 'node-2'})
        self.answer('GET', '/os-pcloud-attributes',
                    json=base.sample('attributes/list-resp'))

        self.assertEqual(['-', 'r12'], [
            name for name, _squares in self.squares(rows='rack')])
        self.assertEqual(['gpu'], [
            name for name, _squares in self.squares(rows='flavor')])
        self.assertEqual(['az1'], [
            name for name, _squares in self.squares(rows='nonsense')])

    def test_many_hosts(self):
        self.pclouds(**{f'farm {number}':
                        f'00000000-0000-4000-8000-{number:012}'
                        for number in range(60)})
        self.hosts(*({**IDLE, 'host': f'node-{number}',
                      'availability_zone': f'az{number % 3}',
                      'pcloud': f'00000000-0000-4000-8000-{number % 60:012}',
                      'memory_mb_used': number * 16}
                     for number in range(500)))
        # The first page of a process reads the policies of all services.
        self.page('map')
        calls = len(self.calls())
        began = time.process_time()
        page = self.page('map')
        spent = time.process_time() - began
        print(f'500 hosts: {spent:.2f} s of CPU, '
              f'{len(page.content) // 1024} KiB')

        self.assertContains(page, '<li><a href="/admin/host_flavors/gpu/#',
                            count=500)
        # The client asks once more for a page without new Pclouds.
        # Whether there are Pclouds, two pages of Pclouds, and the pools.
        self.assertLessEqual(len(self.calls()) - calls, 4)
        # It is a tenth of that on an idle machine.
        self.assertLess(spent, 2)

    def test_nobody_answers(self):
        self.answer('GET', '/os-host-flavors', status_code=503)

        self.assertContains(self.page('map'), 'No pool has hosts yet.')


class PoolTest(base.AdminPageTest):

    AT = '/os-host-flavors/gpu'
    HOST = AT + '/hosts/node-1'

    def setUp(self):
        super().setUp()
        self.pool({**IDLE, 'host': 'node-1'})

    def pool(self, *hosts):
        self.answer('GET', self.AT, json={'host_flavor': self.flavor(*hosts)})

    def test_maintenance(self):
        maintained = base.sample('host-flavors/host-maintenance-resp')['host']
        self.pool(maintained, {**IDLE, 'host': 'node-2', 'state': 'down',
                               'settling': '2026-11-25T12:00:00Z'})
        page = self.page('detail', 'gpu')

        self.assertContains(
            page, 'from 01/01/2100 8 p.m. to 01/01/2100 10 p.m.: Two disks '
                  'are replaced')
        self.assertContains(page, 'settling since 11/25/2026 noon')
        self.assertContains(page, 'enabled, does not answer')
        self.assertContains(page, 'End the maintenance of', count=1)

    def test_what_the_hosts_are(self):
        page = self.page('detail', 'gpu')
        self.assertContains(page, '<code>VCPU</code>: 10')
        self.assertContains(page, 'COMPUTE_NODE')

    def test_nobody_knows_what_the_hosts_are(self):
        self.answer('GET', self.AT, json={'host_flavor': {
            **self.flavor(), 'resources': None, 'traits': None}})
        self.assertNotContains(
            self.page('detail', 'gpu'), 'Resources and traits')

    def test_announce(self):
        sent = self.answer('PUT', self.HOST, json=base.sample(
            'host-flavors/host-maintenance-resp'))
        self.send('announce', 'gpu', 'node-1', begin='2100-01-01T20:00',
                  end='', reason='disks')

        self.assertEqual({'host': {'maintenance': {
            'from': '2100-01-01T20:00:00Z', 'until': None,
            'reason': 'disks'}}}, sent.last_request.json())

    def test_what_is_announced_is_filled_in(self):
        self.pool(base.sample('host-flavors/host-maintenance-resp')['host'])
        page = self.page('announce', 'gpu', 'node-1')

        self.assertContains(page, 'value="2100-01-01T20:00"')
        self.assertContains(page, 'value="Two disks are replaced"')

    def test_end(self):
        sent = self.answer('PUT', self.HOST, json=base.sample(
            'host-flavors/host-add-resp'))
        self.send('end_maintenance', 'gpu', 'node-1')

        self.assertEqual({'host': {'maintenance': None}},
                         sent.last_request.json())

    def test_the_words_of_the_api(self):
        self.answer('PUT', self.HOST, status_code=400, json={'badRequest': {
            'code': 400, 'message': 'until is before from.'}})

        self.assertContains(
            self.send('announce', 'gpu', 'node-1', begin='2100-01-01T20:00',
                      end='2099-01-01T20:00', reason='disks'),
            'until is before from.')


class AddHostTest(base.AdminPageTest):

    def test_what_the_pool_would_not_take_is_grey_with_the_reason(self):
        services = [types.SimpleNamespace(
            host=host, status=status, availability_zone='az1')
            for host, status in (('node-1', 'disabled'),
                                 ('node-2', 'enabled'),
                                 ('node-3', 'disabled'),
                                 ('node-4', 'disabled'))]
        used = types.SimpleNamespace(
            service_details={'host': 'node-3'}, running_vms=3)
        pool = self.flavor({**IDLE, 'host': 'node-1'})
        self.answer('GET', '/os-host-flavors/gpu', json={'host_flavor': pool})
        self.answer('GET', '/os-host-flavors', json={'host_flavors': [pool]})
        with mock.patch.object(horizon_api.nova, 'service_list',
                               return_value=services), mock.patch.object(
                horizon_api.nova, 'hypervisor_list', return_value=[used]):
            page = self.page('add_host', 'gpu')

        self.assertEqual(
            [('node-4', None), ('node-1', 'is in the pool of gpu'),
             ('node-2', 'is enabled: disable its compute service first'),
             ('node-3', '3 servers are on the host')],
            [(each.host, each.refusal) for each in page.context['computes']])
        self.assertContains(page, 'disabled>', count=3)

    def test_nova_does_not_answer(self):
        self.answer('GET', '/os-host-flavors/gpu', json={
            'host_flavor': self.flavor()})
        with mock.patch.object(horizon_api.nova, 'service_list',
                               side_effect=self.exceptions.nova):
            page = self.page('add_host', 'gpu')

        self.assertContains(page, 'There are no compute hosts.')


class AttributesTest(base.AdminPageTest):

    AT = '/os-pcloud-attributes/rack'

    def setUp(self):
        super().setUp()
        self.attributes(('rack', 'r12', ['node-2', 'node-1']),
                        ('rack', 'r2', ['node-3']),
                        ('gpu', 'a/b&c', ['node-1']))
        services = [types.SimpleNamespace(host=f'node-{number}')
                    for number in (1, 2, 3, 10)]
        self.enterContext(mock.patch.object(
            horizon_api.nova, 'service_list', return_value=services))

    def attributes(self, *attributes):
        self.answer('GET', '/os-pcloud-attributes', json={'attributes': [
            {'name': name, 'value': value, 'hosts': hosts}
            for name, value, hosts in attributes]})

    def test_list(self):
        page = self.page('attributes')

        self.assertEqual(
            [('gpu', 'a/b&c', ['node-1']), ('rack', 'r2', ['node-3']),
             ('rack', 'r12', ['node-1', 'node-2'])],
            [(each['name'], each['value'], each['hosts'])
             for each in page.context['attributes']])
        self.assertContains(page, '?name=gpu&amp;value=a%2Fb%26c')
        self.assertLessEqual(len(self.calls()), 2)

    def test_set(self):
        sent = self.answer('PUT', self.AT, json=base.sample(
            'attributes/update-resp'))
        self.send('set_attribute', name='rack', value='r7',
                  hosts=['node-1', 'node-10'])

        self.assertEqual({'attribute': {
            'value': 'r7', 'hosts': ['node-1', 'node-10']}},
            sent.last_request.json())

    def test_hosts_that_are_chosen_no_more_lose_the_value(self):
        self.answer('PUT', self.AT, json=base.sample(
            'attributes/update-resp'))
        lost = self.answer('DELETE', self.AT, status_code=204)
        self.send('set_attribute', query='?name=rack&value=r12', name='rack',
                  value='r12', hosts=['node-1'])

        self.assertEqual({'host': ['node-2']}, lost.last_request.qs)

    def test_present_values_are_filled_in(self):
        page = self.client.get(
            self.address('set_attribute') + '?name=gpu&value=a%2Fb%26c')

        self.assertContains(page, 'value="a/b&amp;c"')
        self.assertContains(
            page, '<option value="node-1" selected>', count=1)

    def test_the_words_of_the_api(self):
        self.answer('PUT', '/os-pcloud-attributes/next_reboot',
                    status_code=400, json={'badRequest': {
                        'code': 400, 'message': 'soon is no ISO 8601.'}})

        self.assertContains(
            self.send('set_attribute', name='next_reboot',
                      value='soon', hosts=['node-1']),
            'soon is no ISO 8601.')

    def test_remove(self):
        lost = self.answer('DELETE', self.AT, status_code=204)
        self.send('unset_attribute', query='?name=rack&value=r12')

        self.assertEqual({'host': ['node-2', 'node-1']},
                         lost.last_request.qs)

    def test_a_value_that_is_gone_removes_nothing(self):
        lost = self.answer('DELETE', self.AT, status_code=204)
        self.send('unset_attribute', query='?name=rack&value=r99')

        self.assertFalse(lost.called)


class PoliciesTest(base.AdminPageTest):

    panel = 'admin:pclouds'
    CLOUD = '/os-pcloud-policies/cloud/default'
    ROLE = '/os-pcloud-policies/role/database'

    def setUp(self):
        super().setUp()
        self.policy = {
            **base.sample('policies/show-effective-resp')['policy'],
            'constraints': r'ram=2G rack=row\ 1', 'system_keys': ['a=1:5']}
        for path in (self.CLOUD, self.ROLE):
            self.answer('GET', path, json={'policy': self.policy})

    def test_cloud(self):
        page = self.page('policies')

        self.assertEqual(['ram=2G', r'rack=row\ 1'],
                         page.context['settings'])
        self.assertContains(page, 'a=1:5')
        self.assertContains(page, 'built-in')

    def test_nothing_is_asked_before_something_is_chosen(self):
        page = self.page('policies', scope='role')

        self.assertContains(page, 'Choose whose policy is to be shown.')
        self.assertNotIn(('GET', self.ROLE), self.calls())

    def test_domains_and_pclouds_by_name(self):
        domains = [types.SimpleNamespace(id='1', name='Default')]
        with mock.patch.object(horizon_api.keystone, 'domain_list',
                               return_value=domains):
            page = self.page('policies', scope='domain')
        self.assertContains(page, '<option value="1">Default</option>')
        body = base.sample('pclouds/list-detail-resp')['pclouds'][0]
        self.answer('GET', '/os-pclouds', json=lambda request, context: {
            'pclouds': [] if 'marker' in request.qs else [body]})
        page = self.page('policies', scope='pcloud')
        self.assertContains(page, body['name'])

    def test_set(self):
        sent = self.answer('PUT', self.CLOUD, json={'policy': self.policy})
        self.send('set_policy', constraints='ram=4G\r\n\r\ncpu=2 ',
                  system_keys='a=1:5\r\nb=2:-1')

        self.assertEqual({'policy': {
            'constraints': 'ram=4G cpu=2',
            'system_keys': ['a=1:5', 'b=2:-1']}}, sent.last_request.json())

    def test_a_role_has_no_keys(self):
        sent = self.answer('PUT', self.ROLE, json={'policy': self.policy})
        self.send('set_policy', query='?scope=role&id=database',
                  constraints='ram=4G')

        self.assertEqual({'policy': {'constraints': 'ram=4G'}},
                         sent.last_request.json())

    def test_one_setting_a_line(self):
        page = self.client.get(self.address('set_policy'))

        self.assertContains(page, 'ram=2G\nrack=row\\ 1</textarea>')

    def test_the_words_of_the_api(self):
        self.answer('PUT', self.CLOUD, status_code=400, json={'badRequest': {
            'code': 400, 'message': 'ram has no amount.'}})

        self.assertContains(self.send('set_policy', constraints='ram=much'),
                            'ram has no amount.')

    def default(self, **members):
        """Have the cloud answer with a default Pcloud."""
        default = members and {'pcloud': FARM, 'mode': 'strict', **members}
        self.policy |= {'default_pcloud': default or None,
                        'default_pcloud_source': 'cloud'}
        self.answer('GET', self.CLOUD, json={'policy': self.policy})
        self.answer('GET', f'/os-pclouds/{FARM}', json={'pcloud': {
            **base.sample('pclouds/show-resp')['pcloud'], 'name': 'farm'}})
        return self.page('policies')

    def test_defaults_in_words(self):
        for members, text in (
                ({}, 'start outside of Pclouds. <span'),
                ({'mode': 'strict'}, 'start in farm. <span'),
                ({'mode': 'prefer'}, 'start in farm while there is capacity'),
                ({'mode': 'grow', 'host_flavor': 'gpu', 'max_hosts': 9},
                 'of host flavor gpu are added, up to 9 hosts.')):
            page = self.default(**members)
            self.assertContains(page, text)
            self.assertContains(page, '(set for the cloud)')
        self.answer('GET', f'/os-pclouds/{FARM}', status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'It is gone.'}})
        self.assertContains(self.page('policies'), f'start in {FARM}; while')

    def test_no_default(self):
        page = self.page('policies')
        self.assertContains(page, 'start outside of Pclouds.</p>')
        self.answer('GET', self.CLOUD, [
            {'json': {'policy': self.policy}},
            {'status_code': 404, 'json': {
                'itemNotFound': {'code': 404, 'message': 'None is set.'}}}])
        page = self.page('policies')
        self.assertContains(page, 'start outside of Pclouds.</p>')
        page = self.page('policies', scope='role', id='database')
        self.assertNotContains(page, 'pcloud-set-default')

    def set_default(self, **form):
        body = base.sample('pclouds/list-detail-resp')['pclouds'][0]
        self.answer('GET', '/os-pclouds', json=lambda request, context: {
            'pclouds': [] if 'marker' in request.qs
            else [{**body, 'id': FARM}]})
        sent = self.answer('PUT', self.CLOUD, json={'policy': self.policy})
        self.send('set_default', **form)
        return sent.last_request.json()['policy']

    def test_set_default(self):
        growth = {'mode': 'grow', 'host_flavor': 'gpu', 'max_hosts': 3}
        self.assertEqual(
            {'default_pcloud': {'pcloud': FARM, **growth}},
            self.set_default(pcloud=FARM, **growth))
        self.assertEqual(
            {'default_pcloud': {'pcloud': FARM, 'mode': 'prefer'}},
            self.set_default(pcloud=FARM, **{**growth, 'mode': 'prefer'}))
        self.assertEqual({'default_pcloud': None},
                         self.set_default(pcloud='', mode='strict'))

    def test_the_present_default_is_filled_in(self):
        self.default(mode='grow', host_flavor='gpu', max_hosts=9,
                     availability_zone='az9')
        form = self.client.get(self.address('set_default')).context['form']

        self.assertEqual(
            [FARM, 'grow', 'gpu', 'az9', 9],
            [form[name].value() for name in (
                'pcloud', 'mode', 'host_flavor', 'availability_zone',
                'max_hosts')])
        self.assertIn(('az9', 'az9'),
                      form.fields['availability_zone'].choices)

    def test_remove(self):
        sent = self.answer('DELETE', self.ROLE, status_code=204)
        self.send('delete_policy', query='?scope=role&id=database')

        self.assertTrue(sent.called)


class AllPcloudsTest(base.AdminPageTest):

    panel = 'admin:pclouds'

    def test_those_with_idle_hosts_first(self):
        body = base.sample('pclouds/list-detail-resp')['pclouds'][0]
        found = [{**body, 'name': name,
                  'id': f'00000000-0000-4000-8000-{number:012}',
                  'free': empty and {**body['free'], 'hosts': empty}}
                 for number, (name, empty) in enumerate((
                     ('farm 10', 1), ('farm 9', 1), ('idle', 7),
                     ('silent', None)))]
        self.answer('GET', '/os-pclouds', json=lambda request, context: {
            'pclouds': [] if 'marker' in request.qs else found})
        self.answer('GET', '/os-pcloud-audit', json=base.sample(
            'audit/list-resp'))
        with mock.patch.object(horizon_api.keystone, 'tenant_list',
                               return_value=([], False)):
            page = self.page('index')

        self.assertEqual(['idle', 'farm 9', 'farm 10', 'silent'], [
            each.name for each in page.context['table'].data])
        # An administrator manages each of them on the page of owners.
        self.assertContains(page, f'href="/project/pclouds/{found[0]["id"]}/')


class QuotaTest(base.AdminPageTest):

    panel = 'admin:pclouds'

    def setUp(self):
        super().setUp()
        projects = [types.SimpleNamespace(id=f'{name}-id', name=name)
                    for name in ('Zoo', 'art')]
        self.enterContext(mock.patch.object(
            horizon_api.keystone, 'tenant_list',
            return_value=(projects, False)))
        self.at = '/os-pcloud-quotas/art-id'
        self.answer('GET', self.at, json=base.sample('quotas/show-resp'))
        self.sent = self.answer('PUT', self.at, json=base.sample(
            'quotas/update-resp'))

    def test_of_any_project(self):
        page = self.page('any_quota')
        self.assertEqual(
            [('art-id', 'art'), ('Zoo-id', 'Zoo')],
            page.context['form'].fields['project_id'].choices)
        self.send('any_quota', project_id='art-id', units='0')

        self.assertEqual({'quota': {'units': {'limit': 0}}},
                         self.sent.last_request.json())

    def test_of_an_owner(self):
        self.send('quota', 'art-id', units='7')

        self.assertEqual({'quota': {'units': {'limit': 7}}},
                         self.sent.last_request.json())

    def test_back_to_the_default(self):
        removed = self.answer('DELETE', self.at, status_code=204)
        self.send('quota', 'art-id', units='')

        self.assertTrue(removed.called)
        self.assertFalse(self.sent.called)

    def test_the_words_of_the_api(self):
        self.answer('PUT', self.at, status_code=400, json={'badRequest': {
            'code': 400, 'message': 'There is no such project.'}})

        self.assertContains(
            self.send('quota', 'art-id', units='7'),
            'There is no such project.')
