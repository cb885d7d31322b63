# SPDX-License-Identifier: Apache-2.0

"""What isolation depends on: read here and nowhere else.

A pool or a Pcloud closes its hosts to everybody except the tenants of the
Pcloud. Isolation must not depend on the scheduler's copy of the aggregates,
which can lose updates. So the rows of the database decide, with a number of
queries independent of the number of rows.

`pcloud.rules.placing.access` holds the rule.

Rule: reference-isolation
"""

from collections.abc import Collection
from collections.abc import Mapping

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import host_names
from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud import names
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.placing import access
from pcloud.rules.placing import house_rules

_CLOSED_TYPES = (names.TYPE_POOL, names.TYPE_PCLOUD)
_TYPE = orm.aliased(models.AggregateMetadata)
# The parameters of statements that are made once.
_HOSTS = 'hosts'
_NAME, _AGGREGATE, _TENANT_KEY = 'name', 'aggregate', 'tenant_key'
# The names of all closed hosts are read where a cloud has at most so many
# hosts for each host that is asked about: that costs less than to look names
# up.
_PER_NAME = 3


def is_closed(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether an aggregate takes its hosts away from everybody else.

    =======================  =======================  ======
    name begins with         type                     closed
    =======================  =======================  ======
    any prefix or none       pool or Pcloud           yes
    ``Pcloud:attribute:``    none, or any other type  no
    or ``Pcloud:policy:``
    ``Pcloud:`` and another  none, or any other type  yes
    word
    no prefix of Pcloud      none, or any other type  no
    =======================  =======================  ======

    The name alone is enough, and so is the type: an aggregate that has lost
    its name or type, or was never finished, must not open its hosts.

    Rule: reference-isolation-closed
    """
    return metadata.get(names.TYPE, '').lower() in _CLOSED_TYPES or (
        _begins(name, names.PREFIX) and
        not any(_begins(name, prefix) for prefix in names.OPEN_PREFIXES))


def is_pcloud(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether a closed aggregate is a Pcloud: no pool by name or type."""
    return (is_closed(name, metadata) and
            not _begins(name, names.POOL_PREFIX) and
            metadata.get(names.TYPE, '').lower() != names.TYPE_POOL)


def _begins(name: str, prefix: str) -> bool:
    # Databases compare names and values without case.
    return name.lower().startswith(prefix.lower())


def _has_prefix(prefix: str) -> sa.ColumnElement[bool]:
    return models.Aggregate.name.startswith(prefix, autoescape=True)


def _is_closed(
    has_closed_type: sa.ColumnElement[bool],
) -> sa.ColumnElement[bool]:
    """Return `is_closed` as a condition.

    :param has_closed_type: the condition on the type; the names come first, so
        that the database looks up the type only where the name decides nothing
    """
    return sa.or_(
        sa.and_(_has_prefix(names.PREFIX), sa.not_(sa.or_(
            *map(_has_prefix, names.OPEN_PREFIXES)))),
        has_closed_type)


def _with_type(statement: sa.Select) -> sa.Select:
    return statement.outerjoin(
        _TYPE, sa.and_(_TYPE.aggregate_id == models.Aggregate.id,
                       _TYPE.key == names.TYPE))


def _is_closed_with_type() -> sa.ColumnElement[bool]:
    """Return `is_closed` as a condition for `_with_type`."""
    return _is_closed(_TYPE.value.in_(_CLOSED_TYPES))


def _is_pcloud_with_type() -> sa.ColumnElement[bool]:
    """Return `is_pcloud` as a condition for `_with_type`."""
    return sa.and_(
        _is_closed_with_type(), sa.not_(_has_prefix(names.POOL_PREFIX)),
        sa.func.coalesce(_TYPE.value, '') != names.TYPE_POOL)


def _is_closed_by_row() -> sa.ColumnElement[bool]:
    """Return `is_closed` as a condition that looks the type up row by row.

    Where the condition asks whether there is a row, MariaDB first reads the
    types of all Pclouds.
    """
    row = models.AggregateMetadata
    its_type = sa.select(row.value).where(
        row.aggregate_id == models.Aggregate.id, row.key == names.TYPE,
    ).correlate(models.Aggregate).scalar_subquery()
    return _is_closed(sa.func.coalesce(its_type, '').in_(_CLOSED_TYPES))


def _open_ids() -> sa.Select:
    """Select the ids of the aggregates that are not closed, which are few.

    A database with an index of names looks at no name that begins like that
    of a Pcloud. Where a database has names in another order, the second
    condition is false for open aggregates, which then count as closed.
    """
    name = models.Aggregate.name
    after = names.PREFIX[:-1] + chr(ord(names.PREFIX[-1]) + 1)
    return sa.select(models.Aggregate.id).where(
        sa.not_(_is_closed_by_row()),
        sa.or_(name < names.PREFIX, name >= after,
               *map(_has_prefix, names.OPEN_PREFIXES)))


def _select_closed_among() -> sa.Select:
    """Select those of the service hosts `_HOSTS` that are closed.

    The statement is made once. The database judges each aggregate of the hosts
    once, and no other aggregate. An aggregate that is gone is closed.
    """
    member = models.AggregateHost
    closed = sa.select(_is_closed_by_row()).where(
        models.Aggregate.id == member.aggregate_id,
    ).correlate(member).scalar_subquery()
    return sa.select(member.host).where(
        member.host.bool_op('IN')(sa.bindparam(
            _HOSTS, type_=host_names.Names(), literal_execute=True)),
        sa.func.coalesce(closed, sa.true()))


def _select_due_and_newest() -> sa.CompoundSelect:
    """Select the hosts that something is due for, and the newest host's id.

    The id is beside no name. There have never been more hosts than the id
    says.
    """
    return sa.union_all(
        journal.select_due_hosts(sa.literal(0)),
        sa.select(sa.null(), sa.func.max(models.HostMapping.id)))


def other_ids() -> sa.CompoundSelect:
    """Select the ids of the aggregates that are no Pclouds, which are few.

    Pools are among the aggregates. Some ids are there twice. The database
    looks up no type of an aggregate with the name of a Pcloud, except once
    for all that have the type of a pool.
    """
    is_pool_by_name = _has_prefix(names.POOL_PREFIX)
    by_name = _with_type(
        sa.select(models.Aggregate.id).select_from(models.Aggregate)
    ).where(
        sa.or_(is_pool_by_name, sa.not_(_is_closed(sa.false()))),
        sa.or_(is_pool_by_name, sa.func.coalesce(
            _TYPE.value, '') != names.TYPE_PCLOUD))
    row = models.AggregateMetadata
    by_type = sa.select(row.aggregate_id).where(
        row.key == names.TYPE, row.value == names.TYPE_POOL)
    return sa.union_all(by_name, by_type)


def is_in_pcloud(host: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a service host is in any Pcloud."""
    member = orm.aliased(models.AggregateHost)
    return _with_type(
        sa.select(member.id)
        .join(models.Aggregate, models.Aggregate.id == member.aggregate_id)
    ).where(_is_pcloud_with_type(), member.host == host
            ).correlate_except(member, models.Aggregate, _TYPE).exists()


def closed_hosts(context: nova_context.RequestContext) -> frozenset[str]:
    """Return the service hosts of all pools and Pclouds.

    Two queries. A host that has left the host's pool counts as long as
    something is due for the host.
    """
    with api_db.context_manager.reader.using(context) as session:
        due_hosts, _ = _due_and_newest(session)
        return _all_closed(session, due_hosts)


def _due_and_newest(
    connection: orm.Session | sa.Connection,
) -> tuple[frozenset[str], int]:
    """Read the hosts that something is due for, and the newest host's id.

    One query.
    """
    found = dict(connection.execute(_DUE_AND_NEWEST).all())
    newest = found.pop(None) or 0
    return frozenset(found), newest


def _all_closed(
    connection: orm.Session | sa.Connection, due_hosts: frozenset[str],
) -> frozenset[str]:
    return host_names.read(
        connection, _MEMBERS, _JOINED_MEMBERS, {}) | due_hosts


def _select_members() -> sa.Select:
    """Select the service hosts of all closed aggregates."""
    return sa.select(models.AggregateHost.host).where(
        models.AggregateHost.aggregate_id.not_in(_open_ids()))


def closed_among(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> frozenset[str]:
    """Return which of some service hosts are in pools or Pclouds.

    Two queries of what is committed, in one transaction. Every request without
    the hint asks. The cost grows with `hosts`, and not with the cloud. Where
    `hosts` are most of a cloud, to read all closed hosts is cheaper.

    :returns: hosts in pools or Pclouds, among them those of `hosts`
    """
    if not hosts:
        return frozenset()
    with rows.connected() as connection:
        due_hosts, newest = _due_and_newest(connection)
        if newest <= _PER_NAME * len(hosts):
            return _all_closed(connection, due_hosts)
        return host_names.read(
            connection, _CLOSED_AMONG, _JOINED_AMONG, {_HOSTS: hosts},
        ) | due_hosts


def closed_aggregates(
    context: nova_context.RequestContext,
) -> list[rows.Aggregate]:
    """Return all pools and Pclouds, whole or not, by name.

    Three queries. The metadata of Pclouds have what the journal keeps of the
    hosts.
    """
    ids = _with_type(
        sa.select(models.Aggregate.id).select_from(models.Aggregate)
    ).where(_is_closed_with_type())
    # In one transaction, so that the answers agree.
    with api_db.context_manager.reader.using(context):
        found = rows.read(context, models.Aggregate.id.in_(ids))
        pclouds = {pcloud.id: pcloud for pcloud in kept_rows.added(context, [
            each for each in found if is_pcloud(each.name, each.metadata)])}
    return [pclouds.get(each.id, each) for each in found]


def pclouds_of(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, list[str]]:
    """Return the ids of the Pclouds of each host.

    One query. A host in no Pcloud has no entry. A host in several Pclouds is
    in no Pcloud that counts, but has the ids of all the Pclouds.

    :returns: ``service host -> Pcloud ids``
    """
    if not hosts:
        return {}
    statement = _with_type(
        sa.select(models.AggregateHost.host, models.Aggregate.name)
        .join(models.Aggregate,
              models.Aggregate.id == models.AggregateHost.aggregate_id)
    ).where(_is_pcloud_with_type(), models.AggregateHost.host.in_(hosts)
            ).order_by(models.Aggregate.name)
    pclouds: dict[str, list[str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for host, name in session.execute(statement):
            pclouds.setdefault(host, []).append(
                name.removeprefix(names.PREFIX))
    return pclouds


def pcloud_access(
    context: nova_context.RequestContext, pcloud_id: str,
) -> tuple[str, access.Pcloud] | None:
    """Read what access to one Pcloud depends on (two queries).

    :param pcloud_id: a well-formed Pcloud id
    :returns: the aggregate's uuid and the values for
        `rules.placing.access`, or None
        when there is no whole Pcloud with the id
    """
    return _access(context, _ROWS_OF_PCLOUD, pcloud_id, {})


def _access(
    context: nova_context.RequestContext, statement: sa.Select,
    pcloud_id: str, parameters: Mapping[str, str],
) -> tuple[str, access.Pcloud] | None:
    with api_db.context_manager.reader.using(context) as session:
        records = session.execute(
            statement, {_NAME: names.pcloud(pcloud_id), **parameters}).all()
        if not records:
            return None
        aggregate_id, uuid, name = records[0][:3]
        metadata = {row.key: row.value for row in records}
        if not pcloud_rows.is_whole(name, metadata):
            return None
        hosts = session.execute(
            _PCLOUDS_OF_HOSTS, {_AGGREGATE: aggregate_id}).all()
    counts = {host: count for host, count, *_ in hosts}
    replaced = {host: text for host, *_, text, _ in hosts if text is not None}
    return uuid, access.Pcloud(
        pcloud_id, names.tenants(metadata), counts, names.states(metadata),
        frozenset(host for host, _, is_due, *_ in hosts if is_due),
        metadata.get(names.OWNER, ''), readings.is_clear(metadata),
        unopened=frozenset(
            host for host, _, _, is_unopened, *_ in hosts if is_unopened),
        leaving=maintenance_policies.leaving(
            maintenance_policies.stand_ins(replaced), counts),
        maintenances={host: text for host, *_, text in hosts
                      if text is not None},
        named=names.hosts(metadata),
        pin_by_tenants=metadata.get(names.PIN_BY_TENANTS) == house_rules.ON,
        flavors=house_rules.listed(metadata, names.FLAVORS_PREFIX),
        images=house_rules.listed(metadata, names.IMAGES_PREFIX),
        caps=names.caps(metadata))


def usable_pcloud(
    context: nova_context.RequestContext, pcloud_id: str, project_id: str,
) -> tuple[str, access.Pcloud]:
    """Return `pcloud_access` of a Pcloud that a project may use.

    Two queries; one query for a Pcloud that the project is no tenant of, as
    for an unknown Pcloud: the time of an answer tells nobody which Pclouds
    exist.

    :raises: `exception.PcloudUnusable`, in the same words, when the Pcloud
        does not exist and when the project may not use the Pcloud

    Rule: reference-pclouds-visible
    """
    # A token of no project has no project id.
    pair = _access(context, _ROWS_OF_PCLOUD_FOR, pcloud_id, {
        _TENANT_KEY: names.TENANT_PREFIX + (project_id or '')})
    verdict = access.project_verdict(pair[1] if pair else None, project_id)
    if pair is None or not verdict:
        raise exception.PcloudUnusable(
            pcloud=pcloud_id, reason=verdict.reason)
    return pair


# To make a statement takes longer than to execute the statement.
# Head and metadata of the Pcloud with the name `_NAME`.
_ROWS_OF_PCLOUD = sa.select(
    models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
    models.AggregateMetadata.key, models.AggregateMetadata.value,
).join(
    models.AggregateMetadata,
    models.AggregateMetadata.aggregate_id == models.Aggregate.id,
).where(models.Aggregate.name == sa.bindparam(_NAME))

# The same for the tenant with the key `_TENANT_KEY`.
_TENANT, _MEMBER = (
    orm.aliased(models.AggregateMetadata), orm.aliased(models.AggregateHost))
_ROWS_OF_PCLOUD_FOR = _ROWS_OF_PCLOUD.where(sa.exists().where(
    _TENANT.aggregate_id == models.Aggregate.id,
    _TENANT.key == sa.bindparam(_TENANT_KEY),
    _TENANT.value == names.TENANT_VALUE))

# The hosts of `_AGGREGATE`: number of Pclouds, due, unopened, for whom a host
# stands in, maintenance.
_PCLOUDS_OF_HOSTS = _with_type(
    sa.select(_MEMBER.host, sa.func.count(models.Aggregate.id.distinct()),
              journal.is_due(_MEMBER.host), journal.is_unopened(_MEMBER.host),
              kept_rows.value_of(names.REPLACES_PREFIX, _MEMBER.host),
              kept_rows.value_of(names.MAINTENANCE_PREFIX, _MEMBER.host))
    .join(models.AggregateHost, models.AggregateHost.host == _MEMBER.host)
    .join(models.Aggregate,
          models.Aggregate.id == models.AggregateHost.aggregate_id)
).where(_MEMBER.aggregate_id == sa.bindparam(_AGGREGATE),
        _is_pcloud_with_type()).group_by(_MEMBER.host)
_CLOSED_AMONG, _MEMBERS = _select_closed_among(), _select_members()
_JOINED_AMONG, _JOINED_MEMBERS = map(
    host_names.joined, (_CLOSED_AMONG, _MEMBERS))
_DUE_AND_NEWEST = _select_due_and_newest()
