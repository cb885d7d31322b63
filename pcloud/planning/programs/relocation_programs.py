# SPDX-License-Identifier: Apache-2.0

"""Integer programs for plans that move servers.

The variables are numbers of servers of a kind that leave a host or come to a
host, in each step; whether a host becomes empty; and the new servers on a
host. A program without steps leaves out whether there is an order: no plan is
better than the program's solution. A program with steps has all plans of so
many steps.

Rule: reference-rebalancing-exact
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import itertools
from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import relocation
from pcloud.planning.programs import relocation_order

_OUT, _INTO, _EMPTY, _NEW = 'out', 'into', 'empty', 'new'
_Name = tuple


@dataclasses.dataclass(frozen=True)
class BestKnown:
    """What is known of the best plan of a program.

    :ivar flows: the servers to move, for each step; None while no values are
        known
    :ivar proven: whether no values are better
    :ivar impossible: whether it is proven that there are no values
    """

    flows: Sequence[relocation_order.Flows] | None = None
    proven: bool = False
    impossible: bool = False


def solve(
    world: relocation.World, goal: relocation.Goal, steps: int,
    solver: integer_programs.Solver,
) -> BestKnown:
    """Return the best plan of a number of steps, as far as a solver gets.

    :param steps: the number of steps; 0 for a program without steps
    """
    made = _Program(world, goal, steps)
    rows, best, proven = list(made.rows()), None, True
    for gains in made.gains():
        found = solver(integer_programs.Program(gains, made.limits, rows))
        if found.impossible and best is None:
            return BestKnown(impossible=True)
        if found.values is None:
            proven = False
            break
        best = found.values
        value = sum(map(int.__mul__, gains, best))
        proven = proven and found.most == value
        rows.append((
            {place: gain for place, gain in enumerate(gains) if gain},
            value, _most(gains, made.limits)))
    return BestKnown(None if best is None else made.flows(best),
                     proven and best is not None)


def _most(gains: Sequence[int], limits: Sequence[int]) -> int:
    return sum(gain * limit for gain, limit in zip(gains, limits) if gain > 0)


class _Program:
    """The variables and rows for a goal."""

    def __init__(
        self, world: relocation.World, goal: relocation.Goal, steps: int,
    ) -> None:
        self._world, self._goal = world, goal
        self._ordered = steps > 0
        self._steps = range(max(steps, 1))
        self._hosts = range(len(world.hosts))
        self._kinds = range(len(world.kinds))
        limits = dict(self._variables())
        self._number = {name: number for number, name in enumerate(limits)}
        self.limits = tuple(limits.values())
        # Row after row would look for its variables among all.
        self._by_host: dict[int, list[tuple]] = {
            host: [] for host in self._hosts}
        for name in limits:
            self._by_host[name[1]].append(name)

    def _variables(self) -> Iterator[tuple[_Name, int]]:
        """Yield names and limits: what, host, kind, step."""
        for host, kind in itertools.product(self._hosts, self._kinds):
            number = self._world.kinds[kind].there[host]
            others = sum(self._world.kinds[kind].there) - number
            for step in self._steps:
                if number:
                    yield (_OUT, host, kind, step), number
                if others and self._world.takes(host, kind):
                    yield (_INTO, host, kind, step), others
        for host, its in enumerate(self._world.hosts):
            if self._goal.count and self._world.takes_new(
                    host, self._goal.amounts):
                yield (_NEW, host, -1, 0), self._goal.count
            if not self._goal.count and its.can_be_freed:
                yield (_EMPTY, host, -1, 0), 1

    def rows(self) -> Iterator[integer_programs.Row]:
        """Yield all sums that have limits."""
        yield from self._flow_rows()
        yield from self._room_rows()
        yield from self._empty_rows()
        out = self._names(_OUT)
        if self._goal.max_moves < sum(
                self.limits[self._number[name]] for name in out):
            yield self._row(dict.fromkeys(out, 1), self._goal.max_moves)
        if self._goal.count:
            yield self._row(dict.fromkeys(self._names(_NEW), 1),
                            self._goal.count, self._goal.count)

    def _names(self, what: str) -> list[_Name]:
        return [name for name in self._number if name[0] == what]

    def _row(
        self, weights: Mapping[_Name, int], most: int,
        least: int | None = None,
    ) -> integer_programs.Row:
        return {self._number[name]: weight
                for name, weight in weights.items()}, least, most

    def _flow_rows(self) -> Iterator[integer_programs.Row]:
        """Yield that who leaves in a step comes in the same step, once."""
        sums: dict[tuple[int, int], dict[_Name, int]] = {}
        leaving: dict[tuple[int, int], dict[_Name, int]] = {}
        for name in self._number:
            what, host, kind, step = name
            if what in (_OUT, _INTO):
                sums.setdefault((kind, step), {})[name] = (
                    1 if what == _OUT else -1)
            if what == _OUT:
                leaving.setdefault((host, kind), {})[name] = 1
        for weights in sums.values():
            yield self._row(weights, 0, 0)
        if len(self._steps) > 1:
            for (host, kind), weights in leaving.items():
                yield self._row(weights, self._world.kinds[kind].there[host])

    def _room_rows(self) -> Iterator[integer_programs.Row]:
        """Yield that hosts have capacity, at the end and in each step."""
        for host in self._hosts:
            named = self._by_host[host]
            if not any(name[0] in (_INTO, _NEW) for name in named):
                continue
            yield from self._host_rows(host, named)
            if self._ordered:
                for step in self._steps:
                    yield from self._host_rows(host, [
                        name for name in named
                        if name[0] == _INTO and name[3] <= step or
                        name[0] == _OUT and name[3] < step])

    def _host_rows(
        self, host: int, named: Sequence[_Name],
    ) -> Iterator[integer_programs.Row]:
        weights: dict[str, dict[_Name, int]] = {}
        for name in named:
            amounts = (self._goal.amounts if name[0] == _NEW else
                       self._world.kinds[name[2]].amounts
                       if name[0] != _EMPTY else {})
            for class_, amount in amounts.items():
                weights.setdefault(class_, {})[name] = (
                    -amount if name[0] == _OUT else amount)
        for class_, its in weights.items():
            if any(weight > 0 for weight in its.values()):
                yield self._row(
                    its, self._world.hosts[host].free.get(class_, 0))

    def _empty_rows(self) -> Iterator[integer_programs.Row]:
        """Yield that all leave a host that becomes empty, and none comes."""
        for empty in self._names(_EMPTY):
            host = empty[1]
            out, into = ([name for name in self._by_host[host]
                          if name[0] == what] for what in (_OUT, _INTO))
            number = sum(kind.there[host] for kind in self._world.kinds)
            yield self._row({**dict.fromkeys(out, 1), empty: -number},
                            number * len(self._steps), 0)
            if into:
                most = sum(self.limits[self._number[name]] for name in into)
                yield self._row({**dict.fromkeys(into, 1), empty: most}, most)

    def gains(self) -> Iterator[list[int]]:
        """Yield what is to be large, the most important first."""
        empty = self._names(_EMPTY)
        if empty:
            yield self._gains(dict.fromkeys(empty, 1))
        out = self._names(_OUT)
        yield self._gains(dict.fromkeys(out, -1))
        yield self._gains({
            name: -self._world.kinds[name[2]].memory for name in out})

    def _gains(self, weights: Mapping[_Name, int]) -> list[int]:
        return [weights.get(name, 0) for name in self._number]

    def flows(self, values: Sequence[int]) -> list[relocation_order.Flows]:
        """Return the flows in values, step after step."""
        return [relocation_order.net(*(
            [[self._value(values, (what, host, kind, step))
              for host in self._hosts] for kind in self._kinds]
            for what in (_OUT, _INTO))) for step in self._steps]

    def _value(self, values: Sequence[int], name: _Name) -> int:
        return values[self._number[name]] if name in self._number else 0
