# SPDX-License-Identifier: Apache-2.0

"""Read the availability zones of hosts from the hosts' aggregates."""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import functools

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_config import cfg
import sqlalchemy as sa

from pcloud import exception

CONF = cfg.CONF

_ZONE = models.AggregateMetadata
_IS_ZONE = _ZONE.key == 'availability_zone'
# The parameter of a statement that is made once.
_HOSTS = 'hosts'


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, str]:
    """Return the availability zones of hosts.

    One query. A host without an entry is in Nova's default zone.

    :returns: ``service host -> availability zone``
    """
    if not hosts:
        return {}
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(
            _select_of_hosts(), {_HOSTS: list(hosts)}).all())


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


# To make the statements takes longer than to use them.
@functools.cache
def _select_of_hosts() -> sa.Select:
    """Select the hosts `_HOSTS` that are in zones, and the zones."""
    member = models.AggregateHost
    return sa.select(member.host, _ZONE.value).join(
        _ZONE, _ZONE.aggregate_id == member.aggregate_id,
    ).where(_IS_ZONE, member.host.in_(
        sa.bindparam(_HOSTS, expanding=True))).order_by(_ZONE.aggregate_id)


@functools.cache
def of_aggregates() -> sa.Select:
    """Select the ids of the aggregates of zones, in order, and the zones."""
    return sa.select(_ZONE.aggregate_id, _ZONE.value).where(
        _IS_ZONE).order_by(_ZONE.aggregate_id)


def grouped(
    hosts: frozenset[str], zones: Iterable[tuple[str, frozenset[str]]],
) -> Mapping[str, frozenset[str]]:
    """Group hosts by availability zones.

    :param zones: a zone and the hosts of an aggregate of the zone, in order of
        the aggregates' ids
    :returns: ``availability zone -> service hosts``, by name of the zone
    """
    zone_of = dict.fromkeys(hosts, CONF.default_availability_zone)
    for zone, there in zones:
        zone_of |= dict.fromkeys(hosts & there, zone)
    found: dict[str, set[str]] = {
        zone: set() for zone in sorted(set(zone_of.values()))}
    for host, zone in zone_of.items():
        found[zone].add(host)
    return {zone: frozenset(there) for zone, there in found.items()}
