# SPDX-License-Identifier: Apache-2.0

"""Run one part in this process.

``python -m pcloud.tests.benchmarks.part NAME full|small FILE`` prints the rows
of the part to stderr, and writes a line of JSON for each row to a file.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import pathlib
import sys

from pcloud.tests.benchmarks import results


def shown(row: results.Row) -> str:
    """Return a row as a line of text."""
    found = ('not installed' if row.found is None else f'{row.found:,.4g}'
             if isinstance(row.found, float) else f'{row.found:,}')
    text = f'{row.name}: {row.unit}: {found}'
    if row.is_wanted:
        text += f' ({row.verdict.value}: {row.wanted} wanted)'
    return text


def of_small_cloud(row: results.Row) -> results.Row:
    """Return a row without what is wanted of large clouds alone.

    In a small cloud a few statements are most of the time.
    """
    if row.is_count:
        return row
    return dataclasses.replace(row, most=None, least=None, why='')


def main(name: str, sizes: str, path: str) -> None:
    """Measure, print and write."""
    part = importlib.import_module(f'pcloud.tests.benchmarks.{name}')
    arguments = {'full': part.FULL, 'small': part.SMALL}[sizes]
    rows = []
    for row in part.measure(**arguments):
        rows.append(row if sizes == 'full' else of_small_cloud(row))
        print(shown(rows[-1]), file=sys.stderr, flush=True)
    pathlib.Path(path).write_text(''.join(
        json.dumps(results.line(row)) + '\n' for row in rows))


if __name__ == '__main__':
    main(*sys.argv[1:])
