# SPDX-License-Identifier: Apache-2.0

"""Hosts with hypervisors: what is missing, and the files of a host."""

import configparser
import os
import pathlib
import subprocess
import tempfile

import fixtures
from oslotest import base

from pcloud_sandbox import cli
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import parts
from pcloud_sandbox.configuration import ports
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors
from pcloud_sandbox.hypervisors import guest
from pcloud_sandbox.hypervisors import host_files
from pcloud_sandbox.hypervisors import machine

WHERE = layout.Layout('/sandbox')


def chosen(**options):
    return settings.Settings(
        hosts=2, ports=dict.fromkeys(ports.SERVICES, 1), hypervisors=True,
        database='mysql+pymysql://db', messaging='rabbit://mq', **options)


class MachineTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.patch(os, 'geteuid', lambda: 0)
        self.patch(machine.shutil, 'which', lambda name: f'/bin/{name}')
        self.patch(machine.importlib.util, 'find_spec', lambda name: name)
        self.patch(machine, 'DRIVER', 'os-release')
        self.patch(machine.subprocess, 'run', self.run_program)
        self.done = subprocess.CompletedProcess([], 0, '', '')
        self.asked = []

    def run_program(self, argv, **options):
        self.asked.append(argv[0])
        return self.done

    def refusal(self, where=WHERE, kind=errors.SandboxError):
        return str(self.assertRaises(kind, machine.check, where))

    def test_all_is_there(self):
        machine.check(WHERE)
        self.assertEqual(['unshare'], self.asked)

    def test_who_is_not_root(self):
        self.patch(os, 'geteuid', lambda: 1000)
        self.assertIn('run pcloud-sandbox as root', self.refusal())

    def test_all_that_is_missing_is_named(self):
        self.patch(machine.shutil, 'which', lambda name: None if name in (
            'libvirtd', 'unshare', 'nsenter') else name)
        self.patch(machine, 'DRIVER', 'no/such/driver.so')
        self.patch(machine.importlib.util, 'find_spec', lambda name: None)
        told = self.refusal(kind=errors.NotInstalled)
        self.assertIn(
            'libvirt-daemon, libvirt-daemon-driver-qemu, util-linux, '
            'libvirt-python not installed', told)
        self.assertIn(
            'apt-get install --no-install-recommends libvirt-daemon '
            'libvirt-daemon-driver-qemu util-linux;', told)
        self.assertIn("'.[sandbox,hypervisors]'", told)

    def test_namespaces_are_refused(self):
        self.done = subprocess.CompletedProcess([], 1, '', 'not permitted\n')
        self.assertIn('as in a container: not permitted', self.refusal())

    def test_folders_that_no_host_sees(self):
        for folder in ('/run/x', '/var/lib/x', '/var/log', '/var/cache/y/z'):
            self.assertIn('choose another', self.refusal(
                layout.Layout(folder)))
        machine.check(layout.Layout('/var/tmp/x'))

    def test_packages_are_in_bindep(self):
        listed = {line.split()[0] for line in (
            pathlib.Path(__file__).parents[4] / 'bindep.txt'
        ).read_text().splitlines() if 'hypervisors' in line
            and not line.startswith('#')}
        always = {'apt', 'bash', 'dpkg', 'gzip', 'util-linux'}
        self.assertEqual(set(), {
            *machine.PROGRAMS.values(), machine.DRIVER_PACKAGE,
        } - always - listed)


class SettingsTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.patch(machine, 'check', lambda where: None)

    def wanted(self, *argv):
        return cli.wanted(cli.parse(['up', *argv]), WHERE)

    def test_servers_of_this_machine(self):
        found = self.wanted('--hypervisors', '2')
        self.assertEqual(
            (2, True, cli.DATABASE, cli.MESSAGING),
            (found.hosts, found.hypervisors, found.database,
             found.messaging))

    def test_other_servers(self):
        found = self.wanted('--hypervisors', '2', '--database', 'd',
                            '--messaging', 'm')
        self.assertEqual(('d', 'm'), (found.database, found.messaging))

    def test_fake_hosts(self):
        found = self.wanted('--hosts', '2')
        self.assertEqual((2, False, None, None), (
            found.hosts, found.hypervisors, found.database, found.messaging))

    def test_parts(self):
        every = {each.name: each for each
                 in parts.all_parts(WHERE, chosen())}
        for host in ('node-1', 'node-2'):
            self.assertTrue(every[f'hypervisor-{host}'].stays)
            self.assertIn(f'hypervisor-{host}',
                          every[f'nova-compute-{host}'].needs)
        self.assertIn('guest-setup', every['catalog'].needs)
        self.assertFalse(every['guest-setup'].stays)


class HostFilesTest(base.BaseTestCase):

    def test_addresses(self):
        mine, yours = (chosen(key=key) for key in ('0102aaaa', 'ff00bbbb'))
        self.assertEqual(
            ['127.1.2.11', '127.1.2.12', '127.255.0.11'],
            [host_files.address(mine, 'node-1'),
             host_files.address(mine, 'node-2'),
             host_files.address(yours, 'node-1')])

    def test_files(self):
        folder = self.useFixture(TemporaryFolder()).path
        where, own = layout.Layout(folder), chosen(key='0102aaaa')
        where.data.mkdir()
        for host in own.host_names():
            where.host_data(host).mkdir(parents=True)
            where.host_conf(host).parent.mkdir(parents=True, exist_ok=True)
            where.host_conf(host).write_text('[DEFAULT]\nhost = mine\n')
        host_files.write_all(where, own)
        conf = configparser.ConfigParser(interpolation=None, strict=False)
        conf.read(where.host_conf('node-2'))
        self.assertEqual(
            ('mine', '127.1.2.12', '127.1.2.12'),
            (conf['DEFAULT']['host'], conf['DEFAULT']['my_ip'],
             conf['libvirt']['live_migration_inbound_addr']))
        root = where.host_data('node-2')
        self.assertIn('127.1.2.12 node-2\n', (root / 'hosts').read_text())
        self.assertEqual(1, (root / 'passwd').read_text().count(
            'libvirt-qemu:'))
        uuids = {line for host in own.host_names() for line in (
            where.host_data(host) / 'etc' / 'libvirtd.conf'
        ).read_text().splitlines() if line.startswith('host_uuid')}
        self.assertEqual(2, len(uuids))

    def test_copies_between_hosts(self):
        folder = self.useFixture(TemporaryFolder()).path
        where, own = layout.Layout(folder), chosen()
        where.data.mkdir()
        for host in own.host_names():
            where.host_data(host).mkdir(parents=True)
            where.host_conf(host).parent.mkdir(parents=True, exist_ok=True)
        host_files.write_all(where, own)
        there = host_files.address(own, 'node-2')
        disk = pathlib.Path(folder, 'disk')
        disk.write_text('content')
        for argv in (
                ['ssh', '-o', 'BatchMode=yes', there, 'mkdir', '-p',
                 f'{where.instances}/uuid'],
                ['scp', '-r', str(disk), f'{there}:{where.instances}/uuid/d'],
                ['scp', '-C', '-r', f'{there}:{where.instances}/uuid/d',
                 f'{folder}/back']):
            subprocess.run([where.copiers / argv[0], *argv[1:]], check=True)
        copied = where.host_data('node-2') / 'instances' / 'uuid' / 'd'
        self.assertEqual('content', copied.read_text())
        self.assertEqual('content', pathlib.Path(folder, 'back').read_text())


class TemporaryFolder(fixtures.Fixture):

    def _setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.path = folder.name
        self.addCleanup(folder.cleanup)


class GuestTest(base.BaseTestCase):

    def test_the_newest_kernel(self):
        self.patch(guest, '_output', lambda argv, folder: (
            'linux-image-cloud-amd64\n'
            '  Depends: linux-image-6.1.0-56-cloud-amd64\n'))
        self.assertEqual('linux-image-6.1.0-56-cloud-amd64',
                         guest._newest_kernel())

    def test_no_kernel(self):
        self.patch(guest, '_output', lambda argv, folder: '')
        error = self.assertRaises(errors.SandboxError, guest._newest_kernel)
        self.assertIn('apt-get update', str(error))

    def test_a_program_that_fails(self):
        error = self.assertRaises(
            errors.SandboxError, guest._output,
            ['sh', '-c', 'echo no archive >&2; exit 1'], '/')
        self.assertIn('no archive', str(error))
