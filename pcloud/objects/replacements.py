# SPDX-License-Identifier: Apache-2.0

"""Hosts that stand in for other hosts of a Pcloud, and the end of that.

A host that has joined for the recovery of another host stays when the other
host leaves; a host that has joined for a maintenance leaves.

The change that ends a maintenance, for whatever reason, also writes that the
host which has joined for the maintenance has to leave. So nobody has to come
by before the host counts and takes no new servers.

Rule: reference-maintenance-stand-ins
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.changes import spans
from pcloud.backend.changes import writes
from pcloud import names
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import recovery
from pcloud.rules.placing import access


def end(written: writes.Rows, aggregate_id: int, host: str) -> None:
    """Write that nobody stands in for a host of a Pcloud any more.

    The reaction of the host is over, but for what the owner had chosen for the
    host. Nothing is written where nobody stands in.

    :param aggregate_id: the id of the Pcloud's aggregate in the database
    :param host: the service host
    """
    key = names.reaction_key(host)
    reaction = maintenance_policies.Reaction.known(
        written.values(aggregate_id, [key]).get(key))
    if (reaction is None or reaction.replacement is None or
            reaction.begin is None):
        return
    written.exchange(aggregate_id, key, dataclasses.replace(
        reaction, begin=None).text())
    _send_away(written, aggregate_id, reaction.replacement, host)


def end_all(
    written: writes.Rows, aggregate_id: int, hosts: Collection[str],
) -> None:
    """Write that nobody stands in for any host of a Pcloud any more.

    :param hosts: the service hosts of the Pcloud
    """
    for host in names.reactions(written.values(
            aggregate_id, list(map(names.reaction_key, hosts)))):
        end(written, aggregate_id, host)


def _send_away(
    written: writes.Rows, aggregate_id: int, host: str, other: str | None,
) -> None:
    """Write that a host has to leave, whatever the owner has wished for it.

    A spare does not leave: it is closed, and a spare again when it is empty.
    Servers are moved as the maintenance has moved servers; the owner's wish
    that stopped servers be moved too stays.

    :param host: the service host, which has stood in
    :param other: the service host that it has stood in for; None where nobody
        can read for whom
    """
    placed, replaces, span = (
        names.node_key(host), names.replaces_key(host), names.span_key(host))
    there = written.values(aggregate_id, [placed, replaces, span])
    if not {placed, replaces} <= there.keys():
        return
    stand_in = maintenance_policies.StandIn.known(there[replaces])
    if other != (None if stand_in is None else stand_in.host):
        return
    state_key, drain_key = (names.state_key(there[placed]),
                            names.drain_key(host))
    values = written.values(aggregate_id, [state_key, drain_key])
    before = draining.of(values.get(state_key), values.get(drain_key))
    last = _last(before, values.get(state_key))
    if stand_in is not None and stand_in.spare:
        written.drop(aggregate_id, [replaces])
        last = dataclasses.replace(
            last, release=False, chosen=None, spare=True)
    elif stand_in is not None:
        written.exchange(aggregate_id, replaces, dataclasses.replace(
            stand_in, over=True).text())
    if span in there:
        spans.count_from_now(written, host, there[span])
    written.exchange(aggregate_id, state_key, access.DISABLED)
    # To delete nothing would lock a gap, and hold up other changes.
    if drain_key in values:
        written.drop(aggregate_id, [drain_key])
    written.insert(aggregate_id, {drain_key: last.text()})


def keep(
    written: writes.Rows, aggregate_id: int, host: str,
    stand_in: maintenance_policies.StandIn,
) -> None:
    """Write that a spare stands in no more, and that it is no spare.

    The owner has chosen another state for it.

    :param host: the service host of the spare
    """
    key = names.reaction_key(stand_in.host)
    reaction = maintenance_policies.Reaction.known(
        written.values(aggregate_id, [key]).get(key))
    if reaction is not None and reaction.replacement == host:
        written.exchange(aggregate_id, key, dataclasses.replace(
            reaction, replacement=None).text())
    written.drop(aggregate_id, [names.replaces_key(host)])


def standing_in(aggregate: rows.Aggregate, host: str) -> str | None:
    """Return the service host that has joined for the recovery of a host.

    :param host: the service host that has failed
    :returns: None for no host
    """
    there = maintenance_policies.standing_in(
        maintenance_policies.stand_ins(names.replaced(aggregate.metadata)),
        aggregate.hosts)
    return next((each for each, other in sorted(there.items())
                 if other.host == host and other.stays), None)


def counted(aggregate: rows.Aggregate) -> frozenset[str]:
    """Return the hosts of a Pcloud whose units count.

    A host that stands in for another host of the Pcloud does not count, unless
    it is a spare.
    """
    standing_in = maintenance_policies.standing_in(
        maintenance_policies.stand_ins(names.replaced(aggregate.metadata)),
        aggregate.hosts)
    return aggregate.hosts - {
        host for host, other in standing_in.items() if not other.spare}


def take_over(
    written: writes.Rows, aggregate_id: int, host: str,
) -> None:
    """Write that who stands in for a host that has failed takes its place.

    The host counts from then on as any other host, and a spare is no spare.

    :param aggregate_id: the id of the Pcloud's aggregate in the database
    :param host: the service host, which leaves
    """
    members = written.members(aggregate_id)
    there = maintenance_policies.stand_ins(names.replaced(
        written.kept(names.REPLACES_PREFIX)))
    taken = [each for each, other in there.items()
             if each in members and other is not None and
             other.host == host and other.stays and not other.over]
    held = written.values(aggregate_id, list(map(names.span_key, taken)))
    for each in taken:
        if names.span_key(each) in held:
            spans.count_from_now(written, each, held[names.span_key(each)])
    written.unmark(list(map(names.replaces_key, taken)))


def taken_over(aggregate: rows.Aggregate) -> list[str]:
    """Return the failed hosts of a Pcloud that left without `take_over`.

    Nova takes a host out when the compute service of the host is deleted.

    :returns: service hosts, whose place others have taken already
    """
    return sorted({
        other.host for host, other in maintenance_policies.stand_ins(
            names.replaced(aggregate.metadata)).items()
        if host in aggregate.hosts and other is not None and other.stays and
        not other.over and other.host not in aggregate.hosts})


def left_behind(aggregate: rows.Aggregate) -> list[str]:
    """Return the hosts of a Pcloud that nothing has leave, and that should.

    Nova takes a host out of the Pcloud when the compute service of the host is
    deleted, and rows may be lost by hand: then no change of Pcloud has sent
    the host away that stands in.

    ==============  ==================  =================  ===========
    stands in for   reaction with it    drain lets it go   left behind
    ==============  ==================  =================  ===========
    a host inside   yes                 any                no
    a host inside   no                  any                yes
    nobody inside   any                 no                 yes
    nobody inside   any                 yes                no
    ==============  ==================  =================  ===========

    A host that stays stands in as long as there is a recovery instead of a
    reaction, and is not left behind when the other host has gone.

    :returns: service hosts
    """
    metadata = aggregate.metadata
    stand_ins = maintenance_policies.stand_ins(names.replaced(metadata))
    leaving = maintenance_policies.leaving(stand_ins, aggregate.hosts)
    return [host for host, stand_in in sorted(stand_ins.items())
            if host in aggregate.hosts and not (
                draining.lets_go(_drain_of(metadata, host))
                if host in leaving or stand_in is None else
                _stays(aggregate, stand_in) if stand_in.stays else
                _is_wanted(metadata, host, stand_in.host))]


def _drain_of(
    metadata: Mapping[str, str], host: str,
) -> draining.Drain | None:
    node = names.nodes(metadata).get(host, '')
    return draining.of(names.states(metadata).get(node),
                       names.drains(metadata).get(host))


def _stays(
    aggregate: rows.Aggregate, stand_in: maintenance_policies.StandIn,
) -> bool:
    """Whether the other host is gone, or is being recovered."""
    return (stand_in.host not in aggregate.hosts or
            recovery.Recovery.known(names.recoveries(
                aggregate.metadata).get(stand_in.host)) is not None)


def _is_wanted(metadata: Mapping[str, str], host: str, other: str) -> bool:
    reaction = maintenance_policies.Reaction.known(
        names.reactions(metadata).get(other))
    return (reaction is not None and reaction.begin is not None and
            reaction.replacement == host)


def send_left_behind(
    context: nova_context.RequestContext, written: writes.Rows,
    pcloud_id: str, host: str,
) -> bool:
    """Send away a host that is left behind; return whether it was.

    :param context: the context of the change
    :param host: the service host
    """
    there = pcloud_rows.find(context, pcloud_id)
    if there is None or host not in left_behind(there):
        return False
    stand_in = maintenance_policies.StandIn.known(
        names.replaced(there.metadata)[host])
    _send_away(written, there.id, host,
               None if stand_in is None else stand_in.host)
    return True


def _last(before: draining.Drain | None, state: str | None) -> draining.Drain:
    """Return the drain with which a host leaves.

    :param before: the drain of the host so far, None without one
    :param state: the state of the host so far, as written
    """
    last = draining.Drain(
        int(timeutils.utcnow_ts()), draining.LIVE, release=True,
        chosen=access.state(state or '') or access.DISABLED)
    if before is None:
        return last
    return dataclasses.replace(
        last, since=before.since, chosen=before.chosen or access.DISABLED,
        move=draining.ANY if before.move == draining.ANY else last.move)
