# SPDX-License-Identifier: Apache-2.0
"""The graph of the states that a small world can reach.

A world is deterministic but for the order of turns. So a world is a graph: an
edge leads from a state, for each actor that may have the turn, to the next
state. States without a visible difference are a single state, whatever the way
to the state; every way through the graph is an interleaving.

Two turns commute when neither turn writes what the other turn reads or writes.
In a state in which two actors may take such turns, the turns lead to the same
state in both orders, and each turn reads and writes the same in both orders.
So of the four turns three are taken, and the fourth turn is known::

    state ---- one ---> .
      |                 |
     two               two
      |                 |
      v                 v
      . ----- one ----> .

Known turns are turns of the graph as taken turns are: what is found, and the
number of interleavings, do not change.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from collections.abc import Sequence
import functools
import itertools
import typing

from pcloud.tests.worlds import copies


class Repetition(typing.NamedTuple):
    """A further attempt of an actor, after an attempt without success.

    :ivar function: the name of the function that is tried
    :ivar limit: the number of attempts after which the actor gives up
    """

    actor: str
    function: str
    limit: int


class Footprint(typing.NamedTuple):
    """What a turn reads and writes, by names.

    :ivar again: the further attempts that begin in the turn
    """

    reads: frozenset[str]
    writes: frozenset[str]
    again: frozenset[Repetition] = frozenset()

    def commutes(self, other: Footprint) -> bool:
        """Return whether neither turn writes what the other turn touches."""
        return not (self.writes & (other.reads | other.writes) or
                    other.writes & self.reads)


class Turn(typing.NamedTuple):
    """A turn of an actor in a state.

    :ivar to: the next state
    """

    to: str
    footprint: Footprint


class Cycle(Exception):
    """Turns lead back to a state, so that interleavings never end."""


class Growth(typing.NamedTuple):
    """The part of a graph that was found after a turn.

    :ivar turn: the turn
    :ivar turns: each new state -> actor -> the actor's turn in the state
    :ivar taken: the number of turns that were taken
    """

    turn: Turn
    turns: dict[str, dict[str, Turn]]
    taken: int


class Graph:
    """States, named by digests, and the turns between states.

    :ivar taken: the number of turns that were taken, and not known before
    """

    def __init__(self) -> None:
        self._next: dict[str, dict[str, Turn]] = {}
        self.taken = 0

    def meet(self, state: str) -> bool:
        """Record a state, and return whether the state is new."""
        if state in self._next:
            return False
        self._next[state] = {}
        return True

    def went(self, state: str, choice: str, turn: Turn) -> None:
        """Record the turn that an actor has taken in a state."""
        self._next[state][choice] = turn
        self.taken += 1

    def infer(self, before: str, choice: str) -> None:
        """Record the turns that are known after a turn.

        :param before: the state before the turn
        :param choice: the actor that has taken the turn
        """
        turn = self._next[before][choice]
        for other, its in self._next[before].items():
            then = self._next[its.to].get(choice)
            if (other != choice and then is not None and
                    its.footprint.commutes(turn.footprint)):
                self._next[turn.to][other] = Turn(then.to, its.footprint)

    def unknown(self, state: str, choices: Sequence[str]) -> list[str]:
        """Return the actors whose turns in a state are not known."""
        return [each for each in choices if each not in self._next[state]]

    def grown(self, states: int, before: str, choice: str) -> Growth:
        """Return what has been found since the graph had fewer states.

        :param before: the state before the turn from which the graph has grown
        :param choice: the actor that has taken the turn
        """
        return Growth(self._next[before][choice], dict(
            itertools.islice(self._next.items(), states, None)), self.taken)

    def grow(self, state: str, choice: str, growth: Growth) -> None:
        """Add what a copy of this graph found after an actor's turn."""
        self._next[state][choice] = growth.turn
        self._next |= growth.turns
        self.taken = growth.taken

    @property
    def next(self) -> dict[str, dict[str, str]]:
        """Each state -> each actor that may have the turn -> next state."""
        return {state: {choice: turn.to for choice, turn in turns.items()}
                for state, turns in self._next.items()}

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
        """Return the number of ways from the first state to an end.

        :raises Cycle: when a way leads back to a state
        """
        ways: dict[str, int] = {}
        for state in self._from_the_ends():
            after = [turn.to for turn in self._next[state].values()]
            ways[state] = sum(ways[each] for each in after) if after else 1
        return ways[state]

    def repetitions(self) -> dict[Repetition, int]:
        """Return how often each repetition happens on a single way, at most.

        :raises Cycle: when a way leads back to a state
        """
        most: dict[str, collections.Counter[Repetition]] = {}
        for state in self._from_the_ends():
            most[state] = collections.Counter()
            for turn in self._next[state].values():
                most[state] |= most[turn.to] + collections.Counter(
                    turn.footprint.again)
        return dict(most[state])

    def _from_the_ends(self) -> Iterator[str]:
        """Yield each state after all states to which turns lead from there."""
        done: set[str] = set()
        way: set[str] = set()
        pending = [next(iter(self._next))]
        while pending:
            state = pending[-1]
            missing = [] if state in done else [
                turn.to for turn in self._next[state].values()
                if turn.to not in done]
            if way & set(missing):
                raise Cycle()
            if missing:
                way.add(state)
                pending += missing
                continue
            pending.pop()
            way.discard(state)
            if state not in done:
                done.add(state)
                yield state


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

    def footprint(self) -> Footprint:
        """Return what the latest turn has read and written."""


def explore(
    world: World, graph: Graph, last: tuple[str, str] | None = None,
) -> None:
    """Know every turn in every state that can be reached, and check states.

    The last turn of each state is taken in the world itself, and each other
    turn in a copy of the world.

    :param graph: the states that are known already, to which states are added
    :param last: the latest turn: the state before, and the actor
    """
    while True:
        state, choices = world.look()
        if last is not None:
            graph.went(*last, Turn(state, world.footprint()))
        if not graph.meet(state):
            return
        world.check()
        if not choices:
            world.end()
            return
        if last is not None:
            graph.infer(*last)
        unknown = graph.unknown(state, choices)
        if not unknown:
            return
        *others, final = unknown
        for choice in others:
            graph.grow(state, choice, copies.run(functools.partial(
                _explore_after, world, graph, state, choice)))
        world.take(final)
        last = state, final


def _explore_after(world, graph, state, choice):
    states = graph.states
    world.take(choice)
    explore(world, graph, (state, choice))
    return graph.grown(states, state, choice)
