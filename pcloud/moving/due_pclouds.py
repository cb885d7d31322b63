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
from pcloud.backend.cells import fenced_services
from pcloud.moving import shrinking
from pcloud import names
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.moving import recovery

CONF = cfg.CONF


def find(context: nova_context.RequestContext) -> dict[str, str]:
    """Return the Pclouds with due work.

    Two queries while no host is drained, in maintenance or recovered, no
    server is to be moved and no Pcloud shrinks, else four or five, and one
    query a cell. Where Pclouds have hosts recovered that fail, one query a
    cell more, and three queries and one a cell more while hosts are fenced or
    recovered.

    :returns: ``Pcloud id -> owner``
    """
    wished = step_rows.wished(context)
    failed = _with_due_recovery(context, wished)
    looked_at = frozenset().union(*(
        {*names.drains(each.kept), *names.idle(each.kept), *each.states}
        for each in wished.values()))
    used, silent = computes.known_in_use(
        context, looked_at) if looked_at else (frozenset(), frozenset())
    now = timeutils.utcnow_ts()
    return {pcloud_id: each.owner for pcloud_id, each in wished.items()
            if each.is_rebalanced or names.replaced(each.kept) or
            pcloud_id in failed or
            _has_due_drain(each.kept, used | silent, now) or
            _has_due_reaction(each, now) or
            shrinking.plan(each.shrink, each.kept, each.states, used, silent)}


def _with_due_recovery(
    context: nova_context.RequestContext,
    wished: Mapping[str, step_rows.Wished],
) -> frozenset[str]:
    """Return the Pclouds of whose hosts a recovery begins, goes on or ends."""
    kept = {pcloud_id: names.recoveries(each.kept)
            for pcloud_id, each in wished.items()}
    hosts = frozenset[str]().union(*kept.values())
    if any(recovery.policy(each.recovery) != recovery.OFF
           for each in wished.values()):
        hosts |= fenced_services.anywhere()
    if not hosts:
        return frozenset()
    services = fenced_services.of_hosts(context, hosts)
    now = timeutils.utcnow_ts()
    return frozenset(
        pcloud_id for pcloud_id, there
        in step_rows.members(context, hosts).items() if pcloud_id in wished
        and any(_is_due(wished[pcloud_id], services.get(host),
                        kept[pcloud_id].get(host), now) for host in there))


def _is_due(
    each: step_rows.Wished, service: recovery.Service | None,
    text: str | None, now: float,
) -> bool:
    """Whether something is due for the recovery of a host.

    :param text: the recovery as written, None without a recovery
    """
    policy, kept = recovery.policy(each.recovery), recovery.Recovery.known(
        text)
    what = recovery.due(
        policy, service, kept, CONF.pcloud.recovery_after, now)
    if what == recovery.MOVE and kept is not None:
        return not recovery.is_at_rest(kept, policy)
    return what != recovery.NOTHING


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
