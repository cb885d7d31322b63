# SPDX-License-Identifier: Apache-2.0

"""Flavors of servers."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Sequence

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from nova import objects
import sqlalchemy as sa

from pcloud import exception
from pcloud import names


def visible(
    context: nova_context.RequestContext,
) -> dict[str, objects.Flavor]:
    """Return the flavors that a caller may use (one query).

    An administrator may use all flavors.

    :returns: ``flavor id -> flavor``
    """
    return {flavor.flavorid: flavor
            for flavor in objects.FlavorList.get_all(context)}


def by_ids(
    context: nova_context.RequestContext, flavor_ids: Sequence[str],
) -> list[objects.Flavor]:
    """Return flavors in the order of their ids (one query).

    A flavor is returned as often as the flavor's id is given.

    :raises: `exception.FlavorNotFound` when a flavor does not exist, or the
        caller may not use the flavor
    """
    known = visible(context)
    try:
        return [known[flavor_id] for flavor_id in flavor_ids]
    except KeyError as missing:
        raise exception.FlavorNotFound(flavor=missing.args[0])


def extra_specs(
    context: nova_context.RequestContext,
) -> list[tuple[str, str, str]]:
    """Return Pcloud's extra specs: flavor id, key and value.

    One query.
    """
    row, flavor = models.FlavorExtraSpecs, models.Flavors
    with api_db.context_manager.reader.using(context) as session:
        return [tuple(columns) for columns in session.execute(
            sa.select(flavor.flavorid, row.key, row.value)
            .join(flavor, flavor.id == row.flavor_id)
            .where(row.key.startswith(names.TENANT_PREFIX, autoescape=True))
            .order_by(flavor.flavorid, row.key))]
