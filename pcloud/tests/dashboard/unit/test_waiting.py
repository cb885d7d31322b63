# SPDX-License-Identifier: Apache-2.0

"""Waiting lists, dates, spares, recoveries and fences."""

from unittest import mock

import ddt

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base

REFUSED = {'forbidden': {'code': 403, 'message': 'Too many entries.'}}


@ddt.ddt
class HostsTest(base.PageTest):

    def setUp(self):
        super().setUp()
        self.have_no_instances()
        self.host = base.sample('hosts/show-resp')['host']
        self.answer('GET', f'{self.at}/waiting',
                    json=base.sample('waiting/list-resp'))

    def row(self, **members):
        self.answer('GET', f'{self.at}/hosts', json={
            'hosts': [{**self.host, **members}]})
        return self.page('detail', self.pcloud_id)

    @ddt.data(('moving', 'start on other hosts.', '<progress aria-label'),
              ('held', 'before the operator says so.', '1 instance left'),
              ('done', 'run on other hosts.', 'max="1" value="1"'))
    @ddt.unpack
    def test_recovery(self, state, words, more):
        page = self.row(recovery={
            'state': state, 'since': '2026-01-01T00:00:00Z',
            'replacement': 'web-9', 'remaining': self.host['instances'],
            'blockers': [{'server': self.host['instances'][0],
                          'reason': 'a local disk'}]})

        self.assertContains(page, words)
        self.assertContains(page, more)
        self.assertContains(page, 'web-9 stands in for it.')
        self.assertContains(page, ': a local disk</li>')

    def test_a_recovery_of_which_what_is_left_is_not_known(self):
        page = self.row(recovery={'state': 'moving', 'remaining': None,
                                  'blockers': None})

        self.assertContains(page, 'start on other hosts.')
        self.assertNotContains(page, 'instance left')

    def test_spare(self):
        page = self.row(state='spare')

        self.assertContains(page, '>spare</span>')
        self.assertContains(page, 'aria-checked="false"')
        self.assertContains(page, 'name="state" value="enabled"')
        self.assertNotContains(page, 'Make Spare')
        self.assertContains(self.row(state='enabled'), 'Make Spare')

    def test_make_spare(self):
        changed = self.answer('PUT', f'{self.at}/hosts/web-1',
                              json=base.sample('hosts/spare-resp'))
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/spare-resp'))
        answer = self.send(
            'state', self.pcloud_id, 'web-1', state='spare').json()

        self.assertEqual({'host': {'state': 'spare'}},
                         changed.last_request.json())
        self.assertIn('web-1 is a spare', answer['message'])

    def test_a_date(self):
        self.assertContains(
            self.row(until='2100-01-01T20:00:00Z', move='live'),
            'Leaves the Pcloud 01/01/2100 8 p.m.')

    def test_what_the_pcloud_waits_for(self):
        page = self.row()

        self.assertContains(page, 'The Pcloud waits for 1 host<')
        self.assertContains(page, 'web-3')
        self.assertContains(page, '9b4d7f20-3c6e-4d18-b2a5-7c8e1f0d6a93/can')

    def test_nothing_to_wait_for(self):
        self.answer('GET', f'{self.at}/waiting', json={'waiting': []})

        self.assertNotContains(self.row(), 'pcloud-waiting')

    def test_hosts_are_there_where_the_list_fails(self):
        self.answer('GET', f'{self.at}/waiting', status_code=403,
                    json=REFUSED)
        page = self.row()

        self.assertContains(page, 'Too many entries.')
        self.assertContains(page, 'pcloud-host-web-1')

    def test_cancel(self):
        entry = '9b4d7f20-3c6e-4d18-b2a5-7c8e1f0d6a93'
        self.answer('DELETE', f'{self.at}/waiting/{entry}', status_code=204)
        self.send('cancel_waiting', self.pcloud_id, entry)

        self.assertIn(('DELETE', f'{self.at}/waiting/{entry}'), self.calls())


@ddt.ddt
class AddTest(base.PageTest):

    FORM = {'host_flavor': 'gpu', 'name': 'web-{n}', 'availability_zone': '',
            'wait_until': '2100-01-01T00:00'}

    def add(self, *answers, **form):
        self.added = self.answer('POST', f'{self.at}/hosts', list(answers))
        return self.send('add_hosts', self.pcloud_id,
                         **{**self.FORM, 'count': '2', **form})

    def test_some_join_and_some_are_waited_for(self):
        for name in ('web-2', 'web-3'):
            enabled = self.answer('PUT', f'{self.at}/hosts/{name}',
                                  json=base.sample('hosts/add-resp'))
        self.add({'json': base.sample('hosts/add-resp'), 'status_code': 201},
                 {'json': base.sample('hosts/wait-resp'),
                  'status_code': 202},
                 enable='on', until='2100-02-01T00:00', move='live')

        self.assertEqual([{'host': {
            'name': name, 'host_flavor': 'gpu',
            'wait_until': '2100-01-01T00:00:00Z',
            'until': '2100-02-01T00:00:00Z', 'move': 'live'}}
            for name in ('web-2', 'web-3')],
            [each.json() for each in self.added.request_history])
        # Whoever is waited for cannot be enabled yet.
        self.assertEqual(0, enabled.call_count)

    def test_what_was_done_is_told_when_the_next_is_refused(self):
        answer = self.add(
            {'json': base.sample('hosts/wait-resp'), 'status_code': 202},
            {'json': REFUSED, 'status_code': 403})

        self.assertIn('X-Horizon-Location', answer)

    def test_nothing_was_done(self):
        self.assertContains(
            self.add({'json': REFUSED, 'status_code': 403}),
            'Too many entries.')

    def test_to_wait_for_a_requirement(self):
        answer = self.add(host_flavor='', constraints='cpu=4')

        self.assertContains(answer, 'A Pcloud waits for a kind of host')
        self.assertEqual(0, self.added.call_count)

    def test_a_date_without_waiting(self):
        self.add({'json': base.sample('hosts/add-resp'), 'status_code': 201},
                 name='web', count='1', wait_until='',
                 until='2100-02-01T00:00', move='none')

        self.assertEqual({'host': {
            'name': 'web', 'host_flavor': 'gpu', 'move': 'none',
            'until': '2100-02-01T00:00:00Z'}},
            self.added.last_request.json())


class SettingsTest(base.PageTest):

    def save(self, **form):
        self.saved = self.answer('PUT', self.at, json={'pcloud': self.pcloud})
        self.send('edit', self.pcloud_id, **{
            'name': self.pcloud['name'], 'cpu_allocation_ratio': '4.0',
            'after_hours': '24', 'min_hosts': '1', 'keep_spare': '1', **form})

    def test_recovery(self):
        self.save(host_recovery='replace')

        self.assertEqual({'pcloud': {'host_recovery': 'replace'}},
                         self.saved.last_request.json())

    def test_no_host_leaves_by_itself(self):
        self.save(after_hours='')

        self.assertEqual({'pcloud': {'shrink': None}},
                         self.saved.last_request.json())

    def test_when_hosts_leave(self):
        self.save(after_hours='48', min_hosts='2', keep_spare='')

        self.assertEqual({'pcloud': {'shrink': {
            'after_hours': 48, 'min_hosts': 2, 'keep_spare': 0}}},
            self.saved.last_request.json())


class PoolTest(base.AdminPageTest):

    def setUp(self):
        super().setUp()
        self.answer('GET', '/os-host-flavors/gpu', json={
            'host_flavor': self.flavor({'host': 'node-1', 'fenced': True},
                                       {'host': 'node-2'})})
        self.waiting = base.sample('waiting/list-flavor-resp')
        self.answer('GET', '/os-host-flavors/gpu/waiting', json=self.waiting)
        self.fenced = self.answer(
            'PUT', '/os-host-flavors/gpu/hosts/node-1', json={
                'host': {'host': 'node-1'}})

    def test_who_waits(self):
        owner = self.waiting['waiting'][0]['owner']
        with mock.patch.object(horizon_api.keystone, 'tenant_list',
                               return_value=([mock.Mock(id=owner)], False)
                               ) as found:
            found.return_value[0][0].name = 'studio'
            page = self.page('detail', 'gpu')

        self.assertContains(page, '>studio</td>')
        self.assertContains(page, 'web-3')

    def test_nobody_waits(self):
        self.answer('GET', '/os-host-flavors/gpu/waiting',
                    json={'waiting': []})

        self.assertContains(self.page('detail', 'gpu'), 'Nobody waits')

    def test_fences(self):
        self.answer('GET', '/os-host-flavors/gpu/waiting',
                    json={'waiting': []})
        page = self.page('detail', 'gpu')

        self.assertContains(page, '>fenced</span>', 1)
        self.assertContains(page, 'End Fence: node-1')
        self.assertNotContains(page, 'End Fence: node-2')
        for route, fenced in (('fence', True), ('unfence', False)):
            self.send(route, 'gpu', 'node-1')
            self.assertEqual({'host': {'fenced': fenced}},
                             self.fenced.last_request.json())
