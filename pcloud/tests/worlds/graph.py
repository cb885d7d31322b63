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

"""Which states a small world can come to, and which way leads where.

A world is deterministic but for whose turn it is. So it is a graph: a state,
and for each actor whose turn it may be the state that comes next. States that
differ in nothing that anybody can see are one, whatever way led there; every
way through the graph is one interleaving.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterator


class Unlike(Exception):
    """The same turn in the same state led elsewhere this time."""


class Graph:
    """States, by their digests, and the turns between them."""

    def __init__(self) -> None:
        self._next: dict[str, dict[str, str | None]] = {}
        self._root: str | None = None

    def meet(self, state: str, choices: Collection[str]) -> bool:
        """Take note of a state and whose turn it may be there.

        :returns: whether the state is a new one
        """
        self._root = self._root or state
        if state in self._next:
            return False
        self._next[state] = dict.fromkeys(sorted(choices))
        return True

    def choose(self, state: str) -> str:
        """Return whose turn brings a run where no run has been.

        In a state from which there is no such place any more it is anybody's.
        """
        for way in self._ways(state):
            if self._unknown(way[-1][0]) is not None:
                return (way[1][1] if len(way) > 1
                        else self._unknown(state))
        return next(iter(self._next[state]))

    def went(self, state: str, choice: str, to: str) -> None:
        """Take note of where a turn has led.

        :raises Unlike: when it led somewhere else before
        """
        known = self._next[state][choice]
        if known not in (None, to):
            raise Unlike(f'{choice} went from {state} to {known} and to {to}')
        self._next[state][choice] = to

    @property
    def is_complete(self) -> bool:
        """Whether every turn in every state has been taken."""
        return self._root is not None and not any(
            to is None for turns in self._next.values()
            for to in turns.values())

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self._next)

    @property
    def turns(self) -> int:
        """How many turns there are in all states together."""
        return sum(map(len, self._next.values()))

    def interleavings(self) -> int:
        """Return how many ways there are from the first state to an end."""
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
        """Yield the shortest ways from a state to all others, by length.

        Each is a list of states, each with the turn that led there.
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
