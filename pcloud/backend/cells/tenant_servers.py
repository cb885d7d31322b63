# SPDX-License-Identifier: Apache-2.0

"""Count what the servers of projects use of one Pcloud.

A server uses a Pcloud from the moment when Nova accepts the server for the
Pcloud until the server leaves the hosts. While a server waits and is built,
the hints of its request decide, and afterwards its host.

Rule: reference-usage-servers
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import functools

from nova.compute import task_states
from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
from oslo_serialization import jsonutils
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.rules.placing import hints
from pcloud.rules.usage import caps


@dataclasses.dataclass(frozen=True)
class Server:
    """A server that uses a Pcloud.

    :ivar project: the id of the project of the server
    :ivar amounts: what the server uses
    """

    project: str
    amounts: caps.Amounts


@dataclasses.dataclass(frozen=True)
class _Waiting:
    """A server that Nova has accepted, and that is in no cell.

    :ivar id: the number of the request to build the server
    :ivar launch: what the servers share that were asked for together
    """

    uuid: str
    id: int
    launch: str


def read(
    context: nova_context.RequestContext, pcloud_id: str,
    hosts: Collection[str], project_id: str | None = None,
    launch_of: str | None = None,
) -> dict[str, Server]:
    """Return the servers that use a Pcloud.

    One query for the servers that wait, one for the cells of the hosts, one in
    each of the cells, and one for five hundred servers that wait, or are
    built, unshelved or resized. A server that prefers the Pcloud counts while
    it waits and is built, and one that is resized counts with the greater of
    both flavors.

    :param hosts: the service hosts of the Pcloud
    :param project_id: of which project; None for all projects
    :param launch_of: the uuid of a server. The servers that were asked for
        together with it are left out, and what Nova has accepted later
    :returns: ``server uuid -> server``
    :raises: `exception.Unavailable` when a cell with one of the hosts is
        silent
    """
    # A server goes from the requests into a cell, and not back: read in this
    # order no server is missed.
    waiting = list(_earlier(_waiting(context, project_id), launch_of))
    answers = asking.ask_hosts(context, hosts, functools.partial(
        _in_cell, project_id=project_id))
    found: dict[str, Server] = {}
    unsure = {server.uuid for server in waiting}
    for rows in answers.all():
        for uuid, project, host, flavors, vcpus, memory_mb in rows:
            if host is None or flavors is not None:
                unsure.add(uuid)
            if host in hosts:
                found[uuid] = Server(project, _greatest(
                    [(vcpus or 0, memory_mb or 0), *_sizes_of(flavors)]))
    for uuid, spec in request_specs.with_any(context, unsure, [pcloud_id]):
        if uuid in found or pcloud_id in _places(spec):
            found[uuid] = _with_request(found.get(uuid), spec)
    return found


def present(
    context: nova_context.RequestContext, server: str,
) -> caps.Amounts:
    """Return what a server uses on its host; nothing without a host.

    One query, and one query in the cell of the server.

    :raises: `exception.Unavailable` when the cell of the server is silent
    """
    return caps.total(
        caps.Amounts(1, vcpus or 0, memory_mb or 0) for rows in asking.ask(
            asking.of_servers(context, [server]), _sizes).all()
        for vcpus, memory_mb in rows)


def _with_request(there: Server | None, spec: request_specs.Spec) -> Server:
    """Return a server with all that it uses now, or is going to use.

    :param there: the server on its host, None for a server without a host
    """
    asked = spec.vcpus, spec.memory_mb
    if there is None:
        return Server(spec.project, caps.Amounts(1, *asked))
    _, vcpus, memory_mb = there.amounts.values()
    return Server(there.project, _greatest([asked, (vcpus, memory_mb)]))


def _greatest(sizes: Iterable[tuple[int, int]]) -> caps.Amounts:
    """Return what a server uses that may have any of some sizes.

    :param sizes: processors, and memory in MiB
    """
    return caps.Amounts(1, *map(max, zip(*sizes, strict=True)))


def _sizes_of(flavors: str | None) -> Iterator[tuple[int, int]]:
    """Yield the sizes of a server that is resized, before and afterwards.

    :param flavors: the flavors of the server as Nova keeps them; None for a
        server that is not resized
    """
    for flavor in (jsonutils.loads(flavors) if flavors else {}).values():
        data = (flavor or {}).get('nova_object.data') or {}
        yield data.get('vcpus') or 0, data.get('memory_mb') or 0


def _places(spec: request_specs.Spec) -> Collection[str | None]:
    try:
        return hints.places(spec.hints)
    except exception.InvalidHint:
        return ()


def _earlier(
    waiting: Collection[_Waiting], launch_of: str | None,
) -> Iterator[_Waiting]:
    """Yield what was accepted before the launch of a server.

    The launches of a cloud have one order, so that of two at the same moment
    the later counts the earlier, and not the other way round.
    """
    launch = next((each.launch for each in waiting
                   if each.uuid == launch_of), None)
    if launch is None:
        yield from waiting
        return
    first: dict[str, int] = {}
    for each in waiting:
        first[each.launch] = min(each.id, first.get(each.launch, each.id))
    yield from (each for each in waiting
                if first[each.launch] < first[launch])


def _waiting(
    context: nova_context.RequestContext, project_id: str | None,
) -> list[_Waiting]:
    row = api_models.BuildRequest
    statement = sa.select(row.instance_uuid, row.id, row.instance)
    if project_id is not None:
        statement = statement.where(row.project_id == project_id)
    with api_db.context_manager.reader.using(context) as session:
        return [_Waiting(uuid, id_, _launch(text) or uuid)
                for uuid, id_, text in session.execute(statement)]


def _launch(text: str | None) -> str | None:
    """Return the reservation of a server, which Nova gives to a launch."""
    data = (jsonutils.loads(text) if text else {}).get(
        'nova_object.data') or {}
    return data.get('reservation_id')


@main_db.pick_context_manager_reader
def _in_cell(
    context: nova_context.RequestContext, hosts: Collection[str],
    project_id: str | None,
) -> list[sa.Row]:
    """Return uuid, project, host, flavors, processors, memory of servers.

    The flavors are those of a server that is resized, else None.
    """
    server, extra = models.Instance, models.InstanceExtra
    resizes = sa.or_(
        sa.func.coalesce(server.task_state, '').in_(
            task_states.resizing_states),
        sa.func.coalesce(server.vm_state, '') == vm_states.RESIZED)
    statement = sa.select(
        server.uuid, server.project_id, server.host,
        sa.case((resizes, extra.flavor)), server.vcpus, server.memory_mb,
    ).outerjoin(extra, extra.instance_uuid == server.uuid).where(
        # One of two copies is hidden while a server changes its cell.
        server.deleted == 0, sa.not_(sa.func.coalesce(server.hidden, False)),
        sa.or_(server.host.in_(hosts), sa.and_(
            server.host.is_(None), sa.or_(
                sa.func.coalesce(
                    server.vm_state, '') == vm_states.BUILDING,
                sa.func.coalesce(
                    server.task_state, '') == task_states.UNSHELVING))))
    if project_id is not None:
        statement = statement.where(server.project_id == project_id)
    return context.session.execute(statement).all()


@main_db.pick_context_manager_reader
def _sizes(
    context: nova_context.RequestContext, servers: Collection[str],
) -> list[sa.Row]:
    server = models.Instance
    return context.session.execute(
        sa.select(server.vcpus, server.memory_mb).where(
            server.deleted == 0, server.uuid.in_(servers),
            sa.not_(sa.func.coalesce(server.hidden, False)),
            server.host.is_not(None))).all()
