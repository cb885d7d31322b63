# SPDX-License-Identifier: Apache-2.0

"""Passes of a worker in which nothing is due, however much is wished.

Half of the Pclouds have a drained, empty host, and the other half a host that
is drained for a maintenance. In a quarter empty hosts are to leave, and all
are noted as empty since a moment ago.
"""

from __future__ import annotations

from pcloud.tests import concurrency  # noqa: F401

from collections.abc import Iterator
import time
import uuid

from nova import context as nova_context
from nova.db.api import models
from nova import objects

from pcloud import names
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.moving import shrinking
from pcloud.tests.benchmarks import aggregates
from pcloud.tests.benchmarks.filters import databases
from pcloud.tests.benchmarks import results
from pcloud.tests.support import bulk
from pcloud.tests.support import counting
from pcloud.worker import passes

FULL = {'pclouds': (10, 1000), 'of_pcloud': 10}
SMALL = {'pclouds': (2, 20), 'of_pcloud': 2}
_TABLE = 'Passes of a worker in which nothing is due'
_SAME = 'what is wished of all Pclouds is read at once'
# Seconds of processor time for a pass over the largest number of Pclouds.
_MOST = 10
# A maintenance that began so long ago has no deadline to tell.
_AGO = 86_400


def made(pclouds: int, of_pcloud: int) -> list[bulk.Aggregate]:
    """Return the aggregates of a cloud.

    :param of_pcloud: the number of hosts of each Pcloud
    """
    hosts = [f'compute-{number:06}' for number in range(pclouds * of_pcloud)]
    found = [bulk.pool('gpu', hosts)]
    for number in range(pclouds):
        first = number * of_pcloud
        pcloud = bulk.pcloud(
            uuid.uuid4().hex, hosts[first:first + of_pcloud], {})
        drain(pcloud, hosts[first], is_maintained=number % 2 > 0)
        if not number % 4:
            _shrink(pcloud, hosts[first + 1:first + of_pcloud])
        found.append(pcloud)
    return [*found, bulk.journal(found)]


def drain(pcloud: bulk.Aggregate, host: str, is_maintained: bool) -> None:
    """Have a host drained, and in a maintenance."""
    now = int(time.time())
    pcloud.metadata[names.state_key(host + bulk.NODE_SUFFIX)] = 'disabled'
    pcloud.kept[names.drain_key(host)] = draining.Drain(
        now - _AGO, draining.LIVE).text()
    if is_maintained:
        begin = now - _AGO
        pcloud.metadata[names.MAINTENANCE_POLICY] = (
            maintenance_policies.MIGRATE)
        pcloud.kept[names.reaction_key(host)] = maintenance_policies.Reaction(
            begin).text()
        pcloud.kept[names.maintenance_key(host)] = (
            maintenance_windows.KeptMaintenance(begin).text())


def _shrink(pcloud: bulk.Aggregate, hosts: list[str]) -> None:
    """Have empty hosts leave some day."""
    pcloud.metadata[names.SHRINK] = shrinking.Shrink(24, 0, 0).text()
    for host in hosts:
        pcloud.kept[names.idle_key(host)] = shrinking.Idle(
            int(time.time())).text()


def measure(
    pclouds: tuple[int, ...], of_pcloud: int,
) -> Iterator[results.Row]:
    """Measure a pass over each number of Pclouds.

    :param of_pcloud: the number of hosts of each Pcloud
    """
    few = None
    with databases.running() as cell:
        for number in pclouds:
            wanted = made(number, of_pcloud)
            aggregates.write(wanted, cell)
            _map(wanted, cell)
            statements = len(counting.statements(look))
            name = f'{number} Pclouds'
            yield results.Row(_TABLE, name, 'statements', statements,
                              most=few, why=_SAME if few else '')
            few = statements
            began = time.process_time()
            look()
            yield results.Row(
                _TABLE, name, 's of this process',
                time.process_time() - began, _MOST, why='others wait')


def _map(wanted: list[bulk.Aggregate], cell: objects.CellMapping) -> None:
    databases.fill(models.HostMapping, (
        {'cell_id': cell.id, 'host': host}
        for host in wanted[0].hosts), cell)


def look() -> None:
    """Look for Pclouds for whose hosts something is due.

    :raises: `AssertionError` when something is
    """
    due: list[str] = []
    passes._step_pclouds(nova_context.get_admin_context(),
                         lambda owner, work: due.append(owner))
    assert not due, due
