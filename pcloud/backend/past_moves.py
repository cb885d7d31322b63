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

"""Read the migrations of servers that are over, or wait for a confirmation.

Rule: reference-draining-moving
"""

import collections
from collections.abc import Collection
from collections.abc import Mapping
import datetime

from nova.compute import instance_actions
from nova.compute import vm_states
from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from nova.objects import fields
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend import cells
from pcloud.backend import computes
from pcloud.backend import server_calls
from pcloud.rules import moving

# The statuses of a migration after which the server is elsewhere.
_ARRIVED = ('completed', 'confirmed', 'done')
_KINDS = (fields.MigrationType.LIVE_MIGRATION,
          fields.MigrationType.MIGRATION)
_FINISHED = 'finished'


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str], now: float,
) -> Mapping[str, list[moving.Past]]:
    """Return the past of the servers on hosts.

    One query, and one query a cell. Silent cells are left out.

    :param hosts: service hosts
    :param now: seconds since the epoch
    :returns: ``server uuid -> migrations``, a default dict of lists
    """
    since = datetime.datetime.fromtimestamp(
        now - moving.HISTORY, datetime.timezone.utc).replace(tzinfo=None)

    def read(
        context: nova_context.RequestContext, hosts: Collection[str],
    ) -> list[sa.Row]:
        return _read(context, hosts, since)

    found = collections.defaultdict(list)
    for rows in cells.ask_hosts(context, hosts, read).known.values():
        for row in rows:
            found[row.instance_uuid].append(moving.Past(
                row.updated_at.replace(
                    tzinfo=datetime.timezone.utc).timestamp(),
                row.status in _ARRIVED, row.dest_compute is not None))
    return found


@main_db.pick_context_manager_reader
def _read(
    context: nova_context.RequestContext, hosts: Collection[str],
    since: datetime.datetime,
) -> list[sa.Row]:
    row, server = models.Migration, models.Instance
    return context.session.execute(sa.select(
        row.instance_uuid, row.status, row.dest_compute, row.updated_at,
    ).join(server, server.uuid == row.instance_uuid).where(
        server.deleted == 0, server.host.in_(hosts),
        row.updated_at >= since, row.migration_type.in_(_KINDS),
        row.status.in_(computes.MIGRATION_OVER))).all()


def to_confirm(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[str]:
    """Return the servers whose cold migration Pcloud has to confirm.

    Pcloud confirms what Pcloud has begun, which the request id of the latest
    action shows. One query, and one query a cell. Silent cells are left out.

    :param hosts: the service hosts that the servers come from
    :returns: server uuids, in order
    """
    answers = cells.ask_hosts(context, hosts, _to_confirm)
    return sorted(server for rows in answers.known.values()
                  for server in rows)


@main_db.pick_context_manager_reader
def _to_confirm(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[str]:
    row, server = models.Migration, models.Instance
    action, any_ = (orm.aliased(models.InstanceAction) for _ in range(2))
    latest = sa.select(sa.func.max(any_.id)).where(
        any_.instance_uuid == row.instance_uuid,
        any_.action.in_([instance_actions.MIGRATE, instance_actions.RESIZE])
    ).correlate(row).scalar_subquery()
    return context.session.scalars(sa.select(server.uuid).join(
        row, row.instance_uuid == server.uuid,
    ).join(action, action.id == latest).where(
        server.deleted == 0, server.vm_state == vm_states.RESIZED,
        server.task_state.is_(None), row.deleted == 0,
        row.status == _FINISHED, row.source_compute.in_(hosts),
        row.migration_type == fields.MigrationType.MIGRATION,
        action.request_id.startswith(
            server_calls.REQUEST_PREFIX, autoescape=True))).all()
