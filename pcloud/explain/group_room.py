# SPDX-License-Identifier: Apache-2.0

"""Room for servers to be together on a host.

Rule: reference-room-groups
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects

from pcloud.backend.aggregates import isolation
from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud.backend.cells import servers
from pcloud import exception
from pcloud.explain import conductor
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.placing import colocation
from pcloud.rules.placing import hints
from pcloud.scheduler import candidates
from pcloud.scheduler import open_hosts
from pcloud.scheduler import request


@dataclasses.dataclass(frozen=True)
class GroupRoom:
    """The number of groups that fit.

    :ivar reason: why there is no capacity for more groups, None when there is
        enough capacity
    """

    groups: int
    reason: coded.Reason | None


def find(
    context: nova_context.RequestContext, project_id: str,
    group: Sequence[tuple[objects.Flavor, bool]], count: int,
    pcloud_id: str | None = None, parent: str | None = None,
) -> GroupRoom:
    """Return how many groups fit now.

    Placement is called at most twice, and once more in a Pcloud. Hosts that
    are down, disabled or in a cell that does not answer do not count; outside
    of Pclouds, neither do hosts of pools of which Placement does not know.

    :param group: the servers of a group, which share a host: the flavor, and
        whether the root disk is a volume
    :param count: how many groups are wanted
    :param parent: the service, or the id of the server, whose hosts are
        required
    :raises: `exception.Unavailable`, `exception.FlavorUnusable`
    """
    request_hints = {hints.PCLOUD: [pcloud_id]} if pcloud_id else {}
    try:
        specs = [conductor.make(
            context, flavor, conductor.no_image(), project_id, request_hints)
            for flavor, _ in group]
        conductor.narrow(context, specs[0])
        hosts = _hosts(context, specs[0], parent)
    except nova_exception.RequestFilterFailed as error:
        return GroupRoom(0, conductor.reason(error))
    except exception.PcloudUnusable as error:
        return GroupRoom(0, coded.of(error))
    for spec, (_, on_volume) in zip(specs, group):
        spec.is_bfv = on_volume
    needs = [candidates.need(spec) for spec in specs]
    destination = specs[0].requested_destination
    if hosts is None:
        return _answer(_groups_outside(context, needs, destination, count),
                       count, needs, None)
    nodes = _nodes(context, hosts)
    if not nodes:
        return GroupRoom(0, coded.Reason('no_host_up', beside=parent))
    return _answer(_groups_on(context, needs, destination, count, nodes),
                   count, needs, len(nodes))


def _hosts(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    parent: str | None,
) -> set[str] | None:
    """Return the only right hosts, None when all hosts are right.

    Hosts of a cell that does not answer are not right.

    :raises: `exception.PcloudUnusable`
    """
    hosts = None
    wanted = request.pcloud_id(spec)
    if wanted is not None:
        _, pcloud = isolation.usable_pcloud(
            context, wanted, spec.project_id)
        hosts = set(open_hosts.nodes(context, pcloud))
    if parent is not None:
        there = (servers.hosts(context, spec.project_id, [parent])
                 if colocation.is_server(parent) else
                 servers.units(context, spec.project_id, parent))
        beside = set(there.hosts.values())
        hosts = beside if hosts is None else hosts & beside
    return hosts


def _nodes(
    context: nova_context.RequestContext, hosts: set[str],
) -> set[str]:
    """Return the uuids of the nodes of hosts that are up and enabled."""
    return {node.uuid for compute in computes.load(context, hosts).values()
            if compute.up and compute.enabled for node in compute.nodes}


def _groups_on(
    context: nova_context.RequestContext,
    needs: Sequence[capacity.Need], destination: objects.Destination | None,
    count: int, nodes: set[str],
) -> int:
    """Return how many groups fit on nodes, at least.

    :param count: how many groups are enough
    """
    group, groups = capacity.total(needs), 0
    for asked in _questions(needs):
        hosts = candidates.offered(context, asked, destination)
        groups = sum(capacity.fits(group, host)
                     for uuid, host in hosts.items() if uuid in nodes)
        if groups >= count:
            break
    return groups


def _groups_outside(
    context: nova_context.RequestContext,
    needs: Sequence[capacity.Need], destination: objects.Destination | None,
    count: int,
) -> int:
    """Return how many groups fit outside of Pclouds, at least.

    The first few hosts are enough as a rule. When some of the hosts are down,
    all hosts are read.

    :param count: how many groups are enough
    """
    group = capacity.total(needs)
    groups = _serving_groups(context, group, candidates.offered(
        context, group, destination, count))
    if groups < count:
        *_, last = _questions(needs)
        groups = _serving_groups(
            context, group, candidates.offered(context, last, destination))
    return groups


def _questions(needs: Sequence[capacity.Need]) -> list[capacity.Need]:
    """Return the needs to ask Placement for, the cheapest question first.

    Placement may have enough for a group, but not for a server as large.
    """
    group = capacity.total(needs)
    return [group, capacity.largest(needs)] if len(needs) > 1 else [group]


def _serving_groups(
    context: nova_context.RequestContext, group: capacity.Need,
    hosts: Mapping[str, capacity.Host],
) -> int:
    """Return how many groups fit on the hosts that take servers."""
    fits = {uuid: capacity.fits(group, host) for uuid, host in hosts.items()}
    serving = compute_nodes.serving_nodes(
        context, [uuid for uuid, groups in fits.items() if groups])
    closed = isolation.closed_among(context, set(serving.values()))
    return sum(fits[uuid] for uuid, host in serving.items()
               if host not in closed)


def _answer(groups: int, count: int, needs: Sequence[capacity.Need],
            hosts: int | None) -> GroupRoom:
    """Return an answer.

    :param hosts: the number of the only hosts that would do, None for any
    """
    if groups >= count:
        return GroupRoom(count, None)
    return GroupRoom(groups, coded.Reason(
        'no_more_groups', hosts=hosts,
        needed=', '.join(capacity.words(capacity.total(needs)))))
