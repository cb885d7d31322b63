# SPDX-License-Identifier: Apache-2.0

"""Where servers of several sizes fit together, and where they do not.

All amounts are whole numbers. A placement that is found is a proof that the
servers fit. That servers do not fit is proven by a bound: a volume, or an
integer program, which a solver solves. Without a solver, or out of time, the
bounds are further apart, and nothing is claimed.

Rule: reference-planning-exact
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import math

from pcloud.planning.programs import filling
from pcloud.planning.programs import fitting
from pcloud.planning.programs import integer_programs

# Hosts that are filled anew together, and how many times that is tried, while
# no larger part than one of so many servers has no capacity.
_FEW, _REPAIRS, _LITTLE = 10, 6, 50
# Which part of the time that is left a few hosts may take, and the first
# program about all hosts.
_SOME, _FIRST = 0.1, 0.7


@dataclasses.dataclass(frozen=True)
class Packing:
    """How many servers fit.

    :ivar counts: a placement of `least` servers
    :ivar least: so many servers fit
    :ivar most: more servers do not fit
    """

    counts: fitting.Counts
    least: int
    most: int


def plan(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    solve: integer_programs.Solver,
) -> Packing:
    """Return whether all servers fit, and where; else bounds.

    The solver is asked only where simple ways of placing the servers leave
    some out, and no volume proves that there is no capacity for all: first
    about few hosts at a time, then about all hosts. Two programs say the same,
    for each is sometimes much faster than the other.
    """
    made, number = simple_plan(kinds, hosts), fitting.asked(kinds)
    if made.least < number:
        made = _at_least(made, max(
            made.counts, *filling.matched(kinds, hosts), key=fitting.placed))
    if made.least < number == made.most:
        made = _at_least(made, repaired(kinds, hosts, made.counts, solve))
    if made.least < number == made.most:
        made = fuller(kinds, hosts, made, solve, _FIRST)
    if made.least < number == made.most:
        variables = Variables.of(kinds, hosts)
        found = solve(variables.program(0, variables.all_rows()))
        every = variables.counts(found.values)
        if every is not None and fitting.placed(every) == number:
            return Packing(every, number, number)
        return dataclasses.replace(made, most=number - (
            found.impossible and fitting.is_known(hosts)))
    return made


def simple_plan(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
) -> Packing:
    """Return what is known when hosts are filled in simple ways alone."""
    counts = max(filling.tries(kinds, hosts), key=fitting.placed)
    number = fitting.asked(kinds)
    least = fitting.placed(counts)
    return Packing(counts, least, number if least == number else
                   fitting.volume(kinds, fitting.bounding(hosts)))


def _at_least(made: Packing, counts: fitting.Counts) -> Packing:
    """Return a plan with a placement of as many servers, or of more."""
    return dataclasses.replace(
        made, counts=counts, least=fitting.placed(counts))


def fits(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    solve: integer_programs.Solver,
) -> bool | None:
    """Whether all servers fit together; None while nothing is proven."""
    made, number = plan(kinds, hosts, solve), fitting.asked(kinds)
    return None if made.least < number == made.most else made.least == number


def fuller(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    made: Packing, solve: integer_programs.Solver,
    share: float = 1.0,
) -> Packing:
    """Return a plan with closer bounds: as many servers as fit.

    :param made: the plan there is
    :param share: which part of the time that is left the program may take
    """
    if made.least == made.most:
        return made
    variables = Variables.of(kinds, hosts)
    found = solve(variables.program(1, variables.kind_rows(), share))
    counts = variables.counts(found.values)
    if counts is None or fitting.placed(counts) < made.least:
        counts = made.counts
    least = fitting.placed(counts)
    most = found.most if fitting.is_known(hosts) else None
    return Packing(counts, least, max(least, made.most if most is None
                                      else min(made.most, most)))


def repaired(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    counts: fitting.Counts,
    solve: integer_programs.Solver,
) -> fitting.Counts:
    """Return a placement with more servers, or with as many.

    A few hosts at a time are filled anew, as well as they can be. Where only
    some servers do not fit, that is much faster than to fill all hosts.

    :param counts: the placement there is
    """
    found = list(counts)
    for number in range(_REPAIRS):
        left = fitting.left_of(kinds, found)
        if not any(left) or sum(left) * _LITTLE > fitting.asked(kinds):
            break
        turns = _few(kinds, hosts, found, left, number)
        some = [dataclasses.replace(kind, count=its + sum(
            found[turn][place] for turn in turns))
            for place, (kind, its) in enumerate(zip(kinds, left))]
        part = tuple(found[turn] for turn in turns)
        made = fuller(some, [hosts[turn] for turn in turns], Packing(
            part, fitting.placed(part), fitting.asked(some)), solve, _SOME)
        for turn, numbers in zip(turns, made.counts):
            found[turn] = numbers
    return tuple(found)


def _few(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    counts: Sequence[tuple],
    left: Sequence[int], number: int,
) -> list[int]:
    """Return which hosts are to be filled anew.

    Some hosts have most left, and others take turns.

    :param left: how many servers of each kind have no capacity
    :param number: how many times hosts were filled anew
    """
    totals = filling.free_totals(kinds, hosts)
    useful = [turn for turn, host in enumerate(hosts) if any(
        its and fitting.room(kind, place, host)
        for place, (kind, its) in enumerate(zip(kinds, left)))]
    useful.sort(key=lambda turn: sum(
        (hosts[turn].free.get(name, 0) -
         fitting.amount(kinds, counts[turn], name)) / total
        for name, total in totals.items()), reverse=True)
    first, others = useful[:_FEW // 2], useful[_FEW // 2:]
    start = number * (_FEW - _FEW // 2) % max(len(others), 1)
    return first + [*others[start:], *others[:start]][:_FEW - _FEW // 2]


@dataclasses.dataclass(frozen=True)
class _Chosen:
    """Variables, by their limits, that choose a pattern for each host."""

    limits: Sequence[int]
    rows: Sequence[integer_programs.Row]


@dataclasses.dataclass(frozen=True)
class Variables:
    """The variables of a program: the servers of a kind on a host.

    :ivar places: the host and the kind of each variable, as places in their
        sequences; a host without capacity for a kind has no variable
    :ivar limits: for how many servers the host alone has capacity
    """

    kinds: Sequence[fitting.ServerKind]
    hosts: Sequence[fitting.TargetHost]
    places: tuple[tuple[int, int], ...]
    limits: tuple[int, ...]

    @classmethod
    def of(cls, kinds: Sequence[fitting.ServerKind],
           hosts: Sequence[fitting.TargetHost]) -> 'Variables':
        """Return the variables for kinds and hosts."""
        found = {(turn, place): limit for turn, host in enumerate(hosts)
                 for place, kind in enumerate(kinds)
                 if (limit := fitting.room(kind, place, host))}
        return cls(kinds, hosts, tuple(found), tuple(found.values()))

    def host_rows(self, *without: str) -> Iterator[integer_programs.Row]:
        """Yield that no host takes more than is free.

        :param without: resource classes to be left out
        """
        for turn, numbers in self.by_host().items():
            for name in fitting.classes(self.kinds):
                if name not in without:
                    yield from self._row(
                        self.weights(numbers, name),
                        max(self.hosts[turn].free.get(name, 0), 0))

    def program(
        self, gain: int, rows: Iterable[integer_programs.Row],
        share: float = 1.0,
    ) -> integer_programs.Program:
        """Return a program about all servers on all hosts.

        :param gain: what each server that is placed is worth
        :param rows: further sums that have limits
        :param share: which part of the time that is left the program may take
        """
        chosen = self._pattern_rows()
        return integer_programs.Program(
            (gain,) * len(self.places) + (0,) * len(chosen.limits),
            (*self.limits, *chosen.limits),
            [*self.host_rows(), *chosen.rows, *rows], share)

    def _pattern_rows(self) -> '_Chosen':
        """Return that each host takes one pattern, or less.

        There is a variable for each pattern, after all others. Where a host
        has one pattern, the limits of the variables say the same.
        """
        limits: list[int] = []
        rows: list[integer_programs.Row] = []
        for turn, numbers in self.by_host().items():
            its = self.hosts[turn].patterns
            if its is None or len(its.most) == 1:
                continue
            first = len(self.places) + len(limits)
            chosen = range(first, first + len(its.most))
            limits += [1] * len(its.most)
            rows.append((dict.fromkeys(chosen, 1), None, 1))
            for number in numbers:
                place = self.places[number][1]
                if place in its.places:
                    index = its.places.index(place)
                    rows.append(({number: 1, **{
                        variable: -pattern[index] for variable, pattern
                        in zip(chosen, its.most) if pattern[index]}}, None, 0))
        return _Chosen(limits, rows)

    def by_host(self) -> dict[int, list[int]]:
        """Return the variables of each host, by the place of the host."""
        return self._grouped(0)

    def weights(self, numbers: Iterable[int], name: str) -> dict[int, int]:
        """Return how much of a class one more of some variables needs."""
        each = {number: self.kinds[self.places[number][1]].amounts.get(name, 0)
                for number in numbers}
        return {number: amount for number, amount in each.items() if amount}

    def _row(self, weights: Mapping[int, int],
             limit: int) -> Iterator[integer_programs.Row]:
        """Yield a row, unless the limits of the variables say the same."""
        if sum(weight * self.limits[number]
               for number, weight in weights.items()) > limit:
            # Small numbers keep the solver from rounding.
            unit = math.gcd(*weights.values())
            yield ({number: weight // unit
                    for number, weight in weights.items()},
                   None, limit // unit)

    def kind_rows(self) -> Iterator[integer_programs.Row]:
        """Yield that no more servers are placed than there are."""
        for place, numbers in self._grouped(1).items():
            yield from self._row(
                dict.fromkeys(numbers, 1), self.kinds[place].count)

    def all_rows(self) -> Iterator[integer_programs.Row]:
        """Yield that all servers are placed.

        More servers than there are do no harm, and solvers are faster so.
        """
        by_kind = self._grouped(1)
        for place, kind in enumerate(self.kinds):
            numbers = by_kind.get(place, ())
            yield (dict.fromkeys(numbers, 1), kind.count,
                   sum(self.limits[number] for number in numbers))

    def _grouped(self, side: int) -> dict[int, list[int]]:
        grouped: dict[int, list[int]] = {}
        for number, pair in enumerate(self.places):
            grouped.setdefault(pair[side], []).append(number)
        return grouped

    def counts(self, values: Sequence[int] | None) -> fitting.Counts | None:
        """Return the placement in values, None unless the placement is right.

        A solver computes with rounded numbers, so its word is not enough.
        """
        if values is None:
            return None
        counts = [[0] * len(self.kinds) for _ in self.hosts]
        left = [kind.count for kind in self.kinds]
        for (turn, place), value in zip(self.places, values):
            counts[turn][place] = min(value, left[place])
            left[place] -= counts[turn][place]
        found = tuple(map(tuple, counts))
        return (found if fitting.is_placement(self.kinds, self.hosts, found)
                else None)
