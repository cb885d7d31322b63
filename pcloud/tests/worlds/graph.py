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

import collections
from collections.abc import Collection
from collections.abc import Iterator


class Unlike(Exception):
    """The same turn in the same state has led to two states."""


class Graph:
    """States, named by digests, and the turns between states."""

    def __init__(self) -> None:
        self._next: dict[str, dict[str, str | None]] = {}
        self._root: str | None = None

    def meet(self, state: str, choices: Collection[str]) -> bool:
        """Record a state and the actors that may have the turn there.

        :param choices: the actors that stand
        :returns: whether the state is new
        """
        self._root = self._root or state
        if state in self._next:
            return False
        self._next[state] = dict.fromkeys(sorted(choices))
        return True

    def choose(self, state: str) -> str:
        """Return the actor whose turn leads a run towards an unknown turn.

        When a state leads to no unknown turn any more, any actor is returned.
        """
        for way in self._ways(state):
            if self._unknown(way[-1][0]) is not None:
                return (way[1][1] if len(way) > 1
                        else self._unknown(state))
        return next(iter(self._next[state]))

    def went(self, state: str, choice: str, to: str) -> None:
        """Record the state to which a turn has led.

        :raises Unlike: when the turn led to a different state before
        """
        known = self._next[state][choice]
        if known not in (None, to):
            raise Unlike(f'{choice} went from {state} to {known} and to {to}')
        self._next[state][choice] = to

    @property
    def is_complete(self) -> bool:
        """Return whether every turn in every state has been taken."""
        return self._root is not None and not any(
            to is None for turns in self._next.values()
            for to in turns.values())

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
        pending = [self._root] if self._root else []
        while pending:
            state = pending[-1]
            after = self._next[state].values()
            missing = [each for each in after if each not in ways]
            if missing:
                pending += missing
                continue
            pending.pop()
            ways[state] = sum(ways[each] for each in after) if after else 1
        return ways[self._root] if self._root else 0

    def _unknown(self, state: str) -> str | None:
        return next((choice for choice, to in self._next[state].items()
                     if to is None), None)

    def _ways(self, start: str) -> Iterator[list[tuple[str, str]]]:
        """Yield the shortest ways from a state to all states, by length.

        Each way is a list of (state, turn that led to the state).
        """
        pending = collections.deque([[(start, '')]])
        seen = {start}
        while pending:
            way = pending.popleft()
            yield way
            for choice, to in self._next[way[-1][0]].items():
                if to is not None and to not in seen:
                    seen.add(to)
                    pending.append([*way, (to, choice)])
