# SPDX-License-Identifier: Apache-2.0

"""Do what is due for the hosts of a Pcloud: maintenances, drains, moves.

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
from pcloud.moving import maintenance_reactions
from pcloud.moving import rebalancer
from pcloud.moving import shrinking
from pcloud import names
from pcloud.objects import pclouds
from pcloud.objects import turns
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies

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
    turn = turns.Turn(
        names.JOURNAL, names.moving_key(pcloud.id),
        journal.moving_anchor(pcloud.id), secrets.token_hex(4), _LASTS)
    if not (turns.is_free(context, turn) and turns.take(context, turn)):
        return
    try:
        _step(context, pcloud, time.monotonic() + _LASTS / 2)
    finally:
        turns.end(context, turn)


def _step(
    context: nova_context.RequestContext, pcloud: pclouds.Head, end: float,
) -> None:
    """Do what is due, in a turn.

    :param end: no server sets off later, by the monotonic clock
    """
    wishes = step_rows.wishes(context, pcloud.aggregate.id, pcloud.id)
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
    """Move servers of drained hosts, and then those of a rebalance.

    :param end: as `_step`
    """
    drained = [drain_plan.Drained(row.host, row.node, drain) for row, drain
               in drains.drained(context, pcloud)
               if drain.move != draining.NONE]
    if drained:
        _move_some(context, pcloud, drained, end)
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
    drained: Sequence[drain_plan.Drained], end: float,
) -> None:
    """Confirm the moves that have arrived, and begin the next moves.

    :param end: no server sets off later, by the monotonic clock
    """
    hosts = [each.host for each in drained]
    for server in past_moves.to_confirm(context, hosts):
        asking.ask(server_calls.confirm, context, server)
    for server in past_moves.lost(
            context, hosts, timeutils.utcnow_ts() - CONF.pcloud.settle_limit):
        asking.ask(server_calls.forget_move, context, server)
    if all(each.drain.is_overdue(timeutils.utcnow_ts()) for each in drained):
        return
    plan = drain_plan.read(context, pcloud.id, drained)
    begun = 0
    for each in plan.moves:
        # A worker that was slow has lost its turn.
        if begun >= plan.most or time.monotonic() > end:
            return
        if not begun:
            server_calls.check_services(context)
        begun += asking.ask(
            server_calls.move_live if each.is_live else
            server_calls.move_cold, context, each.server,
            each.place if each.only_there else None)
