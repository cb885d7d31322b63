# SPDX-License-Identifier: Apache-2.0

"""Read what the owner wishes and the worker does: drains, reactions, moves."""

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud import names

# Of which hosts something may be due.
_WISHES = (names.DRAIN_PREFIX, names.REACTION_PREFIX, names.REPLACES_PREFIX)


def draining(
    context: nova_context.RequestContext, aggregate_id: int,
) -> list[pcloud_rows.HostRows]:
    """Return the hosts of a Pcloud with a drain, by the owner's names.

    One query. The drains are as written, right or not.
    """
    named, state, placed, drain = (
        orm.aliased(models.AggregateMetadata) for _ in range(4))
    member = models.AggregateHost
    statement = sa.select(
        named.key, placed.value, member.host, state.value, drain.value,
    ).select_from(member).join(
        drain, kept_rows.is_kept(drain, names.DRAIN_PREFIX, member.host),
    ).join(
        placed, kept_rows.is_kept(placed, names.NODE_PREFIX, member.host),
    ).join(
        state, sa.and_(
            state.aggregate_id == member.aggregate_id,
            state.key == sa.literal(names.STATE_PREFIX).concat(placed.value)),
    ).join(
        named, sa.and_(
            named.aggregate_id == member.aggregate_id,
            named.key.startswith(names.HOST_PREFIX, autoescape=True),
            named.value == placed.value),
    ).where(member.aggregate_id == aggregate_id)
    with api_db.context_manager.reader.using(context) as session:
        return sorted((
            pcloud_rows.HostRows(key.removeprefix(names.HOST_PREFIX), *others)
            for key, *others in session.execute(statement)),
            key=lambda row: row.name)


def wishes(
    context: nova_context.RequestContext, aggregate_id: int, pcloud_id: str,
) -> dict[str, str]:
    """Return the rows of drains, maintenances and rebalances of a Pcloud.

    That is of reactions to maintenances, and of hosts that have joined for
    one. Two queries. The values are as written, right or not.
    """
    with api_db.context_manager.reader.using(context) as session:
        return {key: value for _, key, value in session.execute(
            kept_rows.of_members([aggregate_id], _WISHES))} | dict(
                session.execute(kept_rows.moves_of(pcloud_id)).all())


def rebalance(
    context: nova_context.RequestContext, pcloud_id: str,
) -> dict[str, str]:
    """Return ``server uuid -> where to move the server`` (one query).

    The values are as written, right or not.
    """
    with api_db.context_manager.reader.using(context) as session:
        return names.rebalance(dict(session.execute(
            kept_rows.moves_of(pcloud_id)).all()))


def with_steps(context: nova_context.RequestContext) -> list[str]:
    """Return the ids of the Pclouds for whose hosts something may be due.

    A Pcloud with `wishes`, or with a maintenance policy and a host in or
    before a maintenance. One query.
    """
    id_, policy = (orm.aliased(models.AggregateMetadata) for _ in range(2))
    reacting = _with_kept(names.MAINTENANCE_PREFIX, id_).join(
        policy, sa.and_(policy.aggregate_id == id_.aggregate_id,
                        policy.key == names.MAINTENANCE_POLICY))
    with api_db.context_manager.reader.using(context) as session:
        return sorted(session.scalars(sa.union(
            *(_with_kept(prefix, id_) for prefix in _WISHES), reacting,
            kept_rows.rebalanced())))


def _with_kept(
    prefix: str, id_: type[models.AggregateMetadata],
) -> sa.Select:
    """Select the ids of the Pclouds with a host of which a row is kept.

    There are few such rows, so they come first.

    :param id_: an alias of the rows with the ids
    """
    kept = orm.aliased(models.AggregateMetadata)
    member = models.AggregateHost
    return sa.select(id_.value).select_from(kept).join(
        member, member.host == kept_rows.host_of(kept, prefix),
    ).join(
        id_, sa.and_(id_.aggregate_id == member.aggregate_id,
                     id_.key == names.ID),
    ).where(kept_rows.has_prefix(kept, prefix))


def every_drain(
    context: nova_context.RequestContext,
) -> list[tuple[str, str]]:
    """Return the state and the drain of each host with a drain.

    One query, which reads a row for each drain. Both are as written, right or
    not; rows of a host that is in no Pcloud are left out.
    """
    drain, state, placed = (
        orm.aliased(models.AggregateMetadata) for _ in range(3))
    member = models.AggregateHost
    statement = sa.select(state.value, drain.value).select_from(drain).join(
        member, member.host == kept_rows.host_of(drain, names.DRAIN_PREFIX),
    ).join(
        placed, kept_rows.is_kept(placed, names.NODE_PREFIX, member.host),
    ).join(
        state, sa.and_(
            state.aggregate_id == member.aggregate_id,
            state.key == sa.literal(names.STATE_PREFIX).concat(placed.value)),
    ).where(kept_rows.has_prefix(drain, names.DRAIN_PREFIX))
    with api_db.context_manager.reader.using(context) as session:
        return [(row[0], row[1]) for row in session.execute(statement)]
