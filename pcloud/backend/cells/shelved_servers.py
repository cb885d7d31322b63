# SPDX-License-Identifier: Apache-2.0

"""Find the servers without a host that one Pcloud alone can take back.

A server that is shelved leaves its host, and an unshelve looks for a host
where the hints of the server allow one. A server with the hint of a Pcloud
comes back into this Pcloud or nowhere; a server that prefers a Pcloud has the
hosts outside of Pclouds too.

Rule: reference-pclouds-home
"""

import collections
from collections.abc import Collection
import dataclasses

from nova.compute import task_states
from nova.compute import vm_states
from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.cells import servers
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.rules.placing import hints

_SHELVING = (task_states.SHELVING, task_states.SHELVING_IMAGE_PENDING_UPLOAD,
             task_states.SHELVING_IMAGE_UPLOADING,
             task_states.SHELVING_OFFLOADING)
# The hint as Nova writes a request spec.
_HINT = f'"{hints.PCLOUD}":'


@dataclasses.dataclass(frozen=True)
class Homes:
    """The only homes of the shelved servers of a cloud.

    :ivar servers: ``Pcloud id -> (server uuid, project id)`` of each server
    :ivar is_whole: whether all cells have answered
    """

    servers: dict[str, list[tuple[str, str]]]
    is_whole: bool


def of_all(context: nova_context.RequestContext) -> Homes:
    """Return the only homes of all servers that are off their hosts.

    One query a cell, and one query for five hundred servers without a host.
    """
    answers = asking.ask_all(_off_their_hosts)
    found = collections.defaultdict(list)
    for uuid, spec in request_specs.with_any(
            context, frozenset().union(*answers.known.values()), [_HINT]):
        home = _home(spec)
        if home is not None:
            found[home].append((uuid, spec.project))
    return Homes(found, not answers.silent)


def of_pcloud(
    context: nova_context.RequestContext, pcloud_id: str,
) -> list[str]:
    """Return the servers off their hosts whose only home is a Pcloud.

    Queries as `of_all`.

    :returns: uuids, in order
    :raises: `exception.Unavailable` when a cell is silent
    """
    return _at_home(context, pcloud_id, frozenset().union(
        *asking.ask_all(_off_their_hosts).all()))


def of_project(
    context: nova_context.RequestContext, pcloud_id: str, project_id: str,
) -> list[str]:
    """Return a project's shelved servers whose only home is a Pcloud.

    A server that is being shelved is one of the servers, and a shelved server
    that is still on its host, which Nova takes off the host after a while.
    One query, one query in each cell of the project, and one query for five
    hundred shelved servers.

    :returns: uuids, in order
    :raises: `exception.Unavailable` when a cell is silent
    """
    answers = asking.ask(
        dict.fromkeys(servers.cells_of_project(context, project_id),
                      project_id), _shelved)
    return _at_home(context, pcloud_id, frozenset().union(*answers.all()))


def pins(
    context: nova_context.RequestContext, pcloud_id: str,
) -> frozenset[str]:
    """Return the hosts of a Pcloud that are the only homes of shelved servers.

    Queries as `of_all`.

    :returns: the owner's names for the hosts, in small letters
    :raises: `exception.Unavailable` when a cell is silent
    """
    shelved = frozenset().union(*asking.ask_all(_off_their_hosts).all())
    return frozenset(
        name.lower() for _, spec in request_specs.with_any(
            context, shelved, [pcloud_id])
        if _home(spec) == pcloud_id and (name := _pin(spec)) is not None)


def _pin(spec: request_specs.Spec) -> str | None:
    """Return the name of the only host where a server may be, None for any."""
    try:
        return hints.host_name(spec.hints)
    except exception.InvalidHint:
        return None


def is_off_its_host(
    context: nova_context.RequestContext, server: str,
) -> bool:
    """Whether an unshelve of a server would look for a host.

    One query, and one query in the server's cell.

    :raises: `exception.Unavailable` when the server's cell is silent
    """
    return any(asking.ask(asking.of_servers(context, [server]), _among).all())


def _at_home(
    context: nova_context.RequestContext, pcloud_id: str,
    shelved: Collection[str],
) -> list[str]:
    """Return those of some servers whose only home is a Pcloud."""
    return sorted(uuid for uuid, spec in request_specs.with_any(
        context, shelved, [pcloud_id]) if _home(spec) == pcloud_id)


def _home(spec: request_specs.Spec) -> str | None:
    """Return the only Pcloud where a server may be, None for none."""
    try:
        return hints.pcloud_id(spec.hints)
    except exception.InvalidHint:
        return None


def _select() -> sa.Select:
    """Select the uuids of the servers that exist."""
    server = models.Instance
    # One of two copies is hidden while a server changes its cell.
    return sa.select(server.uuid).where(
        server.deleted == 0, sa.not_(sa.func.coalesce(server.hidden, False)))


@main_db.pick_context_manager_reader
def _off_their_hosts(context: nova_context.RequestContext) -> list[str]:
    server = models.Instance
    # There is an index on hosts, and none on states.
    return context.session.scalars(_select().where(
        server.host.is_(None),
        server.vm_state == vm_states.SHELVED_OFFLOADED)).all()


@main_db.pick_context_manager_reader
def _shelved(
    context: nova_context.RequestContext, project_id: str,
) -> list[str]:
    server = models.Instance
    return context.session.scalars(_select().where(
        server.project_id == project_id, sa.or_(
            server.vm_state.in_(
                [vm_states.SHELVED, vm_states.SHELVED_OFFLOADED]),
            server.task_state.in_(_SHELVING)))).all()


@main_db.pick_context_manager_reader
def _among(
    context: nova_context.RequestContext, uuids: Collection[str],
) -> bool:
    """Whether any of some servers is off its host."""
    server = models.Instance
    return context.session.scalar(sa.select(_select().where(
        server.uuid.in_(uuids),
        server.vm_state == vm_states.SHELVED_OFFLOADED).exists()))
