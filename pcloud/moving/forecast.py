# SPDX-License-Identifier: Apache-2.0

"""Hosts that are drained or have failed, with all that keeps their servers.

Rule: reference-draining-blockers, reference-recovery-servers
"""

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context

from pcloud import exception
from pcloud.moving import drain_plan
from pcloud.moving import drains
from pcloud.moving import failed_hosts
from pcloud.objects import host_states
from pcloud.objects import hosts
from pcloud.objects import looks
from pcloud.objects import pclouds
from pcloud.rules.moving import draining


@dataclasses.dataclass(frozen=True)
class Trial:
    """What a drain of a host would do now.

    :ivar host: the host as the drain would have the host shown
    :ivar places: ``server uuid -> owner's name`` of the hosts with capacity
        for the servers that would move
    """

    host: hosts.Host
    places: dict[str, str]


def complete(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    shown: Sequence[hosts.Host],
) -> list[hosts.Host]:
    """Add why drains and recoveries do not go on.

    The servers of all drained and failed hosts of the Pcloud look for places
    together. Nothing is read while none of the hosts is drained or recovered.
    """
    if any(_moves(host) for host in shown):
        plan = drain_plan.read(context, pcloud.id, _drained(context, pcloud))
        shown = [_with_blockers(host, plan) if _moves(host) else host
                 for host in shown]
    if any(host.drain or host.recovery for host in shown):
        seen = looks.seen(context)
        shown = [_stuck(host, seen) for host in shown]
    return list(shown)


def _stuck(host: hosts.Host, seen: int | None) -> hosts.Host:
    """Add that no worker looks after a drain or a recovery, if so."""
    wish = host.recovery or host.drain
    found = wish and looks.blocker(wish.since, seen)
    if host.occupied is None or not found:
        return host
    return dataclasses.replace(host, occupied=dataclasses.replace(
        host.occupied, blockers=(found, *host.occupied.blockers)))


def _moves(host: hosts.Host) -> bool:
    return host.recovery is not None or (
        host.drain is not None and host.drain.move != draining.NONE)


def _drained(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> list[drain_plan.Drained]:
    recovered = failed_hosts.recovering(context, pcloud)
    names_ = {each.host for each in recovered}
    return [*recovered, *(
        drain_plan.Drained(row.host, row.node, drain)
        for row, drain in drains.drained(context, pcloud)
        if drain.move != draining.NONE and row.host not in names_)]


def _with_blockers(host: hosts.Host, plan: drain_plan.DrainPlan) -> hosts.Host:
    found = plan.blockers.get(host.compute.host)
    if host.occupied is None or found is None:
        return host
    return dataclasses.replace(host, occupied=dataclasses.replace(
        host.occupied, blockers=tuple(found)))


def trial(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
    wish: draining.Drain, together_with: Iterable[str] = (),
) -> Trial:
    """Tell what a drain would do now, and change nothing.

    :param together_with: the owner's names of other hosts that would be
        drained with the same wish
    :raises: `exception.HostNotFound`
    """
    host = host_states.drained(
        context, hosts.show(context, pcloud, name), wish)
    seen = looks.seen(context)
    if not _moves(host):
        return Trial(_stuck(host, seen), {})
    there = hosts.index(context, pclouds.show(context, pcloud.id))
    wished = {each.compute.host: drain_plan.Drained(
        each.compute.host, each.node.hypervisor_hostname, wish)
        for each in [host, *_named(there, pcloud.id, together_with)]}
    plan = drain_plan.read(context, pcloud.id, [
        *(each for each in _drained(context, pcloud)
          if each.host not in wished), *wished.values()])
    here = {} if host.occupied is None else dict.fromkeys(
        host.occupied.servers)
    name_of = {each.compute.host: each.name for each in there}
    return Trial(_stuck(_with_blockers(host, plan), seen), {
        each.server: name_of[each.place] for each in plan.moves
        if each.server in here and each.place in name_of})


def _named(
    there: Iterable[hosts.Host], pcloud_id: str, wanted: Iterable[str],
) -> list[hosts.Host]:
    by_name = {host.name.casefold(): host for host in there}
    for name in wanted:
        if name.casefold() not in by_name:
            raise exception.HostNotFound(name=name, pcloud=pcloud_id)
    return [by_name[name.casefold()] for name in wanted]
