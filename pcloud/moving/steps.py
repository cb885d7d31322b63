# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Do what is due for the hosts of a Pcloud: maintenances, drains, moves.

One process at a time moves servers of a Pcloud. Nova does the moving; who
begins a move does not wait for its end.

Rule: reference-draining-moving
"""

from collections.abc import Callable
from collections.abc import Sequence
import functools
import secrets
import time

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend import journal
from pcloud.backend import outages
from pcloud.backend import past_moves
from pcloud.backend import pcloud_rows
from pcloud.backend import server_calls
from pcloud import exception
from pcloud.moving import asking
from pcloud.moving import plans
from pcloud.moving import rebalancer
from pcloud import names
from pcloud.objects import drains
from pcloud.objects import maintenance
from pcloud.objects import pclouds
from pcloud.objects import reactions
from pcloud.objects import turns
from pcloud.rules import draining
from pcloud.rules import reactions as rules

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# What is done in a turn, up to a time of the monotonic clock.
_Work = Callable[[float], None]

# Seconds after which a process that moves servers is taken for dead.
_LASTS = 120


def step(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    but: str | None = None,
) -> None:
    """Do what is due for the hosts of a Pcloud, as far as possible.

    Two queries while no host is drained or going to be in maintenance. Nothing
    that fails here may fail the call that comes by: what could not be done
    stays due.

    :param but: the name, in any letter case, of a host that the call itself
        is about; None for no host

    Rule: reference-draining-steps, reference-maintenance-steps
    """
    wishes = pcloud_rows.wishes(context, pcloud.aggregate.id)
    # Read afterwards: a reaction without a maintenance is over for certain.
    announced = maintenance.step_pcloud(context, pcloud.aggregate.id)
    seen = names.reactions(wishes)
    if announced is not None and (
            seen or names.replaced(wishes) or announced and (
                pcloud.maintenance_policy != rules.STAY)):
        reactions.step(context, pcloud, seen, announced, but)
    elif not (names.drains(wishes) or names.rebalance(wishes)):
        return
    there = drains.drained(context, pcloud, but)
    drains.step(context, pcloud, there)
    if names.rebalance(wishes) or any(
            drain.move != draining.NONE for _, drain in there):
        move(context, pcloud, but)


def step_by_id(
    context: nova_context.RequestContext, pcloud_id: str | None,
) -> None:
    """Do what is due for the hosts of a Pcloud, if there is such a Pcloud."""
    try:
        pcloud = pclouds.head(context, pcloud_id or '')
    except outages.ANY as error:
        LOG.info('Nothing is due for a Pcloud: %(error)s', {'error': error})
        return
    step(context, pcloud)


def move(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    but: str | None = None,
) -> None:
    """Move servers of a Pcloud, as far as possible.

    Servers of drained hosts come first, then those of a rebalance. A call that
    is about a host makes no move of a rebalance: the call may close the host.

    :param but: as for `step`
    """
    try:
        drained = [plans.Drained(row.host, row.node, drain) for row, drain
                   in drains.drained(context, pcloud, but)
                   if drain.move != draining.NONE]
        works: list[_Work] = []
        if drained:
            works.append(functools.partial(
                _move_some, context, pcloud, drained))
        if but is None and pcloud_rows.rebalance(
                context, pcloud.aggregate.id):
            works.append(functools.partial(
                rebalancer.step, context, pcloud))
        if works:
            _in_turn(context, pcloud, works)
    except outages.ANY as error:
        LOG.warning('Servers of Pcloud %(pcloud)s have still to be moved: '
                    '%(error)s', {'pcloud': pcloud.id, 'error': error})


def confirm(context: nova_context.RequestContext) -> None:
    """Confirm the cold migrations that Pcloud has begun, in the whole cloud.

    Who cancels a drain leaves a server that has moved already.
    """
    for server in past_moves.to_confirm_anywhere():
        asking.ask(server_calls.confirm, context, server)


def _in_turn(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    works: Sequence[_Work],
) -> None:
    """Work, unless another process has the turn.

    :raises: `exception.PcloudNotFound`
    """
    turn = turns.Turn(
        names.pcloud(pcloud.id), names.MOVING_TURN,
        journal.moving_anchor(pcloud.id), secrets.token_hex(4), _LASTS)
    try:
        if not (turns.is_free(context, turn) and turns.take(context, turn)):
            return
    except exception.AggregateGone:
        raise exception.PcloudNotFound(pcloud=pcloud.id)
    try:
        end = time.monotonic() + _LASTS / 2
        for work in works:
            work(end)
    finally:
        turns.end(context, turn)


def _move_some(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    drained: Sequence[plans.Drained], end: float,
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
    plan = plans.read(context, pcloud.id, drained)
    begun = 0
    for each in plan.moves:
        # A process that was slow has lost its turn.
        if begun >= plan.most or time.monotonic() > end:
            return
        if not begun:
            server_calls.check_services(context)
        begun += asking.ask(
            server_calls.move_live if each.is_live else
            server_calls.move_cold, context, each.server,
            each.place if each.only_there else None)
