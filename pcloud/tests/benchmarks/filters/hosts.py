# SPDX-License-Identifier: Apache-2.0

"""Host states, as in nova-scheduler."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import datetime
import random

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from oslo_serialization import jsonutils

from pcloud.tests.benchmarks.filters import cloud as clouds

_VCPUS, _CPU_RATIO, _MEMORY_MB, _DISK_GB, _DISKS = 64, 4, 262144, 2000, 50
# Of Nova's monitor ``cpu.virt_driver``, which has them in no certain order.
_METRICS = (
    'cpu.frequency', 'cpu.idle.percent', 'cpu.idle.time',
    'cpu.iowait.percent', 'cpu.iowait.time', 'cpu.kernel.percent',
    'cpu.kernel.time', 'cpu.percent', 'cpu.user.percent', 'cpu.user.time')
# Nova keeps values in columns of this many characters.
_VALUE = 255


def in_pclouds(
    cloud: clouds.Cloud, cell: objects.CellMapping,
) -> list[host_manager.HostState]:
    """Return all hosts, with the aggregates from the database."""
    return _hosts(cloud, cell, objects.AggregateList.get_all(
        nova_context.get_admin_context()))


def in_zones(
    cloud: clouds.Cloud, cell: objects.CellMapping,
) -> list[host_manager.HostState]:
    """Return all hosts, in no aggregate but that of the zone."""
    return _hosts(cloud, cell, _zones(cloud))


def for_multi_tenancy(
    cloud: clouds.Cloud, cell: objects.CellMapping,
) -> list[host_manager.HostState]:
    """Return all hosts, for `AggregateMultiTenancyIsolation`.

    An aggregate with the same tenants replaces each Pcloud. The tenants are in
    the smallest possible number of metadata rows.
    """
    return _hosts(cloud, cell, [*_zones(cloud), *(
        _aggregate(f'tenants-{pcloud.id}', pcloud.hosts, _packed(
            pcloud.tenants)) for pcloud in cloud.pclouds)])


def for_blazar(
    cloud: clouds.Cloud, cell: objects.CellMapping,
) -> list[host_manager.HostState]:
    """Return all hosts, for `BlazarFilter`.

    A reservation replaces each Pcloud, and pooled hosts in no Pcloud are in
    the freepool.
    """
    reserved = {host for pcloud in cloud.pclouds for host in pcloud.hosts}
    free = [host for pool in cloud.pools for host in pool
            if host not in reserved]
    return _hosts(cloud, cell, [
        *_zones(cloud, {host for pool in cloud.pools for host in pool}),
        _aggregate('freepool', free, {}),
        *(_aggregate(pcloud.id, pcloud.hosts, {
            'availability_zone': f'blazar_{pcloud.id}',
            'blazar:owner': pcloud.tenants[0],
            **dict.fromkeys(pcloud.tenants[1:], 'blazar:tenant')})
          for pcloud in cloud.pclouds)])


def _zones(
    cloud: clouds.Cloud, without: Iterable[clouds.Host] = (),
) -> list[objects.Aggregate]:
    return [_aggregate(
        f'zone-{number}', [host for host in zone if host not in without],
        {'availability_zone': f'az{number}'})
        for number, zone in enumerate(cloud.zones)]


def _packed(tenants: Iterable[str]) -> dict[str, str]:
    values = ['']
    for each in tenants:
        longer = f'{values[-1]},{each}'.lstrip(',')
        if len(longer) > _VALUE:
            values.append(each)
        else:
            values[-1] = longer
    return {f'filter_tenant_id{number}': value
            for number, value in enumerate(values)}


def _aggregate(
    name: str, hosts: Iterable[clouds.Host], metadata: Mapping[str, str],
) -> objects.Aggregate:
    return objects.Aggregate(
        name=name, hosts=[host.name for host in hosts],
        metadata=dict(metadata))


def _hosts(
    cloud: clouds.Cloud, cell: objects.CellMapping,
    aggregates: Iterable[objects.Aggregate],
) -> list[host_manager.HostState]:
    """Return hosts that share aggregate objects, as in `HostManager`."""
    its: dict[str, list[objects.Aggregate]] = {
        host.name: [] for host in cloud.hosts}
    for aggregate in aggregates:
        for host in aggregate.hosts:
            its[host].append(aggregate)
    return [_host(number, host, cell, its[host.name])
            for number, host in enumerate(cloud.hosts)]


def _host(
    number: int, host: clouds.Host, cell: objects.CellMapping,
    aggregates: list[objects.Aggregate],
) -> host_manager.HostState:
    """Return a host that differs from all others, in use and in memory."""
    state = host_manager.HostState(host.name, host.node, cell.uuid)
    memory, used = _MEMORY_MB - number, number * 7 % _MEMORY_MB
    disk, cpus = _DISK_GB + number % _DISKS, number % (_VCPUS * _CPU_RATIO)
    state.update(
        compute=objects.ComputeNode(
            uuid=host.server, host=host.name, hypervisor_hostname=host.node,
            vcpus=_VCPUS, vcpus_used=cpus, memory_mb=memory,
            memory_mb_used=used, free_ram_mb=memory - used, local_gb=disk,
            local_gb_used=cpus, free_disk_gb=disk - cpus,
            disk_available_least=None, numa_topology=None,
            pci_device_pools=None, host_ip=None, hypervisor_type='QEMU',
            hypervisor_version=9000000, cpu_info='', supported_hv_specs=[],
            stats={'num_instances': '1'}, metrics=_metrics(number),
            cpu_allocation_ratio=float(_CPU_RATIO), ram_allocation_ratio=1.0,
            disk_allocation_ratio=1.0,
            updated_at=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)),
        aggregates=aggregates, inst_dict={})
    return state


def _metrics(number: int) -> str:
    """Return the metrics of Nova's monitor of cpus, in a host's own order."""
    names = random.Random(number).sample(_METRICS, len(_METRICS))
    return jsonutils.dumps([
        {'name': name, 'timestamp': '2026-01-01T00:00:00.000000',
         'source': 'libvirt.LibvirtDriver',
         'value': (number % 101 / 100 if name.endswith('percent')
                   else number)} for name in names])
