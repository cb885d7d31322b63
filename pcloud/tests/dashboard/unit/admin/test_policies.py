# SPDX-License-Identifier: Apache-2.0

"""Policies and default Pclouds."""

import types
from unittest import mock

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base

FARM, BARN = (f'00000000-0000-4000-8000-00000000000{number}'
              for number in (1, 2))


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
        self.assertContains(page, 'always so')

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
