# SPDX-License-Identifier: Apache-2.0

"""A benchmark as tables, and as JSON that pyperf reads."""

from collections.abc import Iterator
from collections.abc import Sequence
import importlib.metadata
import pathlib
import platform

import pymysql
import pyperf

from pcloud.tests.benchmarks.filters import figures
from pcloud.tests.benchmarks.filters import measuring
from pcloud.tests.benchmarks.filters import subjects
from pcloud.tests.benchmarks import suites
from pcloud.tests.concurrency import mariadb

_PACKAGES = ('nova', 'blazar-nova', 'SQLAlchemy', 'PyMySQL')


def versions() -> str:
    """Return a line with the versions of the measured software."""
    with (pymysql.connect(host=mariadb.HOST, user=mariadb.USER) as connection,
          connection.cursor() as cursor):
        cursor.execute('SELECT version()')
        (database,), = cursor.fetchall()
    found = [f'Python {platform.python_version()}', f'MariaDB {database}']
    for each in _PACKAGES:
        try:
            found.append(f'{each} {importlib.metadata.version(each)}')
        except importlib.metadata.PackageNotFoundError:
            found.append(f'no {each}')
    return ', '.join(found)


def tables(measured: Sequence[measuring.Measured]) -> Iterator[str]:
    """Yield the lines of a table for each number of Pclouds.

    The tables are simple tables of reStructuredText. Times are the times of
    the fastest turn, in milliseconds.
    """
    for pclouds in sorted({each.pclouds for each in measured}):
        yield ''
        yield f'{pclouds} Pclouds'
        yield ''
        yield from _table([each for each in measured
                           if each.pclouds == pclouds])


def _table(measured: Sequence[measuring.Measured]) -> list[str]:
    clouds = figures.clouds(measured)
    largest = max(clouds)
    floor = clouds[largest][subjects.FLOOR, subjects.ORDINARY]
    rows = [[name, asked,
             *(_milliseconds(clouds[cloud][name, asked].wall)
               for cloud in sorted(clouds)),
             f'{figures.ratio(each, floor):.2f}', _milliseconds(each.cpu),
             str(each.counted.statements), f'{each.grown / each.hosts:.0f}',
             f'{each.peak / each.hosts:.0f}']
            for (name, asked), each in clouds[largest].items()]
    head = ['filter or weigher', 'asked',
            *(f'{hosts:,}' for hosts, _ in sorted(clouds)),
            'of floor', 'core', 'SQL', 'kept', 'peak']
    return _simple_table([head, *rows])


def _simple_table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = '  '.join('=' * width for width in widths)
    lines = ['  '.join(cell.ljust(width) for cell, width
                       in zip(row, widths, strict=True)).rstrip()
             for row in rows]
    return [rule, lines[0], rule, *lines[1:], rule]


def _milliseconds(seconds: Sequence[float]) -> str:
    return f'{min(seconds) * 1000:.1f}'


def verdicts(found: Sequence[figures.Figure]) -> Iterator[str]:
    """Yield a line for each figure, missed figures last."""
    for each in sorted(found, key=lambda figure: not figure.met):
        yield (f'{"met   " if each.met else "MISSED"} {each.what}: wanted '
               f'{each.wanted}, got {each.got}')


def write(
    path: pathlib.Path, measured: Sequence[measuring.Measured],
) -> None:
    """Write the measurements as a suite of pyperf.

    Each subject on each cloud is a benchmark, whose values are seconds.
    """
    pyperf.BenchmarkSuite([
        suites.benchmark(
            f'{each.subject[0]} ({each.subject[1]}), {each.hosts} hosts, '
            f'{each.pclouds} Pclouds', each.wall, hosts=each.hosts,
            pclouds=each.pclouds, hosts_kept=each.kept,
            statements=each.counted.statements,
            http_calls=each.counted.calls, bytes_grown=each.grown,
            bytes_peak=each.peak, core_seconds=min(each.cpu))
        for each in measured]).dump(str(path), replace=True)
