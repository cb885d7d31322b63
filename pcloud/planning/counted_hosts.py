# SPDX-License-Identifier: Apache-2.0

"""The hosts of a Pcloud that count in a plan, and what they take.

Rule: reference-planning-simulate
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova.scheduler import host_manager

from pcloud.objects import hosts
from pcloud.planning import bundles
from pcloud.planning import demands
from pcloud.planning import host_parts
from pcloud.planning import host_states
from pcloud.planning import new_hosts
from pcloud.planning import obstacles
from pcloud.planning.programs import fitting
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.scheduler import candidates


@dataclasses.dataclass(frozen=True)
class Counted:
    """The hosts that count.

    :ivar there: the hosts that take servers now
    :ivar packed: the same hosts as they are packed
    :ivar states: the same hosts for filters
    :ivar doubts: what is not known of the amounts on the hosts
    :ivar unknown: ``place of an entry -> what is not known`` of the parts of
        hosts that its servers need, as `coded.DOUBTS` names it
    :ivar silent: the owner's names of further hosts that may have capacity, in
        cells that do not answer
    """

    there: Sequence[hosts.Host]
    packed: Sequence[fitting.TargetHost]
    states: Sequence[host_manager.HostState]
    doubts: Sequence[coded.Reason]
    silent: Sequence[str]
    unknown: Mapping[int, str] = dataclasses.field(default_factory=dict)


def read(
    context: nova_context.RequestContext, able: Sequence[hosts.Host],
    bundle: bundles.Bundle,
) -> Counted:
    """Return what hosts take of a bundle.

    Placement is called twice at most, and once more for each group of
    resources for which it matters which provider gives it.

    :param able: the hosts that count as far as their owner decides
    :raises: `exception.FlavorUnusable`, `exception.Unavailable`
    """
    right = [host for host in able if not obstacles.status(host)]
    free = candidates.free(
        context, bundle.classes, bundle.destination) if right else {}
    states = host_states.of_hosts(context, right)
    # A cell that has answered a moment ago may be silent by now.
    seen = {state.uuid for state in states}
    counted = [host for host in right if host.node.uuid in seen]
    kept, needed = bundle.kept(states), demands.read(
        context, bundle.parts, [
            bundle.specs[entry.key] for entry in bundle.entries],
        free.values(), bundle.destination)
    parts, state_of = host_parts.Hosts(needed), {
        state.uuid: state for state in states}
    packed, doubts = [], []
    for host in counted:
        found = free.get(host.node.uuid or '', capacity.Host({}, frozenset()))
        state = state_of[host.node.uuid]
        doubts += [*bundle.doubts(found), *parts.doubts(state)]
        packed.append(parts.packed(
            bundle.kinds, state, found, fitting.TargetHost(
                bundle.amounts(found),
                new_hosts.largest(host.node.vcpus, host.node.memory_mb,
                                  host.node.disk_gb),
                bundle.refused(found.traits, host.compute.host, kept))))
    return Counted(
        counted, packed, states, list(dict.fromkeys(doubts)),
        [host.name for host in able if not host.compute.answered or
         host in right and host not in counted], needed.unknown)
