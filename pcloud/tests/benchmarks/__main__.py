# SPDX-License-Identifier: Apache-2.0

"""Run all parts, and make the tables of the page about performance.

Each part has a process of its own: a part that fails loses no other part. A
part that the file of results has from this commit is left out, unless the
part is named. Parts that are named are measured again, and the file keeps what
it has of the other parts, from whatever commit.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
import dataclasses
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from pcloud.tests.benchmarks import machine
from pcloud.tests.benchmarks import results
from pcloud.tests.benchmarks import tables

# Characters of what a part has printed that failed.
_TAIL = 1000


def begun(
    path: pathlib.Path, sizes: str, commit: str, named: Collection[str],
) -> results.Run:
    """Return the run that a file keeps, or a new run.

    :param named: parts that are to be measured again; without such parts only
        a run of the commit goes on
    """
    if path.exists():
        kept = results.read(path)
        if kept.sizes == sizes and (named or kept.commit == commit):
            return kept
    return results.Run(commit, datetime.date.today().isoformat(), sizes,
                       machine.described())


def run(name: str, sizes: str) -> results.Part:
    """Run a part in a process."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix='pcloud-bench-') as folder:
        path = pathlib.Path(folder, 'rows')
        with open(pathlib.Path(folder, 'told'), 'w+') as told:
            done = subprocess.Popen(
                [sys.executable, '-m', 'pcloud.tests.benchmarks.part', name,
                 sizes, str(path)],
                stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            assert done.stderr is not None
            for each in done.stderr:
                print(each, end='', file=sys.stderr, flush=True)
                told.write(each)
            error = ''
            if done.wait():
                told.seek(0)
                error = told.read()[-_TAIL:] or f'ended with {done.returncode}'
        rows = [] if error else [
            results.Row(**json.loads(each))
            for each in path.read_text().splitlines()]
    return results.Part(time.monotonic() - began, error, rows)


def main() -> int:
    """Run parts; return 1 when a part fails or a wanted figure is missed."""
    parser = argparse.ArgumentParser(
        prog='python -m pcloud.tests.benchmarks',
        description=__doc__.splitlines()[0])
    parser.add_argument(
        'parts', nargs='*', choices=[[], *results.PARTS], metavar='PART',
        help=f'what to measure again: {", ".join(results.PARTS)} (default: '
             'whatever the folder lacks of this commit)')
    parser.add_argument(
        '--folder', type=pathlib.Path, default=machine.FOLDER,
        help='where results and tables are (default: beside the page about '
             'performance)')
    parser.add_argument(
        '--small', action='store_const', const='small', default='full',
        help='clouds of a few hosts, where no time is judged')
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / tables.RESULT
    commit = machine.commit()
    found = begun(path, options.small, commit, options.parts)
    for name in options.parts or found.left():
        print(f'--- {name} ...', file=sys.stderr, flush=True)
        found.parts[name] = dataclasses.replace(
            run(name, options.small),
            commit='' if commit == found.commit else commit)
        print(f'--- {name}: {found.parts[name].seconds:.0f} seconds',
              file=sys.stderr, flush=True)
        found.parts = {each: found.parts[each] for each in results.PARTS
                       if each in found.parts}
        results.write(path, found)
        # What the file keeps is rounded.
        (options.folder / tables.TABLES).write_text(
            tables.page(results.read(path)))
    print(*tables.summary(found), sep='\n')
    return int(not found.is_met)


if __name__ == '__main__':
    sys.exit(main())
