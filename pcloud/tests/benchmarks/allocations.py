# SPDX-License-Identifier: Apache-2.0

"""How many hosts a second go to Pclouds, with several API processes.

``python -m pcloud.tests.benchmarks.allocations`` fills databases on the
MariaDB of this machine, and has clients add hosts of one pool to Pclouds of
their own, through 1, 2 and 4 processes of nova-api. Besides the hosts a second
there are the hosts a second of processor time: of nova-api, Placement and
MariaDB.
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Sequence
from concurrent import futures
import dataclasses
import itertools
import sys
import time
import uuid

from pcloud.tests import concurrency  # noqa: F401

import requests

from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import suites
from pcloud.tests.support import bulk

_CLIENTS = 2  # Of each process.
_OF_PCLOUD = 10
_TIMEOUT = 600


@dataclasses.dataclass(frozen=True)
class Measured:
    """The hosts that went to Pclouds.

    :ivar processes: the number of processes of nova-api
    :ivar hosts: how many hosts were added
    :ivar wall: seconds from the first call to the last answer
    :ivar spent: processor time; that of this process is the clients'
    """

    processes: int
    hosts: int
    wall: float
    spent: meter.Spent

    @property
    def server(self) -> float:
        """The processor time of nova-api, Placement and MariaDB."""
        return self.spent.others + self.spent.database

    def __str__(self) -> str:
        return (f'{self.processes} processes: {self.hosts / self.wall:.1f} '
                f'hosts a second, {self.hosts / self.server:.1f} a second of '
                'processor time '
                f'({1000 * self.server / self.hosts:.0f} ms a host, '
                f'of it {1000 * self.spent.database / self.hosts:.0f} in '
                'MariaDB)')


def fill(cloud: clouds.Cloud, hosts: int, clients: int,
         ) -> list[bulk.Aggregate]:
    """Write hosts, one pool and Pclouds; return a Pcloud for each client.

    A tenth of the hosts is free.
    """
    cloud.make_host('template')
    rows = cloud.rows()
    added = [f'compute-{number:06}' for number in range(hosts)]
    rows.hosts('template', added)
    taken = [host for number, host in enumerate(added) if number % 10]
    pclouds = [
        bulk.pcloud(uuid.uuid4().hex, taken[start:start + _OF_PCLOUD], {})
        for start in range(0, len(taken), _OF_PCLOUD)]
    rows.aggregates([
        *(bulk.zone(f'zone-{number}', added[number::2])
          for number in range(2)), bulk.pool('gpu', added), *pclouds])
    clouds.analyze()
    return pclouds[:clients]


def add(url: str, pcloud: bulk.Aggregate, names: Sequence[str]) -> None:
    """Add hosts to a Pcloud, one after the other.

    :raises: `AssertionError` when a host is not added
    """
    session = requests.Session()
    headers = {'X-Project-Id': pcloud.metadata['pcloud:owner'],
               'X-Roles': 'reader,member'}
    for name in names:
        response = session.post(
            f'{url}/v2.1/os-pclouds/{pcloud.id}/hosts', headers=headers,
            json={'host': {'name': name, 'host_flavor': 'gpu'}},
            timeout=_TIMEOUT)
        assert response.status_code == 201, response.text


def measure(
    cloud: clouds.Cloud, processes: int, pclouds: Sequence[bulk.Aggregate],
    names: Sequence[str],
) -> Measured:
    """Add hosts with these names to each Pcloud, through some processes."""
    urls = itertools.cycle(cloud.urls[:processes])

    def work() -> None:
        with futures.ThreadPoolExecutor(len(pclouds)) as pool:
            for done in [pool.submit(add, next(urls), pcloud, names)
                         for pcloud in pclouds]:
                done.result()

    began = time.perf_counter()
    spent = meter.Meter(cloud.serving()).spent(work)
    return Measured(processes, len(names) * len(pclouds),
                    time.perf_counter() - began, spent)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hosts', type=int, default=20_000)
    parser.add_argument('--processes', type=int, nargs='+',
                        default=[1, 2, 4])
    parser.add_argument('--each', type=int, default=10,
                        help='how many hosts each client adds')
    parser.add_argument('--repeat', type=int, default=1,
                        help='how often all that is done')
    suites.add_option(parser)
    options = parser.parse_args()
    most = max(options.processes)
    cloud = clouds.Cloud(processes=most, server='nova')
    try:
        cloud.start()
        pclouds = fill(cloud, options.hosts, _CLIENTS * most)
        # The first calls load what later calls have.
        measure(cloud, most, pclouds, ['first'])
        seconds = collections.defaultdict(list)
        for turn, processes in itertools.product(
                range(options.repeat), options.processes):
            measured = measure(
                cloud, processes, pclouds[:_CLIENTS * processes],
                [f'p{processes}-{turn}-{number}'
                 for number in range(options.each)])
            print(measured, flush=True)
            seconds[f'a host, {processes} processes'].append(
                measured.server / measured.hosts)
    finally:
        cloud.stop()
    if options.json:
        suites.write(options.json, seconds)
    return 0


if __name__ == '__main__':
    sys.exit(main())
