# SPDX-License-Identifier: Apache-2.0

"""Hosts that stand in for other hosts of a Pcloud, and the end of that.

The change that ends a maintenance, for whatever reason, also writes that the
host which has joined for the maintenance has to leave. So nobody has to come
by before the host counts and takes no new servers.

Rule: reference-maintenance-stand-ins
"""

from collections.abc import Mapping
import dataclasses

from oslo_utils import timeutils

from pcloud.backend import rows
from pcloud.backend import writes
from pcloud import names
from pcloud.rules import access
from pcloud.rules import draining
from pcloud.rules import reactions as rules


def end(written: writes.Rows, aggregate_id: int, host: str) -> None:
    """Write that nobody stands in for a host of a Pcloud any more.

    The reaction of the host is over, but for what the owner had chosen for the
    host. Nothing is written where nobody stands in.

    :param aggregate_id: the id of the Pcloud's aggregate in the database
    :param host: the service host
    """
    key = names.reaction_key(host)
    reaction = rules.parse(written.values(aggregate_id, [key]).get(key))
    if reaction is None or reaction.replacement is None or not reaction.begin:
        return
    written.exchange(aggregate_id, key, str(
        dataclasses.replace(reaction, begin=0)))
    send_away(written, aggregate_id, reaction.replacement, host)


def send_away(
    written: writes.Rows, aggregate_id: int, host: str, other: str,
) -> None:
    """Write that a host has to leave, whatever the owner has wished for it.

    Servers are moved as the maintenance has moved servers; the owner's wish
    that stopped servers be moved too stays.

    :param host: the service host, which has stood in
    :param other: the service host that it has stood in for
    """
    placed, replaces = names.node_key(host), names.replaces_key(host)
    there = written.values(aggregate_id, [placed, replaces])
    if placed not in there or there.get(replaces) not in (
            other, rules.over(other)):
        return
    state_key, drain_key = (names.state_key(there[placed]),
                            names.drain_key(there[placed]))
    values = written.values(aggregate_id, [state_key, drain_key])
    before = draining.of(values.get(state_key), values.get(drain_key))
    written.exchange(aggregate_id, replaces, rules.over(other))
    written.exchange(aggregate_id, state_key, access.DISABLED)
    # To delete nothing would lock a gap, and hold up other changes.
    if drain_key in values:
        written.drop(aggregate_id, [drain_key])
    written.insert(aggregate_id, {drain_key: str(
        _last(before, values.get(state_key)))})


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

    :returns: service hosts
    """
    metadata = aggregate.metadata
    kept = names.replaced(metadata)
    leaving = rules.leaving(kept, aggregate.hosts)
    return [host for host in sorted(kept) if host in aggregate.hosts and not (
        draining.lets_go(_drain_of(metadata, host)) if host in leaving else
        _is_wanted(metadata, host, kept[host]))]


def _drain_of(
    metadata: Mapping[str, str], host: str,
) -> draining.Drain | None:
    node = names.nodes(metadata).get(host, '')
    return draining.of(names.states(metadata).get(node),
                       names.drains(metadata).get(node))


def _is_wanted(metadata: Mapping[str, str], host: str, other: str) -> bool:
    reaction = rules.parse(names.reactions(metadata).get(other))
    return (reaction is not None and reaction.begin > 0 and
            reaction.replacement == host)


def send_left_behind(
    written: writes.Rows, aggregate: rows.Aggregate, host: str,
) -> bool:
    """Send away a host that is left behind; return whether it was.

    :param host: the service host
    """
    there = dataclasses.replace(
        aggregate, hosts=frozenset(written.members(aggregate.id)),
        metadata=written.metadata(aggregate.id))
    if host not in left_behind(there):
        return False
    send_away(written, aggregate.id, host,
              rules.of_whom(names.replaced(there.metadata)[host]))
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
