# SPDX-License-Identifier: Apache-2.0

"""How hosts look with more servers on them, as Nova itself would tell.

Nova decides about NUMA cells and devices, so Nova's own functions are asked,
with copies of what the scheduler knows of a host. Hosts that are alike are
asked about once.

Rule: reference-planning-parts
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Sequence
import copy
import dataclasses
import functools
import itertools

from nova import exception as nova_exception
from nova import objects
from nova.pci import stats as pci_stats
from nova.scheduler import host_manager
from nova.virt import hardware

from pcloud.planning import demands
from pcloud.planning.programs import fitting
from pcloud.planning.programs import host_patterns
from pcloud.planning.programs import providers
from pcloud.rules import capacity
from pcloud.rules import coded

# Servers that are tried out on hosts, for all hosts of a question together;
# those that Nova is asked about; and ways to choose providers for a server.
_STEPS, _ASKED, _WAYS = 100_000, 3_000, 100
_PF, _VF = 'type-PF', 'type-VF'


@dataclasses.dataclass(frozen=True)
class Look:
    """How a host looks, with some servers on it.

    :ivar tree: the providers that matter
    :ivar cells: the NUMA cells, None for a host that reports none
    :ivar devices: the PCI devices, None for a host that reports none
    :ivar limits: how much more than they have cells may give
    """

    hosts: Hosts
    tree: providers.Tree
    cells: objects.NUMATopology | None
    devices: pci_stats.PciDeviceStats | None
    limits: tuple[float | None, float | None]

    @functools.cached_property
    def key(self) -> Hashable:
        """Return what is equal for hosts that take the same servers."""
        return (self.tree.key, self.limits, _cells_key(self.cells),
                tuple(sorted(_pool_key(pool) for pool in _pools(self.devices)
                             if pool.get('rp_uuid') not in self.tree.free)))

    def after(self, place: int) -> Sequence[Look]:
        """Return how the host may look after one more server of a kind."""
        return self.hosts.after(self, place)

    def ways(self, demand: demands.Demand) -> list[Look] | None:
        """Return the same as `after`; None where there are too many ways."""
        found: dict[Hashable, Look] = {}
        ways = self.tree.ways(demand.providers)
        for mapping, tree in itertools.islice(ways, _WAYS):
            look = self._with(demand, mapping, tree)
            if look is not None:
                found.setdefault(look.key, look)
        return list(found.values()) if next(ways, None) is None else None

    def _with(
        self, demand: demands.Demand, mapping: dict[str, list[str]],
        tree: providers.Tree,
    ) -> Look | None:
        """Return the host with a server whose providers are chosen."""
        cells, devices, fitted = self.cells, self.devices, None
        # Filters alone keep servers from hosts that report no cells.
        if demand.cells is not None and cells is not None:
            cpu_ratio, ram_ratio = self.limits
            # Nova changes the topology of the server.
            fitted = hardware.numa_fit_instance_to_host(
                cells, demand.cells.obj_clone(), provider_mapping=mapping,
                limits=objects.NUMATopologyLimits(
                    cpu_allocation_ratio=cpu_ratio,
                    ram_allocation_ratio=ram_ratio),
                pci_requests=demand.devices or None, pci_stats=devices)
            if fitted is None:
                return None
            cells = hardware.numa_usage_from_instance_numa(cells, fitted)
        if demand.devices:
            if devices is None:
                return None
            # Nova changes the pools that are left.
            devices = copy.copy(devices)
            devices.pools = [dict(pool) for pool in devices.pools]
            try:
                devices.apply_requests(
                    demand.devices, mapping, fitted and fitted.cells)
            except nova_exception.PciDeviceRequestFailed:
                return None
            tree = _labelled(tree, devices)
        return dataclasses.replace(
            self, tree=tree, cells=cells, devices=devices)


class Hosts:
    """The hosts of a question, for servers that need parts of hosts."""

    def __init__(self, needed: demands.Demands) -> None:
        """Begin with what servers need of the parts of a host."""
        self._needed = needed
        self._known: dict[tuple[Hashable, int], Sequence[Look] | None] = {}
        self._patterns: dict[Hashable, host_patterns.Patterns] = {}
        self._budget = host_patterns.Budget(_STEPS)
        self._left = _ASKED
        self._is_cut = False

    def after(self, look: Look, place: int) -> Sequence[Look]:
        """Return how a host may look after one more server of a kind."""
        pair = look.key, place
        if pair not in self._known:
            self._left -= 1
            self._known[pair] = look.ways(
                self._needed.of[place]) if self._left >= 0 else None
        ways = self._known[pair]
        self._is_cut |= ways is None
        return ways or ()

    def packed(
        self, kinds: Sequence[fitting.ServerKind],
        state: host_manager.HostState,
        found: capacity.Host, host: fitting.TargetHost,
    ) -> fitting.TargetHost:
        """Return a host with the servers that it takes together.

        :param found: what Placement has free on the host
        :param host: the host as far as amounts tell
        """
        if not self._needed.of:
            return host
        return dataclasses.replace(host, patterns=self._patterns_of(
            self._look(state, found), [
                (place, fitting.room(kinds[place], place, host))
                for place in self._needed.of]))

    def unknown_parts(self) -> host_patterns.Patterns | None:
        """Return the answer for a host with unknown parts: nothing."""
        places = tuple(self._needed.of)
        return host_patterns.Patterns(
            places, ((0,) * len(places),), False) if places else None

    def _patterns_of(
        self, look: Look, its: Sequence[tuple[int, int]],
    ) -> host_patterns.Patterns:
        key = look.key, tuple(its)
        if key not in self._patterns:
            self._is_cut = False
            made = host_patterns.explore(look, its, self._budget)
            self._patterns[key] = dataclasses.replace(
                made, is_complete=made.is_complete and not self._is_cut)
        return self._patterns[key]

    def _look(
        self, state: host_manager.HostState, found: capacity.Host,
    ) -> Look:
        able = {provider.uuid: tuple(
            (place, number) for place, demand in self._needed.of.items()
            for number, group in enumerate(demand.providers.groups)
            if provider.uuid in group.able) for provider in found.providers}
        tree = providers.Tree(
            {provider.uuid: {
                name: amount for name, amount in provider.free.items()
                if name in self._needed.classes}
             for provider in found.providers if able[provider.uuid]},
            {uuid: (its, ()) for uuid, its in able.items() if its})
        cells = state.numa_topology if any(
            demand.cells for demand in self._needed.of.values()) else None
        # Nova fills cells without devices first.
        devices = state.pci_stats if cells or any(
            demand.devices for demand in self._needed.of.values()) else None
        return Look(
            self, _labelled(tree, devices), cells, devices,
            (state.cpu_allocation_ratio, state.ram_allocation_ratio)
            if cells else (None, None))

    def doubts(self, state: host_manager.HostState) -> list[coded.Reason]:
        """Return what is not known of the parts of a host.

        A function of a device is not free any more once the device is taken,
        and the other way round, which only the host itself tells.
        """
        kinds = {pool.get('dev_type') for pool in _pools(state.pci_stats)}
        return [coded.Reason('pci_exclusion')] if kinds >= {
            _PF, _VF} and any(
            demand.devices for demand in self._needed.of.values()) else []


def _pools(devices: pci_stats.PciDeviceStats | None) -> list[dict]:
    return devices.pools if devices is not None else []


def _labelled(
    tree: providers.Tree, devices: pci_stats.PciDeviceStats | None,
) -> providers.Tree:
    """Return the tree; of each provider the label has the devices left."""
    its: dict[str, list[str]] = {}
    for pool in _pools(devices):
        if pool.get('rp_uuid') in tree.free:
            its.setdefault(pool['rp_uuid'], []).append(_pool_key(pool))
    return dataclasses.replace(tree, labels={
        uuid: (label[0], tuple(sorted(its.get(uuid, ()))))
        for uuid, label in tree.labels.items()})


def _pool_key(pool: Mapping) -> str:
    return repr(sorted((name, str(value)) for name, value in pool.items()
                       if name not in ('rp_uuid', 'devices')))


def _cells_key(topology: objects.NUMATopology | None) -> Hashable:
    """Return what tells the cells of hosts apart, but for names of cpus."""
    return None if topology is None else tuple((
        cell.id, cell.socket if 'socket' in cell else None,
        cell.memory, cell.memory_usage, cell.cpu_usage, len(cell.cpuset),
        len(cell.pcpuset), len(cell.pinned_cpus),
        tuple(sorted((len(its & cell.pcpuset), len(
            its & cell.pcpuset - cell.pinned_cpus)) for its in cell.siblings)),
        tuple((page.size_kb, page.total, page.used,
               page.reserved if 'reserved' in page else 0)
              for page in cell.mempages)) for cell in topology.cells)
