# SPDX-License-Identifier: Apache-2.0

"""Read what the owner wishes and the worker does: drains, reactions, moves."""

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import pcloud_rows
from pcloud import names

# Of what something may be due.
_WISHES = (names.DRAIN_PREFIX, names.REACTION_PREFIX, names.REPLACES_PREFIX,
           names.REBALANCE_PREFIX)


def draining(
    context: nova_context.RequestContext, aggregate_id: int,
) -> list[pcloud_rows.HostRows]:
    """Return the hosts of a Pcloud with a drain, by the owner's names.

    One query without a drain, three queries else. The drains are as written,
    right or not.
    """
    drains = names.drains(_with_prefixes(
        context, aggregate_id, names.DRAIN_PREFIX))
    if not drains:
        return []
    member = models.AggregateHost
    with api_db.context_manager.reader.using(context) as session:
        metadata = _with_prefixes(
            context, aggregate_id, names.HOST_PREFIX, names.STATE_PREFIX,
            names.NODE_PREFIX)
        members = frozenset(session.scalars(sa.select(member.host).where(
            member.aggregate_id == aggregate_id)))
    states = names.states(metadata)
    host_of = {node: host for host, node in names.nodes(metadata).items()
               if host in members}
    return [
        pcloud_rows.HostRows(
            name, node, host_of[node], states[node], drains[node])
        for name, node in sorted(names.hosts(metadata).items())
        if node in drains and node in states and node in host_of]


def wishes(
    context: nova_context.RequestContext, aggregate_id: int,
) -> dict[str, str]:
    """Return the metadata of drains, maintenances and rebalances.

    That is of reactions to maintenances, and of hosts that have joined for
    one. One query. The values are as written, right or not.
    """
    return _with_prefixes(context, aggregate_id, *_WISHES)


def rebalance(
    context: nova_context.RequestContext, aggregate_id: int,
) -> dict[str, str]:
    """Return ``server uuid -> where to move the server`` (one query).

    The values are as written, right or not.
    """
    return names.rebalance(_with_prefixes(
        context, aggregate_id, names.REBALANCE_PREFIX))


def with_steps(context: nova_context.RequestContext) -> list[str]:
    """Return the ids of the Pclouds for whose hosts something may be due.

    A Pcloud with `wishes`, or with a maintenance policy and a host in or
    before a maintenance. Two queries.
    """
    id_, kept = (orm.aliased(models.AggregateMetadata) for _ in range(2))
    of_hosts = sa.select(id_.value).distinct().where(
        id_.key == names.ID, id_.aggregate_id == kept.aggregate_id,
        sa.or_(*(kept.key.startswith(prefix, autoescape=True)
                 for prefix in _WISHES)))
    with api_db.context_manager.reader.using(context) as session:
        return sorted({*session.scalars(of_hosts),
                       *session.scalars(_reacting())})


def _reacting() -> sa.Select:
    """Select the ids of Pclouds with a policy and a host with a maintenance.

    There are few maintenances, so they come first.
    """
    id_, policy, announced = (
        orm.aliased(models.AggregateMetadata) for _ in range(3))
    pooled, member = (orm.aliased(models.AggregateHost) for _ in range(2))
    return sa.select(id_.value).distinct().select_from(announced).join(
        pooled, sa.and_(
            pooled.aggregate_id == announced.aggregate_id,
            announced.key == sa.literal(names.MAINTENANCE_PREFIX).concat(
                pooled.host)),
    ).join(
        member, sa.and_(member.host == pooled.host,
                        member.aggregate_id != pooled.aggregate_id),
    ).join(
        policy, sa.and_(policy.aggregate_id == member.aggregate_id,
                        policy.key == names.MAINTENANCE_POLICY),
    ).join(
        id_, sa.and_(id_.aggregate_id == member.aggregate_id,
                     id_.key == names.ID),
    ).where(announced.key.startswith(
        names.MAINTENANCE_PREFIX, autoescape=True))


def every_drain(
    context: nova_context.RequestContext,
) -> list[tuple[str, str]]:
    """Return the state and the drain of each host with a drain.

    One query, which reads a row for each drain. Both are as written, right or
    not; metadata of a host that is not in the Pcloud are left out.
    """
    drain, state, placed = (
        orm.aliased(models.AggregateMetadata) for _ in range(3))
    member = models.AggregateHost
    node = sa.func.substr(drain.key, len(names.DRAIN_PREFIX) + 1)
    statement = sa.select(state.value, drain.value).select_from(drain).join(
        state, sa.and_(
            state.aggregate_id == drain.aggregate_id,
            state.key == sa.literal(names.STATE_PREFIX).concat(node)),
    ).join(
        placed, sa.and_(
            placed.aggregate_id == drain.aggregate_id,
            placed.key.startswith(names.NODE_PREFIX, autoescape=True),
            placed.value == node),
    ).join(
        member, sa.and_(
            member.aggregate_id == drain.aggregate_id,
            placed.key == sa.literal(names.NODE_PREFIX).concat(member.host)),
    ).where(drain.key.startswith(names.DRAIN_PREFIX, autoescape=True))
    with api_db.context_manager.reader.using(context) as session:
        return [(row[0], row[1]) for row in session.execute(statement)]


def _with_prefixes(
    context: nova_context.RequestContext, aggregate_id: int, *prefixes: str,
) -> dict[str, str]:
    """Return the metadata with certain prefixes (one query)."""
    row = models.AggregateMetadata
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(sa.select(row.key, row.value).where(
            row.aggregate_id == aggregate_id,
            sa.or_(*(row.key.startswith(prefix, autoescape=True)
                     for prefix in prefixes)))).all())
