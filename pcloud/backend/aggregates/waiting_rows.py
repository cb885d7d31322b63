# SPDX-License-Identifier: Apache-2.0

"""Read whose the entries of waiting lists are.

Rule: reference-waiting-kept
"""

from collections.abc import Collection

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa

from pcloud.backend.aggregates import pcloud_rows
from pcloud import names

_ROW = models.AggregateMetadata


def owners(
    context: nova_context.RequestContext, pcloud_ids: Collection[str],
) -> dict[str, str]:
    """Return the owners of whole Pclouds (one query).

    :returns: ``Pcloud id -> project id``; a Pcloud that is gone has no entry
    """
    aggregate = models.Aggregate
    metadata: dict[str, dict[str, str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for name, key, value in session.execute(sa.select(
                aggregate.name, _ROW.key, _ROW.value).join(
                    _ROW, _ROW.aggregate_id == aggregate.id).where(
                aggregate.name.in_(list(map(names.pcloud, pcloud_ids))),
                _ROW.key.in_([names.TYPE, names.ID, names.OWNER]))):
            metadata.setdefault(name, {})[key] = value
    return {its[names.ID]: its.get(names.OWNER, '')
            for name, its in metadata.items()
            if pcloud_rows.is_whole(name, its)}
