# SPDX-License-Identifier: Apache-2.0

"""The solver of plans: there or not, in time or not."""

import sys
import threading
import time
import types
from unittest import mock

import testtools

from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import solvers

# Two of three fit, and only one of the pairs.
PROGRAM = integer_programs.Program(
    (1, 1, 1), (1, 1, 1), [({0: 5, 1: 4, 2: 4}, None, 9)])
NEEDS_SOLVER = testtools.skipUnless(
    solvers.is_there(), 'highspy is not installed')


class SolverTest(testtools.TestCase):

    @NEEDS_SOLVER
    def test_solved(self):
        found = solvers.Solver()(PROGRAM)
        self.assertEqual((2, 2), (found.most, sum(found.values)))
        self.assertFalse(found.impossible)

    @NEEDS_SOLVER
    def test_impossible(self):
        self.assertTrue(solvers.Solver()(integer_programs.Program(
            (0, 0), (1, 1), [({0: 2, 1: 2}, 3, 3)])).impossible)

    @NEEDS_SOLVER
    def test_without_variables(self):
        solve = solvers.Solver()
        self.assertEqual(integer_programs.Solution([], 0), solve(
            integer_programs.Program((), (), [({}, None, 4)])))
        self.assertTrue(solve(
            integer_programs.Program((), (), [({}, 1, 1)])).impossible)

    def test_nothing_is_known_without_the_library(self):
        self._have(highspy=None)
        self.assertFalse(solvers.is_there())
        self.assertEqual(
            integer_programs.Solution(), solvers.Solver()(PROGRAM))

    def test_nothing_is_known_when_the_time_is_over(self):
        self.assertEqual(
            integer_programs.Solution(), solvers.Solver(0)(PROGRAM))
        self.assertEqual(
            integer_programs.Solution(), solvers.Solver().within(0)(PROGRAM))

    @NEEDS_SOLVER
    def test_out_of_time_bounds_hold(self):
        """A program of some seconds: what is known of it is true."""
        program = _hard()
        # Others may have the processor meanwhile.
        began = time.process_time()
        found = solvers.Solver(0.2)(program)
        self.assertThat(time.process_time() - began,
                        testtools.matchers.LessThan(1.5))
        self.assertFalse(found.impossible)
        if found.values is not None and found.most is not None:
            self.assertThat(found.most, testtools.matchers.GreaterThan(sum(
                gain * value for gain, value in zip(
                    program.gains, found.values)) - 1))

    @NEEDS_SOLVER
    def test_other_threads_go_on(self):
        seen, done = [], threading.Event()

        def count():
            while not done.is_set():
                seen.append(threading.active_count())
                time.sleep(0.001)

        other = threading.Thread(target=count)
        other.start()
        try:
            before = len(seen)
            solvers.Solver(0.5)(_hard())
            during = len(seen) - before
        finally:
            done.set()
            other.join()
        self.assertThat(during, testtools.matchers.GreaterThan(20))

    @NEEDS_SOLVER
    def test_under_eventlet_another_thread_solves(self):
        called = []

        def execute(call):
            called.append(call)
            return call()

        tpool = types.SimpleNamespace(execute=execute)
        patcher = types.SimpleNamespace(is_monkey_patched=lambda name: True)
        self._have(**{
            'eventlet': types.SimpleNamespace(tpool=tpool, patcher=patcher),
            'eventlet.tpool': tpool, 'eventlet.patcher': patcher})
        self.assertEqual(2, solvers.Solver()(PROGRAM).most)
        self.assertEqual(1, len(called))

    def _have(self, **modules):
        patched = mock.patch.dict(sys.modules, modules)
        patched.start()
        self.addCleanup(patched.stop)


def _hard():
    """Return a program that takes longer than a test should."""
    size, rows = 200, 30
    weights = [[1000 + (number * 7919 + row * 104729) % 997
                for number in range(size)] for row in range(rows)]
    return integer_programs.Program(
        tuple(weights[0]), (5,) * size,
        [(dict(enumerate(row)), None, 50001) for row in weights])
