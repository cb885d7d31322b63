# SPDX-License-Identifier: Apache-2.0

"""The smallest changes to free capacity for a server in a Pcloud.

Rule: reference-room-changes
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import itertools

from nova import context as nova_context
from nova import objects

from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud.backend import flavors
from pcloud import names
from pcloud.objects import free_hosts
from pcloud.objects import host_resources
from pcloud.objects import pclouds
from pcloud.objects import quotas
from pcloud.planning import obstacles
from pcloud.rules import capacity
from pcloud.rules.placing import access
from pcloud.scheduler import candidates
from pcloud import text as text_rules

ENABLE, WAIT, ADD_HOST, FLAVOR = CHANGES = (
    'enable', 'wait', 'add_host', 'flavor')

# The filters are asked about so many free hosts of a host flavor at most, for
# all hosts of a host flavor are alike.
_ASKED = 20


@dataclasses.dataclass(frozen=True)
class HelpfulChange:
    """A change to free capacity for at least one server.

    :ivar change: a word of `CHANGES`
    :ivar subject: the owner's name of a host, or the id of a host flavor or
        of a flavor
    :ivar text: the change in words
    """

    change: str
    subject: str
    text: str


def find(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    flavor: objects.Flavor, explanation: obstacles.FlavorFit,
) -> list[HelpfulChange]:
    """Return the changes to free capacity, the smallest change first.

    The list is empty when there is capacity, or when no change helps.
    Placement is called once at most.

    :raises: `exception.Unavailable`
    """
    if explanation.fits or explanation.refused:
        return []
    return [*_hosts(explanation), *_new_host(context, pcloud, explanation),
            *_flavor(context, flavor, explanation)]


def _hosts(explanation: obstacles.FlavorFit) -> Iterator[HelpfulChange]:
    """Yield the changes to let hosts with capacity take servers."""
    curable = [host_room for host_room in explanation.hosts
               if host_room.would_fit and
               {obstacle.rule for obstacle in host_room.in_the_way} <=
               {obstacles.STATE, obstacles.STATUS} and
               # Nobody can enable such a host.
               access.IS_LEAVING.reason not in {
                   obstacle.reason for obstacle in host_room.in_the_way}]
    for host_room in sorted(curable, key=lambda host: (
            len(host.in_the_way), host.host.state != access.DISABLED)):
        name, status = host_room.host.name, host_room.host.status
        until = ('until it comes up' if status == 'down' else
                 'until its maintenance ends')
        if host_room.host.state != access.DISABLED:
            yield HelpfulChange(WAIT, name, f'wait for {name}, {until}')
        elif status == 'up':
            yield HelpfulChange(ENABLE, name, f'enable {name}')
        else:
            yield HelpfulChange(
                ENABLE, name, f'enable {name} and wait {until}')


def _new_host(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    explanation: obstacles.FlavorFit,
) -> Iterator[HelpfulChange]:
    """Yield the cheapest host flavor with capacity on a free host."""
    offered = candidates.offered(
        context, explanation.need,
        objects.Destination(aggregates=[names.CLOSED_UUID]))
    units = quotas.show(context, pcloud.owner)
    there = [supply for supply in free_hosts.index(context)
             if _has_room(pcloud, supply.flavor.what, explanation.need)]
    nodes, _ = compute_nodes.known_nodes(context, frozenset().union(*(
        supply.free_in(None) for supply in there)))
    fitting = [
        (supply.flavor, [
            host for host in sorted(supply.free_in(None) & nodes.keys())
            if nodes[host].uuid in offered][:_ASKED])
        for supply in there]
    passing = obstacles.passing(
        context, list(itertools.chain(*(hosts for _, hosts in fitting))),
        explanation.spec)
    useful = [host_flavor for host_flavor, hosts in fitting
              if not passing.isdisjoint(hosts)]
    if useful:
        best = min(useful, key=lambda host_flavor: (
            host_flavor.units, host_flavor.id))
        yield HelpfulChange(ADD_HOST, best.id, _words(best, units))


def _has_room(
    pcloud: pclouds.Pcloud, what: host_resources.Description,
    need: capacity.Need,
) -> bool:
    """Whether an empty host has capacity with the ratios of the Pcloud.

    The size of a host flavor is unknown while no cell of its hosts answers.
    """
    return all(size is not None and need.amounts.get(name, 0) <= size * ratio
               for name, size, ratio in (
                   (capacity.VCPU, what.vcpus,
                    pcloud.cpu_allocation_ratio),
                   (capacity.MEMORY, what.memory_mb,
                    pcloud.ram_allocation_ratio))
               if ratio is not None)


def _words(
    flavor: free_hosts.HostFlavor, units: quotas.Quota,
) -> str:
    text = f'add one host of host flavor {flavor.id} and enable it'
    missing = units.short_by(flavor.units)
    if not missing:
        return text
    larger = text_rules.counted(missing, 'unit', 'units')
    return f'{text}; your quota would have to be {larger} larger for that'


def _flavor(
    context: nova_context.RequestContext, flavor: objects.Flavor,
    explanation: obstacles.FlavorFit,
) -> Iterator[HelpfulChange]:
    """Yield the largest smaller flavor that a host would take now.

    Of servers that need parts of hosts amounts do not tell enough.
    """
    if explanation.needs_parts:
        return
    ready = [host_room.host.node for host_room in explanation.hosts
             if {obstacle.rule for obstacle in host_room.in_the_way} ==
             {obstacles.ROOM} and
             isinstance(host_room.host.node, computes.Node) and
             host_room.host.node.uuid in explanation.free]
    smaller = [other for other in flavors.visible(context).values()
               if not other.disabled and _is_smaller(other, flavor) and
               _fits(explanation, other, ready)]
    if smaller:
        best = max(smaller, key=lambda other: (
            other.memory_mb, other.vcpus, other.root_gb, other.flavorid))
        yield HelpfulChange(
            FLAVOR, best.flavorid,
            f'start a server of flavor {best.name}, which fits')


def _is_smaller(flavor: objects.Flavor, other: objects.Flavor) -> bool:
    return (
        flavor.id != other.id and flavor.extra_specs == other.extra_specs and
        all(getattr(flavor, name) <= getattr(other, name) for name in (
            'vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb', 'swap')))


def _fits(
    explanation: obstacles.FlavorFit, flavor: objects.Flavor,
    nodes: Iterable[computes.Node],
) -> bool:
    """Whether a flavor in place of the asked flavor fits any node."""
    spec = explanation.spec.obj_clone()
    spec.flavor = flavor
    need = dataclasses.replace(
        explanation.need, amounts=candidates.need(spec).amounts)
    return any(flavor.vcpus <= node.vcpus and
               flavor.memory_mb <= node.memory_mb and
               capacity.fits(need, explanation.free[node.uuid])
               for node in nodes)
