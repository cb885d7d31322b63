# SPDX-License-Identifier: Apache-2.0

"""Outages of the second cell, and when they were."""

from collections.abc import Iterator
import contextlib
import math
import threading
import time

# Seconds for which Nova feels an outage that is over.
CALM = 60


class Outages:
    """The moments at which a part of the second cell was away."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = 0
        self._ended_at = -math.inf

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Note that a part is away within the context."""
        with self._lock:
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                self._ended_at = time.monotonic()

    def any_since(self, moment: float, calm: float = 0) -> bool:
        """Return whether a part was away at any time since a moment.

        :param moment: of ``time.monotonic()``
        :param calm: the seconds for which an outage is felt afterwards
        """
        with self._lock:
            return bool(self._under_way) or self._ended_at + calm >= moment
