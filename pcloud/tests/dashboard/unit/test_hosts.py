# SPDX-License-Identifier: Apache-2.0

"""The list of hosts: what is pending, filters, and several hosts at once."""

import ddt
from django import http

from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.project.hosts import listing

REFUSED = {'conflictingRequest': {'code': 409, 'message': 'It is in use.'}}
SERVER = '2e6b7a19-d5c8-4b3f-a1e0-6f9c4d2b8e35'


class ListTest(base.PageTest):

    def setUp(self):
        super().setUp()
        self.have_no_instances()

    def hosts(self, *hosts):
        """Answer with hosts: what differs of each."""
        host = base.sample('hosts/list-resp')['hosts'][0]
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            {**host, 'instances': [], 'name': f'web-{number}', **each}
            for number, each in enumerate(hosts, 1)]})

    def tab(self, **query):
        return self.page('detail', self.pcloud_id, tab='pcloud__hosts',
                         **query)

    def listed(self, page):
        return [host.name for host in page.context['listed']]


@ddt.ddt
class PendingTest(ListTest):

    PENDING = 'pcloud-pending'

    def with_servers(self, *servers):
        self.answer('GET', '/servers/detail', [
            {'json': {'servers': list(servers)}},
            {'json': {'servers': []}}])

    def server(self, number, **members):
        return {'id': f'{SERVER[:-1]}{number}', 'name': f'db-{number}',
                'status': 'BUILD', 'hostId': '',
                'scheduler_hints': {'pcloud': self.pcloud_id}, **members}

    def test_nothing_is_pending(self):
        self.hosts({}, {'state': 'draining', 'drain': {
            'move': 'live', 'remaining': [], 'blockers': []}})

        self.assertNotContains(self.tab(), self.PENDING)

    @ddt.data(
        {'state': 'draining', 'drain': {
            'move': 'live', 'remaining': [SERVER], 'blockers': []}},
        {'state': 'draining', 'drain': {
            'move': 'live', 'remaining': None, 'blockers': []}},
        {'state': 'draining', 'drain': {
            'move': 'live', 'release': True, 'remaining': [],
            'blockers': []}},
        {'status': 'down', 'recovery': {
            'state': 'moving', 'remaining': [SERVER], 'blockers': []}})
    def test_what_goes_on(self, host):
        self.hosts(host)

        self.assertContains(self.tab(), self.PENDING)

    def test_servers_that_start(self):
        self.hosts({})
        self.with_servers(
            *map(self.server, (1, 2, 3)),
            self.server(4, hostId='abc'),
            self.server(5, scheduler_hints={}),
            self.server(6, status='ERROR', fault={
                'message': f'No host: {self.pcloud_id}.'}))
        page = self.tab()

        self.assertContains(page, self.PENDING)
        self.assertContains(page, '3 starting')
        self.assertContains(page, '1 instance could not be started')
        self.assertContains(page, f': No host: {self.pcloud["name"]}.')
        asked = next(each for each in self.http.request_history
                     if '/servers/detail' in each.url)
        self.assertEqual(['build', 'error'], asked.qs['status'])
        for name in ('db-4', 'db-5'):
            self.assertNotContains(page, name)

    def test_servers_that_nova_does_not_tell(self):
        self.hosts({})
        self.answer('GET', '/servers/detail', status_code=503)

        self.assertContains(self.tab(), 'pcloud-host-web-1')

    def test_why_a_host_may_be_gone_at_the_next_look(self):
        self.hosts({'state': 'draining', 'drain': {
            'move': 'live', 'release': True, 'remaining': [],
            'blockers': []}}, {'until': '2100-01-01T00:00:00Z'})
        page = self.tab()

        self.assertContains(page, 'data-left="drained, released"')
        self.assertContains(page, 'data-left="its date has come"')
        self.assertContains(page, 'data-hosts="web-1 web-2 "')


@ddt.ddt
class FilterTest(ListTest):

    def setUp(self):
        super().setUp()
        self.hosts({'availability_zone': 'az1', 'instances': [SERVER]},
                   {'availability_zone': 'az2', 'state': 'disabled'},
                   {'availability_zone': 'az1', 'host_flavor': 'gold'},
                   {'status': 'down'}, {}, {})

    @ddt.data(
        ({'host_text': 'WEB-2'}, ['web-2']),
        ({'host_text': SERVER[:8]}, ['web-1']),
        ({'host_zone': 'az1', 'host_flavor': 'gold'}, ['web-3']),
        ({'host_state': 'disabled'}, ['web-2']),
        ({'host_state': 'down'}, ['web-4']),
        ({'host_text': 'nothing'}, []),
        ({}, [f'web-{number}' for number in range(1, 7)]))
    @ddt.unpack
    def test_filter(self, query, expected):
        page = self.tab(**query)

        self.assertEqual(expected, self.listed(page))
        # Whether a host has left is told by all hosts.
        self.assertContains(page, 'data-hosts="web-1 web-2 web-3 web-4 web-5 '
                                  'web-6 "')
        if query:
            self.assertContains(page, f'{len(expected)} of 6 hosts')

    def test_the_filter_is_kept(self):
        page = self.tab(host_state='disabled')

        self.assertContains(
            page, '?tab=pcloud__hosts&amp;host_state=disabled"')
        self.assertContains(page, '<option value="disabled" selected>')

    def test_few_hosts_have_none(self):
        self.hosts({}, {})

        self.assertNotContains(self.tab(), 'pcloud-filter')


class GroupsTest(ListTest):

    def test_many_hosts_are_in_groups(self):
        self.hosts(*({'availability_zone': f'az{number % 2}',
                      'rack': number % 4 or None} for number in range(60)))
        page = self.tab()

        self.assertEqual(
            ['az0, rack 2: 15 hosts', 'az0: 15 hosts', 'az1, rack 1: 15 '
             'hosts', 'az1, rack 3: 15 hosts'],
            sorted(title for title, _hosts in page.context['groups']))
        self.assertContains(page, 'rowgroup', 4)

    def test_few_are_not(self):
        self.assertEqual([], listing.by_place([], lambda each: each))
        self.assertEqual(
            [('', [('az', 1)])],
            listing.by_place([('az', 1)], lambda each: each))


class RemoveTest(ListTest):

    def test_why_a_host_cannot_be_removed(self):
        self.hosts({}, {'state': 'disabled'})
        page = self.tab()

        self.assertContains(page, 'aria-disabled="true"', 1)
        self.assertContains(page, 'aria-label="Remove web-1: The host is '
                                  'enabled; disable it first."')
        self.assertContains(page, 'aria-label="Remove web-2"')


class BulkTest(ListTest):

    def setUp(self):
        super().setUp()
        self.hosts({}, {'state': 'disabled'}, {'state': 'disabled',
                                               'instances': [SERVER]})
        for number in (1, 2, 3):
            self.answer('PUT', f'{self.at}/hosts/web-{number}',
                        json=base.sample('hosts/drain-resp'))
            self.answer('DELETE', f'{self.at}/hosts/web-{number}',
                        status_code=204)

    def bulk(self, action, *names):
        return self.client.post(
            self.address('bulk', self.pcloud_id) +
            '?back=tab%3Dpcloud__hosts%26host_zone%3Daz1',
            {'action': action, 'host': names}, follow=True)

    def messages(self, page):
        return ' '.join(str(each) for each in page.context['messages'])

    def sent(self, method):
        return [(each.url.rpartition('/')[2], each.json() if method == 'PUT'
                 else None) for each in self.http.request_history
                if each.method == method]

    def test_boxes(self):
        page = self.tab()

        self.assertContains(page, 'form="pcloud-bulk"', 3)
        self.assertContains(page, 'Choose web-1')

    def test_enable(self):
        page = self.bulk('enable', 'web-1', 'web-2')

        self.assertEqual(
            [(name, {'host': {'state': 'enabled'}})
             for name in ('web-1', 'web-2')], self.sent('PUT'))
        self.assertIn('2 hosts are enabled.', self.messages(page))
        self.assertEqual('az1', page.context['filter'].zone)

    def test_disable_what_can_be(self):
        self.answer('PUT', f'{self.at}/hosts/web-1', status_code=409,
                    json=REFUSED)
        page = self.bulk('disable', 'web-1', 'web-2')

        self.assertIn('1 host is disabled.', self.messages(page))
        self.assertIn('web-1: It is in use.', self.messages(page))

    def test_nothing_is_chosen(self):
        self.assertIn('No host is chosen.', self.messages(
            self.bulk('disable')))
        self.assertEqual([], self.sent('PUT'))

    def test_remove_asks_first(self):
        page = self.bulk('remove', 'web-1', 'web-2', 'web-3')

        self.assertEqual([], self.sent('DELETE'))
        self.assertContains(page, 'stays. The host is enabled')
        self.assertContains(page, 'leaves the Pcloud; its units are free', 1)
        query = '?host=web-1&host=web-2&host=web-3'
        page = self.client.post(self.address(
            'remove_hosts', self.pcloud_id) + query, follow=True)
        self.assertEqual([('web-2', None)], self.sent('DELETE'))
        self.assertIn('1 host has left the Pcloud.', self.messages(page))

    def test_drain_shows_what_would_happen_first(self):
        page = self.bulk('drain', 'web-1', 'web-3')
        self.assertContains(page, 'name="move"')
        wish = {'move': 'none', 'release': 'on', 'deadline': ''}
        query = '?host=web-1&host=web-3'
        page = self.send('drain_hosts', self.pcloud_id, query=query, **wish)
        self.assertContains(page, 'web-1: ')
        self.assertEqual(
            [['web-3'], ['web-1']],
            [body['host']['drain']['together_with']
             for _name, body in self.sent('PUT')])
        seen = page.context['form'].data['seen']
        self.send('drain_hosts', self.pcloud_id, query=query, seen=seen,
                  **wish)

        self.assertEqual(
            [(name, {'host': {'state': 'draining', 'drain': {
                'move': 'none', 'release': True}}})
             for name in ('web-1', 'web-3')], self.sent('PUT')[2:])

    def test_hosts_of_others(self):
        self.answer('GET', self.at, json={'pcloud': {
            **base.sample('pclouds/show-tenant-resp')['pcloud'],
            'id': self.pcloud_id}})
        for route in ('drain_hosts', 'remove_hosts'):
            self.assertEqual(302, self.page(
                route, self.pcloud_id, host='web-1').status_code)

    def test_how_far_it_is(self):
        self.assertEqual({'hosts': 3, 'enabled': 1}, self.page(
            'progress', self.pcloud_id).json())
        self.answer('GET', f'{self.at}/hosts', status_code=409, json=REFUSED)
        self.assertEqual({'failure': 'It is in use.'}, self.page(
            'progress', self.pcloud_id).json())


class AskedTest(ListTest):

    def test_blanks_around_a_text(self):
        self.assertEqual('web', listing.asked(
            http.QueryDict('host_text=+web+')).text)
