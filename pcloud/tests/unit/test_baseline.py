# SPDX-License-Identifier: Apache-2.0

"""Two versions of Pcloud are measured and judged as described."""

import pathlib
import subprocess
import sys
import tempfile

import testtools

from pcloud.tests.benchmarks import baseline


class RowTest(testtools.TestCase):

    BEFORE = {'call': 0.4, 'floor': 0.1, 'peer': 0.2}
    NOW = {'call': 0.2, 'floor': 0.1, 'peer': 0.4}

    def _judged(self, **row):
        return baseline.Row('call', 1, **row).judged(self.BEFORE, self.NOW)

    def test_ratio(self):
        self.assertEqual(0.5, self._judged())

    def test_what_both_pay_is_left_out(self):
        self.assertAlmostEqual(1 / 3, self._judged(minus='floor'))

    def test_multiple_within_a_version(self):
        self.assertEqual(0.5, self._judged(of='peer'))

    def test_multiple_of_another_time_before(self):
        self.assertEqual(1.0, self._judged(unit='peer'))

    def test_cells(self):
        self.assertEqual(
            ['call, less floor', '300.0', '100.0', '0.333', '0.5'],
            baseline.Row('call', 0.5, minus='floor').cells(
                self.BEFORE, self.NOW))


class PackagesTest(testtools.TestCase):

    def test_the_earlier_package_with_the_present_tests(self):
        with tempfile.TemporaryDirectory() as parent:
            earlier = pathlib.Path(parent)
            (earlier / 'pcloud' / 'tests').mkdir(parents=True)
            (earlier / 'pcloud' / '__init__.py').write_text('EARLIER = 1\n')
            (earlier / 'setup.cfg').write_text('[entry_points]\n')
            with baseline.packages(earlier) as folders:
                told = subprocess.run(
                    [sys.executable, '-c',
                     'import pcloud, pcloud.tests.benchmarks.turns\n'
                     'print(pcloud.EARLIER)'],
                    cwd=folders[baseline.BEFORE], capture_output=True,
                    text=True)
                self.assertEqual('1\n', told.stdout, told.stderr)
                self.assertTrue(
                    (folders[baseline.BEFORE] / 'setup.cfg').exists())
