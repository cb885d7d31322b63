# SPDX-License-Identifier: Apache-2.0

"""Traces that are made up, with the columns of the Azure Public Dataset.

``python -m pcloud_simulator.generator`` writes such a trace to standard
output::

    python -m pcloud_simulator.generator --servers 2000 --days 42 > trace.csv

The servers of the first day were there before. New servers come by chance,
as many as go. A server lives for some days on average, exponentially, and has
one of the sizes of the trace with the frequencies of `SIZES`. Times are whole
multiples of 300 seconds, as in the real traces.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import csv
import random
import sys

from pcloud_simulator import azure_trace
from pcloud_simulator import workload

# Cpus, GiB and how often: small sizes are frequent, as in real traces.
SIZES = (('2', '4', 30), ('2', '8', 20), ('4', '8', 10), ('4', '32', 15),
         ('8', '32', 15), ('8', '64', 6), ('24', '64', 3), ('24', '>64', 1))
_STEP = 300
_CATEGORIES = ('Delay-insensitive', 'Interactive', 'Unknown')


def rows(
    chance: random.Random, servers: int, days: float, lifetime: float,
) -> Iterator[list[str]]:
    """Yield the lines of a trace, ordered by the start of the servers.

    :param servers: about how many servers there are at any moment
    :param lifetime: the days that a server lives on average
    """
    moments = [0.0] * servers
    moment = 0.0
    while (moment := moment + chance.expovariate(servers / lifetime)) < days:
        moments.append(moment)
    for number, start in enumerate(moments, 1):
        yield _row(number, start, start + chance.expovariate(1 / lifetime),
                   days, chance)


def _row(
    number: int, start: float, end: float, days: float,
    chance: random.Random,
) -> list[str]:
    cores, memory, _ = chance.choices(
        SIZES, [weight for *_, weight in SIZES])[0]
    most = chance.uniform(1, 100)
    project = chance.randrange(9)
    return [
        f'v{number}', f's{project}', f'd{project}{chance.randrange(4)}',
        _seconds(start), '' if end >= days else _seconds(end),
        f'{most:.1f}', f'{most * 0.3:.1f}', f'{most * 0.8:.1f}',
        chance.choice(_CATEGORIES), cores, memory]


def _seconds(days: float) -> str:
    return str(round(days * workload.DAY / _STEP) * _STEP)


def main() -> None:
    """Write a trace to standard output."""
    parser = argparse.ArgumentParser(
        description='Write a trace of servers that is made up.')
    parser.add_argument('--servers', type=int, default=2000,
                        help='how many servers there are at any moment '
                             '(default: %(default)s)')
    parser.add_argument('--days', type=float, default=42,
                        help='how long the trace is (default: %(default)s)')
    parser.add_argument('--lifetime', type=float, default=14,
                        help='the days that a server lives on average '
                             '(default: %(default)s)')
    parser.add_argument('--seed', type=int, default=1,
                        help='of chance (default: %(default)s)')
    options = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator='\n')
    writer.writerow(azure_trace.COLUMNS)
    writer.writerows(rows(random.Random(options.seed), options.servers,
                          options.days, options.lifetime))


if __name__ == '__main__':
    main()
