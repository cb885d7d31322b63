# SPDX-License-Identifier: Apache-2.0
"""Find rows of pools and Pclouds that do not fit together."""

import collections
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import functools

from nova import context as nova_context
from oslo_config import cfg

from pcloud.audit import findings
from pcloud.audit import repair
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import computes
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud import names
from pcloud.objects import replacements
from pcloud.rules import forms
from pcloud.rules.moving import assignments
from pcloud.rules.placing import access
from pcloud.rules.placing import hints as hint_rules
from pcloud import text

CONF = cfg.CONF


@dataclasses.dataclass(frozen=True)
class Known:
    """What the checks look at.

    :ivar aggregates: all pools and Pclouds, whole or not
    :ivar computes: ``service host -> Compute`` of the aggregates' hosts that
        Nova knows
    :ivar dues: ``service host -> what is due``
    :ivar unopened: ``service host -> id of the Pcloud`` of hosts that were
        never enabled, as written
    :ivar kept: ``key -> value`` of all that the journal keeps of hosts in
        pools and Pclouds, and of moves of servers
    """

    context: nova_context.RequestContext
    aggregates: list[rows.Aggregate]
    computes: Mapping[str, computes.Compute]
    dues: Mapping[str, str]
    unopened: Mapping[str, str]
    kept: Mapping[str, str]

    @functools.cached_property
    def pclouds_of(self) -> Mapping[str, list[str]]:
        """``service host -> ids of the host's Pclouds``, whole or not."""
        return self._holders(lambda aggregate: isolation.is_pcloud(
            aggregate.name, aggregate.metadata))

    @functools.cached_property
    def pools_of(self) -> Mapping[str, list[str]]:
        """``service host -> ids of the host flavors with the host``."""
        return self._holders(lambda aggregate: pool_rows.is_whole(
            aggregate.name, aggregate.metadata))

    def _holders(
        self, are: Callable[[rows.Aggregate], bool],
    ) -> Mapping[str, list[str]]:
        holders = collections.defaultdict(list)
        for aggregate in filter(are, self.aggregates):
            for host in aggregate.hosts:
                holders[host].append(aggregate.name.removeprefix(
                    names.POOL_PREFIX).removeprefix(names.PREFIX))
        return holders

    def node_of(self, aggregate: rows.Aggregate) -> dict[str, str]:
        """Return the nodes of a Pcloud's hosts.

        :returns: ``service host -> hypervisor hostname``
        """
        entries = {host: node for host, node
                   in names.nodes(aggregate.metadata).items()
                   if host in aggregate.hosts}
        nodes = {}
        for host in aggregate.hosts:
            hostnames = [
                node.hypervisor_hostname for node in
                self.computes[host].nodes] if host in self.computes else []
            # What is kept counts until a cell answers.
            if host in entries and (
                    not hostnames or entries[host] in hostnames):
                nodes[host] = entries[host]
            elif hostnames:
                nodes[host] = hostnames[-1]
        return nodes


# The metadata that a whole pool or Pcloud has.
_FRAMES = {names.TYPE_POOL: (names.FLAVOR_ID, names.UNITS),
           names.TYPE_PCLOUD: (names.ID,)}


def check(known: Known) -> Iterator[findings.Finding]:
    """Find the defects that the rows alone show."""
    for aggregate in known.aggregates:
        if pool_rows.is_whole(aggregate.name, aggregate.metadata):
            yield from _check_pool(known, aggregate)
        elif pcloud_rows.is_whole(aggregate.name, aggregate.metadata):
            yield from _check_members(known, aggregate)
            yield from _check_keys(known, aggregate)
        else:
            yield findings.Finding(
                'incomplete-aggregate', aggregate.name, '',
                'its name and its metadata do not agree on what it is; its '
                'hosts are given to no project: ' + ', '.join(
                    f'{key}={aggregate.metadata[key]!r}'
                    if key in aggregate.metadata else f'no {key}'
                    for key in _FRAMES.get(aggregate.metadata.get(
                        names.TYPE, ''), (names.TYPE,))))
        for host in sorted(aggregate.hosts - known.computes.keys()):
            yield findings.Finding(
                'host-without-service', aggregate.name, host,
                'Nova has no compute service of this name')
    yield from _check_unopened(known)
    yield from _check_kept(known)


def _check_pool(
    known: Known, pool: rows.Aggregate,
) -> Iterator[findings.Finding]:
    for host in sorted(pool.hosts):
        pools = known.pools_of[host]
        if len(pools) > 1:
            yield findings.Finding(
                'host-in-two-pools', pool.name, host,
                'it is in the pools of more than one host flavor: ' +
                ', '.join(pools) + '. Take it out of one with: openstack '
                f'host flavor host remove <host flavor> {host}')


def _check_members(
    known: Known, aggregate: rows.Aggregate,
) -> Iterator[findings.Finding]:
    states = names.states(aggregate.metadata)
    named = list(names.hosts(aggregate.metadata).values())
    for host, node in sorted(known.node_of(aggregate).items()):
        alone = len(known.pclouds_of[host]) == 1
        if not alone:
            yield findings.Finding(
                'host-in-two-pclouds', aggregate.name, host,
                'it is in more than one Pcloud and given to no project: ' +
                ', '.join(known.pclouds_of[host]) + '. Take it out of one '
                f'with: openstack aggregate remove host <aggregate> {host}')
        if node not in states:
            yield findings.Finding(
                'host-without-state', aggregate.name, host,
                'it is in the Pcloud without a state, and given to no project',
                functools.partial(repair.settle_stateless, aggregate, host,
                                  node) if alone else None)
        elif names.nodes(aggregate.metadata).get(host) != node:
            yield findings.Finding(
                'node-not-kept', aggregate.name, host,
                f'its compute node {node} is not kept with the Pcloud, which '
                'would not show the host while its cell is silent; kept is '
                f'{names.nodes(aggregate.metadata).get(host)!r}',
                functools.partial(repair.keep_node, aggregate, host, node))
        elif named.count(node) != 1:
            yield findings.Finding(
                'host-without-one-name', aggregate.name, host,
                f'{named.count(node)} names stand for it')
        if host not in known.pools_of:
            yield findings.Finding(
                'host-in-no-pool', aggregate.name, host,
                'it is in a Pcloud, but in the pool of no host flavor')


def _check_unopened(known: Known) -> Iterator[findings.Finding]:
    """Find marks of hosts that are not as the marks say."""
    pclouds = {pcloud.metadata[names.ID]: pcloud
               for pcloud in pcloud_rows.whole(known.aggregates)}
    for host, pcloud_id in sorted(known.unopened.items()):
        pcloud = pclouds.get(pcloud_id)
        if pcloud is None or host not in pcloud.hosts:
            # The check of the values finds an unreadable id.
            if forms.is_uuid(pcloud_id):
                yield findings.KeyFinding(
                    'unopened-without-host', names.pcloud(pcloud_id),
                    names.unopened_key(host),
                    f'{host} is not in the Pcloud that has never enabled it',
                    functools.partial(repair.forget_unopened, pcloud_id,
                                      host))
        elif names.states(pcloud.metadata).get(
                known.node_of(pcloud).get(host, '')) == access.ENABLED:
            yield findings.Finding(
                'enabled-by-hand', pcloud.name, host,
                'its state was written by other means than Pcloud\'s; it '
                'takes no servers until it is enabled with: openstack pcloud '
                'host set --enable',
                functools.partial(repair.open_host, pcloud, host))


# What a row of a host in no pool or Pcloud is called.
OUTLIVED = {
    names.NODE_PREFIX: 'node-without-host',
    names.DRAIN_PREFIX: 'drain-without-host',
    names.REACTION_PREFIX: 'reaction-without-host',
    names.REPLACES_PREFIX: 'replacement-without-host',
    names.SPARE_PREFIX: 'spare-without-host',
    names.IDLE_PREFIX: 'idle-without-host',
    names.UNTIL_PREFIX: 'date-without-host',
    names.RECOVERY_PREFIX: 'recovery-without-host',
    names.OWN_PREFIX: 'ratio-not-given-back',
    names.MAINTENANCE_PREFIX: 'maintenance-without-host'}


def _check_kept(known: Known) -> Iterator[findings.Finding]:
    """Find rows of the journal whose host or Pcloud is gone.

    Nova deletes the memberships of a host with its compute service, and no
    row of Pcloud.
    """
    ids = {pcloud.metadata[names.ID]
           for pcloud in pcloud_rows.whole(known.aggregates)}
    for key, value in sorted(known.kept.items()):
        prefix = next((each for each in OUTLIVED if key.startswith(each)), '')
        host = key.removeprefix(prefix)
        if key.startswith(names.REBALANCE_PREFIX):
            its = key.removeprefix(names.REBALANCE_PREFIX).partition(':')[0]
            # The check of the values finds an unreadable id.
            if its not in ids and forms.is_uuid(its):
                yield findings.KeyFinding(
                    'rebalance-without-host', names.JOURNAL, key,
                    f'there is no Pcloud {its}',
                    functools.partial(repair.drop_move, its, key, value))
        elif prefix == names.MAINTENANCE_PREFIX:
            if host not in known.pools_of:
                yield _outlived(prefix, host, value, 'pool')
        elif prefix and host not in known.pclouds_of:
            yield _outlived(prefix, host, value, 'Pcloud')


def _outlived(
    prefix: str, host: str, value: str, where: str,
) -> findings.Finding:
    if prefix == names.OWN_PREFIX:
        return findings.KeyFinding(
            OUTLIVED[prefix], names.JOURNAL, prefix + host,
            f'{host} has left its Pcloud with the ratio of the Pcloud',
            functools.partial(repair.give_back_ratio, host, value))
    return findings.KeyFinding(
        OUTLIVED[prefix], names.JOURNAL, prefix + host,
        f'{host} is in no {where}',
        functools.partial(repair.drop_kept, prefix, host, value))


def check_released(known: Known) -> Iterator[findings.Finding]:
    """Find settled hosts that count for the project that released the hosts.

    The rows are read after what is due.
    """
    for host, value in sorted(journal.released(known.context).items()):
        released = journal.Released.known(value)
        if host not in known.dues and released is not None:
            yield findings.KeyFinding(
                'released-without-settling', names.JOURNAL,
                names.released_key(host),
                f'{host} settles no more, and counts against no limit',
                functools.partial(repair.forget_released,
                                  released.project, host, value))


def _check_keys(
    known: Known, aggregate: rows.Aggregate,
) -> Iterator[findings.Finding]:
    node_of, metadata = known.node_of(aggregate), aggregate.metadata
    nodes = frozenset(node_of.values())
    entries = [
        ('name-without-host', names.host_key(name), node)
        for name, node in names.hosts(metadata).items()
    ] + [
        ('state-without-host', names.state_key(node), node)
        for node in names.states(metadata)]
    for kind, key, subject in sorted(
            entry for entry in entries if entry[2] not in nodes):
        yield findings.KeyFinding(
            kind, aggregate.name, key, f'{subject} is not in the Pcloud',
            functools.partial(repair.drop_key, aggregate, key))
    yield from _check_closed(aggregate, node_of)
    yield from _check_replacements(aggregate)
    yield from _check_rebalance(known, aggregate)


def _check_closed(
    aggregate: rows.Aggregate, node_of: Mapping[str, str],
) -> Iterator[findings.Finding]:
    """Find what only a disabled host has, of hosts enabled by hand.

    :param node_of: ``service host -> hypervisor hostname``
    """
    metadata = aggregate.metadata
    states = names.states(metadata)
    for host in sorted(node_of):
        if states.get(node_of[host]) != access.ENABLED:
            continue
        for kind, key, what in (
                ('drain-not-ended', names.drain_key(host),
                 'the drain is left, which would go on'),
                ('spare-not-ended', names.spare_key(host),
                 'would be a spare again')):
            if key in metadata:
                yield findings.KeyFinding(
                    kind, aggregate.name, key,
                    f'its host was enabled by hand, and {what} with the next '
                    'disabling',
                    functools.partial(repair.end_closing, aggregate, key,
                                      node_of[host]))


def _check_replacements(
    aggregate: rows.Aggregate,
) -> Iterator[findings.Finding]:
    """Find hosts that have joined for a maintenance, and do not leave."""
    for host in replacements.left_behind(aggregate):
        key = names.replaces_key(host)
        yield findings.KeyFinding(
            'replacement-not-ended', aggregate.name, key,
            f'{host} has joined for a maintenance that is over, and nothing '
            'has it leave',
            functools.partial(repair.send_away, aggregate, host))


def _check_rebalance(
    known: Known, aggregate: rows.Aggregate,
) -> Iterator[findings.Finding]:
    """Find servers that are to be moved from or to a host that has left.

    A worker ends such a rebalance. While a cell is silent nothing is found.
    """
    there = [known.computes[host] for host in aggregate.hosts
             if host in known.computes]
    uuids = {node.uuid for compute in there for node in compute.nodes}
    for server, value in sorted(names.rebalance(aggregate.metadata).items()):
        row = assignments.Assignment.known(value)
        key = names.rebalance_key(aggregate.metadata[names.ID], server)
        # The check of the values finds an unreadable row.
        if row is not None and all(
                compute.answered for compute in there) and not (
                {row.source, row.target} <= uuids):
            yield findings.KeyFinding(
                'rebalance-without-host', aggregate.name, key,
                f'server {server} is to be moved from or to a host that is '
                'not in the Pcloud',
                functools.partial(repair.drop_move,
                                  aggregate.metadata[names.ID], key, value))


def check_servers(
    known: Known, aggregate: rows.Aggregate,
    servers: Mapping[str, list[str]], hints: Mapping[str, Mapping],
) -> Iterator[findings.Finding]:
    """Find servers without a right to the hosts of an aggregate.

    :param servers: ``service host -> uuids of the servers on the host``
    :param hints: ``server uuid -> scheduler hints``
    """
    if pool_rows.is_whole(aggregate.name, aggregate.metadata):
        for host in sorted(aggregate.hosts):
            if servers.get(host) and host not in known.pclouds_of:
                yield findings.Finding(
                    'server-on-free-host', aggregate.name, host,
                    text.counted(len(servers[host]), 'server is on it',
                                 'servers are on it') +
                    ', but it is in no Pcloud: ' + ', '.join(servers[host]))
    elif pcloud_rows.is_whole(aggregate.name, aggregate.metadata):
        for host in sorted(aggregate.hosts):
            foreign = [
                server for server in servers.get(host, ())
                if not _is_right(
                    aggregate.metadata[names.ID], hints.get(server))]
            if foreign:
                yield findings.Finding(
                    'foreign-server', aggregate.name, host,
                    text.counted(
                        len(foreign), 'server is on it that was',
                        'servers are on it that were') +
                    ' not started in this Pcloud: ' + ', '.join(foreign))


def _is_right(pcloud_id: str, hints: Mapping | None) -> bool:
    """Whether a server was started for a Pcloud, or prefers the Pcloud."""
    try:
        return pcloud_id in hint_rules.places(hints)
    except exception.InvalidHint:
        return False
