# SPDX-License-Identifier: Apache-2.0

"""The page about performance shows what a run of the benchmarks has found."""

import dataclasses
import pathlib
import re
import tempfile

import ddt
import testtools

from pcloud.tests.benchmarks import part
from pcloud.tests.benchmarks import results
from pcloud.tests.benchmarks import tables

ADMIN = pathlib.Path(__file__).parents[3] / 'doc' / 'source' / 'admin'
FOLDER = ADMIN / 'performance'


class PageTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.run_ = results.read(FOLDER / tables.RESULT)
        self.tables = (FOLDER / tables.TABLES).read_text()

    def test_tables_are_those_of_the_results(self):
        self.assertEqual(tables.page(self.run_), self.tables)
        self.assertIn(f'.. include:: performance/{tables.TABLES}\n',
                      (ADMIN / 'performance.rst').read_text())

    def test_all_parts_are_there(self):
        self.assertEqual(list(results.PARTS), list(self.run_.parts))
        self.assertNotEqual('small', self.run_.sizes)
        self.assertEqual([], self.run_.left())

    def test_every_wanted_figure_is_judged(self):
        lines = self.tables.splitlines()
        self.assertGreater(len(self.run_.wanted), 50)
        for _, row in self.run_.wanted:
            self.assertNotEqual('', row.why, row)
            self.assertTrue(any(
                row.name in line and row.wanted in line and
                row.verdict.value in line and row.why in line
                for line in lines), row)

    def test_every_part_is_linked_to(self):
        text = (ADMIN / 'performance.rst').read_text()
        labels = re.findall(r'^\.\. _([\w-]+):$', self.tables, re.MULTILINE)
        self.assertEqual(1 + len(results.PARTS), len(labels))
        self.assertEqual([], [label for label in labels
                              if f'`{label}`' not in text])


@ddt.ddt
class VerdictTest(testtools.TestCase):

    @ddt.data(
        ((1, 1, None), results.Verdict.MET),
        ((1.01, 1, None), results.Verdict.MISSED),
        ((5, None, 5), results.Verdict.MET),
        ((4.9, None, 5), results.Verdict.MISSED),
        ((2, 2, 2), results.Verdict.MET),
        ((1, 2, 2), results.Verdict.MISSED),
        ((None, None, 5), results.Verdict.NOT_INSTALLED))
    @ddt.unpack
    def test_verdict(self, values, verdict):
        row = results.Row('table', 'name', 'unit', *values)
        self.assertTrue(row.is_wanted)
        self.assertEqual(verdict, row.verdict)

    @ddt.data(('times stock', True), ('bytes kept a host', True),
              ('SQL', False))
    @ddt.unpack
    def test_small_clouds_are_judged_by_counts(self, unit, is_left):
        row = results.Row('table', 'name', unit, 2, 1, why='because')
        self.assertEqual(not is_left, part.of_small_cloud(row).is_wanted)


class TablesTest(testtools.TestCase):

    ROWS = [
        results.Row('Calls', 'GET', 'ms', 1234.0),
        results.Row('Calls', 'GET', 'SQL', 12),
        results.Row('Calls', 'PUT', 'ms', 0.25),
        results.Row('Calls', 'GET', 'more SQL', 2, 1, why='so it was'),
        results.Row('Calls', 'PUT', 'times stock', None, least=5,
                    why='so it is')]

    def setUp(self):
        super().setUp()
        self.run_ = results.Run('abc', '2026-01-02', 'full', {'cores': '2'}, {
            'calls': results.Part(7.0, '', self.ROWS),
            'plans': results.Part(1.0, 'no such solver', [])})

    def test_results_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, tables.RESULT)
            results.write(path, self.run_)
            self.assertEqual(self.run_, results.read(path))

    def test_a_part_of_another_commit(self):
        self.run_.parts['calls'] = dataclasses.replace(
            self.run_.parts['calls'], commit='def')
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, tables.RESULT)
            results.write(path, self.run_)
            self.assertEqual(self.run_, results.read(path))
        lines = [line.split() for line in tables.page(self.run_).splitlines()]
        self.assertIn('commit of the part ``calls`` def'.split(), lines)
        self.assertNotIn('commit of the part ``plans``'.split(),
                         [line[:-1] for line in lines])

    def test_four_digits_are_kept(self):
        self.assertEqual(
            {'table': 'Calls', 'name': 'GET', 'unit': 'ms', 'found': 1.235},
            results.line(results.Row('Calls', 'GET', 'ms', 1.23456)))

    def test_summary(self):
        self.assertEqual([
            '2 figures are wanted: 0 met, 1 missed, 1 not installed.', '',
            '* **missed** (calls): GET: 2 more SQL, at most 1 wanted', '',
            '* **failed**: plans'], list(tables.summary(self.run_)))
        self.assertFalse(self.run_.is_met)
        self.assertIn('plans', self.run_.left())
        self.assertNotIn('calls', self.run_.left())

    def test_what_is_not_installed_is_no_failure(self):
        del self.run_.parts['plans']
        self.run_.parts['calls'] = results.Part(7.0, '', [
            row for row in self.ROWS if row.unit != 'more SQL'])
        self.assertTrue(self.run_.is_met)

    def test_page(self):
        page = tables.page(self.run_)
        for line in (
                '.. _performance-calls:',
                '   what  quantity     found          wanted      verdict'
                '        because',
                '   GET   more SQL     2              at most 1   '
                '**missed**     so it was',
                '   PUT   times stock  not installed  at least 5  '
                'not installed  so it is',
                '.. table:: Calls',
                '   what  ms     SQL',
                '   GET   1,234  12',
                '   PUT   0.25   \\-',
                'This part **failed**.'):
            self.assertIn(line, page.splitlines())
