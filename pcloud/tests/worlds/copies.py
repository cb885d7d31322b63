# SPDX-License-Identifier: Apache-2.0
"""Copies of this process that go on from the same state.

SQLite in memory, Nova's services and all greenlets are part of a copy. What a
copy does has no effect on the process that made the copy.
"""

from __future__ import annotations

from collections.abc import Callable
import os
import pickle
import traceback
import typing

from eventlet import patcher

_os = patcher.original('os')
# The process of which all are copies.
_first: int | None = None


class CopyFailed(Exception):
    """The function has failed in a copy of this process."""


def run(work: Callable[[], object]) -> typing.Any:
    """Run a function in a copy of this process.

    :returns: the function's return value, which has to be picklable
    :raises CopyFailed: when the function raised an exception, with the
        traceback as text
    """
    global _first
    if _first is None:
        _first = _os.getpid()
    elif not _os.path.exists(f'/proc/{_first}'):
        # Copies do not outlive a test that was killed.
        os._exit(1)
    threads = len(_os.listdir('/proc/self/task'))
    if threads > 1:
        raise CopyFailed(f'A copy has one thread alone; here are {threads}.')
    reading, writing = _os.pipe()
    pid = _os.fork()
    if not pid:
        _os.close(reading)
        _end_with(work, writing)
    _os.close(writing)
    with open(reading, 'rb') as pipe:
        answer = pipe.read()
    _os.waitpid(pid, 0)
    if not answer:
        raise CopyFailed('The copy has ended without a result.')
    failure, result = pickle.loads(answer)
    if failure is not None:
        raise CopyFailed(failure)
    return result


def _end_with(work: Callable[[], object], writing: int) -> typing.NoReturn:
    try:
        try:
            answer = None, work()
        except CopyFailed as failure:
            answer = str(failure), None
        except BaseException:
            answer = traceback.format_exc(), None
        with open(writing, 'wb') as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)
