# SPDX-License-Identifier: Apache-2.0


"""As many servers as pages, URLs, pools and quotas are not made for."""

import json
import subprocess
import sys
import time

from pcloud.tests.sandbox import base

# Hosts of 40 processors at the default ratio, and servers of one.
HOSTS, TIMES, AT_ONCE = 13, 5, 100


class ManyServersTest(base.SharedSandboxTest):
    """Tests of a cloud with 500 servers, each with an interface."""

    up_options = ('--hosts', str(HOSTS))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shell('admin', 'openstack flavor create --ram 64 --disk 1 '
                  '--vcpus 1 m1.nano')
        for number in range(TIMES):
            cls.shell('alice', 'openstack server create --image cirros '
                      f'--flavor m1.nano --min {AT_ONCE} --max {AT_ONCE} '
                      f'many-{number}')
        cls.servers = cls._built()

    @classmethod
    def _servers(cls):
        return json.loads(cls.shell(
            'admin', 'openstack server list --all-projects '
            '-f json'))

    @classmethod
    def _built(cls):
        """Return the servers when none is being built any more.

        :raises: `AssertionError` when no build has ended for a long time
        """
        before, since = None, time.monotonic()
        while True:
            servers = cls._servers()
            building = [each for each in servers
                        if each['Status'] == 'BUILD']
            if not building:
                return servers
            if len(building) != before:
                before, since = len(building), time.monotonic()
            if time.monotonic() > since + base.TIMEOUT:
                raise AssertionError(f'{before} servers are still built')
            time.sleep(2)

    def test_all_are_active_and_have_an_address(self):
        self.assertEqual(TIMES * AT_ONCE, len(self.servers))
        self.assertEqual({'ACTIVE'}, {each['Status']
                                      for each in self.servers})
        self.assertEqual(TIMES * AT_ONCE, len({
            address for each in self.servers
            for address in each['Networks']['shared']}))

    def test_lists(self):
        for command in ('openstack server list -f value -c ID',
                        'openstack port list -f value -c ID'):
            self.assertEqual(TIMES * AT_ONCE, len(
                self.shell('alice', command).splitlines()), command)
        self.assertEqual(TIMES * AT_ONCE,
                         self.shell('alice', 'nova list').count('ACTIVE'))

    def test_audit(self):
        done = subprocess.run(
            [sys.executable, '-m', 'pcloud.cmd.manage', '--config-file',
             str(self.folder / 'etc' / 'nova.conf'), 'audit'],
            capture_output=True, text=True, timeout=base.TIMEOUT)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
