# SPDX-License-Identifier: Apache-2.0

"""How many hosts a second go to Pclouds, with several API processes.

Clients add hosts of one pool to Pclouds of their own, through 1, 2 and 4
processes of nova-api over the MariaDB of this machine. Besides the hosts a
second there are the hosts a second of processor time: of nova-api, Placement
and MariaDB.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from concurrent import futures
import dataclasses
import itertools
import time
import uuid

from pcloud.tests import concurrency  # noqa: F401

import requests

from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import results
from pcloud.tests.support import bulk

_CLIENTS = 2  # Of each process.
_OF_PCLOUD = 10
_TIMEOUT = 600

FULL = {'hosts': 20_000, 'processes': (1, 2, 4), 'each': 10}
SMALL = {'hosts': 400, 'processes': (1, 2), 'each': 1}


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

    def rows(self) -> Iterator[results.Row]:
        """Yield what was measured."""
        for unit, found in (
                ('hosts a second', self.hosts / self.wall),
                ('hosts a second of processor time',
                 self.hosts / self.server),
                ('ms processor time a host', 1000 * self.server / self.hosts),
                ('of it ms of MariaDB',
                 1000 * self.spent.database / self.hosts)):
            yield results.Row(
                'Hosts that clients add to Pclouds, two clients a process',
                f'{self.processes} processes of nova-api', unit, found)


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


def allocate(
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


def measure(
    hosts: int, processes: Sequence[int], each: int,
) -> Iterator[results.Row]:
    """Measure how many hosts a second go to Pclouds.

    :param hosts: the number of hosts of the cloud
    :param processes: numbers of processes of nova-api
    :param each: how many hosts each client adds
    """
    most = max(processes)
    cloud = clouds.Cloud(processes=most, server='nova')
    try:
        cloud.start()
        pclouds = fill(cloud, hosts, _CLIENTS * most)
        # The first calls load what later calls have.
        allocate(cloud, most, pclouds, ['first'])
        for number in processes:
            yield from allocate(
                cloud, number, pclouds[:_CLIENTS * number],
                [f'p{number}-{index}' for index in range(each)]).rows()
    finally:
        cloud.stop()
