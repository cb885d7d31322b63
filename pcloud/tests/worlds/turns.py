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

"""Actors of a small world that go on one at a time.

An actor stands at a place before it reads or writes what others can see, and
goes on when it is its turn. What it starts elsewhere, by calls and casts of
RPC, is still this actor. Where two of its threads are at work at the same
time, each is a strand of its own.
"""

import collections
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import dataclasses
import faulthandler
import sys
import threading

# Seconds without any progress, on the slowest of machines: a lock is held by
# somebody who stands.
_SILENCE = 600


@dataclasses.dataclass(frozen=True)
class Actor:
    """Somebody who does something.

    :ivar name: the id of the user for whom it does so
    :ivar work: what it does, in a thread of its own
    :ivar stands: whether it stands before each transaction and each call,
        and not only at the places that have a name
    """

    name: str
    work: Callable[[], object]
    stands: bool = True


class Stuck(Exception):
    """Actors do not come to a place, nor to an end."""


class Turns:
    """Who stands where, and who goes on.

    :ivar errors: what actors raised
    """

    def __init__(self) -> None:
        self._moved = threading.Condition()
        self._actors: dict[str, Actor] = {}
        self._threads: dict[int, str] = {}
        self._running: dict[str, int] = {}
        self._standing: dict[str, str] = {}
        self._steps: collections.Counter[str] = collections.Counter()
        self._is_over = False
        self.errors: list[BaseException] = []

    def start(self, actor: Actor) -> None:
        """Let an actor come to its first place."""
        self._actors[actor.name] = actor
        self._running[actor.name] = 1
        threading.Thread(
            target=self._act, args=(actor,), daemon=True).start()

    def _act(self, actor: Actor) -> None:
        self._threads[threading.get_ident()] = actor.name
        try:
            self.arrive('start')
            actor.work()
        except Exception as error:
            self.errors.append(error)
        finally:
            self.ended(actor.name)

    def knows(self, name: str | None) -> bool:
        """Whether there is an actor of a name."""
        return name in self._actors

    def current(self) -> Actor | None:
        """Return the actor that this thread works for."""
        name = self._threads.get(threading.get_ident())
        return None if name is None else self._actors[name]

    @contextlib.contextmanager
    def working_for(self, name: str) -> Iterator[None]:
        """Have this thread work for an actor, whatever contexts it makes."""
        ident = threading.get_ident()
        before = self._threads.get(ident)
        self._threads[ident] = name
        try:
            yield
        finally:
            if before is None:
                del self._threads[ident]
            else:
                self._threads[ident] = before

    def arrive(self, place: str, strand: str = '') -> None:
        """Stand at a place until it is this actor's turn.

        :param strand: which of an actor's threads this is
        """
        actor = self.current()
        if actor is None or self._is_over:
            return
        key = f'{actor.name} {strand}'.strip()
        with self._moved:
            self._steps[key] += 1
            self._standing[key] = f'{place} (step {self._steps[key]})'
            self._running[actor.name] -= 1
            self._moved.notify_all()
            self._moved.wait_for(
                lambda: key not in self._standing or self._is_over)

    def began(self, name: str) -> None:
        """Take note that an actor has something done in another thread."""
        with self._moved:
            if name in self._running:
                self._running[name] += 1

    def ended(self, name: str) -> None:
        """Take note that something an actor had begun has come to its end."""
        with self._moved:
            if name in self._running:
                self._running[name] -= 1
                self._moved.notify_all()

    def standing(self) -> dict[str, str]:
        """Return who stands where, when nobody is under way.

        :raises Stuck: when somebody waits for one that stands
        """
        with self._moved:
            if not self._moved.wait_for(
                    lambda: not any(self._running.values()), _SILENCE):
                faulthandler.dump_traceback(file=sys.__stderr__)
                raise Stuck(f'{self._running}, {self._standing}')
            return dict(self._standing)

    def go(self, key: str) -> None:
        """Let one go on."""
        with self._moved:
            del self._standing[key]
            self._running[key.split()[0]] += 1
            self._moved.notify_all()

    def release(self) -> None:
        """Let everybody go on to the end, in any order."""
        with self._moved:
            self._is_over = True
            for key in self._standing:
                self._running[key.split()[0]] += 1
            self._standing.clear()
            self._moved.notify_all()
