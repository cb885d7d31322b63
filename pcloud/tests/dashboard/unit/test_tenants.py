# SPDX-License-Identifier: Apache-2.0

"""The projects of a Pcloud: names, what they use, and caps."""

from unittest import mock

import ddt

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base

BORROWER = '5a1c3e7f9b2d4c6e8f0a1b3c5d7e9f21'
REFUSED = {'forbidden': {'code': 403, 'message': 'Not found for you.'}}


@ddt.ddt
class TenantsTest(base.PageTest):

    def setUp(self):
        super().setUp()
        self.answer('GET', f'{self.at}/tenants',
                    json=base.sample('tenants/list-resp'))
        self.use = base.sample('usage/pcloud-resp')['usage']
        self.answer('GET', f'{self.at}/usage', json={'usage': self.use})
        self.cap = self.answer(
            'PUT', f'{self.at}/tenants/{BORROWER}', status_code=204)

    def tab(self):
        return self.page('detail', self.pcloud_id, tab='pcloud__tenants')

    def test_names_and_what_is_used(self):
        page = self.tab()

        self.assertContains(page, '>film ')
        self.assertContains(page, '0 of at most 20')
        self.assertContains(page, '0 of at most 64')
        self.assertContains(page, 'aria-valuetext="100 %"')
        self.assertContains(page, f'data-copy="{BORROWER}"')
        # A share of all is no fault.
        self.assertNotContains(page, 'pcloud-full')

    def test_a_cap_that_is_reached(self):
        self.use['tenants'][1]['servers'] = 20
        self.answer('GET', f'{self.at}/usage', json={'usage': self.use})

        self.assertContains(self.tab(), 'pcloud-full')

    def test_a_project_that_is_no_tenant_any_more(self):
        self.use['tenants'].append({
            **self.use['tenants'][1], 'project': 'f' * 32, 'name': 'old',
            'servers': 1})
        self.answer('GET', f'{self.at}/usage', json={'usage': self.use})
        page = self.tab()

        self.assertContains(page, '>old ')
        self.assertContains(page, 'may launch nothing more')
        self.assertNotContains(page, f'{"f" * 32}/remove')

    def test_what_is_used_is_not_known(self):
        self.answer('GET', f'{self.at}/usage', status_code=503, json={
            'computeFault': {'code': 503, 'message': 'A cell is silent.'}})
        page = self.tab()

        self.assertContains(page, 'A cell is silent.')
        self.assertContains(page, '>film ')

    @ddt.data(
        ({'project': 'film'}, {'name': 'film'}),
        ({'project': 'film', 'domain': 'studio'},
         {'name': 'film', 'domain': 'studio'}))
    @ddt.unpack
    def test_add_by_name(self, form, tenant):
        added = self.answer('POST', f'{self.at}/tenants', status_code=201,
                            json=base.sample('tenants/add-named-resp'))
        self.send('add_tenant', self.pcloud_id, **form)

        self.assertEqual({'tenant': tenant}, added.last_request.json())

    def test_add_by_id(self):
        self.send('add_tenant', self.pcloud_id, project=BORROWER)

        self.assertEqual(('PUT', f'{self.at}/tenants/{BORROWER}'),
                         self.calls()[-1])

    def test_a_name_that_is_not_found(self):
        self.answer('POST', f'{self.at}/tenants', status_code=403,
                    json=REFUSED)

        self.assertContains(
            self.send('add_tenant', self.pcloud_id, project='film'),
            'Not found for you.')

    def test_present_caps_are_filled_in(self):
        page = self.page('cap_tenant', self.pcloud_id, BORROWER)

        self.assertEqual(
            {'max_servers': 20, 'max_vcpus': 64, 'max_memory_mb': None},
            page.context['form'].initial)
        self.assertContains(page, 'Caps of a Tenant: film')

    def test_caps(self):
        self.send('cap_tenant', self.pcloud_id, BORROWER,
                  max_servers='', max_vcpus='8', max_memory_mb='0')

        self.assertEqual({'tenant': {
            'max_servers': None, 'max_vcpus': 8, 'max_memory_mb': 0}},
            self.cap.last_request.json())

    def test_a_tenant_that_is_removed_is_told_by_name(self):
        self.answer('DELETE', f'{self.at}/tenants/{BORROWER}',
                    status_code=204)
        with mock.patch('horizon.messages.success') as told:
            self.send('remove_tenant', self.pcloud_id, BORROWER)

        self.assertEqual('film is a tenant no more.', told.call_args.args[1])

    def test_one_call_of_keystone_for_any_number(self):
        self.use['tenants'] *= 40
        self.answer('GET', f'{self.at}/usage', json={'usage': self.use})
        with mock.patch.object(horizon_api.keystone, 'tenant_list') as found:
            self.tab()

        self.assertEqual(0, found.call_count)
        self.assertEqual(
            [('GET', self.at), ('GET', f'{self.at}/tenants'),
             ('GET', f'{self.at}/usage')],
            [call for call in self.calls() if call[1] != '/os-pclouds'])
