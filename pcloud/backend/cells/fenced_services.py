# SPDX-License-Identifier: Apache-2.0

"""Read which compute services are forced down, and when Nova heard of them.

Rule: reference-recovery-trigger
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
import datetime

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from nova import servicegroup
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.cells import computes
from pcloud.rules.moving import recovery

_KEYS = tuple(column.key for column in computes.STATE)


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, recovery.Service]:
    """Return the compute services of hosts.

    One query, and one query a cell; none for no hosts. Hosts in silent cells
    and hosts without a service are left out.

    :returns: ``service host -> service``
    """
    if not hosts:
        return {}
    answers = asking.ask_hosts(context, hosts, _of_hosts)
    # Databases that compare without case find other hosts too.
    return {host: service for there in answers.known.values()
            for host, service in there.items() if host in hosts}


def anywhere() -> frozenset[str]:
    """Return the service hosts that are forced down, in the whole cloud.

    One query a cell. Silent cells are left out.
    """
    return frozenset().union(*asking.ask_all(_forced_down).known.values())


@main_db.pick_context_manager_reader
def _forced_down(context: nova_context.RequestContext) -> list[str]:
    row = models.Service
    return context.session.scalars(sa.select(row.host).where(
        row.deleted == 0, row.binary == 'nova-compute',
        row.forced_down == sa.true())).all()


@main_db.pick_context_manager_reader
def _of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, recovery.Service]:
    row, group = models.Service, servicegroup.API()
    found = {}
    for *state, updated in context.session.execute(sa.select(
            *computes.STATE, row.updated_at).where(
                row.deleted == 0, row.binary == 'nova-compute',
                row.host.in_(hosts))):
        service = dict(zip(_KEYS, state, strict=True))
        found[service['host']] = recovery.Service(
            bool(group.service_is_up(service)), bool(service['forced_down']),
            max(map(_seconds, filter(None, (
                service['created_at'], service['last_seen_up'], updated))),
                default=0.0),
            context.cell_uuid)
    return found


def _seconds(moment: datetime.datetime) -> float:
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp()
