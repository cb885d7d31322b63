# SPDX-License-Identifier: Apache-2.0

"""In which order servers are moved, so that each fits when it is moved.

Rule: reference-rebalancing-plan
"""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from pcloud.planning.programs import relocation

# How many servers of each kind leave a host, or come: [kind][host].
Numbers = Sequence[Sequence[int]]


@dataclasses.dataclass(frozen=True)
class Flows:
    """Servers that leave hosts, and servers that come to hosts.

    As many servers of a kind leave as come. No host both gives and takes
    servers of a kind.
    """

    out: Numbers
    into: Numbers


def net(out: Numbers, into: Numbers) -> Flows:
    """Return flows without servers that would leave and come back."""
    both = [[min(pair) for pair in zip(*each)] for each in zip(out, into)]
    return Flows(_less(out, both), _less(into, both))


def _less(numbers: Numbers, others: Numbers) -> Numbers:
    return [[number - other for number, other in zip(*each)]
            for each in zip(numbers, others)]


def at_once(flows: Flows) -> tuple[relocation.Move, ...]:
    """Return moves that make up flows, without an order."""
    return tuple(
        relocation.Move(kind, source, target)
        for kind, (out, into) in enumerate(zip(flows.out, flows.into))
        for source, target in zip(_listed(out), _listed(into)))


def _listed(numbers: Sequence[int]) -> list[int]:
    return [place for place, number in enumerate(numbers)
            for _ in range(number)]


def in_steps(
    world: relocation.World, flows: Flows,
) -> relocation.Steps | None:
    """Return steps that make up flows, None where no order is found.

    There may be an order all the same.
    """
    way = _Way(world, flows)
    order = []
    while way.left:
        move = way.next()
        if move is None:
            return None
        way.go(move)
        order.append(move)
    return grouped(world, order)


def grouped(
    world: relocation.World, order: Sequence[relocation.Move],
) -> relocation.Steps:
    """Return moves that fit one after the other, as few steps."""
    free = relocation.amounts_left(world)
    steps: list[list[relocation.Move]] = []
    for move in order:
        amounts = world.kinds[move.kind].amounts
        if not steps or not relocation.has_room(free[move.target], amounts):
            for done in steps[-1] if steps else ():
                relocation.take(
                    free[done.source], world.kinds[done.kind].amounts, -1)
            steps.append([])
        steps[-1].append(move)
        relocation.take(free[move.target], amounts)
    return tuple(map(tuple, steps))


class _Way:
    """Moves that are still to be made, and what is free before."""

    def __init__(self, world: relocation.World, flows: Flows) -> None:
        self._world = world
        self._free = relocation.amounts_left(world)
        self._out = [list(numbers) for numbers in flows.out]
        self._into = [list(numbers) for numbers in flows.into]
        self.left = sum(map(sum, flows.out))

    def next(self) -> relocation.Move | None:
        """Return a move for which there is capacity; None without such a move.

        A host that has capacity for all that is still to come is filled first:
        that keeps nobody else away. Else a server leaves a host for which
        others wait.
        """
        fitting = [(kind, target) for kind, numbers in enumerate(self._into)
                   for target, number in enumerate(numbers)
                   if number and relocation.has_room(
                       self._free[target], self._amounts(kind))]
        blocked = {host for host in range(len(self._free))
                   if not self._is_safe(host)}
        safe = [pair for pair in fitting if pair[1] not in blocked]
        best = min(((self._source(kind, blocked), kind, target)
                    for kind, target in safe or fitting), default=None)
        if best is None:
            return None
        (_, source), kind, target = best
        return relocation.Move(kind, source, target)

    def _amounts(self, kind: int) -> Mapping[str, int]:
        return self._world.kinds[kind].amounts

    def _is_safe(self, host: int) -> bool:
        """Whether a host has capacity for all that is still to come."""
        needed: dict[str, int] = {}
        for kind, numbers in enumerate(self._into):
            relocation.take(needed, self._amounts(kind), -numbers[host])
        return all(amount <= self._free[host].get(name, 0)
                   for name, amount in needed.items() if amount)

    def _source(self, kind: int, blocked: set[int]) -> tuple[bool, int]:
        """Return whether nobody waits for the best source, and the source."""
        return min((host not in blocked, host)
                   for host, number in enumerate(self._out[kind]) if number)

    def go(self, move: relocation.Move) -> None:
        """Make a move."""
        amounts = self._amounts(move.kind)
        relocation.take(self._free[move.target], amounts)
        relocation.take(self._free[move.source], amounts, -1)
        self._into[move.kind][move.target] -= 1
        self._out[move.kind][move.source] -= 1
        self.left -= 1
