# SPDX-License-Identifier: Apache-2.0

"""Pcloud and host on Horizon's own pages of instances."""

from unittest import mock

from django.core import cache
from django import urls
from keystoneauth1 import exceptions as ksa_exceptions
from openstack_dashboard import api as horizon_api

from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.project import instances

PATH = '/os-pcloud-servers'


class InstancesTest(base.PageTest):

    def setUp(self):
        super().setUp()
        cache.cache.clear()
        self.addCleanup(cache.cache.clear)
        self.listed = self.servers.list()[:3]
        for service, name, found in (
                ('nova', 'server_list_paged', (self.listed, False, False)),
                ('nova', 'flavor_list', self.flavors.list()),
                ('nova', 'is_feature_available', True),
                ('nova', 'tenant_absolute_limits', {
                    'totalInstancesUsed': 1, 'maxTotalInstances': 10,
                    'totalCoresUsed': 1, 'maxTotalCores': 10,
                    'totalRAMUsed': 1, 'maxTotalRAMSize': 10}),
                ('nova', 'server_get', self.listed[0]),
                ('glance', 'image_list_detailed', ([], False, False)),
                ('cinder', 'volume_list', []),
                ('network', 'servers_update_addresses', None)):
            patch = mock.patch.object(
                getattr(horizon_api, service), name, return_value=found)
            patch.start()
            self.addCleanup(patch.stop)

    def place(self, server, host):
        return {'server': server.id, 'host': host, 'pcloud': {
            'id': self.pcloud_id, 'name': 'farm'}}

    def shown(self, **query):
        return self.client.get(
            urls.reverse('horizon:project:instances:index'), query)

    def test_one_call_for_the_servers_of_the_page(self):
        asked = self.answer('GET', PATH, json={'servers': [
            self.place(self.listed[0], 'web-1'),
            self.place(self.listed[1], None)]})
        page = self.shown()

        column = page.context['table'].columns['pcloud']
        self.assertEqual(['farm / web-1', 'farm', None], [
            column.get_data(each) for each in self.listed])
        self.assertContains(page, f'/project/pclouds/{self.pcloud_id}/', 2)
        self.assertEqual(1, asked.call_count)
        self.assertEqual([each.id for each in self.listed],
                         asked.last_request.qs['server'])

    def test_a_name_is_text(self):
        self.answer('GET', PATH, json={'servers': [
            self.place(self.listed[0], '<b>{$ 1 $}')]})
        page = self.shown()

        self.assertContains(page, 'farm / &lt;b&gt;')
        self.assertNotContains(page, '{$ 1 $}')

    def test_a_row_that_is_drawn_anew(self):
        self.answer('GET', PATH, json={'servers': [
            self.place(self.listed[0], 'web-1')]})
        table = instances.InstancesTable(self.factory.get('/'))
        row = table._meta.row_class(table)
        row.load_cells(self.listed[0])

        self.assertEqual('farm / web-1', row.cells['pcloud'].data)

    def test_a_cloud_without_pclouds(self):
        self.answer('GET', '/os-pclouds', status_code=404)
        page = self.shown()

        self.assertNotIn('pcloud', page.context['table'].columns)
        self.assertNotIn(('GET', PATH), self.calls())

    def test_an_older_api(self):
        self.answer('GET', PATH, status_code=404)
        page = self.shown()

        self.assertEqual(200, page.status_code)
        self.assertEqual([], list(page.context['messages']))

    def test_nobody_answers(self):
        self.answer('GET', PATH, exc=ksa_exceptions.ConnectFailure)
        page = self.shown()

        self.assertEqual(200, page.status_code)
        self.assertEqual([], list(page.context['messages']))

    def tab(self):
        group = mock.Mock(kwargs={'instance': self.listed[0]})
        return instances.PcloudTab(group, self.factory.get('/'))

    def test_tab_of_an_instance(self):
        for host, text in (('web-1', '<dd>web-1</dd>'),
                           (None, 'known to the owner')):
            asked = self.answer('GET', PATH, json={'servers': [
                self.place(self.listed[0], host)]})
            tab = self.tab()
            tab._active = True
            self.assertTrue(tab._allowed)
            self.assertIn(text, tab.render())
            self.assertEqual(1, asked.call_count)

    def test_no_tab_outside_of_pclouds(self):
        self.answer('GET', PATH, json={'servers': []})
        self.assertFalse(self.tab()._allowed)
