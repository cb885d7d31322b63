# SPDX-License-Identifier: Apache-2.0

"""Which hosts are free: the one answer to whoever offers, counts or takes.

A host is free that is in a pool and in no Pcloud, that has settled, and that
has one node and a compute service that is up and enabled. Lists of host
flavors, metrics, explanations and the choice of a host flavor ask here; an
allocation reads the few hosts that were drawn whole, before the hosts change
hands.

Rule: reference-host-flavors, reference-allocation-choice
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
import re

from nova import context as nova_context

from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import arrivals
from pcloud.backend.cells import computes
from pcloud.backend.cells import host_counts
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud import names
from pcloud.objects import host_resources
from pcloud.rules import forms


@dataclasses.dataclass(frozen=True)
class HostFlavor:
    """A host flavor.

    :ivar units: the units of one host
    :ivar what: what the hosts are
    :ivar available: ``availability zone -> number of free hosts``
    :ivar settling: the number of hosts that settle
    :ivar price: what a host costs an hour, as a decimal text; None without a
        price
    """

    id: str
    description: str
    units: int
    what: host_resources.Description
    available: Mapping[str, int]
    settling: int
    price: str | None = None


@dataclasses.dataclass(frozen=True)
class Supply:
    """The free hosts of a host flavor.

    :ivar has_hosts: whether any host is in the pool, taken or not
    :ivar free: ``availability zone -> free hosts``; a zone without free hosts
        has no entry
    :ivar silent: the availability zones of the hosts that are in silent cells
        and may be free
    """

    flavor: HostFlavor
    has_hosts: bool
    free: Mapping[str, frozenset[str]]
    silent: frozenset[str]

    def free_in(self, zone: str | None) -> frozenset[str]:
        """Return the free hosts in a zone, None for any zone."""
        if zone is None:
            return frozenset().union(*self.free.values())
        return self.free.get(zone, frozenset())


def index(context: nova_context.RequestContext) -> list[Supply]:
    """Return the supplies of all host flavors, in order of the ids.

    The queries of `pool_rows.stock`, `host_counts.take`, `not_settled` and
    `host_resources.of_pools`.
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


def not_settled(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, due.Due]:
    """Return what is due for hosts, but not for hosts that settled by now.

    The next call that wants a settled host finds the host free. Hosts that
    Nova's own calls have put into pools settle like others.

    One query, and the queries of `pool_rows.unregistered`; where hosts settle,
    one query a cell and the queries of `arrivals.awaited` too.

    :returns: ``service host -> what is due``
    """
    dues = {host: entry('', entered) for host, entered
            in pool_rows.unregistered(context, hosts).items()}
    dues |= {host: due.parse(text)
             for host, text in journal.dues(context).items() if host in hosts}
    settling = due.settling(dues)
    waiting = arrivals.awaited(context, settling)
    quiet = settling.keys() - waiting
    used, silent = computes.known_instances(context, quiet)
    settled = {host for host in quiet - silent if not used.get(host)}
    return {host: what for host, what in dues.items() if host not in settled}


def entry(mark: str, entered: datetime.datetime) -> due.Due:
    """Return what is due for a host that Nova's call has put into a pool.

    :param mark: of the change that has the host settle, '' for none
    :param entered: when the host entered the pool, in UTC
    """
    return due.Due(mark, since=int(entered.replace(
        tzinfo=datetime.timezone.utc).timestamp()))


def by_zone(
    hosts: Iterable[str], zones: Mapping[str, str],
) -> dict[str, frozenset[str]]:
    """Return ``availability zone -> hosts``, by name of the zone.

    :param zones: as `pool_rows.Stock`
    """
    return dict(sorted(rows.by_key(
        (zones[host], host) for host in hosts).items()))


def _build(
    context: nova_context.RequestContext, stock: pool_rows.Stock,
) -> list[Supply]:
    counted = host_counts.take(context, stock.hosts)
    dues = not_settled(context, stock.hosts)
    what = host_resources.of_pools(context, {
        pool.metadata[names.FLAVOR_ID]: stock.versions[pool.id]
        for pool in stock.pools if pool.id in stock.versions})
    return [_supply(pool, pool.id in stock.versions, counted, dues,
                    stock.zones, what.get(pool.metadata[names.FLAVOR_ID],
                                          host_resources.NOTHING))
            for pool in stock.pools]


def _supply(
    pool: rows.Aggregate, has_hosts: bool, counted: host_counts.Census,
    dues: Mapping[str, due.Due], zones: Mapping[str, str],
    what: host_resources.Description,
) -> Supply:
    left = pool.hosts.difference(dues)
    free = by_zone(left & counted.serving, zones)
    settling = [host for host in pool.hosts & counted.known & dues.keys()
                if dues[host].empty]
    flavor = HostFlavor(
        id=pool.metadata[names.FLAVOR_ID],
        description=pool.metadata.get(names.DESCRIPTION, ''),
        units=readings.units(pool.metadata) or 0, what=what,
        available={zone: len(hosts) for zone, hosts in free.items()},
        settling=len(settling), price=readings.price(pool.metadata))
    return Supply(flavor, has_hosts, free,
                  frozenset(by_zone(left & counted.silent, zones)))
