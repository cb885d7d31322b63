# SPDX-License-Identifier: Apache-2.0

"""What is free on the hosts of Pclouds.

Rule: reference-pclouds-details
"""

from collections.abc import Sequence
import dataclasses

from nova import context as nova_context

from pcloud.backend import computes
from pcloud.objects import pclouds


@dataclasses.dataclass(frozen=True)
class Usage:
    """What is free in a Pcloud, whatever the state of the hosts.

    :ivar empty_hosts: the number of hosts without servers
    :ivar vcpus: the free physical CPUs of all hosts
    :ivar memory_mb: the free memory of all hosts, in MiB
    :ivar servers: the number of servers on the hosts
    """

    empty_hosts: int
    vcpus: int
    memory_mb: int
    servers: int


def of_pclouds(
    context: nova_context.RequestContext,
    several: Sequence[pclouds.Pcloud],
) -> dict[str, Usage]:
    """Return the usage of each Pcloud; two queries, and two a cell.

    A Pcloud with hosts in a silent cell has no entry.

    :returns: ``Pcloud id -> Usage``
    """
    hosts = frozenset().union(*(
        pcloud.aggregate.hosts for pcloud in several))
    nodes, silent = computes.known_nodes(context, hosts)
    servers, silent_too = computes.known_instances(context, hosts)
    silent |= silent_too
    return {pcloud.id: _sum(
        [nodes[host] for host in pcloud.aggregate.hosts if host in nodes],
        [len(servers.get(host, ())) for host in pcloud.aggregate.hosts])
        for pcloud in several if not pcloud.aggregate.hosts & silent}


def _sum(nodes: Sequence[computes.Node], servers: Sequence[int]) -> Usage:
    # A host may have given away more than it has, and has nothing free then.
    return Usage(
        empty_hosts=servers.count(0),
        vcpus=sum(max(0, node.vcpus - node.vcpus_used) for node in nodes),
        memory_mb=sum(max(0, node.memory_mb - node.memory_mb_used)
                      for node in nodes),
        servers=sum(servers))
