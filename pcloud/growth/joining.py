# SPDX-License-Identifier: Apache-2.0

"""Free hosts that join a Pcloud for a launch.

Rule: reference-default-pcloud-grow-hosts
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import random
import secrets

from nova import context as nova_context
from nova import objects
from oslo_log import log as logging

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.calls import placement
from pcloud.backend.cells import computes
from pcloud.backend.changes import due
from pcloud.backend.changes import writes
from pcloud.backend import limits
from pcloud.counters import allocations
from pcloud import exception
from pcloud.growth import free_capacity
from pcloud.growth import growth_turns
from pcloud import names
from pcloud.objects import allocation_ratios
from pcloud.objects.changing_hands import allocation
from pcloud.objects.changing_hands import waiting_lists
from pcloud.objects import host_flavors
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.objects import quotas
from pcloud.objects import reconcile
from pcloud.rules import capacity
from pcloud.rules.placing import access
from pcloud.rules.placing import choice
from pcloud.rules.placing import default_pcloud

LOG = logging.getLogger(__name__)

# How many free hosts are passed over that add no capacity.
_PASSED_OVER = 10


def choose(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    growth: default_pcloud.Growth, room: free_capacity.Room,
) -> list[hosts.Host]:
    """Choose as many free hosts as a launch lacks.

    :returns: the hosts, enabled, each with the name under which the host
        may join the Pcloud
    :raises: `exception.OthersWaiting`, `exception.GrowthLimit`,
        `exception.GrowthUseless`, `exception.QuotaExceeded`,
        `exception.ReleasedHostsSettling`, and as `allocation.choose`
    """
    units = host_flavors.units(context, growth.host_flavor)
    zones = waiting_lists.open_zones(
        context, growth.host_flavor, _zone(growth, room.spec))
    quota = quotas.show(context, pcloud.owner)
    ratios = _ratios(context, pcloud)
    offers = _offers(context, pcloud, growth, zones, units)
    token = secrets.token_hex(4)
    chosen: list[hosts.Host] = []
    while short := room.shortage:
        _check_most(growth, room.size, len(chosen) + 1)
        quotas.check_more(quota, units * (len(chosen) + 1))
        for compute in offers:
            more = room.with_hosts({compute.host: _offer(
                context, compute.node.uuid, room.need, ratios)})
            if more.shortage < short:
                break
        else:
            raise exception.GrowthUseless(host_flavor=growth.host_flavor)
        room = more
        chosen.append(dataclasses.replace(
            hosts.new(context, pcloud,
                      f'{names.GROWN}{token}-{len(chosen) + 1}',
                      growth.host_flavor, compute, units),
            state=access.ENABLED))
    allocation.check_released(
        context, pcloud.owner, quota, units * len(chosen))
    return chosen


def _check_most(
    growth: default_pcloud.Growth, there: int, more: int,
) -> None:
    """Refuse more hosts than the Pcloud may have.

    :raises: `exception.GrowthLimit`
    """
    if there + more > growth.most_hosts:
        raise exception.GrowthLimit(
            hosts=there, more=more, limit=growth.most_hosts)


def _offers(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    growth: default_pcloud.Growth, zones: choice.Zones, units: int,
) -> Iterator[computes.Compute]:
    """Yield free hosts of the host flavor, each once, in random order.

    The hosts end when enough have been looked at.

    :raises: as `allocation.choose`; `exception.NoFreeHost` and
        `exception.OthersWaiting` only when there is no host at all
    """
    chance = random.SystemRandom()
    tried: list[str] = []
    while len(tried) < growth.most_hosts + _PASSED_OVER:
        try:
            compute = allocation.choose(
                context, pcloud, units, growth.host_flavor,
                zones, tried, chance)
        except (exception.NoFreeHost, exception.OthersWaiting):
            if tried:
                return
            raise
        tried.append(compute.host)
        yield compute


def _zone(
    growth: default_pcloud.Growth, spec: objects.RequestSpec,
) -> str | None:
    """Return the zone of the hosts that are to join, None for any zone."""
    return (spec.availability_zone if 'availability_zone' in spec
            else None) or growth.zone


def _ratios(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> Mapping[str, float]:
    """Return the ratios of the Pcloud: ``resource class -> ratio``."""
    found = pcloud_rows.head(context, pcloud.id)
    ratios = allocation_ratios.wanted(found[1]) if found else {}
    return {allocation_ratios.RESOURCES[key]: value
            for key, value in ratios.items()}


def _offer(
    context: nova_context.RequestContext, provider: str,
    need: capacity.Need, ratios: Mapping[str, float],
) -> capacity.Host:
    """Return what an empty host will offer in a Pcloud.

    A resource class with too little for a single server has nothing to offer.

    :param provider: the uuid of the host's resource provider
    """
    found = placement.read(context, provider) or {'inventories': {}}
    return capacity.Host({
        name: (int((its['total'] - its['reserved']) * ratios.get(
            name, its['allocation_ratio']))
            if need.amounts.get(name, 0) <= its['max_unit'] else 0,)
        for name, its in found['inventories'].items()},
        placement.traits(context, provider))


def add(
    context: nova_context.RequestContext, turn: growth_turns.Held,
    growth: default_pcloud.Growth, chosen: Sequence[hosts.Host],
) -> None:
    """Add hosts to a Pcloud, all in one change.

    :raises: `turn.Lost`, `allocation.Lost` when a host cannot be had,
        `exception.QuotaExceeded`, `exception.GrowthLimit`,
        `exception.PcloudNotFound`, and as `change.run`
    """
    pcloud = turn.pcloud

    def work(
        written: writes.Rows, known: limits.Limits,
    ) -> list[due.Due]:
        dues = allocation.write_within(
            context, written, known, pcloud, chosen, due.GROWN)
        _check_most(
            growth, len(written.members(pcloud.aggregate.id)) - len(chosen),
            len(chosen))
        growth_turns.check(written, turn)
        return dues

    dues = allocation.run(context, pcloud, growth_turns.anchors(turn), work)
    allocations.ALLOCATIONS.add(
        [growth.host_flavor, allocations.GROWTH], len(chosen))
    LOG.info('Pcloud %(pcloud)s has grown by %(count)d hosts.',
             {'pcloud': pcloud.id, 'count': len(chosen)})
    reconcile.finish_written(context, {
        host.compute.host: what for host, what in zip(chosen, dues)})
