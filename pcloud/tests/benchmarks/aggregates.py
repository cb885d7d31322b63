# SPDX-License-Identifier: Apache-2.0

"""What Nova's own reads of all aggregates cost, by what Pclouds keep.

Nova reads all aggregates from the MariaDB of this machine: once as ``GET
/os-aggregates`` does, and once as nova-scheduler does at the start. Nova joins
the hosts and the metadata of an aggregate, so each pair of a host and a key is
a row. What of the rows is Pcloud's is counted by sort of key.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import gc
import time
import uuid

from pcloud.tests import concurrency  # noqa: F401

from nova.api.openstack import api_version_request
from nova.api.openstack.compute import aggregates as aggregates_api
from nova.api.openstack import wsgi
from nova import context as nova_context
from nova.db.api import models
from nova import objects
from nova.scheduler import host_manager
from oslo_serialization import jsonutils

from pcloud import names
from pcloud.tests.benchmarks.filters import databases
from pcloud.tests.benchmarks import results
from pcloud.tests.support import bulk

_OWN = {names.CPU_RATIO: '16.0', names.RAM_RATIO: '1.5'}
_ZONES, _POOLS = 2, 10

FULL = {'hosts': 20_000, 'of_pcloud': 10}
SMALL = {'hosts': 40, 'of_pcloud': 10}
_TABLE = 'Reads of all aggregates, seconds of this process'

NOTHING, NO_RATIOS, RATIOS = (
    'without Pcloud', 'no ratios set', 'ratios set')


def aggregates(
    kept: str, hosts: Sequence[str], of_pcloud: int,
) -> list[bulk.Aggregate]:
    """Return the aggregates of a cloud.

    :param kept: one of the constants of this module
    :param of_pcloud: the number of hosts of each Pcloud
    """
    made = [bulk.zone(f'zone-{number}', hosts[number::_ZONES])
            for number in range(_ZONES)]
    if kept == NOTHING:
        return made
    made += [bulk.pool(f'flavor-{number}', hosts[number::_POOLS])
             for number in range(_POOLS)]
    ratios = _OWN if kept == RATIOS else {}
    pclouds = [
        bulk.pcloud(uuid.uuid4().hex, hosts[start:start + of_pcloud], ratios)
        for start in range(0, len(hosts), of_pcloud)]
    return [*made, *pclouds, bulk.journal(pclouds)]


def joined(made: Sequence[bulk.Aggregate]) -> int:
    """Return the rows that Nova's join of hosts and metadata returns."""
    return sum(map(_joined, made))


def _joined(each: bulk.Aggregate) -> int:
    # An aggregate without hosts has a row for each key.
    return max(1, len(each.hosts)) * len(each.metadata)


def by_key(made: Sequence[bulk.Aggregate]) -> dict[str, int]:
    """Return sort of aggregate and of key -> rows of Nova's join."""
    found: dict[str, int] = {}
    for each in made:
        for key in each.metadata:
            sort = _sort(each.name, key)
            found[sort] = found.get(sort, 0) + max(1, len(each.hosts))
    return found


def _sort(name: str, key: str) -> str:
    if name == names.JOURNAL:
        return 'the journal'
    if not name.startswith(names.PREFIX):
        return 'others'
    if name.startswith(names.POOL_PREFIX):
        return 'pools'
    prefix = next((prefix for prefix in names.OF_HOSTS
                   if key.startswith(prefix)), None)
    return f'Pclouds, {prefix}' if prefix else 'Pclouds, frame and tenants'


def write(
    made: Sequence[bulk.Aggregate], cell: objects.CellMapping,
) -> None:
    """Replace all aggregates in the database."""
    numbered = list(enumerate(made, start=1))
    for model, rows in (
            (models.AggregateMetadata, (
                {'aggregate_id': number, 'key': key, 'value': value}
                for number, each in numbered
                for key, value in each.metadata.items())),
            (models.AggregateHost, (
                {'aggregate_id': number, 'host': host}
                for number, each in numbered for host in each.hosts)),
            (models.Aggregate, (
                {'id': number, 'uuid': each.uuid, 'name': each.name}
                for number, each in numbered))):
        databases.fill(model, rows, cell)


def show_all() -> None:
    """Have Nova's controller answer ``GET /os-aggregates``."""
    request = wsgi.Request.blank('/v2.1/os-aggregates')
    request.environ['nova.context'] = nova_context.RequestContext(
        user_id='admin', project_id='admin', roles=['admin'])
    request.api_version_request = api_version_request.APIVersionRequest('2.1')
    jsonutils.dumps(aggregates_api.AggregateController().index(request))


def start_scheduler() -> None:
    """Fill the maps of aggregates of a new host manager."""
    manager = host_manager.HostManager.__new__(host_manager.HostManager)
    manager.aggs_by_id = {}
    manager.host_aggregates_map = collections.defaultdict(set)
    manager._init_aggregates()


_WORKS = {'GET /os-aggregates': show_all,
          'start of nova-scheduler': start_scheduler}


def _time(work: Callable[[], None]) -> float:
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def measure(hosts: int, of_pcloud: int) -> Iterator[results.Row]:
    """Measure each cloud, one after the other: all use the same tables.

    :param of_pcloud: the number of hosts of each Pcloud
    """
    added = [f'compute-{number:06}' for number in range(hosts)]
    with databases.running() as cell:
        for kept in (NOTHING, NO_RATIOS, RATIOS):
            made = aggregates(kept, added, of_pcloud)
            write(made, cell)
            yield results.Row(_TABLE, kept, 'rows of the join', joined(made))
            for name, work in _WORKS.items():
                yield results.Row(_TABLE, kept, f's {name}', _time(work))
    for sort, rows in by_key(made).items():
        yield results.Row('Rows of the join, ratios set', sort, 'rows', rows)
