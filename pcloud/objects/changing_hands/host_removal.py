# SPDX-License-Identifier: Apache-2.0

"""Hosts that leave their Pcloud.

Rule: reference-allocation-removal
"""

from collections.abc import Callable

from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import readings
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import spans
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import emptiness
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.objects import replacements
from pcloud.rules.moving import recovery
from pcloud.rules.placing import access

LOG = logging.getLogger(__name__)


def remove(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
) -> None:
    """Take a host out of a Pcloud; the host stays in the host's pool.

    The host has to be disabled and empty. One change removes all that made the
    host the Pcloud's own, and writes what is due: Placement has to forget the
    membership, the host gets its own ratios back, and the host settles if it
    was ever enabled. Until then the pool gives the host to nobody.

    :raises: `exception.HostNotFound`, `exception.Conflict` for an enabled
        host, `exception.HostChanged`, `exception.HostNotEmpty`,
        `exception.HostBusy`, `exception.Unavailable`, and as `change.run`
    """
    _leave(context, pcloud, name, _check_disabled)


def release(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
) -> None:
    """Take a drained host out of a Pcloud as the drain asks for.

    :raises: `exception.Conflict` when the owner has another wish by
        now, and as `remove`
    """
    _leave(context, pcloud, name, _check_released)


def give_back(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
) -> None:
    """Take a host out of a Pcloud that has failed and come back.

    The host returns to the host's pool with a disabled compute service, and
    who has joined for the host takes its place.

    :raises: `exception.Conflict` for a host that is not being recovered, or
        for which nobody has joined, and as `remove`
    """
    _leave(context, pcloud, name, _check_recovered)


def _check_recovered(host: hosts.Host) -> None:
    if (host.recovery is None or not host.recovery.has_begun or
            host.recovered_by is None):
        raise exception.Conflict(
            f"Host '{host.name}' is not replaced by another host because it "
            'has failed any more; look at it again.')


def _check_disabled(host: hosts.Host) -> None:
    if host.state != access.DISABLED:
        raise exception.Conflict(
            f"Host '{host.name}' is enabled; disable it before removing it.")


def _check_released(host: hosts.Host) -> None:
    if host.drain is None or not host.drain.release:
        raise exception.Conflict(
            f"Host '{host.name}' is not drained to be released any more; "
            'look at it again.')


def _leave(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
    check: Callable[[hosts.Host], None],
) -> None:
    """Take a host out of a Pcloud, and look again when the host changes.

    :param check: raises an error when the host may not leave
    """
    for _ in range(hosts.ATTEMPTS - 1):
        try:
            return _remove(context, pcloud, name, check)
        except (exception.HostBusy, exception.HostChanged) as error:
            LOG.info('A host of Pcloud %(pcloud)s is looked at again: '
                     '%(error)s', {'pcloud': pcloud.id, 'error': error})
            pcloud = pclouds.head(context, pcloud.id)
    return _remove(context, pcloud, name, check)


def _remove(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
    check: Callable[[hosts.Host], None],
) -> None:
    anchors = [journal.pcloud_anchor(pcloud.id),
               journal.owner_anchor(pcloud.owner)]
    seen = journal.newest(context, anchors[0])
    host = hosts.show(context, pcloud, name)
    check(host)
    hosts.finish(context, host)
    emptiness.check(context, host.compute, host.name)

    def work(written: writes.Rows) -> due.Due:
        # The host may have been enabled, used and disabled meanwhile.
        if written.before[names.CHANGES_PREFIX + anchors[0]] != seen:
            raise exception.HostChanged(name=host.name)
        return _take_away(written, pcloud, host)

    what = change.run(context, anchors, work)
    reconcile.finish_written(context, {host.compute.host: what})


def _take_away(
    written: writes.Rows, pcloud: pclouds.Head, host: hosts.Host,
) -> due.Due:
    """Write that a host has left a Pcloud, and return what is due.

    No request can be on its way to a host that was never enabled: such a host
    does not settle. The compute service of a host that has failed is disabled,
    until an administrator has looked at the host.
    """
    aggregate, node = pcloud.aggregate, host.node.hypervisor_hostname
    unopened, released = (names.unopened_key(host.compute.host),
                          names.released_key(host.compute.host))
    kept = [*names.kept_keys(host.compute.host),
            names.span_key(host.compute.host)]
    there = written.values(aggregate.id, [*kept, unopened, released])
    own = readings.own_ratios(there, host.compute.host)
    settles = there.get(unopened) != pcloud.id
    is_recovered = recovery.has_begun(
        there.get(names.recovery_key(host.compute.host)))
    what = due.fitting(due.Due(
        written.mark, provider=host.node.uuid, origin=aggregate.uuid,
        event=due.REMOVED, pcloud=pcloud.id, name=host.name,
        service=due.OFF if is_recovered else None,
        cpu=own.get(names.CPU_RATIO), ram=own.get(names.RAM_RATIO),
        since=int(timeutils.utcnow_ts()) if settles else None))
    beside = {released: journal.Released(
        host.units, pcloud.owner).text()} if settles else {}
    written.unmark([key for key in (unopened, released) if key in there])
    try:
        written.claim(host.compute.host, what, beside)
    except exception.KeyTaken:
        raise exception.HostBusy(name=host.name)
    if not written.drop_if(
            aggregate.id, names.state_key(node), access.DISABLED):
        raise exception.HostChanged(name=host.name)
    if not written.drop_if(aggregate.id, names.host_key(host.name), node):
        raise exception.HostChanged(name=host.name)
    if names.recovery_key(host.compute.host) in there:
        replacements.take_over(written, aggregate.id, host.compute.host)
    if names.reaction_key(host.compute.host) in there:
        replacements.end(written, aggregate.id, host.compute.host)
    spans.add_to_sums(
        written, there.get(names.span_key(host.compute.host)), host.units)
    # To delete nothing would lock a gap, and hold up other changes.
    written.unmark([key for key in kept if key in there])
    if not written.leave(aggregate.id, [host.compute.host]):
        raise exception.HostNotFound(name=host.name, pcloud=pcloud.id)
    return what
