# SPDX-License-Identifier: Apache-2.0

"""Put hosts into pools and take hosts out.

Rule: reference-host-flavors
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import rows
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
from pcloud.objects import host_flavors
from pcloud.objects import reconcile

LOG = logging.getLogger(__name__)


def add(
    context: nova_context.RequestContext, flavor_id: str,
    hosts: Sequence[str],
) -> list[host_flavors.PoolHost]:
    """Put hosts into the pool of a host flavor, and enable their services.

    One change puts all hosts into the pool, or none. The service of a host
    has to be disabled before, so that no server lands on the host between the
    check and the moment when the pool keeps servers out. The service is
    enabled when Placement knows of the pool. A host is free when the host has
    settled, because earlier decisions may still bring servers to the host.

    :param hosts: different service hosts
    :raises: of several hosts `exception.Conflict` with the reason for each
        host that cannot be added; of one host `exception.ComputeHostNotFound`,
        `exception.HostNotEmpty`, `exception.HostBusy`, `exception.Conflict`
        for a host with an enabled service, with several nodes, in a pool or in
        a Pcloud, and for a host that settles, `exception.NameTooLong`;
        `exception.HostFlavorNotFound`, `exception.Unavailable`, and as
        `change.run`
    """
    pool = host_flavors.known(context, flavor_id)
    known = computes.load(context, hosts)
    _refuse({host: error for host in hosts
             if (error := _fault(context, host, known.get(host)))})

    def work(written: writes.Rows) -> None:
        host_flavors.touch(written, pool)
        # In one order, so that two changes do not wait for each other.
        for host in sorted(hosts):
            _claim(written, host, due.Due(
                written.mark, provider=known[host].node.uuid, service=due.ON,
                since=int(timeutils.utcnow_ts())))
        _refuse(_taken(context, hosts))
        _forget_maintenances(written, pool, hosts)
        for host in hosts:
            written.join(pool.id, host)

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    reconcile.finish(context, hosts)
    return _entered(context, [known[host] for host in hosts])


def _refuse(faults: Mapping[str, exception.PcloudError]) -> None:
    """Raise the error of one host, or one error with those of several.

    :param faults: ``service host -> why the host cannot be added``
    """
    if len(faults) == 1:
        raise next(iter(faults.values()))
    if faults:
        raise exception.Conflict('No host was added. ' + ' '.join(
            f'{host}: {error}' for host, error in faults.items()))


def _fault(
    context: nova_context.RequestContext, host: str,
    compute: computes.Compute | None,
) -> exception.PcloudError | None:
    """Return why a host cannot be added as things are, None for a good host.

    :raises: `exception.Unavailable`
    """
    try:
        if compute is None:
            raise exception.ComputeHostNotFound(host=host)
        if not compute.answered:
            raise exception.Unavailable()
        _check_names(compute)
        reconcile.finish_or_refuse(context, host)
        # Nobody should disable the service of a host that cannot be added.
        _refuse(_taken(context, [host]))
        if compute.enabled:
            raise exception.Conflict(
                f"The compute service of host '{host}' is enabled; disable it "
                'first, so that nothing is scheduled to it meanwhile.')
        emptiness.check(context, compute, host)
    except exception.Unavailable:
        raise
    except exception.PcloudError as error:
        return error
    return None


def _check_names(compute: computes.Compute) -> None:
    """Make sure that a Pcloud can keep rows of a host.

    :raises: `exception.NameTooLong`
    """
    names.maintenance_key(compute.host)
    names.state_key(compute.node.hypervisor_hostname)


def _entered(
    context: nova_context.RequestContext, there: Sequence[computes.Compute],
) -> list[host_flavors.PoolHost]:
    """Return hosts that have entered a pool, in the hosts' present states.

    The change is committed. When a part of the cloud is away, the hosts are
    returned in the state that the change has written.
    """
    known = {compute.host: compute for compute in there}
    dues = dict.fromkeys(known, due.Due(''))
    try:
        texts = journal.dues(context, known)
        found = computes.load(context, known)
    except outages.ANY as error:
        LOG.warning('Hosts %(hosts)s cannot be looked at: %(error)s',
                    {'hosts': ', '.join(known), 'error': error})
    else:
        known |= {host: compute for host, compute in found.items()
                  if compute.answered}
        dues = {host: due.parse(texts[host])
                for host in known if host in texts}
    return [host_flavors.PoolHost(
        compute, pcloud=None,
        settling=host_flavors.settling_since(dues.get(host)))
        for host, compute in known.items()]


def _claim(written: writes.Rows, host: str, what: due.Due) -> None:
    try:
        written.claim(host, what)
    except exception.KeyTaken:
        raise exception.HostBusy(name=host)


def remove(
    context: nova_context.RequestContext, flavor_id: str, host: str,
) -> None:
    """Take a host out of the pool of a host flavor, with a disabled service.

    Placement keeps the host closed until the service is disabled.

    :raises: `exception.HostFlavorNotFound`, `exception.PoolHostNotFound`,
        `exception.HostNotEmpty`, `exception.HostBusy`, `exception.Conflict`
        for a host in a Pcloud and for a host that settles,
        `exception.Unavailable`, and as `change.run`
    """
    pool = host_flavors.known(context, flavor_id)
    if host not in pool.hosts:
        raise exception.PoolHostNotFound(host=host, host_flavor=flavor_id)
    compute = computes.load(context, [host]).get(host)
    _refuse(_in_pcloud(context, [host]))
    if compute is not None:
        emptiness.check(context, compute, host)
    have_settle(context, flavor_id, [host])
    reconcile.finish_or_refuse(context, host)

    def work(written: writes.Rows) -> None:
        # Without a service nothing can be on the host, nor be disabled.
        _claim(written, host, due.Due(
            written.mark, origin=pool.uuid,
            provider=compute.node.uuid if compute else None,
            service=due.OFF if compute else None))
        if not written.leave(pool.id, [host]):
            raise exception.PoolHostNotFound(
                host=host, host_flavor=flavor_id)
        _refuse(_in_pcloud(context, [host]))
        _forget_maintenances(written, pool, [host])

    change.run(context, [journal.flavor_anchor(flavor_id)], work)
    reconcile.finish(context, [host])


def _forget_maintenances(
    written: writes.Rows, pool: rows.Aggregate, hosts: Iterable[str],
) -> None:
    """Delete the maintenances of hosts that enter or leave a pool.

    When a compute service is deleted, Nova takes its host out and leaves our
    metadata: a host that comes back has no maintenance of before.
    """
    there = written.values(
        pool.id, [names.MAINTENANCE_PREFIX + host for host in hosts])
    # To delete nothing would lock a gap, and hold up other changes.
    if there:
        written.drop(pool.id, there)


def _taken(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, exception.PcloudError]:
    """Return why hosts that are in a pool or in a Pcloud cannot be added."""
    taken: dict[str, exception.PcloudError] = dict(_in_pcloud(context, hosts))
    for pool in pool_rows.of_hosts(context, hosts):
        taken |= {host: exception.Conflict(
            f"Host '{host}' is in the pool "
            f"'{pool.metadata[names.FLAVOR_ID]}' already.")
            for host in pool.hosts}
    return taken


def _in_pcloud(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, exception.Conflict]:
    return {host: exception.Conflict(
        f"Host '{host}' is in a Pcloud; it has to be removed from there "
        'first.') for host in isolation.pclouds_of(context, hosts)}


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
    found = pool_rows.unregistered(context, hosts).keys()
    if not found:
        return
    pool = host_flavors.known(context, flavor_id)

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
