# SPDX-License-Identifier: Apache-2.0

"""Actors of a small world, of which a single actor goes on at a time.

An actor stands (waits) at a place before reading or writing shared state, and
goes on when the test gives the actor a turn. Work that an actor starts in
other services, by calls and casts of RPC, belongs to the actor. Where two
threads of an actor work at the same time, each thread is a strand.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import dataclasses
import faulthandler
import sys
import threading

# Seconds without any progress, on the slowest of machines: after so long, an
# actor that stands must hold a lock.
_SILENCE = 600


@dataclasses.dataclass(frozen=True)
class Actor:
    """An actor of a small world.

    :ivar name: the id of the user for whom the actor works
    :ivar work: the function that the actor runs, in a thread
    :ivar stands: whether the actor stands before each transaction and each
        call (True), or at the named places of a build alone (False)
    """

    name: str
    work: Callable[[], object]
    stands: bool = True


class Stuck(Exception):
    """Actors reach neither a place nor an end."""


class Turns:
    """The places at which actors stand, and the actors that go on.

    :ivar errors: the exceptions that actors raised
    """

    def __init__(self) -> None:
        self._moved = threading.Condition()
        self._actors: dict[str, Actor] = {}
        self._threads: dict[int, str] = {}
        self._running: dict[str, int] = {}
        self._standing: dict[str, str] = {}
        self.errors: list[BaseException] = []

    def start(self, actor: Actor) -> None:
        """Start an actor, which goes to the first place."""
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
        """Return whether there is an actor of a name."""
        return name in self._actors

    def actor(self, key: str) -> Actor:
        """Return the actor of a name, or of a name and a strand."""
        return self._actors[key.split()[0]]

    def current(self) -> Actor | None:
        """Return the actor that this thread works for, or None."""
        name = self._threads.get(threading.get_ident())
        return None if name is None else self._actors[name]

    @contextlib.contextmanager
    def working_for(self, name: str) -> Iterator[None]:
        """Have this thread work for an actor, whatever request contexts."""
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
        """Stand at a place until the actor of this thread has the turn.

        :param strand: the name of this thread among the actor's threads
        """
        actor = self.current()
        if actor is None:
            return
        key = f'{actor.name} {strand}'.strip()
        with self._moved:
            self._standing[key] = place
            self._running[actor.name] -= 1
            self._moved.notify_all()
            self._moved.wait_for(lambda: key not in self._standing)

    def began(self, name: str) -> None:
        """Record that an actor has started work in a further thread."""
        with self._moved:
            if name in self._running:
                self._running[name] += 1

    def ended(self, name: str) -> None:
        """Record that work of an actor in a thread has ended."""
        with self._moved:
            if name in self._running:
                self._running[name] -= 1
                self._moved.notify_all()

    def standing(self) -> dict[str, str]:
        """Wait until no actor runs, and return the places of all actors.

        :returns: actor, or actor and strand -> place
        :raises Stuck: when an actor waits for an actor that stands
        """
        with self._moved:
            if not self._moved.wait_for(
                    lambda: not any(self._running.values()), _SILENCE):
                faulthandler.dump_traceback(file=sys.__stderr__)
                raise Stuck(f'{self._running}, {self._standing}')
            return dict(self._standing)

    def go(self, key: str) -> None:
        """Let an actor, or a strand of an actor, go on."""
        with self._moved:
            del self._standing[key]
            self._running[key.split()[0]] += 1
            self._moved.notify_all()
