# SPDX-License-Identifier: Apache-2.0

"""In which batches hosts may be rebooted, so that no Pcloud loses too much.

The reader is the operator: hosts and racks have their real names.

Rule: reference-planning-reboots
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
from typing import TypeVar

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import pcloud_rows
from pcloud import names
from pcloud.objects import pclouds
from pcloud.objects.placing import host_attributes
from pcloud.planning import rehearse
from pcloud.rules.placing import attributes

_Host = TypeVar('_Host')

# The day and the rack of hosts.
_Group = tuple[datetime.date | None, str | None]


@dataclasses.dataclass(frozen=True)
class Host:
    """A host of a batch.

    :ivar host: the service host
    :ivar pcloud: the id of the host's Pcloud, None for a host in no Pcloud
    :ivar name: the owner's name for the host, None without one
    :ivar safe: whether all servers that the Pcloud loses with the batch
        surely have room on the other hosts of the Pcloud
    """

    host: str
    pcloud: str | None = None
    name: str | None = None
    safe: bool = True


@dataclasses.dataclass(frozen=True)
class Batch:
    """Hosts that are rebooted together.

    :ivar day: the day of the next reboot in UTC, None for hosts without one
    :ivar rack: the rack of the hosts, None where it is not known
    :ivar hosts: by name
    """

    day: datetime.date | None
    rack: str | None
    hosts: Sequence[Host]

    @property
    def safe(self) -> bool:
        """Whether every host is safe."""
        return all(host.safe for host in self.hosts)


def plan(
    context: nova_context.RequestContext, rack: str | None = None,
    platform_before: str | None = None,
) -> list[Batch]:
    """Return the batches of the hosts of pools and Pclouds, in their order.

    Four queries, and those of `rehearse.read` for each Pcloud with such hosts.
    Batches are supposed to follow each other: all hosts are back when the next
    batch begins.

    :param rack: the rack whose hosts are rebooted, None for all racks
    :param platform_before: hosts with an older platform version are rebooted,
        also without a date; None for the hosts with a coming reboot
    :raises: `exception.InvalidValue` for what is no platform version,
        `exception.Unavailable`
    """
    oldest = (None if platform_before is None
              else attributes.platform(platform_before))
    aggregates = isolation.closed_aggregates(context)
    hosts = frozenset().union(*(each.hosts for each in aggregates))
    values = host_attributes.effective(context, hosts)
    pcloud_of = {host: pcloud.metadata[names.ID]
                 for pcloud in pcloud_rows.whole(aggregates)
                 for host in pcloud.hosts}
    now = timeutils.utcnow(with_timezone=True)
    groups: dict[_Group, dict[str | None, list[str]]] = {}
    for host in sorted(hosts):
        its = values.get(host, {})
        day = _day(its, now)
        if rack in (None, its.get(attributes.RACK)) and (
                day is not None if oldest is None
                else attributes.is_before(
                    its.get(attributes.PLATFORM), oldest)):
            groups.setdefault((day, its.get(attributes.RACK)), {}).setdefault(
                pcloud_of.get(host), []).append(host)
    bases = {
        pcloud: rehearse.read(context, pclouds.show(context, pcloud))
        for pcloud in sorted({each for group in groups.values()
                              for each in group if each is not None})}
    return [batch for group in sorted(groups, key=_order)
            for batch in _batches(group, groups[group], bases)]


def split(
    hosts: Sequence[_Host], survives: Callable[[Sequence[_Host]], bool],
) -> list[tuple[list[_Host], bool]]:
    """Return which hosts may go together, as few times as is easily found.

    :param survives: whether all servers have room when some hosts go
    :returns: the hosts, and whether all servers have room; hosts that may not
        even go alone come last, one by one
    """
    if survives(hosts):
        return [(list(hosts), True)]
    safe: list[list[_Host]] = [[]]
    alone: list[_Host] = []
    for host in hosts:
        if survives([*safe[-1], host]):
            safe[-1].append(host)
        elif safe[-1] and survives([host]):
            safe.append([host])
        else:
            alone.append(host)
    return [*((part, True) for part in safe if part),
            *(([host], False) for host in alone)]


def _batches(
    group: _Group, hosts: Mapping[str | None, Sequence[str]],
    bases: Mapping[str, rehearse.Basis],
) -> list[Batch]:
    """Return the batches of the hosts of a day and a rack.

    :param hosts: ``id of a Pcloud, or None -> service hosts``
    """
    batches: list[list[Host]] = []
    for pcloud, its in hosts.items():
        parts = ([[Host(host) for host in its]] if pcloud is None
                 else _parts(bases[pcloud], pcloud, its))
        for number, part in enumerate(parts):
            if number == len(batches):
                batches.append([])
            batches[number] += part
    return [Batch(*group, sorted(batch, key=lambda host: host.host))
            for batch in batches]


def _parts(
    basis: rehearse.Basis, pcloud: str, hosts: Sequence[str],
) -> list[list[Host]]:
    """Return which hosts of a Pcloud may be rebooted together.

    A host that the owner does not have, for its rows are damaged, is not safe.
    """
    there = {host.compute.host: host for host in basis.index}
    return [
        *([Host(host.compute.host, pcloud, host.name, safe) for host in part]
          for part, safe in split(
              [there[host] for host in hosts if host in there],
              lambda failed: rehearse.survive(basis, failed)) if part),
        *([Host(host, pcloud, None, False)]
          for host in hosts if host not in there)]


def _day(
    values: Mapping[str, str], now: datetime.datetime,
) -> datetime.date | None:
    """Return the day of a coming reboot, None without one."""
    value = values.get(attributes.REBOOT)
    moment = None if value is None else attributes.reboot(value)
    return None if moment is None or moment <= now else moment.date()


def _order(group: _Group) -> tuple[bool, datetime.date, bool, str]:
    """Return what sorts days and racks; what is not known comes last."""
    day, rack = group
    return (day is None, day or datetime.date.max, rack is None, rack or '')
