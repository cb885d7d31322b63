# SPDX-License-Identifier: Apache-2.0

"""Which servers to move, so that hosts become empty or further servers fit.

A server moves once at most. During a move both hosts have capacity for the
server: a plan is a sequence of steps, each a group of moves that may run at
once, and what a server leaves behind counts from the next step on. Servers
that may go to the same hosts and need the same are equal, and are only
counted.

Rule: reference-rebalancing-plan
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from pcloud.rules import capacity

FREE_HOSTS, FIT = 'free_hosts', 'fit'
GOALS = (FREE_HOSTS, FIT)


@dataclasses.dataclass(frozen=True)
class MovingHost:
    """What a host takes and gives.

    :ivar free: ``resource class -> free amount``; nothing is free of a
        missing class
    :ivar most: ``resource class -> the largest amount of a server``, without
        classes that have no such limit
    :ivar takes: whether servers may be moved to the host
    :ivar can_be_freed: whether the host is not empty, and all that keeps the
        host from being empty are servers that may be moved
    :ivar takes_new: whether the host takes new servers of the goal `FIT`
    """

    free: Mapping[str, int]
    most: Mapping[str, int] = dataclasses.field(default_factory=dict)
    takes: bool = True
    can_be_freed: bool = False
    takes_new: bool = False


@dataclasses.dataclass(frozen=True)
class MovableKind:
    """Servers that may be moved and are equal but for their hosts.

    :ivar amounts: ``resource class -> amount`` of each server, without
        amounts of 0
    :ivar there: the number of the servers on each host
    :ivar refused: the places of the hosts that do not take the servers
    """

    amounts: Mapping[str, int]
    there: tuple[int, ...]
    refused: frozenset[int] = frozenset()

    @property
    def memory(self) -> int:
        """The memory of a server."""
        return self.amounts.get(capacity.MEMORY, 0)


@dataclasses.dataclass(frozen=True)
class World:
    """The hosts of a Pcloud, and the servers that may be moved."""

    hosts: Sequence[MovingHost]
    kinds: Sequence[MovableKind]

    def takes(self, host: int, kind: int) -> bool:
        """Whether servers of a kind may come to a host that has capacity."""
        there, its = self.hosts[host], self.kinds[kind]
        return there.takes and host not in its.refused and _is_small(
            its.amounts, there)

    def takes_new(self, host: int, amounts: Mapping[str, int]) -> bool:
        """Whether new servers may come to a host that has capacity."""
        there = self.hosts[host]
        return there.takes_new and _is_small(amounts, there)

    @property
    def movable(self) -> int:
        """The number of servers that may be moved."""
        return sum(sum(kind.there) for kind in self.kinds)


def _is_small(amounts: Mapping[str, int], host: MovingHost) -> bool:
    return all(amount <= host.most.get(name, amount)
               for name, amount in amounts.items())


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a plan is for.

    :ivar max_moves: so many servers may be moved
    :ivar count: so many new servers are to have capacity; 0 for a plan that
        makes hosts empty
    :ivar amounts: ``resource class -> amount`` of each new server
    """

    max_moves: int
    count: int = 0
    amounts: Mapping[str, int] = dataclasses.field(default_factory=dict)


class Move(typing.NamedTuple):
    """A move of a server, by the places of kind and hosts."""

    kind: int
    source: int
    target: int


Steps = tuple[tuple[Move, ...], ...]


@dataclasses.dataclass(frozen=True)
class Relocation:
    """Moves that reach a goal, in steps.

    :ivar reached: whether the new servers fit afterwards; true of a plan
        that makes hosts empty
    :ivar exact: whether it is proven that there is no better plan
    """

    steps: Steps = ()
    reached: bool = True
    exact: bool = False

    @property
    def moves(self) -> list[Move]:
        """All moves, in order."""
        return [move for step in self.steps for move in step]


# Hosts that become empty, and less than nothing for what is moved: the number
# of servers and their memory. A greater score is better.
Score = tuple[int, int, int]


def score(world: World, goal: Goal, moves: Sequence[Move]) -> Score:
    """Return how good moves are, compared with others for the same goal.

    Of plans that make hosts empty the plan with most such hosts is the best,
    then the plan with the fewest moves, then the plan that moves the least
    memory. Of plans that free capacity the number of empty hosts does not
    count.
    """
    return (0 if goal.count else len(freed(world, moves)), -len(moves),
            -memory(world, moves))


def memory(world: World, moves: Iterable[Move]) -> int:
    """Return the memory of moved servers."""
    return sum(world.kinds[move.kind].memory for move in moves)


def freed(world: World, moves: Iterable[Move]) -> list[int]:
    """Return the places of the hosts that some moves make empty."""
    left = [sum(kind.there[place] for kind in world.kinds)
            for place in range(len(world.hosts))]
    for move in moves:
        left[move.source] -= 1
        left[move.target] += 1
    return [place for place, host in enumerate(world.hosts)
            if host.can_be_freed and not left[place]]


def amounts_left(world: World) -> list[dict[str, int]]:
    """Return what is free on each host, to be changed by the caller."""
    return [dict(host.free) for host in world.hosts]


def has_room(free: Mapping[str, int], amounts: Mapping[str, int]) -> bool:
    """Whether there is enough of each resource class."""
    return all(free.get(name, 0) >= amount
               for name, amount in amounts.items())


def take(
    free: dict[str, int], amounts: Mapping[str, int], number: int = 1,
) -> None:
    """Take the amounts of servers from what is free; give back for -1."""
    for name, amount in amounts.items():
        free[name] = free.get(name, 0) - amount * number


def is_executable(world: World, steps: Steps) -> bool:
    """Whether each target has capacity for all that comes in each step.

    A host that a server leaves has more capacity from the next step on.
    """
    free = amounts_left(world)
    unmoved = [list(kind.there) for kind in world.kinds]
    for step in steps:
        for move in step:
            amounts = world.kinds[move.kind].amounts
            if (move.source == move.target or
                    not unmoved[move.kind][move.source] or
                    not world.takes(move.target, move.kind) or
                    not has_room(free[move.target], amounts)):
                return False
            unmoved[move.kind][move.source] -= 1
            take(free[move.target], amounts)
        for move in step:
            take(free[move.source], world.kinds[move.kind].amounts, -1)
    return True


def room_for_new(world: World, moves: Iterable[Move], goal: Goal) -> int:
    """Return how many of the new servers fit after some moves."""
    free = amounts_left(world)
    for move in moves:
        take(free[move.source], world.kinds[move.kind].amounts, -1)
        take(free[move.target], world.kinds[move.kind].amounts)
    return sum(_times(each, goal) for place, each in enumerate(free)
               if world.takes_new(place, goal.amounts))


def _times(free: Mapping[str, int], goal: Goal) -> int:
    return min((max(free.get(name, 0), 0) // amount for name, amount
                in goal.amounts.items()), default=goal.count)


def reaches(world: World, steps: Steps, goal: Goal) -> bool:
    """Whether the new servers of a goal have capacity after some steps."""
    return room_for_new(
        world, (move for step in steps for move in step), goal) >= goal.count
