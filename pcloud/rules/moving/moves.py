# SPDX-License-Identifier: Apache-2.0

"""Which servers of drained hosts are moved where, and which have to wait.

Rule: reference-draining-moving
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.moving import blockers
from pcloud.rules.moving import draining

# A server that was moved so often within so many seconds stays.
_MOST, _PERIOD = 2, 3600
# Seconds to wait after the first failure, and at most.
_SHORTEST, _LONGEST = 60, 3600
# How many seconds of the past decide.
HISTORY = 24 * 3600


# Nova's words for states of servers.
_STOPPED = 'stopped'

_NO_REQUEST = blockers.NOT_MIGRATABLE, coded.Reason('request_unknown')
_IS_STOPPED = blockers.NOT_MIGRATABLE, coded.Reason('stopped')
# Nova's words for the power of servers that Nova migrates live.
_POWERED = ('running', 'paused')
_NOT_FOR_PCLOUD = blockers.PLACEMENT, coded.Reason('not_for_pcloud')
_NOT_A_TENANT = blockers.PLACEMENT, coded.Reason('not_a_tenant')
_PINNED = blockers.PLACEMENT, coded.Reason('pinned')


@dataclasses.dataclass(frozen=True)
class Past:
    """A migration of a server that is over, whoever has asked for it.

    :ivar ended: in seconds since the epoch
    :ivar arrived: whether the server has moved
    :ivar had_target: whether Nova had found a host for the server
    :ivar is_evacuation: whether the server was to be started anew, because its
        host had failed
    :ivar is_refused: whether each host that Nova has found for the latest
        live migration has said that it cannot take over the server
    """

    ended: float
    arrived: bool
    had_target: bool
    is_evacuation: bool = False
    is_refused: bool = False


@dataclasses.dataclass(frozen=True)
class Wait:
    """Why a server is not moved before a moment.

    :ivar rule: as `blockers` names it
    :ivar since: in seconds since the epoch, as `until`
    """

    rule: str
    reason: coded.Reason
    since: float
    until: float


def goes_live(server: blockers.ServerState) -> bool:
    """Whether a server is migrated live; else the migration is cold."""
    return server.vm_state != _STOPPED


def obstacle(
    server: blockers.ServerState, move: str, is_known: bool, is_inside: bool,
    is_tenant: bool, is_pinned: bool,
) -> blockers.Why | None:
    """Return the rule and the reason that keep a server from being moved.

    The first row that fits counts:

    =========  ======  =====  ======  ======  ======  ==============
    state      move    known  inside  tenant  pinned  rule
    =========  ======  =====  ======  ======  ======  ==============
    a blocker  any     any    any     any     any     as `blockers`
    stopped    `LIVE`  any    any     any     any     not_migratable
    no power   any     any    any     any     any     not_migratable
    any        any     no     any     any     any     not_migratable
    any        any     yes    no      any     any     placement
    any        any     yes    yes     no      any     placement
    any        any     yes    yes     yes     yes     placement
    any        any     yes    yes     yes     no      none
    =========  ======  =====  ======  ======  ======  ==============

    A server has no power that is not stopped, and is neither running nor
    paused as its hypervisor has it.

    :param move: `draining.LIVE` or `draining.ANY`
    :param is_known: whether Nova knows what the server was started with
    :param is_inside: whether the server was started for the Pcloud, or
        prefers the Pcloud
    :param is_tenant: whether the server's project is a tenant of the Pcloud
    :param is_pinned: whether the server was started for one host alone
    """
    why = blockers.why(server)
    if why is not None:
        return why
    if move == draining.LIVE and not goes_live(server):
        return _IS_STOPPED
    if goes_live(server) and server.power_state not in _POWERED:
        return blockers.NOT_MIGRATABLE, coded.Reason(
            'power_not_migratable', power_state=server.power_state)
    return misplaced(is_known, is_inside, is_tenant, is_pinned)


def misplaced(
    is_known: bool, is_inside: bool, is_tenant: bool, is_pinned: bool,
) -> blockers.Why | None:
    """Return why Nova would find no host of the Pcloud for a server.

    The last four rows of the table in `obstacle`, with the same arguments.
    """
    if not is_known:
        return _NO_REQUEST
    if not is_inside:
        return _NOT_FOR_PCLOUD
    if not is_tenant:
        return _NOT_A_TENANT
    return _PINNED if is_pinned else None


def wait(history: Collection[Past], now: float) -> Wait | None:
    """Return why a server waits, by the past of the last 24 hours.

    The first row that fits counts:

    ===================================  ==============  ==================
    past                                 rule            until
    ===================================  ==============  ==================
    moved twice within an hour           migration       an hour after the
                                                         first of the two
    *n* failures since the latest move,  not_migratable  2^(n-1) minutes
    and hosts have refused at the                        after the latest,
    latest                                               at most 60
    *n* failures since the latest move,  placement       likewise
    and no host was found at the latest
    *n* failures since the latest move   migration       likewise
    any other                            none
    ===================================  ==============  ==================

    A wait whose end has passed tells why the server is still there.

    :param history: in any order
    :param now: seconds since the epoch
    """
    latest_first = sorted(history, key=lambda past: past.ended, reverse=True)
    moved = [past.ended for past in latest_first
             if past.arrived and past.ended > now - _PERIOD]
    if len(moved) >= _MOST:
        until = moved[_MOST - 1] + _PERIOD
        return Wait(
            blockers.MIGRATION,
            coded.Reason('moved_often', until=coded.moment(until)),
            moved[0], until)
    failures = _failures(latest_first)
    if not failures:
        return None
    # A clock that was ahead must not make the server wait for longer.
    last = min(failures[0].ended, now)
    until = last + min(_SHORTEST * 2 ** (len(failures) - 1), _LONGEST)
    rule, code = _failure(failures[0])
    return Wait(rule, coded.Reason(code, until=coded.moment(until)),
                last, until)


def _failure(latest: Past) -> tuple[str, str]:
    """Return the rule and the code of the reason of the latest failure."""
    if latest.is_refused:
        return blockers.NOT_MIGRATABLE, 'hosts_refuse'
    if latest.had_target:
        return blockers.MIGRATION, 'migration_failed'
    return blockers.PLACEMENT, 'nova_found_no_host'


def _failures(latest_first: Collection[Past]) -> list[Past]:
    """Return the failures since the latest move."""
    failures = []
    for past in latest_first:
        if past.arrived:
            break
        failures.append(past)
    return failures


def plan(
    free: Mapping[str, capacity.Host], needs: Mapping[str, capacity.Need],
    ranks: Mapping[str, int],
) -> dict[str, str]:
    """Find places for servers together, so that as many as possible move.

    Of servers of a rank large servers come first, each on the host that has
    capacity for the fewest such servers. A scheduler may place the servers
    otherwise.

    :param free: ``host -> what is free``
    :param needs: ``server -> need``
    :param ranks: ``server -> rank``, the lowest first
    :returns: ``server -> host``, in the order in which the servers are to be
        moved; a server without a place has no entry
    """
    left, places = dict(free), {}
    for server, need in sorted(
            needs.items(), key=lambda pair: (
                ranks[pair[0]],
                [-amount for amount in capacity.size(pair[1])], pair[0])):
        fitting = [(number, host) for host, its in left.items()
                   if (number := capacity.fits(need, its))]
        if fitting:
            _, host = min(fitting)
            places[server] = host
            left[host] = capacity.without(left[host], need)
    return places
