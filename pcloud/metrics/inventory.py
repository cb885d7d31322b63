# SPDX-License-Identifier: Apache-2.0

"""What an operator watches: hosts by state, drains, units by project.

Everything is read from rows at the moment of the question, with a number of
queries independent of the number of hosts. A silent cell is not waited for
longer than a few seconds, and what is not known is left out.

Rule: reference-metrics-hosts, reference-metrics-silent
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.aggregates import span_rows
from pcloud.backend.aggregates import step_rows
from pcloud.backend.cells import host_counts
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud import names
from pcloud.objects import free_hosts
from pcloud.rules.moving import draining
from pcloud.rules.moving import recovery
from pcloud.rules.usage import ledger
from pcloud.rules import waiting as waiting_rules

FREE, SETTLING, ALLOCATED = 'free', 'settling', 'allocated'
UNAVAILABLE = 'unavailable'
STATES = (FREE, SETTLING, ALLOCATED, UNAVAILABLE)

OPEN, OVERDUE = 'open', 'overdue'

# Seconds that a cell has to answer.
_PATIENCE = 5.0


@dataclasses.dataclass(frozen=True)
class Inventory:
    """The hosts of all pools, counted.

    :ivar host_flavors: the ids of all host flavors
    :ivar hosts: ``(host flavor id, availability zone, state) -> hosts``; what
        is not known has no entry
    :ivar oldest: seconds since the first of the settling hosts began to
        settle; 0 without a settling host
    :ivar cells: ``(name, uuid) of a cell with hosts of pools -> whether the
        cell answers``
    """

    host_flavors: tuple[str, ...]
    hosts: Mapping[tuple[str, str, str], int]
    oldest: float
    cells: Mapping[tuple[str, str], bool]


def take(context: nova_context.RequestContext) -> Inventory:
    """Count the hosts of all pools.

    The queries of `pool_rows.stock`, `pool_rows.allocated`,
    `host_counts.take` and `free_hosts.not_settled`, and two queries. Every
    cell with hosts of pools is asked, even without a free host.
    """
    stock = pool_rows.stock(context)
    ids = [pool.id for pool in stock.pools]
    allocated = pool_rows.allocated(context, ids)
    counted = host_counts.take(
        context, stock.hosts, pool_rows.cell_ids(context, ids), _PATIENCE)
    dues = _settling(context, stock.hosts, counted.silent)
    states = _States(dues, counted.serving, counted.silent)
    return Inventory(
        tuple(pool.metadata[names.FLAVOR_ID] for pool in stock.pools),
        {key: count for pool in stock.pools
         for key, count in _count(pool, stock.zones, allocated.get(
             pool.id, {}), states)},
        _oldest(dues), counted.cells)


def _settling(
    context: nova_context.RequestContext, hosts: frozenset[str],
    silent: frozenset[str],
) -> dict[str, due.Due]:
    """Return what is due for hosts that have not settled.

    A host in a silent cell does not settle.
    """
    dues = free_hosts.not_settled(context, hosts - silent)
    return dues | {host: due.parse(text) for host, text
                   in journal.dues(context, silent).items()}


@dataclasses.dataclass(frozen=True)
class _States:
    """What decides the states of the hosts in no Pcloud.

    :ivar dues: what is due for hosts that have not settled
    :ivar serving: the hosts that are up and enabled, with one node
    :ivar silent: the hosts in silent cells
    """

    dues: Mapping[str, due.Due]
    serving: frozenset[str]
    silent: frozenset[str]

    def of(self, host: str) -> str | None:
        """Return the state of a host, None for an unknown state.

        =======  =======  ===============  ===========
        settles  cell     serves, nothing  state
                 answers  due
        =======  =======  ===============  ===========
        yes      any      any              settling
        no       no       any              unknown
        no       yes      yes              free
        no       yes      no               unavailable
        =======  =======  ===============  ===========

        Rule: reference-metrics-hosts
        """
        what = self.dues.get(host)
        if what is not None and what.empty:
            return SETTLING
        if host in self.silent:
            return None
        return FREE if what is None and host in self.serving else UNAVAILABLE


def _count(
    pool: rows.Aggregate, zones: Mapping[str, str],
    allocated: Mapping[str, int], states: _States,
) -> Iterator[tuple[tuple[str, str, str], int]]:
    """Count the hosts of a pool by availability zone and state.

    Where the state of a host is unknown, the hosts of the zone are not counted
    in the states that the host may have.

    :param pool: with the hosts in no Pcloud
    :param zones: as `pool_rows.Stock`
    :param allocated: ``availability zone -> hosts in Pclouds``
    """
    left = free_hosts.by_zone(pool.hosts, zones)
    for zone in sorted(left.keys() | allocated.keys()):
        found = collections.Counter(map(states.of, left.get(zone, ())))
        found[ALLOCATED] = allocated.get(zone, 0)
        known: Collection[str] = (
            (SETTLING, ALLOCATED) if found[None] else STATES)
        for state in known:
            yield (pool.metadata[names.FLAVOR_ID], zone, state), found[state]


def _oldest(dues: Mapping[str, due.Due]) -> float:
    begun = [what.since for what in dues.values()
             if what.empty and what.since is not None]
    return max(0.0, timeutils.utcnow_ts() - min(begun)) if begun else 0.0


def drains(context: nova_context.RequestContext) -> dict[str, int]:
    """Return the number of drained hosts by `OPEN` and `OVERDUE`.

    One query.
    """
    found = collections.Counter({OPEN: 0, OVERDUE: 0})
    now = timeutils.utcnow_ts()
    for state, text in step_rows.every_drain(context):
        drain = draining.of(state, text)
        if drain is not None:
            found[OVERDUE if drain.is_overdue(now) else OPEN] += 1
    return dict(found)


def recoveries(context: nova_context.RequestContext) -> dict[str, int]:
    """Return the number of failed hosts by the state of the recovery.

    One query.
    """
    found = collections.Counter(dict.fromkeys(
        (recovery.MOVING, recovery.DONE, recovery.HELD), 0))
    for text in step_rows.every_recovery(context):
        kept = recovery.Recovery.known(text)
        if kept is not None:
            found[kept.state] += 1
    return dict(found)


def waiting(
    context: nova_context.RequestContext, host_flavors: Iterable[str],
) -> dict[str, int]:
    """Return the number of entries of waiting lists by host flavor.

    One query. Entries whose time is over are left out.

    :param host_flavors: the ids of all host flavors
    """
    found = dict.fromkeys(host_flavors, 0)
    now = timeutils.utcnow_ts()
    for key, text in kept_rows.of_prefix(
            context, names.WAITING_PREFIX).items():
        flavor, _, _ = key.removeprefix(names.WAITING_PREFIX).rpartition(':')
        entry = waiting_rules.Entry.known(text)
        if entry is not None and entry.until > now and flavor in found:
            found[flavor] += 1
    return found


def held(
    context: nova_context.RequestContext, projects: Collection[str],
) -> dict[tuple[str, str], int]:
    """Return the hosts that projects hold, by host flavor (one query).

    A host that stands in for another counts nothing.

    :param projects: the projects that are told apart
    :returns: ``(project id, host flavor id) -> hosts``; '' for all other
        projects together
    """
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for text in span_rows.every(context).values():
        span = ledger.Span.known(text)
        if span is not None and not span.free:
            project = span.project if span.project in projects else ''
            found[project, span.flavor] += 1
    return dict(found)


def units(
    context: nova_context.RequestContext, most: int,
) -> tuple[dict[str, int], int]:
    """Return the units in use of the projects with the most units.

    One query.

    :param most: the number of projects
    :returns: ``project id -> units``, and the units of all other projects;
        an owner that was deleted by hand, '', is among the others
    """
    by_owner = pcloud_rows.units_by_owner(context)
    of_nobody = by_owner.pop('', 0)
    ranked = sorted(by_owner.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ranked[:most]), of_nobody + sum(
        used for _, used in ranked[most:])
