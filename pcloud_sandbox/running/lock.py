# SPDX-License-Identifier: Apache-2.0

"""One sandbox a folder: the lock of a state folder.

The kernel keeps the lock, and releases the lock when the last process that
holds a copy ends, for whatever reason. A process shares the lock with the
children that inherit the file descriptor.
"""

from collections.abc import Iterator
import contextlib
import fcntl
import os
import time

from pcloud_sandbox.configuration import layout
from pcloud_sandbox import errors

POLL = 0.2


class Busy(errors.SandboxError):
    """Another process holds the lock."""


def acquire(where: layout.Layout, timeout: float = 0) -> int:
    """Take the lock of a sandbox's folder; make a missing folder.

    :param timeout: seconds to wait for the holder of the lock
    :returns: a file descriptor; the kernel releases the lock when all
        copies of the descriptor are closed
    :raises Busy: another process holds the lock
    """
    deadline = time.monotonic() + timeout
    while True:
        descriptor = _try(where)
        if descriptor is not None:
            return descriptor
        if time.monotonic() >= deadline:
            raise Busy(
                f'{where.directory}: another pcloud-sandbox command is at '
                f'work there; wait for it, or choose another --dir')
        time.sleep(POLL)


def _try(where: layout.Layout) -> int | None:
    where.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        descriptor = os.open(where.lock, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        # The folder has just been removed.
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The last holder may have removed the file meanwhile: then this
        # lock is on a file that no other process can open.
        if os.path.samestat(os.fstat(descriptor), os.stat(where.lock)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


@contextlib.contextmanager
def hold(where: layout.Layout, timeout: float = 0) -> Iterator[int]:
    """Hold the lock for a while; see :func:`acquire`."""
    descriptor = acquire(where, timeout)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
