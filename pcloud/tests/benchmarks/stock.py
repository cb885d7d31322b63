# SPDX-License-Identifier: Apache-2.0

"""What a request for a server costs beside a Nova without Pcloud.

``python -m pcloud.tests.benchmarks.stock`` runs the scheduler's side of boots
in three processes, each with databases of its own on the MariaDB of this
machine and with a Placement of its own: a stock Nova, a Nova with
`PcloudFilter`, and a Nova with all of Pcloud's filters and weighers. The
processes take turns. All have the same hosts; a few of the hosts are a
Pcloud's, and the stock Nova's are full, so that all have as many candidates.

The benchmark fails when a boot without a hint costs too much more than in the
stock Nova, or a boot into the Pcloud is not so much cheaper.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import gc
import logging
import multiprocessing
import sys

from pcloud.tests import concurrency  # noqa: F401

from nova import context as nova_context
from nova.db.main import models as main_models
from nova import objects
from nova import rpc
from nova.scheduler.client import report
from nova.scheduler import manager as scheduler
from oslo_config import cfg
from oslo_utils import uuidutils
import sqlalchemy as sa

from pcloud.rules import hints
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import turns
from pcloud.tests.concurrency import mariadb
from pcloud.tests.support import bulk
from pcloud.tests.support import counting

STOCK, FILTER, ALL = 'stock', 'PcloudFilter', 'everything on'
_OWNER, _STRANGER = 'a' * 32, 'b' * 32
_OF_PCLOUD = 20

# The most processor time of a boot, as a multiple of the time in a stock Nova.
_WITHOUT_HINT = {FILTER: 1.01, ALL: 1.02}
_WITH_HINT = 0.3
# From here on the multiples are judged.
_HOSTS = 1000

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


class Scheduler:
    """A scheduler in this process, over databases of this process.

    :param kind: one of the constants of this module
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
        _own('template' + bulk.NODE_SUFFIX)
        # As nova-compute reports: the scheduler ignores the node before.
        with sa.create_engine(mariadb.url('nova_cell1')).begin() as cell:
            cell.execute(sa.update(main_models.ComputeNode).values(
                free_disk_gb=100, free_ram_mb=8192, host_ip='127.0.0.1',
                stats='{}', metrics='[]', supported_instances='[]',
                cpu_allocation_ratio=4.0,
                ram_allocation_ratio=4.0, disk_allocation_ratio=1.0))
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
        gc.collect()
        return self._meter.spent(lambda: self.select(is_hinted)).all

    def count(self, is_hinted: bool) -> counting.Count:
        """Return the statements and calls of `select`."""
        return counting.least(lambda: self.select(is_hinted))


def _own(node: str) -> None:
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
def running(hosts: int) -> Iterator[Mapping[str, Callable]]:
    """Run all kinds of Nova, each in a process of its own.

    :returns: kind -> function that calls a method of `Scheduler`
    """
    context = multiprocessing.get_context('spawn')
    ends, processes = {}, []
    for kind in (STOCK, FILTER, ALL):
        ends[kind], there = context.Pipe()
        processes.append(context.Process(
            target=_serve, args=(kind, hosts, there)))
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


def measure(
    novas: Mapping[str, Callable], hosts: int, repeat: int,
) -> list[turns.Turns]:
    """Measure boots without and with a hint, in turns."""
    plain = turns.Turns(f'{hosts:,} hosts, no hint', {
        kind: lambda call=call: call('spent', False)
        for kind, call in novas.items()})
    plain.take(repeat, [turns.Bound(kind, STOCK, most)
                        for kind, most in _WITHOUT_HINT.items()
                        if hosts >= _HOSTS])
    # The stock Nova has no hint; there the same boot goes to all hosts.
    hinted = turns.Turns(f'{hosts:,} hosts, a Pcloud', {
        kind: lambda kind=kind, call=call: call('spent', kind != STOCK)
        for kind, call in novas.items()})
    hinted.take(repeat, [turns.Bound(kind, STOCK, _WITH_HINT)
                         for kind in _WITHOUT_HINT if hosts >= _HOSTS])
    return [plain, hinted]


def main() -> int:
    """Measure, print a table, and fail when a boot costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hosts', type=int, default=_HOSTS)
    parser.add_argument('--repeat', type=int, default=30,
                        help='how often each boot is measured at least')
    parsed = parser.parse_args()
    with running(parsed.hosts) as novas:
        for kind, call in novas.items():
            print(f'{kind}: {call("count", False)}; with the hint '
                  f'{call("count", True) if kind != STOCK else "none"}')
        judged = measure(novas, parsed.hosts, parsed.repeat)
    print(turns.table(judged))
    return turns.report_missed(judged)


if __name__ == '__main__':
    sys.exit(main())
