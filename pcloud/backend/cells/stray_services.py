# SPDX-License-Identifier: Apache-2.0
"""Find compute services outside the cell of their service host."""

from collections.abc import Collection

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa


def find(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, list[str]]:
    """Return the wrong cells that have a compute service of a host.

    One query, and one query a cell. Silent cells are left out.

    :returns: ``service host -> names of the wrong cells``
    """
    mapped = _cells(context, hosts)
    nova_context.load_cells()
    known = {cell.uuid: cell.name for cell in nova_context.CELLS}
    services: dict[str, list[str]] = {}
    answers = nova_context.scatter_gather_skip_cell0(
        nova_context.get_admin_context(), _services, list(hosts))
    for uuid, there in sorted(answers.items()):
        if nova_context.is_cell_failure_sentinel(there):
            continue
        for host in there:
            if host in mapped and mapped[host] != uuid:
                services.setdefault(host, []).append(known.get(uuid) or uuid)
    return services


def _cells(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, str]:
    row, cell = api_models.HostMapping, api_models.CellMapping
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(
            sa.select(row.host, cell.uuid).join(cell, cell.id == row.cell_id)
            .where(row.host.in_(list(hosts)))).all())


@main_db.pick_context_manager_reader
def _services(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[str]:
    return context.session.scalars(
        sa.select(models.Service.host).where(
            models.Service.deleted == 0,
            models.Service.binary == 'nova-compute',
            models.Service.host.in_(hosts))).all()
