# SPDX-License-Identifier: Apache-2.0

import os
import re
import signal
import unittest
from unittest import mock

from pcloud.tests.worlds import copies
from pcloud.tests.worlds import graph


class ToyWorld:
    """A world of programs, whose actions change a few variables.

    :param steps: name of an action -> function that changes variables
    :param programs: actor -> the actor's actions in sequence
    """

    def __init__(self, steps, programs):
        self._steps, self._programs = steps, programs
        self._values = {}
        self._at = dict.fromkeys(programs, 0)
        self._latest = None

    def look(self):
        return f'{sorted(self._values.items())} {self._at}', [
            name for name, actions in self._programs.items()
            if self._at[name] < len(actions)]

    def check(self):
        if self._values.get('sum', 0) > 20:
            raise AssertionError('too much')

    def end(self):
        if self._values['sum'] == 13:
            raise AssertionError('thirteen')

    def take(self, choice):
        action = self._programs[choice][self._at[choice]]
        is_done = self._steps[action](self._values, choice) is not False
        self._latest = *map(frozenset, TOUCHED[action]), frozenset(
            [] if is_done else [graph.Repetition(choice, action, 9)])
        self._at[choice] += is_done

    def footprint(self):
        return graph.Footprint(*self._latest)


def _explore(programs):
    found = graph.Graph()
    graph.explore(ToyWorld(STEPS, programs), found)
    sums = {int(re.search(r"'sum', (\d+)", each)[1]) for each in found.ends}
    return found, sums


def _read(values, name):
    values[name] = values.get('sum', 0)


def _write(values, name):
    values['sum'] = values[name] + 1


def _add(values, name):
    values['sum'] = values.get('sum', 0) + 1


def _wait(values, name):
    pass


def _try(values, name):
    """Write unless the sum is not what was read, and read in that case."""
    if values[name] != values.get('sum', 0):
        values[name] = values['sum']
        return False
    values['sum'] = values[name] + 1


STEPS = {'read': _read, 'write': _write, 'add': _add, 'wait': _wait,
         'try': _try}
# What an action reads and writes, beside what is the actor's own.
TOUCHED = {'read': (['sum'], []), 'write': ([], ['sum']),
           'add': (['sum'], ['sum']), 'wait': ([], []),
           'try': (['sum'], ['sum'])}


class GraphTest(unittest.TestCase):

    def test_an_update_that_gets_lost_is_found(self):
        found, sums = _explore({name: ['read', 'write'] for name in 'ab'})
        self.assertEqual({1, 2}, sums)
        self.assertEqual(6, found.interleavings())

    def test_what_commutes_is_one_state(self):
        found, sums = _explore({name: ['add'] * 10 for name in 'ab'})
        self.assertEqual({20}, sums)
        self.assertEqual((184756, 121, 220), (
            found.interleavings(), found.states, found.turns))

    def test_three(self):
        found, sums = _explore({name: ['read', 'write'] for name in 'abc'})
        self.assertEqual({1, 2, 3}, sums)
        self.assertEqual(90, found.interleavings())

    def test_what_is_known_is_not_taken(self):
        programs = {name: ['wait', 'read', 'wait', 'write', 'wait']
                    for name in 'ab'}
        found, sums = _explore(programs)
        with mock.patch.object(graph.Graph, 'infer'):
            whole, sums_of_all = _explore(programs)
        self.assertEqual(sums_of_all, sums)
        self.assertEqual(
            (whole.interleavings(), whole.states, whole.turns, whole.turns),
            (found.interleavings(), found.states, found.turns, whole.taken))
        self.assertLess(found.taken, found.turns * 0.7)

    def test_repetitions_are_counted_on_each_way(self):
        """An attempt is repeated when somebody has written meanwhile."""
        found, sums = _explore({name: ['read', 'try'] for name in 'abc'})
        self.assertEqual({3}, sums)
        self.assertEqual(
            {graph.Repetition(name, 'try', 9): 2 for name in 'abc'},
            found.repetitions())

    def test_a_cycle_is_found(self):
        found = graph.Graph()
        for state in 'ab':
            found.meet(state)
        step = graph.Footprint(frozenset(), frozenset())
        found.went('a', 'one', graph.Turn('b', step))
        found.went('b', 'one', graph.Turn('a', step))
        for count in (found.interleavings, found.repetitions):
            self.assertRaises(graph.Cycle, count)

    def test_a_state_that_must_not_be_is_found(self):
        with self.assertRaisesRegex(Exception, 'too much'):
            _explore({name: ['add'] * 7 for name in 'abc'})

    def test_an_end_that_must_not_be_is_found(self):
        with self.assertRaisesRegex(Exception, 'thirteen'):
            _explore({'a': ['add'] * 7, 'b': ['add'] * 6})


class CopiesTest(unittest.TestCase):

    def test_a_copy_changes_nothing_here(self):
        here = []

        def work():
            here.append('there')
            return here

        self.assertEqual(['there'], copies.run(work))
        self.assertEqual([], here)

    def test_a_failure_in_a_copy_is_raised_here(self):
        def work():
            raise ValueError('odd')

        with self.assertRaisesRegex(copies.CopyFailed, 'ValueError: odd'):
            copies.run(work)

    def test_a_copy_that_dies_is_not_taken_for_an_answer(self):
        with self.assertRaisesRegex(copies.CopyFailed, 'without a result'):
            copies.run(lambda: os.kill(os.getpid(), signal.SIGKILL))
