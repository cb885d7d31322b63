# SPDX-License-Identifier: Apache-2.0

"""Read the aggregates of Pclouds, and the units of the Pclouds' hosts."""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud import names
from pcloud.rules import forms
from pcloud.rules.moving import maintenance_policies
from pcloud.rules import units as unit_rules

_OWNER = orm.aliased(models.AggregateMetadata)

_STAND_INS = (maintenance_policies.STANDS_IN,
              maintenance_policies.STANDS_IN_AND_STAYS)

# The parameters of statements that are made once.
_NAME, _PROJECT, _TENANT_KEY = 'name', 'project', 'tenant_key'


def is_whole(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether name and metadata agree that an aggregate is a Pcloud."""
    return (metadata.get(names.TYPE) == names.TYPE_PCLOUD and
            bool(metadata.get(names.ID)) and
            name == names.pcloud(metadata[names.ID]))


def whole(aggregates: Iterable[rows.Aggregate]) -> list[rows.Aggregate]:
    """Return the whole Pclouds among aggregates."""
    return [aggregate for aggregate in aggregates
            if is_whole(aggregate.name, aggregate.metadata)]


def find(
    context: nova_context.RequestContext, pcloud_id: str,
) -> rows.Aggregate | None:
    """Return the aggregate of one whole Pcloud, or None.

    Two queries for no Pcloud, else three: the metadata have what the journal
    keeps of the Pcloud's hosts, and of where servers are to be moved.

    :param pcloud_id: any text; a text without the form of an id is no Pcloud,
        and not every database can be asked about every character
    """
    if not forms.is_uuid(pcloud_id):
        return None
    # In one transaction, so that the answers agree.
    with api_db.context_manager.reader.using(context):
        aggregates = rows.whole(
            context, is_whole,
            models.Aggregate.name == names.pcloud(pcloud_id))
        # Databases that compare without case find more than was asked for.
        return next(iter(kept_rows.added(context, [
            aggregate for aggregate in aggregates
            if aggregate.metadata[names.ID] == pcloud_id])), None)


def head(
    context: nova_context.RequestContext, pcloud_id: str,
) -> tuple[rows.Head, Mapping[str, str]] | None:
    """Return one whole Pcloud without the Pcloud's hosts, or None.

    One query, which returns nothing of any host.

    :param pcloud_id: any text, as for `find`
    :returns: the row of the aggregate, and the metadata without the keys of
        hosts
    """
    return _head(context, _select_head(), pcloud_id, {})


def head_for(
    context: nova_context.RequestContext, pcloud_id: str, project_id: str,
) -> tuple[rows.Head, Mapping[str, str]] | None:
    """Return `head` of a Pcloud that a project may see, or None.

    One query. The database finds no row of a Pcloud that the project may not
    see, so that such a Pcloud costs what an unknown Pcloud costs, and the time
    of an answer tells nobody which Pclouds exist.

    :param project_id: the owner or a tenant of the Pcloud

    Rule: reference-pclouds-visible
    """
    found = _head(context, _select_head_for(), pcloud_id, {
        _PROJECT: project_id, _TENANT_KEY: names.TENANT_PREFIX + project_id})
    # Databases that compare without case find other projects' Pclouds too.
    if found is None or not has_project(found[1], project_id):
        return None
    return found


def _head(
    context: nova_context.RequestContext, statement: sa.Select,
    pcloud_id: str, parameters: Mapping[str, str],
) -> tuple[rows.Head, Mapping[str, str]] | None:
    if not forms.is_uuid(pcloud_id):
        return None
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(
            statement, {_NAME: names.pcloud(pcloud_id), **parameters}).all()
    metadata = {key: value for *_, key, value in found}
    # Databases that compare without case find more than was asked for.
    if metadata.get(names.ID) != pcloud_id or not is_whole(
            found[0].name, metadata):
        return None
    return rows.Head(*found[0][:3]), metadata


def _select_head() -> sa.Select:
    """Select the rows of `head`, for the aggregate `_NAME`."""
    row = models.AggregateMetadata
    return sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        row.key, row.value,
    ).join(row, row.aggregate_id == models.Aggregate.id).where(
        models.Aggregate.name == sa.bindparam(_NAME),
        *(sa.not_(row.key.startswith(prefix, autoescape=True))
          for prefix in names.OF_HOSTS))


def _select_head_for() -> sa.Select:
    """Select the rows of `head_for`, with `_PROJECT` and `_TENANT_KEY`."""
    right = orm.aliased(models.AggregateMetadata)
    return _select_head().where(sa.exists().where(
        right.aggregate_id == models.Aggregate.id, sa.or_(
            sa.and_(right.key == names.OWNER,
                    right.value == sa.bindparam(_PROJECT)),
            sa.and_(right.key == sa.bindparam(_TENANT_KEY),
                    right.value == names.TENANT_VALUE))))


@dataclasses.dataclass(frozen=True)
class HostRows:
    """What the rows of a Pcloud say of one host.

    :ivar name: the owner's name for the host
    :ivar node: the hypervisor hostname
    :ivar host: the service host, which is in the Pcloud's aggregate
    :ivar state: as written
    :ivar drain: as written, None for a host without a drain
    :ivar spare: as written, None for a host that is no spare
    :ivar recovery: as written, None for a host without a recovery
    :ivar until: as written, None for a host without a date
    """

    name: str
    node: str
    host: str
    state: str
    drain: str | None
    spare: str | None
    recovery: str | None
    until: str | None


def host_rows(
    context: nova_context.RequestContext, aggregate_id: int, name: str,
) -> HostRows | None:
    """Return what the rows of a Pcloud say of one host, or None.

    One query, and two more queries when no name is spelled so. A host whose
    row of the node is lost is not found.

    :param name: the owner's name for the host, in any letter case
    """
    found = _host_rows(context, aggregate_id, names.host_key(name))
    if found is not None:
        return found
    key = _spelled(context, aggregate_id, names.host_key(name))
    return None if key is None else _host_rows(context, aggregate_id, key)


def _spelled(
    context: nova_context.RequestContext, aggregate_id: int, key: str,
) -> str | None:
    """Return a metadata key as written, of a key in any letter case."""
    row = models.AggregateMetadata
    with api_db.context_manager.reader.using(context) as session:
        return session.scalar(sa.select(row.key).where(
            row.aggregate_id == aggregate_id,
            sa.func.lower(row.key) == key.lower()))


def _host_rows(
    context: nova_context.RequestContext, aggregate_id: int, host_key: str,
) -> HostRows | None:
    named, state, placed, drain, spare, recovery = (
        orm.aliased(models.AggregateMetadata) for _ in range(6))
    member = models.AggregateHost
    statement = sa.select(
        named.key, named.value, member.host, state.value, drain.value,
        spare.value, recovery.value,
        kept_rows.value_of(names.UNTIL_PREFIX, member.host),
    ).select_from(named).join(
        state, sa.and_(
            state.aggregate_id == named.aggregate_id,
            state.key == sa.literal(names.STATE_PREFIX).concat(named.value)),
    ).join(
        member, member.aggregate_id == named.aggregate_id,
    ).join(
        placed, sa.and_(
            kept_rows.is_kept(placed, names.NODE_PREFIX, member.host),
            placed.value == named.value),
    ).outerjoin(
        drain, kept_rows.is_kept(drain, names.DRAIN_PREFIX, member.host),
    ).outerjoin(
        spare, kept_rows.is_kept(spare, names.SPARE_PREFIX, member.host),
    ).outerjoin(
        recovery,
        kept_rows.is_kept(recovery, names.RECOVERY_PREFIX, member.host),
    ).where(named.aggregate_id == aggregate_id, named.key == host_key)
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(statement).first()
    if found is None:
        return None
    key, *others = found
    return HostRows(key.removeprefix(names.HOST_PREFIX), *others)


def name_of(
    context: nova_context.RequestContext, aggregate_id: int, host: str,
) -> str | None:
    """Return the owner's name for a service host, or None (one query)."""
    named, placed = (orm.aliased(models.AggregateMetadata) for _ in range(2))
    with api_db.context_manager.reader.using(context) as session:
        key = session.scalar(sa.select(named.key).where(
            named.aggregate_id == aggregate_id,
            named.key.startswith(names.HOST_PREFIX, autoescape=True),
            kept_rows.is_kept(placed, names.NODE_PREFIX, sa.literal(host)),
            named.value == placed.value))
    return None if key is None else key.removeprefix(names.HOST_PREFIX)


def name_of_stand_in(
    context: nova_context.RequestContext, aggregate_id: int, host: str,
) -> str | None:
    """Return the owner's name for who has joined for the recovery of a host.

    One query.

    :param host: the service host that has failed
    :returns: None for no host
    """
    named, placed, replaces = (
        orm.aliased(models.AggregateMetadata) for _ in range(3))
    member = models.AggregateHost
    texts = [maintenance_policies.StandIn(
        spare=spare, stays=True, host=host).text()
        for spare in (False, True)]
    with api_db.context_manager.reader.using(context) as session:
        key = session.scalar(sa.select(named.key).select_from(member).join(
            replaces, sa.and_(kept_rows.is_kept(
                replaces, names.REPLACES_PREFIX, member.host),
                replaces.value.in_(texts)),
        ).join(
            placed, kept_rows.is_kept(placed, names.NODE_PREFIX, member.host),
        ).join(named, sa.and_(
            named.aggregate_id == member.aggregate_id,
            named.key.startswith(names.HOST_PREFIX, autoescape=True),
            named.value == placed.value),
        ).where(member.aggregate_id == aggregate_id))
    return None if key is None else key.removeprefix(names.HOST_PREFIX)


def is_unplaced(
    context: nova_context.RequestContext, aggregate_id: int,
) -> bool:
    """Whether a Pcloud has a host without a row of the host's node.

    One query. Somebody has deleted the row by hand.
    """
    member = models.AggregateHost
    placed = kept_rows.value_of(names.NODE_PREFIX, member.host).is_not(None)
    with api_db.context_manager.reader.using(context) as session:
        return session.scalar(sa.select(sa.exists().where(
            member.aggregate_id == aggregate_id, sa.not_(placed))))


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
    nodes: Collection[str], project_id: str,
) -> list[rows.Aggregate]:
    """Return the whole Pclouds of some hosts that a project may see.

    Two queries. Each Pcloud has only `hosts`. Of the metadata there is what
    tells the Pcloud, the Pcloud's name and owner, whether the project is a
    tenant, and the owner's names for the nodes.

    :param hosts: service hosts
    :param nodes: hypervisor hostnames
    :param project_id: the owner or a tenant of the Pclouds
    """
    if not hosts:
        return []
    member, row = models.AggregateHost, models.AggregateMetadata
    members = sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        member.host,
    ).join(member, member.aggregate_id == models.Aggregate.id).where(
        member.host.in_(hosts),
        models.Aggregate.name.startswith(names.PREFIX, autoescape=True),
        sa.not_(models.Aggregate.name.startswith(
            names.POOL_PREFIX, autoescape=True)))
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other hosts too.
        found = [each for each in session.execute(members)
                 if each.host in hosts]
        heads = dict.fromkeys(each[:3] for each in found)
        metadata = session.execute(sa.select(
            row.aggregate_id, row.key, row.value).where(
                row.aggregate_id.in_([id_ for id_, *_ in heads]), sa.or_(
                    row.key.in_([names.TYPE, names.ID, names.NAME, names.OWNER,
                                 names.TENANT_PREFIX + project_id]),
                    sa.and_(row.key.startswith(
                        names.HOST_PREFIX, autoescape=True),
                        row.value.in_(nodes))))).all()
    return [aggregate for aggregate in whole(rows.assemble(
        heads, [(each.id, each.host) for each in found], metadata))
        if has_project(aggregate.metadata, project_id)]


def has_project(metadata: Mapping[str, str], project_id: str) -> bool:
    """Whether the project is the owner or a tenant of a Pcloud."""
    return (metadata.get(names.OWNER) == project_id or
            project_id in names.tenants(metadata))


def _units(owner: sa.ColumnElement[bool]) -> sa.Select:
    """Select owner, units and number of hosts, for each pool and owner.

    :param owner: the condition on the row of an owner
    """
    hosts, units = (_hosts_by_aggregate(owner).subquery(),
                    orm.aliased(models.AggregateMetadata))
    return sa.select(hosts.c.owner, units.value, hosts.c.count).join(
        models.Aggregate, sa.and_(
            models.Aggregate.id == hosts.c.aggregate_id,
            models.Aggregate.name.startswith(
                names.POOL_PREFIX, autoescape=True)),
    ).outerjoin(
        units, sa.and_(units.aggregate_id == models.Aggregate.id,
                       units.key == names.UNITS))


def _hosts_by_aggregate(owner: sa.ColumnElement[bool]) -> sa.Select:
    """Select owner and number of hosts, for each aggregate and owner.

    The aggregates are all aggregates of the hosts: to leave out others than
    pools for each host takes longer than afterwards. A host that stands in for
    another host of the Pcloud does not count.
    """
    member = models.AggregateHost
    kind, replaces = (
        orm.aliased(models.AggregateMetadata) for _ in range(2))
    joined, replaced = (orm.aliased(member) for _ in range(2))
    statement = sa.select(
        sa.func.min(_OWNER.value).label('owner'), joined.aggregate_id,
        sa.func.count(member.id).label('count'),
    ).select_from(_OWNER).join(
        kind, sa.and_(kind.aggregate_id == _OWNER.aggregate_id,
                      kind.key == names.TYPE,
                      kind.value == names.TYPE_PCLOUD),
    ).join(
        member, member.aggregate_id == _OWNER.aggregate_id,
    ).outerjoin(
        replaces,
        kept_rows.is_kept(replaces, names.REPLACES_PREFIX, member.host),
    ).outerjoin(
        replaced, sa.and_(
            replaced.aggregate_id == member.aggregate_id,
            sa.or_(*(replaces.value.startswith(begin, autoescape=True)
                     for begin in _STAND_INS)),
            replaced.host == sa.case(*(
                (replaces.value.startswith(begin, autoescape=True),
                 sa.func.substr(replaces.value, len(begin) + 1))
                for begin in _STAND_INS))),
    ).join(
        joined, joined.host == member.host,
    ).where(
        _OWNER.key == names.OWNER, owner, replaced.id.is_(None),
    ).group_by(
        # To MariaDB owners that differ in letter case are the same owner.
        joined.aggregate_id, sa.func.hex(_OWNER.value))
    # MariaDB would begin with all hosts of all aggregates.
    for dialect in ('mysql', 'mariadb'):
        statement = statement.prefix_with('STRAIGHT_JOIN', dialect=dialect)
    return statement


def _units_of_owner() -> sa.Select:
    """Select as `_units`, for the project `_PROJECT`."""
    return _units(_OWNER.value == sa.bindparam(_PROJECT))


def units_of_owner(
    context: nova_context.RequestContext, project_id: str,
) -> int:
    """Return the sum of the units of all hosts in a project's Pclouds.

    One query, which reads a row a pool. A host whose pool has no readable
    units counts with the greatest number of units.
    """
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other owners too.
        return sum(_cost(text) * count for owner, text, count
                   in session.execute(
                       _units_of_owner(), {_PROJECT: project_id})
                   if owner == project_id)


def units_by_owner(
    context: nova_context.RequestContext,
) -> dict[str, int]:
    """Return `units_of_owner` of each project that owns hosts.

    One query, which reads a row for each pool of each project.

    :returns: ``project id -> units``
    """
    found: collections.Counter[str] = collections.Counter()
    with api_db.context_manager.reader.using(context) as session:
        for owner, text, count in session.execute(_units(sa.true())):
            found[owner] += _cost(text) * count
    return dict(found)


def _cost(text: str | None) -> int:
    known = None if text is None else readings.units({names.UNITS: text})
    return unit_rules.MOST if known is None else known
