# SPDX-License-Identifier: Apache-2.0

"""The times, statements, HTTP requests and memory of subjects."""

from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses
import gc
import http.client
import random
import time
import tracemalloc

import fixtures
import sqlalchemy as sa

from pcloud.tests.benchmarks.filters import subjects
from pcloud.tests.benchmarks import meter


@dataclasses.dataclass
class Counted:
    """Statements sent to databases, and HTTP requests."""

    statements: int = 0
    calls: int = 0


@dataclasses.dataclass
class Measured:
    """The measurements of a subject on a cloud.

    :ivar subject: (name of the subject, kind of request)
    :ivar hosts: number of hosts in the cloud
    :ivar kept: number of hosts that the subject returned
    :ivar grown: bytes that the first request has added and kept
    :ivar peak: bytes that the first request has added at the worst moment
    :ivar wall: seconds of each run
    :ivar cpu: seconds of this process's processor time in each run
    """

    subject: tuple[str, str]
    hosts: int
    kept: int
    counted: Counted
    grown: int
    peak: int
    wall: list[float] = dataclasses.field(default_factory=list)
    cpu: list[float] = dataclasses.field(default_factory=list)


def measure(
    each: Sequence[subjects.Subject], host_count: int, repeat: int,
) -> list[Measured]:
    """Measure subjects on a cloud.

    The subjects take turns, in a new order each time, so that other work of
    the machine hits all alike.

    :param repeat: number of timed runs of each subject
    """
    # The collector ignores the existing hosts from here on.
    gc.collect()
    gc.freeze()
    try:
        found = [_held(subject, host_count) for subject in each]
        turns = list(zip(each, found, strict=True))
        for subject, measured in turns:
            measured.counted = _counted(subject)
        for number in range(repeat):
            random.Random(number).shuffle(turns)
            for subject, measured in turns:
                _time(subject, measured)
    finally:
        gc.unfreeze()
    return found


def _held(subject: subjects.Subject, host_count: int) -> Measured:
    """Run a subject for the first time, and measure the memory."""
    with subject.around():
        request = subject.request()
        gc.collect()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            kept = len(subject.run(request))
            _, peak = tracemalloc.get_traced_memory()
            del request
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    return Measured((subject.name, subject.asked), host_count, kept,
                    Counted(), after - before, peak - before)


def _counted(subject: subjects.Subject) -> Counted:
    with subject.around():
        request = subject.request()
        with counting() as count:
            subject.run(request)
    return count


@contextlib.contextmanager
def counting() -> Iterator[Counted]:
    """Count this process's statements to databases and HTTP requests."""
    count = Counted()

    def on_execute(*args) -> None:
        count.statements += 1

    original = http.client.HTTPConnection.request

    def on_request(connection, *args, **kwargs):
        count.calls += 1
        return original(connection, *args, **kwargs)

    sa.event.listen(sa.Engine, 'before_cursor_execute', on_execute)
    try:
        with fixtures.MonkeyPatch(
                'http.client.HTTPConnection.request', on_request):
            yield count
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', on_execute)


def _time(subject: subjects.Subject, measured: Measured) -> None:
    with subject.around():
        request = subject.request()
        with meter.without_collections():
            wall, cpu = time.perf_counter(), time.process_time()
            subject.run(request)
            measured.cpu.append(time.process_time() - cpu)
            measured.wall.append(time.perf_counter() - wall)
