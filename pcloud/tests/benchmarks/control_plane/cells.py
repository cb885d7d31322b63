# SPDX-License-Identifier: Apache-2.0

"""What a choice of a host costs in several cells.

The compute services of a cloud of rows are shared out to cells with databases
of their own, and a new scheduler chooses hosts.
"""

from __future__ import annotations

from pcloud.tests import concurrency  # noqa: F401

import dataclasses
import gc

from nova import context as nova_context
from nova.db.api import models as api_models
from nova.db.main import models as main_models
from nova import objects
from oslo_utils import uuidutils
import sqlalchemy as sa

from pcloud.tests.benchmarks.control_plane import place
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks.model import costs
from pcloud.tests.concurrency import mariadb

_SHARED = (main_models.Service, main_models.ComputeNode)


@dataclasses.dataclass(frozen=True)
class Found:
    """Choices of hosts in a cloud.

    :ivar plain: without a hint
    :ivar hinted: in a Pcloud
    :ivar named: in a Pcloud, by a request that names the cell of the hosts
    """

    plain: costs.Sample
    hinted: costs.Sample
    named: costs.Sample


def _name(number: int) -> str:
    return f'nova_part{number}'


def cut(count: int) -> None:
    """Share the hosts out to so many cells, of which the first is there.

    Hosts next to each other stay in a cell.
    """
    new = [_name(number) for number in range(1, count)]
    mariadb.create(new)
    api = sa.create_engine(mariadb.url('nova_api'))
    with api.begin() as connection:
        hosts = list(connection.scalars(sa.select(
            api_models.HostMapping.host).order_by(
                api_models.HostMapping.host)))
    size = -(-len(hosts) // count)
    for number, name in enumerate(new, start=1):
        part = hosts[number * size:][:size]
        _move(name, part[0], part[-1])
        cell = objects.CellMapping(
            nova_context.get_admin_context(), name=name,
            uuid=uuidutils.generate_uuid(), transport_url='fake://',
            database_connection=mariadb.url(name))
        cell.create()
        with api.begin() as connection:
            connection.execute(sa.update(api_models.HostMapping).where(
                api_models.HostMapping.host.between(part[0], part[-1])
            ).values(cell_id=cell.id))


def _move(name: str, first: str, last: str) -> None:
    """Move the rows of hosts from the first cell to a new database."""
    engine = sa.create_engine(mariadb.url(name))
    main_models.BASE.metadata.create_all(engine)
    here = mariadb.own('nova_cell1')
    with engine.begin() as connection:
        for model in _SHARED:
            table = model.__tablename__
            which = 'WHERE host BETWEEN :first AND :last'
            between = {'first': first, 'last': last}
            connection.execute(sa.text(
                f'INSERT INTO {table} SELECT * FROM {here}.{table} {which}'),
                between)
            connection.execute(sa.text(
                f'DELETE FROM {here}.{table} {which}'), between)
            connection.execute(sa.text(f'ANALYZE TABLE {table}'))


def _sample(there: place.Place, repeat: int) -> Found:
    pcloud = there.pclouds[0]
    cell = objects.HostMapping.get_by_host(
        nova_context.get_admin_context(), pcloud.hosts[0]).cell_mapping
    watch = meter.Meter(there.cloud.serving())

    def sample(pcloud_id: str | None, where: objects.CellMapping | None,
               ) -> costs.Sample:
        def work() -> None:
            there.chooser.give_up(there.chooser.choose(
                pcloud_id, cell=where))

        work()
        taken = []
        for _ in range(repeat):
            gc.collect()
            spent = watch.spent(work)
            taken.append(costs.Sample(
                spent.own, spent.others, spent.database))
        return costs.Cost(tuple(taken)).mean

    return Found(sample(None, None), sample(pcloud.id, None),
                 sample(pcloud.id, cell))


def measure(hosts: int, counts: tuple[int, int], repeat: int,
            ) -> dict[int, Found]:
    """Return number of cells -> choices, in a cloud of so many hosts.

    :param counts: numbers of cells, of which the first is 1
    """
    there = place.Place(hosts)
    try:
        one, many = counts
        found = {one: _sample(there, repeat)}
        cut(many)
        # Schedulers read the cells when they start.
        there.chooser = place.Chooser()
        found[many] = _sample(there, repeat)
        return found
    finally:
        there.stop()
        mariadb.drop([_name(number) for number in range(1, counts[1])])
