# SPDX-License-Identifier: Apache-2.0

"""Sizes and allocation ratios of hosts, as known to the scheduler.

Of a host with dedicated cpus alone nova-compute reports no cpus but in the
host's NUMA topology. A size of 0 is one that nova-compute does not report.

Rule: reference-constraints-sizes
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from fractions import Fraction
import functools
import operator

from nova import objects
from nova.scheduler import host_manager

from pcloud.backend.aggregates import readings
from pcloud import names
from pcloud.rules.placing import constraints
from pcloud.scheduler import host_kinds

_MIB = 1024
# Where a topology keeps what was found of its cpus.
_DEDICATED_MEMO = '_pcloud_dedicated'
_NUMBERS = operator.attrgetter('total_usable_ram_mb', 'total_usable_disk_gb')
# How many hosts' numbers a processor keeps near itself.
_AT_A_TIME = 1024


def columns(
    host_states: Collection[host_manager.HostState],
) -> dict[str, list[int]]:
    """Return ``size -> size of each host``, as `sizes`."""
    _, memory_mb, disk_gb = _numbers(host_states)
    return {constraints.CPU: [*map(_cpus, host_states)],
            constraints.RAM: memory_mb,
            constraints.STORAGE: [each * _MIB for each in disk_gb]}


def _cpus(host_state: host_manager.HostState) -> int:
    """Return the number of a host's cpus, shared and dedicated."""
    return (host_state.vcpus_total or 0) + dedicated_cpus(host_state)


def dedicated_cpus(host_state: host_manager.HostState) -> int:
    """Return the number of a host's cpus that are for pinned servers alone.

    The number is found once for each report of a host, as the host gets
    another topology with each report: for 10,000 hosts of two cells that takes
    2 milliseconds instead of 31.
    """
    topology = host_state.numa_topology
    if topology is None:
        return 0
    found = getattr(topology, _DEDICATED_MEMO, None)
    if found is None:
        # Where neither kind is configured, Nova lists each cpu as both.
        found = sum(len(cell.pcpuset - cell.cpuset) for cell in topology.cells)
        setattr(topology, _DEDICATED_MEMO, found)
    return found


# What nova-scheduler knows of a host, by the names of Placement.
CLASSES: Mapping[str, Callable[[host_manager.HostState], int]] = {
    'VCPU': lambda host_state: host_state.vcpus_total or 0,
    'PCPU': dedicated_cpus,
    'MEMORY_MB': lambda host_state: host_state.total_usable_ram_mb or 0,
    'DISK_GB': lambda host_state: host_state.total_usable_disk_gb or 0}


# An attribute that the code names is read several times as fast as one that is
# read through `operator.attrgetter`.
def _numbers(
    host_states: Collection[host_manager.HostState],
) -> tuple[list[int], list[int], list[int]]:
    """Return shared cpus, MiB of memory and GiB of disk of each host."""
    return ([each.vcpus_total or 0 for each in host_states],
            [each.total_usable_ram_mb or 0 for each in host_states],
            [each.total_usable_disk_gb or 0 for each in host_states])


def are_all_as_large(
    host_states: Sequence[host_manager.HostState],
    minimums: Mapping[str, int | None],
) -> bool:
    """Whether no host is smaller than a request wants, as mostly none is.

    Dedicated cpus are not counted, as most hosts have none: False may be
    wrong, True never is. With thousands of hosts the time goes into fetching
    the hosts' numbers from memory. A processor fetches many at a time where
    little is done between, and has the other numbers of a few hosts still at
    hand.

    :param minimums: ``size -> least size``, as `sizes`
    """
    wanted = {key: least for key, least in minimums.items() if least}
    if not wanted:
        return True
    for start in range(0, len(host_states), _AT_A_TIME):
        smallest = _sizes(*map(min, _numbers(
            host_states[start:start + _AT_A_TIME])))
        if any(smallest[key] < least for key, least in wanted.items()):
            return False
    return True


def grouped(
    host_states: Iterable[host_manager.HostState],
) -> tuple[list[int], list[dict[str, int]]]:
    """Return the kind of each host, and `sizes` of each kind.

    Thousands of hosts have a few sizes.

    :returns: for each host the position of its kind; and the sizes of each
        kind
    """
    of_hosts, different = host_kinds.numbered(map(_kind, host_states))
    return of_hosts, [_sizes(*kind) for kind in different]


def sizes(host_state: host_manager.HostState) -> dict[str, int]:
    """Return the size of a host in cpus and MiB, including what is used."""
    return _sizes(*_kind(host_state))


def _kind(
    host_state: host_manager.HostState,
) -> tuple[int, int | None, int | None]:
    return _cpus(host_state), *_NUMBERS(host_state)


def _sizes(
    cpus: int, memory_mb: int | None, disk_gb: int | None,
) -> dict[str, int]:
    return {constraints.CPU: cpus, constraints.RAM: memory_mb or 0,
            constraints.STORAGE: (disk_gb or 0) * _MIB}


def ratio(host_state: host_manager.HostState, name: str) -> Fraction:
    """Return a ratio of a host: the Pcloud's ratio, if any, before Nova's.

    Nova's host states do not know the ratios of Pclouds.

    :param name: `names.CPU_RATIO` or `names.RAM_RATIO`
    """
    for aggregate in host_state.aggregates:
        if aggregate.metadata.get(names.TYPE) == names.TYPE_PCLOUD:
            its = readings.ratio(aggregate.metadata, name)
            if its is not None:
                return exact(its)
    return exact(getattr(host_state, name) or 1.0)


def estimated_ratios(
    host_states: Collection[host_manager.HostState],
    aggregates: Iterable[objects.Aggregate], name: str,
) -> list[float]:
    """Return `ratio` of each host, as floating point numbers.

    Each aggregate is read once.

    :param aggregates: the different aggregates of the hosts
    """
    own = [value or 1.0
           for value in map(operator.attrgetter(name), host_states)]
    floats = {value: float(exact(value)) for value in set(own)}
    of_pclouds = {
        aggregate: its for aggregate in aggregates
        if aggregate.metadata.get(names.TYPE) == names.TYPE_PCLOUD and
        (its := readings.ratio(aggregate.metadata, name)) is not None}
    if not of_pclouds and len(floats) == 1:
        return [*floats.values()] * len(own)
    if not of_pclouds:
        return [*map(floats.__getitem__, own)]
    return [next((of_pclouds[aggregate] for aggregate in host_state.aggregates
                  if aggregate in of_pclouds), floats[value])
            for host_state, value in zip(host_states, own, strict=True)]


# Hosts have a few ratios, and every request asks for each ratio.
@functools.lru_cache(maxsize=4096)
def exact(value: float) -> Fraction:
    """Return a number as a fraction of its decimal text: 0.1 is a tenth."""
    return Fraction(str(value))
