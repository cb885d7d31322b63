# SPDX-License-Identifier: Apache-2.0

"""Read the maintenances of hosts of pools, which the journal keeps."""

from collections.abc import Collection
import dataclasses

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import kept_rows
from pcloud import names

_POOLED = orm.aliased(models.AggregateHost)


@dataclasses.dataclass(frozen=True)
class Kept:
    """The metadata value of the maintenance of a host of a pool.

    :ivar host: the service host, which is in the pool
    :ivar pool_id: the id of the pool's aggregate in the database
    :ivar pool_uuid: the uuid of the pool's aggregate
    :ivar flavor_id: the id of the host flavor
    :ivar value: as written
    """

    host: str
    pool_id: int
    pool_uuid: str
    flavor_id: str
    value: str


def maintenances(
    context: nova_context.RequestContext,
    hosts: Collection[str] | None = None, pcloud_id: int | None = None,
    flavor_id: str | None = None,
) -> list[Kept]:
    """Return the maintenances of hosts of pools (one query).

    :param hosts: the service hosts to look for; None for all hosts
    :param pcloud_id: the aggregate's id in the database of the Pcloud of the
        hosts to look for; None for hosts in any Pcloud or none
    :param flavor_id: the host flavor of the hosts to look for; None for any
    """
    row, pool = models.AggregateMetadata, models.Aggregate
    prefix = names.MAINTENANCE_PREFIX
    statement = sa.select(
        _POOLED.host, pool.id, pool.uuid, pool.name, row.key, row.value,
    ).select_from(row).join(
        _POOLED, _POOLED.host == kept_rows.host_of(row, prefix),
    ).join(pool, pool.id == _POOLED.aggregate_id).where(
        kept_rows.has_prefix(row, prefix),
        pool.name.startswith(names.POOL_PREFIX, autoescape=True))
    if hosts is not None:
        statement = statement.where(row.key.in_(
            [names.MAINTENANCE_PREFIX + host for host in hosts]))
    if flavor_id is not None:
        statement = statement.where(pool.name == names.pool(flavor_id))
    if pcloud_id is not None:
        statement = statement.where(_POOLED.host.in_(
            sa.select(models.AggregateHost.host).where(
                models.AggregateHost.aggregate_id == pcloud_id)))
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other hosts too.
        return [Kept(host, id_, uuid, name.removeprefix(names.POOL_PREFIX),
                     value)
                for host, id_, uuid, name, key, value
                in session.execute(statement.order_by(_POOLED.host))
                if key == names.MAINTENANCE_PREFIX + host]
