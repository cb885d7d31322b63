# SPDX-License-Identifier: Apache-2.0

"""Do what is due for a Pcloud: recoveries, maintenances, drains, moves.

Workers alone do so, one at a time for a Pcloud. Nova does the moving; the
process that begins a move does not wait for the end.

Rule: reference-draining-moving
"""

from collections.abc import Sequence
import secrets
import time

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import maintenance_rows
from pcloud.backend.aggregates import step_rows
from pcloud.backend.calls import server_calls
from pcloud.backend.cells import past_moves
from pcloud.backend.changes import journal
from pcloud.backend import outages
from pcloud.moving import asking
from pcloud.moving import drain_plan
from pcloud.moving import drains
from pcloud.moving import failed_hosts
from pcloud.moving import maintenance_reactions
from pcloud.moving import rebalancer
from pcloud.moving import recoveries
from pcloud.moving import shrinking
from pcloud import names
from pcloud.objects import pclouds
from pcloud.objects import turns
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import recovery

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Seconds after which a worker is taken for dead that has the turn of a Pcloud:
# two of the default intervals between passes.
_LASTS = 20


def step(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> None:
    """Do what is due for the hosts of a Pcloud, as far as possible.

    No step is made while another worker has the turn. A step that fails stays
    due, and holds up no other step.

    :raises: as `change.run`, and further of `outages.ANY`, before the first
        step

    Rule: reference-draining-steps, reference-maintenance-policy,
    reference-shrinking-steps
    """
    if _is_over(context, pcloud):
        return
    turn = turns.Turn(
        names.JOURNAL, names.moving_key(pcloud.id),
        journal.moving_anchor(pcloud.id), secrets.token_hex(4), _LASTS)
    if not (turns.is_free(context, turn) and turns.take(context, turn)):
        return
    try:
        _step(context, pcloud, time.monotonic() + _LASTS / 2)
    finally:
        turns.end(context, turn)


def _is_over(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> bool:
    """Whether nothing is wished any more of a Pcloud that was due (one query).

    Another worker has done it all: a turn would be two changes for nothing.
    """
    return (pcloud.host_recovery == recovery.OFF and
            pcloud.shrink is None and
            pcloud.maintenance_policy == maintenance_policies.STAY and
            not step_rows.wishes(context, pcloud.aggregate.id, pcloud.id))


def _step(
    context: nova_context.RequestContext, pcloud: pclouds.Head, end: float,
) -> None:
    """Do what is due, in a turn.

    :param end: no server sets off later, by the monotonic clock
    """
    wishes = step_rows.wishes(context, pcloud.aggregate.id, pcloud.id)
    if (names.recoveries(wishes) or names.replaced(wishes) or
            pcloud.host_recovery != recovery.OFF):
        recoveries.step(context, pcloud)
    # Read afterwards: a reaction without a maintenance is over for certain.
    announced = {row.host: row for row in maintenance_rows.maintenances(
        context, pcloud_id=pcloud.aggregate.id)}
    seen = names.reactions(wishes)
    if pcloud.shrink is not None or names.idle(wishes):
        _shrink(context, pcloud)
    if seen or names.replaced(wishes) or (
            announced and
            pcloud.maintenance_policy != maintenance_policies.STAY):
        maintenance_reactions.step(context, pcloud, seen, announced)
    drains.step(context, pcloud, drains.drained(context, pcloud))
    try:
        _move(context, pcloud, end)
    except outages.ANY as error:
        LOG.warning('Servers of Pcloud %(pcloud)s have still to be moved: '
                    '%(error)s', {'pcloud': pcloud.id, 'error': error})


def _shrink(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> None:
    """Have hosts leave that have been empty for long, as far as possible."""
    try:
        shrinking.step(context, pcloud)
    except outages.ANY as error:
        LOG.warning('Empty hosts of Pcloud %(pcloud)s have still to leave: '
                    '%(error)s', {'pcloud': pcloud.id, 'error': error})


def _move(
    context: nova_context.RequestContext, pcloud: pclouds.Head, end: float,
) -> None:
    """Move servers of failed and drained hosts, and then of a rebalance.

    A drain of a host that has failed moves nothing.

    :param end: as `_step`
    """
    begun = failed_hosts.begun(context, pcloud)
    names_ = {each.host for each in begun}
    drained = [drain_plan.Drained(row.host, row.node, drain) for row, drain
               in drains.drained(context, pcloud)
               if drain.move != draining.NONE and row.host not in names_]
    failed = failed_hosts.failed(context, pcloud, begun)
    if failed or drained:
        _move_some(context, pcloud, failed, drained, end)
    if step_rows.rebalance(context, pcloud.id):
        rebalancer.step(context, pcloud, end)


def confirm(context: nova_context.RequestContext) -> None:
    """Confirm the cold migrations that Pcloud has begun, in the whole cloud.

    A cancelled drain leaves a server elsewhere.
    """
    for server in past_moves.to_confirm_anywhere():
        asking.ask(server_calls.confirm, context, server)


def _move_some(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    failed: Sequence[drain_plan.Drained],
    drained: Sequence[drain_plan.Drained], end: float,
) -> None:
    """Confirm the moves that have arrived, and begin the next moves.

    :param end: no server sets off later, by the monotonic clock
    """
    _repair(context, [each.host for each in failed],
            [each.host for each in drained])
    if all(each.drain.is_overdue(timeutils.utcnow_ts())
           for each in (*failed, *drained)):
        return
    plan = drain_plan.read(context, pcloud.id, [*failed, *drained])
    _set_off(context, [
        *[each for each in plan.moves if each.has_failed][:plan.most_started],
        *[each for each in plan.moves if not each.has_failed]],
        plan.most, end)


def _repair(
    context: nova_context.RequestContext, failed: Sequence[str],
    drained: Sequence[str],
) -> None:
    """Confirm moves that have arrived, and forget moves that got lost.

    :param failed: service hosts, as `drained`
    """
    before = timeutils.utcnow_ts() - CONF.pcloud.settle_limit
    if failed:
        for server in past_moves.lost_evacuations(context, failed, before):
            asking.ask(server_calls.forget_evacuation, context, server)
        for server in past_moves.given_up(context, failed):
            asking.ask(server_calls.forget_failed_move, context, server)
    if drained:
        for server in past_moves.to_confirm(context, drained):
            asking.ask(server_calls.confirm, context, server)
        for server in past_moves.lost(context, drained, before):
            asking.ask(server_calls.forget_move, context, server)


def _set_off(
    context: nova_context.RequestContext, moves: Sequence[drain_plan.Move],
    most: int, end: float,
) -> None:
    """Have servers started anew or moved.

    :param most: how many servers of drained hosts may set off
    :param end: no server sets off later, by the monotonic clock
    """
    moved = 0
    for number, each in enumerate(moves):
        # A worker that was slow has lost its turn.
        if time.monotonic() > end or (
                not each.has_failed and moved >= most):
            return
        if not number:
            server_calls.check_services(context)
        if each.has_failed:
            asking.ask(server_calls.evacuate, context, each.server)
            continue
        moved += asking.ask(
            server_calls.move_live if each.is_live else
            server_calls.move_cold, context, each.server,
            each.place if each.only_there else None)
