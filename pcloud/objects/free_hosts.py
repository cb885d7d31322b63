# SPDX-License-Identifier: Apache-2.0

"""How many hosts of each host flavor are free, and which.

The costs grow little with the number of hosts: no host is read as a row.
`host_flavors.pools` reads every host of the pools, and agrees.

Rule: reference-host-flavors
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import re

from nova import context as nova_context

from pcloud.backend.aggregates import availability_zones
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import host_counts
from pcloud.backend.changes import due
from pcloud import exception
from pcloud import names
from pcloud.objects import host_flavors
from pcloud.objects import host_resources
from pcloud.rules import forms


@dataclasses.dataclass(frozen=True)
class Supply:
    """The free hosts of a host flavor.

    :ivar hosts: the service hosts of the pool that are known
    :ivar free: ``availability zone -> free hosts``; a zone without free hosts
        has no entry
    :ivar silent: the availability zones of the hosts that are in silent cells
        and may be free
    """

    flavor: host_flavors.HostFlavor
    hosts: frozenset[str]
    free: Mapping[str, frozenset[str]]
    silent: frozenset[str]

    def free_in(self, zone: str | None) -> frozenset[str]:
        """Return the free hosts in a zone, None for any zone."""
        if zone is None:
            return frozenset().union(*self.free.values())
        return self.free.get(zone, frozenset())


def index(context: nova_context.RequestContext) -> list[Supply]:
    """Return the supplies of all host flavors, in order of the ids.

    The queries of `pool_rows.stock`, `host_counts.take` and
    `host_flavors.not_settled`.
    """
    return _build(context, pool_rows.stock(context))


def show(context: nova_context.RequestContext, flavor_id: str) -> Supply:
    """Return the supply of one host flavor, with the queries of `index`.

    :raises: `exception.HostFlavorNotFound`
    """
    if re.fullmatch(forms.HOST_FLAVOR_ID, flavor_id):
        for supply in _build(context, pool_rows.stock_of(context, flavor_id)):
            return supply
    raise exception.HostFlavorNotFound(host_flavor=flavor_id)


def with_kinds(
    context: nova_context.RequestContext, there: Iterable[Supply],
) -> list[Supply]:
    """Add what the hosts of pools are, read by `host_resources.of_pools`."""
    there = list(there)
    found = host_resources.of_pools(
        context, {supply.flavor.id: supply.hosts for supply in there})
    return [dataclasses.replace(supply, flavor=host_flavors.of_kind(
        supply.flavor, found[supply.flavor.id])) for supply in there]


def _build(
    context: nova_context.RequestContext, stock: pool_rows.Stock,
) -> list[Supply]:
    hosts = stock.hosts
    counted = host_counts.take(context, hosts, stock.unallocated)
    dues = host_flavors.not_settled(context, hosts)
    # Whoever may have the hosts that are left, no Pcloud has.
    left = _Left(counted.serving.difference(dues),
                 (counted.silent - stock.taken).difference(dues))
    return [_supply(pool, stock.zones, counted, left, dues)
            for pool in stock.pools]


@dataclasses.dataclass(frozen=True)
class _Left:
    """The hosts in no Pcloud for which nothing is due.

    :ivar free: the hosts that serve
    :ivar silent: the hosts in silent cells
    """

    free: frozenset[str]
    silent: frozenset[str]


def _supply(
    pool: rows.Aggregate, zones: Sequence[tuple[str, frozenset[str]]],
    counted: host_counts.Census, left: _Left, dues: Mapping[str, due.Due],
) -> Supply:
    free = availability_zones.grouped(pool.hosts & left.free, zones)
    vcpus, memory_mb, disk_gb = counted.smallest(pool.hosts)
    flavor = host_flavors.HostFlavor(
        id=pool.metadata[names.FLAVOR_ID],
        description=pool.metadata.get(names.DESCRIPTION, ''),
        units=readings.units(pool.metadata) or 0,
        vcpus=vcpus, memory_mb=memory_mb, disk_gb=disk_gb,
        available={zone: len(there) for zone, there in free.items()},
        settling=sum(dues[host].empty for host
                     in pool.hosts.intersection(dues) - counted.unknown),
        kind=None)
    return Supply(
        flavor, counted.known(pool.hosts), free,
        frozenset(availability_zones.grouped(
            pool.hosts & left.silent, zones)))
