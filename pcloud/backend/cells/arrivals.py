# SPDX-License-Identifier: Apache-2.0
"""Find the hosts on which requests under way may still land.

Nova's databases show every request under way. nova-api writes a build request
before the call for the build. The build request lasts until the conductor has
created the server in a cell, and in the cell the server is building until the
end of the build. For every other move nova-api sets a task state and records
the action before the first call.

`pcloud.rules.placing.settling` decides.

Rule: reference-settling-requests
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import datetime

from nova.compute import instance_actions
from nova.compute import task_states
from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
from oslo_config import cfg
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.changes import due
from pcloud.backend import request_specs
from pcloud.rules.placing import settling

CONF = cfg.CONF

_MOVING = (*task_states.resizing_states, *task_states.rebuild_states,
           task_states.MIGRATING, task_states.UNSHELVING)
# Before the host of a migration is fixed.
_ON_ITS_WAY = ('accepted', 'queued', 'preparing', 'pre-migrating', 'running')
_MOVES = (instance_actions.RESIZE, instance_actions.MIGRATE,
          instance_actions.LIVE_MIGRATION, instance_actions.EVACUATE,
          instance_actions.UNSHELVE)


def awaited(
    context: nova_context.RequestContext, dues: Mapping[str, due.Due],
) -> frozenset[str]:
    """Return the hosts on which requests under way may still land.

    A host in a silent cell is one of the hosts. Requests under way for longer
    than `[pcloud] settle_limit` count as dead. Resizes from another cell,
    which Nova allows nobody by default, are not seen.

    Two queries, three queries in each cell, and one query for five hundred
    requests.

    :param dues: ``service host -> what is due`` of the hosts that settle
    """
    if not dues:
        return frozenset()
    requests, silent = _under_way(context, dues.keys())
    return silent | {
        host for host, what in dues.items()
        if what.since is None or any(
            settling.may_land(request, what.pcloud, what.since)
            for request in requests)}


def _under_way(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> tuple[list[settling.Request], frozenset[str]]:
    """Return the requests under way, and the hosts in silent cells."""
    oldest = timeutils.utcnow() - datetime.timedelta(
        seconds=CONF.pcloud.settle_limit)
    # A request goes from the API's database into a cell, and not back: read
    # in this order none is missed.
    queued = _queued(context, oldest)
    answers = asking.ask_hosts(
        context, hosts, lambda context, _: _in_cell(context, oldest))
    in_cells = {uuid: began for rows in answers.known.values()
                for uuid, began in rows.items()}
    # Conductors delete the specs of a whole multi-create when one server
    # fails; where the other servers may land is not known then.
    starts: dict[str, tuple[datetime.datetime, Mapping | None]] = {
        server: (began or oldest, None)
        for server, began in in_cells.items()}
    starts |= {server: (in_cells.get(server) or created, hints)
               for server, created, hints in request_specs.begun(
                   context, {*queued, *in_cells})}
    return [settling.Request(_seconds(began), hints)
            for began, hints in starts.values() if began >= oldest
            ], asking.silent_hosts(answers)


def _queued(
    context: nova_context.RequestContext, oldest: datetime.datetime,
) -> list[str]:
    """Return the uuids of the servers in no cell yet."""
    row = api_models.BuildRequest
    with api_db.context_manager.reader.using(context) as session:
        return session.scalars(sa.select(row.instance_uuid).where(
            row.created_at >= oldest)).all()


@main_db.pick_context_manager_reader
def _in_cell(
    context: nova_context.RequestContext, oldest: datetime.datetime,
) -> dict[str, datetime.datetime | None]:
    """Return the servers under way in a cell.

    :returns: ``server uuid -> begin of the move``, None for a build
    """
    starts: dict[str, datetime.datetime | None] = dict.fromkeys(
        _built(context, oldest))
    for uuid, began in _moved(context, oldest):
        starts[uuid] = min(began, starts.get(uuid) or began)
    return starts


def _built(
    context: nova_context.RequestContext, oldest: datetime.datetime,
) -> Iterator[str]:
    server = models.Instance
    # Nova may give up a build that goes on all the same: the server is
    # scheduled again then.
    yield from context.session.scalars(sa.select(server.uuid).where(
        server.deleted == 0, server.created_at >= oldest, sa.or_(
            server.vm_state == vm_states.BUILDING,
            server.task_state == task_states.SCHEDULING)))


def _moved(
    context: nova_context.RequestContext, oldest: datetime.datetime,
) -> Iterator[tuple[str, datetime.datetime]]:
    server, action = models.Instance, models.InstanceAction
    migration = models.Migration
    # Before the action is recorded no service has been asked to place the
    # server. A second evacuation does not end the first evacuation.
    began = sa.select(sa.func.min(action.start_time)).where(
        action.instance_uuid == server.uuid, action.action.in_(_MOVES),
        action.start_time >= oldest, action.deleted == 0).scalar_subquery()
    for uuid, start in context.session.execute(sa.select(
            server.uuid, began).where(
                server.task_state.in_(_MOVING), server.deleted == 0)):
        if start is not None:
            yield uuid, start
    # A compute service that starts again, and an administrator, make a
    # server look at rest whose move goes on.
    yield from context.session.execute(sa.select(
        migration.instance_uuid, migration.created_at).where(
            migration.deleted == 0, migration.created_at >= oldest,
            migration.status.in_(_ON_ITS_WAY))).tuples()


def _seconds(when: datetime.datetime) -> float:
    return when.replace(tzinfo=datetime.timezone.utc).timestamp()
