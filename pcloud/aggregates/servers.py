# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Find a project's servers, and the hosts they are on.

Source: CONTRACT section 4: tags are "looked up on the fly", and only the
project's own servers count.
"""

import collections
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa

from pcloud.aggregates import computes
from pcloud.aggregates import request_specs


@dataclasses.dataclass(frozen=True)
class Found:
    """What there is of the servers that were looked for.

    :ivar servers: uuid to host, of those that were named by their uuid; None
        while a server has no host
    :ivar placed: the uuids of those that are in a cell: they have been
        placed before
    :ivar tagged: tag to the hosts of the servers with it, as often as each
        has one
    """

    servers: Mapping[str, str | None]
    placed: frozenset[str]
    tagged: Mapping[str, list[str]]


def find(
    context: nova_context.RequestContext, project_id: str,
    servers: Collection[str], tags: Collection[str], but: str,
) -> Found:
    """Find servers of a project by their uuids and by their tags.

    One query, and one a cell. A server that is being built is found by its
    uuid from the first, and by its tag once it is in a cell.

    :param but: the uuid of a server that does not count for its tags
    :raises: `exception.Unavailable` when a cell does not answer
    """
    hosts: dict[str, str | None] = dict.fromkeys(
        _mapped(context, project_id, servers))
    placed = set()
    tagged = collections.defaultdict(list)
    for rows in computes.each_cell(
            context, _instances, project_id, list(servers), list(tags)):
        for uuid, host, tag in rows:
            if uuid in servers:
                hosts[uuid] = host
                placed.add(uuid)
            # Databases that compare without case find other tags too.
            if tag in tags and host and uuid != but:
                tagged[tag].append(host)
    return Found(hosts, frozenset(placed), tagged)


def units(
    context: nova_context.RequestContext, project_id: str, service: str,
) -> dict[str, str]:
    """Return uuid to service host of the units of a project's service.

    One query, and one a cell. Those that have no host, are in error or are
    deleted for the moment are left out.

    :param service: a name of letters, digits, ".", "_" and "-"
    :raises: `exception.Unavailable` when a cell does not answer
    """
    return _hosts(context, request_specs.of_service(
        context, project_id, service))


def hosts(
    context: nova_context.RequestContext, project_id: str,
    servers: Collection[str],
) -> dict[str, str]:
    """Return uuid to service host of a project's servers, as `units`.

    :param servers: uuids
    :raises: `exception.Unavailable` when a cell does not answer
    """
    return _hosts(context, _mapped(context, project_id, servers))


def _hosts(
    context: nova_context.RequestContext, uuids: Collection[str],
) -> dict[str, str]:
    if not uuids:
        return {}
    answers = computes.each_cell(context, _hosts_of_servers, uuids)
    return {uuid: host for rows in answers for uuid, host in rows}


def last_host(
    context: nova_context.RequestContext, server: str,
) -> str | None:
    """Return the host that a server is on, or was on last.

    One query a cell. A server without a host, as after shelving, has left
    its actions behind.

    :raises: `exception.Unavailable` when a cell does not answer
    """
    return next((host for rows in computes.each_cell(
        context, _hosts_of_actions, server) for host in rows), None)


def _mapped(
    context: nova_context.RequestContext, project_id: str,
    servers: Collection[str],
) -> list[str]:
    row = api_models.InstanceMapping
    with api_db.context_manager.reader.using(context) as session:
        return list(session.scalars(sa.select(row.instance_uuid).where(
            row.project_id == project_id, row.instance_uuid.in_(servers),
            sa.not_(sa.func.coalesce(row.queued_for_delete, False)))))


@main_db.pick_context_manager_reader
def _instances(context, project_id, servers, tags):
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
def _hosts_of_servers(context, uuids):
    server = models.Instance
    return context.session.execute(
        sa.select(server.uuid, server.host)
        .where(server.deleted == 0, server.uuid.in_(uuids),
               sa.not_(sa.func.coalesce(server.hidden, False)),
               server.host.is_not(None),
               sa.func.coalesce(server.vm_state, '').not_in(
                   [vm_states.SOFT_DELETED, vm_states.ERROR]))).all()


@main_db.pick_context_manager_reader
def _hosts_of_actions(context, server):
    action, event = models.InstanceAction, models.InstanceActionEvent
    instance = models.Instance
    now = sa.select(instance.host).where(
        instance.deleted == 0, instance.uuid == server,
        instance.host.is_not(None))
    before = sa.select(event.host).join(
        action, action.id == event.action_id,
    ).where(
        action.instance_uuid == server, event.host.is_not(None),
        event.event.startswith('compute_'),
    ).order_by(event.id.desc()).limit(1)
    return (context.session.scalars(now).all() or
            context.session.scalars(before).all())
