# SPDX-License-Identifier: Apache-2.0

"""The best plan that is found for moving servers, and whether it is proven.

Simple ways give a plan that can be executed. A solver then says which servers
to move were there no order; mostly there is one. Where none is found, programs
with few steps are solved. Each plan is checked in whole numbers.

Rule: reference-rebalancing-exact
"""

from collections.abc import Callable

from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import relocation
from pcloud.planning.programs import relocation_order
from pcloud.planning.programs import relocation_programs
from pcloud.rules import capacity

# The numbers of steps of programs with steps.
_STEPS = 2, 3, 6


def best(
    world: relocation.World, goal: relocation.Goal,
    solver: integer_programs.Solver,
) -> relocation.Relocation:
    """Return the best plan that is found.

    A plan that does not reach its goal has no moves.
    """
    if goal.count and relocation.reaches(world, (), goal):
        return relocation.Relocation(exact=True)
    if not goal.count and not any(
            host.can_be_freed for host in world.hosts):
        return relocation.Relocation(exact=True)
    if not _can_begin(world):
        return relocation.Relocation(reached=not goal.count, exact=True)
    found = _Found(world, goal)
    found.add(_simple(world, goal))
    relaxed = relocation_programs.solve(world, goal, 0, solver)
    if relaxed.impossible:
        return relocation.Relocation(reached=False, exact=True)
    limit = None
    if relaxed.flows is not None:
        flows, = relaxed.flows
        if relaxed.proven:
            limit = relocation.score(
                world, goal, relocation_order.at_once(flows))
        found.add(relocation_order.in_steps(world, flows))
    for number in _STEPS:
        if limit is not None and found.best == limit:
            break
        _add_ordered(found, number, solver)
    return found.plan(limit)


def _can_begin(world: relocation.World) -> bool:
    """Whether any server can be moved as things are."""
    return any(
        sum(kind.there) > kind.there[target] and
        world.takes(target, place) and
        relocation.has_room(world.hosts[target].free, kind.amounts)
        for place, kind in enumerate(world.kinds)
        for target in range(len(world.hosts)))


class _Found:
    """The best of the plans that have been found."""

    def __init__(
        self, world: relocation.World, goal: relocation.Goal,
    ) -> None:
        self.world, self.goal = world, goal
        self._steps: relocation.Steps | None = None if goal.count else ()
        self.best = None if goal.count else relocation.score(world, goal, ())
        self.proven = False

    @property
    def most_steps(self) -> int:
        """No plan has more steps."""
        return min(self.goal.max_moves, self.world.movable)

    def add(self, steps: relocation.Steps | None) -> None:
        """Keep a plan that is right and better."""
        if steps is None or not relocation.is_executable(self.world, steps):
            return
        moves = [move for step in steps for move in step]
        its = relocation.score(self.world, self.goal, moves)
        if (len(moves) <= self.goal.max_moves and
                relocation.reaches(self.world, steps, self.goal) and
                (self.best is None or its > self.best)):
            self._steps, self.best = steps, its

    def plan(self, limit: relocation.Score | None) -> relocation.Relocation:
        """Return the best plan.

        :param limit: no plan is better; None while not known
        """
        exact = self.proven or limit is not None and self.best == limit
        if self._steps is None:
            return relocation.Relocation(reached=False, exact=exact)
        return relocation.Relocation(self._steps, exact=exact)


def _add_ordered(
    found: _Found, number: int, solver: integer_programs.Solver,
) -> None:
    """Look among the plans of a number of steps."""
    number = min(number, found.most_steps)
    if found.proven or not number:
        return
    answer = relocation_programs.solve(found.world, found.goal, number, solver)
    if answer.flows is not None:
        steps = tuple(filter(
            None, map(relocation_order.at_once, answer.flows)))
        found.add(steps)
        proven = answer.proven and found.best == relocation.score(
            found.world, found.goal, [move for step in steps for move in step])
    else:
        proven = answer.impossible
    found.proven = proven and number == found.most_steps


def _simple(
    world: relocation.World, goal: relocation.Goal,
) -> relocation.Steps:
    """Return a plan of one step that simple means find, if any."""
    trial = _Trial(world, goal)
    if goal.count:
        trial.make_room()
    else:
        trial.free_hosts()
    return (tuple(trial.moves),) if trial.moves else ()


class _Trial:
    """Moves of one step, each where it fits.

    :ivar _free: what is free on each host for servers that come
    :ivar _later: what is free on each host once all moves have been made
    """

    def __init__(
        self, world: relocation.World, goal: relocation.Goal,
    ) -> None:
        self._world, self._goal = world, goal
        self._free = relocation.amounts_left(world)
        self._later = relocation.amounts_left(world)
        self._left = [list(kind.there) for kind in world.kinds]
        self.moves: list[relocation.Move] = []

    def free_hosts(self) -> None:
        """Empty host after host, those with the fewest servers first."""
        hosts = [place for place, host in enumerate(self._world.hosts)
                 if host.can_be_freed]
        for host in sorted(hosts, key=self._number):
            if all(move.target != host for move in self.moves):
                self._attempt(self._empty, host)

    def _number(self, host: int) -> int:
        return sum(numbers[host] for numbers in self._left)

    def _empty(self, host: int) -> bool:
        return all(self._send(kind, host)
                   for kind in self._by_memory()[::-1]
                   for _ in range(self._left[kind][host]))

    def make_room(self) -> None:
        """Free capacity for one new server after the other."""
        hosts = [host for host in range(len(self._world.hosts))
                 if self._world.takes_new(host, self._goal.amounts)]
        for _ in range(self._goal.count):
            if not any(self._attempt(self._place_new, host)
                       for host in sorted(hosts, key=self._missing)):
                return

    def _missing(self, host: int) -> int:
        return sum(max(0, amount - self._later[host].get(name, 0))
                   for name, amount in self._goal.amounts.items())

    def _place_new(self, host: int) -> bool:
        while not relocation.has_room(
                self._later[host], self._goal.amounts):
            if not any(self._left[kind][host] and self._send(kind, host)
                       for kind in self._by_memory()):
                return False
        relocation.take(self._free[host], self._goal.amounts)
        relocation.take(self._later[host], self._goal.amounts)
        return True

    def _by_memory(self) -> list[int]:
        return sorted(range(len(self._world.kinds)),
                      key=lambda kind: self._world.kinds[kind].memory)

    def _attempt(self, work: Callable[[int], bool], host: int) -> bool:
        """Do something for a host wholly, or not at all."""
        before = (list(map(dict, self._free)), list(map(dict, self._later)),
                  list(map(list, self._left)), list(self.moves))
        if work(host) and len(self.moves) <= self._goal.max_moves:
            return True
        self._free, self._later, self._left, self.moves = before
        return False

    def _send(self, kind: int, source: int) -> bool:
        """Move a server to the fullest host that has capacity for it."""
        amounts = self._world.kinds[kind].amounts
        sources = {source, *(move.source for move in self.moves)}
        fitting = [
            (self._free[target].get(capacity.MEMORY, 0), target)
            for target in range(len(self._world.hosts))
            if target not in sources and self._world.takes(target, kind) and
            relocation.has_room(self._free[target], amounts)]
        if not fitting:
            return False
        _, target = min(fitting)
        self.moves.append(relocation.Move(kind, source, target))
        self._left[kind][source] -= 1
        relocation.take(self._free[target], amounts)
        relocation.take(self._later[target], amounts)
        relocation.take(self._later[source], amounts, -1)
        return True
