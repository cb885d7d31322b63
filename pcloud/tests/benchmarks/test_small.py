# SPDX-License-Identifier: Apache-2.0

"""The benchmarks that take minutes run, on small clouds."""

import subprocess
import sys

import ddt
import testtools

from pcloud.tests.concurrency import mariadb


@ddt.ddt
class SmallTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()

    @ddt.unpack
    @ddt.data(
        ('aggregates', ['--hosts', '40', '--repeat', '1'],
         'ratios set: 2,'),
        ('growth', ['--hosts', '1200', '2400', '--repeat', '1'],
         'reads of a boot without a hint'),
        ('stock', ['--hosts', '20', '--repeat', '1'],
         '20 hosts, a Pcloud'),
        ('own_calls', ['--servers', '3', '--repeat', '1'],
         'GET /servers/detail'),
        ('made_answers', ['--servers', '3', '--repeat', '1'],
         'made: POST /servers'),
        ('allocations', ['--hosts', '400', '--each', '1', '--processes',
                         '1', '2'], '2 processes: '))
    def test_runs(self, module, arguments, told):
        """What is counted is as wanted, in small clouds too."""
        done = subprocess.run(
            [sys.executable, '-m', f'pcloud.tests.benchmarks.{module}',
             *arguments], capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn(told, done.stdout)
