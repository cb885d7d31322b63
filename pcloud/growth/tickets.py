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

"""The turns of launches in a Pcloud, and the room that is kept for launches.

Of all launches that may let a Pcloud grow, one at a time decides. A row in the
metadata of the Pcloud says whose turn it is. The launch whose turn it is keeps
room for its servers in a row of its own, until Nova has answered. Whoever dies
leaves a turn, or a reservation, that lapses.

Rule: reference-default-pcloud-grow-turns
"""

from collections.abc import Callable
import dataclasses
import random
import secrets
import time

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend import change
from pcloud.backend import growth_rows
from pcloud.backend import journal
from pcloud.backend import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import pclouds
from pcloud.objects import turns
from pcloud.rules import growth as rules
from pcloud.rules import turns as turn_rules

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Seconds between two looks at a turn of somebody else.
_PAUSE = 0.1, 0.4


class TurnLost(Exception):
    """The turn has lapsed, and somebody else has the turn."""


@dataclasses.dataclass(frozen=True)
class Ticket:
    """A launch into a Pcloud that may grow.

    :ivar token: what tells the launch from all others
    """

    pcloud: pclouds.Head
    token: str


def draw(pcloud: pclouds.Head) -> Ticket:
    """Return the ticket of a new launch into a Pcloud."""
    return Ticket(pcloud, secrets.token_hex(4))


def take_turn(
    context: nova_context.RequestContext, ticket: Ticket,
) -> None:
    """Wait for the turn, for at most ``[pcloud] growth_timeout``.

    One query a look, and one change when nobody has the turn.

    :raises: `exception.GrowthBusy` when the turn of others lasts longer, and
        as `change.run`
    """
    turn = _turn(ticket)
    wait(lambda: turns.is_free(context, turn) and turns.take(context, turn),
         ticket)


def wait(come: Callable[[], bool], ticket: Ticket) -> None:
    """Look again until something has come, at most `[pcloud] growth_timeout`.

    :raises: `exception.GrowthBusy`
    """
    deadline = time.monotonic() + CONF.pcloud.growth_timeout
    while not come():
        if time.monotonic() > deadline:
            raise exception.GrowthBusy(
                pcloud=ticket.pcloud.id, seconds=CONF.pcloud.growth_timeout)
        time.sleep(random.uniform(*_PAUSE))


def _turn(ticket: Ticket) -> turns.Turn:
    return turns.Turn(ticket.pcloud, names.GROWTH_TURN, _anchor(ticket),
                      ticket.token, CONF.pcloud.growth_timeout)


def has_lapsed(reservation: rules.Reservation) -> bool:
    """Whether the process that wrote a reservation is taken for dead."""
    return turn_rules.has_lapsed(
        reservation.until, CONF.pcloud.growth_timeout, timeutils.utcnow_ts())


def _lapse() -> int:
    return int(timeutils.utcnow_ts() + CONF.pcloud.growth_timeout) + 1


def _anchor(ticket: Ticket) -> str:
    return journal.growth_anchor(ticket.pcloud.id)


def anchors(ticket: Ticket) -> list[str]:
    """Return the anchors of a change of the Pcloud within the turn."""
    return [journal.pcloud_anchor(ticket.pcloud.id),
            journal.owner_anchor(ticket.pcloud.owner), _anchor(ticket)]


def check_turn(written: writes.Rows, ticket: Ticket) -> None:
    """Make sure, within a change, that a launch still has the turn.

    :raises: `TurnLost`
    """
    if not turns.is_own(written, _turn(ticket)):
        raise TurnLost()


def renew(context: nova_context.RequestContext, ticket: Ticket) -> None:
    """Keep the turn for longer, so that a slow launch has the turn.

    :raises: `TurnLost`, and as `change.run`
    """
    if not turns.renew(context, _turn(ticket)):
        raise TurnLost()


def write_reservation(
    written: writes.Rows, ticket: Ticket, demand: rules.Demand,
) -> None:
    """Keep room for a launch, and end the turn, within a change."""
    aggregate_id = ticket.pcloud.aggregate.id
    written.insert(aggregate_id, {names.growth_key(ticket.token): str(
        rules.Reservation(_lapse(), demand))})
    written.drop(aggregate_id, [names.GROWTH_TURN])


def reserve(
    context: nova_context.RequestContext, ticket: Ticket,
    demand: rules.Demand,
) -> None:
    """Keep room for a launch, and end the turn.

    :raises: `TurnLost`, and as `change.run`
    """
    def work(written: writes.Rows) -> None:
        check_turn(written, ticket)
        write_reservation(written, ticket, demand)

    change.run(context, [_anchor(ticket)], work)


def end_turn(context: nova_context.RequestContext, ticket: Ticket) -> None:
    """End the turn of a launch, if the launch still has the turn."""
    turns.end(context, _turn(ticket))


def drop(context: nova_context.RequestContext, ticket: Ticket) -> None:
    """Keep room for a launch no longer."""
    change.run(context, [_anchor(ticket)], lambda written: written.drop(
        ticket.pcloud.aggregate.id, [names.growth_key(ticket.token)]))


def reservations(
    context: nova_context.RequestContext, ticket: Ticket,
) -> dict[str, rules.Reservation]:
    """Return the room kept for other launches (one query).

    Lapsed reservations, and values that nobody can read, are left out.

    :returns: ``token -> reservation``
    """
    found = {}
    for token, text in growth_rows.reservations(
            context, ticket.pcloud.aggregate.id).items():
        try:
            reservation = rules.parse(text)
        except exception.InvalidReservation:
            continue
        if token != ticket.token and not has_lapsed(reservation):
            found[token] = reservation
    return found
