# SPDX-License-Identifier: Apache-2.0

"""What users see when something goes wrong, and beside our pages."""

import re
import types
from unittest import mock

import ddt
from keystoneauth1 import exceptions as ksa_exceptions
import requests

from openstack_dashboard import api as horizon_api
from pcloud import names
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.admin import aggregates
from pcloud_dashboard.launch import rest


@ddt.ddt
class EndedSessionTest(base.PageTest):

    def setUp(self):
        super().setUp()
        for path in ('/os-pclouds', self.at, f'{self.at}/hosts'):
            self.answer('GET', path, status_code=401, json={'error': {
                'code': 401, 'message': 'The token has expired.'}})

    def test_the_list_leads_to_the_login(self):
        page = self.page('index')

        self.assertEqual(302, page.status_code)
        self.assertIn('/auth/login/?next=/project/pclouds/', page.url)

    def test_a_tab_leads_to_the_login(self):
        self.answer('GET', self.at, json={'pcloud': self.pcloud})
        page = self.page('detail', self.pcloud_id)

        self.assertEqual(302, page.status_code)
        self.assertIn('/auth/login/', page.url)

    @ddt.data(('head', {}), ('state', {'state': 'enabled'}))
    @ddt.unpack
    def test_scripts_are_told(self, route, form):
        self.answer('GET', self.at, json={'pcloud': self.pcloud})
        self.answer('PUT', f'{self.at}/hosts/web-1', status_code=401)
        if route == 'head':
            self.answer('GET', self.at, status_code=401)
            answer = self.client.get(
                self.address('head', self.pcloud_id),
                HTTP_X_REQUESTED_WITH='XMLHttpRequest')
        else:
            answer = self.send(route, self.pcloud_id, 'web-1', **form)

        self.assertEqual(401, answer.status_code)
        self.assertIn('/auth/login/', answer['X-Horizon-Location'])

    def test_the_launch_dialog_is_told(self):
        request = self.factory.get('/', HTTP_X_REQUESTED_WITH='XMLHttpRequest')

        self.assertEqual(401, rest.Pclouds().get(request).status_code)


class SilentApiTest(base.PageTest):

    def test_a_page_waits_for_a_silent_api_once(self):
        for path in ('/os-pclouds', f'/os-pcloud-quotas/{self.owner}'):
            self.answer('GET', path, exc=requests.exceptions.ReadTimeout)
        with mock.patch('pcloud_dashboard.api.has_pclouds',
                        return_value=True):
            page = self.page('index')

        self.assertEqual(200, page.status_code)
        self.assertEqual(1, len(self.calls()))
        self.assertIn('does not answer', ' '.join(
            str(each) for each in page.context['messages']))

    def test_how_long_a_page_waits(self):
        self.page('index')
        self.answer('POST', '/os-pclouds', status_code=201,
                    json={'pcloud': self.pcloud})
        self.send('create', name='farm')

        waits = {method: {request.timeout for request
                          in self.http.request_history
                          if request.method == method}
                 for method in ('GET', 'POST')}
        self.assertLess(max(waits['GET']), 15)
        # Many hosts are added within a minute.
        self.assertEqual({60}, waits['POST'])

    def test_a_refusal_is_no_silence(self):
        self.answer('GET', '/os-pclouds', exc=ksa_exceptions.ConnectFailure)
        self.page('index')

        self.assertIn(('GET', f'/os-pcloud-quotas/{self.owner}'),
                      self.calls())


@ddt.ddt
class OthersPcloudTest(base.PageTest):

    @ddt.data('delete', 'edit', 'add_hosts', 'requirements')
    def test_nothing_is_said_of_it(self, route):
        self.answer('GET', self.at, json={'pcloud': {
            **base.sample('pclouds/show-tenant-resp')['pcloud'],
            'id': self.pcloud_id}})
        page = self.page(route, self.pcloud_id)

        self.assertEqual((302, '/project/pclouds/'),
                         (page.status_code, page.url))


class AggregatesTest(base.AdminPageTest):

    panel = 'admin:aggregates'

    def setUp(self):
        super().setUp()
        self.deleted = self.enterContext(mock.patch.object(
            horizon_api.nova, 'aggregate_delete'))
        self.enterContext(mock.patch.object(
            horizon_api.nova, 'aggregate_details_list', return_value=[
                types.SimpleNamespace(
                    id=number, name=name, hosts=[], metadata=metadata,
                    availability_zone=None)
                for number, (name, metadata) in enumerate((
                    ('rack 7', {}), ('Pcloud:of a user', {}),
                    ('Pcloud:<b>', {'pcloud:type': 'pcloud'}),
                    (names.JOURNAL, {names.TYPE: names.TYPE_JOURNAL})), 1)]))
        self.enterContext(mock.patch.object(
            horizon_api.nova, 'availability_zone_list', return_value=[]))
        self.enterContext(mock.patch(
            'pcloud_dashboard.api.has_pclouds', return_value=False))

    def test_ours_are_marked_and_have_no_actions(self):
        page = self.page('index')

        self.assertContains(page, 'managed by Pcloud', 2)
        self.assertNotContains(page, 'Pcloud:<b>')
        for number, count in ((1, 1), (2, 1), (3, 0), (4, 0)):
            self.assertContains(page, f'/aggregates/{number}/update/', count)
            self.assertEqual(count, len(re.findall(
                rf'<input[^>]*name="object_ids"[^>]*value="{number}"|'
                rf'<input[^>]*value="{number}"[^>]*name="object_ids"',
                page.content.decode())))

    def delete(self, number):
        self.client.post(self.address('index'), {
            'action': 'host_aggregates__delete', 'object_ids': [number]})

    def test_ours_are_not_deleted_by_a_form_that_is_made_up(self):
        self.delete(3)
        self.delete(4)
        self.assertEqual(0, self.deleted.call_count)

        self.delete(1)
        self.assertEqual(1, self.deleted.call_count)

    def test_whose_they_are(self):
        self.assertFalse(aggregates.is_managed(types.SimpleNamespace(
            name='rack', metadata=None)))
