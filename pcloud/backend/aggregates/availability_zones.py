# SPDX-License-Identifier: Apache-2.0

"""Read the availability zones of hosts from the hosts' aggregates."""

from collections.abc import Collection

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_config import cfg
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud import exception

CONF = cfg.CONF

_ZONE = models.AggregateMetadata
_IS_ZONE = _ZONE.key == 'availability_zone'


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, str]:
    """Return the availability zones of hosts.

    One query. A host without an entry is in Nova's default zone.

    :returns: ``service host -> availability zone``
    """
    if not hosts:
        return {}
    member = models.AggregateHost
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(
            sa.select(member.host, _ZONE.value).join(
                _ZONE, _ZONE.aggregate_id == member.aggregate_id,
            ).where(_IS_ZONE, member.host.in_(hosts)
                    ).order_by(_ZONE.aggregate_id)).all())


def of_aggregates(session: orm.Session) -> dict[int, str]:
    """Return the availability zones of aggregates (one query).

    Of the aggregates of a host the one with the largest id counts, as in
    `of_hosts`. A host in none of the aggregates is in Nova's default zone.

    :returns: ``aggregate id -> availability zone``
    """
    return dict(session.execute(sa.select(
        _ZONE.aggregate_id, _ZONE.value).where(_IS_ZONE)).all())


def check(context: nova_context.RequestContext, zone: str) -> None:
    """Refuse an availability zone of no aggregate that is not Nova's default.

    One query.

    :raises: `exception.NotFound`, with the zones that there are
    """
    with api_db.context_manager.reader.using(context) as session:
        found = session.scalars(
            sa.select(_ZONE.value).where(_IS_ZONE).distinct()).all()
    zones = {*found, CONF.default_availability_zone}
    if zone not in zones:
        raise exception.NotFound(
            f"There is no availability zone '{zone}'; it has to be one of "
            f"{', '.join(sorted(zones))}.")
