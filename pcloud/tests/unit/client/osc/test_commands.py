# SPDX-License-Identifier: Apache-2.0

"""Every command of openstack, through its real shell."""

import json

import ddt

from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'
HOSTS = f'{FARM}/hosts'
POOL = '/os-host-flavors/gold/hosts'
RACK = '/os-pcloud-attributes/rack'
CLOUD = '/os-pcloud-policies/cloud/default'
# What a host of the flavor meets.
CONSTRAINTS = ('cpu=64 ram=256G storage=900G resource:CUSTOM_NVME=2 '
               'trait:HW_CPU_X86_AVX=required')
FLAVOR_FOR_ADMIN = {**base.FLAVOR, 'hosts': [
    {'host': 'compute-1', 'hypervisor_hostname': 'c1.test',
     'availability_zone': 'az1', 'pcloud': None, 'status': 'enabled',
     'maintenance': None, 'settling': '2026-11-22T21:00:00Z', 'state': 'up',
     'fenced': False,
     'attributes': {'rack': 'r1'},
     'vcpus': 16, 'vcpus_used': 0, 'memory_mb': 65536,
     'memory_mb_used': 512},
    {'host': 'compute-2', 'hypervisor_hostname': 'c2.test',
     'availability_zone': 'az2', 'pcloud': base.PCLOUD_ID,
     'maintenance': None, 'settling': None, 'status': 'enabled',
     'fenced': True,
     'attributes': {},
     'state': 'down', 'vcpus': None, 'vcpus_used': None,
     'memory_mb': None, 'memory_mb_used': None}]}
AMBIGUOUS = ({**base.PCLOUD, 'id': base.PCLOUD_ID},
             {**base.PCLOUD, 'id': base.OTHER_ID})

# Members of a Pcloud that the owner has not set.
UNSET_RULES = dict.fromkeys((
    'maintenance_policy', 'host_recovery', 'pin_by_tenants', 'placement',
    'flavors', 'images', 'shrink'))

# Commands that print nothing: what is typed, and the request it ends in.
SILENT = (
    ('pcloud set farm --name barn', 'PUT', FARM,
     {'pcloud': {'name': 'barn'}}),
    ('pcloud set farm --cpu-allocation-ratio 4 --ram-allocation-ratio 1.5',
     'PUT', FARM, {'pcloud': {'cpu_allocation_ratio': 4.0,
                              'ram_allocation_ratio': 1.5}}),
    ('pcloud unset farm --cpu-allocation-ratio --ram-allocation-ratio',
     'PUT', FARM, {'pcloud': {'cpu_allocation_ratio': None,
                              'ram_allocation_ratio': None}}),
    ('pcloud set farm --maintenance-policy replace', 'PUT', FARM,
     {'pcloud': {'maintenance_policy': 'replace'}}),
    ('pcloud set farm --host-recovery replace', 'PUT', FARM,
     {'pcloud': {'host_recovery': 'replace'}}),
    ('pcloud unset farm --host-recovery', 'PUT', FARM,
     {'pcloud': {'host_recovery': None}}),
    ('pcloud set farm --pin-by-tenants no', 'PUT', FARM,
     {'pcloud': {'pin_by_tenants': False}}),
    ('pcloud set farm --placement pack', 'PUT', FARM,
     {'pcloud': {'placement': 'pack'}}),
    (f'pcloud set farm --images {base.PCLOUD_ID}', 'PUT', FARM,
     {'pcloud': {'images': [base.PCLOUD_ID]}}),
    ('pcloud set farm --shrink-after 24', 'PUT', FARM,
     {'pcloud': {'shrink': {
         'after_hours': 24, 'min_hosts': 0, 'keep_spare': 0}}}),
    ('pcloud set farm --shrink-after 24 --shrink-min-hosts 2 '
     '--shrink-keep-spare 1', 'PUT', FARM,
     {'pcloud': {'shrink': {
         'after_hours': 24, 'min_hosts': 2, 'keep_spare': 1}}}),
    ('pcloud set farm --no-shrink', 'PUT', FARM, {'pcloud': {'shrink': None}}),
    ('pcloud unset farm --flavors --images', 'PUT', FARM,
     {'pcloud': {'flavors': None, 'images': None}}),
    ('pcloud unset farm --maintenance-policy', 'PUT', FARM,
     {'pcloud': {'maintenance_policy': None}}),
    ('pcloud unset farm --ram-allocation-ratio', 'PUT', FARM,
     {'pcloud': {'ram_allocation_ratio': None}}),
    ('pcloud delete farm', 'DELETE', FARM, None),
    (f'pcloud tenant remove farm {base.OTHER_PROJECT}', 'DELETE',
     f'{FARM}/tenants/{base.OTHER_PROJECT}', None),
    ('pcloud host set farm web-1 --enable', 'PUT', f'{HOSTS}/web-1',
     {'host': {'state': 'enabled'}}),
    ('pcloud host set farm web-1 --disable', 'PUT', f'{HOSTS}/web-1',
     {'host': {'state': 'disabled'}}),
    ('pcloud host set farm web-1 --spare', 'PUT', f'{HOSTS}/web-1',
     {'host': {'state': 'spare'}}),
    ('pcloud host drain farm web-1', 'PUT', f'{HOSTS}/web-1',
     {'host': {'state': 'draining', 'drain': {}}}),
    ('pcloud host drain farm web-1 --release --deadline 2100-01-01', 'PUT',
     f'{HOSTS}/web-1', {'host': {'state': 'draining', 'drain': {
         'release': True, 'deadline': '2100-01-01'}}}),
    ('pcloud host drain farm web-1 --move any', 'PUT', f'{HOSTS}/web-1',
     {'host': {'state': 'draining', 'drain': {'move': 'any'}}}),
    ('pcloud host remove farm web-1', 'DELETE', f'{HOSTS}/web-1', None),
    ('host flavor set gold --units 5 --description fast', 'PUT',
     '/os-host-flavors/gold',
     {'host_flavor': {'units': 5, 'description': 'fast'}}),
    ('host flavor set gold --units 0', 'PUT', '/os-host-flavors/gold',
     {'host_flavor': {'units': 0}}),
    ('host flavor delete gold', 'DELETE', '/os-host-flavors/gold', None),
    ('host flavor host add gold compute-1', 'POST', POOL,
     {'host': {'host': 'compute-1'}}),
    ('host flavor host set --fenced gold compute-1', 'PUT',
     '/os-host-flavors/gold/hosts/compute-1', {'host': {'fenced': True}}),
    ('host flavor host set --not-fenced gold compute-1', 'PUT',
     '/os-host-flavors/gold/hosts/compute-1', {'host': {'fenced': False}}),
    ('host flavor host maintenance set gold compute-1 --from 2100-01-01 '
     '--reason disks', 'PUT', f'{POOL}/compute-1',
     {'host': {'maintenance': {'from': '2100-01-01', 'until': None,
                               'reason': 'disks'}}}),
    ('host flavor host maintenance unset gold compute-1', 'PUT',
     f'{POOL}/compute-1', {'host': {'maintenance': None}}),
    ('host flavor host remove gold compute-1', 'DELETE',
     f'{POOL}/compute-1', None),
    ('pcloud attribute unset rack', 'DELETE', RACK, None),
    ('pcloud attribute set rack r1 --host c2', 'PUT', RACK,
     {'attribute': {'value': 'r1', 'hosts': ['c2']}}),
    ('pcloud policy set cloud --constraints ram=2G', 'PUT', CLOUD,
     {'policy': {'constraints': 'ram=2G'}}),
)
BODIES = {FARM: {'pcloud': base.PCLOUD},
          f'{HOSTS}/web-1': {'host': base.HOST},
          '/os-host-flavors/gold': {'host_flavor': base.FLAVOR},
          POOL: {'host': {}},
          f'{POOL}/compute-1': {'host': {'host': 'compute-1'}},
          RACK: {'attribute': {'name': 'rack', 'value': 'r1',
                               'hosts': ['c2']}},
          CLOUD: {'policy': base.POLICY}}


@ddt.ddt
class TestChanges(base.CloudTestCase):
    """The commands that change something and print nothing."""

    @ddt.idata(SILENT)
    @ddt.unpack
    def test_sends_one_change(self, command, method, path, body):
        self.answer_farm()
        if method == 'DELETE':
            self.answer(method, path, status_code=204)
        else:
            self.answer(method, path, json=BODIES[path])

        result = self.openstack(*command.split())

        self.assertEqual((0, '', ''), result)
        self.assertEqual((method, path, body), self.last_call())
        self.assertEqual([(method, path)], self.changes())

    @ddt.data(
        ('pcloud delete farm', FARM),
        (f'pcloud tenant remove farm {base.OTHER_PROJECT}',
         f'{FARM}/tenants/{base.OTHER_PROJECT}'))
    @ddt.unpack
    def test_force(self, command, path):
        for option, query in (('', {}), (' --force', {'force': ['1']})):
            self.answer_farm()
            self.answer('DELETE', path, status_code=204)
            self.assertEqual(
                (0, '', ''), self.openstack(*(command + option).split()))
            self.assertEqual(query, self.calls()[-1].query)

    def test_flavors_and_images_have_names(self):
        self.answer_farm()
        self.answer('PUT', FARM, json=BODIES[FARM])
        flavor = {'id': '1', 'name': 'm1.xl', 'vcpus': 4, 'ram': 8192}
        self.answer('GET', '/flavors/1', json={'flavor': flavor})
        self.answer('GET', '/flavors/m1.xl', status_code=404, json={})
        self.answer('GET', '/flavors', json={'flavors': [flavor]})
        self.http.get(base.GLANCE, json={'versions': [{
            'id': 'v2.9', 'status': 'CURRENT', 'links': [
                {'rel': 'self', 'href': f'{base.GLANCE}/v2/'}]}]})
        self.http.get(f'{base.GLANCE}/v2/images/cirros', status_code=404)
        self.http.get(f'{base.GLANCE}/v2/images', json={'images': [
            {'id': base.PCLOUD_ID, 'name': 'cirros'}]})

        self.assertEqual((0, '', ''), self.openstack(
            'pcloud', 'set', 'farm', '--flavors', 'm1.xl,1',
            '--images', 'cirros'))
        self.assertEqual(('PUT', FARM, {'pcloud': {
            'flavors': ['1'], 'images': [base.PCLOUD_ID]}}),
            self.last_call())

    @ddt.data('pcloud set farm', 'pcloud unset farm', 'host flavor set gold')
    def test_nothing_to_change(self, command):
        result = self.openstack(*command.split())

        self.assert_one_line('Nothing to change; give at least one', result)
        self.assertEqual([], self.calls())

    @ddt.data('0', '-1', 'nan', 'inf', 'four')
    def test_a_ratio_is_a_number_above_zero(self, ratio):
        result = self.openstack(
            'pcloud', 'set', 'farm', f'--cpu-allocation-ratio={ratio}')

        self.assertEqual(2, result.status)
        self.assertIn(f"'{ratio}' is not a number greater than 0",
                      result.err)
        self.assertEqual([], self.calls())

    def test_delete_goes_on_and_tells_of_each_failure(self):
        self.answer_farm()
        self.answer('DELETE', FARM, status_code=204)

        result = self.openstack('pcloud', 'delete', 'barn', 'farm', 'shed')

        self.assert_one_line('2 of 3 not deleted. barn: No Pcloud', result)
        self.assertIn('shed: No Pcloud', result.err)
        self.assertIn('Deleted: farm.', result.err)
        self.assertEqual([('DELETE', FARM)], self.changes())

    def test_delete_of_an_ambiguous_name_deletes_nothing(self):
        self.answer_pclouds(*AMBIGUOUS)

        result = self.openstack('pcloud', 'delete', 'farm')

        self.assert_one_line(f'{base.PCLOUD_ID}, {base.OTHER_ID}', result)
        self.assertEqual([], self.changes())


class TestPclouds(base.CloudTestCase):
    """What the commands of Pclouds show."""

    def test_create(self):
        self.answer('POST', '/os-pclouds', json={'pcloud': base.PCLOUD},
                    status_code=201)

        result = self.openstack('pcloud', 'create', 'farm', '-f', 'json')

        self.assertEqual({**base.PCLOUD, **UNSET_RULES},
                         result.json)
        self.assertEqual(
            ('POST', '/os-pclouds', {'pcloud': {'name': 'farm'}}),
            self.last_call())

    def test_create_or_show(self):
        self.answer('POST', '/os-pclouds?if_absent=1',
                    json={'pcloud': base.PCLOUD}, status_code=200)

        result = self.openstack('pcloud', 'create', '--or-show', 'farm',
                                '-f', 'json')

        self.assertEqual({**base.PCLOUD, **UNSET_RULES},
                         result.json)
        call = self.calls()[-1]
        self.assertEqual(('POST', '/os-pclouds', {'if_absent': ['1']},
                          {'pcloud': {'name': 'farm'}}), tuple(call))

    def test_list(self):
        self.answer_farm()

        result = self.openstack('pcloud', 'list')

        self.assertEqual(
            [['ID', 'Name', 'Owner', 'Host Count', 'Units'],
             [base.PCLOUD_ID, 'farm', base.PROJECT, '2', '8']],
            base.table(result.out))
        self.assertNotIn('all_tenants', self.calls()[0].query)
        self.assertNotIn('name', self.calls()[0].query)

    def test_list_for_machines(self):
        seen_by_tenant = {'id': base.OTHER_ID, 'name': 'barn',
                          'owner': base.OTHER_PROJECT}
        self.answer_pclouds(base.PCLOUD, seen_by_tenant)

        result = self.openstack('pcloud', 'list', '-f', 'json')

        self.assertEqual([
            {'ID': base.PCLOUD_ID, 'Name': 'farm', 'Owner': base.PROJECT,
             'Host Count': 2, 'Units': 8},
            {'ID': base.OTHER_ID, 'Name': 'barn',
             'Owner': base.OTHER_PROJECT, 'Host Count': None, 'Units': None},
        ], result.json)

    def test_list_of_all_projects_with_a_name(self):
        self.answer_farm()

        self.openstack('pcloud', 'list', '--all-projects', '--name', 'farm')

        query = self.calls()[0].query
        self.assertEqual((['1'], ['farm']),
                         (query['all_tenants'], query['name']))

    def test_list_sorts_what_is_unknown_last(self):
        small = {**base.PCLOUD, 'name': 'small', 'units': 1}
        unknown = {'id': base.OTHER_ID, 'name': 'unknown',
                   'owner': base.OTHER_PROJECT}
        self.answer_pclouds(unknown, base.PCLOUD, small)

        result = self.openstack('pcloud', 'list', '--sort-column', 'Units',
                                '-f', 'value', '-c', 'Name')

        self.assertEqual(['small', 'farm', 'unknown'], result.out.split())
        self.assertEqual('', result.err)

    def answer_default(self, **default):
        self.answer('GET', f'/os-pcloud-policies/project/{base.PROJECT}',
                    json={'policy': {
                        'default_pcloud': default or None,
                        'default_pcloud_source': 'project'}})

    def test_show_how_it_grows(self):
        self.answer_farm()
        growth = {'host_flavor': 'gold', 'max_hosts': 5}
        for default, growth, text in (
                ({'mode': 'grow', **growth}, {
                    **growth, 'availability_zone': None}, 'gold, to 5 hosts'),
                ({'mode': 'grow', **growth, 'availability_zone': 'az1'},
                 {**growth, 'availability_zone': 'az1'},
                 'gold, to 5 hosts in az1'),
                ({'mode': 'strict'}, None, '-'),
                ({'mode': 'grow', **growth, 'pcloud': base.OTHER_ID}, None,
                 '-')):
            self.answer_default(**{'pcloud': base.PCLOUD_ID, **default})
            self.assertEqual(growth, self.openstack(
                'pcloud', 'show', 'farm', '-f', 'json').json['growth'])
            self.assertEqual(text, base.properties(self.openstack(
                'pcloud', 'show', 'farm').out)['growth'])

    def test_show_to_a_tenant_that_may_not_see_the_default(self):
        self.answer_farm()
        self.answer('GET', f'/os-pcloud-policies/project/{base.PROJECT}',
                    status_code=403, json={
                        'forbidden': {'code': 403, 'message': 'no'}})
        self.assertIsNone(self.openstack(
            'pcloud', 'show', 'farm', '-f', 'json').json['growth'])

    def test_show_by_name(self):
        self.answer_farm()
        self.answer_default()

        result = self.openstack('pcloud', 'show', 'farm')

        self.assertEqual({
            'id': base.PCLOUD_ID, 'name': 'farm',
            'owner': f'own ({base.PROJECT})',
            'tenants': f'own ({base.PROJECT})', '': base.OTHER_PROJECT,
            'host_count': '2', 'units': '8', 'cpu_allocation_ratio': '4.0',
            'ram_allocation_ratio': '-', 'maintenance_policy': '-',
            'host_recovery': '-', 'pin_by_tenants': '-', 'placement': '-',
            'flavors': '-', 'images': '-', 'shrink': '-',
            'growth': '-'},
            base.properties(result.out))
        self.assertEqual(['farm'], self.calls()[0].query['name'])

    def test_show_by_id(self):
        self.answer('GET', FARM, json={'pcloud': base.PCLOUD})
        self.answer_default()

        result = self.openstack(
            'pcloud', 'show', base.PCLOUD_ID, '-f', 'yaml')

        self.assertIn('cpu_allocation_ratio: 4.0\n', result.out)
        self.assertIn('ram_allocation_ratio: null\n', result.out)
        self.assertIn(f'tenants:\n- {base.PROJECT}\n', result.out)
        self.assertEqual(
            [('GET', FARM),
             ('GET', f'/os-pcloud-policies/project/{base.PROJECT}')],
            [call[:2] for call in self.calls()])

    def test_show_one_column(self):
        self.answer_farm()
        self.answer_default()

        result = self.openstack(
            'pcloud', 'show', 'farm', '-f', 'value', '-c', 'id')

        self.assertEqual(f'{base.PCLOUD_ID}\n', result.out)

    def test_show_of_an_ambiguous_name(self):
        self.answer_pclouds(*AMBIGUOUS)

        result = self.openstack('pcloud', 'show', 'farm')

        self.assert_one_line(
            f"2 Pclouds are named 'farm'; give the id of one of them "
            f'instead: {base.PCLOUD_ID}, {base.OTHER_ID}', result)


@ddt.ddt
class TestHosts(base.CloudTestCase):
    """What the commands of hosts show."""

    def setUp(self):
        super().setUp()
        self.answer_farm()

    def test_add(self):
        self.answer('POST', HOSTS, json={'host': base.HOST}, status_code=201)

        result = self.openstack(
            'pcloud', 'host', 'add', 'farm', 'web-1', '--host-flavor',
            'gold', '--availability-zone', 'az1', '-f', 'json')

        self.assertEqual(base.HOST, result.json)
        self.assertEqual(('POST', HOSTS, {'host': {
            'name': 'web-1', 'host_flavor': 'gold',
            'availability_zone': 'az1'}}), self.last_call())

    def test_add_to_any_zone(self):
        self.answer('POST', HOSTS, json={'host': base.HOST}, status_code=201)

        result = self.openstack('pcloud', 'host', 'add', 'farm', 'web-1',
                                '--host-flavor', 'gold')

        self.assertEqual('disabled', base.properties(result.out)['state'])
        self.assertEqual({'host': {'name': 'web-1', 'host_flavor': 'gold'}},
                         self.last_call()[2])

    def test_add_by_what_it_must_have(self):
        self.answer('POST', HOSTS, json={'host': base.HOST}, status_code=201)

        result = self.openstack(
            'pcloud', 'host', 'add', 'farm', 'web-1', '--constraints',
            'ram=64G cpu=16', '--availability-zone', 'az1')

        self.assertEqual('gold', base.properties(result.out)['host_flavor'])
        self.assertEqual(('POST', HOSTS, {'host': {
            'name': 'web-1', 'constraints': 'ram=64G cpu=16',
            'availability_zone': 'az1'}}), self.last_call())

    @ddt.data(
        ((), 'one of the arguments --host-flavor --constraints is required'),
        (('--host-flavor', 'gold', '--constraints', 'cpu=4'),
         '--constraints: not allowed with argument --host-flavor'))
    @ddt.unpack
    def test_add_wants_one_kind(self, kinds, told):
        result = self.openstack(
            'pcloud', 'host', 'add', 'farm', 'web-1', *kinds)

        self.assertEqual(2, result.status)
        self.assertIn(told, result.err)
        self.assertEqual([], self.calls())

    def test_add_by_what_nothing_has(self):
        self.answer('POST', HOSTS, status_code=409, json={
            'conflictingRequest': {'code': 409, 'message': 'nothing fits'}})

        result = self.openstack('pcloud', 'host', 'add', 'farm', 'web-1',
                                '--constraints', 'ram=9P')

        self.assert_one_line('nothing fits (HTTP 409)', result)

    def test_list(self):
        empty = {**base.HOST, 'name': 'web-2', 'instances': [],
                 'next_reboot': '2030-01-01T00:00:00Z'}
        self.answer('GET', HOSTS, json={'hosts': [base.HOST, empty]})

        result = self.openstack('pcloud', 'host', 'list', 'farm', '--long')

        self.assertEqual([
            ['Name', 'Host Flavor', 'Zone', 'State', 'Status',
             'Instances', 'VCPUs', 'VCPUs Used', 'Memory MiB',
             'Memory MiB Used', 'Next Reboot', 'Rack'],
            ['web-1', 'gold', 'az1', 'disabled', 'up', '2', '64', '8',
             '262144', '512', '-', '1'],
            ['web-2', 'gold', 'az1', 'disabled', 'up', '0', '64', '8',
             '262144', '512', '2030-01-01T00:00:00Z', '1'],
        ], base.table(result.out))

    def test_list_for_a_terminal_of_80_columns(self):
        host = {**base.HOST, 'name': 'render-farm-01', 'status': 'maintenance',
                'host_flavor': 'gpu-large'}
        self.answer('GET', HOSTS, json={'hosts': [host]})

        result = self.openstack('pcloud', 'host', 'list', 'farm')

        self.assertEqual([
            ['Name', 'Host Flavor', 'Zone', 'State', 'Status', 'Instances'],
            ['render-farm-01', 'gpu-large', 'az1', 'disabled', 'maintenance',
             '2']], base.table(result.out))
        self.assertLessEqual(max(map(len, result.out.splitlines())), 80)

    @ddt.data('Memory MB', 'memory_mb', 'Memory MiB')
    def test_list_of_a_column(self, column):
        self.answer('GET', HOSTS, json={'hosts': [base.HOST]})

        result = self.openstack(
            'pcloud', 'host', 'list', 'farm', '-c', column)

        self.assertEqual('262144', base.table(result.out)[1][0])

    def test_list_for_machines(self):
        self.answer('GET', HOSTS, json={'hosts': [base.HOST]})

        host, = self.openstack(
            'pcloud', 'host', 'list', 'farm', '-f', 'json').json

        self.assertEqual(
            ['Name', 'Host Flavor', 'Availability Zone', 'State', 'Status',
             'Instances', 'VCPUs', 'VCPUs Used', 'Memory MB',
             'Memory MB Used', 'Next Reboot', 'Rack'], list(host))

        self.assertEqual(base.HOST['instances'], host['Instances'])
        self.assertEqual((262144, 8, 1, None),
                         (host['Memory MB'], host['VCPUs Used'],
                          host['Rack'], host['Next Reboot']))

    def test_show_names_the_instances(self):
        self.answer('GET', f'{HOSTS}/web-1',
                    json={'host': {**base.HOST, **base.KIND}})

        result = self.openstack('pcloud', 'host', 'show', 'farm', 'web-1')

        shown = base.properties(result.out)
        self.assertEqual(f'{base.SERVER_1}, {base.SERVER_2}',
                         shown['instances'])
        self.assertEqual(('262144', '-'),
                         (shown['memory_mb'], shown['next_reboot']))
        self.assertIn('CUSTOM_NVME: 1 of 2', result.out)
        self.assertIn('HW_CPU_X86_AVX', result.out)
        self.assertNotIn('hypervisor_hostname', shown)

    def test_show_where_nobody_knows_what_a_host_is(self):
        for kind in ({}, {'resources': None, 'traits': None}):
            self.answer('GET', f'{HOSTS}/web-1',
                        json={'host': {**base.HOST, **kind}})

            shown = base.properties(self.openstack(
                'pcloud', 'host', 'show', 'farm', 'web-1').out)

            self.assertEqual(
                ('-', '-'), (shown['resources'], shown['traits']))

    def test_show_tells_an_admin_the_real_name(self):
        host = {**base.HOST, 'instances': [], 'hypervisor_hostname': 'c1'}
        self.answer('GET', f'{HOSTS}/web-1', json={'host': host})

        result = self.openstack('pcloud', 'host', 'show', 'farm', 'web-1')

        shown = base.properties(result.out)
        self.assertEqual(('c1', '-'), (shown['hypervisor_hostname'],
                                       shown['instances']))

    def test_explain(self):
        self.answer('GET', '/flavors/xl', json={'flavor': {
            'id': 'xl', 'name': 'm1.xl', 'vcpus': 4, 'ram': 8192}})
        self.answer('GET', f'{FARM}/explain?flavor=xl', json={'explain': {
            'flavor': 'xl', 'fits': 0, 'refused': None,
            'not_explained': [base.not_explained('OddFilter')], 'changes': [
                {'change': 'enable', 'subject': 'web-1',
                 'text': 'enable web-1'}],
            'hosts': [
                {'name': 'db', 'fits': 0, 'in_the_way': [
                    {'rule': 'room', 'reason': '1 cpus are left'}]},
                {'name': 'web-1', 'fits': 0, 'in_the_way': [
                    {'rule': 'state', 'reason': 'it is disabled'}]}]}})

        result = self.openstack('pcloud', 'explain', 'farm', '--flavor', 'xl')

        shown = base.properties(result.out)
        self.assertEqual(
            ('m1.xl', '0', 'enable web-1', '-', 'OddFilter gives no reason'),
            (shown['flavor'], shown['fits'], shown['changes'],
             shown['refused'], shown['not_explained']))
        for line in ('db: 0', '  room: 1 cpus are left', 'web-1: 0',
                     '  state: it is disabled'):
            self.assertIn(line, result.out)

    def _answer_simulate(self, *answers):
        for flavor, vcpus, ram in (('xl', 4, 8192), ('s', 1, 1024)):
            self.answer('GET', f'/flavors/{flavor}', json={'flavor': {
                'id': flavor, 'name': f'm1.{flavor}', 'vcpus': vcpus,
                'ram': ram}})
        self.answer('GET', f'{FARM}/hosts', json={'hosts': [
            {'name': 'db', 'state': 'disabled', 'vcpus': 8, 'vcpus_used': 0,
             'memory_mb': 16384, 'memory_mb_used': 0},
            {'name': 'web', 'state': 'enabled', 'vcpus': 8, 'vcpus_used': 2,
             'memory_mb': 16384, 'memory_mb_used': 4096}]})
        return self.answer('POST', f'{FARM}/simulate', *(
            {'json': {'simulate': answer}} for answer in answers))

    def test_simulate(self):
        asked = self._answer_simulate({
            'fits': True, 'exact': True, 'binding': [], 'more': [],
            'bounds': {'least': 2, 'most': 2}, 'not_explained': [],
            'placed': [{'host': 'web', 'flavor': 'xl', 'count': 1},
                       {'host': 'web', 'flavor': 's', 'count': 1}]})

        result = self.openstack(
            'pcloud', 'simulate', 'farm', '--server', 'xl=1', '--server',
            's=1', '--apart', '--include-disabled', '--without', 'DB')

        self.assertEqual({'simulate': {
            'servers': [{'flavor': 'xl', 'count': 1, 'apart': True},
                        {'flavor': 's', 'count': 1, 'apart': True}],
            'include_disabled': True, 'without': ['DB']}},
            asked.last_request.json())
        shown = base.properties(result.out)
        self.assertEqual(('True', 'True', '2', '-', '-'), tuple(
            shown[name] for name in (
                'fits', 'exact', 'bounds', 'changes', 'more')))
        for line in ('web (enabled): 1 m1.xl, 1 m1.s', 'db (left out): -',
                     '  cpus   #####+++++++++++++.. 2 + 5 of 8',
                     '  memory #####+++++++++++.... 4096 + 9216 of 16384'):
            self.assertIn(line, result.out)

    def test_simulate_servers_that_do_not_fit(self):
        refused = {
            'fits': False, 'exact': True,
            'binding': [{'resource': 'MEMORY_MB', 'short_by': 4096}],
            'enable': ['db'],
            'more': [{'host_flavor': 'gold', 'hosts': 1, 'units': 2,
                      'free': 0, 'quota_short_by': 1}],
            'bounds': {'least': 1, 'most': 1},
            'not_explained': [base.not_explained('x')],
            'placed': [{'host': 'web', 'flavor': 'xl', 'count': 1}]}
        asked = self._answer_simulate(refused)

        result = self.openstack('pcloud', 'simulate', 'farm', '--server',
                                'xl=2')

        self.assertEqual(1, len(asked.request_history))
        shown = base.properties(result.out)
        self.assertEqual(
            ('False', 'enable db', 'MEMORY_MB: 4096 more',
             '1 of gold: 2 units, 0 free, quota short by 1',
             'x gives no reason'),
            tuple(shown[name] for name in (
                'fits', 'changes', 'binding', 'more', 'not_explained')))
        self.assertIn('db (disabled): -', result.out)

    def _answer_rehearsal(self, **members):
        self.answer('GET', f'{FARM}/hosts', json={'hosts': [
            {'name': 'db', 'state': 'disabled', 'vcpus': 8, 'vcpus_used': 0,
             'memory_mb': 16384, 'memory_mb_used': 0, 'instances': []},
            {'name': 'web', 'state': 'enabled', 'vcpus': 8, 'vcpus_used': 2,
             'memory_mb': 16384, 'memory_mb_used': 4096,
             'instances': ['1']}]})
        return self.answer('GET', f'{FARM}/rehearsal', json={'rehearsal': {
            'exact': True, 'more': [], 'refused_servers': [],
            'not_explained': [], **members}})

    def test_rehearse(self):
        asked = self._answer_rehearsal(
            survives=1, of=2, bounds={'least': 1, 'most': 1},
            worst={'host': 'web', 'servers': 1},
            losses=[{'host': 'db', 'servers': 0, 'survives': True,
                     'no_room': {'least': 0, 'most': 0}},
                    {'host': 'web', 'servers': 3, 'survives': False,
                     'no_room': {'least': 1, 'most': 2}}],
            more=[{'host_flavor': 'gold', 'hosts': 1, 'units': 2, 'free': 0,
                   'quota_short_by': 1}],
            refused_servers=[{'host': 'web', 'server': '1', 'reason': 'why'}])
        result = self.openstack('pcloud', 'rehearse', 'farm')
        self.assertEqual('lose=host', asked.last_request.query)
        shown = base.properties(result.out)
        self.assertEqual(
            ('1 of 2 hosts may fail', 'web: 1 without capacity',
             'enable db, and rehearse again',
             '1 of gold: 2 units, 0 free, quota short by 1', '1 on web: why'),
            tuple(shown[name] for name in (
                'survives', 'worst', 'changes', 'more', 'refused_servers')))
        for line in ('db: survives, 0 of 0 servers fit',
                     'web: at least 1 server does not fit',
                     '  cpus   #####............... 2 of 8',
                     '  memory #####............... 4096 of 16384'):
            self.assertIn(line, result.out)
        result = self.openstack('pcloud', 'rehearse', 'farm', '-f', 'json')
        self.assertEqual((1, {'host': 'web', 'servers': 1}), tuple(
            json.loads(result.out)[name] for name in ('survives', 'worst')))

    def test_rehearse_racks(self):
        asked = self._answer_rehearsal(
            survives=1, of=2, exact=False, bounds={'least': 1, 'most': 2},
            worst=None, losses=[
                {'rack': 1, 'hosts': ['db'], 'servers': 0, 'survives': True,
                 'no_room': {'least': 0, 'most': 0}},
                {'rack': 2, 'hosts': ['web'], 'servers': 1, 'survives': None,
                 'no_room': {'least': 0, 'most': 1}}])
        result = self.openstack(
            'pcloud', 'rehearse', 'farm', '--lose', 'rack')
        self.assertEqual('lose=rack', asked.last_request.query)
        self.assertEqual(
            '1 of 2 racks may fail, as far as is proven',
            base.properties(result.out)['survives'])
        for line in ('rack 2: not proven, up to 1 server does not fit',
                     '  web cpus   #####'):
            self.assertIn(line, result.out)

    @ddt.data((2, 'any of 2 hosts may fail: all servers fit'),
              (0, 'there is no host'))
    @ddt.unpack
    def test_rehearse_with_room_for_all(self, of, sentence):
        self._answer_rehearsal(
            survives=of, of=of, bounds={'least': of, 'most': of}, losses=[
                {'host': name, 'servers': None, 'survives': None,
                 'no_room': {'least': 0, 'most': None}}
                for name in ('db', 'web')[:of]])
        shown = base.properties(self.openstack(
            'pcloud', 'rehearse', 'farm').out)
        self.assertEqual((sentence, '-'), (
            shown['survives'], shown['changes']))

    def test_rehearse_racks_that_are_not_known(self):
        self._answer_rehearsal(
            survives=0, of=0, bounds={'least': 0, 'most': 0}, losses=[])

        result = self.openstack(
            'pcloud', 'rehearse', 'farm', '--lose', 'rack')

        self.assertEqual('the racks of the hosts are not known',
                         base.properties(result.out)['survives'])

    @ddt.data('xl', 'xl=', '=3', 'xl=0', 'xl=-1', 'xl=1.5', 'xl=1\u0663')
    def test_simulate_wants_a_flavor_and_a_number(self, servers):
        result = self.openstack(
            'pcloud', 'simulate', 'farm', '--server', servers)
        self.assertEqual(2, result.status)
        self.assertIn(f"'{servers}' is not a flavor, '=' and a number of 1 or "
                      'more', result.err)

    @ddt.data((), ('--enable', '--disable'))
    def test_set_wants_one_state(self, states):
        result = self.openstack(
            'pcloud', 'host', 'set', 'farm', 'web-1', *states)

        self.assertEqual(2, result.status)
        self.assertEqual([], self.calls())

    def test_names_are_quoted(self):
        url = f'{HOSTS}/a%25b%20%3Fc'
        self.answer('DELETE', url, status_code=204)

        result = self.openstack('pcloud', 'host', 'remove', 'farm', 'a%b ?c')

        self.assertEqual((0, '', ''), result)
        self.assertEqual(('DELETE', url), self.last_call()[:2])

    @ddt.data('', '.', '..', 'a/b', '/')
    def test_a_name_never_becomes_part_of_the_path(self, name):
        result = self.openstack('pcloud', 'host', 'remove', 'farm', name)

        self.assert_one_line(
            f"Name of a host '{name}' is not right; it has to be one or more "
            'characters without "/", and neither "." nor ".."', result)
        self.assertEqual([], self.changes())


class TestHostFlavors(base.CloudTestCase):
    """What the commands of host flavors show."""

    def test_create(self):
        self.answer('POST', '/os-host-flavors', status_code=201,
                    json={'host_flavor': base.FLAVOR})

        result = self.openstack(
            'host', 'flavor', 'create', 'gold', '--units', '4',
            '--description', '64 cores', '-f', 'json')

        self.assertEqual(
            {**base.FLAVOR, 'constraints': CONSTRAINTS}, result.json)
        self.assertEqual(('POST', '/os-host-flavors', {'host_flavor': {
            'id': 'gold', 'units': 4, 'description': '64 cores'}}),
            self.last_call())

    def test_create_without_a_description(self):
        self.answer('POST', '/os-host-flavors', status_code=201,
                    json={'host_flavor': base.FLAVOR})

        self.openstack('host', 'flavor', 'create', 'gold', '--units', '4')

        self.assertEqual(
            {'host_flavor': {'id': 'gold', 'units': 4, 'description': ''}},
            self.last_call()[2])

    def test_list(self):
        empty = {'id': 'tin', 'description': '', 'units': 0, 'vcpus': None,
                 'memory_mb': None, 'disk_gb': None, 'available': {},
                 'settling': 0}
        self.answer('GET', '/os-host-flavors',
                    json={'host_flavors': [base.FLAVOR, empty]})

        result = self.openstack('host', 'flavor', 'list')

        self.assertEqual([
            ['ID', 'Description', 'Units', 'VCPUs', 'Memory MiB', 'Disk GiB',
             'Available', 'Settling'],
            ['gold', '64 cores', '4', '64', '262144', '900',
             'az1: 3, az2: 0', '1'],
            ['tin', '-', '0', '-', '-', '-', '-', '0'],
        ], base.table(result.out))

    def test_long_list(self):
        self.answer('GET', '/os-host-flavors',
                    json={'host_flavors': [base.FLAVOR]})

        result = self.openstack('host', 'flavor', 'list', '--long')

        self.assertIn('CUSTOM_NVME: 2', result.out)
        self.assertIn('HW_CPU_X86_AVX', result.out)

    def test_list_for_machines(self):
        self.answer('GET', '/os-host-flavors',
                    json={'host_flavors': [base.FLAVOR]})

        flavor, = self.openstack('host', 'flavor', 'list', '-f', 'json').json

        self.assertEqual(({'az1': 3, 'az2': 0}, 4, 262144, 900),
                         (flavor['Available'], flavor['Units'],
                          flavor['Memory MB'], flavor['Disk GB']))
        self.assertEqual(
            (base.FLAVOR['resources'], base.FLAVOR['traits']),
            (flavor['Resources'], flavor['Traits']))

    def test_show(self):
        self.answer('GET', '/os-host-flavors/gold',
                    json={'host_flavor': base.FLAVOR})

        result = self.openstack('host', 'flavor', 'show', 'gold', '-f',
                                'json')

        self.assertEqual(
            {**base.FLAVOR, 'constraints': CONSTRAINTS}, result.json)

    def test_show_constraints(self):
        """For the command line of a server or a host, in one line."""
        for having, shown in (
                ([{'rack': 'r 1', 'gpu': 'a'}, {'rack': 'r 1', 'gpu': 'b'}],
                 CONSTRAINTS.replace(' resource', ' rack=r\\ 1 resource')),
                ([{'rack': 'r1'}, {}], CONSTRAINTS),
                ([{'rack': 'r1'}, None], CONSTRAINTS), ([], CONSTRAINTS)):
            self.answer('GET', '/os-host-flavors/gold', json={
                'host_flavor': {**base.FLAVOR, 'hosts': [
                    {'host': f'c{number}', 'attributes': each}
                    for number, each in enumerate(having)]}})
            self.assertEqual(shown, self.openstack(
                'host', 'flavor', 'show', 'gold', '-f', 'value', '-c',
                'constraints').out.strip())
        empty = {**base.FLAVOR, **dict.fromkeys((
            'vcpus', 'memory_mb', 'disk_gb', 'resources', 'traits'))}
        self.answer('GET', '/os-host-flavors/gold',
                    json={'host_flavor': empty})
        self.assertEqual('-', base.properties(self.openstack(
            'host', 'flavor', 'show', 'gold').out)['constraints'])

    def test_show_to_an_admin(self):
        self.answer('GET', '/os-host-flavors/gold',
                    json={'host_flavor': FLAVOR_FOR_ADMIN})

        for_machines = self.openstack(
            'host', 'flavor', 'show', 'gold', '-f', 'json')
        for_people = self.openstack('host', 'flavor', 'show', 'gold')

        self.assertEqual({**FLAVOR_FOR_ADMIN, 'constraints': CONSTRAINTS},
                         for_machines.json)
        self.assertIn('compute-1 (az1, settling, enabled, up, rack r1)',
                      for_people.out)
        self.assertIn(f'compute-2 (az2, {base.PCLOUD_ID}, enabled, down, '
                      'fenced)',
                      for_people.out)

    def test_the_commands_of_compute_hosts_are_still_there(self):
        host = {'host': {'host': 'c1', 'project': '(total)', 'cpu': 3,
                         'memory_mb': 5, 'disk_gb': 7}}
        shown = self.http.get(f'{base.NOVA}/os-hosts/flavor',
                              json={'host': [{'resource': host['host']}]})
        listed = self.http.get(f'{base.NOVA}/os-hosts', json={'hosts': []})

        self.openstack('host', 'show', 'flavor')
        self.openstack('host', 'list')

        self.assertEqual((True, True), (shown.called, listed.called))


class TestAttributes(base.CloudTestCase):
    """What the commands of attributes send and show."""

    ATTRIBUTES = [{'name': 'rack', 'value': 'r1', 'hosts': ['c1', 'c2']},
                  {'name': 'rack', 'value': 'r2', 'hosts': ['c3']},
                  {'name': 'gpu', 'value': 'a b', 'hosts': ['c1']}]

    def setUp(self):
        super().setUp()
        self.asked = self.answer('GET', '/os-pcloud-attributes',
                                 json=self._narrowed)

    def _narrowed(self, request, context):
        wanted = {name: values for name, (values,) in request.qs.items()}
        return {'attributes': [
            each for each in self.ATTRIBUTES
            if wanted.get('name') in (None, each['name'])
            and wanted.get('value') in (None, each['value'])
            and wanted.get('host') in (None, *each['hosts'])]}

    def _listed(self, *options):
        result = self.openstack('pcloud', 'attribute', 'list', '-f', 'json',
                                *options)
        return [(row['Name'], row['Value'], row['Hosts'])
                for row in result.json]

    def test_list(self):
        self.assertEqual([('rack', 'r1', ['c1', 'c2']), ('rack', 'r2', ['c3']),
                          ('gpu', 'a b', ['c1'])], self._listed())
        table = self.openstack('pcloud', 'attribute', 'list').out
        self.assertIn('| rack | r1    | c1, c2 |', table)

    def test_list_some(self):
        self.assertEqual([('rack', 'r1', ['c1', 'c2']), ('rack', 'r2', ['c3'])
                          ], self._listed('--name', 'rack'))
        self.assertEqual([('rack', 'r1', ['c1', 'c2']), ('gpu', 'a b', ['c1'])
                          ], self._listed('--host', 'c1'))
        self.assertEqual([('gpu', 'a b', ['c1'])], self._listed(
            '--host', 'c1', '--value', 'a b'))
        self.assertEqual({'host': ['c1'], 'value': ['a b']},
                         self.asked.last_request.qs)

    def test_set(self):
        body = {'attribute': self.ATTRIBUTES[0]}
        self.answer('PUT', RACK, json=body)

        result = self.openstack('pcloud', 'attribute', 'set', 'rack', 'r1',
                                '--host', 'c2')

        self.assertEqual((0, '', ''), result)
        self.assertEqual(('PUT', RACK, {'attribute': {
            'value': 'r1', 'hosts': ['c2']}}), self.last_call())

    def test_set_tells_that_a_reboot_has_passed(self):
        self.answer('PUT', '/os-pcloud-attributes/next_reboot', json={
            'attribute': self.ATTRIBUTES[0]})
        for value, told in (('2020-01-01', '2020-01-01 has passed: '),
                            ('2999-01-01', '')):
            result = self.openstack(
                'pcloud', 'attribute', 'set', 'next_reboot', value,
                '--host', 'c2')

            self.assertEqual(0, result.status)
            self.assertEqual(told, result.err[:len(told)] if told
                             else result.err)

    def test_set_and_unset_dry(self):
        set_ = self.openstack('pcloud', 'attribute', 'set', 'rack', 'r2',
                              '--host', 'c1', '--host', 'c9', '--dry-run')
        unset = self.openstack('pcloud', 'attribute', 'unset', 'rack',
                               '--dry-run')

        self.assertEqual(
            (0, 'c1: r1 -> r2\nc9: - -> r2\n',
             'It is not checked whether the hosts exist\n'), set_)
        self.assertEqual(
            (0, 'c1: r1 -> -\nc2: r1 -> -\nc3: r2 -> -\n', ''), unset)
        self.assertEqual([], self.changes())

    def test_set_dry_what_no_host_can_have(self):
        for name, value, told in (
                ('next_reboot', 'tomorrow', "'tomorrow' is not right"),
                ('gpu', '', "'' is not a possible value"),
                ('gpu', 'a100 ', "'a100 ' is not a possible value"),
                ('gpu+', 'a100', "'gpu+' is not a possible name"),
                ('RAM', '2G', "'RAM' is not a possible name")):
            self.assert_one_line(told, self.openstack(
                'pcloud', 'attribute', 'set', name, value, '--host', 'c1',
                '--dry-run'))

    def test_unset_dry_what_no_host_has(self):
        for command, told in (
                ('nope', "No host has host attribute 'nope'"),
                ('gpu --host c2 --host c3',
                 "None of the hosts c2, c3 has host attribute 'gpu'")):
            self.assert_one_line(told, self.openstack(
                *f'pcloud attribute unset {command} --dry-run'.split()))

    def test_unset_dry_what_some_hosts_have(self):
        result = self.openstack(
            *'pcloud attribute unset gpu --host c1 --host c2 --dry-run'.split()
        )

        self.assertEqual((0, 'c1: a b -> -\nc2: - -> -\n', ''), result)

    def test_set_without_a_name(self):
        result = self.openstack('pcloud', 'attribute', 'set', '', 'x',
                                '--host', 'c1')

        self.assert_one_line(
            "Name of a host attribute '' is not right; it has to be 1 to 64 "
            'letters, digits, ".", "_", "-" or blanks', result)

    def test_set_takes_a_host(self):
        result = self.openstack('pcloud', 'attribute', 'set', 'rack', 'r1')

        self.assertEqual(2, result.status)
        self.assertIn('--host', result.err)

    def test_unset_from_some(self):
        self.answer('DELETE', RACK, status_code=204)

        self.openstack('pcloud', 'attribute', 'unset', 'rack', '--host', 'c1',
                       '--host', 'c3')
        self.assertEqual({'host': ['c1', 'c3']}, self.calls()[-1].query)

        self.openstack('pcloud', 'attribute', 'unset', 'rack')
        self.assertEqual({}, self.calls()[-1].query)


class TestPolicies(base.CloudTestCase):
    """What the commands of policies send and show."""

    PATH = f'/os-pcloud-policies/pcloud/{base.PCLOUD_ID}'

    def setUp(self):
        super().setUp()
        self.answer_farm()

    def test_show(self):
        self.answer('GET', self.PATH, json={'policy': base.POLICY})

        result = self.openstack('pcloud', 'policy', 'show', 'pcloud', 'farm',
                                '-f', 'json')
        table = self.openstack('pcloud', 'policy', 'show', 'pcloud', 'farm')

        self.assertEqual(base.POLICY, result.json)
        self.assertEqual({
            'scope': 'pcloud', 'id': f'farm ({base.PCLOUD_ID})',
            'constraints': 'ram=2G rack=r1',
            'customer_keys': 'A=1:1, B=2:-1'}, base.properties(table.out))

    def test_show_what_counts(self):
        policy = {**base.POLICY, 'system_keys': [], 'constraints': '',
                  'effective': base.EFFECTIVE}
        self.answer('GET', self.PATH, json={'policy': policy})
        show = 'pcloud policy show pcloud farm --effective'.split()

        result = self.openstack(*show, '-f', 'json')
        table = self.openstack(*show)

        self.assertEqual(policy, result.json)
        self.assertEqual(['1'], self.calls()[-1].query['effective'])
        self.assertEqual([
            ['constraints', '-'], ['customer_keys', 'A=1:1, B=2:-1'],
            ['system_keys', '-'], ['effective', 'cpu=1 (built-in)'],
            ['', 'rack (cloud)'], ['', 'ram=2G (role big one)'],
        ], base.table(table.out)[3:])

    def test_show_what_counts_where_nothing_does(self):
        self.answer('GET', self.PATH, json={'policy': {
            **base.POLICY, 'effective': []}})

        table = self.openstack('pcloud', 'policy', 'show', 'pcloud', 'farm',
                               '--effective')

        self.assertEqual('-', base.properties(table.out)['effective'])

    def test_show_with_a_default(self):
        """Who removes the policy removes the default."""
        path = '/os-pcloud-policies/cloud/default'
        default = {'pcloud': base.PCLOUD_ID, 'mode': 'prefer'}
        for value, shown in ((default, f'{base.PCLOUD_ID} (prefer)'),
                             (None, 'outside of Pclouds')):
            policy = {'scope': 'cloud', 'id': 'default', 'constraints': '',
                      'customer_keys': [], 'default_pcloud': value,
                      'default_pcloud_source': 'cloud'}
            self.answer('GET', path, json={'policy': policy})

            table = self.openstack('pcloud', 'policy', 'show', 'cloud')
            record = self.openstack(
                'pcloud', 'policy', 'show', 'cloud', '-f', 'json')

            self.assertEqual(policy, record.json)
            found = base.properties(table.out)
            self.assertEqual((shown, 'cloud'), (
                found['default_pcloud'], found['default_pcloud_source']))

    def test_show_for_the_cloud(self):
        path = '/os-pcloud-policies/cloud/default'
        self.answer('GET', path, json={'policy': {
            **base.POLICY, 'scope': 'cloud', 'id': 'default',
            'effective': base.EFFECTIVE}})

        self.openstack('pcloud', 'policy', 'show', 'cloud', '--effective')

        self.assertEqual([('GET', path, {'effective': ['1']}, None)],
                         self.calls())

    def test_set(self):
        whole = {**base.POLICY, 'system_keys': []}
        self.answer('PUT', self.PATH, json={'policy': whole})

        result = self.openstack(
            'pcloud', 'policy', 'set', 'pcloud', 'farm', '--customer-key',
            'A=1:1', '--customer-key', 'B=2:-1')

        self.assertEqual((0, '', ''), result)
        self.assertEqual(('PUT', self.PATH, {'policy': {
            'customer_keys': ['A=1:1', 'B=2:-1']}}), self.last_call())

    def test_computed_keys_have_words_for_people(self):
        keys = ['#CPU=0:10', '#LOAD=0:5', '#RAM=0:100', 'premium=0:100']
        self.answer('GET', '/os-pcloud-policies/cloud/default', json={
            'policy': {'scope': 'cloud', 'id': 'default', 'customer_keys': [],
                       'system_keys': keys}})
        shown = self.openstack('pcloud', 'policy', 'show', 'cloud')
        self.assertEqual(
            'CPU contention: #CPU=0:10, load: #LOAD=0:5, '
            'RAM contention: #RAM=0:100, premium=0:100',
            base.properties(shown.out)['system_keys'])
        self.assertEqual(keys, self.openstack(
            'pcloud', 'policy', 'show', 'cloud', '-f', 'json').json[
                'system_keys'])

    def test_set_for_the_cloud(self):
        path = '/os-pcloud-policies/cloud/default'
        self.answer('PUT', path, json={'policy': {
            'scope': 'cloud', 'id': 'default', 'customer_keys': [],
            'system_keys': ['A=1:1']}})

        result = self.openstack('pcloud', 'policy', 'set', 'cloud',
                                '--system-key', 'A=1:1')

        self.assertEqual(0, result.status)
        self.assertEqual(('PUT', path, {'policy': {
            'system_keys': ['A=1:1']}}), self.last_call())

    def test_set_constraints(self):
        self.answer('PUT', self.PATH, json={'policy': base.POLICY})

        result = self.openstack('pcloud', 'policy', 'set', 'pcloud', 'farm',
                                '--constraints', 'ram=2G rack=r1')

        self.assertEqual((0, '', ''), result)
        self.assertEqual(('PUT', self.PATH, {'policy': {
            'constraints': 'ram=2G rack=r1'}}), self.last_call())

    def test_set_a_constraint_that_is_not_right(self):
        self.answer('PUT', self.PATH, status_code=400, json={
            'badRequest': {'code': 400, 'message': 'ram=much: a number'}})

        result = self.openstack('pcloud', 'policy', 'set', 'pcloud', 'farm',
                                '--constraints', 'ram=much')

        self.assert_one_line('ram=much: a number (HTTP 400)', result)

    def test_nothing_to_set(self):
        result = self.openstack('pcloud', 'policy', 'set', 'cloud')

        self.assert_one_line('Nothing to change; give at least one of '
                             '--constraints', result)

    def test_unset(self):
        self.answer('PUT', self.PATH, json={'policy': base.POLICY})
        self.answer('DELETE', self.PATH, status_code=204)

        self.openstack('pcloud', 'policy', 'unset', 'pcloud', 'farm',
                       '--customer-keys')
        self.assertEqual(('PUT', self.PATH, {'policy': {
            'customer_keys': []}}), self.last_call())

        self.openstack('pcloud', 'policy', 'unset', 'pcloud', 'farm',
                       '--constraints')
        self.assertEqual(('PUT', self.PATH, {'policy': {
            'constraints': ''}}), self.last_call())

        self.openstack('pcloud', 'policy', 'unset', 'pcloud', 'farm',
                       '--constraints', '--system-keys')
        self.assertEqual(('PUT', self.PATH, {'policy': {
            'constraints': '', 'system_keys': []}}), self.last_call())

        self.openstack('pcloud', 'policy', 'unset', 'pcloud', 'farm')
        self.assertEqual(('DELETE', self.PATH, None), self.last_call())

        self.answer('DELETE', self.PATH, status_code=403, json={
            'forbidden': {'code': 403, 'message': 'Not allowed.'}})
        self.assert_one_line(
            'Not allowed. Only admins remove a whole policy; --constraints '
            'and --customer-keys remove what is yours. (HTTP 403)',
            self.openstack('pcloud', 'policy', 'unset', 'pcloud', 'farm'))


class TestChoosingHosts(base.CloudTestCase):
    """The options of both command lines that choose among hosts."""

    def setUp(self):
        super().setUp()
        self._answer([
            {'rack': 'r1', 'platform_version': '20260101T000000Z'},
            {'rack': 'r1', 'platform_version': '20261001T000000Z'},
            {'rack': 'r2', 'platform_version': '1.2'}, {'rack': 'r1'}, {}])

    def _answer(self, attributes):
        self.answer('GET', '/os-host-flavors/gold', json={'host_flavor': {
            **base.FLAVOR, 'hosts': [
                {'host': f'c{number}', 'attributes': each}
                for number, each in enumerate(attributes)]}})

    def _shown(self, *options):
        shown = self.openstack('host', 'flavor', 'show', 'gold', '-f', 'json',
                               *options).json['hosts']
        nova = self.nova('host-flavor-show', 'gold', *options).out
        self.assertEqual([each['host'] for each in shown], [
            word for word in nova.replace('|', ' ').split()
            if word in ('c0', 'c1', 'c2', 'c3', 'c4')])
        return ' '.join(each['host'] for each in shown)

    def test_which(self):
        before = ('--platform-before', '20261001T000000Z')
        self.assertEqual('c0 c1 c2 c3 c4', self._shown())
        self.assertEqual('c0 c1 c3', self._shown('--rack', 'r1'))
        self.assertEqual('c0 c2 c3 c4', self._shown(*before))
        self.assertEqual('c0 c3', self._shown('--rack', 'r1', *before))
        self.assertEqual('', self._shown('--rack', 'r3'))

    def test_attributes_are_shown(self):
        self.assertIn(
            'platform_version 20260101T000000Z, rack r1',
            self.openstack('host', 'flavor', 'show', 'gold').out)

    def test_refused(self):
        show = ('host', 'flavor', 'show', 'gold')
        self.assert_one_line('dotted version', self.openstack(
            *show, '--platform-before', 'old'))
        self.answer('GET', '/os-host-flavors/gold',
                    json={'host_flavor': base.FLAVOR})
        self.assert_one_line('Only administrators see the hosts',
                             self.openstack(*show, '--rack', 'r1'))


class TestHelp(base.CloudTestCase):
    """What is told about the commands."""

    def test_every_command_has_an_example_and_the_usual_words(self):
        listed = self.openstack('help', 'pcloud').out + (
            self.openstack('help', 'host').out)
        commands = [line.strip() for line in listed.splitlines()
                    if line.startswith(('  pcloud ', '  host flavor '))]

        self.assertEqual(56, len(commands))
        for command in commands:
            text = self.openstack(*command.split(), '--help').out
            self.assertIn(f'Example:\n  openstack {command}', text)
            words = ' '.join(text.split())
            self.assertNotIn('id or name', words)
            self.assertNotIn('is unique)', words)


class TestDefaults(base.CloudTestCase):
    """The default Pcloud of a project."""

    PATH = f'/os-pcloud-policies/project/{base.PROJECT}'
    POLICY = {'default_pcloud': {'pcloud': base.PCLOUD_ID, 'mode': 'prefer'},
              'default_pcloud_source': 'domain'}

    def setUp(self):
        super().setUp()
        self.answer_farm()

    def test_set(self):
        self.answer('PUT', self.PATH, json={'policy': self.POLICY})

        result = self.openstack(
            'pcloud', 'default', 'set', 'farm', '--mode', 'prefer')

        self.assertEqual('', result.out)
        self.assertEqual(
            ('PUT', self.PATH, {'policy': {
                'default_pcloud': self.POLICY['default_pcloud']}}),
            self.last_call())

    def test_what_the_server_warns_of(self):
        self.answer('PUT', self.PATH, json={'policy': {
            **self.POLICY, 'warning': 'Others are refused.'}})

        result = self.openstack('pcloud', 'default', 'set', 'farm')

        self.assertEqual('', result.out)
        self.assertIn('Others are refused.\n', result.err)

    def test_wider_scopes(self):
        self.http.get(f'{base.KEYSTONE}/domains/film', status_code=404)
        self.http.get(f'{base.KEYSTONE}/domains?name=film', json={
            'domains': [{'id': 'f' * 32, 'name': 'film'}]})
        rest = {'pcloud': base.PCLOUD_ID, 'mode': 'prefer',
                'host_flavor': None, 'max_hosts': None,
                'availability_zone': None, 'source': 'domain'}
        for options, path, shown in (
                (('--domain', 'film'), f'domain/{"f" * 32}',
                 {'domain_id': 'f' * 32, **rest}),
                (('--cloud',), 'cloud/default', rest)):
            path = f'/os-pcloud-policies/{path}'
            for method in ('GET', 'PUT'):
                self.answer(method, path, json={'policy': {
                    **self.POLICY, 'warning': 'Others are refused.'}})

            result = self.openstack('pcloud', 'default', 'set', 'farm',
                                    '--mode', 'prefer', *options)
            self.assertEqual((0, ''), (result.status, result.out))
            self.assertIn('Others are refused.\n', result.err)
            self.assertEqual(('PUT', path, {'policy': {
                'default_pcloud': self.POLICY['default_pcloud']}}),
                self.last_call())

            self.assertEqual(shown, self.openstack(
                'pcloud', 'default', 'show', *options, '-f', 'json').json)

            self.openstack('pcloud', 'default', 'unset', *options)
            self.assertEqual(
                ('PUT', path, {'policy': {'default_pcloud': None}}),
                self.last_call())

    def test_cloud_that_has_set_nothing(self):
        self.answer('GET', CLOUD, status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'No policy is set'}})

        result = self.openstack(
            'pcloud', 'default', 'show', '--cloud', '-f', 'json')

        self.assertEqual(
            {'pcloud': None, 'mode': None, 'host_flavor': None,
             'max_hosts': None, 'availability_zone': None, 'source': None},
            result.json)

    def test_one_scope(self):
        for options in (('--cloud', '--domain', 'film'),
                        ('--project', 'own', '--cloud')):
            result = self.openstack('pcloud', 'default', 'unset', *options)
            self.assertEqual(2, result.status)
        self.assertEqual([], self.calls())

    def test_set_to_grow(self):
        value = {'pcloud': base.PCLOUD_ID, 'mode': 'grow',
                 'host_flavor': 'gold', 'max_hosts': 5}
        for options, more in (
                ((), {}), (('--availability-zone', 'az1'),
                           {'availability_zone': 'az1'})):
            self.answer('PUT', self.PATH, json={'policy': {
                'default_pcloud': {**value, **more},
                'default_pcloud_source': 'project'}})
            self.openstack(
                'pcloud', 'default', 'set', 'farm', '--mode', 'grow',
                '--grow-flavor', 'gold', '--max-hosts', '5', *options)
            self.assertEqual(
                ('PUT', self.PATH, {'policy': {
                    'default_pcloud': {**value, **more}}}), self.last_call())

    def test_set_to_grow_takes_what_it_needs(self):
        for options, told in base.MISPLACED_GROWTH:
            self.assert_one_line(told, self.openstack(
                *f'pcloud default set farm {options}'.split()))
        self.assertEqual([], self.calls())

    def test_a_mode_that_is_none(self):
        result = self.openstack(
            'pcloud', 'default', 'set', 'farm', '--mode', 'often')

        self.assertEqual(2, result.status)
        self.assertEqual([], self.changes())

    def test_unset(self):
        self.answer('PUT', self.PATH, json={'policy': {
            'default_pcloud': None, 'default_pcloud_source': 'project'}})

        self.openstack('pcloud', 'default', 'unset')

        self.assertEqual(
            ('PUT', self.PATH, {'policy': {'default_pcloud': None}}),
            self.last_call())

    def test_show(self):
        self.answer('GET', self.PATH, json={'policy': self.POLICY})

        result = self.openstack('pcloud', 'default', 'show', '-f', 'json')

        self.assertEqual(
            {'project_id': base.PROJECT, 'pcloud': base.PCLOUD_ID,
             'mode': 'prefer', 'host_flavor': None, 'max_hosts': None,
             'availability_zone': None, 'source': 'domain'}, result.json)

    def test_show_to_people(self):
        self.answer('GET', self.PATH, json={'policy': self.POLICY})
        for answer, shown in (
                ({'json': {'pcloud': base.PCLOUD}},
                 f'farm ({base.PCLOUD_ID})'),
                ({'status_code': 404, 'json': {
                    'itemNotFound': {'code': 404, 'message': 'gone'}}},
                 base.PCLOUD_ID)):
            self.answer('GET', FARM, **answer)

            result = self.openstack('pcloud', 'default', 'show')

            self.assertEqual(
                {'project_id': f'own ({base.PROJECT})', 'pcloud': shown,
                 'mode': 'prefer', 'host_flavor': '-', 'max_hosts': '-',
                 'availability_zone': '-', 'source': 'domain'},
                base.properties(result.out))

    def test_show_where_none_is_set(self):
        self.answer('GET', self.PATH, status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'No policy is set'}})

        result = self.openstack('pcloud', 'default', 'show', '-f', 'json')

        self.assertEqual(
            {'project_id': base.PROJECT, 'pcloud': None, 'mode': None,
             'host_flavor': None, 'max_hosts': None,
             'availability_zone': None, 'source': None}, result.json)
