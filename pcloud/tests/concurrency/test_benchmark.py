# SPDX-License-Identifier: Apache-2.0

"""The benchmark of filters and weighers runs, on small clouds.

Here only for its MariaDB: times are not looked at.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import testtools

from pcloud.tests.concurrency import mariadb

_SIZES = ['100', '200']


class BenchmarkTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()

    def test_nothing_is_asked_for_each_host(self):
        found = self._run()
        self.assertEqual(0, max(each['http_calls'] for each in found))
        by_subject = {}
        for each in found:
            subject = each['name'].partition('), ')[0]
            by_subject.setdefault(subject, []).append(each['statements'])
        for subject, statements in by_subject.items():
            self.assertEqual(len(_SIZES), len(statements), subject)
            self.assertEqual(1, len(set(statements)), subject)
        # It has to be measured what is meant.
        kept = {each['name']: each['hosts_kept'] for each in found}
        for asked, hosts in (('nothing asked', 50), ('a Pcloud', 45)):
            self.assertEqual(hosts, kept[
                f'PcloudFilter ({asked}), 100 hosts, 1 Pclouds'])

    def _run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'found.json'
            done = subprocess.run(
                [sys.executable, '-m', 'pcloud.tests.benchmarks.filters',
                 '--hosts', *_SIZES, '--pclouds', '1', '--repeat', '1',
                 '--json', path], capture_output=True, text=True)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            told = json.loads(path.read_text())
        # What is the same for all stands there once.
        return [told['metadata'] | each['metadata']
                for each in told['benchmarks']]
