# SPDX-License-Identifier: Apache-2.0

"""Read lists of Pclouds and of hosts of pools, which may be very long."""

from collections.abc import Collection
from collections.abc import Mapping

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud import names


def _ends(prefix: str) -> tuple[str, str]:
    """Return between which texts keys with a prefix are.

    MariaDB compares a key with both in less than half the time of a LIKE. Both
    differ in a letter, as punctuation has another order in each collation.
    """
    first = prefix.rstrip(':')
    return first, first[:-1] + chr(ord(first[-1]) + 1)


# What is shown of each Pcloud, besides the tenants.
_SHOWN = (names.TYPE, names.ID, names.NAME, names.OWNER,
          names.MAINTENANCE_POLICY, names.HOST_RECOVERY,
          names.PIN_BY_TENANTS, names.FILLING, names.SHRINK, *readings.RATIOS)
_SHOWN_PREFIXES = tuple(map(_ends, (
    names.FLAVORS_PREFIX, names.IMAGES_PREFIX)))


def index(
    context: nova_context.RequestContext, project_id: str | None,
    name: str | None,
) -> dict[str, rows.Head]:
    """Return whole Pclouds, in order of the Pcloud ids.

    Two queries, which read few metadata of each Pcloud.

    :param project_id: the owner or a tenant of the Pclouds; None for all
        Pclouds
    :param name: the owner's name for the Pclouds, None for any name
    :returns: ``Pcloud id -> aggregate``
    """
    row, aggregate = models.AggregateMetadata, models.Aggregate
    heads = sa.select(aggregate.id, aggregate.uuid, aggregate.name).where(
        aggregate.name.startswith(names.PREFIX, autoescape=True))
    keys = [names.TYPE, names.ID]
    if name is not None:
        keys += [names.NAME]
    if project_id is not None:
        heads = heads.where(_is_of_project(project_id))
        keys += [names.OWNER, names.TENANT_PREFIX + project_id]
    # Nova's sessions take longer for each row than the connection.
    with api_db.context_manager.reader.connection.using(
            context) as connection:
        found = connection.execute(heads).all()
        statement = sa.select(row.aggregate_id, row.key, row.value).where(
            row.key.in_(keys))
        if project_id is not None:
            statement = statement.where(row.aggregate_id.in_(
                [id_ for id_, *_ in found]))
        metadata: dict[int, dict[str, str]] = {id_: {} for id_, *_ in found}
        for id_, key, value in connection.execute(statement):
            metadata.setdefault(id_, {})[key] = value
    return {metadata[id_][names.ID]: rows.Head(id_, uuid, full_name)
            for id_, uuid, full_name in sorted(found, key=lambda head: head[2])
            if pcloud_rows.is_whole(full_name, metadata[id_]) and
            name in (None, metadata[id_].get(names.NAME, '')) and
            _may_see(metadata[id_], project_id)}


def _is_of_project(project_id: str) -> sa.ColumnElement[bool]:
    return sa.or_(
        rows.has_entry(names.OWNER, project_id),
        rows.has_entry(names.TENANT_PREFIX + project_id, names.TENANT_VALUE))


def _may_see(metadata: Mapping[str, str], project_id: str | None) -> bool:
    return project_id is None or pcloud_rows.has_project(metadata, project_id)


def read(
    context: nova_context.RequestContext, heads: Collection[rows.Head],
    project_id: str | None,
) -> tuple[list[rows.Aggregate], Mapping[str, int]]:
    """Return those Pclouds of a list that are still there, and the units.

    Five queries. Of what is kept of hosts the metadata have only whom a host
    stands in for.

    :param project_id: as `index`
    :returns: the Pclouds in the given order, and ``service host -> units``, as
        `pool_rows.units`
    """
    # In one transaction, so that the answers agree.
    with api_db.context_manager.reader.connection.using(
            context) as connection:
        ids = [head.id for head in heads]
        metadata_of = _metadata(connection, ids)
        pools = pool_rows.units_by_id(context)
        hosts_of = rows.by_key(connection.execute(
            _select_hosts(ids, pools.keys())).all())
        replaced = dict(connection.execute(_select_replaced()).all())
    there = [_aggregate(head, hosts_of.get(head.id, frozenset()),
                        metadata_of[head.id], replaced)
             for head in heads if head.id in metadata_of]
    return [aggregate for aggregate in pcloud_rows.whole(there)
            if _may_see(aggregate.metadata, project_id)
            ], pool_rows.by_host(pools, hosts_of)


def _aggregate(
    head: rows.Head, hosts: frozenset[str], metadata: Mapping[str, str],
    replaced: Mapping[str, str],
) -> rows.Aggregate:
    """Return an aggregate with those rows of the journal that are its own.

    :param replaced: key and value of whom hosts of the cloud stand in for
    """
    return rows.Aggregate(head.id, head.uuid, head.name, hosts, {
        **metadata, **{key: value for key, value in replaced.items()
                       if key.removeprefix(names.REPLACES_PREFIX) in hosts}})


def with_hosts(
    context: nova_context.RequestContext, ids: Collection[int],
) -> list[rows.Aggregate]:
    """Return Pclouds with all their hosts and metadata, by name.

    Three queries. The metadata have what the journal keeps of the hosts.

    :param ids: the ids of the aggregates
    """
    return kept_rows.added(context, rows.whole(
        context, pcloud_rows.is_whole, models.Aggregate.id.in_(ids)))


def pool_hosts(
    context: nova_context.RequestContext, flavor_id: str, after: str,
    most: int,
) -> frozenset[str]:
    """Return a page of the hosts in the pool of a host flavor (one query).

    Pages are in order of the code points of the names, whatever the database.

    :param after: the last host of the page before, which may be gone by now
    :param most: the number of hosts of a page
    """
    pool, member = models.Aggregate, models.AggregateHost
    name = names.pool(flavor_id)
    written, host = (sa.cast(column, sa.LargeBinary)
                     for column in (pool.name, member.host))
    with api_db.context_manager.reader.using(context) as session:
        return frozenset(session.scalars(sa.select(member.host).join(
            pool, pool.id == member.aggregate_id,
        ).where(pool.name == name, written == name.encode(),
                host > after.encode()).order_by(host).limit(most)))


def _select_replaced() -> sa.Select:
    """Select all rows of whom hosts stand in for, which are few."""
    row = models.AggregateMetadata
    return sa.select(row.key, row.value).where(
        kept_rows.has_prefix(row, names.REPLACES_PREFIX))


def _select_hosts(ids: Collection[int], pools: Collection[int]) -> sa.Select:
    """Select the hosts of Pclouds, and which of the hosts are in pools.

    :param ids: the ids of the aggregates of the Pclouds
    :param pools: the ids of the aggregates of the pools
    """
    member, listed = models.AggregateHost, orm.aliased(models.AggregateHost)
    # MariaDB would go through all hosts of the pools.
    aggregate_id = (member.aggregate_id + 0).label('id')
    return sa.select(aggregate_id, member.host).join(
        listed, listed.host == member.host).where(
            listed.aggregate_id.in_(_written(ids)),
            aggregate_id.in_(_written([*ids, *pools])))


def _metadata(
    connection: sa.Connection, ids: Collection[int],
) -> dict[int, dict[str, str]]:
    """Return what is shown of Pclouds, by the ids of the aggregates."""
    row = models.AggregateMetadata
    found: dict[int, dict[str, str]] = {}
    for id_, key, value in connection.execute(sa.select(
            row.aggregate_id, row.key, row.value).where(
                row.aggregate_id.in_(_written(ids)), sa.or_(
                    row.key.in_(_SHOWN), row.value == names.TENANT_VALUE,
                    *(row.key.between(*ends) for ends in _SHOWN_PREFIXES)))):
        found.setdefault(id_, {})[key] = value
    return found


def _written(ids: Collection[int]) -> sa.BindParameter:
    """Return numbers that are written into the statement.

    A driver in Python takes longer to bind a thousand numbers one by one.
    """
    return sa.bindparam(None, list(ids), expanding=True, literal_execute=True)
