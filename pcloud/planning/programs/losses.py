# SPDX-License-Identifier: Apache-2.0

"""Whether the servers of lost hosts fit on other hosts.

Nothing else is moved. Each loss is by itself: the hosts of the other losses
are there.

Rule: reference-planning-rehearsal
"""

from collections.abc import Sequence
import dataclasses

from pcloud.planning.programs import fitting
from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import packing
from pcloud.planning.programs import shortages

# How many losses without capacity for all servers are looked at again.
_AGAIN = 10


@dataclasses.dataclass(frozen=True)
class Loss:
    """Hosts that are lost together.

    :ivar counts: for each kind how many of its servers are lost
    :ivar hosts: the places of the lost hosts, in the sequence of the hosts
        that take servers
    """

    counts: Sequence[int]
    hosts: frozenset[int] = frozenset()


@dataclasses.dataclass(frozen=True)
class Case:
    """Servers, and the hosts that may take them.

    :ivar made: what is known of the servers on the hosts
    """

    kinds: Sequence[fitting.ServerKind]
    hosts: Sequence[fitting.TargetHost]
    made: packing.Packing

    @property
    def asked(self) -> int:
        """The number of servers."""
        return fitting.asked(self.kinds)

    @property
    def survives(self) -> bool | None:
        """Whether all servers fit; None while nothing is proven."""
        if self.made.least == self.asked:
            return True
        return None if self.made.most == self.asked else False

    @property
    def left(self) -> tuple[int, int]:
        """How many servers do not fit, at least and at most."""
        return self.asked - self.made.most, self.asked - self.made.least


def cases(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    losses: Sequence[Loss], solve: integer_programs.Solver,
) -> list[Case]:
    """Return for each loss how many of the servers fit.

    The solver is asked only about losses that nothing simpler decides, and
    then about the losses with most servers that do not fit. Such programs
    share the time of the solver.

    :param kinds: of all servers; their counts do not matter
    """
    made = [_simple(kinds, hosts, loss) for loss in losses]
    open_ = [place for place, case in enumerate(made)
             if case.survives is None]
    for number, place in enumerate(open_):
        case = made[place]
        made[place] = dataclasses.replace(case, made=packing.plan(
            case.kinds, case.hosts, _part(solve, len(open_) - number)))
    worst = sorted((place for place, case in enumerate(made)
                    if case.left[0] < case.left[1]),
                   key=lambda place: made[place].left, reverse=True)[:_AGAIN]
    for number, place in enumerate(worst):
        case = made[place]
        made[place] = dataclasses.replace(case, made=packing.fuller(
            case.kinds, case.hosts, case.made,
            _part(solve, len(worst) - number)))
    return made


def _part(
    solve: integer_programs.Solver, number: int,
) -> integer_programs.Solver:
    """Return a solver that leaves time for more programs.

    :param number: how many programs share the time that is left
    """
    return lambda program: solve(dataclasses.replace(
        program, share=program.share / number))


def _simple(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    loss: Loss,
) -> Case:
    lost = [dataclasses.replace(kind, count=number)
            for kind, number in zip(kinds, loss.counts)]
    others = [host for place, host in enumerate(hosts)
              if place not in loss.hosts]
    return Case(lost, others, packing.simple_plan(lost, others))


def more_hosts(
    worst_first: Sequence[Case], new: fitting.TargetHost,
    solve: integer_programs.Solver,
) -> shortages.Enough:
    """Return how many more equal hosts would be enough in each case.

    :param worst_first: the cases, best the case that needs most hosts first
    :param new: one of the hosts that may come
    """
    number, proven = 0, True
    for place, case in enumerate(worst_first):
        if _is_enough(case, new, number):
            continue
        enough = shortages.of_hosts(case.kinds, case.hosts, new, _part(
            solve, len(worst_first) - place))
        if enough.number is None:
            return enough
        # Of the cases that need most it is enough that one proves it.
        if enough.number >= number:
            proven = enough.proven or (proven and enough.number == number)
            number = enough.number
    return shortages.Enough(number, proven)


def _is_enough(case: Case, new: fitting.TargetHost, number: int) -> bool:
    """Whether so many new hosts take all that has no capacity, surely."""
    opened = shortages.opened(
        case.kinds, fitting.left_of(case.kinds, case.made.counts), new)
    return opened is not None and opened <= number
