# SPDX-License-Identifier: Apache-2.0

"""Faults in a small module are killed, or survive, as its tests let them.

A program that plants nothing, or kills whatever is planted, would find
nothing wrong with any test.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

import testtools

from pcloud.tests import mutation

ROOT = pathlib.Path(mutation.__file__).parents[3]

# Faults reach what an import computes, defaults, caches and properties. The
# text of the error has no fault: mutmut would change its letters.
MODULE = textwrap.dedent('''
    import functools

    def _most():
        return 3

    MOST = _most()

    @functools.cache
    def double(number):
        return number + number

    class Pool:
        def __init__(self, hosts=1):
            self.hosts = hosts

        @property
        def full(self):
            if self.hosts < 0:
                raise ValueError('no such pool')
            return self.hosts >= MOST

    def countdown(number):
        while number:
            number -= 1
    ''')

NOTICING = textwrap.dedent('''
    import unittest

    import pool

    class PoolTest(unittest.TestCase):

        def test_a_cache_is_filled(self):
            pool.double(1)

        def test_double(self):
            self.assertEqual(2, pool.double(1))

        def test_full(self):
            self.assertEqual([False, False, True, True], [
                pool.Pool(hosts).full for hosts in (0, 2, 3, 4)])
            self.assertEqual(1, pool.Pool().hosts)
            with self.assertRaisesRegex(ValueError, 'pool'):
                pool.Pool(-1).full

        def test_countdown(self):
            pool.countdown(3)
    ''')
KILLED = {
    ('_most', 'killed'), ('double', 'killed'), ('__init__', 'killed'),
    ('full', 'killed'), ('countdown', 'timeout')}

BLIND = textwrap.dedent('''
    import unittest

    import pool

    class PoolTest(unittest.TestCase):

        def test_something(self):
            self.assertEqual(3, pool.MOST)
            pool.double(1)
            pool.Pool(2).full
    ''')
SURVIVED = {
    ('_most', 'killed'), ('double', 'survived'), ('__init__', 'survived'),
    # Without a number of hosts nothing can be compared.
    ('__init__', 'killed'), ('full', 'survived'), ('countdown', 'survived')}

FAILING = textwrap.dedent('''
    import unittest

    class PoolTest(unittest.TestCase):

        def test_nothing(self):
            self.fail()
    ''')


class MutationTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory(prefix='pcloud-mutation-test-')))
        (self.folder / 'pool.py').write_text(MODULE)

    def _run(self, tests, *options):
        """Return the status of the program, and what is printed."""
        (self.folder / 'test_pool.py').write_text(tests)
        done = subprocess.run(
            [sys.executable, '-m', 'pcloud.tests.mutation', 'pool.py',
             '--tests', '.', *options],
            cwd=self.folder, env=os.environ | {'PYTHONPATH': str(ROOT)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def _rows(self):
        lines = (self.folder / 'rows').read_text().splitlines()
        return [json.loads(each) for each in lines]

    def _verdicts(self):
        return {(row['function'], row['verdict']) for row in self._rows()}

    def test_tests_that_notice(self):
        status, told = self._run(NOTICING, '--output', 'rows')
        self.assertEqual(0, status, told)
        self.assertEqual(KILLED, self._verdicts(), told)
        self.assertIn({
            'file': 'pool.py', 'function': '_most', 'line': 5,
            'diff': '-    return 3\n+    return 4', 'verdict': 'killed',
            'by': 'test_pool.PoolTest.test_full'}, self._rows())
        self.assertNotIn('XXno such pool', (self.folder / 'rows').read_text())

    def test_tests_that_do_not_notice(self):
        status, told = self._run(BLIND, '--output', 'rows')
        self.assertEqual(0, status, told)
        self.assertEqual(SURVIVED, self._verdicts(), told)
        self.assertIn('pool.py:11: survived\n'
                      '-    return number + number\n'
                      '+    return number - number\n', told)

    def test_going_on(self):
        self._run(BLIND, '--output', 'rows')
        rows = self._rows()
        lines = (self.folder / 'rows').read_text().splitlines(keepends=True)
        (self.folder / 'rows').write_text(''.join(lines[:-2]))
        status, told = self._run(BLIND, '--output', 'rows')
        self.assertEqual(0, status, told)
        self.assertIn(f'{len(rows)} mutants, 2 of them to be tried', told)
        self.assertCountEqual(rows, self._rows())
        killed = sum(row['verdict'] == 'killed' for row in rows)
        self.assertIn(f'pool.py {len(rows):8}{killed:10}'
                      f'{len(rows) - killed:10}{0:10}\n', told)

    def test_tests_that_fail_anyway(self):
        status, told = self._run(FAILING, '--every', '2')
        self.assertEqual(1, status, told)
        self.assertIn('failed: test_pool.PoolTest.test_nothing\n', told)
        self.assertNotIn('mutants', told)
