# SPDX-License-Identifier: Apache-2.0

"""Read the pools and Pclouds of one host.

Rule: reference-isolation-closed
"""

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import rows
from pcloud import names

# The parameters of a statement that is made once.
_HOST, _NODE_KEY, _OWN_KEY = 'host', 'node_key', 'own_key'
_KEYS = (names.TYPE, names.ID, names.OWNER, names.CPU_RATIO, names.RAM_RATIO)


def _closed_of() -> sa.CompoundSelect:
    """Select aggregates and metadata of `closed_of`, for the host `_HOST`.

    Rows without an id are what the journal keeps, by `_NODE_KEY` and
    `_OWN_KEY`.
    """
    row, member = models.AggregateMetadata, models.AggregateHost
    kept = orm.aliased(row)
    return sa.union_all(sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        member.host, row.key, row.value,
    ).select_from(member).join(
        models.Aggregate, models.Aggregate.id == member.aggregate_id,
    ).outerjoin(row, sa.and_(
        row.aggregate_id == models.Aggregate.id, row.key.in_(_KEYS))
    ).where(member.host == sa.bindparam(_HOST)), sa.select(
        sa.null(), sa.null(), sa.null(), sa.null(), kept.key, kept.value,
    ).where(kept.aggregate_id == kept_rows.journal_id(), kept.key.in_([
        sa.bindparam(name, type_=kept.key.type)
        for name in (_NODE_KEY, _OWN_KEY)])))


def closed_of(
    context: nova_context.RequestContext, host: str,
) -> list[rows.Aggregate]:
    """Return the pools and Pclouds of a host, each with the given host alone.

    One query. Pools and Pclouds count, whole or not. Of metadata there is what
    tells a Pcloud, the Pcloud's owner and ratios, and of a Pcloud the host's
    node and saved ratios.
    """
    keys = {_NODE_KEY: names.node_key(host),
            _OWN_KEY: names.own_ratios_key(host)}
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(_closed_of(), {_HOST: host, **keys}).all()
    # Databases that compare without case find other hosts too.
    kept = {each.key: each.value for each in found
            if each.id is None and each.key in keys.values()}
    there = [each for each in found if each.host == host]
    heads = dict.fromkeys(each[:3] for each in there)
    closed = [aggregate for aggregate in rows.assemble(
        heads, [(id_, host) for id_, *_ in heads],
        [(each.id, each.key, each.value) for each in there
         if each.key is not None])
        if isolation.is_closed(aggregate.name, aggregate.metadata)]
    return [rows.with_metadata(aggregate, kept) if isolation.is_pcloud(
        aggregate.name, aggregate.metadata) else aggregate
        for aggregate in closed]
