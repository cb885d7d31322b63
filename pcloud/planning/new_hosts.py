# SPDX-License-Identifier: Apache-2.0

"""Which host flavors would free capacity for a bundle, and how many hosts.

Rule: reference-planning-more
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import math

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager

from pcloud.backend.cells import compute_nodes
from pcloud import names
from pcloud.objects import free_hosts
from pcloud.objects import pclouds
from pcloud.objects import quotas
from pcloud.planning import bundles
from pcloud.planning import demands
from pcloud.planning import host_parts
from pcloud.planning import host_states
from pcloud.planning.programs import fitting
from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import losses
from pcloud.planning.programs import shortages
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.scheduler import candidates

# So many host flavors are looked at, the most promising first.
# How many host flavors are looked at.
_MOST, _MOST_OF_SEVERAL = 10, 5


@dataclasses.dataclass(frozen=True)
class Option:
    """Hosts of a host flavor that would free capacity for all servers.

    :ivar host_flavor: the id of the host flavor
    :ivar hosts: so many hosts are enough
    :ivar units: the units of the hosts together
    :ivar free: so many hosts of the host flavor are free
    :ivar quota_short_by: the units by which the quota is too small
    """

    host_flavor: str
    hosts: int
    units: int
    free: int
    quota_short_by: int


@dataclasses.dataclass(frozen=True)
class _Offer:
    """A host flavor with what one of its hosts would take."""

    flavor: free_hosts.HostFlavor
    host: fitting.TargetHost
    free: int


def options(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    bundle: bundles.Bundle, cases: Sequence[losses.Case],
    solve: integer_programs.Solver,
) -> tuple[list[Option], list[coded.Reason]]:
    """Return the host flavors that would free capacity, the cheapest first.

    Placement is called once, when there is a pool, and once more for each
    group of resources for which it matters which provider gives it.

    :param bundle: all servers of all cases
    :param cases: servers that do not fit, each beside the hosts that count
        already; best the case that needs most hosts first
    :returns: the options, and what is not proven about them
    :raises: `exception.Unavailable`
    """
    supplies = free_hosts.index(context)
    # The size of a host flavor is unknown while no cell of its hosts answers.
    offers = _offers(context, pcloud, bundle, [
        supply for supply in supplies if _is_known(supply)])
    quota = quotas.show(context, pcloud.owner)
    most = _MOST if len(cases) == 1 else _MOST_OF_SEVERAL
    promising = sorted(
        ((least * offer.flavor.units, least, offer.flavor.id, offer)
         for offer in offers
         if (least := shortages.least_hosts(
             cases[0].kinds, cases[0].hosts, offer.host)) is not None),
        key=lambda each: each[:-1])
    found, unproven = [], [
        coded.Reason('host_flavor_unproven', host_flavor=pool_id)
        for pool_id in (
            *(supply.flavor.id for supply in supplies
              if supply.has_hosts and not _is_known(supply)),
            *(offer.flavor.id for offer in offers
              if _is_unknown(bundle, offer) and
              offer not in [each[-1] for each in promising]),
            *(offer.flavor.id for *_, offer in promising[most:]))]
    for *_, offer in promising[:most]:
        enough = losses.more_hosts(cases, offer.host, solve)
        if enough.number:
            found.append((_order(offer, enough.number),
                          _option(offer, enough.number, quota)))
            if not offer.free:
                unproven.append(coded.Reason(
                    'host_flavor_taken', host_flavor=offer.flavor.id))
        if not enough.proven:
            unproven.append(coded.Reason(
                'host_flavor_unproven' if enough.number is None else
                'fewer_hosts', host_flavor=offer.flavor.id))
    return [option for _, option in sorted(
        found, key=lambda pair: pair[0])], unproven


def _is_known(supply: free_hosts.Supply) -> bool:
    """Whether a node of the host flavor is known."""
    return supply.flavor.what.vcpus is not None


def _is_unknown(bundle: bundles.Bundle, offer: _Offer) -> bool:
    """Whether it is unknown how much a host has of what servers need.

    Of hosts that are not free processors, memory and disk alone are known.
    """
    return not offer.free and not offer.host.most.keys() >= set(
        fitting.classes(bundle.kinds))


def _option(offer: _Offer, number: int, quota: quotas.Quota) -> Option:
    units = number * offer.flavor.units
    return Option(
        offer.flavor.id, number, units, offer.free, quota.short_by(units))


def _order(offer: _Offer, number: int) -> tuple:
    """Return units, hosts and what is offered, which the servers do not use.

    All options take the same servers.
    """
    return (number * offer.flavor.units, number, *(
        number * offer.host.free.get(name, 0) for name in (
            capacity.MEMORY, capacity.VCPU, capacity.DISK)), offer.flavor.id)


def _offers(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    bundle: bundles.Bundle, supplies: Sequence[free_hosts.Supply],
) -> list[_Offer]:
    destination = objects.Destination(aggregates=[names.CLOSED_UUID])
    known = candidates.free(context, bundle.classes[:1], destination)
    nodes, _ = compute_nodes.known_nodes(context, frozenset().union(*(
        supply.free_in(None) for supply in supplies)))
    free = {supply.flavor.id: [
        host for host in sorted(supply.free_in(None) & nodes.keys())
        if nodes[host].uuid in known] for supply in supplies}
    first = {flavor_id: its[0] for flavor_id, its in free.items() if its}
    states = host_states.load(context, list(first.values()))
    kept = bundle.kept(states)
    parts = host_parts.Hosts(demands.read(
        context, bundle.parts, [
            bundle.specs[entry.key] for entry in bundle.entries],
        known.values(), destination))
    state_of = {state.host: state for state in states}
    offers = []
    for supply in supplies:
        flavor_id = supply.flavor.id
        there = [known[nodes[host].uuid] for host in free[flavor_id]]
        state = state_of.get(first.get(flavor_id, ''))
        made = _offer(
            pcloud, bundle, supply, there,
            {} if state is None else _ratios(state),
            frozenset() if flavor_id not in first else bundle.refused(
                there[0].traits, first[flavor_id], kept))
        offers.append(dataclasses.replace(
            made, host=_with_parts(parts, bundle, state, there, made.host)))
    return offers


def _with_parts(
    parts: host_parts.Hosts, bundle: bundles.Bundle,
    state: host_manager.HostState | None, there: Sequence[capacity.Host],
    host: fitting.TargetHost,
) -> fitting.TargetHost:
    """Return what a new host takes, with its parts.

    The parts are those of the first of the free hosts.

    :param state: the first of the free hosts, None where none is free
    """
    if state is None or not there:
        return dataclasses.replace(host, patterns=parts.unknown_parts())
    return parts.packed(bundle.kinds, state, there[0], host)


def _ratios(
    of: pclouds.Pcloud | host_manager.HostState,
) -> dict[str, float | None]:
    """Return ``resource class -> allocation ratio``, None without one."""
    return {capacity.VCPU: of.cpu_allocation_ratio,
            capacity.MEMORY: of.ram_allocation_ratio}


def _offer(
    pcloud: pclouds.Pcloud, bundle: bundles.Bundle,
    supply: free_hosts.Supply, known: Sequence[capacity.Host],
    own_ratios: Mapping[str, float | None], refused: frozenset[int],
) -> _Offer:
    """Return what a new host would take.

    :param known: what Placement has on the free hosts of the pool
    :param own_ratios: the allocation ratios that the first of these hosts has
        in the pool, by resource class
    """
    what = supply.flavor.what
    sizes = largest(what.vcpus, what.memory_mb, what.disk_gb)
    seen = [bundle.amounts(host) for host in known]
    # Placement has applied the host's own ratios.
    usable = {name: math.ceil(seen[0].get(name, 0) / ratio)
              for name, ratio in own_ratios.items() if ratio}
    ratios = _ratios(pcloud)
    free = {}
    for name in fitting.classes(bundle.kinds):
        amount = min((each.get(name, 0) for each in seen),
                     default=sizes.get(name, 0))
        ratio = ratios.get(name)
        free[name] = amount if ratio is None else int(
            min(amount, sizes[name], usable.get(name, amount)) * ratio)
    return _Offer(supply.flavor, fitting.TargetHost(free, sizes, refused),
                  len(supply.free_in(None)))


def largest(
    vcpus: int | None, memory_mb: int | None, disk_gb: int | None,
) -> dict[str, int]:
    """Return how much a server may have of what a host has."""
    sizes = {capacity.VCPU: vcpus, capacity.MEMORY: memory_mb,
             capacity.DISK: disk_gb}
    return {name: size for name, size in sizes.items() if size is not None}
