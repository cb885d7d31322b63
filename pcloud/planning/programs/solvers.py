# SPDX-License-Identifier: Apache-2.0

"""Solve the integer programs of plans, with HiGHS where it is installed.

The extra ``planner`` installs HiGHS. Without the extra nothing is solved, and
plans have bounds.

Rule: reference-planning-exact
"""

from collections.abc import Callable
import math
import sys
import time
import typing

from pcloud.planning.programs import integer_programs

# Seconds for all programs of a call together.
LIMIT = 2.0
# Seconds for the programs that decide whether servers fit; for those
# that tell what binds and what to add, together; and for each of the latter.
DECIDING, TELLING, EACH = 0.35, 0.2, 0.06
# Seconds for the programs of a rebalance together, and for each.
MOVES, EACH_OF_MOVES = 0.65, 0.35
# A solver computes with rounded numbers: a bound is proven up to this share.
_ROUNDING = 1e-6


class Solver:
    """A solver with a time limit for all its programs together."""

    def __init__(self, seconds: float = LIMIT) -> None:
        """Start the clock, with so many seconds for all programs."""
        self._until = time.monotonic() + seconds

    def __call__(
        self, program: integer_programs.Program,
    ) -> integer_programs.Solution:
        """Return what is known of a program when the time is over."""
        return self.within(math.inf)(program)

    def within(self, seconds: float) -> integer_programs.Solver:
        """Return the solver, with so many seconds at most for each program.

        A program that asks for a part of the time gets that part.
        """
        def solve(
            program: integer_programs.Program,
        ) -> integer_programs.Solution:
            highspy = _library()
            left = program.share * min(
                seconds, self._until - time.monotonic())
            if highspy is None or left <= 0:
                return integer_programs.Solution()
            return _off_the_loop(lambda: _solve(highspy, program, left))

        return solve


def is_there() -> bool:
    """Whether programs can be solved."""
    return _library() is not None


def _library() -> typing.Any:
    # The import takes a quarter of a second, and most processes never need
    # the library.
    try:
        import highspy
    except ImportError:
        return None
    return highspy


def _off_the_loop(
    call: Callable[[], integer_programs.Solution],
) -> integer_programs.Solution:
    """Call while other requests of the process go on.

    HiGHS lets other threads run. Under eventlet all requests share a thread,
    so the call is made in another.
    """
    patcher = sys.modules.get('eventlet.patcher')
    if patcher is None or not patcher.is_monkey_patched('thread'):
        return call()
    from eventlet import tpool
    return tpool.execute(call)


def _solve(
    highspy: typing.Any, program: integer_programs.Program, seconds: float,
) -> integer_programs.Solution:
    # The class above tells standard output its version.
    solver = highspy.Highs.__base__()
    for name, value in (
            ('output_flag', False), ('threads', 1), ('time_limit', seconds),
            # The sums of gains are whole numbers, and none is near enough.
            ('mip_rel_gap', 0.0), ('mip_abs_gap', 0.0)):
        solver.setOptionValue(name, value)
    if not program.limits:
        return _empty(program)
    _pass(highspy, solver, program)
    solver.run()
    status, known = solver.getModelStatus(), highspy.HighsModelStatus
    if status == known.kInfeasible:
        return integer_programs.Solution(impossible=True)
    if status not in (known.kOptimal, known.kTimeLimit):
        return integer_programs.Solution()
    info = solver.getInfo()
    bound = info.mip_dual_bound
    return integer_programs.Solution(
        [round(value) for value in solver.getSolution().col_value]
        if info.primal_solution_status == highspy.SolutionStatus
        .kSolutionStatusFeasible else None,
        math.floor(bound + _ROUNDING * max(1.0, abs(bound)))
        if math.isfinite(bound) else None)


def _empty(program: integer_programs.Program) -> integer_programs.Solution:
    """Return the solution of a program without variables."""
    if any((least or 0) > 0 or most < 0 for _, least, most in program.rows):
        return integer_programs.Solution(impossible=True)
    return integer_programs.Solution([], 0)


def _pass(
    highspy: typing.Any, solver: typing.Any, program: integer_programs.Program,
) -> None:
    infinite = highspy.kHighsInf
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(program.limits), len(program.rows)
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = [float(gain) for gain in program.gains]
    model.col_lower_ = [0.0] * len(program.limits)
    model.col_upper_ = [float(limit) for limit in program.limits]
    model.integrality_ = [highspy.HighsVarType.kInteger] * len(program.limits)
    model.row_lower_ = [-infinite if least is None else float(least)
                        for _, least, _ in program.rows]
    model.row_upper_ = [float(most) for *_, most in program.rows]
    starts, numbers, weights = [0], [], []
    for row, *_ in program.rows:
        numbers += list(row)
        weights += [float(weight) for weight in row.values()]
        starts.append(len(numbers))
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_, matrix.index_, matrix.value_ = starts, numbers, weights
    solver.passModel(model)
