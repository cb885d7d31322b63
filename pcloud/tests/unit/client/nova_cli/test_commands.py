# SPDX-License-Identifier: Apache-2.0

"""Every command of nova, through its real shell."""

import ddt

from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'
HOSTS = f'{FARM}/hosts'
TENANT = f'{FARM}/tenants/{base.OTHER_PROJECT}'
POOL = '/os-host-flavors/gold/hosts'
QUOTA = f'/os-pcloud-quotas/{base.OTHER_PROJECT}'

SILENT = (
    ('pcloud-delete farm', 'DELETE', FARM, None),
    ('pcloud-host-enable farm web-1', 'PUT', f'{HOSTS}/web-1',
     {'host': {'state': 'enabled'}}),
    ('pcloud-host-disable farm web-1', 'PUT', f'{HOSTS}/web-1',
     {'host': {'state': 'disabled'}}),
    ('pcloud-host-remove farm web-1', 'DELETE', f'{HOSTS}/web-1', None),
    (f'pcloud-tenant-add farm {base.OTHER_PROJECT}', 'PUT', TENANT, None),
    (f'pcloud-tenant-remove farm {base.OTHER_PROJECT}', 'DELETE', TENANT,
     None),
    ('host-flavor-delete gold', 'DELETE', '/os-host-flavors/gold', None),
    ('host-flavor-host-add gold compute-1', 'POST', POOL,
     {'host': {'host': 'compute-1'}}),
    ('host-flavor-host-remove gold compute-1', 'DELETE',
     f'{POOL}/compute-1', None),
)

SHOWN_PCLOUD = {
    'id': base.PCLOUD_ID, 'name': 'farm', 'owner': base.PROJECT,
    'tenants': f'{base.PROJECT}, {base.OTHER_PROJECT}', 'host_count': '2',
    'units': '8', 'cpu_allocation_ratio': '4.0', 'ram_allocation_ratio': '-',
    'maintenance_policy': '-', 'host_recovery': '-', 'pin_by_tenants': '-',
    'placement': '-', 'flavors': '-', 'images': '-', 'shrink': '-',
}
SHOWN_HOST = {
    'drain': '-', 'recovery': '-',
    'name': 'web-1', 'host_flavor': 'gold', 'availability_zone': 'az1',
    'state': 'disabled', 'status': 'up',
    'instances': f'{base.SERVER_1}, {base.SERVER_2}', 'vcpus': '64',
    'vcpus_used': '8', 'memory_mb': '262144', 'memory_mb_used': '512',
    'maintenance': '-',
    'next_reboot': '-', 'rack': '1',
}
SHOWN_FLAVOR = {
    'id': 'gold', 'description': '64 cores', 'units': '4', 'vcpus': '64',
    'memory_mb': '262144', 'disk_gb': '900',
    'available': 'az1: 3, az2: 0', 'settling': '1',
    'resources': 'CUSTOM_NVME: 2', 'traits': 'HW_CPU_X86_AVX',
    # The first and the last of several lines.
    'constraints': 'cpu=64', '': 'trait:HW_CPU_X86_AVX=required',
}
SHOWN_QUOTA = {'project_id': base.OTHER_PROJECT, 'units_limit': '10',
               'units_in_use': '4'}

DEFAULT = f'/os-pcloud-policies/project/{base.PROJECT}'
SET_DEFAULT = {
    'default_pcloud': {'pcloud': base.PCLOUD['id'], 'mode': 'strict'},
    'default_pcloud_source': 'project'}
GROWTH = {'pcloud': base.PCLOUD['id'], 'mode': 'grow', 'host_flavor': 'gold',
          'max_hosts': 5, 'availability_zone': 'az1'}
SHOWN_DEFAULT = {'project_id': base.PROJECT, 'pcloud': base.PCLOUD['id'],
                 'mode': 'strict', 'host_flavor': '-', 'max_hosts': '-',
                 'availability_zone': '-', 'source': 'project'}
# What is typed, the request it ends in, and what is shown.
SHOWING = (
    ('pcloud-create farm', 'POST', '/os-pclouds',
     {'pcloud': {'name': 'farm'}}, {'pcloud': base.PCLOUD}, SHOWN_PCLOUD),
    ('pcloud-update farm --name barn', 'PUT', FARM,
     {'pcloud': {'name': 'barn'}}, {'pcloud': base.PCLOUD}, SHOWN_PCLOUD),
    ('pcloud-update farm --cpu-allocation-ratio 4 '
     '--ram-allocation-ratio none', 'PUT', FARM,
     {'pcloud': {'cpu_allocation_ratio': 4.0, 'ram_allocation_ratio': None}},
     {'pcloud': base.PCLOUD}, SHOWN_PCLOUD),
    ('pcloud-update farm --maintenance-policy stay', 'PUT', FARM,
     {'pcloud': {'maintenance_policy': 'stay'}},
     {'pcloud': {**base.PCLOUD, 'maintenance_policy': 'migrate'}},
     {**SHOWN_PCLOUD, 'maintenance_policy': 'migrate'}),
    ('pcloud-update farm --host-recovery in_place', 'PUT', FARM,
     {'pcloud': {'host_recovery': 'in_place'}},
     {'pcloud': {**base.PCLOUD, 'host_recovery': 'in_place'}},
     {**SHOWN_PCLOUD, 'host_recovery': 'in_place'}),
    ('pcloud-update farm --pin-by-tenants yes', 'PUT', FARM,
     {'pcloud': {'pin_by_tenants': True}},
     {'pcloud': {**base.PCLOUD, 'pin_by_tenants': True}},
     {**SHOWN_PCLOUD, 'pin_by_tenants': 'True'}),
    ('pcloud-update farm --placement spread', 'PUT', FARM,
     {'pcloud': {'placement': 'spread'}},
     {'pcloud': {**base.PCLOUD, 'placement': 'spread'}},
     {**SHOWN_PCLOUD, 'placement': 'spread'}),
    ('pcloud-update farm --flavors 1,2 --images all', 'PUT', FARM,
     {'pcloud': {'flavors': ['1', '2'], 'images': None}},
     {'pcloud': {**base.PCLOUD, 'flavors': ['1', '2'], 'images': []}},
     {**SHOWN_PCLOUD, 'flavors': '1, 2', 'images': 'none'}),
    ('pcloud-host-add farm web-1 --host-flavor gold', 'POST', HOSTS,
     {'host': {'name': 'web-1', 'host_flavor': 'gold'}},
     {'host': base.HOST}, SHOWN_HOST),
    ('pcloud-host-add farm web-1 --host-flavor gold --availability-zone az1',
     'POST', HOSTS, {'host': {'name': 'web-1', 'host_flavor': 'gold',
                              'availability_zone': 'az1'}},
     {'host': base.HOST}, SHOWN_HOST),
    ('pcloud-host-add farm web-1 --constraints ram=64G '
     '--availability-zone az1', 'POST', HOSTS,
     {'host': {'name': 'web-1', 'constraints': 'ram=64G',
               'availability_zone': 'az1'}},
     {'host': base.HOST}, SHOWN_HOST),
    ('pcloud-host-show farm web-1', 'GET', f'{HOSTS}/web-1', None,
     {'host': {**base.HOST, **base.KIND}},
     {**SHOWN_HOST, 'resources': 'CUSTOM_NVME: 1 of 2',
      'traits': 'HW_CPU_X86_AVX'}),
    (f'pcloud-quota-show {base.OTHER_PROJECT}', 'GET', QUOTA, None,
     {'quota': base.QUOTA}, SHOWN_QUOTA),
    ('pcloud-quota-show', 'GET', f'/os-pcloud-quotas/{base.PROJECT}', None,
     {'quota': base.QUOTA}, {**SHOWN_QUOTA, 'project_id': base.PROJECT}),
    (f'pcloud-quota-update {base.OTHER_PROJECT} --units -1', 'PUT', QUOTA,
     {'quota': {'units': {'limit': -1}}},
     {'quota': {'units': {'limit': -1, 'in_use': 4}}},
     {**SHOWN_QUOTA, 'units_limit': 'unlimited'}),
    ('pcloud-default-set farm', 'PUT', DEFAULT,
     {'policy': {'default_pcloud': {
         'pcloud': base.PCLOUD['id'], 'mode': 'strict'}}},
     {'policy': SET_DEFAULT}, SHOWN_DEFAULT),
    ('pcloud-default-set farm --mode grow --grow-flavor gold --max-hosts 5 '
     '--availability-zone az1', 'PUT', DEFAULT,
     {'policy': {'default_pcloud': GROWTH}},
     {'policy': {**SET_DEFAULT, 'default_pcloud': GROWTH}},
     {**SHOWN_DEFAULT, 'mode': 'grow', 'host_flavor': 'gold',
      'max_hosts': '5', 'availability_zone': 'az1'}),
    ('pcloud-default-show', 'GET', DEFAULT, None,
     {'policy': SET_DEFAULT}, SHOWN_DEFAULT),
    ('pcloud-default-unset', 'PUT', DEFAULT,
     {'policy': {'default_pcloud': None}},
     {'policy': {'default_pcloud': None, 'default_pcloud_source': 'project'}},
     {**SHOWN_DEFAULT, 'pcloud': '-', 'mode': '-'}),
    ('host-flavor-create gold --units 4 --description fast', 'POST',
     '/os-host-flavors', {'host_flavor': {
         'id': 'gold', 'units': 4, 'description': 'fast'}},
     {'host_flavor': base.FLAVOR}, SHOWN_FLAVOR),
    ('host-flavor-show gold', 'GET', '/os-host-flavors/gold', None,
     {'host_flavor': base.FLAVOR}, SHOWN_FLAVOR),
    ('host-flavor-update gold --units 0', 'PUT', '/os-host-flavors/gold',
     {'host_flavor': {'units': 0}}, {'host_flavor': base.FLAVOR},
     SHOWN_FLAVOR),
    ('host-flavor-update gold --description fast', 'PUT',
     '/os-host-flavors/gold', {'host_flavor': {'description': 'fast'}},
     {'host_flavor': base.FLAVOR}, SHOWN_FLAVOR),
)


@ddt.ddt
class TestCommands(base.CloudTestCase):
    """The commands that change or show one thing."""

    def setUp(self):
        super().setUp()
        self.answer_farm()

    @ddt.idata(SILENT)
    @ddt.unpack
    def test_sends_one_change(self, command, method, path, body):
        if path.endswith('/web-1') and method == 'PUT':
            self.answer(method, path, json={'host': base.HOST})
        else:
            self.answer(method, path, status_code=204)

        result = self.nova(*command.split())

        self.assertEqual((0, '', ''), result)
        self.assertEqual((method, path, body), self.last_call())
        self.assertEqual([(method, path)], self.changes())

    @ddt.data(('pcloud-delete farm', FARM),
              (f'pcloud-tenant-remove farm {base.OTHER_PROJECT}', TENANT))
    @ddt.unpack
    def test_force(self, command, path):
        self.answer('DELETE', path, status_code=204)
        for option, query in (('', {}), (' --force', {'force': ['1']})):
            self.assertEqual(
                (0, '', ''), self.nova(*(command + option).split()))
            self.assertEqual(query, self.calls()[-1].query)

    @ddt.idata(SHOWING)
    @ddt.unpack
    def test_shows(self, command, method, path, body, answer, shown):
        self.answer(method, path, json=answer)

        result = self.nova(*command.split())

        self.assertEqual((0, ''), (result.status, result.err))
        self.assertEqual((method, path, body), self.last_call())
        self.assertEqual(shown, base.properties(result.out))

    def test_show(self):
        for default, growth in (
                (SET_DEFAULT, '-'),
                ({**SET_DEFAULT, 'default_pcloud': GROWTH},
                 'gold, to 5 hosts in az1')):
            self.answer('GET', DEFAULT, json={'policy': default})
            self.assertEqual(
                {**SHOWN_PCLOUD, 'growth': growth},
                base.properties(self.nova('pcloud-show', 'farm').out))

    @ddt.data('pcloud-update farm', 'host-flavor-update gold')
    def test_nothing_to_change(self, command):
        result = self.nova(*command.split())

        self.assert_one_line('Nothing to change; give at least one of --',
                             result)
        self.assertEqual([], self.calls())

    def test_several_constraints(self):
        self.answer('POST', HOSTS, json={'host': base.HOST})

        self.nova('pcloud-host-add', 'farm', 'web-1', '--constraints',
                  'ram=64G rack=a\\ b')

        self.assertEqual({'host': {
            'name': 'web-1', 'constraints': 'ram=64G rack=a\\ b'}},
            self.last_call()[2])

    def test_a_host_of_no_kind(self):
        result = self.nova('pcloud-host-add', 'farm', 'web-1')

        self.assert_one_line('Give one of --host-flavor, --constraints',
                             result)
        self.assertEqual([], self.calls())

    def test_a_host_of_two_kinds(self):
        result = self.nova('pcloud-host-add', 'farm', 'web-1',
                           '--host-flavor', 'gold', '--constraints', 'cpu=4')

        self.assertEqual(2, result.status)
        self.assertIn('--constraints: not allowed with argument '
                      '--host-flavor', result.err)
        self.assertEqual([], self.calls())

    def test_growth_of_a_default_takes_what_it_needs(self):
        for options, told in base.MISPLACED_GROWTH:
            self.assert_one_line(told, self.nova(
                *f'pcloud-default-set farm {options}'.split()))
        self.assertEqual([], self.calls())

    def test_asks_in_the_newest_microversion(self):
        self.nova('pcloud-list')

        asked = [request for request in self.http.request_history
                 if '/os-pclouds' in request.url]
        self.assertEqual(2, len(asked))
        for request in asked:
            self.assertRegex(
                request.headers['OpenStack-API-Version'], r'compute 2\.\d\d')


@ddt.ddt
class TestLists(base.CloudTestCase):
    """The commands that show several things."""

    def test_pclouds(self):
        seen_by_tenant = {'id': base.OTHER_ID, 'name': 'barn',
                          'owner': base.OTHER_PROJECT}
        self.answer_pclouds(base.PCLOUD, seen_by_tenant)

        result = self.nova('pcloud-list')

        self.assertEqual([
            ['ID', 'Name', 'Owner', 'Host Count', 'Units'],
            [base.PCLOUD_ID, 'farm', base.PROJECT, '2', '8'],
            [base.OTHER_ID, 'barn', base.OTHER_PROJECT, '-', '-'],
        ], base.table(result.out))
        self.assertNotIn('all_tenants', self.calls()[0].query)

    def test_pclouds_of_all_tenants(self):
        self.answer_farm()

        self.nova('pcloud-list', '--all-tenants')

        self.assertEqual(['1'], self.calls()[0].query['all_tenants'])

    def test_hosts(self):
        self.answer_farm()
        self.answer('GET', HOSTS, json={'hosts': [base.HOST]})

        short = self.nova('pcloud-host-list', 'farm').out
        rows = base.table(self.nova('pcloud-host-list', 'farm', '--long').out)

        self.assertEqual(
            ['web-1', 'gold', 'az1', 'disabled', 'up', '2', '64', '8',
             '262144', '512', '-', '1'], rows[1])
        self.assertIn('Memory MiB', rows[0])
        self.assertEqual(
            [['Name', 'Host Flavor', 'Zone', 'State', 'Status', 'Instances'],
             ['web-1', 'gold', 'az1', 'disabled', 'up', '2']],
            base.table(short))
        self.assertLessEqual(max(map(len, short.splitlines())), 80)

    def test_tenants(self):
        self.answer_farm()
        self.answer('GET', f'{FARM}/tenants', json={'tenants': [
            {'id': base.OTHER_PROJECT, 'name': None},
            {'id': base.PROJECT, 'name': 'own'},
            {'id': 'c' * 32, 'name': 'film'}]})

        result = self.nova('pcloud-tenant-list', 'farm')

        # By name; a project without a known name comes last.
        self.assertEqual(
            [['Project ID', 'Name'], ['c' * 32, 'film'],
             [base.PROJECT, 'own'], [base.OTHER_PROJECT, '-']],
            base.table(result.out))

    def test_a_tenant_by_name(self):
        self.answer_farm()
        self.answer('POST', f'{FARM}/tenants', status_code=201, json={
            'tenant': {'id': base.OTHER_PROJECT, 'name': 'film'}})

        for options, given in (((), {}), (('--project-domain', 'd'),
                                          {'domain': 'd'})):
            result = self.nova('pcloud-tenant-add', 'farm', 'film', *options)

            self.assertEqual((0, '', ''), result)
            self.assertEqual(
                ('POST', f'{FARM}/tenants',
                 {'tenant': {'name': 'film', **given}}), self.last_call())

    def test_host_flavors(self):
        self.answer('GET', '/os-host-flavors',
                    json={'host_flavors': [base.FLAVOR]})

        rows = base.table(self.nova('host-flavor-list').out)

        self.assertEqual(
            ['gold', '64 cores', '4', '64', '262144', '900',
             'az1: 3, az2: 0', '1'], rows[1])


class TestHelp(base.CloudTestCase):
    """What nova tells about the commands."""

    def test_all_commands_are_listed(self):
        text = self.nova('help').out

        for noun, verbs in (
                ('pcloud-', 'create list show update delete host-add '
                 'host-list host-show host-enable host-disable host-remove '
                 'tenant-add tenant-remove tenant-list quota-show '
                 'quota-update default-set default-show default-unset'),
                ('host-flavor-', 'create list show update delete host-add '
                 'host-remove')):
            for verb in verbs.split():
                self.assertIn(f' {noun}{verb} ', text.replace('\n', ' \n'))

    def test_a_pcloud_is_named_in_the_usual_words(self):
        self.assertIn('Pcloud (name or id).',
                      self.nova('help', 'pcloud-show').out)
