# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Read Pcloud's aggregates from Nova's API database.

Isolation must not depend on the scheduler's copy of the aggregates, which can
lose updates, and whole ``Aggregate`` objects are dear to load; so the rows
that a decision needs are read here, hosts and metadata apart, with a number
of queries that does not depend on how many there are.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend import bulk
from pcloud.backend import journal
from pcloud.backend import readings
from pcloud import names
from pcloud.rules import access
from pcloud.rules import hints
from pcloud.rules import units as unit_rules

_TYPE = orm.aliased(models.AggregateMetadata)


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """One aggregate, read whole."""

    id: int
    uuid: str
    name: str
    hosts: frozenset[str]
    metadata: Mapping[str, str]


def _with_type(statement: sa.Select) -> sa.Select:
    return statement.outerjoin(
        _TYPE, sa.and_(_TYPE.aggregate_id == models.Aggregate.id,
                       _TYPE.key == names.TYPE))


_CLOSED_TYPES = (names.TYPE_POOL, names.TYPE_PCLOUD)


def _is_closed() -> sa.ColumnElement[bool]:
    """Aggregates that take their hosts away from everybody else.

    The name alone is enough, and so is the type: an aggregate that has lost
    one of them, or was never finished, must not open its hosts.
    """
    return sa.or_(_TYPE.value.in_(_CLOSED_TYPES), _is_closed_by_name())


def _is_closed_by_name() -> sa.ColumnElement[bool]:
    named = models.Aggregate.name.startswith(names.PREFIX, autoescape=True)
    opened = [models.Aggregate.name.startswith(prefix, autoescape=True)
              for prefix in names.OPEN_PREFIXES]
    return sa.and_(named, sa.not_(sa.or_(*opened)))


def _open_ids() -> sa.Select:
    """The ids of the aggregates that are not closed.

    There are few, and types are looked up for those alone whose names say
    nothing.
    """
    row = models.AggregateMetadata
    typed = sa.exists().where(
        row.aggregate_id == models.Aggregate.id, row.key == names.TYPE,
        row.value.in_(_CLOSED_TYPES))
    return sa.select(models.Aggregate.id).where(
        sa.not_(_is_closed_by_name()), sa.not_(typed))


def _is_pcloud() -> sa.ColumnElement[bool]:
    """Aggregates that are a Pcloud, by type or by name."""
    pool = models.Aggregate.name.startswith(
        names.POOL_PREFIX, autoescape=True)
    return sa.and_(
        _is_closed(), sa.not_(pool),
        sa.func.coalesce(_TYPE.value, '') != names.TYPE_POOL)


def closed_hosts(context: nova_context.RequestContext) -> frozenset[str]:
    """Return the service hosts of all pools and Pclouds.

    Two queries, one of them as `bulk.distinct`. Every request without the
    hint asks. A host that has left its pool counts as long as something is
    due for the host.
    """
    member = models.AggregateHost
    with api_db.context_manager.reader.using(context) as session:
        members = bulk.distinct(session, member.host, member.id,
                                member.aggregate_id.not_in(_open_ids()))
        left = journal.dues(context).keys() - members
    return members | left if left else members


def pool_uuids(context: nova_context.RequestContext) -> set[str]:
    """Return the uuids of all pools (one query).

    A pool without hosts counts: Placement may not have been told yet that
    its last host has left.
    """
    pool = sa.or_(
        _TYPE.value == names.TYPE_POOL,
        models.Aggregate.name.startswith(names.POOL_PREFIX, autoescape=True))
    statement = _with_type(
        sa.select(models.Aggregate.uuid).select_from(models.Aggregate)
    ).where(pool)
    with api_db.context_manager.reader.using(context) as session:
        return set(session.scalars(statement))


def pcloud_access(
    context: nova_context.RequestContext, pcloud_id: str,
) -> tuple[str, access.Pcloud] | None:
    """Read what access to one Pcloud depends on (two queries).

    :param pcloud_id: a well-formed Pcloud id
    :returns: the aggregate's uuid and the values for `rules.access`, or
        None when there is no such Pcloud or it is not a whole one
    """
    rows = sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        models.AggregateMetadata.key, models.AggregateMetadata.value,
    ).join(
        models.AggregateMetadata,
        models.AggregateMetadata.aggregate_id == models.Aggregate.id,
    ).where(models.Aggregate.name == names.pcloud(pcloud_id))
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(rows).all()
        if not found:
            return None
        aggregate_id, uuid, name = found[0][:3]
        metadata = {row.key: row.value for row in found}
        if not is_whole_pcloud(name, metadata):
            return None
        hosts = session.execute(_pclouds_of_hosts(aggregate_id)).all()
    return uuid, access.Pcloud(
        pcloud_id, names.tenants(metadata),
        {host: count for host, count, _ in hosts}, names.states(metadata),
        frozenset(host for host, _, is_due in hosts if is_due),
        metadata.get(names.OWNER, ''), readings.is_clear(metadata))


def is_whole_pcloud(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether name and metadata agree that an aggregate is a Pcloud."""
    return (metadata.get(names.TYPE) == names.TYPE_PCLOUD and
            bool(metadata.get(names.ID)) and
            name == names.pcloud(metadata[names.ID]))


def is_whole_pool(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether name and metadata agree that an aggregate is a pool."""
    return (metadata.get(names.TYPE) == names.TYPE_POOL and
            bool(metadata.get(names.FLAVOR_ID)) and
            name == names.pool(metadata[names.FLAVOR_ID]) and
            readings.units(metadata) is not None)


def _pclouds_of_hosts(aggregate_id: int) -> sa.Select:
    """Each host of an aggregate: in how many Pclouds, and is anything due."""
    member = orm.aliased(models.AggregateHost)
    return _with_type(
        sa.select(member.host, sa.func.count(models.Aggregate.id.distinct()),
                  journal.is_due(member.host))
        .join(models.AggregateHost,
              models.AggregateHost.host == member.host)
        .join(models.Aggregate,
              models.Aggregate.id == models.AggregateHost.aggregate_id)
    ).where(member.aggregate_id == aggregate_id, _is_pcloud()
            ).group_by(member.host)


def pclouds_of(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, list[str]]:
    """Return the ids of the Pclouds that each of `hosts` is in.

    One query. A host in none has no entry; one in several is in none that
    counts, but they are all named.
    """
    if not hosts:
        return {}
    statement = _with_type(
        sa.select(models.AggregateHost.host, models.Aggregate.name)
        .join(models.Aggregate,
              models.Aggregate.id == models.AggregateHost.aggregate_id)
    ).where(_is_pcloud(), models.AggregateHost.host.in_(hosts)
            ).order_by(models.Aggregate.name)
    found: dict[str, list[str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for host, name in session.execute(statement):
            found.setdefault(host, []).append(
                name.removeprefix(names.PREFIX))
    return found


def zones(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, str]:
    """Return the availability zone of each of `hosts` that has one.

    One query. A host without is in Nova's default zone.
    """
    if not hosts:
        return {}
    statement = sa.select(
        models.AggregateHost.host, models.AggregateMetadata.value,
    ).join(
        models.AggregateMetadata,
        models.AggregateMetadata.aggregate_id ==
        models.AggregateHost.aggregate_id,
    ).where(models.AggregateMetadata.key == 'availability_zone',
            models.AggregateHost.host.in_(hosts))
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(statement).all())


def closed(context: nova_context.RequestContext) -> list[Aggregate]:
    """Return all aggregates that take their hosts away from others.

    Whole or not; three queries.
    """
    ids = _with_type(
        sa.select(models.Aggregate.id).select_from(models.Aggregate)
    ).where(_is_closed())
    return read(context, models.Aggregate.id.in_(ids))


def pools(
    context: nova_context.RequestContext, flavor_id: str | None = None,
) -> list[Aggregate]:
    """Return whole pools, all or the one of a host flavor, by name.

    Three queries.
    """
    if flavor_id is not None:
        return _whole(context, is_whole_pool,
                      models.Aggregate.name == names.pool(flavor_id))
    return _whole(
        context, is_whole_pool,
        models.Aggregate.name.startswith(names.POOL_PREFIX, autoescape=True))


def closed_uuids_of(
    context: nova_context.RequestContext, host: str,
) -> set[str]:
    """Return the uuids of the pools and Pclouds that have a host.

    One query. Whole or not: an aggregate that is meant to close its hosts
    is told of by its name or by its type.
    """
    return _closed_of(context, host, models.Aggregate.uuid)


def closed_names_of(
    context: nova_context.RequestContext, host: str,
) -> set[str]:
    """Return the names of the pools and Pclouds that have a host.

    One query, as `closed_uuids_of`.
    """
    return _closed_of(context, host, models.Aggregate.name)


def _closed_of(
    context: nova_context.RequestContext, host: str,
    column: orm.InstrumentedAttribute,
) -> set[str]:
    statement = _with_type(
        sa.select(column, models.AggregateHost.host)
        .select_from(models.Aggregate)
        .join(models.AggregateHost,
              models.AggregateHost.aggregate_id == models.Aggregate.id)
    ).where(models.AggregateHost.host == host, _is_closed())
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other hosts too.
        return {value for value, its in session.execute(statement)
                if its == host}


def pclouds_with(
    context: nova_context.RequestContext, host: str,
) -> list[Aggregate]:
    """Return the whole Pclouds that have a host, each with this host alone.

    Two queries. Of their metadata what is about other hosts is left out, but
    for ratios that are kept for them.
    """
    row, member = models.AggregateMetadata, models.AggregateHost
    heads = sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        member.host,
    ).join(member, member.aggregate_id == models.Aggregate.id).where(
        member.host == host,
        models.Aggregate.name.startswith(names.PREFIX, autoescape=True),
        sa.not_(models.Aggregate.name.startswith(
            names.POOL_PREFIX, autoescape=True)))
    keys = [names.TYPE, names.ID, names.OWNER, names.CPU_RATIO,
            names.RAM_RATIO, names.NODE_PREFIX + host]
    with api_db.context_manager.reader.using(context) as session:
        found = [each for each in session.execute(heads).all()
                 if each.host == host]
        metadata = session.execute(_metadata_of(
            [each.id for each in found]).where(sa.or_(
                row.key.in_(keys),
                row.key.startswith(
                    names.SAVED_PREFIX, autoescape=True)))).all()
    return [each for each in _assemble(
        [each[:3] for each in found],
        [(each.id, each.host) for each in found], metadata)
        if is_whole_pcloud(each.name, each.metadata)]


def pools_of(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[Aggregate]:
    """Return the whole pools that have any of `hosts`, each with those only.

    Two queries.
    """
    found = of_hosts(context, hosts, models.Aggregate.name.startswith(
        names.POOL_PREFIX, autoescape=True))
    return [each for each in found
            if is_whole_pool(each.name, each.metadata)]


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
    *criteria: sa.ColumnElement[bool],
) -> list[Aggregate]:
    """Return the aggregates that have any of `hosts`, each with those only.

    Two queries, by name. Pools and zones are large: not even the names of
    their other hosts are read.

    :param criteria: that they have to meet, too
    """
    if not hosts:
        return []
    member = models.AggregateHost
    members = sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        member.host,
    ).join(models.Aggregate, models.Aggregate.id == member.aggregate_id).where(
        member.host.in_(hosts), *criteria)
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(members).all()
        heads = sorted({row[:3] for row in found}, key=lambda row: row[2])
        metadata = session.execute(_metadata_of(
            [row[0] for row in heads])).all()
    return _assemble(heads, [(row[0], row[3]) for row in found], metadata)


def unallocated(
    context: nova_context.RequestContext, flavor_id: str,
) -> list[str]:
    """Return the hosts in the pool of a host flavor that are free.

    One query. Hosts that are in a Pcloud, or for which something is due,
    are not read.
    """
    return _in_no_pcloud(context, flavor_id, sa.not_(journal.is_due(
        _POOLED.host)))


def settling(
    context: nova_context.RequestContext, flavor_id: str,
) -> list[str]:
    """Return the hosts in a pool that are in no Pcloud and not free yet.

    One query. Something is due for each of them.
    """
    return _in_no_pcloud(context, flavor_id, journal.is_due(_POOLED.host))


_POOLED = orm.aliased(models.AggregateHost)


def _in_no_pcloud(
    context: nova_context.RequestContext, flavor_id: str,
    criterion: sa.ColumnElement[bool],
) -> list[str]:
    pool = orm.aliased(models.Aggregate)
    allocated = _with_type(
        sa.select(models.AggregateHost.id)
        .join(models.Aggregate,
              models.Aggregate.id == models.AggregateHost.aggregate_id)
    ).where(_is_pcloud(), models.AggregateHost.host == _POOLED.host)
    statement = sa.select(pool.name, _POOLED.host).join(
        pool, pool.id == _POOLED.aggregate_id,
    ).where(pool.name == names.pool(flavor_id), criterion,
            sa.not_(allocated.correlate(_POOLED).exists()))
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find others too.
        return [host for name, host in session.execute(statement)
                if name == names.pool(flavor_id)]


def pcloud(
    context: nova_context.RequestContext, pcloud_id: str,
) -> Aggregate | None:
    """Return the aggregate of one whole Pcloud, or None (three queries).

    :param pcloud_id: anything; what has not the form of an id is no Pcloud,
        and not every database can be asked about every character
    """
    if not hints.is_pcloud_id(pcloud_id):
        return None
    found = _whole(context, is_whole_pcloud,
                   models.Aggregate.name == names.pcloud(pcloud_id))
    # Databases that compare without case find more than was asked for.
    return next((aggregate for aggregate in found
                 if aggregate.metadata[names.ID] == pcloud_id), None)


def units_of_owner(
    context: nova_context.RequestContext, project_id: str,
) -> int:
    """Return what the hosts in the Pclouds of a project cost together.

    One query, which reads a row a pool. A host costs the most there is where
    nobody can tell from its pool what it costs.
    """
    row, member = models.AggregateMetadata, models.AggregateHost
    owner, kind, units = (orm.aliased(row) for _ in range(3))
    pooled = orm.aliased(member)
    statement = sa.select(
        owner.value, units.value, sa.func.count(member.id.distinct()),
    ).select_from(owner).join(
        kind, sa.and_(kind.aggregate_id == owner.aggregate_id,
                      kind.key == names.TYPE,
                      kind.value == names.TYPE_PCLOUD),
    ).join(
        member, member.aggregate_id == owner.aggregate_id,
    ).join(
        pooled, pooled.host == member.host,
    ).join(
        models.Aggregate, sa.and_(
            models.Aggregate.id == pooled.aggregate_id,
            models.Aggregate.name.startswith(
                names.POOL_PREFIX, autoescape=True)),
    ).outerjoin(
        units, sa.and_(units.aggregate_id == models.Aggregate.id,
                       units.key == names.UNITS),
    ).where(owner.key == names.OWNER, owner.value == project_id).group_by(
        models.Aggregate.id, owner.value, units.value)
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other owners too.
        return sum(_cost(each) * count for its_owner, each, count
                   in session.execute(statement) if its_owner == project_id)


def _cost(text: str | None) -> int:
    known = None if text is None else readings.units({names.UNITS: text})
    return unit_rules.MOST if known is None else known


def pcloud_names(
    context: nova_context.RequestContext, project_id: str | None,
) -> dict[str, str]:
    """Return the ids of whole Pclouds to their names, in order of the ids.

    One query, which reads little of each.

    :param project_id: only those that this project owns or is a tenant of;
        None for all
    """
    row = models.AggregateMetadata
    keys = [names.TYPE, names.ID, names.NAME, names.OWNER]
    statement = sa.select(models.Aggregate.name, row.key, row.value).join(
        row, row.aggregate_id == models.Aggregate.id,
    ).where(models.Aggregate.name.startswith(names.PREFIX, autoescape=True))
    if project_id is not None:
        keys.append(names.TENANT_PREFIX + project_id)
        statement = statement.where(_is_of_project(project_id))
    statement = statement.where(row.key.in_(keys))
    found: dict[str, dict[str, str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for name, key, value in session.execute(statement):
            found.setdefault(name, {})[key] = value
    return {metadata[names.ID]: metadata.get(names.NAME, '')
            for name, metadata in sorted(found.items())
            if is_whole_pcloud(name, metadata) and
            (project_id is None or _has_project(metadata, project_id))}


def pclouds_by_id(
    context: nova_context.RequestContext, ids: Collection[str],
    project_id: str | None,
) -> list[Aggregate]:
    """Return those of some Pclouds that are whole, in order of their ids.

    Three queries.

    :param project_id: as `pcloud_names`
    """
    wanted = models.Aggregate.name.in_([names.pcloud(id_) for id_ in ids])
    return [aggregate for aggregate in
            _whole(context, is_whole_pcloud, wanted)
            if aggregate.metadata[names.ID] in ids and
            (project_id is None or
             _has_project(aggregate.metadata, project_id))]


def _is_of_project(project_id: str) -> sa.ColumnElement[bool]:
    return sa.or_(
        _has(names.OWNER, project_id),
        _has(names.TENANT_PREFIX + project_id, names.TENANT_VALUE))


def _has_project(metadata: Mapping[str, str], project_id: str) -> bool:
    return (metadata.get(names.OWNER) == project_id or
            project_id in names.tenants(metadata))


def attributes(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[Aggregate]:
    """Return what gives attributes to any of `hosts`.

    Two queries. The aggregates have these hosts and their metadata about
    attributes only; their names, ids and uuids are left out.
    """
    return _saying(context, hosts, _says_attribute())


def node_keys(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[Aggregate]:
    """Return what gives placement keys to any of `hosts`, as `attributes`.

    Two queries.
    """
    key = models.AggregateMetadata.key
    return _saying(context, hosts, sa.or_(*(
        key.startswith(prefix, autoescape=True)
        for prefix in (names.NODE_KEY_PREFIX, names.STICKY_PREFIX))))


def _saying(
    context: nova_context.RequestContext, hosts: Collection[str],
    criterion: sa.ColumnElement[bool],
) -> list[Aggregate]:
    if not hosts:
        return []
    key, member = models.AggregateMetadata, models.AggregateHost
    members = sa.select(member.aggregate_id, member.host).where(
        member.host.in_(hosts), member.aggregate_id.in_(
            sa.select(key.aggregate_id).where(criterion)))
    metadata = sa.select(key.aggregate_id, key.key, key.value).where(
        sa.or_(criterion, key.key == names.TYPE),
        key.aggregate_id.in_(
            sa.select(member.aggregate_id).where(member.host.in_(hosts))))
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(members).all()
        heads = [(id_, '', '') for id_ in sorted({row[0] for row in found})]
        return _assemble(heads, found, session.execute(metadata).all())


def attribute_aggregates(
    context: nova_context.RequestContext, name: str | None = None,
) -> list[Aggregate]:
    """Return the aggregates that are there for an attribute, by name.

    Three queries.

    :param name: of one attribute only
    """
    if name is None:
        named = models.Aggregate.name.startswith(
            names.ATTRIBUTE_PREFIX, autoescape=True)
    else:
        named = models.Aggregate.name.startswith(
            names.attribute(name, ''), autoescape=True)
    # Databases that compare without case find others too.
    return [aggregate for aggregate in
            _whole(context, is_whole_attribute, named)
            if name in (None, *names.attributes(aggregate.metadata))]


def is_whole_attribute(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether name and metadata agree that this is an attribute's value."""
    said = names.attributes(metadata)
    return (names.is_attribute(metadata) and len(said) == 1 and
            name == names.ATTRIBUTE_PREFIX + '='.join(*said.items()))


def saying_attributes(
    context: nova_context.RequestContext,
) -> list[Aggregate]:
    """Return all aggregates that give attributes to their hosts.

    Three queries.
    """
    return read(context, sa.or_(
        models.Aggregate.name.startswith(
            names.ATTRIBUTE_PREFIX, autoescape=True),
        models.Aggregate.id.in_(
            sa.select(models.AggregateMetadata.aggregate_id)
            .where(_says_attribute()))))


def with_values(
    context: nova_context.RequestContext,
) -> list[Aggregate]:
    """Return all aggregates with a name or a metadata key of ours.

    Three queries.
    """
    row, aggregate = models.AggregateMetadata, models.Aggregate
    return read(context, sa.or_(
        aggregate.name.startswith(names.PREFIX, autoescape=True),
        aggregate.id.in_(sa.select(row.aggregate_id).where(
            row.key.startswith(names.TENANT_PREFIX, autoescape=True)))))


def extra_specs(
    context: nova_context.RequestContext,
) -> list[tuple[str, str, str]]:
    """Return the extra specs of ours: flavor id, key and value.

    One query.
    """
    row, flavor = models.FlavorExtraSpecs, models.Flavors
    with api_db.context_manager.reader.using(context) as session:
        return [tuple(each) for each in session.execute(
            sa.select(flavor.flavorid, row.key, row.value)
            .join(flavor, flavor.id == row.flavor_id)
            .where(row.key.startswith(names.TENANT_PREFIX, autoescape=True))
            .order_by(flavor.flavorid, row.key))]


def of_id(
    context: nova_context.RequestContext, aggregate_id: int,
) -> Aggregate | None:
    """Return any aggregate by Nova's id for it, or None (three queries)."""
    return next(iter(read(context, models.Aggregate.id == aggregate_id)),
                None)


def _says_attribute() -> sa.ColumnElement[bool]:
    return models.AggregateMetadata.key.startswith(
        names.ATTRIBUTE_KEY_PREFIX, autoescape=True)


def metadata_of(
    context: nova_context.RequestContext, names_: Collection[str],
) -> dict[str, dict[str, str]]:
    """Return the metadata of aggregates by their names (one query).

    Databases that compare without case find others too.
    """
    row = models.AggregateMetadata
    statement = sa.select(models.Aggregate.name, row.key, row.value).join(
        row, row.aggregate_id == models.Aggregate.id,
    ).where(models.Aggregate.name.in_(list(names_)))
    found: dict[str, dict[str, str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for name, key, value in session.execute(statement):
            found.setdefault(name, {})[key] = value
    return found


def metadata(
    context: nova_context.RequestContext, aggregate_id: int,
) -> dict[str, str]:
    """Return the metadata that an aggregate has now (one query)."""
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(
            sa.select(models.AggregateMetadata.key,
                      models.AggregateMetadata.value).where(
                models.AggregateMetadata.aggregate_id == aggregate_id)
        ).all())


def names_with(
    context: nova_context.RequestContext, key: str, value: str,
) -> list[str]:
    """Return the names of aggregates with a metadata entry (one query)."""
    with api_db.context_manager.reader.using(context) as session:
        return list(session.scalars(
            sa.select(models.Aggregate.name).where(_has(key, value))
            .order_by(models.Aggregate.name)))


def _has(key: str, value: str) -> sa.ColumnElement[bool]:
    return models.Aggregate.id.in_(
        sa.select(models.AggregateMetadata.aggregate_id)
        .where(models.AggregateMetadata.key == key,
               models.AggregateMetadata.value == value))


def _whole(
    context: nova_context.RequestContext,
    is_whole, *criteria: sa.ColumnElement[bool],
) -> list[Aggregate]:
    return [aggregate for aggregate in read(context, *criteria)
            if is_whole(aggregate.name, aggregate.metadata)]


def read(
    context: nova_context.RequestContext,
    *criteria: sa.ColumnElement[bool],
) -> list[Aggregate]:
    """Return the aggregates that meet all criteria, in order of their names.

    Three queries in one transaction, so that they agree.
    """
    heads = sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
    ).where(*criteria).order_by(models.Aggregate.name)
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(heads).all()
        # What meets the criteria may be dear to find out, so only once.
        ids = [row.id for row in found]
        return _assemble(found, session.execute(_members_of(ids)).all(),
                         session.execute(_metadata_of(ids)).all())


def _members_of(ids: Collection[int]) -> sa.Select:
    """The hosts of aggregates, by their ids in the database."""
    row = models.AggregateHost
    return sa.select(row.aggregate_id, row.host).where(
        row.aggregate_id.in_(ids))


def _metadata_of(ids: Collection[int]) -> sa.Select:
    """The metadata of aggregates, by their ids in the database."""
    row = models.AggregateMetadata
    return sa.select(row.aggregate_id, row.key, row.value).where(
        row.aggregate_id.in_(ids))


def _assemble(
    heads: Iterable, members: Iterable, metadata: Iterable,
) -> list[Aggregate]:
    hosts_of: dict[int, set[str]] = {}
    for aggregate_id, host in members:
        hosts_of.setdefault(aggregate_id, set()).add(host)
    metadata_of: dict[int, dict[str, str]] = {}
    for aggregate_id, key, value in metadata:
        metadata_of.setdefault(aggregate_id, {})[key] = value
    return [
        Aggregate(id_, uuid, name, frozenset(hosts_of.get(id_, ())),
                  metadata_of.get(id_, {}))
        for id_, uuid, name in heads]
