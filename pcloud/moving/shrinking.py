# SPDX-License-Identifier: Apache-2.0

"""Have hosts leave a Pcloud that have been empty as long as the owner says.

A worker notes which hosts are empty. A host that has been empty for long is
drained with release; from then on the host is a drained host like others, but
that the drain ends when a server has landed meanwhile.

Rule: reference-shrinking
"""

from collections.abc import Collection
from collections.abc import Mapping

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import computes
from pcloud.backend.cells import past_moves
from pcloud.backend.cells import shelved_servers
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import names
from pcloud.objects import hosts
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.objects import turns
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import shrinking
from pcloud.rules.placing import access

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


def plan(
    wish: str | None, kept: Mapping[str, str],
    states: Mapping[str, str | None], used: Collection[str],
    silent: Collection[str],
) -> shrinking.Plan:
    """Return what is due for the hosts of a Pcloud.

    :param wish: the wish to shrink as written, None without one
    :param kept: ``key of the journal -> value`` of the hosts
    :param states: ``service host -> state`` of all hosts, as written
    :param used: the hosts with servers, or migrations that are not over
    :param silent: the hosts in silent cells

    Rule: reference-shrinking-hosts
    """
    drains, noted = names.drains(kept), names.idle(kept)
    stand_ins = maintenance_policies.stand_ins(names.replaced(kept))
    return shrinking.plan(shrinking.Shrink.known(wish), [
        shrinking.Seen(
            host, _stays(states.get(host), drains.get(host),
                         stand_ins.get(host) if host in stand_ins else None,
                         host in stand_ins),
            states.get(host) == access.ENABLED and host not in stand_ins,
            None if host in silent else host in used,
            shrinking.Idle.known(noted.get(host)), host in noted)
        for host in sorted({*states, *noted})], timeutils.utcnow_ts())


def _stays(
    state: str | None, drain: str | None,
    stand_in: maintenance_policies.StandIn | None, stands_in: bool,
) -> bool:
    """Whether nothing has a host leave the Pcloud.

    :param state: as written
    :param drain: as written
    :param stand_in: for which host the host stands in, None for an
        unreadable row and without a row
    :param stands_in: whether there is such a row
    """
    if stands_in and (stand_in is None or not stand_in.spare):
        return False
    its = draining.of(state, drain)
    return its is None or not its.release


def step(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> None:
    """Note which hosts are empty, and have long empty hosts leave.

    One change, and none where nothing is due. A Pcloud that has changed since
    the hosts were looked at is left to the next step.

    :raises: `exception.Unavailable` and others of `outages.ANY`

    Rule: reference-shrinking-steps
    """
    anchor = journal.pcloud_anchor(pcloud.id)
    seen = journal.newest(context, anchor)
    aggregate = pcloud_rows.find(context, pcloud.id)
    if aggregate is None:
        return
    found = _look(context, aggregate)
    if not found:
        return
    # A rebalance may be about to move servers to any host.
    long_empty = [] if names.rebalance(aggregate.metadata) else found.released
    later = _left_later(context, aggregate, long_empty)
    released = _unpinned(context, pcloud, aggregate, [
        host for host in long_empty if host not in later])
    notes = {**dict.fromkeys(found.noted, int(timeutils.utcnow_ts())), **later}
    forgotten = {*found.forgotten, *later}

    def work(written: writes.Rows) -> list[str]:
        if written.before[names.CHANGES_PREFIX + anchor] != seen:
            return []
        # A launch that lets the Pcloud grow counts the hosts.
        leaving = released if turns.is_nobodys(
            written, aggregate.id, names.GROWTH_TURN,
            CONF.pcloud.growth_timeout) else []
        _write_notes(written, aggregate, {*forgotten, *leaving}, notes)
        _write_drains(written, aggregate, leaving)
        return leaving

    if released or notes or forgotten:
        _tell(context, pcloud, aggregate, change.run(context, [
            anchor, journal.growth_anchor(pcloud.id)], work))


def _look(
    context: nova_context.RequestContext, aggregate: rows.Aggregate,
) -> shrinking.Plan:
    """Return what is due for the hosts (one query, and one a cell)."""
    metadata = aggregate.metadata
    node_of, state_of = names.nodes(metadata), names.states(metadata)
    used, silent = computes.known_in_use(context, aggregate.hosts)
    return plan(
        metadata.get(names.SHRINK), metadata,
        {host: state_of.get(node_of.get(host, ''))
         for host in aggregate.hosts}, used, silent)


def _left_later(
    context: nova_context.RequestContext, aggregate: rows.Aggregate,
    hosts_: Collection[str],
) -> dict[str, int]:
    """Return the hosts that a server has left after the hosts were noted.

    While no worker looks, servers come and go. One query and one query a cell,
    none for no hosts.

    :returns: ``service host -> when``, in seconds since the epoch
    """
    if not hosts_:
        return {}
    noted = names.idle(aggregate.metadata)
    left = past_moves.departures(context, hosts_)
    return {host: int(left[host]) for host in hosts_
            if host in left and (idle := shrinking.Idle.known(
                noted.get(host))) is not None and int(left[host]) > idle.since}


def _unpinned(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, hosts_: Collection[str],
) -> list[str]:
    """Leave out hosts that are the only home of shelved servers.

    The queries of `shelved_servers.pins`, none for no hosts.
    """
    if not hosts_:
        return []
    pins = shelved_servers.pins(context, pcloud.id)
    node_of = names.nodes(aggregate.metadata)
    name_of = _names(aggregate)
    return [host for host in hosts_
            if name_of.get(node_of.get(host, ''), '').lower() not in pins]


def _names(aggregate: rows.Aggregate) -> dict[str, str]:
    """Return ``hypervisor hostname -> owner's name``."""
    return {node: name for name, node
            in names.hosts(aggregate.metadata).items()}


def _write_notes(
    written: writes.Rows, aggregate: rows.Aggregate,
    forgotten: Collection[str], notes: Mapping[str, int],
) -> None:
    """Write which hosts are seen empty.

    :param forgotten: the hosts of which an older note is deleted
    :param notes: ``service host -> since when``, in seconds since the epoch
    """
    # To delete nothing would lock a gap, and hold up other changes.
    written.unmark([
        names.idle_key(host) for host in sorted(forgotten)
        if names.idle_key(host) in aggregate.metadata])
    written.insert(aggregate.id, {
        names.idle_key(host): shrinking.Idle(since).text()
        for host, since in notes.items()})


def _write_drains(
    written: writes.Rows, aggregate: rows.Aggregate,
    leaving: Collection[str],
) -> None:
    drain = draining.Drain(int(timeutils.utcnow_ts()), draining.NONE,
                           release=True, idle=True)
    node_of = names.nodes(aggregate.metadata)
    for host in leaving:
        # What somebody has left who has enabled the host by hand.
        if names.drain_key(host) in aggregate.metadata:
            written.drop(aggregate.id, [names.drain_key(host)])
        written.exchange(aggregate.id, names.state_key(node_of[host]),
                         access.DISABLED)
    written.insert(aggregate.id, {
        names.drain_key(host): drain.text() for host in leaving})


def _tell(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, leaving: Collection[str],
) -> None:
    node_of, name_of = names.nodes(aggregate.metadata), _names(aggregate)
    for host in leaving:
        LOG.info('Host %(host)s of Pcloud %(pcloud)s has been empty for long, '
                 'and leaves.', {'host': host, 'pcloud': pcloud.id})
        if notifications.wanted():
            reconcile.notified(_tell_of, context, pcloud, name_of.get(
                node_of.get(host, ''), ''))


def _tell_of(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
) -> None:
    notifications.host(context, 'update', hosts.event_of(
        pcloud, hosts.show(context, pcloud, name)))
