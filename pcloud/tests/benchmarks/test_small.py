# SPDX-License-Identifier: Apache-2.0

"""The benchmarks that take minutes run, on small clouds."""

import pathlib
import subprocess
import sys
import tempfile

import testtools

from pcloud.tests.benchmarks import results
from pcloud.tests.benchmarks import tables
from pcloud.tests.concurrency import mariadb

# A line of each part.
TOLD = {
    'filters': 'AffinityWeigher, 10 customer keys',
    'boots': 'boot into a Pcloud',
    'nova_calls': 'POST /servers',
    'calls': 'reads of a boot without a hint',
    'allocations': '2 processes of nova-api',
    'aggregates': 'ratios set',
    'workers': '20 Pclouds',
    'at_once': '3 hosts into one pool, one call',
    'growing': '3 launches at once, grow',
    'control_plane': 'launch, choice without a hint',
    'plans': 'whether servers fit',
    'command_lines': '``nova help list``',
}


class SmallTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()
        self.folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory()))

    def _run(self, *parts):
        """Run parts, and return the printed text and what was found."""
        done = subprocess.run(
            [sys.executable, '-m', 'pcloud.tests.benchmarks', '--small',
             '--folder', str(self.folder), *parts],
            capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stderr, results.read(self.folder / tables.RESULT)

    def test_runs(self):
        """What is counted is as wanted, in small clouds too."""
        _, found = self._run()
        self.assertEqual(list(results.PARTS), list(found.parts))
        for name, told in TOLD.items():
            rows = found.parts[name].rows
            self.assertIn(told, {row.name for row in rows}, name)
            self.assertIn(told, (self.folder / tables.TABLES).read_text())
        # What is there is not measured again.
        told, again = self._run()
        self.assertEqual('', told)
        self.assertEqual(found, again)
        told, _ = self._run('command_lines')
        self.assertIn('--- command_lines ...', told)
