# SPDX-License-Identifier: Apache-2.0

"""The benchmark of growth judges as described."""

import ddt
import testtools

from pcloud.tests.benchmarks import growth


@ddt.ddt
class MissedTest(testtools.TestCase):

    def _missed(self, name, *others):
        """Judge a small cloud, and others: (hosts, size, measured)."""
        found = {100: {(each, 10): growth.Measured(7, 100, 2)
                       for each in growth.OF_CLOUD}}
        for hosts, size, measured in others:
            found.setdefault(hosts, {})[name, size] = growth.Measured(
                *measured)
        return list(growth.missed(found))

    @ddt.data((100, 200, (7, 900, 2)), (500, 10, (7, 129, 2)))
    def test_met(self, other):
        self.assertEqual([], self._missed('put', other))

    @ddt.unpack
    @ddt.data(
        ('put', (100, 200, (8, 100, 2)), 'statements and calls (8, 2)'),
        ('put', (500, 10, (7, 100, 3)), 'statements and calls (7, 3)'),
        ('put', (500, 10, (7, 131, 2)), '131 rows instead of 100'),
        ('without_hint', (500, 10, (7, 201, 2)), '201 rows instead of 100'))
    def test_missed(self, name, other, told):
        wrong, = self._missed(name, other)
        self.assertIn(told, wrong)

    def test_index_that_grows(self):
        self.assertEqual([], self._missed(
            'without_hint', (500, 10, (7, 199, 2))))
