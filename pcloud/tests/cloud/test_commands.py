# SPDX-License-Identifier: Apache-2.0

"""Both command lines, as the users of the cloud type them."""

import json
import os
import shlex
import subprocess

from pcloud.tests.cloud import base
from pcloud.tests.cloud import needs
from pcloud_sandbox import command


class CommandsTest(base.CloudTest):

    def run_command(self, user, text):
        """Run a command as a user; return (status, output, messages)."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith('OS_')}
        environment |= self.stage.users[user].environment()
        environment['PATH'] = command.search_path(environment['PATH'])
        done = subprocess.run(
            shlex.split(text), env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if user != 'admin':
            self.assert_hidden(done.stdout + done.stderr)
        return done.returncode, done.stdout, done.stderr

    def done(self, user, text):
        """Run a command, which succeeds, and return the output."""
        status, shown, told = self.run_command(user, text)
        self.assertEqual(0, status, f'{user}: {text}: {told}')
        return shown

    def read(self, user, text):
        """Run a command, which succeeds; return the output as JSON."""
        return json.loads(self.done(user, f'openstack {text} -f json'))

    def refused(self, user, text, expected):
        """Run a command, which is refused in a line with some words."""
        status, shown, told = self.run_command(user, text)
        self.assertNotEqual(0, status, f'{user}: {text}: {shown}')
        self.assertIn(expected, told, f'{user}: {text}')

    @property
    def server_options(self):
        choice = self.stage.choice
        return (f'--image {choice.image.id} --flavor {choice.flavor.id} '
                f'--nic {choice.nic}')


class OpenstackTest(CommandsTest):

    def test_owner(self):
        pcloud = self.read('owner', 'pcloud create shop')['id']
        self.done('owner', 'openstack pcloud set shop --name store '
                  '--cpu-allocation-ratio 2')
        self.done('owner', 'openstack pcloud unset store '
                  '--cpu-allocation-ratio')
        shown = self.read('owner', 'pcloud show store')
        self.assertEqual((pcloud, None),
                         (shown['id'], shown['cpu_allocation_ratio']))
        self.done('owner', 'openstack pcloud host add store web '
                  f'--host-flavor {self.stage.flavor_id}')
        self.done('owner', 'openstack pcloud host set store web --enable')
        server = self.read(
            'owner', f'server create --hint pcloud={pcloud} '
            f'{self.server_options} --wait inside')
        self.assertEqual('ACTIVE', server['status'])
        shown = self.read('owner', 'pcloud host show store web')
        self.assertEqual([server['id']], shown['instances'])
        listed, = self.read('owner', 'pcloud host list store')
        self.assertEqual(('web', 'enabled', [server['id']]), tuple(
            listed[name] for name in ('Name', 'State', 'Instances')))
        self.assertIn('web', self.done(
            'owner', 'openstack pcloud explain store --flavor '
            f'{self.stage.choice.flavor.id}'))
        self.assertEqual(self.units, self.read(
            'owner', 'pcloud quota show')['units_in_use'])
        self.done('owner', 'openstack server delete --wait inside')
        self.done('owner', 'openstack pcloud host set store web --disable')
        self.done('owner', 'openstack pcloud host remove store web')
        self.done('owner', 'openstack pcloud delete store')
        self.assertEqual([], self.read('owner', 'pcloud list'))

    def test_tenants_and_policies(self):
        tenant = self.stage.users['tenant'].project_id
        pcloud = self.new_pcloud(hosts=1).id
        self.refused('tenant', f'openstack pcloud show {pcloud}',
                     'No Pcloud that you can see')
        self.done('owner', f'openstack pcloud tenant add shop {tenant}')
        self.assertIn(tenant, [row['Project ID'] for row in self.read(
            'owner', 'pcloud tenant list shop')])
        self.done('tenant', f'openstack pcloud show {pcloud}')
        self.refused('tenant', f'openstack pcloud host list {pcloud}',
                     'Only the owner')
        self.done('owner', f'openstack pcloud tenant remove shop {tenant}')
        self.done('owner', 'openstack pcloud policy set pcloud shop '
                  '--customer-key A=1:1')
        self.assertIn('A=1:1', str(self.read(
            'owner', 'pcloud policy show pcloud shop')))
        self.done('owner', 'openstack pcloud policy unset pcloud shop '
                  '--customer-keys')
        for user in ('tenant', 'stranger'):
            self.refused(user, f'openstack pcloud delete {pcloud}',
                         'No Pcloud that you can see')

    def test_administrator(self):
        flavor, host = f'{self.stage.name}-cli', self.stage.computes[0].host
        self.done('admin', f'openstack host flavor create {flavor} --units 1')
        self.done('admin', f'openstack host flavor set {flavor} --units 2')
        self.done('admin', 'openstack host flavor host remove '
                  f'{self.stage.flavor_id} {host}')
        self.done('admin', f'openstack host flavor host add {flavor} {host}')
        shown = self.read('owner', f'host flavor show {flavor}')
        self.assertEqual((2, 1), (
            shown['units'], sum(shown['available'].values())))
        self.done('admin', f'openstack pcloud attribute set '
                  f'{self.stage.name} x --host {host}')
        self.assertIn(self.stage.name, self.done(
            'admin', 'openstack pcloud attribute list'))
        self.done('admin', f'openstack pcloud attribute unset '
                  f'{self.stage.name} --host {host}')
        self.done('admin', 'openstack host flavor host remove '
                  f'{flavor} {host}')
        self.done('admin', f'openstack host flavor delete {flavor}')
        self.done('admin', 'openstack host flavor host add '
                  f'{self.stage.flavor_id} {host}')
        self.assertNotIn(flavor, self.done(
            'owner', 'openstack host flavor list'))

    def test_refusals_of_the_administrators_part(self):
        for text in ('host flavor create x --units 1',
                     f'host flavor delete {self.stage.flavor_id}',
                     'pcloud attribute list', 'pcloud list --all-projects',
                     'pcloud policy set cloud --system-key A=1:1'):
            self.refused('owner', f'openstack {text}', "Policy doesn't allow")

    @needs.filter_enabled('ColocationFilter')
    def test_services(self):
        pcloud = self.new_pcloud(hosts=2).id
        helper = self.stage.new_flavor(pcloud__co_located='allow').id
        choice = self.stage.choice
        made = self.read(
            'owner', f'pcloud service deploy db --image {choice.image.id} '
            f'--flavor {choice.flavor.id} --nic {choice.network} '
            f'--pcloud {pcloud} --with disk={choice.image.id}:{helper}')
        self.assertEqual({'db': 'ACTIVE', 'disk': 'ACTIVE'},
                         {each['Service']: each['Status'] for each in made})
        compute = self.stage.admin.cloud.compute
        hosts = {compute.get_server(each['ID']).compute_host
                 for each in made}
        self.assertEqual(1, len(hosts))
        self.assertLessEqual(hosts, self.pool())
        self.assertIn('disk', self.done(
            'owner', 'openstack pcloud service list'))
        self.refused('stranger', 'openstack pcloud service undeploy db',
                     'Your project has no units')
        self.done('owner', 'openstack pcloud service undeploy db')
        self.assertEqual([], self.read('owner', 'pcloud service list'))


class NovaTest(CommandsTest):

    def test_owner(self):
        tenant = self.stage.users['tenant'].project_id
        flavor = self.stage.flavor_id
        self.assertIn(flavor, self.done('owner', 'nova host-flavor-list'))
        self.done('owner', f'nova host-flavor-show {flavor}')
        self.done('owner', 'nova pcloud-create shop')
        self.done('owner', 'nova pcloud-update shop --name store')
        self.done('owner', f'nova pcloud-host-add store web '
                  f'--host-flavor {flavor}')
        self.done('owner', 'nova pcloud-host-enable store web')
        for text in ('pcloud-host-list store', 'pcloud-host-show store web'):
            self.assertIn('enabled', self.done('owner', f'nova {text}'))
        self.done('owner', f'nova pcloud-tenant-add store {tenant}')
        self.assertIn(tenant, self.done(
            'owner', 'nova pcloud-tenant-list store'))
        self.assertIn('store', self.done('tenant', 'nova pcloud-list'))
        self.done('owner', f'nova pcloud-tenant-remove store {tenant}')
        self.assertIn('units_in_use', self.done(
            'owner', 'nova pcloud-quota-show'))
        self.refused('stranger', 'nova pcloud-show store',
                     'No Pcloud that you can see')
        self.refused('owner', 'nova pcloud-delete store', 'remove them first')
        self.done('owner', 'nova pcloud-host-disable store web')
        self.done('owner', 'nova pcloud-host-remove store web')
        self.done('owner', 'nova pcloud-delete store')
        self.assertNotIn('store', self.done('owner', 'nova pcloud-list'))

    def test_server(self):
        pcloud = self.new_pcloud(hosts=1).id
        self.done('owner', f'nova boot --hint pcloud={pcloud} '
                  f'{self.server_options} --poll inside')
        server, = self.stage.users['owner'].cloud.compute.servers()
        self.assertIn(server.id, self.done(
            'owner', 'nova pcloud-host-show shop h1'))
        self.assertIn(self.host_of(server), self.pool())

    def test_administrator(self):
        flavor, host = f'{self.stage.name}-cli', self.stage.computes[0].host
        project = self.stage.users['tenant'].project_id
        self.done('admin', f'nova host-flavor-create {flavor} --units 1')
        self.done('admin', f'nova host-flavor-update {flavor} --units 2')
        self.done('admin', 'nova host-flavor-host-remove '
                  f'{self.stage.flavor_id} {host}')
        self.done('admin', f'nova host-flavor-host-add {flavor} {host}')
        self.assertIn(host, self.done(
            'admin', f'nova host-flavor-show {flavor}'))
        self.done('admin', f'nova host-flavor-host-remove {flavor} {host}')
        self.done('admin', f'nova host-flavor-delete {flavor}')
        self.done('admin', 'nova host-flavor-host-add '
                  f'{self.stage.flavor_id} {host}')
        self.done('admin', f'nova pcloud-quota-update {project} --units 7')
        self.assertIn(' 7 ', self.done('tenant', 'nova pcloud-quota-show'))
        for text in ('host-flavor-create x --units 1',
                     f'pcloud-quota-update {project} --units 9',
                     'pcloud-list --all-tenants'):
            self.refused('owner', f'nova {text}', "Policy doesn't allow")
