# SPDX-License-Identifier: Apache-2.0

"""Read when servers have left hosts.

Rule: reference-usage-pcloud
"""

from collections.abc import Collection
from collections.abc import Mapping
import datetime

from nova.compute import vm_states
from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.cells import past_moves

# The events by which a server that is shelved leaves its host, at once or
# later.
_SHELVING = ('compute_shelve_instance', 'compute_shelve_offload_instance')
# The status of a resize after which the server is back where it was.
_REVERTED = 'reverted'


def last(
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
                context, hosts, _read).known.values() for row in rows):
        seconds = int(moment.replace(
            tzinfo=datetime.timezone.utc).timestamp())
        found[host] = max(seconds, found.get(host, 0))
    return found


@main_db.pick_context_manager_reader
def _read(
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
            move.status.in_(past_moves.ARRIVED),
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
