# SPDX-License-Identifier: Apache-2.0

"""Plant faults in modules, and look for the tests that notice.

A fault that no test notices is printed, and at the end a table of the modules.
"""

import argparse
import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
import itertools
import json
import os
import pathlib
import sys

from pcloud.tests.mutation import children
from pcloud.tests.mutation import mutants
from pcloud.tests.mutation import trials

VERDICTS = ('killed', 'survived', 'timeout')


def row(mutant: mutants.Mutant) -> dict[str, str | int]:
    """Return what tells a mutant from all others in the file of results."""
    return {'file': mutant.path, 'function': mutant.function,
            'line': mutant.lines[0], 'diff': mutant.diff}


def judged(outcome: children.Outcome) -> dict[str, str]:
    """Return the verdict on a mutant, and what has led to the verdict."""
    if outcome.signal in trials.TIMEOUTS:
        return {'verdict': 'timeout', 'by': ''}
    if outcome.value == '':
        return {'verdict': 'survived', 'by': ''}
    # Where a module with the fault cannot be imported, no test can pass.
    by = outcome.value or outcome.error.splitlines()[-1]
    return {'verdict': 'killed', 'by': by}


def judge(
    chosen: Iterable[mutants.Mutant], tests: Collection[trials.Test],
    most: int,
) -> Iterator[dict]:
    """Yield the rows of mutants, each with a verdict.

    The tests that have killed last are the first to be tried, and then the
    quickest.
    """
    killers: dict[str, int] = {}
    jobs = ((mutant, sorted(
        (test for test in tests if test.reaches(mutant)),
        key=lambda test: (-killers.get(test.name, 0), test.seconds)))
        for mutant in chosen)
    for number, ((mutant, _), outcome) in enumerate(
            children.outcomes(trials.killer, jobs, most), 1):
        verdict = judged(outcome)
        killers[verdict['by']] = number
        yield row(mutant) | verdict


def table(rows: Collection[dict]) -> Iterator[str]:
    """Yield the lines of a table: the number of verdicts of each file."""
    numbers = collections.Counter((each['file'], verdict) for each in rows
                                  for verdict in ('', each['verdict']))
    files = sorted({each['file'] for each in rows})
    width = max(map(len, files), default=0)
    yield f'{"":{width}}  mutants' + ''.join(
        f'{each:>10}' for each in VERDICTS)
    for file in files:
        yield f'{file:{width}} {numbers[file, ""]:8}' + ''.join(
            f'{numbers[file, each]:10}' for each in VERDICTS)


def _files(named: Iterable[str], pattern: str) -> list[pathlib.Path]:
    """Return the files that are named, or are in the folders.

    The files are relative to the working directory, as names of modules are.
    """
    paths = [pathlib.Path(os.path.relpath(each)) for each in named]
    return sorted({file for path in paths for file in (
        path.rglob(pattern) if path.is_dir() else [path])})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='python -m pcloud.tests.mutation',
        description=__doc__.splitlines()[0])
    parser.add_argument(
        'modules', nargs='+', help='files and folders to plant faults in')
    parser.add_argument(
        '--tests', nargs='+', required=True, help='files and folders of tests')
    parser.add_argument(
        '--output', default=os.devnull, metavar='FILE',
        help='a file for a line of JSON for each mutant; mutants that the '
             'file has are not tried again')
    parser.add_argument(
        '--children', type=int, default=2,
        help='how many mutants are tried at the same time')
    parser.add_argument(
        '--every', type=int, default=1, metavar='N',
        help='take only each Nth mutant of a module')
    return parser.parse_args()


def _tests(options: argparse.Namespace,
           paths: Collection[pathlib.Path]) -> list[trials.Test]:
    """Return the tests that pass; print the others.

    :raises SystemExit: a test fails without a fault
    """
    modules = [mutants.module_name(each)
               for each in _files(options.tests, 'test_*.py')]
    trials.load_others(modules)
    tests = list(trials.measure(modules, paths, options.children))
    for each in tests:
        if each.result != 'passed':
            print(f'{each.result}: {each.name}')
    if any(each.result == 'failed' for each in tests):
        raise SystemExit('Tests fail without a fault.')
    return [each for each in tests if each.result == 'passed']


def main() -> None:
    """Try mutants, and print what survives."""
    options = _options()
    paths = _files(options.modules, '*.py')
    tests = _tests(options, paths)
    chosen = [mutant for path in paths for mutant in itertools.islice(
        mutants.of_module(path), 0, None, options.every)]
    loaded = {each.module for each in chosen} & sys.modules.keys()
    if loaded:
        raise SystemExit(f'Loaded already, without a fault: {loaded}')
    with open(options.output, 'a+') as results:
        results.seek(0)
        known = {_key(each): each for each in map(json.loads, results)}
        left = [each for each in chosen if _key(row(each)) not in known]
        print(f'{len(tests)} tests, {len(chosen)} mutants, {len(left)} of '
              'them to be tried', flush=True)
        for each in judge(left, tests, options.children):
            known[_key(each)] = each
            print(json.dumps(each), file=results, flush=True)
            if each['verdict'] != 'killed':
                print('{file}:{line}: {verdict}\n{diff}'.format(**each),
                      flush=True)
    print(*table([known[_key(row(each))] for each in chosen]), sep='\n')


def _key(found: dict) -> tuple:
    return tuple(found[each] for each in ('file', 'function', 'line', 'diff'))


if __name__ == '__main__':
    main()
