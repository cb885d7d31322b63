# SPDX-License-Identifier: Apache-2.0

"""Find a project's servers and the hosts of the servers.

Each request looks tags up anew, and only the project's own servers count.

Rule: reference-locality-servers
"""

import collections
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import functools

from nova.compute import task_states
from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
from nova import exception as nova_exception
from nova import objects
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.cells import computes
from pcloud.backend import request_specs
from pcloud.rules.placing import sticky

# The tasks of servers that come to a host or leave a host.
_UNDER_WAY = (
    *task_states.resizing_states, task_states.MIGRATING,
    task_states.SCHEDULING, task_states.BLOCK_DEVICE_MAPPING,
    task_states.NETWORKING, task_states.SPAWNING, task_states.UNSHELVING,
    task_states.SHELVING, task_states.SHELVING_IMAGE_PENDING_UPLOAD,
    task_states.SHELVING_IMAGE_UPLOADING, task_states.SHELVING_OFFLOADING)


@dataclasses.dataclass(frozen=True)
class NamedServers:
    """Servers of a project, by uuid and by tag.

    :ivar servers: ``server uuid -> host`` of the servers named by uuid; None
        while a server has no host, or the server's cell is silent
    :ivar placed: uuids of the named servers in a cell, which Nova has placed
        before
    :ivar tagged: ``tag -> hosts`` of the servers with the tag, a host once for
        each server
    :ivar silent: ``cell uuid -> named servers`` of each silent cell, which may
        have more servers with the tags
    :ivar expected: ``server uuid -> hosts`` where servers named by uuid may be
        soon; of `expected_places.find` only
    :ivar expected_tagged: ``tag -> hosts`` where servers with the tag may be
        soon; of `expected_places.find` only
    """

    servers: Mapping[str, str | None]
    placed: frozenset[str]
    tagged: Mapping[str, list[str]]
    silent: Mapping[str, frozenset[str]]
    expected: Mapping[str, list[str]] = dataclasses.field(
        default_factory=dict)
    expected_tagged: Mapping[str, list[str]] = dataclasses.field(
        default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Places:
    """The hosts of servers.

    :ivar hosts: ``server uuid -> service host`` of the servers that are there
        to stay
    :ivar silent: uuids of the servers in silent cells
    :ivar under_way: uuids of the servers on hosts that are being built or
        moved, as `under_way`
    """

    hosts: Mapping[str, str]
    silent: frozenset[str]
    under_way: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Place:
    """A server on a host.

    :ivar host: the service host
    :ivar node: the hypervisor hostname, None while unknown
    """

    uuid: str
    host: str
    node: str | None


def find(
    context: nova_context.RequestContext, project_id: str,
    servers: Collection[str], tags: Collection[str], but: str,
) -> NamedServers:
    """Find servers of a project by uuid and by tag.

    One query, another query for tags, and one query in each cell that may have
    the servers. A server under construction is found by uuid from the
    beginning, and by tag once the server is in a cell.

    :param but: the uuid of a server whose tags do not count
    """
    cells_of = asking.of_servers(context, servers, *of_project(project_id))
    hosts: dict[str, str | None] = dict.fromkeys(
        frozenset().union(*cells_of.values()))
    questions: dict[int | None, frozenset[str]] = dict.fromkeys(
        cells_of_project(context, project_id), frozenset()) if tags else {}
    answers = asking.ask(
        {**questions, **cells_of},
        functools.partial(_instances, project_id=project_id,
                          tags=list(tags)))
    placed = set().union(*answers.silent.values())
    tagged = collections.defaultdict(list)
    for rows in answers.known.values():
        for uuid, host, tag in rows:
            if uuid in servers:
                hosts[uuid] = host
                placed.add(uuid)
            # Databases that compare without case find other tags too.
            if tag in tags and host and uuid != but:
                tagged[tag].append(host)
    return NamedServers(hosts, frozenset(placed), tagged, answers.silent)


def units(
    context: nova_context.RequestContext, project_id: str, service: str,
) -> Places:
    """Return the hosts of the units of a project's service.

    Two queries, and one query in each cell of the units. Units without a host,
    in error or soft-deleted are left out.

    Rule: reference-colocation-filter

    :param service: a name of letters, digits, ".", "_" and "-"
    """
    return hosts(context, project_id, request_specs.of_service(
        context, project_id, service))


def hosts(
    context: nova_context.RequestContext, project_id: str,
    servers: Collection[str],
) -> Places:
    """Return the hosts of a project's servers, as `units` does.

    One query, and one query in each cell of the servers.

    :param servers: uuids
    """
    if not servers:
        return Places({}, frozenset())
    answers = asking.ask(
        asking.of_servers(context, servers, *of_project(project_id)),
        _hosts_of_servers)
    there = [row for rows in answers.known.values() for row in rows]
    return Places(
        {uuid: host for uuid, host, is_under_way in there
         if not is_under_way},
        frozenset().union(*answers.silent.values()),
        frozenset(uuid for uuid, _, is_under_way in there if is_under_way))


def places(
    context: nova_context.RequestContext, project_id: str,
    named: Collection[str] | None, after: str,
) -> list[Place]:
    """Return the servers of a project that are on hosts, in no order.

    One query, and one query in each cell with the servers. Servers in silent
    cells are left out, and soft-deleted servers, which nobody is shown.

    :param named: the uuids of the servers in question; None for all servers
    :param after: only servers with a greater uuid
    """
    questions: Mapping[int | None, Collection[str] | None]
    if named is None:
        questions = dict.fromkeys(cells_of_project(context, project_id))
    else:
        questions = asking.of_servers(
            context, named, *of_project(project_id))
    answers = asking.ask(questions, functools.partial(
        _places, project_id=project_id, after=after))
    return [Place(*row) for found in answers.known.values() for row in found]


def hidden(
    context: nova_context.RequestContext, project_id: str,
) -> list[str]:
    """Return the uuids of a project's servers in silent cells.

    One query, and one query in each cell of the project.
    """
    row = api_models.InstanceMapping
    cells_of = collections.defaultdict(set)
    with api_db.context_manager.reader.using(context) as session:
        for cell, uuid in session.execute(
                sa.select(row.cell_id, row.instance_uuid)
                .where(*of_project(project_id))):
            cells_of[cell].add(uuid)
    silent = asking.ask(cells_of, asking.ping).silent
    return sorted(set().union(*silent.values()))


def cells_of_project(
    context: nova_context.RequestContext, project_id: str,
) -> list[int | None]:
    """Return the ids of the cells with servers of a project (one query)."""
    with api_db.context_manager.reader.using(context) as session:
        return list(session.scalars(
            sa.select(api_models.InstanceMapping.cell_id)
            .where(*of_project(project_id)).distinct()))


def last_start(
    context: nova_context.RequestContext, server: str,
) -> sticky.Start | None:
    """Return the latest start of a server, None before the first start.

    One query, and one in the server's cell, or two for a server without a
    host. Such a server, which is shelved, keeps its actions, and the actions
    that have succeeded show the last host.

    :raises: `exception.Unavailable` when the server's cell is silent
    """
    answers = asking.ask(asking.of_servers(context, [server]), _last_starts)
    return next((start for starts in answers.all() for start in starts), None)


def requested_tags(
    context: nova_context.RequestContext, server: str,
) -> list[str]:
    """Return the tags of a server that is under construction.

    One query. A server that is in a cell has no tags here.
    """
    try:
        request = objects.BuildRequest.get_by_instance_uuid(context, server)
    except nova_exception.BuildRequestNotFound:
        return []
    return [tag.tag for tag in request.tags]


def all_of_project(
    context: nova_context.RequestContext, project_id: str,
) -> frozenset[str]:
    """Return the uuids of a project's servers, in all cells (one query)."""
    with api_db.context_manager.reader.using(context) as session:
        return frozenset(session.scalars(
            sa.select(api_models.InstanceMapping.instance_uuid)
            .where(*of_project(project_id))))


def under_way() -> sa.ColumnElement[bool]:
    """Return the condition that a server is being built or moved.

    nova-api sets the task state of a move before anybody chooses a host. A
    migration lasts until the server can no longer go back.
    """
    server, migration = models.Instance, models.Migration
    return sa.or_(
        sa.func.coalesce(server.vm_state, '') == vm_states.BUILDING,
        sa.func.coalesce(server.task_state, '').in_(_UNDER_WAY),
        sa.exists().where(
            migration.instance_uuid == server.uuid, migration.deleted == 0,
            sa.not_(migration.status.in_(computes.MIGRATION_OVER)),
        ).correlate(server))


def of_project(project_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions on the mappings of a project's servers."""
    row = api_models.InstanceMapping
    return (row.project_id == project_id,
            sa.not_(sa.func.coalesce(row.queued_for_delete, False)))


@main_db.pick_context_manager_reader
def _instances(
    context: nova_context.RequestContext, servers: Collection[str],
    project_id: str, tags: Collection[str],
) -> list[sa.Row]:
    server, tag = models.Instance, models.Tag
    return context.session.execute(
        sa.select(server.uuid, server.host, tag.tag)
        .outerjoin(tag, sa.and_(tag.resource_id == server.uuid,
                                tag.tag.in_(tags)))
        # One of two copies is hidden while a server changes its cell.
        .where(server.deleted == 0, server.project_id == project_id,
               sa.not_(sa.func.coalesce(server.hidden, False)),
               sa.or_(server.uuid.in_(servers), tag.tag.is_not(None)))
    ).all()


@main_db.pick_context_manager_reader
def _places(
    context: nova_context.RequestContext, named: Collection[str] | None,
    project_id: str, after: str,
) -> list[sa.Row]:
    """Return the columns of `Place`, in order."""
    server = models.Instance
    statement = sa.select(server.uuid, server.host, server.node).where(
        server.deleted == 0, server.project_id == project_id,
        server.uuid > after, server.host.is_not(None),
        sa.not_(sa.func.coalesce(server.hidden, False)),
        sa.func.coalesce(server.vm_state, '') != vm_states.SOFT_DELETED)
    if named is not None:
        statement = statement.where(server.uuid.in_(named))
    return context.session.execute(statement).all()


@main_db.pick_context_manager_reader
def _hosts_of_servers(
    context: nova_context.RequestContext, uuids: Collection[str],
) -> list[sa.Row]:
    server = models.Instance
    return context.session.execute(
        sa.select(server.uuid, server.host, under_way())
        .where(server.deleted == 0, server.uuid.in_(uuids),
               sa.not_(sa.func.coalesce(server.hidden, False)),
               server.host.is_not(None),
               sa.func.coalesce(server.vm_state, '').not_in(
                   [vm_states.SOFT_DELETED, vm_states.ERROR]))).all()


@main_db.pick_context_manager_reader
def _last_starts(
    context: nova_context.RequestContext, servers: Collection[str],
) -> list[sticky.Start]:
    """Return the latest start of a server, in a list of one start at most."""
    action, event = models.InstanceAction, models.InstanceActionEvent
    server = models.Instance
    known = context.session.execute(
        sa.select(server.host, server.launched_at).where(
            server.deleted == 0, server.uuid.in_(servers),
            sa.not_(sa.func.coalesce(server.hidden, False)))).first()
    host, launched = known or (None, None)
    host = host or context.session.scalar(
        sa.select(event.host).join(
            action, action.id == event.action_id,
        ).where(
            action.instance_uuid.in_(servers), event.host.is_not(None),
            event.event.startswith('compute_'), event.result == 'Success',
        ).order_by(event.id.desc()).limit(1))
    return [sticky.Start(host, str(launched or ''))] if host else []
