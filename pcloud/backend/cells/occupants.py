# SPDX-License-Identifier: Apache-2.0

"""Read what the servers on hosts are busy with.

Rule: reference-draining-blockers
"""

from collections.abc import Collection
from collections.abc import Iterator
import dataclasses
import datetime

from nova.compute import power_state
from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.cells import computes
from pcloud.rules.moving import blockers


@dataclasses.dataclass(frozen=True)
class Occupant:
    """A server on a host, or with a migration from or to the host.

    :ivar state: what decides whether the server can leave the host
    :ivar since: when the latest action on the server began, or the earliest of
        the migrations; None while unknown
    """

    uuid: str
    state: blockers.ServerState
    since: datetime.datetime | None


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> tuple[dict[str, list[Occupant]], frozenset[str]]:
    """Return the servers that keep hosts from being empty.

    One query, and two queries a cell.

    :returns: ``service host -> occupants`` in order of the uuids, and the
        service hosts in silent cells
    """
    answers = asking.ask_hosts(context, hosts, _read)
    return asking.by_host(answers), asking.silent_hosts(answers)


@main_db.pick_context_manager_reader
def _read(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[tuple[str, Occupant]]:
    migrations = context.session.execute(_migrations(hosts)).all()
    moved = [row.instance_uuid for row in migrations]
    servers = context.session.execute(_servers(hosts, moved)).all()
    return sorted(_joined(hosts, servers, migrations),
                  key=lambda pair: (pair[0], pair[1].uuid))


def _migrations(hosts: Collection[str]) -> sa.Select:
    row = models.Migration
    return sa.select(
        row.instance_uuid, row.source_compute, row.dest_compute, row.status,
        row.created_at,
    ).where(row.deleted == 0,
            sa.or_(row.source_compute.in_(hosts), row.dest_compute.in_(hosts)),
            sa.not_(row.status.in_(computes.MIGRATION_OVER)))


def _servers(hosts: Collection[str], uuids: Collection[str]) -> sa.Select:
    row, action = models.Instance, models.InstanceAction
    latest = sa.select(sa.func.max(action.start_time)).where(
        action.instance_uuid == row.uuid).scalar_subquery()
    return sa.select(
        row.uuid, row.host, row.vm_state, row.task_state, row.locked,
        row.power_state, latest.label('acted'),
    ).where(row.deleted == 0,
            sa.or_(row.host.in_(hosts), row.uuid.in_(uuids)))


def _joined(
    hosts: Collection[str], servers: Collection[sa.Row],
    migrations: Collection[sa.Row],
) -> Iterator[tuple[str, Occupant]]:
    """Yield each server with each host that the server occupies."""
    for server in servers:
        own = [row for row in migrations if row.instance_uuid == server.uuid]
        there = {server.host}.union(
            *((row.source_compute, row.dest_compute) for row in own))
        begun = [row.created_at for row in own if row.created_at is not None]
        occupant = Occupant(
            server.uuid, blockers.ServerState(
                server.vm_state or '', server.task_state, bool(server.locked),
                tuple(row.status or '' for row in own),
                power_state.STATE_MAP.get(server.power_state, 'unknown')),
            min(begun) if begun else server.acted)
        for host in there.intersection(hosts):
            yield host, occupant
