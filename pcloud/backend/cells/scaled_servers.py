# SPDX-License-Identifier: Apache-2.0

"""Read the servers of the projects that have scaled services.

A pass of a worker asks so again and again. Where no project has a scaled
service, that is one query in each cell.

Rule: reference-worker-follow
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime

from nova.api.openstack import common
from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.cells import marked_projects
from pcloud.backend import request_specs

_BUILD = 'BUILD'

# Server uuid -> scheduler hints.
Hints = dict[str, Mapping[str, Sequence[str]]]


@dataclasses.dataclass
class Memory:
    """What a worker remembers of servers, so that the next read costs less.

    :ivar hints: the hints of the servers that were seen, which never change
    """

    marked: marked_projects.Memory = dataclasses.field(
        default_factory=marked_projects.Memory)
    hints: Hints = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Row:
    """A server of a project with a scaled service.

    :ivar host: the service host; '' without a host
    :ivar status: the status that Nova's API shows
    :ivar task: the task state, or ''
    :ivar created: the time of creation in UTC; likewise launched, which is
        None for a server that never ran
    :ivar metadata: the items with the keys that were asked for
    """

    server: str
    project: str
    name: str
    host: str = ''
    status: str = _BUILD
    task: str = ''
    created: datetime.datetime | None = None
    launched: datetime.datetime | None = None
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hints: Mapping[str, Sequence[str]] = dataclasses.field(
        default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Found:
    """The servers of the projects that have scaled services.

    :ivar projects: ``project -> servers``; a project with servers in a silent
        cell is left out
    :ivar is_whole: whether no cell is silent
    """

    projects: Mapping[str, Sequence[Row]]
    is_whole: bool


def read(
    context: nova_context.RequestContext, mark: str, keys: Collection[str],
    memory: Memory,
) -> Found:
    """Return the servers of the projects that have a server with a mark.

    What is missing or not needed in a project cannot be told while a cell with
    servers of the project is silent.

    The queries of `marked_projects.read`. Where there are such projects, two
    more queries in each cell and in cell0, one more query, and one query for
    five hundred servers whose hints are not known. With a silent cell another
    query.

    :param mark: a key of the metadata of servers
    :param keys: the keys of the metadata that are returned
    :param memory: of earlier calls with the same mark; brought up to date
    """
    marked = marked_projects.read(mark, memory.marked)
    projects: frozenset[str] = frozenset().union(*marked.known.values())
    if not projects:
        memory.hints.clear()
        return Found({}, not marked.silent)
    # A server goes from the API's database into a cell, and not back: read in
    # this order none is missed.
    rows = {row.server: row for row in _queued(context, projects)}
    answers = asking.ask_all_and_cell0(
        lambda cell: _in_cell(cell, projects, keys))
    for found in answers.known.values():
        rows.update((row.server, row) for row in found)
    silent = {*marked.silent, *answers.silent}
    projects -= _hidden(context, silent)
    # Databases that compare without case find other projects too.
    return Found(_by_project(_with_hints(
        context, [row for row in rows.values() if row.project in projects],
        memory.hints)), not silent)


def _by_project(rows: Iterable[Row]) -> dict[str, list[Row]]:
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row.project].append(row)
    return groups


def _queued(
    context: nova_context.RequestContext, projects: Collection[str],
) -> Iterator[Row]:
    """Yield the servers that are in no cell yet (one query)."""
    row = api_models.BuildRequest
    with api_db.context_manager.reader.using(context) as session:
        for server, project in session.execute(
                sa.select(row.instance_uuid, row.project_id)
                .where(row.project_id.in_(projects))):
            yield Row(server, project, '')


@main_db.pick_context_manager_reader
def _in_cell(
    context: nova_context.RequestContext, projects: Collection[str],
    keys: Collection[str],
) -> list[Row]:
    """Return the servers that Nova lists (two queries)."""
    server, item = models.Instance, models.InstanceMetadata
    listed = (server.deleted == 0, server.project_id.in_(projects),
              server.vm_state != vm_states.SOFT_DELETED)
    metadata: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for uuid, key, value in context.session.execute(
            sa.select(item.instance_uuid, item.key, item.value)
            .join(server, server.uuid == item.instance_uuid)
            .where(*listed, item.deleted == 0, item.key.in_(keys))):
        metadata[uuid][key] = value
    return [Row(
        uuid, project, name or '', host or '',
        common.status_from_state(state, task), task or '', created, launched,
        metadata.get(uuid, {}))
        for uuid, project, name, host, state, task, created, launched
        in context.session.execute(sa.select(
            server.uuid, server.project_id, server.display_name,
            server.host, server.vm_state, server.task_state,
            server.created_at, server.launched_at).where(*listed))]


def _hidden(
    context: nova_context.RequestContext, silent: Collection[str],
) -> frozenset[str]:
    """Return the projects with servers in silent cells."""
    if not silent:
        return frozenset()
    row, cell = api_models.InstanceMapping, api_models.CellMapping
    with api_db.context_manager.reader.using(context) as session:
        return frozenset(session.scalars(
            sa.select(row.project_id).distinct()
            .join(cell, cell.id == row.cell_id)
            .where(cell.uuid.in_(silent), sa.not_(
                sa.func.coalesce(row.queued_for_delete, False)))))


def _with_hints(
    context: nova_context.RequestContext, rows: Collection[Row], known: Hints,
) -> Iterator[Row]:
    """Yield the servers with hints, and bring the known hints up to date."""
    servers = {row.server for row in rows}
    for gone in known.keys() - servers:
        del known[gone]
    known.update(request_specs.hints(context, servers - known.keys()))
    for row in rows:
        yield dataclasses.replace(row, hints=known.get(row.server, {}))
