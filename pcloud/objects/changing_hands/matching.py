# SPDX-License-Identifier: Apache-2.0

"""Give free hosts to those who wait, in order.

Any number of workers may do so at the same moment, and any may die at any
line: the change that gives a host reads once more that the entry is there, and
the next for that host.

Rule: reference-waiting-matching
"""

from collections.abc import Iterator
import dataclasses
import functools
import random

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import limits
from pcloud.backend import outages
from pcloud.counters import allocations
from pcloud import exception
from pcloud import names
from pcloud.objects.changing_hands import allocation
from pcloud.objects.changing_hands import waiting_entries
from pcloud.objects.changing_hands import waiting_lists
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.rules.placing import choice
from pcloud.rules import waiting as rules

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

_NO_HOST = (exception.NoFreeHost, exception.HostsSettling,
            exception.HostsContended)
_NO_QUOTA = (exception.QuotaExceeded, exception.ReleasedHostsSettling)


class _NotNext(Exception):
    """The entry is gone, or another entry comes first by now."""


def step(context: nova_context.RequestContext) -> None:
    """End what is over, and give free hosts to those who wait.

    One query while nobody waits. What cannot be done for a host flavor stays
    due, and keeps no other host flavor waiting.
    """
    lists = waiting_lists.with_limits(context)
    flavors = sorted({each.flavor for each in (*lists.over, *lists.every())})
    random.shuffle(flavors)
    for flavor in flavors:
        try:
            _end(context, flavor, lists)
            _match(context, flavor, lists)
        except (exception.PcloudError, *outages.ANY) as error:
            LOG.warning('Who waits for host flavor %(flavor)s has to wait '
                        'on: %(error)s', {'flavor': flavor, 'error': error})


def _end(
    context: nova_context.RequestContext, flavor_id: str,
    lists: waiting_lists.Lists,
) -> None:
    over = [each for each in lists.over if each.flavor == flavor_id]
    if over:
        # A Pcloud that is gone has nobody to be told.
        waiting_entries.tell(context, 'expired', [
            each for each in waiting_entries.end(context, flavor_id, over)
            if each.owner])


def _match(
    context: nova_context.RequestContext, flavor_id: str,
    lists: waiting_lists.Lists,
) -> None:
    """Give free hosts to the entries of a host flavor.

    A zone without a free host is asked about once, however many wait.
    """
    without: set[str | None] = set()
    units = lists.units.get(flavor_id, 0)
    for place in lists.places(flavor_id):
        waiting = place.waiting
        if not place.is_matchable or waiting.entry.zone in without:
            continue
        try:
            _give(context, waiting, units, lists.known)
        except _NO_QUOTA as error:
            LOG.info('Entry %(id)s of a waiting list is passed over: '
                     '%(error)s', {'id': waiting.id, 'error': error})
        except _NO_HOST:
            without.add(waiting.entry.zone)
            if waiting.entry.zone is None:
                return
        except (exception.PcloudNotFound, exception.LimitsOutdated, _NotNext):
            # The next look computes the order anew.
            return


def _give(
    context: nova_context.RequestContext, waiting: rules.Waiting, units: int,
    known: limits.Limits,
) -> None:
    """Give a free host to an entry that is the next.

    :param known: the limits of all owners who wait
    :raises: those of `_NO_HOST` and `_NO_QUOTA`, `_NotNext`,
        `exception.PcloudNotFound`, `exception.LimitsSilent`,
        `exception.LimitsOutdated`, and as `change.run`
    """
    pcloud = pclouds.head(context, waiting.entry.pcloud)
    try:
        host = _taken(
            context, pcloud, waiting, waiting.entry.name, units, known)
    except exception.HostNameInUse:
        there = pcloud_rows.find(context, pcloud.id)
        taken = names.hosts(there.metadata) if there else {}
        host = _taken(context, pcloud, waiting, rules.free_name(
            waiting.entry.name, taken), units, known)
    allocations.ALLOCATIONS.add([waiting.flavor, allocations.WAITING], 1)
    LOG.info("Pcloud %(pcloud)s has waited for host '%(name)s', which has "
             'joined.', {'pcloud': pcloud.id, 'name': host.name})
    waiting_entries.tell(context, 'matched', [waiting])


def _taken(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    waiting: rules.Waiting, name: str, units: int, known: limits.Limits,
) -> hosts.Host:
    """Return the host that an entry has got.

    :param name: the owner's name for the host
    :raises: `exception.HostNameInUse`, and as `_give`
    """
    for host in _offers(context, pcloud, waiting, name, units):
        try:
            what = allocation.run(context, pcloud, [
                journal.waiting_anchor(waiting.flavor),
                journal.pcloud_anchor(pcloud.id),
                journal.owner_anchor(pcloud.owner),
            ], functools.partial(
                _write, context, pcloud, host, waiting, known))
        except allocation.Lost as lost:
            LOG.info('Host %(host)s cannot be had, %(reason)s.',
                     {'host': host.compute.host, 'reason': lost})
        else:
            reconcile.finish_written(context, {host.compute.host: what})
            return host
    raise exception.HostsContended(
        host_flavor=waiting.flavor, zone='',
        attempts=CONF.pcloud.allocation_attempts)


def _offers(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    waiting: rules.Waiting, name: str, units: int,
) -> Iterator[hosts.Host]:
    """Yield free hosts as future hosts of a Pcloud, each once.

    :raises: as `allocation.choose`
    """
    tried: list[str] = []
    for _ in range(CONF.pcloud.allocation_attempts):
        compute = allocation.choose(
            context, pcloud, units, waiting.flavor,
            choice.Zones(waiting.entry.zone), tried, random.SystemRandom())
        tried.append(compute.host)
        yield dataclasses.replace(
            hosts.new(context, pcloud, name, waiting.flavor, compute, units),
            until=waiting.entry.until_of_host)


def _write(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    host: hosts.Host, waiting: rules.Waiting, everybodys: limits.Limits,
    written: writes.Rows, known: limits.Limits,
) -> due.Due:
    """Write that a Pcloud has got the host that it has waited for.

    :param everybodys: the limits of all owners who wait
    :param known: the limit of the owner
    :raises: `_NotNext`, and as `allocation.write_within`
    """
    what, = allocation.write_within(
        context, written, known, pcloud, [host], due.ADDED)
    try:
        lists = waiting_lists.before_giving(
            context, waiting.flavor, everybodys, pcloud.owner, host.units)
    except exception.LimitsOutdated:
        raise _NotNext()
    ahead = rules.before(lists.places(waiting.flavor), host.compute.zone)
    if (not ahead or ahead[0].waiting != waiting or
            not waiting_entries.drop(written, waiting)):
        raise _NotNext()
    return what
