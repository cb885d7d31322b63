# SPDX-License-Identifier: Apache-2.0

"""The version that the operators' commands print."""

import importlib.metadata
import subprocess
import sys

import ddt
import testtools

from pcloud.cmd import release


@ddt.ddt
class VersionTest(testtools.TestCase):

    @ddt.data(('manage', 'pcloud.cmd.manage'),
              ('sandbox', 'pcloud_sandbox.cli'),
              ('status', 'pcloud.cmd.status'))
    @ddt.unpack
    def test_is_that_of_pcloud(self, name, module):
        done = subprocess.run(
            [sys.executable, '-c',
             f'import sys; import {module} as command; '
             f'sys.argv = ["pcloud-{name}", "--version"]; command.main()'],
            text=True, stdout=subprocess.PIPE, check=True)
        version = importlib.metadata.version('openstack-pcloud')
        self.assertEqual(f'pcloud-{name} {version}\n', done.stdout)

    @ddt.data(['audit'], ['explain', '--verbose'], ['--vers'])
    def test_is_not_printed_unasked(self, arguments):
        self.assertIsNone(release.answer('pcloud-manage', arguments))
