# SPDX-License-Identifier: Apache-2.0

"""Pcloud and host on Horizon's own pages of instances."""

from unittest import mock

import ddt
from django.core import cache
from django import urls
from keystoneauth1 import exceptions as ksa_exceptions
from openstack_dashboard import api as horizon_api

from pcloud.client import resources
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.project import instances
from pcloud_dashboard.project import wishes

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

    def place(self, server, host, rack=None):
        return {'server': server.id, 'host': host, 'rack': rack, 'pcloud': {
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

    def tab(self, **members):
        for name, value in members.items():
            setattr(self.listed[0], name, value)
        group = mock.Mock(kwargs={'instance': self.listed[0]})
        return instances.PcloudTab(group, self.factory.get('/'))

    def rendered(self, places, hints, *others, **members):
        """Return the text of the tab of the first server."""
        asked = self.answer('GET', PATH, [{'json': {'servers': [
            self.place(server, host, rack)
            for server, host, rack in listed]}} for listed in places])
        server = self.listed[0]
        body = {'id': server.id, 'name': 'one', 'scheduler_hints': hints,
                **members}
        self.answer('GET', f'/servers/{server.id}', json={'server': body})
        self.answer('GET', '/servers/detail',
                    json={'servers': [body, *others]})
        self.answer('GET', '/os-pclouds', json={'pclouds': [
            {'id': self.pcloud_id, 'name': 'farm', 'owner': self.owner}]})
        tab = self.tab(status=members.get('status', 'ACTIVE'))
        tab._active = True
        self.assertTrue(tab._allowed)
        text = tab.render()
        self.assertEqual(len(places), asked.call_count)
        return text

    def test_tab_of_an_instance(self):
        for host, text in (('web-1', '<dd>web-1</dd>'),
                           (None, 'known to the owner')):
            shown = self.rendered([[(self.listed[0], host, None)]], {})
            self.assertIn(text, shown)
            self.assertIn('Nothing was asked', shown)

    def test_what_was_asked_and_what_came_of_it(self):
        first, second, third = self.listed
        shown = self.rendered(
            [[(first, 'web-1', 1)],
             [(second, 'web-2', 1), (third, 'web-3', 2)]],
            {'pcloud': [self.pcloud_id], 'near': [second.id],
             'far': ['tag:db'], 'locality': ['strict'],
             'pcloud_host': 'web-1', 'service': 'a&b'},
            {'id': second.id, 'name': 'two', 'tags': []},
            {'id': third.id, 'name': '<three>', 'tags': ['db']})

        for text in ('in Pcloud farm', 'on host web-1 alone', 'near to two',
                     'far from tag db', 'strict', 'service: a&amp;b',
                     'two: on another host of the same rack',
                     '&lt;three&gt;: in another rack', '<dd>1</dd>'):
            self.assertIn(text, shown)

    def test_a_server_that_has_failed(self):
        shown = self.rendered(
            [[]], {'pcloud': self.pcloud_id}, status='ERROR',
            fault={'message': f'Pcloud {self.pcloud_id} is full.'})

        for text in ('on no host of a Pcloud', 'Pcloud farm is full.',
                     'in Pcloud farm'):
            self.assertIn(text, shown)

    def test_no_tab_outside_of_pclouds(self):
        self.answer('GET', PATH, json={'servers': []})
        self.assertFalse(self.tab(status='ACTIVE')._allowed)


@ddt.ddt
class BesideTest(base.PageTest):
    """Where another server is."""

    @ddt.unpack
    @ddt.data(
        # host and rack of the server, and of the other server
        (('a', 1), ('a', 1), 'on the same host'),
        (('a', 1), ('b', 1), 'on another host of the same rack'),
        (('a', 1), ('b', 2), 'in another rack'),
        (('a', None), ('b', 2), 'on another host'),
        ((None, None), (None, None), 'in the same Pcloud; its owner alone '
         'knows the host'),
        (('a', 1), None, 'not in the same Pcloud'),
    )
    def test_words(self, here, there, words):
        place, other = (each and resources.PlacedServer(
            'x', {'id': 'p', 'name': 'farm'}, *each)
            for each in (here, there))
        self.assertEqual(words, wishes.beside(place, other))

    def test_another_pcloud(self):
        one, other = (resources.PlacedServer('x', {'id': each}, 'a', 1)
                      for each in 'pq')
        self.assertEqual('not in the same Pcloud', wishes.beside(one, other))
