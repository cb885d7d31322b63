# SPDX-License-Identifier: Apache-2.0

"""The Pclouds of all projects, and quotas."""

import types
from unittest import mock

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base


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
        self.answer('GET', '/os-pcloud-attributes', json={'attributes': []})
        with mock.patch.object(horizon_api.keystone, 'tenant_list',
                               return_value=([], False)):
            page = self.page('index')

        self.assertEqual(['idle', 'farm 9', 'farm 10', 'silent'], [
            each.name for each in page.context['table'].data])
        # A telephone shows no head of the table.
        self.assertContains(page, 'datatable pcloud-stacked')
        self.assertContains(page, 'data-label="Empty Hosts"', count=4)
        # An administrator manages each of them on the page of owners.
        self.assertContains(page, f'href="/project/pclouds/{found[0]["id"]}/')


class WaitingTest(base.AdminPageTest):

    panel = 'admin:pclouds'

    def waiting(self):
        with mock.patch('pcloud_dashboard.api.project_names',
                        return_value={}):
            return self.page('waiting')

    def test_all_host_flavors(self):
        self.answer('GET', '/os-host-flavors', json={'host_flavors': [
            self.flavor({}, id=name) for name in ('gpu-10', 'gpu-9')]})
        body = base.sample('waiting/list-flavor-resp')['waiting'][0]
        for name in ('gpu-10', 'gpu-9'):
            self.answer('GET', f'/os-host-flavors/{name}/waiting', json={
                'waiting': [{**body, 'host_flavor': name}]})

        self.assertEqual(['gpu-9', 'gpu-10'], [
            each.host_flavor for each in self.waiting().context['waiting']])

    def test_nobody_waits(self):
        self.answer('GET', '/os-host-flavors', json={'host_flavors': []})

        self.assertContains(self.waiting(), 'Nobody waits for hosts.')


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
