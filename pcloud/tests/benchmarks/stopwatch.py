# SPDX-License-Identifier: Apache-2.0

"""The processor time of the parts of a call."""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import threading
import time
from unittest import mock


class Stopwatch:
    """Adds up the processor time of watched functions.

    The time of a part inside an outer part does not count for the outer part;
    the name of the inner part contains both names. Each thread's own time is
    taken, so that neither other threads nor other processes count.

    :ivar seconds: part -> seconds since `clear`, in order of first use
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = collections.defaultdict(float)
        self._stack = contextlib.ExitStack()
        self._thread = threading.local()

    def __enter__(self) -> Stopwatch:
        return self

    def __exit__(self, *error) -> None:
        self._stack.close()

    def clear(self) -> None:
        """Set all times to zero."""
        self.seconds.clear()

    def watch(
        self, owner: object, name: str, part: str,
        finish: Callable = lambda result: result,
    ) -> None:
        """Have a function or method count as a part, until the end.

        :param finish: called with the function's result, within the part; for
            a function that returns an iterator, whose work follows the return
        """
        original = getattr(owner, name)

        def timed(*args, **kwargs):
            with self.part(part):
                return finish(original(*args, **kwargs))

        self._stack.enter_context(mock.patch.object(owner, name, timed))

    def watch_list(self, functions: list, index: int, part: str) -> None:
        """Have the function at an index of a list count as a part."""
        original = functions[index]

        def timed(*args, **kwargs):
            with self.part(part):
                return original(*args, **kwargs)

        functions[index] = timed
        self._stack.callback(functions.__setitem__, index, original)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count all work within the context as a part."""
        outer = getattr(self._thread, 'inside', ())
        full_name = ': '.join((*outer[-1:], name))
        self._thread.inside = (*outer, full_name)
        began = time.thread_time()
        try:
            yield
        finally:
            took = time.thread_time() - began
            self._thread.inside = outer
            self.seconds[full_name] += took
            if outer:
                self.seconds[outer[-1]] -= took
