# SPDX-License-Identifier: Apache-2.0

"""Read the pools of host flavors, and the free hosts of the pools."""

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import random

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_config import cfg
from oslo_utils import timeutils
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.changes import journal
from pcloud import names

CONF = cfg.CONF

_POOL, _POOLED = (
    orm.aliased(models.Aggregate), orm.aliased(models.AggregateHost))
_IS_DUE, _IS_IN_PCLOUD = (
    journal.is_due(_POOLED.host), isolation.is_in_pcloud(_POOLED.host))
# Nova writes a membership once, and never again.
_IS_UNREGISTERED = _POOLED.updated_at.is_(None)


def is_whole(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether name and metadata agree that an aggregate is a pool."""
    return (metadata.get(names.TYPE) == names.TYPE_POOL and
            bool(metadata.get(names.FLAVOR_ID)) and
            name == names.pool(metadata[names.FLAVOR_ID]) and
            readings.units(metadata) is not None)


def index(context: nova_context.RequestContext) -> list[rows.Aggregate]:
    """Return all whole pools, by name (two queries)."""
    return rows.whole(context, is_whole, models.Aggregate.name.startswith(
        names.POOL_PREFIX, autoescape=True))


def find(
    context: nova_context.RequestContext, flavor_id: str,
) -> rows.Aggregate | None:
    """Return the whole pool of a host flavor, or None (two queries)."""
    pools = rows.whole(context, is_whole,
                       models.Aggregate.name == names.pool(flavor_id))
    # Databases that compare without case find others too.
    return next((pool for pool in pools
                 if pool.metadata[names.FLAVOR_ID] == flavor_id), None)


def of_flavors(
    context: nova_context.RequestContext, flavor_ids: Collection[str],
) -> list[rows.Aggregate]:
    """Return the whole pools of host flavors, by name (two queries)."""
    pools = rows.whole(context, is_whole, models.Aggregate.name.in_(
        map(names.pool, flavor_ids)))
    # Databases that compare without case find others too.
    return [pool for pool in pools
            if pool.metadata[names.FLAVOR_ID] in flavor_ids]


def uuids(
    context: nova_context.RequestContext, flavor_ids: Collection[str],
) -> list[str]:
    """Return the uuids of the aggregates of pools (one query).

    :param flavor_ids: the host flavors of the pools
    """
    pool = models.Aggregate
    with api_db.context_manager.reader.using(context) as session:
        return list(session.scalars(sa.select(pool.uuid).where(
            pool.name.in_(map(names.pool, flavor_ids)))))


# The number of hosts of a pool, and the number of the last membership: both
# are the same as long as no host comes or goes.
Version = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Stock:
    """The hosts of pools that are in no Pcloud.

    :ivar pools: whole pools, by name, each with only these hosts
    :ivar versions: ``pool id -> version`` of the pools with hosts, taken or
        not
    :ivar zones: ``service host -> availability zone`` of these hosts
    """

    pools: Sequence[rows.Aggregate]
    versions: Mapping[int, Version]
    zones: Mapping[str, str]

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts in no Pcloud of all the pools."""
        return frozenset().union(*(pool.hosts for pool in self.pools))


def stock(context: nova_context.RequestContext) -> Stock:
    """Return the hosts in no Pcloud of all pools (six queries)."""
    return _stock(context, models.Aggregate.name.startswith(
        names.POOL_PREFIX, autoescape=True))


def stock_of(
    context: nova_context.RequestContext, flavor_id: str,
) -> Stock:
    """Return the hosts in no Pcloud of one pool, or none (six queries)."""
    found = _stock(context, models.Aggregate.name == names.pool(flavor_id))
    # Databases that compare without case find others too.
    return dataclasses.replace(found, pools=[
        pool for pool in found.pools
        if pool.metadata[names.FLAVOR_ID] == flavor_id])


def _stock(
    context: nova_context.RequestContext, criterion: sa.ColumnElement[bool],
) -> Stock:
    pool, member = models.Aggregate, models.AggregateHost
    # In one transaction, so that the answers agree.
    with api_db.context_manager.reader.using(context) as session:
        heads = session.execute(sa.select(pool.id, pool.uuid, pool.name).where(
            criterion).order_by(pool.name)).all()
        ids = [head.id for head in heads]
        metadata = session.execute(rows.metadata_rows(ids)).all()
        versions = session.execute(sa.select(
            member.aggregate_id, sa.func.count(), sa.func.max(member.id),
        ).where(member.aggregate_id.in_(ids)
                ).group_by(member.aggregate_id)).all()
        zones = inherited_metadata.zones_of_aggregates(session)
        members = session.execute(sa.select(
            _POOLED.aggregate_id, _POOLED.host, _zone_id(zones),
        ).where(_POOLED.aggregate_id.in_(ids),
                sa.not_(_is_taken(session)))).all()
    pools = rows.assemble(
        heads, [(id_, host) for id_, host, _ in members], metadata)
    return Stock(
        [each for each in pools if is_whole(each.name, each.metadata)],
        {id_: (count, last) for id_, count, last in versions},
        {host: zones.get(zone, CONF.default_availability_zone)
         for _, host, zone in members})


def _is_taken(session: orm.Session) -> sa.ColumnElement[bool]:
    """Return the condition that a pooled host is in a Pcloud (one query).

    The aggregates that are no Pclouds are few, and MariaDB looks the
    aggregates of a host up in an index.
    """
    others = frozenset(session.scalars(isolation.other_ids()))
    member = orm.aliased(models.AggregateHost)
    return sa.exists().where(
        member.host == _POOLED.host, member.aggregate_id.not_in(others))


def _zone_id(zones: Collection[int]) -> sa.ScalarSelect:
    """Select the aggregate of the availability zone of a pooled host.

    :param zones: the ids of the aggregates of availability zones
    """
    member = models.AggregateHost
    # Databases that compare without case find other hosts by the index.
    written, pooled = (sa.cast(host, sa.LargeBinary) for host in (
        member.host, _POOLED.host))
    return sa.select(sa.func.max(member.aggregate_id)).where(
        member.host == _POOLED.host, written == pooled,
        member.aggregate_id.in_(zones)).scalar_subquery()


def allocated(
    context: nova_context.RequestContext, ids: Collection[int],
) -> dict[int, dict[str, int]]:
    """Count the hosts of pools that are in Pclouds (three queries).

    :param ids: the ids of the aggregates of the pools
    :returns: ``pool id -> availability zone -> number of hosts``
    """
    found: dict[int, dict[str, int]] = {}
    with api_db.context_manager.reader.using(context) as session:
        zones = inherited_metadata.zones_of_aggregates(session)
        zone_id = _zone_id(zones).label('zone_id')
        for id_, number, count in session.execute(sa.select(
            _POOLED.aggregate_id, zone_id, sa.func.count(),
        ).where(_POOLED.aggregate_id.in_(ids), _is_taken(session)
                ).group_by(_POOLED.aggregate_id, zone_id)):
            zone = zones.get(number, CONF.default_availability_zone)
            its = found.setdefault(id_, {})
            its[zone] = its.get(zone, 0) + count
    return found


def cell_ids(
    context: nova_context.RequestContext, ids: Collection[int],
) -> frozenset[int]:
    """Return the ids of the cells with hosts of pools (one query).

    :param ids: the ids of the aggregates of the pools
    """
    mapping = models.HostMapping
    with api_db.context_manager.reader.using(context) as session:
        return frozenset(session.scalars(
            sa.select(mapping.cell_id).distinct()
            .join(_POOLED, _POOLED.host == mapping.host)
            .where(_POOLED.aggregate_id.in_(ids))))


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[rows.Aggregate]:
    """Return the whole pools of any of `hosts`, each with only `hosts`.

    Two queries.
    """
    if not hosts:
        return []
    row, pool = models.AggregateMetadata, models.Aggregate
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(sa.select(
            pool.id, pool.uuid, pool.name, row.key, row.value,
        ).join(row, row.aggregate_id == pool.id).where(
            pool.name.startswith(names.POOL_PREFIX, autoescape=True))).all()
        hosts_of = _among(session, {each.id for each in found}, hosts)
    heads = sorted({each[:3] for each in found}, key=lambda head: head[2])
    pools = rows.assemble(
        heads, [], [(each.id, each.key, each.value) for each in found])
    return [dataclasses.replace(each, hosts=hosts_of[each.id])
            for each in pools
            if each.id in hosts_of and is_whole(each.name, each.metadata)]


def units(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> Mapping[str, int]:
    """Return the units of hosts (two queries).

    A host in no pool has no entry. Databases that compare without case find
    other hosts too.

    :returns: ``service host -> units``
    """
    if not hosts:
        return {}
    # In one transaction, so that the answers agree.
    with api_db.context_manager.reader.using(context) as session:
        pools = units_by_id(context)
        return by_host(pools, _among(session, list(pools), hosts))


def by_host(
    pools: Mapping[int, int], hosts_of: Mapping[int, frozenset[str]],
) -> Mapping[str, int]:
    """Return ``service host -> units`` from the units of pools.

    :param pools: as `units_by_id`; of the pools of a host the last counts
    :param hosts_of: ``aggregate id -> service hosts``, of all aggregates
    """
    found: dict[str, int] = {}
    for id_, each in pools.items():
        found |= dict.fromkeys(hosts_of.get(id_, frozenset()), each)
    return found


def units_by_id(context: nova_context.RequestContext) -> dict[int, int]:
    """Return the units of a host of each whole pool (one query).

    :returns: id of the aggregate -> units, in order of the pools' names
    """
    row, pool = models.AggregateMetadata, models.Aggregate
    found: dict[tuple[int, str], dict[str, str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for id_, name, key, value in session.execute(sa.select(
            pool.id, pool.name, row.key, row.value,
        ).join(row, row.aggregate_id == pool.id).where(
            pool.name.startswith(names.POOL_PREFIX, autoescape=True),
            row.key.in_([names.TYPE, names.FLAVOR_ID, names.UNITS]),
        ).order_by(pool.name)):
            found.setdefault((id_, name), {})[key] = value
    return {id_: readings.units(metadata) or 0
            for (id_, name), metadata in found.items()
            if is_whole(name, metadata)}


def _among(
    session: orm.Session, ids: Collection[int], hosts: Collection[str],
) -> Mapping[int, frozenset[str]]:
    """Return which of some hosts are in which of some aggregates.

    :returns: ``aggregate id -> service hosts``
    """
    member = models.AggregateHost
    # MariaDB would go through the hosts of the pools in the order of an index.
    aggregate_id = (member.aggregate_id + 0).label('id')
    return rows.by_key(session.execute(sa.select(
        aggregate_id, member.host).where(
            aggregate_id.in_(ids), member.host.in_(hosts))).all())


def drawn(
    context: nova_context.RequestContext, flavor_id: str, most: int,
    chance: random.Random,
) -> list[str]:
    """Return some free hosts of a pool, each with the same chance.

    Two queries. Numbers of memberships are drawn, from the first to the last
    of the pool, and not names: to read the names of thousands of hosts takes
    longer than everything else. Numbers that are no memberships of the pool
    are drawn in vain, so there may be no host although hosts are free.

    :param most: how many numbers to draw
    """
    member = models.AggregateHost
    pool = sa.select(models.Aggregate.id).where(
        models.Aggregate.name == names.pool(flavor_id)).scalar_subquery()
    with api_db.context_manager.reader.using(context) as session:
        first, last = session.execute(sa.select(
            sa.func.min(member.id), sa.func.max(member.id),
        ).where(member.aggregate_id == pool)).one()
    if first is None:
        return []
    numbers = range(first, last + 1)
    if len(numbers) > most:
        return _in_no_pcloud(context, flavor_id, _select_numbered(),
                             numbers=chance.sample(numbers, most))
    return _in_no_pcloud(context, flavor_id, _select_unallocated())


def _select_numbered() -> sa.Select:
    """Select as `_select_unallocated`, with ``numbers`` of memberships."""
    return _select_unallocated().where(
        _POOLED.id.in_(sa.bindparam('numbers', expanding=True)))


def unallocated(
    context: nova_context.RequestContext, flavor_id: str,
) -> list[str]:
    """Return the free hosts in the pool of a host flavor.

    One query. Hosts in a Pcloud, hosts for which something is due, and
    `unregistered` hosts are not read.
    """
    return _in_no_pcloud(context, flavor_id, _select_unallocated())


def settling(
    context: nova_context.RequestContext, flavor_id: str,
) -> list[str]:
    """Return the hosts of a pool that are in no Pcloud and not free yet.

    One query. Something is due for each of the hosts, or the host is
    `unregistered`.
    """
    return _in_no_pcloud(context, flavor_id, _select_in_no_pcloud(
        sa.or_(_IS_DUE, _IS_UNREGISTERED)))


def unregistered(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, datetime.datetime]:
    """Return which of some hosts Nova's calls have put into pools.

    Hosts in Pclouds are left out.

    No change of Pcloud has seen the host enter the pool, and nothing is due
    for the host. A change of Pcloud writes the time of the change into the
    membership, which Nova leaves empty; a host that is taken out and put in
    again has another membership.

    One query; where there are such memberships, those of
    `isolation.pclouds_of` and another query.

    :returns: ``service host -> when the host entered the pool``, in UTC
    """
    # MariaDB would go through all hosts of the pools.
    aggregate_id = _POOLED.aggregate_id + 0
    statement = sa.select(_POOLED.host, _POOLED.created_at).join(
        _POOL, _POOL.id == aggregate_id,
    ).where(_POOL.name.startswith(names.POOL_PREFIX, autoescape=True),
            _POOLED.host.in_(hosts), _IS_UNREGISTERED)
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find others too.
        found = {host: entered for host, entered
                 in session.execute(statement) if host in hosts}
    if not found:
        return {}
    # Most memberships are registered: to ask for these takes the database
    # longer than everything else.
    others = isolation.pclouds_of(context, found).keys() | (
        journal.dues(context).keys())
    return {host: entered or timeutils.utcnow()
            for host, entered in found.items() if host not in others}


def is_registered(
    context: nova_context.RequestContext, flavor_id: str, host: str,
) -> bool:
    """Whether a change of Pcloud has seen a host in a pool (one query).

    :returns: False too for a host that is not in the pool
    """
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find others too.
        return (names.pool(flavor_id), host) in session.execute(
            sa.select(_POOL.name, _POOLED.host).join(
                _POOL, _POOL.id == _POOLED.aggregate_id,
            ).where(_POOL.name == names.pool(flavor_id),
                    _POOLED.host == host, sa.not_(_IS_UNREGISTERED))).all()


def _in_no_pcloud(
    context: nova_context.RequestContext, flavor_id: str,
    statement: sa.Select, **parameters: list,
) -> list[str]:
    """Return the hosts of a pool that a statement finds.

    :param statement: as `_select_in_no_pcloud`
    :param parameters: the other bound parameters of the statement
    """
    pool = names.pool(flavor_id)
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find others too.
        return [host for name, host in session.execute(
            statement, {'pool': pool, **parameters}) if name == pool]


def _select_unallocated() -> sa.Select:
    """Select the registered hosts in no Pcloud for which nothing is due."""
    return _select_in_no_pcloud(sa.not_(sa.or_(_IS_DUE, _IS_UNREGISTERED)))


def _select_in_no_pcloud(criterion: sa.ColumnElement[bool]) -> sa.Select:
    """Select the hosts in no Pcloud, of the aggregate ``pool``."""
    return sa.select(_POOL.name, _POOLED.host).join(
        _POOL, _POOL.id == _POOLED.aggregate_id,
    ).where(_POOL.name == sa.bindparam('pool'), criterion,
            sa.not_(_IS_IN_PCLOUD))
