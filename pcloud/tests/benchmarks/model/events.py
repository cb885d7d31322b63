# SPDX-License-Identifier: Apache-2.0

"""A simulation of events: a clock, stations that serve, rows with a lock.

Jobs at a station take turns of a quantum, as threads take turns at a
processor. A lock is held by one job, and the other jobs wait in order.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Iterator
import heapq
import itertools
from typing import TypeAlias

# Seconds that a job keeps a place before others have their turn.
QUANTUM = 0.1
# What is left of a job by rounding alone.
_NOTHING = 1e-9

_Then: TypeAlias = Callable[[], None]


class Clock:
    """Calls functions at their times, the earliest first.

    :ivar now: seconds since the begin
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._left: list[tuple[float, int, _Then]] = []
        self._numbers = itertools.count()

    def after(self, seconds: float, then: _Then) -> None:
        """Have a function called later; equal times keep their order."""
        heapq.heappush(
            self._left, (self.now + seconds, next(self._numbers), then))

    def run(self, until: float) -> None:
        """Call functions up to a time, and leave later ones."""
        while self._left and self._left[0][0] <= until:
            self.now, _, then = heapq.heappop(self._left)
            then()
        self.now = until


class Station:
    """Serves jobs: a process, a server, or the processors of a machine.

    :param places: how many jobs are served at once
    :param speed: seconds of work done in a second
    :param below: what has to serve meanwhile: the processors of the machine;
        None where the station has enough of its own
    :ivar work: seconds of work that were done
    """

    def __init__(self, clock: Clock, places: int = 1, speed: float = 1.0,
                 below: Station | None = None) -> None:
        self.places = places
        self.work = 0.0
        self._clock, self._speed, self._below = clock, speed, below
        self._busy = 0
        self._queue: collections.deque[tuple[float, _Then]] = (
            collections.deque())

    def use(self, seconds: float, then: _Then) -> None:
        """Serve a job for so many seconds of work, and go on."""
        self._queue.append((seconds, then))
        self._serve()

    def _serve(self) -> None:
        while self._queue and self._busy < self.places:
            self._busy += 1
            self._turn(*self._queue.popleft())

    def _turn(self, left: float, then: _Then) -> None:
        part = min(left, QUANTUM)

        def after() -> None:
            self.work += part
            self._busy -= 1
            if left - part > _NOTHING:
                self._queue.append((left - part, then))
            else:
                then()
            self._serve()

        if self._below is None:
            self._clock.after(part / self._speed, after)
        else:
            self._below.use(part, after)

    def share(self, seconds: float) -> float:
        """Return the part of the time that the station has worked, 0..1."""
        return self.work / self._speed / self.places / seconds


class Lock:
    """A row that one job at a time may change.

    :ivar waits: how often a job had to wait
    :ivar held: seconds during which a job had the lock
    """

    def __init__(self, clock: Clock) -> None:
        self.waits = 0
        self.held = 0.0
        self._clock = clock
        self._since: float | None = None
        self._queue: collections.deque[_Then] = collections.deque()

    def take(self, then: _Then) -> None:
        """Go on as soon as the job has the lock."""
        if self._since is None:
            self._since = self._clock.now
            then()
        else:
            self.waits += 1
            self._queue.append(then)

    def release(self) -> None:
        """Give the lock to whoever waits longest."""
        assert self._since is not None
        self.held += self._clock.now - self._since
        self._since = None
        if self._queue:
            self._since = self._clock.now
            self._clock.after(0, self._queue.popleft())


# A step of a job: gets the function that goes on with the next step.
Step: TypeAlias = Callable[[_Then], None]


def using(station: Station, seconds: float) -> Step:
    """Return the step in which a station serves the job."""
    return lambda then: station.use(seconds, then)


def taking(lock: Lock) -> Step:
    """Return the step in which the job gets a lock."""
    return lock.take


def releasing(lock: Lock) -> Step:
    """Return the step in which the job releases a lock."""
    def step(then: _Then) -> None:
        lock.release()
        then()
    return step


def start(steps: Iterator[Step] | Generator[Step], end: _Then) -> None:
    """Take the steps of a job, one after the other."""
    def go_on() -> None:
        step = next(iterator, None)
        if step is None:
            end()
        else:
            step(go_on)

    iterator = iter(steps)
    go_on()
