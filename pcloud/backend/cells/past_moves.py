# SPDX-License-Identifier: Apache-2.0

"""Read the migrations of servers that are over, or wait for a confirmation.

And when servers have left hosts, by migrations and otherwise.

Rule: reference-draining-moving, reference-usage-pcloud
"""

import collections
from collections.abc import Collection
from collections.abc import Mapping
import datetime
import functools
from typing import Any

from nova.compute import instance_actions
from nova.compute import task_states
from nova.compute import vm_states
from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from nova.objects import fields
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.calls import server_calls
from pcloud.backend.cells import asking
from pcloud.backend.cells import computes
from pcloud.rules.moving import moves

# The statuses of a migration after which the server is elsewhere.
ARRIVED = ('completed', 'confirmed', 'done')
_EVACUATION = fields.MigrationType.EVACUATION
_KINDS = (fields.MigrationType.LIVE_MIGRATION,
          fields.MigrationType.MIGRATION, _EVACUATION)
# The status of a migration or evacuation that no host has begun with.
_ACCEPTED = 'accepted'
_FINISHED = 'finished'
# The task states of a server whose migration Nova is about to record.
SETTING_OFF = (task_states.MIGRATING, task_states.RESIZE_PREP)
# The task state of a server that is started anew on another host.
STARTING = task_states.REBUILDING
_MOVES = (instance_actions.MIGRATE, instance_actions.RESIZE,
          instance_actions.LIVE_MIGRATION)
_ACTION = orm.aliased(models.InstanceAction)
# The event in which a host says whether it can take over a server that runs,
# and the result where it cannot.
_ASKED, _REFUSED = 'compute_check_can_live_migrate_destination', 'Error'
# The events by which a server that is shelved leaves its host, at once or
# later.
_SHELVING = ('compute_shelve_instance', 'compute_shelve_offload_instance')
# The status of a resize after which the server is back where it was.
_REVERTED = 'reverted'


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str], now: float,
) -> Mapping[str, list[moves.Past]]:
    """Return the past of the servers on hosts.

    One query, and one query a cell. Silent cells are left out.

    :param hosts: service hosts
    :param now: seconds since the epoch
    :returns: ``server uuid -> migrations``, a default dict of lists
    """
    since = _moment(now - moves.HISTORY)

    def read(
        context: nova_context.RequestContext, hosts: Collection[str],
    ) -> list[sa.Row]:
        return _read(context, hosts, since)

    found = collections.defaultdict(list)
    for rows in asking.ask_hosts(context, hosts, read).known.values():
        for row in rows:
            found[row.instance_uuid].append(moves.Past(
                row.updated_at.replace(
                    tzinfo=datetime.timezone.utc).timestamp(),
                row.status in ARRIVED, row.dest_compute is not None,
                row.migration_type == _EVACUATION, row.answer == _REFUSED))
    return found


@main_db.pick_context_manager_reader
def _read(
    context: nova_context.RequestContext, hosts: Collection[str],
    since: datetime.datetime,
) -> list[sa.Row]:
    row, server = models.Migration, models.Instance
    return context.session.execute(sa.select(
        row.instance_uuid, row.status, row.dest_compute, row.updated_at,
        row.migration_type, _answer(row).label('answer'),
    ).join(server, server.uuid == row.instance_uuid).where(
        server.deleted == 0, server.host.in_(hosts),
        row.updated_at >= since, row.migration_type.in_(_KINDS),
        row.status.in_(computes.MIGRATION_OVER))).all()


def _answer(row: type[models.Migration]) -> sa.ScalarSelect[str]:
    """Select what hosts have said that were to take over a server.

    Asked were the hosts for the latest live migration of the server. The
    latest of the words counts: a host that can do it has 'Success'. No word
    for other migrations.
    """
    event, any_ = models.InstanceActionEvent, models.InstanceAction
    latest = sa.select(sa.func.max(any_.id)).where(
        any_.instance_uuid == row.instance_uuid,
        any_.action == instance_actions.LIVE_MIGRATION,
        row.migration_type == fields.MigrationType.LIVE_MIGRATION,
    ).correlate(row).scalar_subquery()
    return sa.select(sa.func.max(event.result)).where(
        event.action_id == latest, event.event == _ASKED).scalar_subquery()


def departures(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, float]:
    """Return when the latest server has left each host.

    A server leaves a host when the server is deleted, or has moved. One query,
    and one query a cell. Silent cells are left out.

    :param hosts: service hosts
    :returns: ``service host -> seconds since the epoch``, for hosts that Nova
        remembers a server of
    """
    found: dict[str, float] = {}
    for rows in asking.ask_hosts(context, hosts, _departures).known.values():
        for host, left in rows:
            found[host] = max(found.get(host, 0), left.replace(
                tzinfo=datetime.timezone.utc).timestamp())
    return found


@main_db.pick_context_manager_reader
def _departures(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[sa.Row]:
    row, server = models.Migration, models.Instance
    return context.session.execute(sa.union_all(
        sa.select(server.host, sa.func.max(server.deleted_at)).where(
            server.host.in_(hosts), server.deleted != 0,
            server.deleted_at.is_not(None)).group_by(server.host),
        sa.select(row.source_compute, sa.func.max(row.updated_at)).where(
            row.source_compute.in_(hosts), row.updated_at.is_not(None),
            row.status.in_(ARRIVED)).group_by(row.source_compute))).all()


def to_confirm(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[str]:
    """Return the servers whose cold migration Pcloud has to confirm.

    Pcloud confirms what Pcloud has begun, which the request id of the latest
    action shows. One query, and one query a cell. Silent cells are left out.

    :param hosts: the service hosts that the servers come from
    :returns: server uuids, in order
    """
    return _servers(asking.ask_hosts(context, hosts, _to_confirm_from))


def to_confirm_anywhere() -> list[str]:
    """Return the servers as `to_confirm`, from any host.

    One query a cell.
    """
    return _servers(asking.ask_all(_to_confirm))


def lost(
    context: nova_context.RequestContext, hosts: Collection[str],
    before: float,
) -> list[str]:
    """Return the servers that Pcloud had moved, and that nobody moves.

    The message that asked for the migration got lost, so the server is busy
    and has no migration, or one that no host has begun with. Or nova-compute
    was killed: when the service starts again, Nova calls the server idle, and
    leaves the migration as the migration was. One query, and one query a cell.
    Silent cells are left out.

    :param hosts: the service hosts of the servers
    :param before: only what was asked for before counts, in seconds since the
        epoch
    :returns: server uuids, in order
    """
    return _servers(asking.ask_hosts(context, hosts, functools.partial(
        _lost, before=_moment(before))))


def given_up(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[str]:
    """Return the servers that hosts were to move when the hosts failed.

    No hypervisor has begun to move the servers, and nova-compute of the
    servers' hosts will not. Whoever has asked for the moves. A server that is
    idle although a hypervisor had begun has been looked at: an administrator
    has reset its state. One query, and one query a cell. Silent cells are
    left out.

    :param hosts: the service hosts of the servers, which are fenced
    :returns: server uuids, in order
    """
    return _servers(asking.ask_hosts(context, hosts, _given_up))


def lost_evacuations(
    context: nova_context.RequestContext, hosts: Collection[str],
    before: float,
) -> list[str]:
    """Return the servers that Pcloud had evacuated, and that nobody starts.

    As `lost`: the message got lost, so the server is busy, and its evacuation
    was begun by no host.
    """
    return _servers(asking.ask_hosts(context, hosts, functools.partial(
        _lost_evacuations, before=_moment(before))))


def _servers(answers: asking.Answers[Any, list[str]]) -> list[str]:
    return sorted(server for rows in answers.known.values()
                  for server in rows)


def _moment(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(
        seconds, datetime.timezone.utc).replace(tzinfo=None)


@main_db.pick_context_manager_reader
def _to_confirm_from(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[str]:
    return context.session.scalars(_moved_by_pcloud().where(
        models.Migration.source_compute.in_(hosts))).all()


@main_db.pick_context_manager_reader
def _to_confirm(context: nova_context.RequestContext) -> list[str]:
    return context.session.scalars(_moved_by_pcloud()).all()


def _moved_by_pcloud() -> sa.Select:
    """Select the servers whose cold migration Pcloud has to confirm."""
    row, server = models.Migration, models.Instance
    return _asked_by_pcloud().join(
        row, row.instance_uuid == server.uuid,
    ).where(
        server.vm_state == vm_states.RESIZED, server.task_state.is_(None),
        row.deleted == 0, row.status == _FINISHED,
        row.migration_type == fields.MigrationType.MIGRATION)


@main_db.pick_context_manager_reader
def _lost(
    context: nova_context.RequestContext, hosts: Collection[str],
    before: datetime.datetime,
) -> list[str]:
    row, server = models.Migration, models.Instance
    since = sa.and_(
        row.instance_uuid == server.uuid, row.deleted == 0,
        row.created_at >= _ACTION.start_time)
    return context.session.scalars(_asked_by_pcloud().where(
        server.host.in_(hosts), _ACTION.start_time < before,
        sa.or_(
            sa.and_(
                server.task_state.in_(SETTING_OFF),
                sa.not_(sa.exists().where(
                    since, row.status != _ACCEPTED,
                ).correlate(server, _ACTION))),
            sa.and_(
                server.task_state.is_(None),
                sa.exists().where(
                    since, _is_move(*server_calls.NOT_BEGUN),
                    sa.func.coalesce(row.updated_at, row.created_at) < before,
                ).correlate(server, _ACTION))))).all()


def _is_move(*statuses: str) -> sa.ColumnElement[bool]:
    """Select the migrations from a server's host with some statuses."""
    row, server = models.Migration, models.Instance
    return sa.and_(
        row.instance_uuid == server.uuid, row.deleted == 0,
        row.source_compute == server.host,
        row.migration_type.in_(server_calls.MIGRATIONS),
        row.status.in_(statuses))


@main_db.pick_context_manager_reader
def _given_up(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[str]:
    server, states = models.Instance, server_calls
    return context.session.scalars(sa.select(server.uuid).where(
        server.deleted == 0, server.host.in_(hosts),
        sa.or_(
            sa.and_(server.task_state.is_(None), sa.exists().where(
                _is_move(*states.NOT_BEGUN, states.BEGUN)).correlate(server)),
            sa.and_(server.task_state.in_(SETTING_OFF), sa.exists().where(
                _is_move(*states.NOT_BEGUN)).correlate(server))))).all()


@main_db.pick_context_manager_reader
def _lost_evacuations(
    context: nova_context.RequestContext, hosts: Collection[str],
    before: datetime.datetime,
) -> list[str]:
    row, server = models.Migration, models.Instance
    return context.session.scalars(_asked_by_pcloud(
        instance_actions.EVACUATE,
    ).where(
        server.host.in_(hosts), server.task_state == STARTING,
        _ACTION.start_time < before,
        sa.not_(sa.exists().where(
            row.instance_uuid == server.uuid, row.deleted == 0,
            row.created_at >= _ACTION.start_time, row.status != _ACCEPTED,
        ).correlate(server, _ACTION)))).all()


def _asked_by_pcloud(*actions: str) -> sa.Select:
    """Select the servers that were last moved, or are, by Pcloud.

    :param actions: what counts as a move; by default `_MOVES`
    """
    server, any_ = models.Instance, orm.aliased(models.InstanceAction)
    latest = sa.select(sa.func.max(any_.id)).where(
        any_.instance_uuid == server.uuid, any_.action.in_(
            actions or _MOVES),
    ).correlate(server).scalar_subquery()
    return sa.select(server.uuid).join(_ACTION, _ACTION.id == latest).where(
        server.deleted == 0, _ACTION.request_id.startswith(
            server_calls.REQUEST_PREFIX, autoescape=True))


def last_left(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> Mapping[str, int]:
    """Return ``service host -> seconds since the epoch`` of departures.

    The moment is that at which the latest server was deleted, moved away or
    shelved off. A host that nobody has left, as far as Nova's tables tell, has
    no entry; hosts in silent cells neither. One query, and one in each cell.
    """
    found: dict[str, int] = {}
    for host, moment in (
            row for rows in asking.ask_hosts(
                context, hosts, _last_left).known.values() for row in rows):
        seconds = int(moment.replace(
            tzinfo=datetime.timezone.utc).timestamp())
        found[host] = max(seconds, found.get(host, 0))
    return found


@main_db.pick_context_manager_reader
def _last_left(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[tuple[str, datetime.datetime]]:
    server, move = models.Instance, models.Migration
    action, event = models.InstanceAction, models.InstanceActionEvent
    statement = sa.union_all(
        sa.select(server.host, sa.func.max(server.deleted_at)).where(
            server.host.in_(hosts), server.deleted != 0,
        ).group_by(server.host),
        sa.select(move.source_compute, sa.func.max(move.updated_at)).where(
            move.source_compute.in_(hosts),
            move.status.in_(ARRIVED),
        ).group_by(move.source_compute),
        sa.select(move.dest_compute, sa.func.max(move.updated_at)).where(
            move.dest_compute.in_(hosts), move.status == _REVERTED,
        ).group_by(move.dest_compute),
        # Servers without a host have an index; events have none of hosts.
        sa.select(event.host, sa.func.max(event.finish_time)).join(
            action, action.id == event.action_id,
        ).join(server, server.uuid == action.instance_uuid).where(
            server.host.is_(None), server.deleted == 0,
            server.vm_state == vm_states.SHELVED_OFFLOADED,
            event.event.in_(_SHELVING), event.host.in_(hosts),
        ).group_by(event.host))
    return [(host, moment) for host, moment
            in context.session.execute(statement) if moment is not None]
