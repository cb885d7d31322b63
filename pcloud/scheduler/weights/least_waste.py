# SPDX-License-Identifier: Apache-2.0

"""Weigh hosts by the resources wasted on a host."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager

from pcloud import exception
from pcloud.rules.placing import machines
from pcloud.scheduler import host_capacity
from pcloud.scheduler import host_holdings
from pcloud.scheduler import host_kinds
from pcloud.scheduler import request
from pcloud.scheduler.weights import base


class LeastWasteWeigher(base.ScoreWeigher):
    """Prefer hosts that exceed the constraints of a request the least.

    Memory counts first, then cpus, then storage, then each resource class that
    is asked for.

    Rule: reference-constraints-waste
    """

    option = 'waste_weight_multiplier'

    def scores(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[float]:
        """Return the score of each host's waste."""
        try:
            what = machines.wanted(request.constraint_settings(spec))
            kinds, wastes = _wastes(host_states, spec, what)
        except (exception.Invalid, exception.PlacementSilent):
            # ConstraintsFilter, where it is on, has ended the request.
            return [0.0] * len(host_states)
        return base.among_equals(
            host_states, spec, kinds,
            lambda some, counts: machines.waste_scores(
                [wastes[kind] for kind in some]))


def _wastes(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    what: machines.Wanted,
) -> tuple[list[int], list[tuple]]:
    """Return the kind of each host, and the waste of each kind."""
    sized, sizes = host_capacity.grouped(host_states)
    if not what.resources:
        return sized, [machines.waste(what, each, {}) for each in sizes]
    holding, held = host_holdings.grouped(host_states, spec, what)
    of_hosts, different = host_kinds.numbered(
        zip(sized, holding, strict=True))
    return of_hosts, [machines.waste(what, sizes[size], held[having][0])
                      for size, having in different]
