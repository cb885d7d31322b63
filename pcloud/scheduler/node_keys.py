# SPDX-License-Identifier: Apache-2.0

"""Node keys of the hosts that a request may have.

Node keys come from the metadata of the hosts' aggregates, or are computed.

Rule: reference-placement-keys-nodes
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import MutableMapping
from collections.abc import Sequence
from fractions import Fraction
import weakref

from nova import objects
from nova.scheduler import host_manager

from pcloud import names
from pcloud.objects.placing import affinity_keys
from pcloud.rules.placing import affinity
from pcloud.scheduler import host_attributes
from pcloud.scheduler import host_capacity

_PERCENT = 100
_PREFIXES = (names.NODE_KEY_PREFIX, names.STICKY_PREFIX)
_LOAD_MEMO = '_pcloud_load'
_read_before: MutableMapping[
    objects.Aggregate, tuple[Mapping[str, str], tuple[str, ...]],
] = weakref.WeakKeyDictionary()
_values_before: MutableMapping[
    objects.Aggregate, tuple[Mapping[str, str], Mapping[str, Fraction]],
] = weakref.WeakKeyDictionary()


def grouped(
    host_states: Sequence[host_manager.HostState],
    aggregates: Iterable[objects.Aggregate],
) -> tuple[list[int], list[Mapping[str, Fraction]]]:
    """Return the kind of each host, and the node keys of each kind.

    Computed keys are left out. Thousands of hosts share a few aggregates, so
    each aggregate is read once; hosts are of the same kind when the same
    aggregates give node keys to the hosts.

    :param aggregates: the different aggregates of the hosts
    :returns: for each host the position of its kind; and for each kind its
        keys, by name
    """
    of_hosts, kinds = host_attributes.by_aggregates(
        host_states, _having(aggregates, names.NODE_KEY_PREFIX))
    return of_hosts, [_lowest([*map(_values, kind)]) for kind in kinds]


def _values(aggregate: objects.Aggregate) -> Mapping[str, Fraction]:
    """Return the node keys of an aggregate, read once as in `_prefixes`."""
    metadata = aggregate.metadata
    read, values = _values_before.get(aggregate, (None, {}))
    if read is not metadata:
        values, _ = affinity_keys.of_node([metadata])
        _values_before[aggregate] = metadata, values
    return values


def _lowest(
    mappings: Sequence[Mapping[str, Fraction]],
) -> Mapping[str, Fraction]:
    """Return the keys of several aggregates, as `affinity_keys.of_node`."""
    if len(mappings) == 1:
        return mappings[0]
    lowest: dict[str, Fraction] = {}
    for mapping in mappings:
        for name, value in mapping.items():
            lowest[name] = min(lowest.get(name, value), value)
    return lowest


def has_sticky(host_states: Iterable[host_manager.HostState]) -> bool:
    """Whether any host is in an aggregate with a sticky key."""
    return bool(_having(host_attributes.aggregates(host_states),
                        names.STICKY_PREFIX))


def sticky(
    host_states: Sequence[host_manager.HostState],
) -> dict[str, tuple[affinity.Key, ...]]:
    """Return ``service host -> copies`` that a server would get there.

    Each set of aggregates is read once.
    """
    together = {tuple(host_state.aggregates) for host_state in host_states}
    keys = {aggregates: affinity_keys.sticky(
        aggregate.metadata for aggregate in aggregates)
        for aggregates in together}
    return {host_state.host: keys[tuple(host_state.aggregates)]
            for host_state in host_states}


def _having(
    aggregates: Iterable[objects.Aggregate], prefix: str,
) -> list[objects.Aggregate]:
    """Return the aggregates with a metadata key of a prefix."""
    return [aggregate for aggregate in aggregates
            if prefix in _prefixes(aggregate)]


def _prefixes(aggregate: objects.Aggregate) -> tuple[str, ...]:
    """Return Pcloud's prefixes of the metadata keys of an aggregate.

    The scheduler gets another object, or another mapping in the object, when
    an aggregate changes.
    """
    metadata = aggregate.metadata
    read, prefixes = _read_before.get(aggregate, (None, ()))
    if read is not metadata:
        # A Pcloud has hundreds of keys; one search is faster than as many.
        keys = '\n'.join(['', *metadata])
        prefixes = tuple(
            prefix for prefix in _PREFIXES if f'\n{prefix}' in keys)
        _read_before[aggregate] = metadata, prefixes
    return prefixes


def _ram(host_state: host_manager.HostState) -> Fraction:
    memory = host_state.total_usable_ram_mb or 0
    return affinity.share(
        Fraction(memory - (host_state.free_ram_mb or 0)),
        memory * host_capacity.ratio(host_state, names.RAM_RATIO))


def _cpu(host_state: host_manager.HostState) -> Fraction:
    return affinity.share(
        Fraction(host_state.vcpus_used or 0), (host_state.vcpus_total or 0) *
        host_capacity.ratio(host_state, names.CPU_RATIO) +
        host_capacity.dedicated_cpus(host_state))


def _load(host_state: host_manager.HostState) -> Fraction:
    """Return the load of a host's cpus, where a monitor reports the load."""
    return affinity.share(
        host_capacity.exact(_percent(host_state)), Fraction(_PERCENT))


def _percent(host_state: host_manager.HostState) -> float:
    """Return the load as Nova passes the load on, in per cent."""
    metrics = host_state.metrics
    # Nova's list looks up each of its objects anew.
    for metric in getattr(metrics, 'objects', metrics) or ():
        if metric.name == 'cpu.percent':
            try:
                return metric.value
            except NotImplementedError:
                # The metric has no value, which Nova's objects tell so.
                continue
    return 0


def _quick_percent(host_state: host_manager.HostState) -> float:
    """Return `_percent`, which is found once for each report of a host.

    With each report the host gets another list of metrics, and until then the
    list keeps what was found.
    """
    metrics = host_state.metrics
    found = getattr(metrics, _LOAD_MEMO, None)
    if found is None:
        found = _percent(host_state)
        if isinstance(metrics, objects.MonitorMetricList):
            setattr(metrics, _LOAD_MEMO, found)
    return found


# The keys of a host that are computed.
# Rule: reference-placement-keys-special
COMPUTED = {affinity.RAM: _ram, affinity.CPU: _cpu, affinity.LOAD: _load}


def _estimated_ram(
    host_states: Sequence[host_manager.HostState],
    aggregates: Iterable[objects.Aggregate],
) -> list[float]:
    return [affinity.estimated_share(
        (memory := host_state.total_usable_ram_mb or 0) -
        (host_state.free_ram_mb or 0), memory * ratio)
        for host_state, ratio in zip(
            host_states, host_capacity.estimated_ratios(
                host_states, aggregates, names.RAM_RATIO), strict=True)]


def _estimated_cpu(
    host_states: Sequence[host_manager.HostState],
    aggregates: Iterable[objects.Aggregate],
) -> list[float]:
    return [affinity.estimated_share(
        host_state.vcpus_used or 0, (host_state.vcpus_total or 0) * ratio +
        host_capacity.dedicated_cpus(host_state))
        for host_state, ratio in zip(
            host_states, host_capacity.estimated_ratios(
                host_states, aggregates, names.CPU_RATIO), strict=True)]


def _estimated_load(
    host_states: Sequence[host_manager.HostState],
    _aggregates: Iterable[objects.Aggregate],
) -> list[float]:
    return [affinity.estimated_share(percent, _PERCENT)
            for percent in map(_quick_percent, host_states)]


# The same keys of all hosts, estimated for `affinity.estimated_scores`.
ESTIMATED = {affinity.RAM: _estimated_ram, affinity.CPU: _estimated_cpu,
             affinity.LOAD: _estimated_load}
