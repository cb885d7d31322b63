# SPDX-License-Identifier: Apache-2.0

"""A running sandbox, as users and as a second sandbox see the sandbox."""

import http.client
import json
import select
import signal
import subprocess
import sys
import time
import urllib.parse
import uuid

from pcloud.rules.placing import hints
from pcloud.tests.sandbox import base
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import rest
from pcloud_sandbox.services import catalog

# Seconds after which gunicorn closes an idle connection.
_CLOSED_BY_DEFAULT = 2


class RunningTest(base.SharedSandboxTest):
    """Tests of a single started sandbox."""

    up_options = ('--hosts', '2')

    def test_up_shows_progress(self):
        status, shown, told = self.started
        self.assertEqual(0, status, told)
        self.assertIn('env alice', shown)
        self.assertIn('Keystone answers', told)
        self.assertIn('Nova answers, with 2 hosts', told)

    def test_second_up_is_refused_and_changes_nothing(self):
        state = (self.folder / 'sandbox.json').read_bytes()
        before = base.processes_of(self.folder)
        status, _, told = base.call(self.folder, 'up', '--hosts', '5')
        self.assertEqual(1, status)
        self.assertIn('already running', told)
        self.assertIn(str(self.folder), told)
        self.assertEqual(state, (self.folder / 'sandbox.json').read_bytes())
        self.assertEqual(before, base.processes_of(self.folder))

    def test_status(self):
        status, shown, _ = base.call(self.folder, 'status')
        self.assertEqual(0, status)
        for service in ('keystone', 'placement', 'glance', 'neutron',
                        'nova'):
            self.assertRegex(
                shown, rf'{service} +up +\d+ +http://127\.0\.0\.1:\d+\n')

    def test_idle_connection_stays(self):
        """Nova does not repeat a request to a connection that was closed."""
        chosen = settings.load(layout.Layout(self.folder)).settings
        for service in 'placement', 'keystone':
            where = urllib.parse.urlsplit(chosen.url(service))
            connection = http.client.HTTPConnection(where.netloc)
            self.addCleanup(connection.close)
            connection.request('GET', '/')
            connection.getresponse().read()
            self.assertIsNotNone(connection.sock)
            self.assertEqual(([], [], []), select.select(
                [connection.sock], [], [], 2 * _CLOSED_BY_DEFAULT), service)

    def test_env_of_an_unknown_user(self):
        status, shown, told = base.call(self.folder, 'env', 'eve')
        self.assertEqual((1, ''), (status, shown))
        self.assertIn('admin, alice, bob, carol', told)

    def test_server(self):
        shown = json.loads(self.shell(
            'alice', 'openstack server create --wait '
            '--image cirros --flavor m1.tiny -f json web'))
        self.assertEqual('ACTIVE', shown['status'])
        address, = shown['addresses'][catalog.NETWORK]
        self.assertRegex(address, r'^10\.0\.')
        self.assertRegex(self.shell('alice', 'nova list'),
                         r'\| web +\| ACTIVE')
        self.assertNotIn('web', self.shell('bob', 'nova list'))

    def test_server_that_moves_keeps_its_address(self):
        """No agent of Neutron reports an interface that is plugged."""
        shown = self.shell(
            'admin', 'set -- openstack server show mover -f value '
            '-c OS-EXT-SRV-ATTR:host -c addresses -c status; '
            'openstack server create --wait --image cirros '
            '--flavor m1.tiny mover >&2; "$@"; openstack server migrate '
            '--live-migration --wait mover >&2; "$@"').splitlines()
        self.assertEqual(6, len(shown), shown)
        here, there = set(shown[:3]), set(shown[3:])
        self.assertEqual({'node-1', 'node-2'}, here ^ there)
        self.assertIn('ACTIVE', here & there)

    def test_volumes_are_refused(self):
        self.assertIn('Volume service is not available', self.shell(
            'alice', 'openstack server create --volume data '
            '--flavor m1.tiny never 2>&1 || true'))

    def test_hints_are_described(self):
        """What Horizon asks Glance before a server is started."""
        chosen = settings.load(layout.Layout(self.folder)).settings
        glance = chosen.url('glance') + '/v2/metadefs/namespaces'
        alice = rest.Client(chosen, 'alice')
        found = alice.get(f'{glance}?resource_types=OS%3A%3ANova%3A%3AServer')
        name = 'OS::Compute::PcloudHints'
        self.assertIn(name, [each['namespace']
                             for each in found['namespaces']])
        described = alice.get(f'{glance}/{name}/properties')
        self.assertEqual(set(hints.GIVEN), set(described['properties']))

    def test_options(self):
        conf = self.folder / 'etc' / 'nova.conf'
        before = conf.read_text()
        status, _, told = base.call(
            self.folder, 'set', 'pcloud', 'quota_unit', '3')
        self.assertEqual((1, before), (status, conf.read_text()))
        self.assertIn('quota_units was probably meant', told)
        limit = 'openstack pcloud quota show -f value -c units_limit'
        for words, expected in ((('set', '3'), '3\n'), (('unset',), '10\n')):
            verb, *value = words
            status, _, told = base.call(
                self.folder, verb, 'pcloud', 'quota_units', *value)
            self.assertEqual((0, 'restarting nova\n'), (status, told))
            self.assertEqual(expected, self.shell('alice', limit))

    def test_zones(self):
        shown = self.shell('admin', 'openstack compute service list '
                           '--service nova-compute -f value -c Host -c Zone')
        self.assertEqual(['node-1 az1', 'node-2 az2'],
                         sorted(shown.splitlines()))

    def test_pcloud_is_loaded(self):
        self.shell('carol', 'nova pcloud-create mine')
        self.assertIn('mine', self.shell('carol', 'openstack pcloud list'))

    def test_explain(self):
        """An operator's command, beside the services that it asks."""
        status, found = self._explained()
        self.assertEqual((0, True), (status, found['outcome']['found']))
        self.assertEqual(2, found['placement']['after'])
        status, found = self._explained('--hint', f'pcloud={uuid.uuid4()}')
        self.assertEqual((1, False), (status, found['outcome']['found']))

    def _explained(self, *arguments):
        done = subprocess.run(
            [sys.executable, '-m', 'pcloud.cmd.manage', '--config-file',
             str(self.folder / 'etc' / 'nova.conf'), 'explain', '--flavor',
             'm1.tiny', '--format', 'json', *arguments],
            capture_output=True, text=True, timeout=base.TIMEOUT)
        return done.returncode, json.loads(done.stdout)

    def test_run_in_it(self):
        status, shown, _ = base.call(
            self.folder, 'run', '--as', 'bob', '--', 'sh', '-c',
            'echo $OS_USERNAME; exit 7')
        self.assertEqual((7, 'bob\n'), (status, shown))

    def test_run_side_by_side(self):
        other = self.new_folder()
        status, shown, told = base.call(
            other, 'run', '--hosts', '1', '--', 'sh', '-c',
            'nova hypervisor-list; exit 9')
        self.assertEqual(9, status, told)
        self.assertIn('node-1', shown)
        self.assertNotIn('node-2', shown)
        self.assert_no_process(other)
        self.assertFalse(other.exists())
        self.assertEqual(0, base.call(self.folder, 'status')[0])


class DownTest(base.SandboxTest):

    def test_service_that_dies_and_down(self):
        folder = self.new_folder()
        status, _, told = base.call(folder, 'up', '--hosts', '1')
        self.assertEqual(0, status, told)
        nova, = [p for p in base.processes_of(folder)
                 if 'pcloud_sandbox.services.nova_all' in p.cmdline()]
        nova.kill()
        nova.wait(10)
        status, shown, _ = base.call(folder, 'status')
        self.assertEqual(1, status)
        self.assertRegex(shown, 'nova +down')
        status, shown, _ = base.call(folder, 'down')
        self.assertEqual(0, status)
        self.assert_no_process(folder)
        self.assertFalse(folder.exists())
        self.assertEqual(3, base.call(folder, 'status')[0])

    def test_interrupted_down_goes_on(self):
        folder = self.new_folder()
        status, _, told = base.call(folder, 'up', '--hosts', '1')
        self.assertEqual(0, status, told)
        process = base.start(folder, 'down')
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        # "down" is at work when the first service has ended.
        running = len(base.processes_of(folder))
        while len(base.processes_of(folder)) >= running:
            self.assertIsNone(process.poll())
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        # Where "down" was quick, the signal came too late.
        self.assertIn(process.wait(base.TIMEOUT), (130, 0))
        self.assert_no_process(folder)
        self.assertFalse(folder.exists())
