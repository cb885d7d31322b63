# SPDX-License-Identifier: Apache-2.0

"""Launches of one kind that take one turn together.

While a launch waits for the turn in a Pcloud, launches of the same kind may
come to the same process. The first launch counts the capacity and adds hosts
for all, and keeps the turn until Nova has placed the servers of all.

Rule: reference-default-pcloud-grow-crowds
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Iterator
from concurrent import futures
import contextlib
import enum
import itertools
import threading

from nova import objects
from oslo_serialization import jsonutils

# What tells requests from each other that ask for the same.
_OF_ONE = ('id', 'instance_uuid')
_NUMBERS = itertools.count()

_GATHERING: dict[Hashable, Crowd] = {}
_LOCK = threading.Lock()


class Decision(enum.Enum):
    """What the first launch of a crowd has found."""

    HAD_ROOM = 'the Pcloud had capacity'
    HAS_GROWN = 'hosts have joined'
    LOST = 'another process took the turn or a host: count once more'
    APART = 'each launch looks for itself'


class Crowd:
    """The launches of one kind of one process.

    :ivar servers: how many servers the launches ask for together; all have
        come once the crowd is closed
    """

    def __init__(self, kind: Hashable, servers: int) -> None:
        self.servers = servers
        self._kind = kind
        self._others = 0
        self._placed = threading.Semaphore(0)
        self._decided: futures.Future[Decision] = futures.Future()

    def join(self, servers: int) -> None:
        """Join before the crowd is closed."""
        self.servers += servers
        self._others += 1

    def close(self) -> None:
        """Let no launch join any more."""
        with _LOCK:
            if _GATHERING.get(self._kind) is self:
                del _GATHERING[self._kind]

    def decide(self, decision: Decision) -> None:
        """Let the other launches go on; only the first decision counts.

        No launch joins any more.
        """
        if not self._decided.done():
            self._decided.set_result(decision)

    def wait_until_placed(self) -> None:
        """Wait until Nova has chosen for all other launches."""
        for _ in range(self._others):
            self._placed.acquire()

    @contextlib.contextmanager
    def decision(self) -> Iterator[Decision]:
        """Wait for the decision, and act before the turn ends.

        :raises: what the first launch has met before the decision
        """
        try:
            yield self._decided.result()
        finally:
            self._placed.release()

    @contextlib.contextmanager
    def led(self) -> Iterator[None]:
        """Decide within the context; what is raised holds for all launches."""
        try:
            yield
        except BaseException as error:
            self.close()
            if not self._decided.done():
                self._decided.set_exception(error)
            raise


def kind(spec: objects.RequestSpec) -> Hashable:
    """Return what requests have in common that ask for the same.

    The servers of a group depend on each other: a request for such servers is
    of no kind but its own.

    :param spec: a request that nothing has narrowed
    """
    if 'instance_group' in spec and spec.instance_group:
        return next(_NUMBERS)
    fields = spec.obj_to_primitive()['nova_object.data']
    return jsonutils.dumps({name: value for name, value in fields.items()
                            if name not in _OF_ONE}, sort_keys=True)


def join(kind: Hashable, servers: int) -> tuple[Crowd, bool]:
    """Join the crowd that gathers, or begin one.

    :param kind: what the launches of the crowd have in common
    :returns: the crowd, and whether the launch is the first of it
    """
    with _LOCK:
        crowd = _GATHERING.get(kind)
        if crowd is not None:
            crowd.join(servers)
            return crowd, False
        crowd = _GATHERING[kind] = Crowd(kind, servers)
        return crowd, True


# Nova's scheduler works on 64 requests at the same time. Launches that wait
# for turns may not keep the scheduler from all other requests; a launch that
# finds no place waits until one of these has been placed, or has failed.
PLACES = threading.BoundedSemaphore(48)
