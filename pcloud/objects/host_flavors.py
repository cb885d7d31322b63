# SPDX-License-Identifier: Apache-2.0

"""Host flavors and the hosts in the pools of host flavors.

Rule: reference-host-flavors
"""

from collections.abc import Collection
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
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import announce
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import outages
from pcloud import exception
from pcloud import names
from pcloud.objects import emptiness
from pcloud.objects import free_hosts
from pcloud.objects import host_resources
from pcloud.objects import reconcile
from pcloud.rules import forms
from pcloud.rules.moving import maintenance_windows

LOG = logging.getLogger(__name__)


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
                        [_pool(context, flavor_id)])
    return pool


def _with_hosts(
    context: nova_context.RequestContext,
    supplies: Sequence[free_hosts.Supply], there: Sequence[rows.Aggregate],
) -> list[Pool]:
    """Return pools with hosts; a pool that is gone by now is left out."""
    found = _hosts(context, there)
    return [Pool(supply.flavor, found[supply.flavor.id])
            for supply in supplies if supply.flavor.id in found]


def _hosts(
    context: nova_context.RequestContext, there: Sequence[rows.Aggregate],
) -> dict[str, tuple[PoolHost, ...]]:
    """Return ``host flavor id -> hosts``, by name."""
    hosts = frozenset().union(*(pool.hosts for pool in there))
    known = computes.load(context, hosts)
    pclouds_of = isolation.pclouds_of(context, hosts)
    dues = free_hosts.not_settled(context, hosts)
    found = {}
    for pool in there:
        kept = names.maintenances(pool.metadata)
        found[pool.metadata[names.FLAVOR_ID]] = tuple(
            PoolHost(known[host], next(iter(pclouds_of.get(host, ())), None),
                     _settling(dues.get(host)),
                     maintenance_windows.of(kept.get(host)))
            for host in sorted(pool.hosts & known.keys()))
    return found


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
    description: str, units: int,
) -> Pool:
    """Define a host flavor, with an empty pool.

    :raises: `exception.Conflict` for an id that exists, and as `change.run`
    """
    uuid, name = uuidutils.generate_uuid(), names.pool(flavor_id)
    metadata = {names.TYPE: names.TYPE_POOL,
                names.FLAVOR_ID: flavor_id,
                names.DESCRIPTION: description,
                names.UNITS: str(units)}

    def work(written: writes.Rows) -> None:
        try:
            written.create(uuid, name, metadata)
        except exception.AggregateNameTaken:
            raise exception.Conflict(
                f"Host flavor '{flavor_id}' exists already.")

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    reconcile.announced(context, [uuid])
    return Pool(free_hosts.HostFlavor(
        flavor_id, description, units, host_resources.NOTHING, available={},
        settling=0), ())


def update(
    context: nova_context.RequestContext, flavor_id: str,
    changes: Mapping[str, typing.Any],
) -> Pool:
    """Change 'description' or 'units' of a host flavor, or both.

    :raises: `exception.HostFlavorNotFound`, and as `change.run`
    """
    # After the commit no error may hide the change.
    before = pool_of(context, flavor_id)
    pool = _pool(context, flavor_id)
    keys = {'description': names.DESCRIPTION, 'units': names.UNITS}

    def work(written: writes.Rows) -> None:
        _touch(written, pool)
        written.set(pool.id, {
            keys[name]: str(value) for name, value in changes.items()})

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    reconcile.announced(context, [pool.uuid])
    return dataclasses.replace(
        before, flavor=dataclasses.replace(before.flavor, **changes))


def delete(context: nova_context.RequestContext, flavor_id: str) -> None:
    """Delete a host flavor.

    :raises: `exception.HostFlavorNotFound`, `exception.Conflict` when the host
        flavor has hosts, `exception.Unavailable` while Placement cannot be
        told that a host has left the pool, and as `change.run`
    """
    pool = _pool(context, flavor_id)
    # Placement keeps such a host closed as long as the pool is known.
    for host in journal.leaving(context, pool.uuid):
        _finish(context, host)

    def work(written: writes.Rows) -> None:
        if journal.leaving(context, pool.uuid) or not written.delete(pool.id):
            raise exception.Conflict(
                f"Host flavor '{flavor_id}' has hosts; remove them from its "
                'pool first.')

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    reconcile.notified(announce.deleted, context, pool)


def _touch(written: writes.Rows, pool: rows.Aggregate) -> None:
    try:
        written.touch(pool.id)
    except exception.AggregateGone:
        raise exception.HostFlavorNotFound(
            host_flavor=pool.metadata[names.FLAVOR_ID])


def add_host(
    context: nova_context.RequestContext, flavor_id: str, host: str,
) -> PoolHost:
    """Put a host into the pool of a host flavor, and enable the service.

    The host's service has to be disabled before, so that no server lands on
    the host between the check and the moment when the pool keeps servers out.
    The service is enabled when Placement knows of the pool. The host is free
    when the host has settled, because earlier decisions may still bring
    servers to the host.

    :raises: `exception.HostFlavorNotFound`, `exception.ComputeHostNotFound`,
        `exception.HostNotEmpty`, `exception.HostBusy`, `exception.Conflict`
        for a host with an enabled service, with several nodes, in a pool or in
        a Pcloud, and for a host that settles; `exception.NameTooLong`,
        `exception.Unavailable`, and as `change.run`
    """
    pool = _pool(context, flavor_id)
    compute = computes.of_host(context, host)
    provider = compute.node.uuid
    _check_names(compute)
    _finish(context, host)
    # Nobody should disable the service of a host that cannot be added.
    _check_in_none(context, host)
    if compute.enabled:
        raise exception.Conflict(
            f"The compute service of host '{host}' is enabled; disable it "
            'first, so that nothing is scheduled to it meanwhile.')
    emptiness.check(context, compute, host)

    def work(written: writes.Rows) -> None:
        _touch(written, pool)
        _claim(written, host, due.Due(
            written.mark, provider=provider, service=due.ON,
            since=int(timeutils.utcnow_ts())))
        _check_in_none(context, host)
        _forget_maintenance(written, pool, host)
        written.join(pool.id, host)

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    reconcile.finish(context, [host])
    return _entered(context, compute)


def _check_names(compute: computes.Compute) -> None:
    """Make sure that a Pcloud can keep rows of a host.

    :raises: `exception.NameTooLong`
    """
    names.node_key(compute.host)
    names.maintenance_key(compute.host)
    names.state_key(compute.node.hypervisor_hostname)
    names.own_ratios_key(compute.node.hypervisor_hostname)


def _entered(
    context: nova_context.RequestContext, compute: computes.Compute,
) -> PoolHost:
    """Return a host that has entered a pool, in the host's present state.

    The change is committed. When a part of the cloud is away, the host is
    returned in the state that the change has written.
    """
    try:
        text = journal.dues(context, [compute.host]).get(compute.host)
        what = due.parse(text) if text else None
        compute = computes.of_host(context, compute.host)
    except outages.ANY as error:
        LOG.warning('Host %(host)s cannot be looked at: %(error)s',
                    {'host': compute.host, 'error': error})
        what = due.Due('')
    return PoolHost(compute, pcloud=None, settling=_settling(what))


def _claim(written: writes.Rows, host: str, what: due.Due) -> None:
    try:
        written.claim(host, what)
    except exception.KeyTaken:
        raise exception.HostBusy(name=host)


def _finish(context: nova_context.RequestContext, host: str) -> None:
    """Do what is due for a host before the host changes hands again.

    :raises: `exception.Conflict` for a host that settles, `exception.HostBusy`
        when something else stays due, `exception.Unavailable`
    """
    if reconcile.host(context, host):
        return
    what = due.parse(journal.dues(context, [host]).get(host, ''))
    if what.only_settles:
        raise exception.Conflict(
            f"Host '{host}' is settling: a server that was asked for before "
            'the host changed hands may still land on it, or has. Repeat the '
            'request later.')
    raise exception.HostBusy(name=host)


def remove_host(
    context: nova_context.RequestContext, flavor_id: str, host: str,
) -> None:
    """Take a host out of the pool of a host flavor, with a disabled service.

    Placement keeps the host closed until the service is disabled.

    :raises: `exception.HostFlavorNotFound`, `exception.PoolHostNotFound`,
        `exception.HostNotEmpty`, `exception.HostBusy`, `exception.Conflict`
        for a host in a Pcloud and for a host that settles,
        `exception.Unavailable`, and as `change.run`
    """
    pool = _pool(context, flavor_id)
    if host not in pool.hosts:
        raise exception.PoolHostNotFound(host=host, host_flavor=flavor_id)
    compute = computes.load(context, [host]).get(host)
    _check_in_no_pcloud(context, host)
    if compute is not None:
        emptiness.check(context, compute, host)
    have_settle(context, flavor_id, [host])
    _finish(context, host)

    def work(written: writes.Rows) -> None:
        # Without a service nothing can be on the host, nor be disabled.
        _claim(written, host, due.Due(
            written.mark, origin=pool.uuid,
            provider=compute.node.uuid if compute else None,
            service=due.OFF if compute else None))
        if not written.leave(pool.id, [host]):
            raise exception.PoolHostNotFound(
                host=host, host_flavor=flavor_id)
        _check_in_no_pcloud(context, host)
        _forget_maintenance(written, pool, host)

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    reconcile.finish(context, [host])


def _forget_maintenance(
    written: writes.Rows, pool: rows.Aggregate, host: str,
) -> None:
    """Delete the maintenance of a host that enters or leaves a pool.

    When a compute service is deleted, Nova takes its host out and leaves our
    metadata: a host that comes back has no maintenance of before.
    """
    key = names.MAINTENANCE_PREFIX + host
    # To delete nothing would lock a gap, and hold up other changes.
    if written.values(pool.id, [key]):
        written.drop(pool.id, [key])


def _check_in_none(
    context: nova_context.RequestContext, host: str,
) -> None:
    """Refuse a host that is in a pool or in a Pcloud."""
    for pool in pool_rows.of_hosts(context, [host]):
        raise exception.Conflict(
            f"Host '{host}' is in the pool "
            f"'{pool.metadata[names.FLAVOR_ID]}' already.")
    _check_in_no_pcloud(context, host)


def _check_in_no_pcloud(
    context: nova_context.RequestContext, host: str,
) -> None:
    if isolation.pclouds_of(context, [host]):
        raise exception.Conflict(
            f"Host '{host}' is in a Pcloud; it has to be removed from there "
            'first.')


def _pool(
    context: nova_context.RequestContext, flavor_id: str,
) -> rows.Aggregate:
    pool = None
    if re.fullmatch(forms.HOST_FLAVOR_ID, flavor_id):
        pool = pool_rows.find(context, flavor_id)
    if pool is None:
        raise exception.HostFlavorNotFound(host_flavor=flavor_id)
    return pool


def have_settle(
    context: nova_context.RequestContext, flavor_id: str,
    hosts: Collection[str],
) -> None:
    """Have hosts of a pool settle that Nova's own calls have put there.

    Hosts that settle already, and other hosts, are left alone. Where nobody
    has put hosts there by such calls, one query.

    :param hosts: service hosts
    :raises: `exception.HostFlavorNotFound`, and as `change.run`
    """
    found = pool_rows.unregistered(context).keys() & set(hosts)
    if not found:
        return
    pool = _pool(context, flavor_id)

    def work(written: writes.Rows) -> None:
        for host in sorted(found):
            entered = written.register(pool.id, host)
            if entered is not None:
                _claim(written, host, free_hosts.entry(written.mark, entered))

    try:
        change.run(context, [journal.flavor_anchor(flavor_id)], work)
    except exception.HostBusy:
        # Another change has a host; whoever looks next has all settle.
        LOG.info('Hosts of pool %s could not be registered.', flavor_id)


def _settling(what: due.Due | None) -> datetime.datetime | None:
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
    found = _hosts(context, pool_rows.of_hosts(context, [host]))
    for there in found.get(flavor_id, ()):
        return there
    units(context, flavor_id)
    raise exception.PoolHostNotFound(host=host, host_flavor=flavor_id)
