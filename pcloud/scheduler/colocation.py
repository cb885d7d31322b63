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

"""Where a request's server may be co-located.

Source: CONTRACT section 7; co-located-services.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import host_manager

from pcloud.aggregates import names
from pcloud.aggregates import servers
from pcloud import exception
from pcloud.rules import colocation as rules
from pcloud.scheduler import ratios
from pcloud.scheduler import request

_MIB = 1024


def kept(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> Sequence[host_manager.HostState]:
    """Return the hosts on which a request wants to be for its neighbours.

    A query and one a cell for what the request names, and two queries for
    each flavor of ``room_for``; none for requests that say nothing of them.

    A server that was placed before is moved: it follows the service that it
    is co-located with, but servers that it was started beside, or with, are
    free to be elsewhere by now.

    :raises: `exception.InvalidServiceHint`, and
        `exception.ColocationUnmet` when there is no such host
    """
    wish = rules.wish(request.scheduler_hints(spec))
    if not (wish.is_co_located or wish.beside or wish.room_for):
        return host_states
    context = nova_context.get_admin_context()
    try:
        placed = servers.find(
            context, spec.project_id, {spec.instance_uuid}, (),
            but=spec.instance_uuid).placed
        if placed:
            return _moved(context, host_states, spec, wish)
        return _started(context, host_states, spec, wish)
    except exception.Unavailable:
        raise exception.ColocationUnmet(
            reason='a part of the cloud does not tell where servers are')


def _started(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    wish: rules.Wish,
) -> Sequence[host_manager.HostState]:
    found = host_states
    if wish.parent:
        found = _on(found, _hosts_of(context, spec, wish.parent),
                    wish.parent)
    if wish.beside:
        there = servers.hosts(context, spec.project_id, wish.beside)
        for each in wish.beside:
            host = there.get(each)
            found = _on(found, {host} if host else set(), each)
    if wish.room_for:
        found = _with_room(context, found, spec, wish)
    return found


def _moved(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    wish: rules.Wish,
) -> Sequence[host_manager.HostState]:
    followed = wish.parent or wish.coming
    if not followed:
        return host_states
    hosts = _hosts_of(context, spec, followed)
    # With all of them gone it is alone, wherever it is.
    return _on(host_states, hosts, followed) if hosts else host_states


def _hosts_of(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    parent: str,
) -> set[str]:
    """Return the hosts of a service's units, or of a server."""
    if rules.is_server(parent):
        found = servers.hosts(context, spec.project_id, [parent])
    else:
        found = servers.units(context, spec.project_id, parent)
    return {host for uuid, host in found.items()
            if uuid != spec.instance_uuid}


def _on(
    host_states: Sequence[host_manager.HostState], hosts: set[str],
    named: str,
) -> list[host_manager.HostState]:
    if not hosts:
        raise exception.ColocationUnmet(
            reason=f"nothing of the project that is known as '{named}' is on "
                   'a host')
    found = [each for each in host_states if each.host in hosts]
    if not found:
        raise exception.ColocationUnmet(
            reason=f"no host with '{named}' can take it")
    return found


def _with_room(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    wish: rules.Wish,
) -> list[host_manager.HostState]:
    """Return the hosts with room for the server and those to come."""
    needed = _needed(spec.flavor)
    flavors = {each: _flavor(context, each) for each in set(wish.room_for)}
    for each in wish.room_for:
        needed += _needed(flavors[each])
    found = [each for each in host_states if needed <= _free(each)]
    if not found:
        raise exception.ColocationUnmet(
            reason=f'no host has room for all of its group ({needed.vcpus} '
                   f'cpus, {needed.memory_mb} MiB of memory, '
                   f'{needed.disk_gb} GiB of disk)')
    return found


def _flavor(
    context: nova_context.RequestContext, flavor_id: str,
) -> objects.Flavor:
    try:
        return objects.Flavor.get_by_flavor_id(context, flavor_id)
    except nova_exception.FlavorNotFound:
        raise exception.ColocationUnmet(
            reason=f"there is no flavor '{flavor_id}' any more")


def _needed(flavor: objects.Flavor) -> rules.Room:
    return rules.Room(
        flavor.vcpus, flavor.memory_mb,
        flavor.root_gb + flavor.ephemeral_gb + math.ceil(
            flavor.swap / _MIB))


def _free(host_state: host_manager.HostState) -> rules.Room:
    """Return what is left on a host, allocation ratios counted."""
    memory = host_state.total_usable_ram_mb or 0
    # Not the free disk, which on thin volumes is what the hypervisor guesses.
    disk = (host_state.total_usable_disk_gb or 0) * (
        host_state.disk_allocation_ratio or 1)
    cpus = (host_state.vcpus_total or 0) * ratios.of(
        host_state, names.CPU_RATIO)
    return rules.Room(
        int(cpus) - (host_state.vcpus_used or 0),
        int(memory * ratios.of(host_state, names.RAM_RATIO))
        - (memory - (host_state.free_ram_mb or 0)),
        int(disk) - math.ceil((host_state.disk_mb_used or 0) / _MIB))
