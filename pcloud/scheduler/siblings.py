# SPDX-License-Identifier: Apache-2.0

"""Servers of the same request that were placed before.

Nova places the servers of a multi-create one after the other, and changes the
numbers of a host that gets a server. The database knows neither of these
servers.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager

from pcloud import names
from pcloud.scheduler import host_capacity
from pcloud.scheduler import memo
from pcloud.scheduler import request


def are_several(spec: objects.RequestSpec) -> bool:
    """Whether a request is to create several servers."""
    return isinstance(spec, objects.RequestSpec) and (
        request.servers(spec) > 1)


def numbers(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> dict[str, int]:
    """Return the number of servers placed before on each host with some.

    :param host_states: the hosts for the present server; of the first call
        for a request, the hosts for all its servers
    """
    if not are_several(spec):
        return {}
    request_memo = memo.of_request(spec)
    if request_memo.counts is None:
        request_memo.counts = [(host_state, host_state.num_instances)
                               for host_state in host_states]
    return {host_state.host: host_state.num_instances - count
            for host_state, count in request_memo.counts
            if host_state.num_instances > count}


def hosts(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> frozenset[str]:
    """Return the service hosts of the servers placed before, as `numbers`."""
    return frozenset(numbers(spec, host_states))


def full_hosts(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> frozenset[str]:
    """Return the hosts whose cpus or memory servers placed before have filled.

    Placement offers a full host to no server that comes alone. Disk is left
    out: Nova's host states know neither shared storage nor thin images, and a
    host that is full without being known as such is refused by Placement.
    """
    used = hosts(spec, host_states)
    return used and frozenset(
        host_state.host for host_state in host_states
        if host_state.host in used and not _has_room(host_state, spec))


def standings(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
    filters: Collection[str] | None = None,
) -> list[tuple[int, ...]]:
    """Return the place of each host in the order of preferences.

    The lowest hosts are those that filters would keep for a single server.
    Full hosts come last, so that Nova chooses by chance among the hosts that
    are the best of all others.

    :param filters: the filters whose preferences count, None for all filters
    """
    full = full_hosts(spec, host_states)
    levels = [numbers for name, numbers
              in memo.of_request(spec).levels.items()
              if filters is None or name in filters]
    if not full and not levels:
        return [(0,)] * len(host_states)
    return [(int(host_state.host in full),
             *(numbers.get(host_state.host, 0) for numbers in levels))
            for host_state in host_states]


def turn(spec: objects.RequestSpec, filter_: str) -> memo.MultiCreate:
    """Return what a filter remembers of a request for several servers.

    :param filter_: the filter's name
    """
    request_memo = memo.of_request(spec)
    if filter_ not in request_memo.turns:
        request_memo.turns[filter_] = memo.MultiCreate(
            tuple(request_memo.levels))
    return request_memo.turns[filter_]


def best(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState], filters: Collection[str],
) -> list[host_manager.HostState]:
    """Return the hosts that stand highest, as `standings`."""
    places = standings(spec, host_states, filters)
    highest = min(places, default=())
    return [host_state for host_state, place
            in zip(host_states, places, strict=True) if place == highest]


def _has_room(
    host_state: host_manager.HostState, spec: objects.RequestSpec,
) -> bool:
    """Whether a server fits, as far as the host reports its sizes."""
    memory = host_state.total_usable_ram_mb or 0
    cpus = (host_state.vcpus_total or 0) * host_capacity.ratio(
        host_state, names.CPU_RATIO) + host_capacity.dedicated_cpus(host_state)
    used_memory = memory - (host_state.free_ram_mb or 0)
    all_memory = memory * host_capacity.ratio(host_state, names.RAM_RATIO)
    return (not cpus or
            cpus - (host_state.vcpus_used or 0) >= spec.vcpus) and (
        not memory or all_memory - used_memory >= spec.memory_mb)
