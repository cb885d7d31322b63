# SPDX-License-Identifier: Apache-2.0

"""What calls of Pcloud cost, and what must not grow.

Databases on the MariaDB of this machine have clouds of two sizes, each in a
process of its own, and Pclouds of 10 to 200 hosts in each cloud. The hosts are
rows alone.

Statements, calls of Placement, and the rows that the database looks at are the
same on each machine, and are judged in all clouds. The processor time is
judged where the calls can take turns: in one cloud, between its Pclouds.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools
import gc
import itertools
import json
import multiprocessing
import statistics

from pcloud.tests import concurrency  # noqa: F401

from nova import config
from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from paste import deploy
import webob

from pcloud.backend.aggregates import isolation
from pcloud import names
from pcloud.scheduler import filters
from pcloud.scheduler import prefilter
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import results
from pcloud.tests.benchmarks import turns
from pcloud.tests.support import bulk
from pcloud.tests.support import counting
from pcloud.tests.support import tenancy

FULL = {'clouds_of': (20_000, 100_000), 'repeat': 10}
SMALL = {'clouds_of': (1200, 2400), 'repeat': 1}

SIZES = (10, 50, 100, 200)
_PROJECTS = {who: letter * 32 for who, letter in zip(tenancy.Who, 'abc')}
_OWNER = _PROJECTS[tenancy.Who.OWNER]
_RATIOS = {names.CPU_RATIO: '16.0', names.RAM_RATIO: '1.5'}
_POOLS, _OTHER = 10, 10
# As many as Placement returns at most.
_CANDIDATES = 1000

_HOST = '/os-pclouds/{id}/hosts'
PUT, POST = f'PUT {_HOST}/{{name}}', f'POST {_HOST}'
CONSTRAINTS = f'{POST}, constraints'
DELETE = f'DELETE {_HOST}/{{name}}'
NO_HINT, HINT = 'reads of a boot without a hint', 'reads of a boot with a hint'
# Calls that are measured in Pclouds of all sizes.
_OF_ALL_SIZES = (PUT, POST)

# Turns of what takes no turns with another Pcloud: some lists take seconds.
_ENOUGH = 5

# The most processor time in the largest Pcloud, as a multiple of that in the
# smallest; and the most rows in the largest cloud, likewise.
_TIME, _ROWS = 1.3, 1.3
_FLAT = 'a call about one host reads what the call needs of that host alone'
_SAME = 'no statement is sent for each host, Pcloud or server'
_OWN_ROWS = 'a call reads the rows of its own Pcloud'
# Here the database goes once through an index that grows with the cloud: of
# the hosts of a pool, of a tenant's metadata, of the aggregates, of the hosts
# that are held. Only a second look would be a miss.
_INDEXES = {POST: 4, NO_HINT: 2, 'GET /os-pclouds, owner': 5,
            'GET /os-pclouds?limit=2, owner': 5,
            'GET /os-pclouds?detail=1, owner': 5,
            'GET /os-pcloud-quotas/{project_id}, owner': 4,
            'GET /os-pcloud-usage/{project_id}, owner': 6}
_ONE_LOOK = 'the database goes once through an index of the cloud'
# What a list of the whole cloud reads may grow.
_OF_CLOUD = (CONSTRAINTS, 'GET /os-host-flavors', 'GET /os-pclouds?all_ten',
             'GET /os-pclouds, tenant of all', 'GET /os-pcloud-usage, admin')


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


# (what is done, number of hosts of the Pcloud) -> measurement
Found = Mapping[tuple[str, int], Measured]


@dataclasses.dataclass(frozen=True)
class Work:
    """A call, or reads of the scheduler.

    :ivar size: the number of hosts of the Pcloud
    :ivar before: what is done before, and is not measured
    :ivar after: what undoes the work
    """

    name: str
    size: int
    do: Callable[[], object]
    before: Callable[[], object] = lambda: None
    after: Callable[[], object] = lambda: None


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
        tenants = [_PROJECTS[tenancy.Who.TENANT]]
        pclouds = {size: bulk.pcloud(
            _OWNER, [next(taken) for _ in range(size)], _RATIOS, tenants)
            for size in SIZES if size <= count // 10}
        rest = list(taken)
        made += [*pclouds.values(), *(
            bulk.pcloud(
                f'{start:032}', rest[start:start + _OTHER], _RATIOS, tenants)
            for start in range(0, len(rest), _OTHER))]
        rows.aggregates(made)
        clouds.analyze()
        # Collections, one before each work, need not go through all hosts.
        gc.collect()
        gc.freeze()
        return pclouds

    def call(self, method: str, path: str, body: dict | None = None,
             who: tenancy.Who = tenancy.Who.OWNER) -> None:
        """Make a call.

        :raises: `AssertionError` when the call does not succeed
        """
        admin = ',admin' if who is tenancy.Who.ADMIN else ''
        request = webob.Request.blank('/v2.1' + path, headers={
            'X-Project-Id': _PROJECTS[who],
            'X-Roles': f'reader,member{admin}'})
        request.method = method
        if body is not None:
            request.content_type = 'application/json'
            request.body = json.dumps(body).encode()
        response = request.get_response(self._application)
        assert 200 <= response.status_code < 300, response.text

    def works(self) -> Iterator[Work]:
        """Yield all that is measured."""
        for size, pcloud in self.pclouds.items():
            yield from self._writes(size, pcloud)
        size, pcloud = next(iter(self.pclouds.items()))
        for call in tenancy.reads(tenancy.Tenancy(
                _OWNER, _PROJECTS[tenancy.Who.TENANT], pcloud.id,
                pcloud.hosts[0], 'flavor-1', pcloud.id)):
            yield Work(f'{call.method} {call.name}, {call.who.value}', size,
                       functools.partial(self.call, call.method, call.path,
                                         who=call.who))
        yield Work(NO_HINT, size, self._without_hint)
        yield Work(HINT, size, lambda: isolation.pcloud_access(
            nova_context.get_admin_context(), pcloud.id))

    def _writes(self, size: int, pcloud: bulk.Aggregate) -> Iterator[Work]:
        hosts = f'/os-pclouds/{pcloud.id}/hosts'

        def put() -> None:
            self.call('PUT', f'{hosts}/{pcloud.hosts[-1]}',
                      {'host': {'state': next(self._states)}})

        def post() -> None:
            self.call('POST', hosts, {'host': {
                'name': 'new', 'host_flavor': 'flavor-1'}})

        def post_by_constraints() -> None:
            self.call('POST', hosts, {'host': {
                'name': 'new', 'constraints': 'cpu=1'}})

        def delete() -> None:
            self.call('DELETE', f'{hosts}/new')

        yield Work(PUT, size, put)
        yield Work(POST, size, post, after=delete)
        if size == min(self.pclouds):
            yield Work(CONSTRAINTS, size, post_by_constraints, after=delete)
            yield Work(DELETE, size, delete, before=post)

    def _without_hint(self) -> None:
        """Read what the scheduler reads for a boot without a hint."""
        spec = objects.RequestSpec(
            project_id='f' * 32, scheduler_hints={}, num_instances=1,
            requested_destination=None)
        prefilter.pcloud_aggregates(nova_context.get_admin_context(), spec)
        list(filters.pcloud.PcloudFilter().filter_all(
            self._candidates, spec))

    def count(self, work: Work) -> Measured:
        """Count what a work costs, and undo the work."""
        self.spent(work)  # What is read once and cached is not the work's.
        work.before()
        with meter.reading() as read, counting.counted() as counted:
            work.do()
        work.after()
        return Measured(read.statements, read.rows, counted.http)

    def spent(self, work: Work) -> meter.Spent:
        """Return the processor time of a work, which is undone then."""
        work.before()
        gc.collect()
        spent = self._meter.spent(work.do)
        work.after()
        return spent


def measure_cloud(
    hosts: int, repeat: int,
) -> tuple[dict[tuple[str, int], Measured], list[turns.Turns]]:
    """Measure in one cloud.

    :returns: what was found, and the turns of the Pclouds
    """
    place = Place(hosts)
    try:
        works = list(place.works())
        found = {(each.name, each.size): place.count(each) for each in works}
        spenders = {key: _spender(place, found[key], work)
                    for key, work in zip(found, works, strict=True)}
        taken = [_turns(name, spenders, hosts, repeat)
                 for name in _OF_ALL_SIZES]
        for (name, _), spend in spenders.items():
            if name not in _OF_ALL_SIZES:
                for _ in range(min(repeat, _ENOUGH)):
                    spend()
    finally:
        place.stop()
    return found, taken


def _spender(
    place: Place, measured: Measured, work: Work,
) -> Callable[[], float]:
    def spend() -> float:
        spent = place.spent(work)
        measured.seconds.append(spent)
        return spent.all
    return spend


def _turns(
    name: str, spenders: Mapping[tuple[str, int], Callable[[], float]],
    hosts: int, repeat: int,
) -> turns.Turns:
    """Let the Pclouds of all sizes take turns."""
    works = {f'Pcloud of {size} hosts': spend
             for (each, size), spend in spenders.items() if each == name}
    small, *_, large = works
    taken = turns.Turns(f'{name}, {hosts:,} hosts', works)
    taken.take(repeat, [turns.Bound(large, small, _TIME, _FLAT)])
    return taken


def judged(found: Mapping[int, Found]) -> Iterator[results.Row]:
    """Yield what must be the same in all Pclouds, and in all clouds.

    :param found: number of hosts of a cloud, the smallest first -> what was
        found
    """
    first, *_, last = found.values()
    for name, size in first:
        if size != min(each for its, each in first if its == name):
            continue
        counts = {measured.counts for each in found.values()
                  for (its, _), measured in each.items() if its == name}
        yield results.Row(
            'Growth', name, 'different counts of statements and calls',
            len(counts), 1, why=_SAME)
        if not name.startswith(_OF_CLOUD):
            yield results.Row(
                'Growth', name, 'rows as a multiple of the smaller cloud',
                last[name, size].rows / first[name, size].rows,
                _INDEXES.get(name, _ROWS),
                why=_ONE_LOOK if name in _INDEXES else _OWN_ROWS)


def _shown(hosts: int, found: Found) -> Iterator[results.Row]:
    """Yield all measurements of a cloud."""
    table = f'{hosts:,} hosts, medians'
    for (name, size), each in found.items():
        line = (f'{name}, Pcloud of {size} hosts' if name in _OF_ALL_SIZES
                else name)
        times: Sequence[Sequence[float]] = list(zip(*(
            (spent.own, spent.others, spent.database)
            for spent in each.seconds), strict=True))
        for unit, seconds in zip(
                ('ms nova-api', 'ms Placement', 'ms MariaDB'), times,
                strict=True):
            yield results.Row(
                table, line, unit, 1000 * statistics.median(seconds))
        for unit, number in (('SQL', each.statements), ('calls', each.calls),
                             ('rows', each.rows)):
            yield results.Row(table, line, unit, number)


def measure(
    clouds_of: Sequence[int], repeat: int,
) -> Iterator[results.Row]:
    """Measure clouds of so many hosts, the smallest first."""
    found = {}
    for hosts in clouds_of:
        # A process can choose its databases only once.
        with multiprocessing.get_context('spawn').Pool(1) as pool:
            found[hosts], taken = pool.apply(measure_cloud, (hosts, repeat))
        yield from _shown(hosts, found[hosts])
        for each in taken:
            yield from (row for row in each.rows('') if row.is_wanted)
    yield from judged(found)
