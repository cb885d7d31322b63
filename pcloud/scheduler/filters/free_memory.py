# SPDX-License-Identifier: Apache-2.0

"""The filter that keeps memory of hosts free."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager
from oslo_config import cfg

from pcloud.rules import coded
from pcloud.rules.placing import free_memory
from pcloud.rules.placing import reasons
from pcloud.scheduler.filters import base

CONF = cfg.CONF
_UNKNOWN = reasons.open_to_all(
    'it is kept, since it is not known how much memory is free')


class FreeMemoryFilter(base.ListFilter):
    """Drop hosts whose free memory a server would use up.

    ====================================================  ===========
    free memory                                           host passes
    ====================================================  ===========
    not known, or a host that reports no memory           yes
    more than the server's memory and
    ``[pcloud] free_memory_overhead_mb``                  yes
    as much, or less                                      no
    ====================================================  ===========

    Free memory is ``free_ram_mb`` of Nova's compute node: the memory of the
    host, less ``reserved_host_memory_mb``, less the memory of the flavors of
    all servers that the host has or has been claimed for. No allocation ratio
    is in it. Nova does not know how much memory processes have left free:
    nova-compute has monitors of cpus alone, and the resource tracker replaces
    the used memory that a driver has measured.

    Nova lowers the free memory of a host by each server of a request that was
    placed before.

    Rule: reference-placement-keys-memory
    """

    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[host_manager.HostState]:
        """Return the hosts with enough free memory, or an unknown amount."""
        wanted = _wanted(spec)
        return [each for each in host_states if free_memory.is_enough(
            each.total_usable_ram_mb, each.free_ram_mb, wanted)]

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None for a host that is kept."""
        wanted = _wanted(spec)
        return [None if free_memory.is_enough(
            each.total_usable_ram_mb, each.free_ram_mb, wanted)
            else _reason(each, spec) for each in host_states]

    def unknown(
        self, host_states: Sequence[host_manager.HostState],
    ) -> list[reasons.Reason | None]:
        """Return what is not known of each host, None for nothing."""
        return [None if free_memory.is_known(
            each.total_usable_ram_mb, each.free_ram_mb) else _UNKNOWN
            for each in host_states]


def _wanted(spec: objects.RequestSpec) -> int:
    return spec.memory_mb + CONF.pcloud.free_memory_overhead_mb


def _reason(
    host_state: host_manager.HostState, spec: objects.RequestSpec,
) -> reasons.Reason:
    return reasons.open_to_all(
        coded.Reason('memory_kept_free', memory_mb=spec.memory_mb,
                     kept_mb=CONF.pcloud.free_memory_overhead_mb),
        f'{host_state.free_ram_mb} MiB of memory are free')
