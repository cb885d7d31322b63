# SPDX-License-Identifier: Apache-2.0

"""Traces with the columns of the VM traces of the Azure Public Dataset.

Both editions have the same columns, and no line that names the columns. The
first edition has numbers of cpus and of GiB; the second has buckets, of which
the last is open to above.

Rule: reference-simulation-traces
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import datetime
import itertools
import math
from typing import TypeAlias

from pcloud import exception
from pcloud_simulator import csv_tables
from pcloud_simulator import input_values
from pcloud_simulator import workload

COLUMNS = ('vmid', 'subscriptionid', 'deploymentid', 'vmcreated', 'vmdeleted',
           'maxcpu', 'avgcpu', 'p95maxcpu', 'vmcategory', 'vmcorecountbucket',
           'vmmemorybucket')
REQUIRED = ('vmid', 'vmcreated', 'vmdeleted', 'vmcorecountbucket',
            'vmmemorybucket')
# What the analyses that come with the trace take for the open buckets.
_OPEN_CORES = {'>24': 30}
_OPEN_MEMORY = {'>64': 70.0}

Time: TypeAlias = Callable[[str, str], float]


def read(path: str) -> workload.Trace:
    """Read a trace.

    =====================  ================================================
    column                 value
    =====================  ================================================
    ``vmid``               any text, once in the file
    ``vmcreated``          seconds since the trace began, or ISO 8601
    ``vmdeleted``          the same; empty for a server that lives on
    ``vmcorecountbucket``  virtual cpus; ``>24`` counts as 30
    ``vmmemorybucket``     GiB; ``>64`` counts as 70
    any other              not read
    =====================  ================================================

    A server that ends with the trace lives on: the end is not recorded.

    :raises: `exception.InvalidValue`, `exception.InputUnreadable`
    """
    rows = csv_tables.rows(path, REQUIRED, COLUMNS)
    first = next(rows, None)
    if first is None:
        raise exception.InputUnreadable(
            path=path, reason='the trace has no server')
    every = itertools.chain([first], rows)
    if _is_iso(first.text('vmcreated')):
        return _dated(list(_servers(every, _timestamp)))
    return _trace(list(_servers(every, input_values.seconds)), 0.0, None)


def _is_iso(value: str) -> bool:
    return '-' in value


def _timestamp(value: str, place: str) -> float:
    return input_values.moment(value, place).timestamp()


def _dated(servers: Sequence[workload.TraceServer]) -> workload.Trace:
    """Return a trace whose times are seconds since 1970 so far."""
    begin = min(server.start for server in servers)
    return _trace(servers, begin,
                  datetime.datetime.fromtimestamp(begin, datetime.UTC))


def _trace(
    servers: Sequence[workload.TraceServer], begin: float,
    moment: datetime.datetime | None,
) -> workload.Trace:
    last = max(max(server.start if server.end == workload.FOREVER
                   else server.end for server in servers), begin)
    moved = [
        workload.TraceServer(
            server.start - begin,
            workload.FOREVER if server.end >= last else server.end - begin,
            server.size) for server in servers]
    moved.sort(key=lambda server: server.start)
    return workload.Trace(tuple(moved), last - begin, moment)


def _servers(
    rows: Iterable[csv_tables.Row], time: Time,
) -> Iterator[workload.TraceServer]:
    lines: dict[str, int] = {}
    for row in rows:
        csv_tables.own_name(row, 'vmid', lines, 'server')
        yield _server(row, time)


def _server(row: csv_tables.Row, time: Time) -> workload.TraceServer:
    start = time(row.text('vmcreated'), row.place('vmcreated'))
    end = workload.FOREVER
    deleted = row.text('vmdeleted')
    if deleted:
        end = time(deleted, row.place('vmdeleted'))
        if end < start:
            raise exception.InvalidValue(
                row.place('vmdeleted'), deleted,
                f'a time that is not before vmcreated, '
                f'{row.text("vmcreated")}, or nothing')
    return workload.TraceServer(start, end, workload.Size(
        math.ceil(_memory(row) * 1024), math.ceil(_cores(row))))


def _cores(row: csv_tables.Row) -> float:
    text = row.text('vmcorecountbucket')
    return _OPEN_CORES.get(text) or row.number('vmcorecountbucket')


def _memory(row: csv_tables.Row) -> float:
    text = row.text('vmmemorybucket')
    return _OPEN_MEMORY.get(text) or row.number('vmmemorybucket')
