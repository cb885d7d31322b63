# SPDX-License-Identifier: Apache-2.0

"""A control plane: what breaks first, at which rate and at which size.

Each operation of the real code is measured in clouds of rows of several sizes:
processor time, statements, locked rows, calls of Placement and casts. A
simulation of events has a stream of operations come, each of which takes what
a measured one took. A short stream through real processes shows whether the
simulation can be believed.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import multiprocessing
from typing import Any

from pcloud.tests.benchmarks.control_plane import cells
from pcloud.tests.benchmarks.control_plane import measuring
from pcloud.tests.benchmarks.control_plane import real
from pcloud.tests.benchmarks.model import figures
from pcloud.tests.benchmarks.model import operations as ops
from pcloud.tests.benchmarks.model import stream
from pcloud.tests.benchmarks import results

# Numbers of hosts, and of turns.
FULL = {'clouds_of': ((1000, 5), (10_000, 3), (100_000, 1)),
        'wanted': 100_000,
        'checked': ops.Stream(launches=40, changes=20), 'seconds': 60.0,
        'cut': 2000, 'parts': 4}
SMALL = {'clouds_of': ((400, 1), (800, 1)),
         'wanted': 1600,
         'checked': ops.Stream(launches=60, changes=30), 'seconds': 10.0,
         'cut': 400, 'parts': 2}
_TURNS = 3
_CELLS = 'Seconds of a choice of a host, of all processes'


def _apart(work: Callable[..., Any], *arguments: object) -> Any:
    """Work in a process: each can choose its databases only once."""
    with multiprocessing.get_context('spawn').Pool(1) as pool:
        return pool.apply(work, arguments)


def measure(
    clouds_of: Sequence[tuple[int, int]], wanted: int, checked: ops.Stream,
    seconds: float, cut: int, parts: int,
) -> Iterator[results.Row]:
    """Measure clouds, and simulate what was not measured.

    :param clouds_of: the number of hosts of each cloud, the smallest first,
        and the number of turns
    :param wanted: the number of hosts of the cloud that is to hold
    :param checked: the stream through real processes, in the smallest cloud
    :param seconds: how long the stream comes
    :param cut: the number of hosts of the cloud that is cut into cells
    :param parts: the number of cells
    """
    found = {}
    for hosts, repeat in clouds_of:
        found[hosts] = _apart(measuring.measure_cloud, hosts, repeat)
        yield from figures.of_costs(hosts, found[hosts])
    yield from figures.of_nova(found)
    yield from figures.of_casts(found)
    smallest = min(found)
    yield from figures.of_limits(found, wanted)
    yield from figures.of_cuts(found)
    yield from figures.of_streams(found, wanted)
    yield from _checked(found[smallest], smallest, checked, seconds)
    for number, each in _apart(
            cells.measure, cut, (1, parts), _TURNS).items():
        name = f'{number} cells, {cut:,} hosts'
        for unit, sample in (
                ('s without a hint', each.plain),
                ('s in a Pcloud', each.hinted),
                ('s in a Pcloud, its cell named', each.named)):
            yield results.Row(_CELLS, name, unit, sample.all)


def _checked(
    found: dict, hosts: int, of_all: ops.Stream, seconds: float,
) -> Iterator[results.Row]:
    # Not in a process of a pool, which may have no processes of its own.
    streamed = real.streamed(hosts, of_all, seconds, seed=1)
    machine = stream.Machine(real.PLANT.cores, streamed.speed)
    yield from figures.of_check(
        found, hosts, real.rates(of_all), seconds, streamed.outcome,
        real.PLANT, machine)
