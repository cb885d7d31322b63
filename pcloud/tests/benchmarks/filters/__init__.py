# SPDX-License-Identifier: Apache-2.0

"""The cost of Pcloud's filters and weighers, and of comparable filters.

Every cloud uses the same databases, one cloud after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import sys

from pcloud.tests import concurrency  # noqa: F401

from pcloud.tests.benchmarks.filters import cloud
from pcloud.tests.benchmarks.filters import databases
from pcloud.tests.benchmarks.filters import figures
from pcloud.tests.benchmarks.filters import measuring
from pcloud.tests.benchmarks.filters import subjects
from pcloud.tests.benchmarks import results

# Numbers of hosts and of Pclouds.
FULL = {'sizes': ((100, 2000), (1000, 2000), (10_000, 200), (10_000, 2000)),
        'repeat': 20}
SMALL = {'sizes': ((100, 1), (200, 1)), 'repeat': 1}


def measure(
    sizes: Sequence[tuple[int, int]], repeat: int,
) -> Iterator[results.Row]:
    """Measure all subjects so many times in each cloud.

    :param sizes: the number of hosts and the number of Pclouds of each cloud
    """
    found: dict[figures.Size, figures.Found] = {}
    with databases.running() as cell:
        for hosts, pclouds in sizes:
            print(f'{hosts} hosts, {pclouds} Pclouds ...', file=sys.stderr)
            planned = cloud.plan(hosts, pclouds)
            cloud.write(planned, cell)
            found[hosts, pclouds] = {
                each.subject: each for each in measuring.measure(
                    subjects.of(planned, cell), hosts, repeat)}
            yield from figures.passing(planned, found[hosts, pclouds])
    yield from figures.shown(found)
    yield from figures.judged(found)
