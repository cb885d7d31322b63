# SPDX-License-Identifier: Apache-2.0

"""The hosts offered by Placement to a request, and why not other hosts."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import utils
import os_traits
from oslo_config import cfg

from pcloud.backend.calls import placement
from pcloud import exception
from pcloud import names
from pcloud.rules import capacity
from pcloud.rules.placing import reasons
from pcloud.scheduler import candidates

CONF = cfg.CONF


@dataclasses.dataclass(frozen=True)
class Offer:
    """An answer of Placement.

    :ivar resources: the resources asked for
    :ivar requests: ``uuid of a resource provider -> allocation requests``
        which use the provider
    :ivar providers: the uuids of all resource providers; the provider of a
        compute node has the uuid of the node
    :ivar limit: the limit of the query when the answer has reached the limit,
        None when the answer is complete
    """

    resources: utils.ResourceRequest
    requests: Mapping[str, Sequence[dict]]
    providers: Collection[str]
    limit: int | None


@dataclasses.dataclass(frozen=True)
class Node:
    """A compute node which is no candidate, and the reason."""

    host: str
    name: str
    reason: reasons.Reason


def ask(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    manager: host_manager.HostManager,
) -> Offer:
    """Ask Placement the questions of nova-scheduler.

    Placement is called once, and once more for a request with dedicated cpus,
    for Nova looks for hosts of the older kind too.

    :raises: `nova.exception.NoValidHost` when the host asked for does not
        exist, `exception.Unavailable` when Placement does not answer
    """
    resources = utils.resources_from_request_spec(context, spec, manager)
    requests, providers = _candidates(context, resources)
    if (resources.cpu_pinning_requested and
            not CONF.workarounds.disable_fallback_pcpu_query):
        more = _candidates(context, utils.resources_from_request_spec(
            context, spec, manager, enable_pinning_translate=False))
        requests, providers = requests + more[0], providers | more[1]
    by_provider = collections.defaultdict(list)
    for request in requests:
        for uuid in request['allocations']:
            by_provider[uuid].append(request)
    limit = resources._limit
    return Offer(resources, by_provider, providers,
                 limit if limit and len(requests) >= limit else None)


def _candidates(
    context: nova_context.RequestContext, resources: utils.ResourceRequest,
) -> tuple[list[dict], set[str]]:
    answer = placement.offered(context, resources)
    if answer is None:
        raise exception.Unavailable()
    requests, summaries = answer
    return requests, set(summaries)


def left_out(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    offer: Offer, nodes: Mapping[str, tuple[str, str]],
    aggregates: Iterable[objects.Aggregate],
) -> list[Node]:
    """Return the compute nodes not offered by Placement, and why.

    Placement is called once for all nodes with capacity, once for each
    resource class, once for each required aggregate or choice of aggregates,
    and once for all forbidden aggregates, however many hosts there are.

    :param nodes: ``uuid -> (service host, hypervisor hostname)`` of all nodes
    :param aggregates: all aggregates, for their names
    :raises: `exception.Unavailable` when Placement does not answer
    """
    missing = {uuid: place for uuid, place in nodes.items()
               if uuid not in offer.providers}
    if not missing:
        return []
    need = candidates.need(spec)
    search = _Search(
        need,
        _Walls.load(context, offer.resources, list(aggregates)),
        candidates.free(context, need.amounts, spec.requested_destination),
        candidates.offered(
            context, need, spec.requested_destination).keys(), offer.limit)
    return sorted(
        (Node(*place, search.reason(uuid, place[0]))
         for uuid, place in missing.items()), key=lambda node: node.host)


@dataclasses.dataclass(frozen=True)
class _Walls:
    """Why hosts are excluded, however much is free on the hosts.

    :ivar tree: the uuid of the only node asked for, None for any
    :ivar inside: for each aggregate, or choice of aggregates, required of a
        host: its name in words, and the uuids of its nodes
    :ivar outside: the uuids of the nodes in forbidden aggregates
    :ivar names: ``service host -> names of its forbidden aggregates``
    """

    tree: str | None
    inside: Sequence[tuple[str, Collection[str]]]
    outside: Collection[str]
    names: Mapping[str, Sequence[str]]

    @classmethod
    def load(
        cls, context: nova_context.RequestContext,
        resources: utils.ResourceRequest,
        aggregates: Sequence[objects.Aggregate],
    ) -> _Walls:
        """Read the walls; membership in aggregates is read from Placement."""
        group = resources.get_request_group(None)
        known = {aggregate.uuid: aggregate for aggregate in aggregates}
        inside = [(' or '.join(_name(known, uuid) for uuid in choice),
                   placement.members(context, *choice))
                  for choice in group.aggregates]
        forbidden = sorted(group.forbidden_aggregates)
        outside = placement.members(context, *forbidden) if forbidden else ()
        of_host = collections.defaultdict(list)
        for uuid in _known_to_nova(forbidden, aggregates):
            for host in known[uuid].hosts if uuid in known else ():
                of_host[host].append(_name(known, uuid))
        return cls(group.in_tree, inside, outside, of_host)

    def reason(self, uuid: str, host: str) -> reasons.Reason | None:
        """Return why a node is excluded, None for a node inside the walls."""
        if self.tree is not None and uuid != self.tree:
            return reasons.open_to_all('it is not the host that is asked for')
        for name, members in self.inside:
            if uuid not in members:
                return reasons.Reason(
                    f'it is not in {name}', 'it is not where the request goes')
        if uuid in self.outside:
            name = ', '.join(self.names.get(host, ())) or (
                'an aggregate in Placement of which Nova does not know that '
                'the host is in it')
            return reasons.Reason(
                f'it is in {name}', 'it is not for requests such as this')
        return None


def _known_to_nova(
    forbidden: Iterable[str], aggregates: Iterable[objects.Aggregate],
) -> list[str]:
    """Return the uuids of forbidden aggregates, in Nova's terms.

    Placement alone has an aggregate of all closed hosts; Nova has their pools.
    """
    pools = [aggregate.uuid for aggregate in aggregates
             if aggregate.name.startswith(names.POOL_PREFIX)]
    return [uuid for each in forbidden for uuid in (
        pools if each == names.CLOSED_UUID else [each])]


def _name(known: Mapping[str, objects.Aggregate], uuid: str) -> str:
    """Return an administrator's name for an aggregate."""
    if uuid not in known:
        return f'aggregate {uuid}'
    metadata = known[uuid].metadata
    if metadata.get(names.TYPE) == names.TYPE_POOL:
        return f'the pool of host flavor {metadata.get(names.FLAVOR_ID)}'
    if metadata.get(names.TYPE) == names.TYPE_PCLOUD:
        return f'Pcloud {metadata.get(names.ID)}'
    zone = metadata.get('availability_zone')
    return f'availability zone {zone}' if zone else (
        f"aggregate '{known[uuid].name}'")


@dataclasses.dataclass(frozen=True)
class _Search:
    """The known facts about hosts which are no candidates.

    :ivar left: ``uuid of the node -> free resources``
    :ivar fitting: the uuids of the nodes with capacity
    """

    need: capacity.Need
    walls: _Walls
    free: Mapping[str, capacity.Host]
    fitting: Collection[str]
    limit: int | None

    def reason(self, uuid: str, host: str) -> reasons.Reason:
        """Return the first reason why a node is not offered."""
        walled = self.walls.reason(uuid, host)
        if walled is not None:
            return walled
        if uuid in self.fitting and self.limit is not None:
            return reasons.Reason(
                'it has capacity, but Placement is asked for '
                f'{self.limit} candidates only (max_placement_results)',
                'there are too many hosts')
        if uuid not in self.free:
            return reasons.open_to_all(
                'it has nothing left of what is needed, or Placement does not '
                f'know it ({", ".join(capacity.words(self.need))})')
        return self._shortage(self.free[uuid])

    def _shortage(self, host: capacity.Host) -> reasons.Reason:
        traits = capacity.wrong_traits(self.need, host)
        if os_traits.COMPUTE_STATUS_DISABLED in (
                self.need.forbidden & host.traits):
            return reasons.open_to_all('its compute service is disabled')
        short = capacity.too_little(self.need, host)
        if not short and not traits:
            return reasons.open_to_all(
                'it is too small for one server of this size, or does not '
                'have what is asked for together')
        wanted = capacity.words(capacity.Need(
            {name: self.need.amounts[name] for name in short}))
        return reasons.open_to_all('; '.join([
            *([f'it has too little left for {", ".join(wanted)}']
              if short else []), *traits]),
            ', '.join(capacity.left(*given) for given in sorted(
                short.items())))
