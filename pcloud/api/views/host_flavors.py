# SPDX-License-Identifier: Apache-2.0

"""How a host flavor is shown."""

from collections.abc import Mapping

from pcloud.api.schemas import shown as answers
from pcloud.api.views import maintenance
from pcloud.api.views import times
from pcloud.backend.cells import computes
from pcloud.objects import free_hosts
from pcloud.objects import host_flavors
from pcloud.rules import host_resources

HOST = answers.members({
    'host': answers.TEXT,
    'hypervisor_hostname': answers.TEXT_OR_NULL,
    'availability_zone': answers.TEXT_OR_NULL,
    'pcloud': answers.UUID_OR_NULL,
    'settling': answers.MOMENT_OR_NULL,
    'status': {'type': 'string', 'enum': ['enabled', 'disabled', 'unknown']},
    'state': {'type': 'string', 'enum': ['up', 'down']},
    'vcpus': answers.COUNT_OR_NULL,
    'vcpus_used': answers.COUNT_OR_NULL,
    'memory_mb': answers.COUNT_OR_NULL,
    'memory_mb_used': answers.COUNT_OR_NULL,
}, {
    'fenced': answers.FLAG,
    'maintenance': answers.members(
        {**maintenance.MEMBERS, **maintenance.REASON}),
    'attributes': answers.map_of(answers.TEXT),
})
HOST_FLAVOR = answers.members({
    'id': answers.TEXT,
    'description': answers.TEXT,
    'units': answers.COUNT,
    'vcpus': answers.COUNT_OR_NULL,
    'memory_mb': answers.COUNT_OR_NULL,
    'disk_gb': answers.COUNT_OR_NULL,
    'available': answers.map_of(answers.COUNT),
    'settling': answers.COUNT,
    'resources': answers.or_null(answers.map_of(answers.COUNT)),
    'traits': answers.or_null(answers.list_of(answers.TEXT)),
}, {'price': answers.TEXT, 'hosts': answers.list_of(HOST)})


def show(flavor: free_hosts.HostFlavor) -> dict:
    """Return what everybody sees of a host flavor."""
    return {'id': flavor.id,
            'description': flavor.description,
            'units': flavor.units,
            'vcpus': flavor.what.cpus,
            'memory_mb': flavor.what.memory_mb,
            'disk_gb': flavor.what.disk_gb,
            'available': flavor.available,
            'settling': flavor.settling,
            **({} if flavor.price is None else {'price': flavor.price}),
            **_kind(flavor.what.kind)}


def _kind(kind: host_resources.Kind | None) -> dict:
    """Return what all hosts have, null while unknown."""
    if kind is None:
        return {'resources': None, 'traits': None}
    return {'resources': kind.resources, 'traits': sorted(kind.traits)}


def detail(pool: host_flavors.Pool) -> dict:
    """Return a host flavor with real hosts, for administrators."""
    return {**show(pool.flavor),
            'hosts': [host(pool_host) for pool_host in pool.hosts]}


def with_attributes(
    shown: dict, attributes: Mapping[str, Mapping[str, str]],
) -> dict:
    """Add the attributes that count to each host, for administrators.

    :param attributes: ``service host -> attribute -> value``
    """
    return {**shown, 'hosts': [
        {**each, 'attributes': attributes.get(each['host'], {})}
        for each in shown['hosts']]}


def host(pool_host: host_flavors.PoolHost) -> dict:
    """Return a host of a pool, for administrators.

    The sizes are None while the host's cell does not answer, and for a host
    without exactly one compute node. Only a host with an announced maintenance
    has a member 'maintenance', and only a host that is fenced has 'fenced'.
    """
    compute = pool_host.compute
    node = _node(compute)
    shown: dict = {'host': compute.host,
                   'hypervisor_hostname': _names(compute),
                   'availability_zone': compute.zone,
                   'pcloud': pool_host.pcloud,
                   'settling': times.shown(pool_host.settling),
                   'status': _status(compute),
                   'state': 'up' if compute.up else 'down',
                   'vcpus': node.vcpus,
                   'vcpus_used': node.vcpus_used,
                   'memory_mb': node.memory_mb,
                   'memory_mb_used': node.memory_mb_used}
    if compute.fenced:
        shown['fenced'] = True
    if pool_host.maintenance is not None:
        shown['maintenance'] = maintenance.show(pool_host.maintenance)
    return shown


def _node(compute: computes.Compute) -> computes.Node | computes.UnknownNode:
    if len(compute.nodes) == 1:
        return compute.nodes[0]
    return computes.UnknownNode(compute.host)


def _names(compute: computes.Compute) -> str | None:
    if not compute.answered:
        return None
    return ','.join(node.hypervisor_hostname for node in compute.nodes)


def _status(compute: computes.Compute) -> str:
    """Return the status of the compute service, 'unknown' in a down cell."""
    if not compute.answered:
        return 'unknown'
    return 'enabled' if compute.enabled else 'disabled'
