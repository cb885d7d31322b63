# SPDX-License-Identifier: Apache-2.0

"""Calls that are made once for all who ask at the same moment.

Of many launches at the same moment each could look at the Pcloud, and do what
is due for hosts that have just joined. Together they would stand in each
other's way: each write to Placement makes the next write of the others fail.

Rule: reference-default-pcloud-grow-crowds
"""

from collections.abc import Callable
from collections.abc import Hashable
from concurrent import futures
import threading
import typing

from oslo_concurrency import lockutils

_LOCK = threading.Lock()
# The calls of this process that have not begun.
_NEXT: dict[Hashable, futures.Future] = {}

Answer = typing.TypeVar('Answer')


def once(kind: Hashable, call: Callable[[], Answer]) -> Answer:
    """Make a call, or wait for a call of the same kind that has not begun.

    While a call of a kind is under way, the first who comes makes the next
    call, for all who come meanwhile. So an answer is never older than the
    question, and whoever asks waits for two calls at most.

    :returns: what the call returns
    :raises: what the call raises, to all
    """
    mine: futures.Future[Answer] = futures.Future()
    with _LOCK:
        next_call = _NEXT.setdefault(kind, mine)
    if next_call is not mine:
        return next_call.result()
    try:
        # Nova has locks of its own, and a kind may be long.
        with lockutils.lock(f'pcloud-joint-{hash(kind)}'):
            _begin(kind, mine)
            answer = call()
    except BaseException as error:
        # Also when the wait for the lock was interrupted.
        _begin(kind, mine)
        mine.set_exception(error)
        raise
    mine.set_result(answer)
    return answer


def _begin(kind: Hashable, mine: futures.Future) -> None:
    """Let nobody wait for a call any more who comes from now on."""
    with _LOCK:
        if _NEXT.get(kind) is mine:
            del _NEXT[kind]
