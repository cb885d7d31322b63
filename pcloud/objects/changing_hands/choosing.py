# SPDX-License-Identifier: Apache-2.0

"""Choose free hosts of a pool at random.

Rule: reference-allocation-choice
"""

from collections.abc import Collection
from collections.abc import Iterator
import random

from nova import context as nova_context

from pcloud.backend.aggregates import pool_rows
from pcloud.backend.cells import arrivals
from pcloud.backend.cells import computes
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud.objects.changing_hands import pool_hosts
from pcloud.objects import pclouds
from pcloud.objects import quotas
from pcloud.objects import reconcile
from pcloud.rules.placing import choice
from pcloud import text

# How many numbers of memberships of a pool are drawn, and how many free hosts
# are looked at before all free hosts are. Where several hosts are wanted, as
# many more as there are further hosts.
_NUMBERS, _LOOKED_AT = 80, 10

# How many hosts that are not free yet a request tries to finish.
_FINISHED = 10


def choose_or_finish(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    units: int, flavor_id: str, zones: choice.Zones,
    only: frozenset[str] | None, without: Collection[str], tried: list[str],
    count: int, chance: random.Random,
) -> list[computes.Compute]:
    """Choose free hosts; of too few, finish what is due and choose again.

    :param without: service hosts that will not do
    :param count: how many hosts to choose
    :raises: `exception.QuotaExceeded` when the quota refuses any such hosts,
        `exception.HostsSettling`, `exception.NoFreeHost`,
        `exception.OthersWaiting` where others wait for hosts of some zones,
        `exception.Unavailable` when a free host's cell is silent
    """
    chosen = _draw(
        context, flavor_id, zones, only, without, tried, count, chance)
    if len(chosen) < count:
        quotas.check(context, pcloud.owner, units * count)
        waiting = [host for host in pool_rows.settling(context, flavor_id)
                   if _will_do(host, only, without)]
        pool_hosts.have_settle(context, flavor_id, waiting)
        ready = settled(context, waiting)
        chance.shuffle(ready)
        missing = count - len(chosen)
        reconcile.finish_some(
            context, ready[:_FINISHED + missing - 1], missing)
        chosen = _draw(
            context, flavor_id, zones, only, without, tried, count, chance)
        if len(chosen) < count:
            if not waiting:
                _check_answers(context, flavor_id, zones)
            raise _too_few(
                flavor_id, zones, len(chosen), count, len(waiting))
    return chosen


def _too_few(
    flavor_id: str, zones: choice.Zones, free: int, wanted: int,
    waiting: int,
) -> exception.PcloudError:
    """Return the error of a request for more hosts than are free.

    :param waiting: how many hosts settle
    """
    in_zone = text.in_zone(zones.wanted)
    if zones.waited_for:
        return exception.OthersWaiting(
            count=sum(zones.waited_for.values()), host_flavor=flavor_id,
            zone=in_zone)
    if wanted == 1:
        return (exception.HostsSettling(
            host_flavor=flavor_id, zone=in_zone, count=waiting) if waiting
            else exception.NoFreeHost(host_flavor=flavor_id, zone=in_zone))
    if not waiting:
        return exception.FewFreeHosts(
            free=free, host_flavor=flavor_id, zone=in_zone, wanted=wanted)
    return exception.HostsSettling(
        f"There are only {free} free hosts of host flavor '{flavor_id}'"
        f'{in_zone} yet, and {wanted} are asked for: {waiting} more are '
        'settling, until no server that was asked for before they changed '
        'hands can land on them any more; try again later.')


def settled(
    context: nova_context.RequestContext, waiting: list[str],
) -> list[str]:
    """Leave out hosts on which servers may still land.

    One query, and the queries of `arrivals.awaited`.
    """
    dues = {host: due.parse(value) for host, value
            in journal.dues(context, waiting).items()}
    awaited = arrivals.awaited(context, due.settling(dues))
    return [host for host in waiting if host not in awaited]


def _check_answers(
    context: nova_context.RequestContext, flavor_id: str,
    zones: choice.Zones,
) -> None:
    """Do not call hosts taken while the hosts' cells are silent.

    :raises: `exception.Unavailable`
    """
    free = computes.load(context, pool_rows.unallocated(context, flavor_id))
    if any(not compute.answered and zones.allow(compute.zone)
           for compute in free.values()):
        raise exception.Unavailable()


def _will_do(
    host: str, only: frozenset[str] | None, without: Collection[str],
) -> bool:
    return host not in without and (only is None or host in only)


def _draw(
    context: nova_context.RequestContext, flavor_id: str,
    zones: choice.Zones, only: frozenset[str] | None, without: Collection[str],
    tried: list[str], count: int, chance: random.Random,
) -> list[computes.Compute]:
    """Choose hosts at random among the free hosts: all where too few are free.

    Reading thousands of hosts takes seconds. So a few hosts are drawn first,
    and more hosts are read only when too few of the drawn hosts will do.
    """
    chosen: list[computes.Compute] = []
    for drawn in _draws(context, flavor_id, only, tried, count - 1, chance):
        chosen = _choose_among(
            context, [host for host in drawn if _will_do(host, only, without)],
            zones, tried, count, chance)
        if len(chosen) == count:
            break
    return chosen


def _draws(
    context: nova_context.RequestContext, flavor_id: str,
    only: frozenset[str] | None, tried: list[str], further: int,
    chance: random.Random,
) -> Iterator[list[str]]:
    """Yield free hosts of a pool: first a few, drawn at random, at last all.

    Two queries for hosts that are drawn by number, and one query for the names
    of all.

    :param further: how many hosts are wanted beside one
    """
    if only is None:
        yield _few(pool_rows.drawn(
            context, flavor_id, _NUMBERS + further, chance),
            tried, further, chance)
    free = pool_rows.unallocated(context, flavor_id)
    if only is not None:
        free = [host for host in free if host in only]
    yield _few(free, tried, further, chance)
    yield free


def _few(
    free: Collection[str], tried: list[str], further: int,
    chance: random.Random,
) -> list[str]:
    """Draw a few of some hosts, each with the same chance."""
    fresh = sorted(frozenset(free).difference(tried))
    return chance.sample(fresh, min(_LOOKED_AT + further, len(fresh)))


def _choose_among(
    context: nova_context.RequestContext, free: Collection[str],
    zones: choice.Zones, tried: list[str], count: int,
    chance: random.Random,
) -> list[computes.Compute]:
    known = computes.load(context, free)
    chosen = choice.choose(
        map(candidate, known.values()), zones, tried, count, chance)
    return [known[each.host] for each in chosen]


def candidate(compute: computes.Compute) -> choice.Candidate:
    """Return a host that no Pcloud has as a candidate for `choice`.

    `host_counts.take` finds the same hosts serving.
    """
    return choice.Candidate(
        host=compute.host, zone=compute.zone, up=compute.up,
        enabled=compute.enabled and len(compute.nodes) == 1, allocated=False)
