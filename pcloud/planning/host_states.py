# SPDX-License-Identifier: Apache-2.0

"""Hosts as known to nova-scheduler, in any process.

Nova's own `HostManager` reads the whole cloud when the manager is made, which
suits nova-scheduler and not a single call.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager

from pcloud.backend.aggregates import rows
from pcloud.backend.cells import compute_nodes
from pcloud.objects import hosts as pcloud_hosts


def load(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[host_manager.HostState]:
    """Return some hosts for filters and weighers.

    The function makes three queries, and three queries a cell. Each host has
    an allocation candidate, for filters which read allocation candidates; the
    servers of a host are not read.

    :param hosts: service hosts; like nova-scheduler, the function leaves out
        hosts of a cell that does not answer
    """
    aggregates = [
        objects.Aggregate(context, id=aggregate.id, uuid=aggregate.uuid,
                          name=aggregate.name, hosts=sorted(aggregate.hosts),
                          metadata=dict(aggregate.metadata))
        for aggregate in rows.of_hosts(context, hosts)]
    states = []
    there = compute_nodes.details(context, hosts)
    for cell, (services, nodes) in there.items():
        service_of = {service['host']: service for service in services}
        for node in nodes:
            if node.host in service_of:
                states.append(_state(cell, node, service_of[node.host], [
                    aggregate for aggregate in aggregates
                    if node.host in aggregate.hosts]))
    return states


def of_hosts(
    context: nova_context.RequestContext, there: Sequence[pcloud_hosts.Host],
) -> list[host_manager.HostState]:
    """Return hosts of a Pcloud as `load`, without other nodes of a host."""
    nodes = {host.node.uuid for host in there}
    return [state for state in load(
        context, [host.compute.host for host in there])
        if state.uuid in nodes]


def _state(
    cell: str, node: objects.ComputeNode, service: dict,
    aggregates: list[objects.Aggregate],
) -> host_manager.HostState:
    made = host_manager.HostState(node.host, node.hypervisor_hostname, cell)
    made.update(node, service, aggregates, {})
    made.allocation_candidates = [
        {'allocations': {}, 'mappings': {'': [node.uuid]}}]
    return made
