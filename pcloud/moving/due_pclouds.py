# SPDX-License-Identifier: Apache-2.0

"""Find the Pclouds with due work for hosts.

A host may stay drained, and a maintenance announced, for weeks: workers look
at all such Pclouds together, and go on with the due Pclouds alone.

Rule: reference-worker-passes
"""

from collections.abc import Collection
from collections.abc import Mapping

from nova import context as nova_context
from oslo_config import cfg
from oslo_utils import timeutils

from pcloud.backend.aggregates import step_rows
from pcloud.backend.cells import computes
from pcloud.moving import shrinking
from pcloud import names
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows

CONF = cfg.CONF


def find(context: nova_context.RequestContext) -> dict[str, str]:
    """Return the Pclouds with due work.

    Two queries while no host is drained or in maintenance, no server is to be
    moved and no Pcloud shrinks, else four or five, and one query a cell.

    :returns: ``Pcloud id -> owner``
    """
    wished = step_rows.wished(context)
    looked_at = frozenset().union(*(
        {*names.drains(each.kept), *names.idle(each.kept), *each.states}
        for each in wished.values()))
    used, silent = computes.known_in_use(
        context, looked_at) if looked_at else (frozenset(), frozenset())
    now = timeutils.utcnow_ts()
    return {pcloud_id: each.owner for pcloud_id, each in wished.items()
            if each.is_rebalanced or names.replaced(each.kept) or
            _has_due_drain(each.kept, used | silent, now) or
            _has_due_reaction(each, now) or
            shrinking.plan(each.shrink, each.kept, each.states, used, silent)}


def _has_due_drain(
    kept: Mapping[str, str], used: Collection[str], now: float,
) -> bool:
    return any(
        not draining.is_at_rest(drain, host in used, now)
        for host, text in names.drains(kept).items()
        if (drain := draining.Drain.known(text)) is not None)


def _has_due_reaction(each: step_rows.Wished, now: float) -> bool:
    """Whether a host's reaction to a maintenance has to begin or to end."""
    seen = names.reactions(each.kept)
    announced = {host: found for host, text
                 in names.maintenances(each.kept).items()
                 if (found := maintenance_windows.of(text)) is not None}
    return any(maintenance_policies.NOTHING != maintenance_policies.due(
        maintenance_policies.policy(each.policy),
        announced[host].begin if host in announced else None,
        maintenance_policies.Reaction.known(seen.get(host)),
        CONF.pcloud.maintenance_lead, now)
        for host in {*seen, *announced})
