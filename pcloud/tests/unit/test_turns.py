# SPDX-License-Identifier: Apache-2.0

"""The turns of the benchmarks are taken and judged as described."""

import itertools
import pickle

import testtools

from pcloud.tests.benchmarks import results
from pcloud.tests.benchmarks import turns


class TurnsTest(testtools.TestCase):

    def _taken(self, ours, theirs, most):
        """Take three turns of works that last as long as listed.

        The first time of each list is that of the turn that does not count;
        the last time repeats.
        """
        def work(times):
            left = itertools.chain(times, itertools.repeat(times[-1]))
            return lambda: next(left)

        taken = turns.Turns('work', {'theirs': work(theirs),
                                     'ours': work(ours)})
        taken.take(3, [turns.Bound('ours', 'theirs', most, 'because')])
        return taken

    def test_the_first_turn_does_not_count(self):
        taken = self._taken([0.1, 2], [9, 2], 1)
        self.assertEqual({'theirs': [2] * 3, 'ours': [2] * 3}, taken.seconds)
        self.assertEqual([], taken.missed())

    def test_bad_luck_is_tried_again(self):
        taken = self._taken([1, 3, 3, 3, 3, 1], [1], 1.03)
        self.assertEqual([3, 3, 3, 3, 1], taken.seconds['ours'])
        self.assertEqual([], taken.missed())

    def test_what_is_slow_is_missed_after_all_turns(self):
        taken = self._taken([1.1], [1], 1.03)
        self.assertEqual(12, len(taken.seconds['ours']))
        self.assertEqual([turns.Bound('ours', 'theirs', 1.03, 'because')],
                         taken.missed())

    def test_rows(self):
        taken = self._taken([9, 1.1, 1.3, 1.2, 1.2], [1], 1.03)
        *shown, judged = taken.rows('table')
        self.assertEqual(
            [('ms theirs, least', 1000), ('ms theirs, median', 1000),
             ('ms ours, least', 1100), ('ms ours, median', 1200)],
            [(row.unit, row.found) for row in shown])
        self.assertEqual(
            results.Row('table', 'work, ours', 'times theirs', 1.1, 1.03,
                        why='because'), judged)
        self.assertEqual(results.Verdict.MISSED, judged.verdict)

    def test_turns_come_from_another_process(self):
        taken = self._taken([1.1], [1], 1.03)
        there = pickle.loads(pickle.dumps(taken))
        self.assertEqual(taken.missed(), there.missed())
        self.assertEqual(1, len(there.missed()))
