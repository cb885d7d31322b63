# SPDX-License-Identifier: Apache-2.0

"""Virt drivers for tests."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import json
import random
import threading
import time

from nova import objects
from nova.virt import fake


class RenamingDriver(fake.MediumFakeDriver):
    """A fake hypervisor whose name differs from the service host's name.

    On many clouds ``aggregate_hosts.host`` and ``hypervisor_hostname``
    differ. Code that confuses the two names works only on clouds where the
    names are equal.
    """

    def _set_nodes(self, nodes):
        super()._set_nodes([f'{node}.hv.example.org' for node in nodes])


class SizedDriver(RenamingDriver):
    """Hosts of different sizes: cpus, MiB of memory, GiB of disk."""

    sizes = {'node-1': (2, 2048, 100), 'node-2': (4, 4096, 100),
             'node-3': (8, 6144, 100), 'node-4': (4, 8192, 200),
             'node-5': (4, 8192, 200)}

    def init_host(self, host):
        self.resources = fake.Resources(*self.sizes[host])
        super().init_host(host)


class KindsDriver(RenamingDriver):
    """Hosts that do not report each size, as other hypervisors have them.

    ============  ========================================================
    host          reports
    ============  ========================================================
    ``pinned``    no cpus but four dedicated cpus, as libvirt with ``[compute]
                  cpu_dedicated_set`` alone
    ``bare``      no size but a resource class of its own, as Ironic
    ``volumes``   2 GiB of disk, where servers boot from volumes
    ============  ========================================================
    """

    sizes = {'pinned': (0, 8192, 100), 'bare': (0, 0, 0),
             'volumes': (8, 8192, 2)}

    def init_host(self, host):
        self.resources = fake.Resources(*self.sizes[host])
        (self.vcpus, self.memory_mb, self.local_gb) = self.sizes[host]
        self._host = host
        super().init_host(host)

    def get_available_resource(self, nodename):
        found = super().get_available_resource(nodename)
        if self._host == 'pinned':
            found['numa_topology'] = _pinned_topology()._to_json()
        return found

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        super().update_provider_tree(provider_tree, nodename, allocations)
        inventory = {name: its for name, its in provider_tree.data(
            nodename).inventory.items() if its['total']}
        its_own = {'pinned': ('PCPU', 4), 'bare': ('CUSTOM_BAREMETAL', 1)}
        if self._host in its_own:
            name, total = its_own[self._host]
            inventory[name] = {
                'total': total, 'min_unit': 1, 'max_unit': total,
                'step_size': 1, 'allocation_ratio': 1.0, 'reserved': 0}
        provider_tree.update_inventory(nodename, inventory)


def _pinned_topology() -> objects.NUMATopology:
    return objects.NUMATopology(cells=[objects.NUMACell(
        id=0, cpuset=set(), pcpuset={0, 1, 2, 3}, memory=8192, cpu_usage=0,
        memory_usage=0, siblings=[{cpu} for cpu in range(4)],
        pinned_cpus=set(), socket=0, mempages=[objects.NUMAPagesTopology(
            size_kb=4, total=2097152, used=0)],
        network_metadata=objects.NetworkMetadata(
            physnets=set(), tunneled=False))])


class PartsDriver(RenamingDriver):
    """Hosts with parts, as libvirt reports them.

    Each host has two NUMA cells, each with two cpus that servers share, with
    dedicated cpus in pairs of threads, 4 GiB of memory, of which 1 GiB is in
    huge pages, and GPUs that are passed through; and providers of virtual
    GPUs.

    :cvar cells: ``host -> pairs of threads in each cell``
    :cvar devices: ``host -> GPUs in each cell``
    :cvar virtual: ``host -> virtual GPUs of each provider``
    """

    cells: dict[str, tuple[int, ...]] = {}
    devices: dict[str, tuple[int, ...]] = {}
    virtual: dict[str, tuple[int, ...]] = {}

    vcpus, memory_mb, local_gb = 4, 8192, 1000

    def init_host(self, host):
        self.resources = fake.Resources(
            self.vcpus, self.memory_mb, self.local_gb)
        super().init_host(host)

    def get_available_resource(self, nodename):
        found = super().get_available_resource(nodename)
        found['numa_topology'] = objects.NUMATopology(cells=[
            _cell(number, pairs) for number, pairs
            in enumerate(self.cells[self._host])])._to_json()
        found['pci_passthrough_devices'] = json.dumps([
            _device(cell, number)
            for cell, its in enumerate(self.devices[self._host])
            for number in range(its)])
        return found

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        super().update_provider_tree(provider_tree, nodename, allocations)
        provider_tree.update_inventory(nodename, {
            **provider_tree.data(nodename).inventory,
            'PCPU': _inventory(2 * sum(self.cells[self._host]))})
        provider_tree.add_traits(nodename, 'HW_CPU_HYPERTHREADING')
        for number, total in enumerate(self.virtual[self._host]):
            name = f'{nodename}_gpu{number}'
            if not provider_tree.exists(name):
                provider_tree.new_child(name, nodename)
            provider_tree.update_inventory(name, {'VGPU': _inventory(total)})
            provider_tree.update_traits(
                name, ['CUSTOM_LARGE'] if number == 0 else [])


def _inventory(total: int) -> dict:
    return {'total': total, 'min_unit': 1, 'max_unit': total, 'step_size': 1,
            'allocation_ratio': 1.0, 'reserved': 0}


def _cell(number: int, pairs: int) -> objects.NUMACell:
    """Return a cell whose cpus have numbers that no other cell has."""
    first = 100 * number
    shared = {first, first + 1}
    threads = [{first + 2 * pair, first + 2 * pair + 1}
               for pair in range(1, pairs + 1)]
    return objects.NUMACell(
        id=number, cpuset=shared, pcpuset=set().union(*threads), memory=4096,
        cpu_usage=0, memory_usage=0, siblings=[shared, *threads],
        pinned_cpus=set(), socket=number, mempages=[
            objects.NUMAPagesTopology(size_kb=4, total=786432, used=0),
            objects.NUMAPagesTopology(size_kb=2048, total=512, used=0)],
        network_metadata=objects.NetworkMetadata(
            physnets=set(), tunneled=False))


def _device(cell: int, number: int) -> dict:
    return {'address': f'0000:{cell + 1:02x}:{number:02x}.0',
            'product_id': '1db4', 'vendor_id': '10de', 'status': 'available',
            'dev_type': 'type-PCI', 'parent_addr': None, 'numa_node': cell,
            'label': 'label_10de_1db4'}


class Gate:
    """A gate at which builds and resizes wait, and may fail afterwards.

    :ivar waiting: the service hosts of builds and resizes that wait or have
        waited
    :ivar failures: number of builds and resizes that are going to fail
    """

    def __init__(self) -> None:
        self._opened = threading.Event()
        self._lock = threading.Lock()
        self.open()
        self.waiting: list[str] = []
        self.failures = 0

    def close(self, failures: int) -> None:
        """Let all later builds and resizes wait.

        :param failures: number of builds and resizes that are to fail
        """
        self.waiting, self.failures = [], failures
        self._opened.clear()

    def open(self) -> None:
        """Let all builds and resizes go on."""
        self._opened.set()

    def pass_through(self, host: str) -> None:
        """Wait until the gate is open.

        :raises: `RuntimeError` when the build or resize is to fail
        """
        with self._lock:
            self.waiting.append(host)
        self._opened.wait()
        with self._lock:
            self.failures -= 1
            if self.failures >= 0:
                raise RuntimeError('It fails late.')


class HeldDriver(RenamingDriver):
    """Builds and resizes wait at a gate."""

    gate = Gate()

    def spawn(self, *args, **kwargs):
        self.gate.pass_through(self._host)
        return super().spawn(*args, **kwargs)

    def migrate_disk_and_power_off(self, *args, **kwargs):
        self.gate.pass_through(self._host)
        return super().migrate_disk_and_power_off(*args, **kwargs)


class LateDriver(RenamingDriver):
    """Builds and resizes are slow, and many builds and resizes fail late.

    :cvar failed: the service hosts of builds and resizes that have failed
    :cvar failing: the probability of a failure
    """

    failed: list[str] = []
    failing = 0.3

    def spawn(self, *args, **kwargs):
        self._be_late()
        return super().spawn(*args, **kwargs)

    def migrate_disk_and_power_off(self, *args, **kwargs):
        self._be_late()
        return super().migrate_disk_and_power_off(*args, **kwargs)

    def _be_late(self) -> None:
        time.sleep(random.uniform(0, 1))
        if random.random() < self.failing:
            self.failed.append(self._host)
            raise RuntimeError('It fails late.')
