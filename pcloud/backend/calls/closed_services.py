# SPDX-License-Identifier: Apache-2.0


"""Find the compute services that were disabled for a maintenance.

One query a cell. Silent cells are left out.
"""

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa

from pcloud.backend.calls import compute_calls


def hosts(context: nova_context.RequestContext) -> frozenset[str]:
    """Return the service hosts that Pcloud has closed for a maintenance."""
    answers = nova_context.scatter_gather_skip_cell0(context, _hosts)
    return frozenset().union(*(
        there for there in answers.values()
        if not nova_context.is_cell_failure_sentinel(there)))


@main_db.pick_context_manager_reader
def _hosts(context: nova_context.RequestContext) -> list[str]:
    return context.session.scalars(sa.select(models.Service.host).where(
        models.Service.deleted == 0,
        models.Service.binary == 'nova-compute',
        models.Service.disabled == sa.true(),
        models.Service.disabled_reason == compute_calls.MAINTENANCE)).all()
