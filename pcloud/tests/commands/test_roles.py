# SPDX-License-Identifier: Apache-2.0

"""Every command of both command lines, as everybody who may not use it.

What they print when they succeed is in the guides, for those who may; here
are the refusals, and what programs read.
"""

import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import tempfile
import venv

from pcloud.tests.sandbox import base

ROOT = pathlib.Path(__file__).parents[3]

# What each command says to a tenant that is not the owner, and to a
# stranger. A word of the message, or the status of success, which is 0.
GONE = 'No Pcloud that you can see has the id or name'
OWNER, ADMIN = 'Only the owner of Pcloud', "Policy doesn't allow"
NOT_THERE = 'Your project has no units of a service'
COMMANDS = [
    # openstack, nova (None where it has none), tenant, stranger
    ('pcloud show {id}', 'pcloud-show {id}', 0, GONE),
    ('pcloud set {id} --name x', 'pcloud-update {id} --name x', OWNER, GONE),
    ('pcloud unset {id} --cpu-allocation-ratio',
     'pcloud-update {id} --cpu-allocation-ratio none', OWNER, GONE),
    ('pcloud delete {id}', 'pcloud-delete {id}', OWNER, GONE),
    ('pcloud list --all-projects', 'pcloud-list --all-tenants',
     ADMIN, ADMIN),
    ('pcloud host add {id} x --host-flavor gpu',
     'pcloud-host-add {id} x --host-flavor gpu', OWNER, GONE),
    ('pcloud waiting list {id}', None, OWNER, GONE),
    ('pcloud waiting cancel {id} x', None, OWNER, GONE),
    ('host flavor waiting list gpu', None, ADMIN, ADMIN),
    ('pcloud host list {id}', 'pcloud-host-list {id}', OWNER, GONE),
    ('pcloud host show {id} web', 'pcloud-host-show {id} web', OWNER, GONE),
    ('pcloud host set {id} web --enable', 'pcloud-host-enable {id} web',
     OWNER, GONE),
    ('pcloud host set {id} web --disable', 'pcloud-host-disable {id} web',
     OWNER, GONE),
    ('pcloud host drain {id} web', None, OWNER, GONE),
    ('pcloud host remove {id} web', 'pcloud-host-remove {id} web',
     OWNER, GONE),
    ('pcloud tenant list {id}', 'pcloud-tenant-list {id}', OWNER, GONE),
    ('pcloud tenant add {id} {carol}', 'pcloud-tenant-add {id} {carol}',
     OWNER, GONE),
    ('pcloud tenant remove {id} {bob}', 'pcloud-tenant-remove {id} {bob}',
     OWNER, GONE),
    ('pcloud quota show {alice}', 'pcloud-quota-show {alice}',
     'HTTP 40', 'HTTP 40'),
    ('pcloud quota set {bob} --units 99',
     'pcloud-quota-update {bob} --units 99', ADMIN, ADMIN),
    ('pcloud explain {id} --flavor m1.tiny', None, OWNER, GONE),
    ('pcloud rehearse {id}', None, OWNER, GONE),
    ('pcloud simulate {id} --server m1.tiny=1', None, OWNER, GONE),
    ('pcloud rebalance {id}', None, OWNER, GONE),
    ('pcloud attribute list', None, ADMIN, ADMIN),
    ('pcloud attribute set rack r1 --host node-1', None, ADMIN, ADMIN),
    ('pcloud attribute unset rack --host node-1', None, ADMIN, ADMIN),
    ('pcloud key list', None, ADMIN, ADMIN),
    ('pcloud key set premium 1 --host node-1', None, ADMIN, ADMIN),
    ('pcloud key unset premium --host node-1', None, ADMIN, ADMIN),
    ('pcloud server list', None, 0, 0),
    ('pcloud server list --pcloud {id}', None, 0, GONE),
    ('pcloud policy show pcloud {id}', None, OWNER, GONE),
    ('pcloud policy set pcloud {id} --customer-key A=1:1', None,
     OWNER, GONE),
    ('pcloud policy unset pcloud {id} --customer-keys', None, OWNER, GONE),
    ('pcloud policy set cloud --system-key A=1:1', None, ADMIN, ADMIN),
    ('pcloud service deploy new --image cirros --flavor m1.tiny --nic none '
     '--pcloud {id}', None, 'enabled host', GONE),
    ('pcloud service undeploy x', None, NOT_THERE, NOT_THERE),
    ('pcloud service list', None, 0, 0),
    ('pcloud service show x', None, NOT_THERE, NOT_THERE),
    ('pcloud service set --constraints cpu=1 x', None, NOT_THERE, NOT_THERE),
    ('pcloud service sync x', None, NOT_THERE, NOT_THERE),
    ('host flavor list', 'host-flavor-list', 0, 0),
    ('host flavor show gpu', 'host-flavor-show gpu', 0, 0),
    ('host flavor show gpu --rack r1', 'host-flavor-show gpu --rack r1',
     'Only administrators', 'Only administrators'),
    ('host flavor create x --units 1', 'host-flavor-create x --units 1',
     ADMIN, ADMIN),
    ('host flavor set gpu --units 1', 'host-flavor-update gpu --units 1',
     ADMIN, ADMIN),
    ('host flavor delete gpu', 'host-flavor-delete gpu', ADMIN, ADMIN),
    ('host flavor host add gpu node-2', 'host-flavor-host-add gpu node-2',
     ADMIN, ADMIN),
    ('host flavor host maintenance set gpu node-1 --from 2100-01-01', None,
     ADMIN, ADMIN),
    ('host flavor host maintenance unset gpu node-1', None, ADMIN, ADMIN),
    ('host flavor host set --not-fenced gpu node-1', None, ADMIN, ADMIN),
    ('host flavor host remove gpu node-1',
     'host-flavor-host-remove gpu node-1', ADMIN, ADMIN),
]


class RolesTest(base.SharedSandboxTest):
    """Alice owns a Pcloud with a host; Bob is a tenant, Carol is nobody.

    Two commands run at a time: none of them changes anything.
    """

    up_options = ('--hosts', '2')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environments = {
            user: cls.environment_of(user)
            for user in ('admin', 'alice', 'bob', 'carol')}
        cls.ids = {user: cls._json(user, 'token issue')['project_id']
                   for user in ('alice', 'bob', 'carol')}
        cls._done('admin', 'openstack host flavor create gpu --units 2')
        cls._done('admin', 'openstack compute service set --disable node-1 '
                           'nova-compute')
        cls._done('admin', 'openstack host flavor host add gpu node-1')
        cls.ids['id'] = cls._json('alice', 'pcloud create shop')['id']
        cls._done('alice', 'openstack pcloud host add shop web '
                           '--host-flavor gpu')
        cls._done('alice', 'openstack pcloud tenant add shop '
                           f'{cls.ids["bob"]}')

    @classmethod
    def _run(cls, user, command):
        return subprocess.run(
            command.split(), env=cls.environments[user], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    @classmethod
    def _done(cls, user, command):
        done = cls._run(user, command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @classmethod
    def _json(cls, user, command):
        return json.loads(cls._done(user, f'openstack {command} -f json'))

    def _refused(self, user, command, expected):
        done = self._run(user, command)
        if expected == 0:
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertNotIn('node-', done.stdout)
            return
        self.assertEqual('', done.stdout, command)
        self.assertGreater(done.returncode, 0, command)
        # A deployment whose capacity nobody may ask for is tried, and shows
        # how.
        told = [line for line in done.stderr.splitlines()
                if 'deprecated' not in line and not line.startswith('new: ')]
        self.assertEqual(1, len(told), done.stderr)
        self.assertIn(expected, told[0], command)
        self.assertNotIn('node-1.', told[0])

    def _try_all(self, cases):
        before = self._state()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for each in [pool.submit(self._refused, *case)
                         for case in cases]:
                each.result()
        self.assertEqual(before, self._state())

    def _state(self):
        return (self._json('alice', 'pcloud show shop'),
                self._json('alice', 'pcloud host list shop'),
                self._json('admin', 'host flavor list'))

    def test_openstack(self):
        self._try_all([
            (user, f'openstack {command.format(**self.ids)}', expected)
            for command, _, *both in COMMANDS
            for user, expected in zip(('bob', 'carol'), both)])

    def test_nova(self):
        self._try_all([
            (user, f'nova {command.format(**self.ids)}', expected)
            for _, command, *both in COMMANDS if command
            for user, expected in zip(('bob', 'carol'), both)])

    def test_what_programs_read_of_a_pcloud(self):
        shop = {'id': self.ids['id'], 'name': 'shop',
                'owner': self.ids['alice'],
                'tenants': sorted([self.ids['alice'], self.ids['bob']]),
                'host_count': 1, 'units': 2, 'cpu_allocation_ratio': None,
                'ram_allocation_ratio': None, 'maintenance_policy': None,
                'host_recovery': None,
                'pin_by_tenants': None, 'placement': None,
                'flavors': None,
                'images': None, 'shrink': None, 'growth': None}
        self.assertEqual(shop, self._json('alice', 'pcloud show shop'))
        self.assertEqual(shop, self._json('admin', 'pcloud show shop'))
        self.assertEqual(
            [{'ID': shop['id'], 'Name': 'shop', 'Owner': shop['owner'],
              'Host Count': 1, 'Units': 2}],
            self._json('admin', 'pcloud list --all-projects'))
        self.assertEqual(
            [{'ID': shop['id'], 'Name': 'shop', 'Owner': shop['owner'],
              'Host Count': None, 'Units': None}],
            self._json('bob', 'pcloud list'))
        self.assertEqual([], self._json('carol', 'pcloud list'))
        self.assertEqual(
            sorted([{'Project ID': self.ids[each], 'Name': each}
                    for each in ('alice', 'bob')],
                   key=lambda row: row['Project ID']),
            self._json('alice', 'pcloud tenant list shop'))
        self.assertEqual(
            {'project_id': self.ids['alice'], 'units_limit': 10,
             'units_in_use': 2}, self._json('alice', 'pcloud quota show'))

    def test_what_programs_read_of_a_host(self):
        web = {'name': 'web', 'host_flavor': 'gpu',
               'availability_zone': 'az1', 'state': 'disabled',
               'status': 'up', 'instances': [], 'vcpus': 10,
               'vcpus_used': 0, 'memory_mb': 8192, 'next_reboot': None,
               'rack': None}
        shown = self._json('alice', 'pcloud host show shop web')
        self.assertEqual(web, {name: shown[name] for name in web})
        self.assertNotIn('hypervisor_hostname', shown)
        shown = self._json('admin', 'pcloud host show shop web')
        self.assertEqual('node-1', shown['hypervisor_hostname'])
        gpu = {'id': 'gpu', 'description': '', 'units': 2, 'vcpus': 10,
               'memory_mb': 8192, 'disk_gb': 1028, 'available': {},
               'settling': 0}
        shown = self._json('carol', 'host flavor show gpu')
        self.assertEqual(gpu, {name: shown[name] for name in gpu})
        self.assertTrue(shown['constraints'].startswith(
            'cpu=10 ram=8G storage=1028G '), shown)
        self.assertNotIn('hosts', shown)

    def test_completion(self):
        shown = self._done('alice', 'openstack complete')
        self.assertIn('cmds_pcloud_host=', shown)
        self.assertIn(
            "cmds_host_flavor_host='add maintenance remove set'", shown)

    def test_one_line_that_says_what_to_do(self):
        for command, expected in [
                ('openstack pcloud show nothing', GONE),
                ('openstack pcloud host add shop web --host-flavor gpu',
                 'There is no free host'),
                ('openstack pcloud host add shop WEB --host-flavor gold',
                 "Host flavor 'gold' could not be found"),
                ('openstack pcloud set shop', 'give at least one of'),
                ('openstack pcloud delete shop', 'remove them first'),
                ('nova pcloud-host-show shop other', "Host 'other'"),
                ('nova pcloud-delete shop', 'remove them first')]:
            self._refused('alice', command, expected)

    def test_name_of_two_pclouds(self):
        ids = [self._json('carol', 'pcloud create twin')['id']
               for _ in range(2)]
        done = self._run('carol', 'openstack pcloud show twin')
        self.assertEqual(1, done.returncode)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        for each in ids:
            self.assertIn(each, done.stderr)
        self._done('carol', f'openstack pcloud delete {" ".join(ids)}')

    def test_without_nova(self):
        """What ``pip install .`` gives to a user's machine."""
        folder = tempfile.mkdtemp(prefix='pcloud-bare-')
        self.addCleanup(shutil.rmtree, folder)
        venv.create(folder, with_pip=True)
        python = f'{folder}/bin/python'
        subprocess.run(
            [python, '-m', 'pip', 'install', '-q', '-c',
             str(ROOT / 'constraints.txt'), str(ROOT)], check=True)
        self.assertNotEqual(0, subprocess.run(
            [python, '-c', 'import nova'], stderr=subprocess.DEVNULL,
            check=False).returncode)
        self.assertEqual({'django.mo', 'djangojs.mo'}, {
            path.name for path in pathlib.Path(folder).glob(
                'lib/*/site-packages/pcloud_dashboard/locale/de/*/*.mo')})
        environment = self.environments['alice']
        environment = environment | {
            'PATH': f'{folder}/bin:{environment["PATH"]}'}
        for command in ('openstack pcloud list', 'nova pcloud-list'):
            shown = subprocess.run(
                command.split(), env=environment, text=True, check=True,
                stdout=subprocess.PIPE).stdout
            self.assertIn(self.ids['id'], shown)
        told = subprocess.run(
            [f'{folder}/bin/pcloud-manage', 'audit'], text=True,
            stderr=subprocess.PIPE, check=False)
        self.assertEqual(1, told.returncode)
        self.assertIn("pip install '.[nova]' in a clone", told.stderr)
