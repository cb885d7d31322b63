# SPDX-License-Identifier: Apache-2.0

"""Change the states of the hosts of a Pcloud.

Rule: reference-pcloud-hosts, reference-draining-state
"""

from collections.abc import Callable
import dataclasses
import functools

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import hosts
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.objects import replacements
from pcloud.rules.moving import dates
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import recovery
from pcloud.rules.moving import spares
from pcloud.rules.placing import access


def set_state(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    name: str, state: str,
) -> hosts.Host:
    """Enable or disable a host for the servers of the Pcloud's tenants.

    No scheduler is told: filters read the state from the database. A drain of
    the host ends; so does it that the host is a spare, but for the state
    'spare'.

    :param state: 'enabled', 'disabled' or 'spare'
    :raises: `exception.HostNotFound`, `exception.HostBusy` when the host is to
        be enabled while something is due for the host, `exception.Conflict`
        for a host that has stood in for another host or is being recovered,
        and for one that stands in and is to be a spare, and as `change.run`

    Rule: reference-spares-state
    """
    host = hosts.show(context, pcloud, name)
    is_spare = state == spares.SPARE
    changed = dataclasses.replace(
        host, state=access.DISABLED if is_spare else state,
        is_spare=is_spare, drain=None, occupied=None)
    try:
        _write_state(context, pcloud, changed)
    except exception.HostBusy:
        hosts.finish(context, host)
        _write_state(context, pcloud, changed)
    _tell_state(context, pcloud, changed)
    return changed


def drain(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    name: str, wish: draining.Drain,
) -> hosts.Host:
    """Have a host emptied: disable the host, and keep the owner's wish.

    A host that is drained already is drained since the same moment.

    :raises: `exception.HostNotFound`, `exception.Conflict` for a drain that
        may keep a host which has stood in for another host, and as
        `change.run`

    Rule: reference-draining-state
    """
    # The answer is read before the change: after the commit no error may have
    # the owner believe that nothing has changed.
    host = hosts.show(context, pcloud, name)
    changed = drained(context, host, wish)
    # Who waits for the end of a drain asks for the same again and again.
    if changed.drain != host.drain:
        _write_state(context, pcloud, changed)
        _tell_state(context, pcloud, changed)
    return changed


def leave(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    name: str, wish: draining.Drain, until: dates.Until,
) -> None:
    """Have a host leave whose date has come: drain the host once.

    The date is forgotten, so that the owner may enable the host again.

    :param until: the date; the owner may have changed the date meanwhile
    :raises: `exception.Conflict` when the host has another date, and as
        `drain`

    Rule: reference-waiting-dates
    """
    changed = dataclasses.replace(drained(
        context, hosts.show(context, pcloud, name), wish), until=None)
    _write_state(context, pcloud, changed, functools.partial(
        _forget_date, host=changed, until=until))
    _tell_state(context, pcloud, changed)


def _forget_date(
    written: writes.Rows, host: hosts.Host, until: dates.Until,
) -> None:
    """Delete the date of a host.

    :raises: `exception.Conflict` when the host has another date
    """
    if not written.drop_kept(
            names.until_key(host.compute.host), until.text()):
        raise exception.Conflict(
            f"The owner has set another date for host '{host.name}', or none.")


def set_until(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    name: str, until: dates.Until | None,
) -> hosts.Host:
    """Set when a host is to leave, in place of any date that is set.

    :param until: None for no date
    :raises: `exception.HostNotFound`, and as `change.run`

    Rule: reference-waiting-dates
    """
    host = hosts.show(context, pcloud, name)
    changed = dataclasses.replace(host, until=until)
    node, host_key, key = (
        host.node.hypervisor_hostname, names.host_key(host.name),
        names.until_key(host.compute.host))

    def work(written: writes.Rows) -> None:
        there = written.values(pcloud.aggregate.id, [host_key, key])
        # Another host may have the name by now.
        if there.get(host_key) != node:
            raise exception.HostNotFound(name=name, pcloud=pcloud.id)
        if key in there:
            written.unmark([key])
        if until is not None:
            written.insert(pcloud.aggregate.id, {key: until.text()})

    change.run(context, [journal.pcloud_anchor(pcloud.id)], work)
    return changed


def drained(
    context: nova_context.RequestContext, host: hosts.Host,
    wish: draining.Drain,
) -> hosts.Host:
    """Return a host as `drain` would leave the host, and change nothing."""
    since = wish.since if host.drain is None else host.drain.since
    return hosts.with_occupants(context, [dataclasses.replace(
        host, state=access.DISABLED, is_spare=False,
        drain=dataclasses.replace(wish, since=since))])[0]


def _write_state(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    host: hosts.Host, also: Callable[[writes.Rows], None] | None = None,
) -> None:
    """Write the state of a host, the drain, and whether it is a spare.

    :param also: what else the change writes, None for nothing
    """
    node = host.node.hypervisor_hostname
    host_key = names.host_key(host.name)
    drain_key = names.drain_key(host.compute.host)
    spare_key = names.spare_key(host.compute.host)
    idle_key = names.idle_key(host.compute.host)
    replaces_key = names.replaces_key(host.compute.host)
    recovery_key = names.recovery_key(host.compute.host)

    def work(written: writes.Rows) -> None:
        there = written.values(pcloud.aggregate.id, [
            host_key, drain_key, spare_key, idle_key, replaces_key,
            recovery_key])
        _check_recovery(host, there.get(recovery_key))
        if replaces_key in there:
            _check_stand_in(written, pcloud, host, there[replaces_key])
        # Another host may have the name by now.
        if there.get(host_key) != node or not written.exchange(
                pcloud.aggregate.id, names.state_key(node), host.state or ''):
            raise exception.HostNotFound(name=host.name, pcloud=pcloud.id)
        # To delete nothing would lock a gap, and hold up other changes.
        written.unmark([key for key in (drain_key, spare_key, idle_key)
                        if key in there])
        if also is not None:
            also(written)
        if host.drain is not None:
            written.insert(
                pcloud.aggregate.id, {drain_key: host.drain.text()})
        if host.is_spare:
            written.insert(pcloud.aggregate.id, {
                spare_key: spares.Spare(int(timeutils.utcnow_ts())).text()})
        if host.state == access.ENABLED and not written.open(
                host.compute.host):
            raise exception.HostBusy(name=host.name)

    change.run(context, [journal.pcloud_anchor(pcloud.id)], work)


def _check_recovery(host: hosts.Host, kept: str | None) -> None:
    """Refuse to change a host whose recovery has begun.

    :param kept: the recovery as written, None without a recovery
    :raises: `exception.Conflict`
    """
    there = recovery.Recovery.known(kept)
    if there is not None and there.has_begun:
        raise exception.Conflict(
            f"Host '{host.name}' has failed, and is being recovered: it takes "
            'no servers until it has come back. Change its state then, or '
            'remove it when it is empty.')


def _check_stand_in(
    written: writes.Rows, pcloud: pclouds.Head, host: hosts.Host, kept: str,
) -> None:
    """Refuse a state of a host that stands in for another host, or has.

    A spare stays the owner's, whatever state it gets, and stands in no more.

    :param kept: for whom, as written
    :raises: `exception.Conflict`
    """
    other = maintenance_policies.StandIn.known(kept)
    if other is not None and other.spare:
        replacements.keep(
            written, pcloud.aggregate.id, host.compute.host, other)
        return
    stands_in = other is not None and not other.over and (
        other.stays or written.holds(pcloud.aggregate.id, other.host))
    if stands_in and host.is_spare:
        raise exception.Conflict(
            f"Host '{host.name}' stands in for another host and has no units: "
            'it cannot be a spare. To have a spare, add a host.')
    if not stands_in and not draining.lets_go(host.drain):
        raise exception.Conflict(
            f"Host '{host.name}' has stood in for another host during a "
            'maintenance that is over: it counts, takes no new servers, '
            'and leaves the Pcloud when it is empty. Move, delete or '
            'unlock the servers on it, or drain it with release, with '
            'move live or any and without a deadline; to have more '
            'hosts, add one.')


def _tell_state(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    host: hosts.Host,
) -> None:
    reconcile.notified(
        notifications.host, context, 'update', hosts.event_of(pcloud, host))
