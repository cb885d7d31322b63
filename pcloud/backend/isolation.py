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

"""What isolation depends on: read here and nowhere else.

A pool or a Pcloud closes its hosts: nobody gets them but the tenants of the
Pcloud. Isolation must not depend on the scheduler's copy of the aggregates,
which can lose updates, so the rows of the database decide, with a number of
queries that does not depend on how many rows there are.

Rule: `pcloud.rules.access`.
"""

from collections.abc import Collection

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend import bulk
from pcloud.backend import journal
from pcloud.backend import pcloud_rows
from pcloud.backend import readings
from pcloud.backend import rows
from pcloud import names
from pcloud.rules import access

_CLOSED_TYPES = (names.TYPE_POOL, names.TYPE_PCLOUD)
_TYPE = orm.aliased(models.AggregateMetadata)


def _with_type(statement: sa.Select) -> sa.Select:
    return statement.outerjoin(
        _TYPE, sa.and_(_TYPE.aggregate_id == models.Aggregate.id,
                       _TYPE.key == names.TYPE))


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


def is_in_pcloud(host: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a service host is in any Pcloud."""
    return _with_type(
        sa.select(models.AggregateHost.id)
        .join(models.Aggregate,
              models.Aggregate.id == models.AggregateHost.aggregate_id)
    ).where(_is_pcloud(), models.AggregateHost.host == host).exists()


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


def closed_aggregates(
    context: nova_context.RequestContext,
) -> list[rows.Aggregate]:
    """Return all aggregates that take their hosts away from others.

    Whole or not; three queries.
    """
    ids = _with_type(
        sa.select(models.Aggregate.id).select_from(models.Aggregate)
    ).where(_is_closed())
    return rows.read(context, models.Aggregate.id.in_(ids))


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
        if not pcloud_rows.is_whole(name, metadata):
            return None
        hosts = session.execute(_pclouds_of_hosts(aggregate_id)).all()
    return uuid, access.Pcloud(
        pcloud_id, names.tenants(metadata),
        {host: count for host, count, _ in hosts}, names.states(metadata),
        frozenset(host for host, _, is_due in hosts if is_due),
        metadata.get(names.OWNER, ''), readings.is_clear(metadata))


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
