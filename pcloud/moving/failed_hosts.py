# SPDX-License-Identifier: Apache-2.0

"""Failed hosts of Pclouds, with servers to start elsewhere.

Rule: reference-recovery-trigger
"""

from collections.abc import Sequence

from nova import context as nova_context
from oslo_config import cfg
from oslo_utils import timeutils

from pcloud.backend.aggregates import step_rows
from pcloud.backend.cells import fenced_services
from pcloud.moving import drain_plan
from pcloud.objects import pclouds
from pcloud.rules.moving import draining
from pcloud.rules.moving import recovery

CONF = cfg.CONF


def begun(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> list[drain_plan.Drained]:
    """Return the hosts of a Pcloud with a begun recovery (one query)."""
    return [each for each, kept in _recovering(context, pcloud)
            if kept.has_begun]


def recovering(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> list[drain_plan.Drained]:
    """Return `begun` and the hosts with a held recovery (one query)."""
    return [each for each, _ in _recovering(context, pcloud)]


def _recovering(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> list[tuple[drain_plan.Drained, recovery.Recovery]]:
    return [(drain_plan.Drained(row.host, row.node, draining.Drain(
        kept.since, draining.ANY), has_failed=True), kept)
        for row in step_rows.recovering(context, pcloud.aggregate.id)
        if (kept := recovery.Recovery.known(row.recovery)) is not None]


def failed(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    begun: Sequence[drain_plan.Drained],
) -> list[drain_plan.Drained]:
    """Return the hosts with servers to be started on other hosts now.

    The queries of `fenced_services.of_hosts`. A host up again, or not fenced
    any more, keeps the servers left on the host; so does every host while the
    owner wishes for no recoveries.

    :param begun: the hosts as `begun` returns the hosts
    """
    if pcloud.host_recovery == recovery.OFF:
        return []
    services = fenced_services.of_hosts(context, [
        each.host for each in begun])
    now = timeutils.utcnow_ts()
    return [each for each in begun if recovery.has_failed(
        services.get(each.host), CONF.pcloud.recovery_after, now)]
