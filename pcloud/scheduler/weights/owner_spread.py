# SPDX-License-Identifier: Apache-2.0

"""Weigh hosts by the servers that the project has there."""

from __future__ import annotations

from collections.abc import Sequence

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager

from pcloud.backend.cells import servers
from pcloud.rules.placing import spread
from pcloud.scheduler import host_kinds
from pcloud.scheduler import memo
from pcloud.scheduler import siblings
from pcloud.scheduler.weights import base


class OwnerSpreadWeigher(base.ScoreWeigher):
    """Prefer hosts with few servers of the project of the new server.

    One query a request, and none while the multiplier is 0.

    Rule: reference-attributes-owner
    """

    option = 'owner_spread_weight_multiplier'

    def scores(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[float]:
        """Return the score of each host's number of servers."""
        kinds, counts = host_kinds.numbered(_counts(host_states, spec))
        return base.among_equals(
            host_states, spec, kinds, lambda some, _: spread.scores(
                [counts[kind] for kind in some]))


def _counts(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> list[int]:
    """Return the number of the project's servers on each host.

    Servers of the request that were placed before count too.
    """
    request_memo = memo.of_request(spec)
    if request_memo.owned is None:
        own = servers.all_of_project(
            nova_context.get_admin_context(), spec.project_id)
        request_memo.owned = {
            host_state.host: len(own.intersection(host_state.instances))
            for host_state in host_states}
    placed = siblings.numbers(spec, host_states)
    return [request_memo.owned.get(host_state.host, 0) +
            placed.get(host_state.host, 0) for host_state in host_states]
