# SPDX-License-Identifier: Apache-2.0

"""Count the statements to databases and the calls of Placement."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import dataclasses
from unittest import mock

from nova.scheduler.client import report
import sqlalchemy as sa

_STATEMENTS = ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
_CALLS = ('get', 'post', 'put', 'delete')


@dataclasses.dataclass(order=True)
class Count:
    """The number of statements and calls.

    :ivar sql: statements to all databases of this process
    :ivar http: calls to Placement
    """

    sql: int = 0
    http: int = 0


@contextlib.contextmanager
def counted() -> Iterator[Count]:
    """Count the statements and calls of the whole process.

    The services of a process read too, now and then: see `least`.
    """
    found = Count()

    def on_statement(statement):
        found.sql += 1

    with contextlib.ExitStack() as stack:
        for name in _CALLS:
            stack.enter_context(_calls(name, found))
        stack.enter_context(_heard(on_statement))
        yield found


@contextlib.contextmanager
def _heard(on_statement: Callable[[str], object]) -> Iterator[None]:
    """Call a function with each statement to any database of this process."""
    def on_execute(connection, cursor, statement, *args):
        if statement.startswith(_STATEMENTS):
            on_statement(statement)

    sa.event.listen(sa.Engine, 'before_cursor_execute', on_execute)
    try:
        yield
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', on_execute)


def statements(call: Callable[[], object], times: int = 3) -> list[str]:
    """Return the text of each statement of a call alone, without values.

    The result is the shortest of several lists, and a first call is left out,
    as in `least`.
    """
    call()
    found = []
    for _ in range(times):
        texts: list[str] = []
        with _heard(texts.append):
            call()
        found.append(texts)
    return min(found, key=len)


def _calls(name: str, found: Count):
    original = getattr(report.SchedulerReportClient, name)

    def call(*args, **kwargs):
        found.http += 1
        return original(*args, **kwargs)

    return mock.patch.object(report.SchedulerReportClient, name, call)


def count(call: Callable[[], object]) -> Count:
    """Count the statements and calls of the whole process during a call."""
    with counted() as found:
        call()
    return found


def least(call: Callable[[], object], times: int = 5) -> Count:
    """Count the statements and calls of a call alone.

    The result is the least of several counts, because services of the process
    may read during a count. A first call is not counted: readings that are
    made once and cached do not belong to the call.
    """
    call()
    return min(count(call) for _ in range(times))
