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

"""Host flavors and the hosts in their pools.

Source: CONTRACT section 3, "Host flavors"; whole-host-allocation, "Host
Flavors".
"""

import collections
import dataclasses

from nova.compute import api as compute_api
from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import excutils

from pcloud.aggregates import computes
from pcloud.aggregates import emptiness
from pcloud.aggregates import names
from pcloud.aggregates import snapshot
from pcloud.aggregates import store
from pcloud import exception
from pcloud.rules import choice

LOG = logging.getLogger(__name__)

_SERVICE = 'nova-compute'


@dataclasses.dataclass(frozen=True)
class PoolHost:
    """A host of a pool.

    :ivar pcloud: the id of the Pcloud it is in, None when it is free
    """

    compute: computes.Compute
    pcloud: str | None


@dataclasses.dataclass(frozen=True)
class HostFlavor:
    """A host flavor with the hosts of its pool.

    :ivar units: what one of its hosts costs
    :ivar vcpus: the smallest among its hosts, None while it has none; so
        are `memory_mb` (MiB) and `disk_gb` (GiB)
    :ivar available: availability zone to the number of free hosts
    :ivar hosts: its hosts, by name
    """

    id: str
    description: str
    units: int
    vcpus: int | None
    memory_mb: int | None
    disk_gb: int | None
    available: dict[str, int]
    hosts: tuple[PoolHost, ...]


def index(context: nova_context.RequestContext) -> list[HostFlavor]:
    """Return all host flavors, in order of their ids."""
    return _build(context, snapshot.pools(context))


def show(
    context: nova_context.RequestContext, flavor_id: str,
) -> HostFlavor:
    """Return one host flavor.

    :raises: `exception.HostFlavorNotFound`
    """
    return _build(context, [_pool(context, flavor_id)])[0]


def units(context: nova_context.RequestContext, flavor_id: str) -> int:
    """Return what a host of a host flavor costs (one query).

    :raises: `exception.HostFlavorNotFound`
    """
    if names.FLAVOR_ID_PATTERN.fullmatch(flavor_id):
        name = names.pool(flavor_id)
        metadata = snapshot.metadata_of(context, [name]).get(name, {})
        if snapshot.is_whole_pool(name, metadata):
            return int(metadata[names.UNITS])
    raise exception.HostFlavorNotFound(host_flavor=flavor_id)


def create(
    context: nova_context.RequestContext, flavor_id: str,
    description: str, units: int,
) -> HostFlavor:
    """Define a host flavor, with an empty pool.

    :raises: `exception.HostFlavorExists`
    """
    metadata = {names.TYPE: names.TYPE_POOL,
                names.FLAVOR_ID: flavor_id,
                names.DESCRIPTION: description,
                names.UNITS: str(units)}
    if not store.create(context, names.pool(flavor_id), metadata):
        raise exception.HostFlavorExists(host_flavor=flavor_id)
    return show(context, flavor_id)


def update(
    context: nova_context.RequestContext, flavor_id: str,
    changes: dict[str, str | int],
) -> HostFlavor:
    """Change 'description' or 'units' of a host flavor, or both.

    :raises: `exception.HostFlavorNotFound`
    """
    pool = _pool(context, flavor_id)
    keys = {'description': names.DESCRIPTION, 'units': names.UNITS}
    store.set_metadata(context, pool.id, {
        keys[name]: str(value) for name, value in changes.items()})
    return show(context, flavor_id)


def delete(context: nova_context.RequestContext, flavor_id: str) -> None:
    """Delete a host flavor.

    :raises: `exception.HostFlavorNotFound`, `exception.HostFlavorInUse`
    """
    pool = _pool(context, flavor_id)
    if pool.hosts or not store.delete(context, pool.id):
        raise exception.HostFlavorInUse(host_flavor=flavor_id)


def add_host(
    context: nova_context.RequestContext, flavor_id: str, host: str,
) -> None:
    """Put a host into the pool of a host flavor, and enable its service.

    Its service has to be disabled until then, so that nobody's server comes
    in between the check and the moment when the pool keeps it out. Both are
    checked again when the host is in the pool: schedulers learn a moment
    later that a service was disabled.

    A crash on the way leaves an empty host in the pool with its service
    disabled, which nobody is given.

    :raises: `exception.HostFlavorNotFound`, `exception.ComputeHostNotFound`,
        `exception.HostHasManyNodes`, `exception.HostServiceEnabled`,
        `exception.HostInPool`, `exception.HostInPcloud`,
        `exception.HostNotEmpty`, `exception.Unavailable`
    """
    pool = _pool(context, flavor_id)
    compute = computes.one(context, host)
    node = compute.node
    if compute.enabled:
        raise exception.HostServiceEnabled(host=host)
    _check_in_no_pool_but(context, host, allowed=None)
    emptiness.check(context, compute, host)
    try:
        store.add_host(context, pool.id, pool.uuid, host,
                       node.hypervisor_hostname)
        _check_in_no_pool_but(context, host, allowed=flavor_id)
        emptiness.check(context, compute, host)
    except exception.HostInAggregate:
        raise exception.HostInPool(host=host, pool=flavor_id)
    except Exception:
        with excutils.save_and_reraise_exception():
            store.let_go(context, pool.id, host)
    _set_service(context, host, disabled=False)


def remove_host(
    context: nova_context.RequestContext, flavor_id: str, host: str,
) -> None:
    """Take a host out of the pool of a host flavor, its service disabled.

    The service is disabled first, so that a crash on the way leaves a host
    that nobody is given. When the host turns out to have been taken or used
    meanwhile, it is put back as it was.

    :raises: `exception.HostFlavorNotFound`, `exception.PoolHostNotFound`,
        `exception.HostInPcloud`, `exception.HostNotEmpty`,
        `exception.Unavailable`
    """
    pool = _pool(context, flavor_id)
    if host not in pool.hosts:
        raise exception.PoolHostNotFound(host=host, host_flavor=flavor_id)
    compute = computes.load(context, [host]).get(host)
    if compute is None:
        # Nova has forgotten the host; nothing can be on it or be disabled.
        store.remove_host(context, pool.id, host)
        return
    _check_removable(context, compute)
    if compute.enabled:
        _set_service(context, host, disabled=True)
    try:
        store.remove_host(context, pool.id, host)
        _check_removable(context, compute)
    except Exception:
        with excutils.save_and_reraise_exception():
            _put_back(context, pool, compute)


def _put_back(
    context: nova_context.RequestContext, pool: snapshot.Aggregate,
    compute: computes.Compute,
) -> None:
    try:
        store.add_host(context, pool.id, pool.uuid, compute.host,
                       compute.node.hypervisor_hostname)
    except exception.HostInAggregate:
        LOG.debug('Host %s had not left the pool.', compute.host)
    if compute.enabled:
        _set_service(context, compute.host, disabled=False)


def _check_removable(
    context: nova_context.RequestContext, compute: computes.Compute,
) -> None:
    if snapshot.pclouds_of(context, [compute.host]):
        raise exception.HostInPcloud(host=compute.host)
    emptiness.check(context, compute, compute.host)


def _check_in_no_pool_but(
    context: nova_context.RequestContext, host: str, allowed: str | None,
) -> None:
    for pool in snapshot.pools_of(context, [host]):
        if pool.metadata[names.FLAVOR_ID] != allowed:
            raise exception.HostInPool(
                host=host, pool=pool.metadata[names.FLAVOR_ID])
    if snapshot.pclouds_of(context, [host]):
        raise exception.HostInPcloud(host=host)


def _set_service(
    context: nova_context.RequestContext, host: str, *, disabled: bool,
) -> None:
    reason = 'Pcloud: taken out of a host flavor pool' if disabled else None
    compute_api.HostAPI().service_update_by_host_and_binary(
        context.elevated(), host, _SERVICE,
        {'disabled': disabled, 'disabled_reason': reason})


def _pool(
    context: nova_context.RequestContext, flavor_id: str,
) -> snapshot.Aggregate:
    if not names.FLAVOR_ID_PATTERN.fullmatch(flavor_id):
        raise exception.HostFlavorNotFound(host_flavor=flavor_id)
    for pool in snapshot.pools(context, flavor_id):
        # Databases that compare without case find others too.
        if pool.metadata[names.FLAVOR_ID] == flavor_id:
            return pool
    raise exception.HostFlavorNotFound(host_flavor=flavor_id)


def _build(
    context: nova_context.RequestContext, pools: list[snapshot.Aggregate],
) -> list[HostFlavor]:
    all_hosts = frozenset().union(*(pool.hosts for pool in pools))
    known = computes.load(context, all_hosts)
    pclouds_of = snapshot.pclouds_of(context, all_hosts)
    return [_host_flavor(pool, known, pclouds_of) for pool in pools]


def _host_flavor(
    pool: snapshot.Aggregate, known: dict[str, computes.Compute],
    pclouds_of: dict[str, list[str]],
) -> HostFlavor:
    hosts = tuple(
        PoolHost(known[host], next(iter(pclouds_of.get(host, ())), None))
        for host in sorted(pool.hosts) if host in known)
    nodes = [node for host in hosts for node in host.compute.nodes]
    return HostFlavor(
        id=pool.metadata[names.FLAVOR_ID],
        description=pool.metadata.get(names.DESCRIPTION, ''),
        units=int(pool.metadata[names.UNITS]),
        vcpus=min((node.vcpus for node in nodes), default=None),
        memory_mb=min((node.memory_mb for node in nodes), default=None),
        disk_gb=min((node.disk_gb for node in nodes), default=None),
        available=_available(hosts), hosts=hosts)


def _available(hosts: tuple[PoolHost, ...]) -> dict[str, int]:
    free = collections.Counter(
        host.compute.zone for host in hosts if candidate(host).free)
    return dict(sorted(free.items()))


def free(flavor: HostFlavor, zone: str | None) -> list[PoolHost]:
    """Return the hosts of a flavor that may be given to a Pcloud.

    :param zone: the availability zone they have to be in, None for any
    """
    return [host for host in flavor.hosts
            if candidate(host).free and zone in (None, host.compute.zone)]


def in_zone(zone: str | None) -> str:
    """Return how a message says that only one zone will do."""
    return f" in availability zone '{zone}'" if zone else ''


def candidate(host: PoolHost) -> choice.Candidate:
    """Return what choosing needs to know of a host of a pool."""
    return choice.Candidate(
        host=host.compute.host, zone=host.compute.zone, up=host.compute.up,
        enabled=host.compute.enabled and len(host.compute.nodes) == 1,
        allocated=host.pcloud is not None)
