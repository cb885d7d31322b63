# SPDX-License-Identifier: Apache-2.0

"""What a request for a server costs in clouds of several sizes.

``python -m pcloud.tests.benchmarks.whole_path`` runs Nova's scheduler and
Placement in this process, over SQLite, and requests servers with and without
the hint of a Pcloud of 20 hosts. The benchmark fails when a request with the
hint sends more statements or calls in a larger cloud, when the request takes
longer there than the work of Nova and Placement for any request explains, or
when the request finds no host.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses
import functools
import gc
import logging
import multiprocessing
import statistics
import sys
import time

# Loads the threading of Nova, so the import comes first.
from pcloud.tests import functional  # noqa: F401

from nova import exception as nova_exception
from nova import objects
from nova.scheduler.client import report
from nova.scheduler import host_manager
from nova.scheduler import request_filter
from nova.scheduler import utils

from pcloud.scheduler import open_hosts
from pcloud.scheduler import prefilter
from pcloud.tests.benchmarks import stopwatch
from pcloud.tests.benchmarks import tables
from pcloud.tests.support import big
from pcloud.tests.support import counting

# For each request, whatever it is narrowed to, Nova's scheduler reads the
# services of all hosts of a cell, and Placement goes through all providers
# that have room. Nothing that is loaded into the scheduler can change that.
SERVICES = 'Nova: all compute services of the cell'
CANDIDATES = 'Placement: candidates'
REST = 'Nova: everything else'

# How much more the rest of a request with the hint may cost in the largest
# cloud than in the smallest. It is one and the same work; what is above 1 is
# for the noise of a busy machine. In a cloud five times as large, anything
# that grows with it shows as up to 5.
BOUND = 1.3

# A part that takes less than these seconds in all runs is not shown.
_SHOWN = 0.0005

# Other threads may send statements too; the least of so many counts is taken.
_COUNTED = 5

# Far fewer candidates than there are hosts.
FEW = 10


class Cloud(big.BigCloud):
    """The measured cloud."""

    def runTest(self):
        """Do nothing: only the fixtures are used, and `main` measures."""


@dataclasses.dataclass(frozen=True)
class Run:
    """The times of a request.

    :ivar wall: seconds from call to answer
    :ivar cpu: seconds of processor time, of the whole process
    :ivar parts: part -> seconds of `cpu`
    """

    wall: float
    cpu: float
    parts: dict[str, float]

    @property
    def steady(self) -> float:
        """The processor time of all parts that must not grow."""
        return sum(
            seconds for part, seconds in self.parts.items()
            if not part.endswith((SERVICES, CANDIDATES)))


@dataclasses.dataclass
class Measured:
    """The cost of a kind of request in a cloud of one size.

    :ivar count: the statements and calls of a request
    :ivar placed: whether a request finds a host among `FEW` candidates
    """

    hosts: int
    hinted: bool
    count: counting.Count
    placed: bool
    runs: list[Run] = dataclasses.field(default_factory=list)

    def median(self, read: Callable[[Run], float]) -> float:
        """Return the median of a value over all runs."""
        return statistics.median(map(read, self.runs))


@contextlib.contextmanager
def running() -> Iterator[Cloud]:
    """Run a cloud with the log level of a production cloud."""
    cloud = Cloud()
    cloud.setUp()
    try:
        logging.getLogger().setLevel(logging.INFO)
        yield cloud
    finally:
        cloud.doCleanups()


def watch_all(watch: stopwatch.Stopwatch, cloud: Cloud) -> None:
    """Watch the parts of `select_destinations`."""
    filters = request_filter.ALL_REQUEST_FILTERS
    for index, each in enumerate(filters):
        watch.watch_list(filters, index, (
            'Pcloud: request filter' if each is prefilter.pcloud_aggregates
            else 'Nova: its own request filters'))
    watch.watch(open_hosts, 'check_room', 'room in the Pcloud')
    watch.watch(report.SchedulerReportClient, 'get_allocation_candidates',
                CANDIDATES)
    # In a thread for each cell; what they found is put together in this one.
    watch.watch(objects.ServiceList, 'get_by_binary', SERVICES)
    watch.watch(host_manager.HostManager, '_get_computes_for_cells', SERVICES)
    watch.watch(objects.ComputeNodeList, 'get_all_by_uuids',
                'Nova: compute nodes of the candidates')
    watch.watch(host_manager.HostManager, '_get_host_states',
                'Nova: host states')
    for each in cloud.manager.host_manager.enabled_filters:
        # The function works only when the returned iterator is consumed.
        watch.watch(each, 'filter_all', type(each).__name__, finish=list)
    for each in cloud.manager.host_manager.weighers:
        watch.watch(each, 'weigh_objects', type(each).__name__)
    watch.watch(utils, 'claim_resources', 'Placement: claim')


def count(cloud: Cloud, pcloud: str | None) -> counting.Count:
    """Return the statements and calls of a request, with filled caches."""
    counts = []
    for _ in range(_COUNTED):
        spec = cloud.request(pcloud)
        counts.append(counting.count(functools.partial(cloud.select, spec)))
        cloud.give_up(spec)
    return min(counts)


def run(cloud: Cloud, pcloud: str | None) -> Run:
    """Request a server, and return the times of the request."""
    spec = cloud.request(pcloud)
    with stopwatch.Stopwatch() as watched:
        watch_all(watched, cloud)
        wall, cpu = time.perf_counter(), time.process_time()
        cloud.select(spec)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    cloud.give_up(spec)
    parts = dict(watched.seconds)
    parts[REST] = cpu - sum(parts.values())
    return Run(wall, cpu, parts)


def is_placed(cloud: Cloud, pcloud: str | None) -> bool:
    """Return whether a request finds a host among `FEW` candidates."""
    spec = cloud.request(pcloud)
    cloud.flags(max_placement_results=FEW, group='scheduler')
    try:
        cloud.select(spec)
        cloud.give_up(spec)
    except nova_exception.NoValidHost:
        return False
    finally:
        cloud.flags(max_placement_results=1000, group='scheduler')
    return True


def serve(hosts: int, connection) -> None:
    """Run a cloud in this process, and call functions on request.

    :param connection: the end of a pipe. The process receives a function of
        this module and the id of a Pcloud or None, calls the function with the
        cloud and the id, and sends the result back
    """
    with running() as cloud:
        cloud.grow(hosts)
        # The collector need not go through a whole cloud time and again.
        gc.collect()
        gc.freeze()
        connection.send(None)
        while (wanted := connection.recv()) is not None:
            function, hinted = wanted
            connection.send(
                function(cloud, cloud.pcloud if hinted else None))


@contextlib.contextmanager
def apart(hosts: int) -> Iterator[Callable]:
    """Run a cloud in a new process; yield a caller of functions there."""
    context = multiprocessing.get_context('spawn')
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(hosts, there), daemon=True)
    process.start()
    there.close()
    here.recv()

    def call(*wanted):
        here.send(wanted)
        return here.recv()

    yield call
    here.send(None)
    process.join()


def measure(sizes: Sequence[int], repeat: int) -> list[Measured]:
    """Measure in clouds of several sizes, taking turns.

    Because the clouds take turns, other work of the machine hits all alike.
    """
    measured = []
    with contextlib.ExitStack() as stack:
        clouds = {hosts: stack.enter_context(apart(hosts))
                  for hosts in sizes}
        for hinted in (True, False):
            kind = [Measured(hosts, hinted, cloud(count, hinted),
                             cloud(is_placed, hinted))
                    for hosts, cloud in clouds.items()]
            for _ in range(repeat):
                for each in kind:
                    each.runs.append(clouds[each.hosts](run, hinted))
            measured += kind
    return measured


def growth(small: Measured, large: Measured) -> float:
    """Return the ratio of a request's processor times in two clouds.

    The ratio compares runs that followed each other, without the parts that
    every request pays for.
    """
    return statistics.median(
        there.steady / here.steady
        for here, there in zip(small.runs, large.runs, strict=True))


def missed(measured: list[Measured]) -> Iterator[str]:
    """Yield the goals that a request with the hint misses."""
    hinted = [each for each in measured if each.hinted]
    small, large = hinted[0], hinted[-1]
    for each in hinted:
        if not each.placed:
            yield (f'with max_placement_results={FEW} there was no host in a '
                   f'cloud of {each.hosts}')
    if large.count != small.count:
        yield (f'{small.count} in a cloud of {small.hosts} hosts, but '
               f'{large.count} in one of {large.hosts}')
    if growth(small, large) > BOUND:
        yield (f'{growth(small, large):.2f} times the processor time in a '
               f'cloud of {large.hosts} hosts; at most {BOUND} is wanted')


def table(measured: list[Measured]) -> str:
    """Return the measurements in milliseconds, as reStructuredText."""
    rows = [['', *(
        f'{each.hosts:,} hosts, with{"" if each.hinted else "out"} hint'
        for each in measured)]]
    for name in _parts(measured):
        times = [each.median(lambda run: run.parts.get(name, 0))
                 for each in measured]
        if max(times) >= _SHOWN:
            rows.append([name, *map(_ms, times)])
    rows += [
        ['**Processor time, with the above**', *(
            f'**{_ms(each.median(lambda run: run.cpu))}**'
            for each in measured)],
        ['Time from call to answer', *(
            _ms(each.median(lambda run: run.wall)) for each in measured)],
        ['SQL statements, in all databases',
         *(str(each.count.sql) for each in measured)],
        ['Calls to Placement', *(str(each.count.http) for each in measured)],
        [f'Placed with max_placement_results={FEW}', *(
            'yes' if each.placed else 'no' for each in measured)]]
    return tables.listed(rows)


def _parts(measured: list[Measured]) -> list[str]:
    """Return all parts, with the part for the remaining time last."""
    parts = dict.fromkeys(
        name for each in measured for run in each.runs for name in run.parts)
    return [*(name for name in parts if name != REST), REST]


def _ms(seconds: float) -> str:
    return f'{1000 * seconds:.1f}'


def main() -> int:
    """Measure, print a table, and fail when a request costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hosts', type=int, nargs='+', default=[1000, 5000],
                        help='the sizes of the clouds, the smallest first')
    parser.add_argument('--repeat', type=int, default=15,
                        help='how often each kind of request is measured')
    args = parser.parse_args()
    measured = measure(args.hosts, args.repeat)
    print(table(measured))
    small, *_, large = [each for each in measured if each.hinted]
    print(f'\nWith the hint, {large.hosts} hosts against {small.hosts}: '
          f'{growth(small, large):.2f} times the processor time without '
          f'"{SERVICES}" and "{CANDIDATES}".')
    wrong = list(missed(measured))
    print(*wrong, sep='\n', file=sys.stderr)
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
