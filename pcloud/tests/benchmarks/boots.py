# SPDX-License-Identifier: Apache-2.0

"""What a request for a server costs beside a Nova without Pcloud.

The scheduler's side of boots runs in processes, each with databases of its
own on the MariaDB of this machine and with a Placement of its own: a stock
Nova, a Nova with `PcloudFilter`, and Novas with all of Pcloud's filters and
weighers, one of them in a larger cloud. The processes take turns. All but the
last have the same hosts; a few of the hosts are a Pcloud's, and the stock
Nova's are full, so that all have as many candidates.

Two parts of a boot grow with the cloud, for each request: Nova reads the
services of all hosts of a cell, and Placement goes through all providers that
have room. Nothing else may grow for a boot into a Pcloud.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses
import gc
import logging
import multiprocessing
import statistics
import time

from pcloud.tests import concurrency  # noqa: F401

from nova import context as nova_context
from nova.db.main import models as main_models
from nova import exception as nova_exception
from nova import objects
from nova import rpc
from nova.scheduler.client import report
from nova.scheduler import host_manager
from nova.scheduler import manager as scheduler
from nova.scheduler import request_filter
from nova.scheduler import utils
from oslo_config import cfg
from oslo_utils import uuidutils
import sqlalchemy as sa

from pcloud.rules.placing import hints
from pcloud.scheduler import open_hosts
from pcloud.scheduler import prefilter
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import results
from pcloud.tests.benchmarks import stopwatch
from pcloud.tests.benchmarks import turns
from pcloud.tests.concurrency import mariadb
from pcloud.tests.support import bulk
from pcloud.tests.support import counting

STOCK, FILTER, ALL = 'stock', 'PcloudFilter', 'everything on'
_LARGER = 'everything on, larger cloud'
_OWNER, _STRANGER = 'a' * 32, 'b' * 32
_OF_PCLOUD = 20

# The most processor time of a boot, as a multiple of the time in a stock Nova.
_WITHOUT_HINT = {FILTER: 1.01, ALL: 1.02}
_WITH_HINT = 0.3
_UNSEEN = 'a project without a Pcloud does not notice Pcloud'
_NARROWED = 'Nova and Placement look at the hosts of the Pcloud alone'
# How much more a boot into a Pcloud may take in the larger cloud, without the
# parts that grow for every request; the rest above 1 is for noise.
_GROWTH = 1.3
_FLAT = 'the cost of a boot into a Pcloud is that of the Pcloud'

FULL = {'hosts': 1000, 'larger': 5000, 'repeat': 30}
SMALL = {'hosts': 20, 'larger': 40, 'repeat': 1}

# Far fewer candidates than there are hosts.
_FEW, _USUAL = 10, 1000
_SERVICES = 'Nova: all compute services of the cell'
_REST = 'Nova: everything else'
_PLAIN, _HINTED = 'boot without a hint', 'boot into a Pcloud'
# Parts that take less in all boots are left out.
_SHOWN_SECONDS = 0.0005

_FILTERS = ('AffinityFilter', 'ConstraintsFilter', 'LocalityFilter',
            'ColocationFilter', 'RebootFilter')
_LOADED = """
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = pcloud.scheduler.filters.all_filters
enabled_filters = {filters}
weight_classes = {weighers}
"""


def options(kind: str) -> str:
    """Return the lines of nova.conf for a kind of Nova."""
    if kind == STOCK:
        return ''
    filters = [*cfg.CONF.filter_scheduler.enabled_filters, 'PcloudFilter']
    weighers = ['nova.scheduler.weights.all_weighers']
    if kind == ALL:
        filters += _FILTERS
        weighers.append('pcloud.scheduler.weights.all_weighers')
    return _LOADED.format(filters=','.join(filters),
                          weighers=','.join(weighers))


@dataclasses.dataclass(frozen=True)
class Parts:
    """What a boot takes in the process of nova-scheduler.

    :ivar wall: seconds from call to answer
    :ivar spent: seconds of processor time
    :ivar parts: part -> seconds of processor time
    """

    wall: float
    spent: float
    parts: Mapping[str, float]

    @property
    def steady(self) -> float:
        """The processor time of all that must not grow with the cloud."""
        return sum(seconds for part, seconds in self.parts.items()
                   if not part.endswith(_SERVICES))


class Scheduler:
    """A scheduler in this process, over databases of this process.

    :param kind: `STOCK`, `FILTER` or `ALL`
    :param hosts: the number of hosts that are open to everybody
    """

    def __init__(self, kind: str, hosts: int) -> None:
        self._cloud = clouds.Cloud(processes=0, options=options(kind))
        self._cloud.start()
        logging.getLogger().setLevel(logging.WARNING)
        rpc.init(cfg.CONF)
        self._pcloud = self._fill(kind == STOCK, hosts)
        self._manager = scheduler.SchedulerManager()
        self._meter = meter.Meter(self._cloud.serving())
        self._context = nova_context.RequestContext(
            user_id='u', project_id=_OWNER, is_admin=True)
        self._learn()

    def stop(self) -> None:
        """Stop Placement and drop the databases."""
        self._cloud.stop()

    def _fill(self, is_stock: bool, count: int) -> str | None:
        """Write the hosts, and return the id of the Pcloud."""
        self._cloud.make_host('template')
        own('template' + bulk.NODE_SUFFIX)
        report_nodes()
        placement = sa.create_engine(mariadb.url('placement'))
        rows = self._cloud.rows()
        hosts = [f'compute-{number:06}' for number in range(count)]
        few = [f'few-{number:06}' for number in range(_OF_PCLOUD)]
        rows.hosts('template', hosts + few)
        made = [bulk.zone(f'zone-{number}', (hosts + few)[number::2])
                for number in range(2)]
        if is_stock:
            rows.aggregates(made)
            clouds.analyze()
            with placement.begin() as connection:
                connection.execute(sa.text(
                    'UPDATE inventories JOIN resource_providers ON '
                    'resource_providers.id = resource_provider_id '
                    'SET reserved = total WHERE name LIKE \'few-%\''))
            return None
        ours = bulk.pcloud(_OWNER, few, {})
        rows.aggregates([*made, bulk.pool('few', few), ours])
        clouds.analyze()
        return ours.id

    def _learn(self) -> None:
        """Have the scheduler know of all hosts that no server is there.

        Compute services tell the scheduler time and again; until then the
        scheduler asks the database about each host.
        """
        context = nova_context.get_admin_context()
        for host in objects.HostMappingList.get_by_cell_id(
                context, objects.CellMappingList.get_all(context)[-1].id):
            self._manager.host_manager._instance_info[host.host] = {
                'instances': {}, 'updated': True}

    def select(self, is_hinted: bool) -> None:
        """Choose and claim a host for a server, and give the host up."""
        uuid = uuidutils.generate_uuid()
        spec = objects.RequestSpec.from_components(
            self._context, uuid, {}, objects.Flavor(
                id=1, flavorid='1', name='m', vcpus=1, memory_mb=1, root_gb=0,
                ephemeral_gb=0, swap=0, extra_specs={}),
            None, objects.InstancePCIRequests(requests=[]),
            {'scheduler_hints': {hints.PCLOUD: [self._pcloud]}}
            if is_hinted else {}, None, None,
            project_id=_OWNER if is_hinted else _STRANGER, user_id='u')
        spec.requested_resources = []
        self._manager.select_destinations(
            self._context, spec_obj=spec, instance_uuids=[uuid],
            return_objects=True, return_alternates=True)
        self._manager.placement_client.delete_allocation_for_instance(
            self._context, uuid, force=True)

    def spent(self, is_hinted: bool) -> float:
        """Return the seconds of processor time that `select` takes.

        Placement's and the database's time for the request are part of it.
        """
        with meter.without_collections():
            return self._meter.spent(lambda: self.select(is_hinted)).all

    def count(self, is_hinted: bool) -> counting.Count:
        """Return the statements and calls of `select`."""
        return counting.least(lambda: self.select(is_hinted))

    def parts(self, is_hinted: bool) -> Parts:
        """Return what the parts of `select` take."""
        gc.collect()
        with stopwatch.Stopwatch() as watched:
            _watch_all(watched, self._manager.host_manager)
            wall, began = time.perf_counter(), time.process_time()
            self.select(is_hinted)
            spent = time.process_time() - began
            wall = time.perf_counter() - wall
        found = dict(watched.seconds)
        found[_REST] = spent - sum(found.values())
        return Parts(wall, spent, found)

    def is_placed(self, is_hinted: bool) -> bool:
        """Return whether `select` finds a host among `_FEW` candidates."""
        cfg.CONF.set_override('max_placement_results', _FEW, 'scheduler')
        try:
            self.select(is_hinted)
        except nova_exception.NoValidHost:
            return False
        finally:
            cfg.CONF.set_override('max_placement_results', _USUAL, 'scheduler')
        return True


def _watch_all(
    watch: stopwatch.Stopwatch, manager: host_manager.HostManager,
) -> None:
    """Watch the parts of `select_destinations`."""
    requested = request_filter.ALL_REQUEST_FILTERS
    for index, each in enumerate(requested):
        watch.watch_list(requested, index, (
            'Pcloud: request filter' if each is prefilter.pcloud_aggregates
            else 'Nova: its own request filters'))
    for owner, name, part in (
            (open_hosts, 'check_room', 'room in the Pcloud'),
            (report.SchedulerReportClient, 'get_allocation_candidates',
             'wait for candidates'),
            # In a thread for each cell; this thread puts the rows together.
            (objects.ServiceList, 'get_by_binary', _SERVICES),
            (host_manager.HostManager, '_get_computes_for_cells', _SERVICES),
            (objects.ComputeNodeList, 'get_all_by_uuids',
             'Nova: compute nodes of the candidates'),
            (host_manager.HostManager, '_get_host_states',
             'Nova: host states'),
            (utils, 'claim_resources', 'Nova: claim')):
        watch.watch(owner, name, part)
    for each in manager.enabled_filters:
        # The function works only when the returned iterator is consumed.
        watch.watch(each, 'filter_all', _named(each), finish=list)
    for each in manager.weighers:
        watch.watch(each, 'weigh_objects', _named(each))


def _named(each: object) -> str:
    """Return the name of a filter or weigher of Pcloud, or of all others."""
    kind = type(each)
    return (f'Pcloud: {kind.__name__}' if kind.__module__.startswith('pcloud')
            else "Nova's filters and weighers")


def report_nodes() -> None:
    """Write what nova-compute reports of all nodes.

    The scheduler ignores a node before.
    """
    with sa.create_engine(mariadb.url('nova_cell1')).begin() as cell:
        cell.execute(sa.update(main_models.ComputeNode).values(
            free_disk_gb=100, free_ram_mb=8192, host_ip='127.0.0.1',
            stats='{}', metrics='[]', supported_instances='[]',
            cpu_allocation_ratio=4.0,
            ram_allocation_ratio=4.0, disk_allocation_ratio=1.0))


def own(node: str) -> None:
    """Have Placement know that a provider is Nova's."""
    client = report.report_client_singleton()
    provider, = client.get(
        f'/resource_providers?name={node}').json()['resource_providers']
    assert client.put(f'/resource_providers/{provider["uuid"]}/traits', {
        'resource_provider_generation': provider['generation'],
        'traits': ['OWNER_NOVA']}, version='1.6').ok


def _serve(kind: str, hosts: int, connection) -> None:
    """Run a scheduler, and call its methods on request."""
    made = Scheduler(kind, hosts)
    try:
        gc.collect()
        gc.freeze()
        connection.send(None)
        while (wanted := connection.recv()) is not None:
            name, is_hinted = wanted
            connection.send(getattr(made, name)(is_hinted))
    finally:
        made.stop()


@contextlib.contextmanager
def running(hosts: int, larger: int) -> Iterator[Mapping[str, Callable]]:
    """Run all kinds of Nova, each in a process of its own.

    :returns: kind -> function that calls a method of `Scheduler`; the Nova in
        the larger cloud has the kind `_LARGER`
    """
    context = multiprocessing.get_context('spawn')
    ends, processes = {}, []
    for name, kind, count in ((STOCK, STOCK, hosts), (FILTER, FILTER, hosts),
                              (ALL, ALL, hosts), (_LARGER, ALL, larger)):
        ends[name], there = context.Pipe()
        processes.append(context.Process(
            target=_serve, args=(kind, count, there)))
        processes[-1].start()
        there.close()
    try:
        for end in ends.values():
            end.recv()
        yield {kind: _caller(end) for kind, end in ends.items()}
    finally:
        for end in ends.values():
            with contextlib.suppress(BrokenPipeError):
                end.send(None)
        for process in processes:
            process.join()


def _caller(end) -> Callable:
    def call(*wanted):
        end.send(wanted)
        return end.recv()
    return call


def _beside_stock(
    novas: Mapping[str, Callable], repeat: int,
) -> Iterator[results.Row]:
    """Yield boots without and with a hint, in turns."""
    table = 'Processor time, with that of Placement and MariaDB'
    kinds = (STOCK, FILTER, ALL)
    plain = turns.Turns(_PLAIN, {
        kind: lambda call=novas[kind]: call('spent', False)
        for kind in kinds})
    plain.take(repeat, [turns.Bound(kind, STOCK, most, _UNSEEN)
                        for kind, most in _WITHOUT_HINT.items()])
    # The stock Nova has no hint; there the same boot goes to all hosts.
    hinted = turns.Turns(_HINTED, {
        kind: lambda kind=kind: novas[kind]('spent', kind != STOCK)
        for kind in kinds})
    hinted.take(repeat, [turns.Bound(kind, STOCK, _WITH_HINT, _NARROWED)
                         for kind in _WITHOUT_HINT])
    yield from plain.rows(table)
    yield from hinted.rows(table)


def _counts(novas: Mapping[str, Callable]) -> Iterator[results.Row]:
    table = 'Statements, and calls of Placement'
    counts = {(kind, is_hinted): call('count', is_hinted)
              for kind, call in novas.items() for is_hinted in (False, True)
              if kind != STOCK or not is_hinted}
    for (kind, is_hinted), each in counts.items():
        name = _HINTED if is_hinted else _PLAIN
        yield results.Row(table, name, f'SQL, {kind}', each.sql)
        yield results.Row(table, name, f'calls, {kind}', each.http)
    small, large = counts[ALL, True], counts[_LARGER, True]
    for unit, more in (('more SQL in the larger cloud', large.sql - small.sql),
                       ('more calls in the larger cloud',
                        large.http - small.http)):
        yield results.Row(table, _HINTED, unit, more, 0, why=_FLAT)
    for kind in (ALL, _LARGER):
        yield results.Row(
            table, f'{_HINTED}, {kind}, max_placement_results={_FEW}',
            'boots that find a host', int(novas[kind]('is_placed', True)),
            least=1, why='Placement is asked for the hosts of the Pcloud '
            'alone')


def _parts(
    novas: Mapping[str, Callable], repeat: int, sizes: Mapping[str, int],
) -> Iterator[results.Row]:
    """Yield what the parts of a boot take, in both clouds in turns."""
    table = 'Parts of a boot in nova-scheduler, everything on, medians'
    for is_hinted, name in ((True, _HINTED), (False, _PLAIN)):
        taken: dict[str, list[Parts]] = {kind: [] for kind in sizes}
        for _ in range(repeat):
            for kind, its in taken.items():
                its.append(novas[kind]('parts', is_hinted))
        for kind, its in taken.items():
            yield from _shown(
                table, f'ms {name}, {sizes[kind]:,} hosts', its)
        if is_hinted:
            yield results.Row(
                table, f'{name}, {sizes[_LARGER]:,} hosts, without the '
                'services of the cell',
                f'{results.TIMES}{sizes[ALL]:,} hosts', statistics.median(
                    large.steady / small.steady for small, large in zip(
                        *taken.values(), strict=True)), _GROWTH, why=_FLAT)


def _shown(
    table: str, unit: str, taken: Sequence[Parts],
) -> Iterator[results.Row]:
    names = dict.fromkeys(name for each in taken for name in each.parts
                          if name != _REST)
    for name in (*names, _REST):
        seconds = statistics.median(each.parts.get(name, 0) for each in taken)
        if seconds >= _SHOWN_SECONDS or name.startswith('Pcloud'):
            yield results.Row(table, name, unit, 1000 * seconds)
    for name, found in (
            ('all, processor time', [each.spent for each in taken]),
            ('all, from call to answer', [each.wall for each in taken])):
        yield results.Row(
            table, name, unit, 1000 * statistics.median(found))


def measure(hosts: int, larger: int, repeat: int) -> Iterator[results.Row]:
    """Measure boots.

    :param hosts: the number of hosts that are open to everybody
    :param larger: the number of such hosts in the larger cloud
    """
    with running(hosts, larger) as novas:
        yield from _counts(novas)
        yield from _beside_stock(novas, repeat)
        yield from _parts(novas, repeat, {ALL: hosts, _LARGER: larger})
