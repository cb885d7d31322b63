# SPDX-License-Identifier: Apache-2.0

"""Threads that work for owners, for each owner one at a time.

A slow part of the cloud, or an owner with many Pclouds, holds up no other
owner, and no pass.

Rule: reference-worker-threads
"""

from collections.abc import Callable
from concurrent import futures

# Each thread may hold a connection to each database.
_COUNT = 8


class OwnerThreads:
    """Threads that are given work for owners, by one thread."""

    def __init__(self) -> None:
        self._pool = futures.ThreadPoolExecutor(_COUNT)
        self._at_work: dict[str, futures.Future[None]] = {}

    def submit(self, owner: str, work: Callable[[], None]) -> None:
        """Have work done for an owner, unless earlier work goes on.

        :raises: whatever earlier work for the owner has raised
        """
        earlier = self._at_work.get(owner)
        if earlier is not None:
            if not earlier.done():
                return
            earlier.result()
        self._at_work[owner] = self._pool.submit(work)

    def end(self) -> None:
        """Wait for the end of all work.

        :raises: whatever the latest work for an owner has raised
        """
        self._pool.shutdown()
        for work in self._at_work.values():
            work.result()
