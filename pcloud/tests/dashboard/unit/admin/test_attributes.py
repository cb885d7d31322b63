# SPDX-License-Identifier: Apache-2.0

"""Attributes of hosts."""

import types
from unittest import mock

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base


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
