# SPDX-License-Identifier: Apache-2.0

"""The benchmark of filters and weighers runs, and parts that fail are told.

Here only for the MariaDB: times are not looked at.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import testtools

from pcloud.tests.benchmarks import __main__
from pcloud.tests.benchmarks import results
from pcloud.tests.concurrency import mariadb


class BenchmarkTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()

    def test_nothing_is_asked_for_each_host(self):
        rows = self._run()
        judged = [row for row in rows if row.is_wanted]
        self.assertEqual([], [row for row in judged
                              if row.verdict is not results.Verdict.MET])
        self.assertLessEqual(
            {'HTTP requests', 'whose statements differ between clouds'},
            {row.unit for row in judged})
        # It has to be measured what is meant.
        passing = {row.name: row.found for row in rows
                   if row.unit == 'hosts that pass'}
        for asked, hosts in (('nothing asked', 50), ('a Pcloud', 45)):
            self.assertEqual(hosts, passing[
                f'PcloudFilter, {asked}, 100 hosts, 1 Pclouds'])

    def _run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'found'
            done = subprocess.run(
                [sys.executable, '-m', 'pcloud.tests.benchmarks.part',
                 'filters', 'small', path], capture_output=True, text=True)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            return [results.Row(**json.loads(each))
                    for each in path.read_text().splitlines()]


class FailingTest(testtools.TestCase):

    def test_what_a_part_has_printed_is_kept(self):
        part = __main__.run('no_such_part', 'small')
        self.assertIn('No module named', part.error)
        self.assertEqual([], part.rows)


class BegunTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory()), 'kept')
        mariadb.need()
        self.kept = results.Run('abc', '2026-01-02', 'full', {}, {
            'plans': results.Part(1.0, '', [])})
        results.write(self.path, self.kept)

    def _begun(self, sizes, commit, *named):
        return __main__.begun(self.path, sizes, commit, named)

    def test_a_run_goes_on(self):
        self.assertEqual(self.kept, self._begun('full', 'abc'))
        self.assertEqual(self.kept, self._begun('full', 'abc', 'calls'))

    def test_a_run_of_another_commit_begins(self):
        found = self._begun('full', 'def')
        self.assertEqual(('def', {}), (found.commit, found.parts))

    def test_named_parts_leave_the_other_parts(self):
        self.assertEqual(self.kept, self._begun('full', 'def', 'calls'))

    def test_sizes_are_not_mixed(self):
        self.assertEqual({}, self._begun('small', 'abc', 'calls').parts)
