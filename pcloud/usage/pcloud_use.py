# SPDX-License-Identifier: Apache-2.0

"""What the tenants use of a Pcloud, and since when hosts are there.

Rule: reference-usage-pcloud
"""

import collections
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context

from pcloud.backend.aggregates import span_rows
from pcloud.backend.cells import computes
from pcloud.backend.cells import past_moves
from pcloud.backend.cells import tenant_servers
from pcloud import names
from pcloud.objects import pclouds
from pcloud.rules.moving import shrinking
from pcloud.rules.usage import caps
from pcloud.rules.usage import ledger


@dataclasses.dataclass(frozen=True)
class HeldHost:
    """A host of a Pcloud.

    :ivar name: the owner's name for the host
    :ivar since: when the host has joined the Pcloud, in seconds since the
        epoch; None where no row says so
    :ivar empty_since: since when the host is empty, likewise; None for a host
        with servers, and where nobody knows
    """

    name: str
    since: int | None
    empty_since: int | None


@dataclasses.dataclass(frozen=True)
class Use:
    """What the tenants use of a Pcloud.

    :ivar tenants: ``project id -> amounts``, also of projects that are no
        tenants any more and have servers there, and of tenants without servers
    :ivar hosts: the hosts, by name
    """

    tenants: Mapping[str, caps.Amounts]
    hosts: list[HeldHost]

    def share(self, project_id: str) -> float:
        """Return the part of a project of all that is used, from 0 to 1.

        Processors count; 0 where none is used.
        """
        whole = sum(each.vcpus for each in self.tenants.values())
        return (self.tenants[project_id].vcpus / whole) if whole else 0.0


def of_pcloud(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
) -> Use:
    """Return what the tenants use of a Pcloud.

    The queries of `tenant_servers.read`, one, and twice one query for the
    cells of the hosts and one in each cell.

    :raises: `exception.Unavailable` when a cell with a host is silent
    """
    servers = tenant_servers.read(context, pcloud.id, pcloud.aggregate.hosts)
    by_project = collections.defaultdict(list)
    for server in servers.values():
        by_project[server.project].append(server.amounts)
    return Use({project: caps.total(by_project.get(project, ()))
                for project in sorted(pcloud.tenants | by_project.keys())},
               _hosts(context, pcloud))


def _hosts(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
) -> list[HeldHost]:
    metadata = pcloud.aggregate.metadata
    hosts = {node: host for host, node in names.nodes(metadata).items()
             if host in pcloud.aggregate.hosts}
    idle = names.idle(metadata)
    held = span_rows.of_members(context, pcloud.aggregate.id)
    used = computes.instances(context, pcloud.aggregate.hosts)
    left = past_moves.last_left(context, pcloud.aggregate.hosts - {
        host for host, servers in used.items() if servers})
    found = []
    for name, node in sorted(names.hosts(metadata).items()):
        if node in hosts:
            host = hosts[node]
            span = ledger.Span.known(held.get(host))
            since = None if span is None or (
                span.pcloud != pcloud.id) else span.since
            found.append(HeldHost(
                name, since, None if used.get(host) else _empty_since(
                    since, left.get(host), idle.get(host))))
    return found


def _empty_since(
    joined: int | None, left: int | None, idle: str | None,
) -> int | None:
    """Return since when a host without servers is empty, None while unknown.

    :param joined: when the host has joined
    :param left: when the latest server has left the host, whoever had the host
    :param idle: what a worker has noted, as written, where the Pcloud shrinks
    """
    kept = shrinking.Idle.known(idle)
    if kept is not None:
        return kept.since
    return None if joined is None else max(joined, left or joined)
