# SPDX-License-Identifier: Apache-2.0

"""Measure filters and weighers; fail when a wanted figure is missed."""

import argparse
import itertools
import pathlib
import sys

from pcloud.tests.benchmarks.filters import cloud
from pcloud.tests.benchmarks.filters import databases
from pcloud.tests.benchmarks.filters import figures
from pcloud.tests.benchmarks.filters import measuring
from pcloud.tests.benchmarks.filters import report
from pcloud.tests.benchmarks.filters import subjects


def main() -> int:
    """Run the benchmark; return 1 when a figure is missed."""
    options = _parsed()
    measured = []
    with databases.running() as cell:
        for hosts, pclouds in itertools.product(
                options.hosts, options.pclouds):
            print(f'{hosts} hosts, {pclouds} Pclouds ...', file=sys.stderr)
            planned = cloud.plan(hosts, pclouds)
            cloud.write(planned, cell)
            measured += measuring.measure(
                subjects.of(planned, cell), hosts, pclouds, options.repeat)
    found = figures.judge(measured)
    print(report.versions())
    print(*report.tables(measured), '', *report.verdicts(found), sep='\n')
    if options.json:
        report.write(options.json, measured)
    return 0 if all(each.met for each in found) else 1


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='python -m pcloud.tests.benchmarks.filters', description=__doc__)
    parser.add_argument(
        '--hosts', type=int, nargs='+', default=[100, 1000, 10000],
        help='sizes of clouds (default: %(default)s)')
    parser.add_argument(
        '--pclouds', type=int, nargs='+', default=[200, 2000],
        help='numbers of Pclouds (default: %(default)s)')
    parser.add_argument(
        '--repeat', type=int, default=20,
        help='how often each is timed (default: %(default)s)')
    parser.add_argument(
        '--json', type=pathlib.Path, metavar='FILE',
        help='where to write what was measured, as pyperf does')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
