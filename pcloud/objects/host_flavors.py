# SPDX-License-Identifier: Apache-2.0

"""Host flavors and the hosts in the pools of host flavors.

Rule: reference-host-flavors
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import re
import typing

from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import timeutils
from oslo_utils import uuidutils

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import lists
from pcloud.backend.aggregates import maintenance_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import announce
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import spans
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import free_hosts
from pcloud.objects import host_resources
from pcloud.objects import reconcile
from pcloud.rules import forms
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.usage import ledger

LOG = logging.getLogger(__name__)


_KEYS = {'description': names.DESCRIPTION, 'units': names.UNITS,
         'price': names.PRICE}


@dataclasses.dataclass(frozen=True)
class PoolHost:
    """A host of a pool.

    :ivar pcloud: the id of the host's Pcloud, None for a host in no Pcloud
    :ivar settling: when the host began to settle, in UTC; None for a host that
        does not settle
    :ivar maintenance: the announced maintenance, None without one
    """

    compute: computes.Compute
    pcloud: str | None
    settling: datetime.datetime | None = None
    maintenance: maintenance_windows.Maintenance | None = None


@dataclasses.dataclass(frozen=True)
class Pool:
    """A host flavor with the hosts of the flavor's pool.

    :ivar hosts: the hosts, by name
    """

    flavor: free_hosts.HostFlavor
    hosts: tuple[PoolHost, ...]


def pools(context: nova_context.RequestContext) -> list[Pool]:
    """Return the pools of all host flavors, in order of the ids.

    Every host is read as a row.
    """
    return _with_hosts(context, free_hosts.index(context),
                       pool_rows.index(context))


def pool_of(
    context: nova_context.RequestContext, flavor_id: str,
) -> Pool:
    """Return the pool of one host flavor.

    Every host is read as a row, as by `pools`.

    :raises: `exception.HostFlavorNotFound`
    """
    pool, = _with_hosts(context, [free_hosts.show(context, flavor_id)],
                        [known(context, flavor_id)])
    return pool


def page_of(
    context: nova_context.RequestContext, flavor_id: str, after: str,
    most: int,
) -> Pool:
    """Return the pool of one host flavor with a page of the hosts.

    Only the hosts of the page are read as rows.

    :param after: the name of a host; the page has those after it, '' for the
        first page
    :param most: the number of hosts of a page
    :raises: `exception.HostFlavorNotFound`
    """
    flavor = free_hosts.show(context, flavor_id).flavor
    found = _hosts(context, {flavor_id: lists.pool_hosts(
        context, flavor_id, after, most)})
    return Pool(flavor, found[flavor_id])


def _with_hosts(
    context: nova_context.RequestContext,
    supplies: Sequence[free_hosts.Supply], there: Sequence[rows.Aggregate],
) -> list[Pool]:
    """Return pools with hosts; a pool that is gone by now is left out."""
    found = _hosts(context, _members(there))
    return [Pool(supply.flavor, found[supply.flavor.id])
            for supply in supplies if supply.flavor.id in found]


def _members(pools: Iterable[rows.Aggregate]) -> dict[str, frozenset[str]]:
    """Return ``host flavor id -> service hosts``."""
    return {pool.metadata[names.FLAVOR_ID]: pool.hosts for pool in pools}


def _hosts(
    context: nova_context.RequestContext,
    hosts_of: Mapping[str, frozenset[str]],
) -> dict[str, tuple[PoolHost, ...]]:
    """Return ``host flavor id -> hosts``, by name.

    :param hosts_of: ``host flavor id -> service hosts``
    """
    hosts = frozenset().union(*hosts_of.values())
    known = computes.load(context, hosts)
    pclouds_of = isolation.pclouds_of(context, hosts)
    dues = free_hosts.not_settled(context, hosts)
    kept = {row.host: row.value
            for row in maintenance_rows.maintenances(context)}
    return {
        flavor_id: tuple(
            PoolHost(known[host], next(iter(pclouds_of.get(host, ())), None),
                     settling_since(dues.get(host)),
                     maintenance_windows.of(kept.get(host)))
            for host in sorted(members & known.keys()))
        for flavor_id, members in hosts_of.items()}


def units(context: nova_context.RequestContext, flavor_id: str) -> int:
    """Return the units of a host of a host flavor (one query).

    :raises: `exception.HostFlavorNotFound`
    """
    if re.fullmatch(forms.HOST_FLAVOR_ID, flavor_id):
        name = names.pool(flavor_id)
        metadata = rows.metadata_by_name(context, [name]).get(name, {})
        if pool_rows.is_whole(name, metadata):
            return readings.units(metadata) or 0
    raise exception.HostFlavorNotFound(host_flavor=flavor_id)


def create(
    context: nova_context.RequestContext, flavor_id: str,
    description: str, units: int, price: str | None = None,
) -> Pool:
    """Define a host flavor, with an empty pool.

    :param price: what a host costs an hour, as a decimal text

    :raises: `exception.Conflict` for an id that exists, and as `change.run`
    """
    uuid, name = uuidutils.generate_uuid(), names.pool(flavor_id)
    metadata = {names.TYPE: names.TYPE_POOL,
                names.FLAVOR_ID: flavor_id,
                names.DESCRIPTION: description,
                names.UNITS: str(units),
                **({} if price is None else {names.PRICE: price}),
                **spans.new_rate(flavor_id, ledger.Rate(units, price))}

    def work(written: writes.Rows) -> None:
        try:
            written.create(uuid, name, metadata)
        except exception.AggregateNameTaken:
            raise exception.Conflict(
                f"Host flavor '{flavor_id}' exists already.")

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    return Pool(free_hosts.HostFlavor(
        flavor_id, description, units, host_resources.NOTHING, available={},
        settling=0, price=price), ())


def update(
    context: nova_context.RequestContext, flavor_id: str,
    changes: Mapping[str, typing.Any],
) -> Pool:
    """Change 'description', 'units' or 'price' of a host flavor.

    Units and price count from the moment of the change on, also for hosts that
    are held. A price of None is no price.

    :raises: `exception.HostFlavorNotFound`, and as `change.run`
    """
    # After the commit no error may hide the change.
    before = pool_of(context, flavor_id)
    pool = known(context, flavor_id)

    def work(written: writes.Rows) -> None:
        touch(written, pool)
        written.set(pool.id, {
            _KEYS[name]: None if value is None else str(value)
            for name, value in changes.items()})
        if changes.keys() & {'units', 'price'}:
            now = written.values(pool.id, [names.UNITS, names.PRICE])
            spans.add_rate(written, flavor_id, ledger.Rate(
                readings.units(now) or 0, readings.price(now)))

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    return dataclasses.replace(
        before, flavor=dataclasses.replace(before.flavor, **changes))


def delete(context: nova_context.RequestContext, flavor_id: str) -> None:
    """Delete a host flavor.

    :raises: `exception.HostFlavorNotFound`, `exception.Conflict` when the host
        flavor has hosts, `exception.Unavailable` while Placement cannot be
        told that a host has left the pool, and as `change.run`
    """
    pool = known(context, flavor_id)
    # Placement keeps such a host closed as long as the pool is known.
    for host in journal.leaving(context, pool.uuid):
        reconcile.finish_or_refuse(context, host)

    def work(written: writes.Rows) -> None:
        if journal.leaving(context, pool.uuid) or not written.delete(pool.id):
            raise exception.Conflict(
                f"Host flavor '{flavor_id}' has hosts; remove them from its "
                'pool first.')
        spans.forget_rates(written, flavor_id)

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    reconcile.notified(announce.deleted, context, pool)


def touch(written: writes.Rows, pool: rows.Aggregate) -> None:
    try:
        written.touch(pool.id)
    except exception.AggregateGone:
        raise exception.HostFlavorNotFound(
            host_flavor=pool.metadata[names.FLAVOR_ID])


def known(
    context: nova_context.RequestContext, flavor_id: str,
) -> rows.Aggregate:
    pool = None
    if re.fullmatch(forms.HOST_FLAVOR_ID, flavor_id):
        pool = pool_rows.find(context, flavor_id)
    if pool is None:
        raise exception.HostFlavorNotFound(host_flavor=flavor_id)
    return pool


def settling_since(what: due.Due | None) -> datetime.datetime | None:
    if what is None or not what.empty:
        return None
    # What was written by hand may have no time.
    return timeutils.utcnow() if what.since is None else (
        datetime.datetime.fromtimestamp(what.since, datetime.timezone.utc))


def pool_host(
    context: nova_context.RequestContext, flavor_id: str, host: str,
) -> PoolHost:
    """Return one host of the pool of a host flavor.

    :raises: `exception.HostFlavorNotFound`, `exception.PoolHostNotFound`
    """
    found = _hosts(context, _members(pool_rows.of_hosts(context, [host])))
    for there in found.get(flavor_id, ()):
        return there
    units(context, flavor_id)
    raise exception.PoolHostNotFound(host=host, host_flavor=flavor_id)
