# SPDX-License-Identifier: Apache-2.0

"""The pool of a host flavor."""

import types
from unittest import mock

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base

IDLE = {'pcloud': None, 'vcpus': 10, 'vcpus_used': 0, 'memory_mb': 8192,
        'memory_mb_used': 512}


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
        self.assertContains(page, 'End Maintenance: ', count=1)

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
                                 ('node-10', 'disabled'),
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
            [('node-4', None), ('node-10', None),
             ('node-1', 'is in the pool of gpu'),
             ('node-2', 'is enabled: disable its compute service first'),
             ('node-3', '3 instances are on the host')],
            [(each.host, each.refusal) for each in page.context['computes']])
        self.assertContains(page, 'disabled>', count=3)

    def test_nova_does_not_answer(self):
        self.answer('GET', '/os-host-flavors/gpu', json={
            'host_flavor': self.flavor()})
        with mock.patch.object(horizon_api.nova, 'service_list',
                               side_effect=self.exceptions.nova):
            page = self.page('add_host', 'gpu')

        self.assertContains(page, 'There are no compute hosts.')
