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

"""A launch into a Pcloud that grows: room first, then the launch.

The launch waits for its turn. When there is room the launch keeps the room;
else free hosts join the Pcloud, and the launch keeps the room in the same
change. After Nova has answered the room is kept no longer: Nova's own records
show the servers from then on.

Rule: reference-default-pcloud-grow
"""

from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.backend import outages
from pcloud import exception
from pcloud.growth import joining
from pcloud.growth import room as rooms
from pcloud.growth import tickets
from pcloud.objects import allocation
from pcloud.objects import hosts
from pcloud.objects import meters
from pcloud.objects import pclouds
from pcloud.rules import default_pcloud

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# What keeps a Pcloud from growing, in words that are for the owner alone.
_OBSTACLES = (
    exception.GrowthLimit, exception.GrowthUseless, exception.NoFreeHost,
    exception.HostsSettling, exception.HostsContended,
    exception.HostFlavorNotFound, exception.QuotaExceeded)


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A launch for which there is room.

    :ivar grown: the hosts that have joined the Pcloud for the launch
    """

    ticket: tickets.Ticket
    launch: rooms.Launch
    grown: Sequence[hosts.Host]


def prepare(
    context: nova_context.RequestContext, pcloud_id: str,
    growth: default_pcloud.Growth, launch: rooms.Launch,
) -> Prepared:
    """Make sure that a Pcloud has room for a launch, and keep the room.

    The call waits at most twice ``[pcloud] growth_timeout`` for other
    launches. Afterwards `arrived` or `refused` has to be called.

    :param growth: how the Pcloud grows
    :raises: `exception.GrowthRefused`, `exception.QuotaExceeded`,
        `exception.GrowthBusy`, `exception.PcloudNotFound`,
        `exception.PcloudUnusable`, `exception.Unavailable`, and as
        `change.run`. After any error but `exception.OutcomeUnknown` nothing
        has changed.
    """
    ticket = tickets.draw(pclouds.head(context, pcloud_id))
    for _ in range(CONF.pcloud.allocation_attempts):
        tickets.take_turn(context, ticket)
        try:
            return _decide(context, ticket, growth, launch)
        except (tickets.TurnLost, allocation.Lost) as reason:
            LOG.info('A launch into Pcloud %(pcloud)s looks for room again: '
                     '%(reason)r', {'pcloud': pcloud_id, 'reason': reason})
            tickets.end_turn(context, ticket)
        except BaseException:
            _end_turn(context, ticket)
            raise
    raise exception.GrowthBusy(
        pcloud=pcloud_id, seconds=CONF.pcloud.growth_timeout)


def _decide(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
    growth: default_pcloud.Growth, launch: rooms.Launch,
) -> Prepared:
    """Keep room for a launch, in hosts that are there or in new hosts."""
    room = rooms.at_least(context, ticket, launch)
    if room.shortage(launch):
        tickets.wait(lambda: _is_quiet(context, ticket), ticket)
        room = rooms.exactly(context, ticket, launch)
    grown: list[hosts.Host] = []
    if room.shortage(launch):
        grown = _grow(context, ticket, growth, launch, room)
    else:
        tickets.reserve(context, ticket, launch.demand)
    return Prepared(ticket, launch, grown)


def _is_quiet(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
) -> bool:
    """Whether Nova has answered all launches that have room kept.

    Until then nobody can tell which of their servers count already.
    """
    tickets.renew(context, ticket)
    return not tickets.reservations(context, ticket)


def _grow(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
    growth: default_pcloud.Growth, launch: rooms.Launch, room: rooms.Room,
) -> list[hosts.Host]:
    """Add as many hosts as a launch needs, all in one change, or none.

    :raises: `exception.GrowthRefused`, `exception.QuotaExceeded`
    """
    try:
        chosen = joining.choose(context, ticket, growth, launch, room)
        joining.add(context, ticket, growth, launch, chosen)
    except _OBSTACLES as error:
        meters.refused(growth.host_flavor, error)
        if context.project_id != ticket.pcloud.owner:
            # How much the owner has is not for others.
            raise exception.GrowthRefused(
                pcloud=ticket.pcloud.id, count=launch.demand.count,
                reason='it cannot grow now')
        if isinstance(error, exception.QuotaExceeded):
            raise
        raise exception.GrowthRefused(
            pcloud=ticket.pcloud.id, count=launch.demand.count, reason=error)
    return chosen


def arrived(
    context: nova_context.RequestContext, prepared: Prepared,
) -> None:
    """Keep the room of a launch no longer, as Nova has taken the launch."""
    try:
        tickets.drop(context, prepared.ticket)
    except outages.ANY as error:
        LOG.warning('Room in Pcloud %(pcloud)s is kept until it lapses: '
                    '%(error)s', {'pcloud': prepared.ticket.pcloud.id,
                                  'error': error})


def refused(
    context: nova_context.RequestContext, prepared: Prepared,
) -> None:
    """Undo what was done for a launch that Nova has refused.

    Where that fails, the reservation lapses, and `audit` finds hosts that
    nobody needs.
    """
    ticket = prepared.ticket
    try:
        if prepared.grown:
            tickets.take_turn(context, ticket)
            # Another launch may count on the room of the hosts.
            tickets.wait(lambda: _is_quiet(context, ticket), ticket)
            joining.give_back(
                context, ticket, prepared.launch, prepared.grown)
        tickets.drop(context, ticket)
    except (tickets.TurnLost, *outages.ANY) as error:
        LOG.warning('Pcloud %(pcloud)s may have grown for a launch that was '
                    'refused; audit finds it: %(error)r',
                    {'pcloud': ticket.pcloud.id, 'error': error})
    finally:
        if prepared.grown:
            _end_turn(context, ticket)


def _end_turn(
    context: nova_context.RequestContext, ticket: tickets.Ticket,
) -> None:
    """End a turn after an error; a turn that cannot be ended lapses."""
    try:
        tickets.end_turn(context, ticket)
    except outages.ANY as error:
        LOG.warning('The turn of a launch into Pcloud %(pcloud)s lasts until '
                    'it lapses: %(error)s', {'pcloud': ticket.pcloud.id,
                                             'error': error})
