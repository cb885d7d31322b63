# SPDX-License-Identifier: Apache-2.0

"""Processor time of several processes, and of MariaDB for this process.

Only processor time is taken, so that other work of the machine hits a figure
as little as possible. What MariaDB does for this process is the time of the
threads that serve the process's connections; MariaDB has to run on this
machine, with a thread for each connection.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import dataclasses
import gc
import pathlib
import time

import psutil
import pymysql
import sqlalchemy as sa

from pcloud.tests.concurrency import mariadb

# Of Linux: the processor time of a process with all its threads.
_CPUCLOCK_SCHED = 2


@dataclasses.dataclass(frozen=True)
class Spent:
    """Seconds of processor time.

    :ivar own: of this process
    :ivar others: of the other processes that are watched
    :ivar database: of MariaDB
    """

    own: float
    others: float
    database: float

    @property
    def all(self) -> float:
        """The sum."""
        return self.own + self.others + self.database


class Meter:
    """Takes the processor time that a piece of work costs.

    :param pids: further processes of this machine that work for this process
    """

    def __init__(self, pids: Collection[int] = ()) -> None:
        self._pids = pids
        self._connection = pymysql.connect(
            host=mariadb.HOST, user=mariadb.USER, autocommit=True)
        self._tasks = pathlib.Path(f'/proc/{_mariadbd()}/task')

    def spent(self, work: Callable[[], object]) -> Spent:
        """Work, and return the processor time."""
        # A thread that serves this process later may have served another.
        threads, others = self._every_thread(), self._others()
        own = time.process_time()
        work()
        own = time.process_time() - own
        others = self._others() - others
        return Spent(own, others, sum(
            seconds - threads.get(thread, 0)
            for thread, seconds in self._threads().items()))

    def _others(self) -> float:
        return sum(map(of_process, self._pids))

    def _threads(self) -> dict[int, float]:
        """Return thread of MariaDB -> seconds, of this process's databases."""
        with self._connection.cursor() as cursor:
            cursor.execute(
                'SELECT tid FROM information_schema.processlist '
                'WHERE db LIKE %s', (mariadb.own('').replace('_', r'\_') +
                                     '%',))
            threads = [tid for tid, in cursor.fetchall()]
        return self._seconds(threads)

    def _every_thread(self) -> dict[int, float]:
        """Return thread of MariaDB -> seconds, of all threads."""
        return self._seconds(int(each.name) for each in self._tasks.iterdir())

    def _seconds(self, threads: Iterable[int]) -> dict[int, float]:
        found = {}
        for thread in threads:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found[thread] = int((self._tasks / str(
                    thread) / 'schedstat').read_text().split()[0]) / 1e9
        return found


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Have no garbage collected within the context, and all garbage before.

    A collection, a fifth of the time of a long list, would hit one of two
    works that differ by a few objects.
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def of_process(pid: int) -> float:
    """Return the seconds of processor time of a process until now."""
    return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)


def _mariadbd() -> int:
    """Return the process id of the MariaDB that has the databases.

    :raises: `LookupError` when the MariaDB is not on this machine
    """
    for each in psutil.net_connections('tcp'):
        if each.status == psutil.CONN_LISTEN and (
                each.laddr.port == mariadb.PORT) and each.pid:
            return each.pid
    raise LookupError(f'no server listens at port {mariadb.PORT}')


@dataclasses.dataclass
class Read:
    """What MariaDB has done for this process.

    :ivar statements: the number of statements
    :ivar rows: the rows and index entries that the statements have looked at
    """

    statements: int = 0
    rows: int = 0


@contextlib.contextmanager
def reading() -> Iterator[Read]:
    """Count the statements of this process, and the rows that they look at.

    Neither depends on the machine or on other work there.
    """
    found = Read()
    before: dict[int, int] = {}

    def on_begin(connection, cursor, *args) -> None:
        found.statements += 1
        first = _looked_at(cursor.connection)
        second = _looked_at(cursor.connection)
        # The count itself reads a few rows of a temporary table.
        before[id(cursor)] = second + (second - first)

    def on_end(connection, cursor, *args) -> None:
        found.rows += _looked_at(cursor.connection) - before.pop(id(cursor))

    sa.event.listen(sa.Engine, 'before_cursor_execute', on_begin)
    sa.event.listen(sa.Engine, 'after_cursor_execute', on_end)
    try:
        yield found
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', on_begin)
        sa.event.remove(sa.Engine, 'after_cursor_execute', on_end)


def _looked_at(connection) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
        return sum(int(value) for _, value in cursor.fetchall())
