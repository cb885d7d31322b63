# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""The graph of the states that a small world can reach.

A world is deterministic but for the order of turns. So a world is a graph: an
edge leads from a state, for each actor that may have the turn, to the next
state. States without a visible difference are a single state, whatever the way
to the state; every way through the graph is an interleaving.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import itertools
import typing

from pcloud.tests.worlds import copies


class Growth(typing.NamedTuple):
    """The part of a graph that was found after a turn.

    :ivar first: the state to which the turn led
    :ivar turns: each new state -> turn in the state -> next state
    """

    first: str
    turns: dict[str, dict[str, str]]


class Graph:
    """States, named by digests, and the turns between states."""

    def __init__(self) -> None:
        self._next: dict[str, dict[str, str]] = {}

    def meet(self, state: str) -> bool:
        """Record a state, and return whether the state is new."""
        if state in self._next:
            return False
        self._next[state] = {}
        return True

    def went(self, state: str, choice: str, to: str) -> None:
        """Record the state to which an actor's turn has led."""
        self._next[state][choice] = to

    def grown(self, states: int, first: str) -> Growth:
        """Return what has been found since the graph had fewer states."""
        return Growth(first, dict(
            itertools.islice(self._next.items(), states, None)))

    def grow(self, state: str, choice: str, growth: Growth) -> None:
        """Add what a copy of this graph found after an actor's turn."""
        self.went(state, choice, growth.first)
        self._next |= growth.turns

    @property
    def ends(self) -> list[str]:
        """The states in which no actor has anything left to do."""
        return [state for state, turns in self._next.items() if not turns]

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self._next)

    @property
    def turns(self) -> int:
        """The number of turns in all states together."""
        return sum(map(len, self._next.values()))

    def interleavings(self) -> int:
        """Return the number of ways from the first state to an end."""
        ways: dict[str, int] = {}
        root = next(iter(self._next))
        pending = [root]
        while pending:
            state = pending[-1]
            after = self._next[state].values()
            missing = [each for each in after if each not in ways]
            if missing:
                pending += missing
                continue
            pending.pop()
            ways[state] = sum(ways[each] for each in after) if after else 1
        return ways[root]


class World(typing.Protocol):
    """What can be explored."""

    def look(self) -> tuple[str, Sequence[str]]:
        """Return the present state, and the actors that may have the turn."""

    def check(self) -> None:
        """Check the invariants of the present state."""

    def end(self) -> None:
        """Check the invariants after the end of all actors."""

    def take(self, choice: str) -> None:
        """Let an actor take a turn."""


def explore(world: World, graph: Graph) -> str:
    """Take every turn in every state that can be reached, and check states.

    The last turn of each state is taken in the world itself, and each other
    turn in a copy of the world.

    :param graph: the states that are known already, to which states are added
    :returns: the state from which the exploration started
    """
    first = last = None
    while True:
        state, choices = world.look()
        first = first or state
        if last is not None:
            graph.went(*last, state)
        if not graph.meet(state):
            return first
        world.check()
        if not choices:
            world.end()
            return first
        *others, final = choices
        for choice in others:
            graph.grow(state, choice, copies.run(
                functools.partial(_explore_after, world, graph, choice)))
        world.take(final)
        last = state, final


def _explore_after(world, graph, choice):
    states = graph.states
    world.take(choice)
    return graph.grown(states, explore(world, graph))
