# SPDX-License-Identifier: Apache-2.0

"""The commands of what tenants use and what projects hold."""

import json

import ddt

from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'
TENANT = f'{FARM}/tenants/{base.OTHER_PROJECT}'
USAGE = {
    'project': base.PROJECT, 'month': '2026-11', 'complete': False,
    'currency': 'EUR', 'host_flavors': [
        {'id': 'gold', 'hosts': 2, 'host_hours': 45.5, 'unit_hours': 91.0,
         'cost': '113.750000'},
        {'id': 'small', 'hosts': 1, 'host_hours': 1.0, 'unit_hours': 1.0}]}


def _with_costs(host_flavors):
    """Return what programs are shown of host flavors."""
    return [{'cost': None, **each} for each in host_flavors]


@ddt.ddt
class UsageTest(base.CloudTestCase):

    def answer_tenants(self, **caps):
        self.answer_farm()
        self.answer('GET', f'{FARM}/tenants', json={'tenants': [
            {'id': base.PROJECT, 'name': 'own'},
            {'id': base.OTHER_PROJECT, 'name': 'other', **caps}]})

    @ddt.data(
        ('--max-vcpus 64', {}, (None, 64, None)),
        ('--max-servers 0 --max-memory-mb 512', {'max_vcpus': 3},
         (0, 3, 512)),
        ('--max-vcpus -1', {'max_vcpus': 3, 'max_servers': 7},
         (7, None, None)))
    @ddt.unpack
    def test_caps(self, options, before, after):
        for project in ('other', base.OTHER_PROJECT):
            self.answer_tenants(**before)
            self.answer('PUT', TENANT, status_code=204)
            result = self.openstack(
                *f'pcloud tenant set farm {project} {options}'.split())
            self.assertEqual((0, '', ''), result)
            self.assertEqual(('PUT', TENANT, {'tenant': dict(zip(
                ('max_servers', 'max_vcpus', 'max_memory_mb'), after))}),
                self.last_call())

    def test_no_caps(self):
        self.answer_tenants()
        self.assert_one_line('Nothing to change', self.openstack(
            'pcloud', 'tenant', 'set', 'farm', 'other'))
        self.assert_one_line('No tenant of Pcloud', self.openstack(
            'pcloud', 'tenant', 'set', 'farm', 'nobody', '--max-vcpus', '1'))

    def test_tenants_with_caps(self):
        self.answer_tenants(max_vcpus=64)
        shown = json.loads(self.openstack(
            *'pcloud tenant list farm --long -f json'.split()).out)
        self.assertEqual([
            {'Project ID': base.PROJECT, 'Name': 'own', 'Max Servers': None,
             'Max VCPUs': None, 'Max Memory MB': None},
            {'Project ID': base.OTHER_PROJECT, 'Name': 'other',
             'Max Servers': None, 'Max VCPUs': 64, 'Max Memory MB': None}],
            shown)

    def test_show(self):
        self.answer('GET', f'/os-pcloud-usage/{base.PROJECT}',
                    json={'usage': USAGE})
        shown = json.loads(self.openstack(
            *'pcloud usage show -f json --month 2026-11'.split()).out)
        self.assertEqual(['2026-11'], self.calls()[0].query['month'])
        self.assertEqual({**USAGE, 'host_flavors': _with_costs(
            USAGE['host_flavors'])}, shown)
        result = self.openstack('pcloud', 'usage', 'show')
        self.assertEqual({}, self.calls()[-1].query)
        self.assertIn(f'own ({base.PROJECT})', result.out)
        self.assertIn('gold: 45.5 host hours, 91.0 unit hours, cost '
                      '113.750000', result.out)

    def test_show_by_day(self):
        days = [{'day': '2026-11-01', 'host_flavors': []},
                {'day': '2026-11-02', 'host_flavors': USAGE['host_flavors']}]
        self.answer('GET', f'/os-pcloud-usage/{base.PROJECT}',
                    json={'usage': {**USAGE, 'days': days}})
        command = 'pcloud usage show --by-day'
        shown = json.loads(self.openstack(
            *f'{command} -f json --month 2026-11'.split()).out)
        self.assertEqual({'month': ['2026-11'], 'by': ['day']},
                         self.calls()[0].query)
        self.assertEqual(
            [{**each, 'host_flavors': _with_costs(each['host_flavors'])}
             for each in days], shown['days'])
        out = self.openstack(*command.split()).out
        self.assertIn('2026-11-01  -', out)
        for each in ('gold: 45.5 host hours', 'small: 1.0 host hours'):
            self.assertIn(f'2026-11-02  {each}', out)

    def test_list(self):
        def page(request, _context):
            return {'usages': [] if 'marker' in request.qs else [USAGE]}

        self.answer('GET', '/os-pcloud-usage', json=page)
        shown = json.loads(self.openstack(
            *'pcloud usage list -f json'.split()).out)
        self.assertEqual([base.PROJECT],
                         self.calls()[-1].query['marker'])
        self.assertEqual(
            [('gold', 2, '113.750000'), ('small', 1, None)],
            [(each['Host Flavor'], each['Hosts'], each['Cost'])
             for each in shown])

    def test_list_of_a_pcloud(self):
        tenant = {'project': base.PROJECT, 'name': 'own', 'servers': 3,
                  'vcpus': 6, 'memory_mb': 4096, 'share': 1.0}
        self.answer_farm()
        self.answer('GET', f'{FARM}/usage', json={'usage': {
            'tenants': [tenant], 'hosts': [
                {'name': 'web', 'since': None, 'empty_since': None}]}})
        command = 'pcloud usage list --pcloud farm'
        shown, = json.loads(self.openstack(*f'{command} -f json'.split()).out)
        self.assertEqual(list(tenant.values()), list(shown.values()))
        self.assertIn('Memory MiB', self.openstack(*command.split()).out)
        self.assertEqual(2, self.openstack(
            *f'{command} --month 2026-11'.split()).status)

    @ddt.data(('--price 1.25', {'price': '1.25'}),
              ('--no-price --units 2', {'units': 2, 'price': None}))
    @ddt.unpack
    def test_price(self, options, change):
        self.answer('PUT', '/os-host-flavors/gold', json={
            'host_flavor': base.FLAVOR})
        self.assertEqual((0, '', ''), self.openstack(
            *f'host flavor set gold {options}'.split()))
        self.assertEqual(('PUT', '/os-host-flavors/gold',
                          {'host_flavor': change}), self.last_call())

    def test_price_of_a_new_host_flavor(self):
        self.answer('POST', '/os-host-flavors', status_code=201, json={
            'host_flavor': {**base.FLAVOR, 'price': '1.25'}})
        result = self.openstack(
            *'host flavor create gold --units 4 --price 1.25'.split())
        self.assertIn('1.25', result.out)
        self.assertEqual('1.25', self.calls()[0].body['host_flavor']['price'])
