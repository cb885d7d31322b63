# SPDX-License-Identifier: Apache-2.0

"""What must not grow: with the hosts of a Pcloud, and with those of the cloud.

``python -m pcloud.tests.benchmarks.growth`` fills databases on the MariaDB of
this machine with clouds of several sizes, each in a process of its own, and
with Pclouds of 10 to 200 hosts in each cloud. The hosts are rows alone.

Statements, calls of Placement, and the rows that the database looks at are the
same on each machine, and are judged in all clouds. The processor time is
judged where the calls can take turns: in one cloud, between its Pclouds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
import dataclasses
import functools
import gc
import itertools
import json
import multiprocessing
import statistics
import sys

from pcloud.tests import concurrency  # noqa: F401

from nova import config
from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from paste import deploy
import webob

from pcloud.backend import isolation
from pcloud import names
from pcloud.scheduler import filters
from pcloud.scheduler import prefilter
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import suites
from pcloud.tests.benchmarks import tables
from pcloud.tests.benchmarks import turns
from pcloud.tests.support import bulk
from pcloud.tests.support import counting

SIZES = (10, 50, 100, 200)
_OWNER = 'a' * 32
_RATIOS = {names.CPU_RATIO: '16.0', names.RAM_RATIO: '1.5'}
_POOLS, _OTHER = 10, 10
# As many as Placement returns at most.
_CANDIDATES = 1000

# The most processor time in the largest Pcloud, as a multiple of that in the
# smallest; and the most rows in the largest cloud, likewise.
_TIME, _ROWS = 1.3, 1.3
# From here on the processor time is judged.
_HOSTS = 10_000
# Here the database goes once through an index that grows with the cloud: of
# the hosts of a pool, of a tenant's metadata, of the aggregates. The table
# shows what that is; only a second look would be a miss.
_INDEXES = {'post': 4, 'first_page': 5, 'without_hint': 2}
# A list of all Pclouds, and what is free of all hosts, may grow.
_GROWING = ('post_by_constraints', 'flavors', 'all_pclouds')


@dataclasses.dataclass
class Measured:
    """The cost of a call.

    :ivar statements: to Nova's databases
    :ivar rows: rows and index entries that MariaDB looks at
    :ivar calls: calls of Placement
    :ivar seconds: processor time of nova-api, of Placement and of MariaDB, in
        each turn
    """

    statements: int
    rows: int
    calls: int
    seconds: list[meter.Spent] = dataclasses.field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int]:
        """What has to be the same everywhere."""
        return self.statements, self.calls


class Place:
    """Nova's API with Pcloud in this process, over a cloud of rows.

    :param hosts: the number of hosts
    :ivar pclouds: size -> Pcloud of this size
    """

    def __init__(self, hosts: int) -> None:
        self._cloud = clouds.Cloud(processes=0)
        self._cloud.start()
        objects.register_all()
        self._application = deploy.loadapp(
            'config:' + config.CONF.wsgi.api_paste_config,
            name='osapi_compute')
        self.pclouds = self._fill(hosts)
        self._states = itertools.cycle(('disabled', 'enabled'))
        self._meter = meter.Meter(self._cloud.serving())

    def stop(self) -> None:
        """Stop Placement and drop the databases."""
        self._cloud.stop()

    def _fill(self, count: int) -> dict[int, bulk.Aggregate]:
        """Write all rows; return size -> Pcloud of this size."""
        self._cloud.make_host('template')
        rows = self._cloud.rows()
        added = [f'compute-{number:06}' for number in range(count)]
        # Placement returns no host of a pool for a boot without a hint.
        public = [f'public-{number:06}' for number in range(_CANDIDATES)]
        rows.hosts('template', added + public)
        self._candidates = [
            host_manager.HostState(host, host, None) for host in public]
        for candidate in self._candidates:
            candidate.aggregates = []
        made = [bulk.zone(f'zone-{number}', (added + public)[number::2])
                for number in range(2)]
        made += [bulk.pool(f'flavor-{number}', added[number::_POOLS])
                 for number in range(_POOLS)]
        # A tenth of the hosts is free, some of each pool.
        taken = iter([host for number, host in enumerate(added)
                      if number // _POOLS % 10])
        pclouds = {size: bulk.pcloud(
            _OWNER, [next(taken) for _ in range(size)], _RATIOS)
            for size in SIZES if size <= count // 10}
        rest = list(taken)
        made += [*pclouds.values(), *(
            bulk.pcloud(
                f'{start:032}', rest[start:start + _OTHER], _RATIOS)
            for start in range(0, len(rest), _OTHER))]
        rows.aggregates(made)
        clouds.analyze()
        return pclouds

    def _call(self, method: str, path: str, body: dict | None = None,
              roles: str = 'reader,member') -> None:
        request = webob.Request.blank('/v2.1' + path, headers={
            'X-Project-Id': _OWNER, 'X-Roles': roles})
        request.method = method
        if body is not None:
            request.content_type = 'application/json'
            request.body = json.dumps(body).encode()
        response = request.get_response(self._application)
        assert 200 <= response.status_code < 300, response.text

    def put(self, size: int) -> None:
        """Change the state of a host of the Pcloud of a size."""
        pcloud = self.pclouds[size]
        self._call('PUT', f'/os-pclouds/{pcloud.id}/hosts/{pcloud.hosts[-1]}',
                   {'host': {'state': next(self._states)}})

    def post(self, size: int) -> None:
        """Add a host to the Pcloud of a size."""
        self._call('POST', f'/os-pclouds/{self.pclouds[size].id}/hosts',
                   {'host': {'name': 'new', 'host_flavor': 'flavor-1'}})

    def post_by_constraints(self, size: int) -> None:
        """Add a host that satisfies constraints."""
        self._call('POST', f'/os-pclouds/{self.pclouds[size].id}/hosts',
                   {'host': {'name': 'new', 'constraints': 'cpu=1'}})

    def flavors(self, _: int) -> None:
        """Show all host flavors."""
        self._call('GET', '/os-host-flavors')

    def all_pclouds(self, _: int) -> None:
        """Show all Pclouds, as far as a page goes."""
        self._call('GET', '/os-pclouds?all_tenants=1',
                   roles='reader,member,admin')

    def delete(self, size: int) -> None:
        """Remove the host that `post` has added."""
        self._call(
            'DELETE', f'/os-pclouds/{self.pclouds[size].id}/hosts/new')

    def show(self, size: int) -> None:
        """Show the Pcloud of a size."""
        self._call('GET', f'/os-pclouds/{self.pclouds[size].id}')

    def first_page(self, _: int) -> None:
        """Show the owner's first two Pclouds."""
        self._call('GET', '/os-pclouds?limit=2')

    def without_hint(self, _: int) -> None:
        """Read what the scheduler reads for a boot without a hint."""
        spec = objects.RequestSpec(
            project_id='f' * 32, scheduler_hints={}, num_instances=1,
            requested_destination=None)
        prefilter.pcloud_aggregates(nova_context.get_admin_context(), spec)
        list(filters.pcloud.PcloudFilter().filter_all(
            self._candidates, spec))

    def with_hint(self, size: int) -> None:
        """Read what the scheduler reads for a boot into a Pcloud."""
        isolation.pcloud_access(
            nova_context.get_admin_context(), self.pclouds[size].id)

    def count(self, name: str, size: int) -> Measured:
        """Count what a method of this class costs, and undo it."""
        work = functools.partial(getattr(self, name), size)
        work()
        self._undo(name, size)
        with meter.reading() as read, counting.counted() as counted:
            work()
        self._undo(name, size)
        return Measured(read.statements, read.rows, counted.http)

    def spent(self, name: str, size: int) -> meter.Spent:
        """Return the processor time of a method of this class, undone then."""
        gc.collect()
        spent = self._meter.spent(
            functools.partial(getattr(self, name), size))
        self._undo(name, size)
        return spent

    def _undo(self, name: str, size: int) -> None:
        if name in ('post', 'post_by_constraints'):
            self.delete(size)


OF_PCLOUD = {
    'put': 'PUT /os-pclouds/{id}/hosts/{name}',
    'post': 'POST /os-pclouds/{id}/hosts',
}
OF_CLOUD = {
    **OF_PCLOUD,
    'show': 'GET /os-pclouds/{id}',
    'first_page': 'GET /os-pclouds?limit=2',
    'post_by_constraints': 'POST /os-pclouds/{id}/hosts, constraints',
    'flavors': 'GET /os-host-flavors',
    'all_pclouds': 'GET /os-pclouds?all_tenants=1',
    'without_hint': 'reads of a boot without a hint',
    'with_hint': 'reads of a boot into a Pcloud',
}


def measure(
    hosts: int, repeat: int,
) -> tuple[dict[tuple[str, int], Measured], list[turns.Turns]]:
    """Measure in one cloud.

    :returns: (method, size of the Pcloud) -> measurement; and the turns of the
        Pclouds
    """
    place = Place(hosts)
    try:
        found = {(name, size): place.count(name, size)
                 for name in OF_CLOUD for size in place.pclouds
                 if name in OF_PCLOUD or size == min(place.pclouds)}
        taken = []
        for name in OF_PCLOUD:
            small, *_, large = place.pclouds
            each = turns.Turns(f'{OF_CLOUD[name]}, {hosts:,} hosts', {
                f'{size} hosts': _spender(place, found[name, size], name, size)
                for size in place.pclouds})
            each.take(repeat, [
                turns.Bound(f'{large} hosts', f'{small} hosts', _TIME)
            ] if hosts >= _HOSTS else [])
            taken.append(each)
        for name in OF_CLOUD.keys() - OF_PCLOUD.keys():
            size = min(place.pclouds)
            for _ in range(repeat):
                _spender(place, found[name, size], name, size)()
    finally:
        place.stop()
    return found, taken


def _spender(
    place: Place, measured: Measured, name: str, size: int,
) -> Callable[[], float]:
    def spend() -> float:
        spent = place.spent(name, size)
        measured.seconds.append(spent)
        return spent.all
    return spend


def missed(
    found: dict[int, dict[tuple[str, int], Measured]],
) -> Iterator[str]:
    """Yield what differs between Pclouds, or between clouds."""
    first = next(iter(found.values()))
    for name, what in OF_CLOUD.items():
        base = first[min(key for key in first if key[0] == name)]
        for hosts, each in found.items():
            for (its, size), measured in each.items():
                if its != name:
                    continue
                where = f'{what}: {hosts:,} hosts, Pcloud of {size}'
                if measured.counts != base.counts:
                    yield (f'{where}: statements and calls {measured.counts} '
                           f'instead of {base.counts}')
                if (size == min(SIZES) and name not in _GROWING and
                        measured.rows >
                        _INDEXES.get(name, _ROWS) * base.rows):
                    yield (f'{where}: {measured.rows} rows instead of '
                           f'{base.rows}')


def table(found: dict[int, dict[tuple[str, int], Measured]]) -> str:
    """Return all measurements as reStructuredText."""
    rows = [['Call', 'hosts', 'of the Pcloud', 'nova-api', 'Placement',
             'MariaDB', 'SQL', 'calls', 'rows']]
    for hosts, each in found.items():
        for (name, size), measured in each.items():
            rows.append([
                f'``{OF_CLOUD[name]}``', f'{hosts:,}', str(size),
                *(f'{1000 * statistics.median(times):.0f}' for times in zip(*(
                    (spent.own, spent.others, spent.database)
                    for spent in measured.seconds), strict=True)),
                str(measured.statements), str(measured.calls),
                f'{measured.rows:,}'])
    return tables.listed(rows)


def main() -> int:
    """Measure, print tables, and fail when something grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hosts', type=int, nargs='+',
                        default=[20_000, 100_000],
                        help='the sizes of the clouds, the smallest first')
    parser.add_argument('--repeat', type=int, default=10)
    suites.add_option(parser)
    options = parser.parse_args()
    found, taken = {}, []
    # A process can choose its databases only once.
    for hosts in options.hosts:
        with multiprocessing.get_context('spawn').Pool(1) as pool:
            found[hosts], its = pool.apply(measure, (hosts, options.repeat))
            taken += its
    print(table(found), turns.table(taken), sep='\n\n')
    if options.json:
        suites.write(options.json, {
            f'{OF_CLOUD[name]}, {hosts} hosts, Pcloud of {size}':
                [spent.all for spent in measured.seconds]
            for hosts, each in found.items()
            for (name, size), measured in each.items()})
    wrong = list(missed(found))
    print(*wrong, sep='\n', file=sys.stderr)
    return turns.report_missed(taken) or int(bool(wrong))


if __name__ == '__main__':
    sys.exit(main())
