# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""How many hosts of each host flavor are free, and which.

The costs grow little with the number of hosts: no host is read as a row.
`host_flavors.pools` reads every host of the pools, and agrees.

Rule: reference-host-flavors
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context

from pcloud.backend import availability_zones
from pcloud.backend import census
from pcloud.backend import due
from pcloud.backend import pool_rows
from pcloud.backend import readings
from pcloud.backend import rows
from pcloud import exception
from pcloud import names
from pcloud.objects import host_flavors


@dataclasses.dataclass(frozen=True)
class Supply:
    """The free hosts of a host flavor.

    :ivar free: ``availability zone -> free hosts``; a zone without free hosts
        has no entry
    :ivar silent: the availability zones of the hosts that are in silent cells
        and may be free
    """

    flavor: host_flavors.HostFlavor
    free: Mapping[str, frozenset[str]]
    silent: frozenset[str]

    def free_in(self, zone: str | None) -> frozenset[str]:
        """Return the free hosts in a zone, None for any zone."""
        if zone is None:
            return frozenset().union(*self.free.values())
        return self.free.get(zone, frozenset())


def index(context: nova_context.RequestContext) -> list[Supply]:
    """Return the supplies of all host flavors, in order of the ids.

    Seven queries, two queries a cell, and the queries of
    `host_flavors.not_settled`.
    """
    return _build(context, pool_rows.stock(context))


def show(context: nova_context.RequestContext, flavor_id: str) -> Supply:
    """Return the supply of one host flavor, with the queries of `index`.

    :raises: `exception.HostFlavorNotFound`
    """
    if names.FLAVOR_ID_PATTERN.fullmatch(flavor_id):
        for supply in _build(context, pool_rows.stock_of(context, flavor_id)):
            return supply
    raise exception.HostFlavorNotFound(host_flavor=flavor_id)


def _build(
    context: nova_context.RequestContext, stock: pool_rows.Stock,
) -> list[Supply]:
    hosts = frozenset().union(*(pool.hosts for pool in stock.pools))
    counted = census.take(context, hosts)
    dues = host_flavors.not_settled(context, hosts)
    return [_supply(pool, stock, counted, dues) for pool in stock.pools]


def _supply(
    pool: rows.Aggregate, stock: pool_rows.Stock, counted: census.Census,
    dues: Mapping[str, due.Due],
) -> Supply:
    known = pool.hosts & counted.known
    # Whoever may have the hosts that are left, no Pcloud has.
    left = (known - stock.taken).difference(dues)
    free = availability_zones.grouped(left & counted.serving, stock.zones)
    vcpus, memory_mb, disk_gb = _smallest(known, counted.sizes)
    flavor = host_flavors.HostFlavor(
        id=pool.metadata[names.FLAVOR_ID],
        description=pool.metadata.get(names.DESCRIPTION, ''),
        units=readings.units(pool.metadata) or 0,
        vcpus=vcpus, memory_mb=memory_mb, disk_gb=disk_gb,
        available={zone: len(there) for zone, there in free.items()},
        settling=sum(dues[host].empty for host in dues.keys() & known))
    return Supply(flavor, free, frozenset(availability_zones.grouped(
        left & counted.silent, stock.zones)))


def _smallest(
    hosts: Collection[str], sizes: Mapping[str, census.Size],
) -> tuple[int | None, int | None, int | None]:
    """Return the smallest of each number in sizes, None without a size."""
    different = set(map(sizes.get, hosts)) - {None}
    vcpus, memory_mb, disk_gb = zip(*different) if different else ((),) * 3
    return (min(vcpus, default=None), min(memory_mb, default=None),
            min(disk_gb, default=None))
