# SPDX-License-Identifier: Apache-2.0


"""Find the places of servers, and the places where the servers may be soon.

A server that is being built or moved has a chosen host, which only Placement
knows until the compute service has written the host. And a server that has
been resized may go back to the host before, as long as nobody has confirmed.

Rule: reference-locality-strict-servers
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import functools

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
from nova import objects
from oslo_serialization import jsonutils
import sqlalchemy as sa

from pcloud.backend.calls import placement
from pcloud.backend.cells import asking
from pcloud.backend.cells import computes
from pcloud.backend.cells import servers as there


@dataclasses.dataclass
class _Server:
    """A server that was asked for.

    :ivar host: the present host, None for no host
    :ivar hosts: all hosts where the server is or may be soon
    """

    host: str | None = None
    tags: set[str] = dataclasses.field(default_factory=set)
    hosts: set[str] = dataclasses.field(default_factory=set)
    is_under_way: bool = False
    is_placed: bool = False


def find(
    context: nova_context.RequestContext, project_id: str,
    servers: Collection[str], tags: Collection[str], but: str,
) -> there.NamedServers:
    """Find servers as `servers.find` does, and where the servers may be soon.

    Two queries, another query for tags, and one query in each cell that may
    have the servers. Where servers are being built or moved, a call of
    Placement for each such server and one query in each cell; where nothing
    is claimed of a compute node itself, a call for each other provider.

    :raises: `exception.Unavailable` when Placement, or a cell that may have
        the chosen hosts, does not answer
    """
    # A server goes from the build requests into a cell, and not back: read in
    # this order no server is missed.
    found: dict[str, _Server] = {
        uuid: _Server(tags=its_tags, is_under_way=True) for uuid, its_tags
        in _queued(context, project_id, servers, tags)}
    cells_of = asking.of_servers(
        context, servers, *there.of_project(project_id))
    questions: dict[int | None, frozenset[str]] = dict.fromkeys(
        there.cells_of_project(context, project_id), frozenset()
    ) if tags else {}
    answers = asking.ask(
        {**questions, **cells_of},
        functools.partial(_in_cell, project_id=project_id, tags=list(tags)))
    for rows in answers.known.values():
        _add(found, rows, tags)
    _expect(context, {uuid: server for uuid, server in found.items()
                      if server.is_under_way and uuid != but})
    known = frozenset().union(*cells_of.values())
    return there.NamedServers(
        {uuid: found[uuid].host if uuid in found else None
         for uuid in known},
        frozenset(uuid for uuid in known if uuid in found and
                  found[uuid].is_placed).union(*answers.silent.values()),
        _by_tag((server.tags, [server.host] if server.host else [])
                for uuid, server in found.items() if uuid != but),
        answers.silent,
        {uuid: _others(found[uuid]) for uuid in known & found.keys()},
        _by_tag((server.tags, _others(server))
                for uuid, server in found.items() if uuid != but))


def _others(server: _Server) -> list[str]:
    """Return the hosts where a server may be soon, and is not now."""
    return sorted(server.hosts - {server.host})


def _by_tag(
    servers: Iterable[tuple[Collection[str], Collection[str]]],
) -> Mapping[str, list[str]]:
    """Return ``tag -> hosts``, from the tags and the hosts of each server."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for tags, hosts in servers:
        for tag in tags:
            found[tag] += hosts
    return found


def _queued(
    context: nova_context.RequestContext, project_id: str,
    servers: Collection[str], tags: Collection[str],
) -> Iterator[tuple[str, set[str]]]:
    """Yield uuid and tags of the servers in no cell yet, if asked for."""
    row = api_models.BuildRequest
    with api_db.context_manager.reader.using(context) as session:
        rows = session.execute(
            sa.select(row.instance_uuid, row.tags)
            .where(row.project_id == project_id)).all()
    for uuid, text in rows:
        its_tags = {tag.tag for tag in objects.TagList.obj_from_primitive(
            jsonutils.loads(text))} if text else set()
        wanted = its_tags.intersection(tags)
        if wanted or uuid in servers:
            yield uuid, wanted


@main_db.pick_context_manager_reader
def _in_cell(
    context: nova_context.RequestContext, servers: Collection[str],
    project_id: str, tags: Collection[str],
) -> list[sa.Row]:
    server, tag, migration = models.Instance, models.Tag, models.Migration
    return context.session.execute(
        sa.select(
            server.uuid, server.host, tag.tag,
            there.under_way().label('is_under_way'),
            migration.source_compute, migration.dest_compute)
        .outerjoin(tag, sa.and_(tag.resource_id == server.uuid,
                                tag.tag.in_(tags)))
        .outerjoin(migration, sa.and_(
            migration.instance_uuid == server.uuid, migration.deleted == 0,
            sa.not_(migration.status.in_(computes.MIGRATION_OVER))))
        # One of two copies is hidden while a server changes its cell.
        .where(server.deleted == 0, server.project_id == project_id,
               sa.not_(sa.func.coalesce(server.hidden, False)),
               sa.or_(server.uuid.in_(servers), tag.tag.is_not(None)))
    ).all()


def _add(
    found: dict[str, _Server], rows: Iterable[sa.Row], tags: Collection[str],
) -> None:
    """Add the servers of a cell."""
    for row in rows:
        server = found.setdefault(row.uuid, _Server())
        server.is_placed = True
        server.host = row.host
        server.is_under_way |= bool(row.is_under_way)
        server.hosts |= {row.host, row.source_compute,
                         row.dest_compute} - {None}
        # Databases that compare without case find other tags too.
        if row.tag in tags:
            server.tags.add(row.tag)


def _expect(
    context: nova_context.RequestContext, servers: Mapping[str, _Server],
) -> None:
    """Add the hosts that Placement knows for servers."""
    providers = {uuid: placement.providers(context, uuid)
                 for uuid in servers}
    nodes = _hosts_of_nodes(context, set().union(*providers.values()))
    nested = {provider for of_server in providers.values()
              if nodes.keys().isdisjoint(of_server)
              for provider in of_server}
    roots = {provider: placement.root(context, provider)
             for provider in nested}
    nodes |= _hosts_of_nodes(context, set(roots.values()))
    for uuid, server in servers.items():
        server.hosts |= {nodes[node] for node in (
            roots.get(provider, provider) for provider in providers[uuid])
            if node in nodes}


def _hosts_of_nodes(
    context: nova_context.RequestContext, nodes: Collection[str],
) -> dict[str, str]:
    """Return ``uuid of a compute node -> service host``.

    One query in each cell, none without nodes.
    """
    if not nodes:
        return {}
    return {uuid: host for rows in asking.ask_all(functools.partial(
        _in_nodes, nodes=nodes)).all() for uuid, host in rows}


@main_db.pick_context_manager_reader
def _in_nodes(
    context: nova_context.RequestContext, nodes: Collection[str],
) -> list[sa.Row]:
    node = models.ComputeNode
    return context.session.execute(
        sa.select(node.uuid, node.host)
        .where(node.deleted == 0, node.uuid.in_(nodes))).all()
