# SPDX-License-Identifier: Apache-2.0

"""Read what the owner wishes and the worker does: drains, reactions, moves."""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud import names

# Of which hosts something may be due.
_WISHES = (names.DRAIN_PREFIX, names.REACTION_PREFIX, names.REPLACES_PREFIX,
           names.IDLE_PREFIX, names.RECOVERY_PREFIX)


def draining(
    context: nova_context.RequestContext, aggregate_id: int,
) -> list[pcloud_rows.HostRows]:
    """Return the hosts of a Pcloud with a drain, by the owner's names.

    One query. The drains are as written, right or not.
    """
    return _host_rows(context, aggregate_id, names.DRAIN_PREFIX)


def recovering(
    context: nova_context.RequestContext, aggregate_id: int,
) -> list[pcloud_rows.HostRows]:
    """Return the hosts of a Pcloud with a recovery, as `draining`."""
    return _host_rows(context, aggregate_id, names.RECOVERY_PREFIX)


def _host_rows(
    context: nova_context.RequestContext, aggregate_id: int, prefix: str,
) -> list[pcloud_rows.HostRows]:
    """Return the hosts of a Pcloud of which the journal keeps something.

    :param prefix: of what is kept
    """
    named, state, placed, drain, kept = (
        orm.aliased(models.AggregateMetadata) for _ in range(5))
    member = models.AggregateHost
    others_kept = [kept_rows.value_of(each, member.host) for each in (
        names.SPARE_PREFIX, names.RECOVERY_PREFIX, names.UNTIL_PREFIX)]
    statement = sa.select(
        named.key, placed.value, member.host, state.value, drain.value,
        *others_kept,
    ).select_from(member).join(
        kept, kept_rows.is_kept(kept, prefix, member.host),
    ).outerjoin(
        drain, kept_rows.is_kept(drain, names.DRAIN_PREFIX, member.host),
    ).join(
        placed, kept_rows.is_kept(placed, names.NODE_PREFIX, member.host),
    ).join(state, _is_state(state, placed)).join(
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


def _is_state(
    state: type[models.AggregateMetadata],
    placed: type[models.AggregateMetadata],
) -> sa.ColumnElement[bool]:
    """Return the condition that a row is the state of a member's node.

    :param state: an alias of the rows with states
    :param placed: an alias of the rows of nodes
    """
    return sa.and_(
        state.aggregate_id == models.AggregateHost.aggregate_id,
        state.key == sa.literal(names.STATE_PREFIX).concat(placed.value))


def wishes(
    context: nova_context.RequestContext, aggregate_id: int, pcloud_id: str,
) -> dict[str, str]:
    """Return the rows of what is done for the hosts of a Pcloud.

    That is of drains, reactions to maintenances, recoveries, hosts that stand
    in for another host or are seen empty, and rebalances. One query. The
    values are as written, right or not.
    """
    with api_db.context_manager.reader.using(context) as session:
        return {key: value for _, key, value in session.execute(sa.union_all(
            *kept_rows.of_members([aggregate_id], _WISHES),
            kept_rows.moves(names.rebalance_prefix(pcloud_id))))}


def rebalance(
    context: nova_context.RequestContext, pcloud_id: str,
) -> dict[str, str]:
    """Return ``server uuid -> where to move the server`` (one query).

    The values are as written, right or not.
    """
    with api_db.context_manager.reader.using(context) as session:
        return names.rebalance({key: value for _, key, value in
                                session.execute(kept_rows.moves(
                                    names.rebalance_prefix(pcloud_id)))})


@dataclasses.dataclass(frozen=True)
class Wished:
    """What is wished of a Pcloud of whose hosts something may be due.

    :ivar owner: the project
    :ivar policy: the maintenance policy as written, None without one
    :ivar recovery: what is done for hosts that have failed, as written; None
        without a wish
    :ivar kept: ``key of the journal -> value`` of the hosts: drains,
        reactions, recoveries, hosts that stand in, maintenances, and hosts
        seen empty
    :ivar is_rebalanced: whether servers are to be moved for a rebalance
    :ivar shrink: when empty hosts leave, as written; None for never
    :ivar states: ``service host -> state`` of all hosts, as written, where
        empty hosts leave; None for a host without a state
    """

    owner: str
    policy: str | None
    recovery: str | None
    kept: Mapping[str, str]
    is_rebalanced: bool
    shrink: str | None = None
    states: Mapping[str, str | None] = dataclasses.field(default_factory=dict)


def wished(context: nova_context.RequestContext) -> dict[str, Wished]:
    """Return all that is wished of the hosts and servers of Pclouds.

    Two queries while nothing is wished, else three, and one more where empty
    hosts leave, for any number of Pclouds. A Pcloud has an entry when there is
    a row of a host or server of the Pcloud, or the Pcloud has the hosts
    recovered that fail, or empty hosts leave.

    :returns: ``Pcloud id -> Wished``
    """
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(sa.union_all(
            _of_frames(names.HOST_RECOVERY), _of_frames(names.SHRINK), *map(
                _of_members, (*_WISHES, names.MAINTENANCE_PREFIX)))).all()
        rebalanced = frozenset(session.scalars(kept_rows.rebalanced()))
        if not (found or rebalanced):
            return {}
        frames = _frames(session, {id_ for id_, *_ in found}, rebalanced)
        states = _states(session, {
            id_ for id_, key, _ in found if key == names.SHRINK})
    kept: dict[int, dict[str, str]] = {}
    for id_, key, value in found:
        kept.setdefault(id_, {})[key] = value
    return {frame[names.ID]: Wished(
        frame.get(names.OWNER, ''), frame.get(names.MAINTENANCE_POLICY),
        frame.get(names.HOST_RECOVERY), kept.get(id_, {}),
        frame[names.ID] in rebalanced,
        kept.get(id_, {}).pop(names.SHRINK, None), states.get(id_, {}))
        for id_, frame in frames.items() if names.ID in frame}


def _of_frames(wish: str) -> sa.Select:
    """Select aggregate, key and value of the Pclouds with a wish."""
    row = models.AggregateMetadata
    return sa.select(row.aggregate_id, row.key, row.value).where(
        row.key == wish)


def _states(
    session: orm.Session, ids: Collection[int],
) -> dict[int, dict[str, str | None]]:
    """Return the states of the hosts of Pclouds; one query, none for none.

    :param ids: the ids of the aggregates
    :returns: ``id -> service host -> state``, as written
    """
    found: dict[int, dict[str, str | None]] = {}
    if not ids:
        return found
    placed, state = (orm.aliased(models.AggregateMetadata) for _ in range(2))
    member = models.AggregateHost
    for id_, host, text in session.execute(sa.select(
            member.aggregate_id, member.host, state.value,
    ).select_from(member).outerjoin(
        placed, kept_rows.is_kept(placed, names.NODE_PREFIX, member.host),
    ).outerjoin(state, _is_state(state, placed)).where(
            member.aggregate_id.in_(ids))):
        found.setdefault(id_, {})[host] = text
    return found


def _of_members(prefix: str) -> sa.Select:
    """Select aggregate, key and value of rows whose host is in an aggregate.

    There are few such rows, so they come first.
    """
    kept, member = orm.aliased(models.AggregateMetadata), models.AggregateHost
    return sa.select(
        member.aggregate_id, kept.key, kept.value,
    ).select_from(kept).join(
        member, member.host == kept_rows.host_of(kept, prefix),
    ).where(kept_rows.has_prefix(kept, prefix))


def _frames(
    session: orm.Session, ids: Collection[int], pclouds: Collection[str],
) -> dict[int, dict[str, str]]:
    """Return id, owner and policies of Pclouds, by aggregate.

    :param ids: the ids of some aggregates
    :param pclouds: the ids of some Pclouds
    """
    aggregate, row = models.Aggregate, models.AggregateMetadata
    found: dict[int, dict[str, str]] = {}
    for id_, key, value in session.execute(sa.select(
        row.aggregate_id, row.key, row.value,
    ).join(aggregate, aggregate.id == row.aggregate_id).where(
        row.key.in_([names.ID, names.OWNER, names.MAINTENANCE_POLICY,
                     names.HOST_RECOVERY]),
        sa.or_(aggregate.id.in_(ids),
               aggregate.name.in_(map(names.pcloud, pclouds))))):
        found.setdefault(id_, {})[key] = value
    return found


def members(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, frozenset[str]]:
    """Return which of some hosts are in which Pcloud (one query).

    :param hosts: service hosts
    :returns: ``Pcloud id -> service hosts``
    """
    member, row = models.AggregateHost, models.AggregateMetadata
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other hosts too.
        return rows.by_key(
            (id_, host) for id_, host in session.execute(sa.select(
                row.value, member.host).join(
                    member, member.aggregate_id == row.aggregate_id).where(
                        row.key == names.ID, member.host.in_(hosts)))
            if host in hosts)


def every_recovery(
    context: nova_context.RequestContext,
) -> list[str]:
    """Return the recovery of each host with a recovery, as written.

    One query. Rows of a host that is in no Pcloud are left out.
    """
    row = models.AggregateMetadata
    with api_db.context_manager.reader.using(context) as session:
        return [value for *_, value in session.execute(
            _of_members(names.RECOVERY_PREFIX).join(row, sa.and_(
                row.aggregate_id == models.AggregateHost.aggregate_id,
                row.key == names.ID)))]


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
    ).join(state, _is_state(state, placed)).where(
        kept_rows.has_prefix(drain, names.DRAIN_PREFIX))
    with api_db.context_manager.reader.using(context) as session:
        return [(row[0], row[1]) for row in session.execute(statement)]
