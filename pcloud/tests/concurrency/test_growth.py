# SPDX-License-Identifier: Apache-2.0

"""The benchmark of calls judges growth as described."""

import ddt
import testtools

from pcloud.tests.benchmarks import calls
from pcloud.tests.benchmarks import results

NAMES = (calls.PUT, calls.POST, calls.CONSTRAINTS, calls.NO_HINT)


@ddt.ddt
class JudgedTest(testtools.TestCase):

    def _missed(self, name, hosts, size, *counts):
        """Judge a small and a large cloud, with another measurement.

        :param counts: statements, rows, and calls
        """
        found = {each: {(what, 10): calls.Measured(7, 100, 2)
                        for what in NAMES} for each in (100, 500)}
        found[hosts][name, size] = calls.Measured(*counts)
        return [row for row in calls.judged(found)
                if row.verdict is results.Verdict.MISSED]

    @ddt.unpack
    @ddt.data((calls.PUT, 100, 200, 7, 900, 2),
              (calls.PUT, 500, 10, 7, 129, 2),
              (calls.NO_HINT, 500, 10, 7, 199, 2),
              (calls.CONSTRAINTS, 500, 10, 7, 900, 2))
    def test_met(self, *other):
        self.assertEqual([], self._missed(*other))

    @ddt.unpack
    @ddt.data(
        (calls.PUT, 100, 200, 8, 100, 2), (calls.PUT, 500, 10, 7, 100, 3),
        (calls.CONSTRAINTS, 500, 10, 8, 100, 2))
    def test_counts_that_differ(self, *other):
        row, = self._missed(*other)
        self.assertEqual((other[0], 2), (row.name, row.found))

    @ddt.unpack
    @ddt.data((calls.PUT, 500, 10, 7, 131, 2),
              (calls.NO_HINT, 500, 10, 7, 201, 2),
              (calls.POST, 500, 10, 7, 401, 2))
    def test_rows_that_grow(self, *other):
        row, = self._missed(*other)
        self.assertEqual((other[0], other[-2] / 100), (row.name, row.found))
