# SPDX-License-Identifier: Apache-2.0

"""Read the pools and Pclouds of one host.

Rule: reference-isolation-closed
"""

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import rows
from pcloud import names

# The parameter of a statement that is made once.
_HOST = 'host'
# What is kept of a host that decides its ratios.
_KEPT = (names.NODE_PREFIX, names.OWN_PREFIX)
_KEYS = (names.TYPE, names.ID, names.OWNER, names.CPU_RATIO, names.RAM_RATIO)


def _closed_of() -> sa.Select:
    """Select aggregates and metadata of `closed_of`, for the host `_HOST`."""
    row, member = models.AggregateMetadata, models.AggregateHost
    return sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        member.host, row.key, row.value,
    ).select_from(member).join(
        models.Aggregate, models.Aggregate.id == member.aggregate_id,
    ).outerjoin(row, sa.and_(
        row.aggregate_id == models.Aggregate.id, row.key.in_(_KEYS))
    ).where(member.host == sa.bindparam(_HOST))


def closed_of(
    context: nova_context.RequestContext, host: str,
) -> list[rows.Aggregate]:
    """Return the pools and Pclouds of a host, each with the given host alone.

    Two queries. Pools and Pclouds count, whole or not. Of metadata there is
    what tells a Pcloud, the Pcloud's owner and ratios, and of a Pcloud the
    host's node and saved ratios.
    """
    # In one transaction, so that the answers agree.
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other hosts too.
        found = [each for each in session.execute(_closed_of(), {_HOST: host})
                 if each.host == host]
        kept = kept_rows.of_host(session, host, _KEPT)
    heads = dict.fromkeys(each[:3] for each in found)
    closed = [aggregate for aggregate in rows.assemble(
        heads, [(id_, host) for id_, *_ in heads],
        [(each.id, each.key, each.value) for each in found
         if each.key is not None])
        if isolation.is_closed(aggregate.name, aggregate.metadata)]
    return [rows.with_metadata(aggregate, kept) if isolation.is_pcloud(
        aggregate.name, aggregate.metadata) else aggregate
        for aggregate in closed]
