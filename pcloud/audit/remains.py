# SPDX-License-Identifier: Apache-2.0

"""Find what is of Pcloud in a cloud, and would be there without Pcloud.

Nothing is written.

Rule: reference-remains
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context

from pcloud.audit import findings
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import rows
from pcloud.backend.aggregates import sticky_copies
from pcloud.backend.calls import placement
from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud.backend.changes import due
from pcloud.backend import flavors
from pcloud.backend import outages
from pcloud import names

# A call of Placement names the aggregates in its URL, which may have 8 KB.
_AGGREGATES_A_CALL = 100

_OPENS = ('Without the filter every project\'s servers are placed there, and '
          'the servers that are there are moved anywhere.')

# What each kind means and what removes it, in the order of removing.
KINDS = {
    findings.NOT_LOOKED_AT: (
        'A part of the cloud does not answer; more may be left. Ask again '
        'when that part is back.'),
    'host-with-servers': (
        f'{_OPENS} Delete the servers, or close the hosts by other means '
        'first.'),
    'host-in-pcloud': (
        f'{_OPENS} Remove with: openstack pcloud host set --disable, then '
        'openstack pcloud host remove.'),
    'ratio-saved': (
        'Placement has the ratio of a Pcloud for the host, and the journal '
        'alone has the ratio of the host. Removing the host from the Pcloud '
        'gives the ratio back.'),
    'change-due': (
        'Placement or the compute service has still to be told of a change. '
        'Remove with: pcloud-manage audit --fix.'),
    'host-settling': (
        'Requests under way may still land on the host. Wait: settling ends '
        'by itself, at the latest after [pcloud] settle_limit seconds and '
        'once the host is empty.'),
    'host-in-pool': (
        f'{_OPENS} Remove with: openstack host flavor host remove, which '
        'leaves the compute service disabled.'),
    'only-in-placement': (
        'Placement has the host in a pool or Pcloud that the host has left '
        'in Nova. Remove with: pcloud-manage audit --fix.'),
    'pcloud': 'Remove with: openstack pcloud delete.',
    'host-flavor': 'Remove with: openstack host flavor delete.',
    'attribute': 'Remove with: openstack pcloud attribute unset.',
    'policy': (
        'Settings, or the quota of a project. Remove with: openstack pcloud '
        'policy unset, and openstack pcloud quota set --default.'),
    'key-of-aggregate': (
        'Means nothing without Pcloud. Remove with: openstack aggregate '
        'unset --property.'),
    'extra-spec': (
        'Means nothing without Pcloud. Remove with: openstack flavor unset '
        '--property.'),
    'journal': (
        'Remove last, when nova-api is without Pcloud: the next change '
        'makes the journal anew. Remove with: openstack aggregate delete '
        f'{names.JOURNAL}.'),
    'sticky-copy': (
        'Rows with copies of placement keys, which Nova never reads. Remove '
        'last, in Nova\'s API database, with: DELETE FROM request_specs '
        f'WHERE instance_uuid LIKE \'{sticky_copies.PREFIX}%\'.'),
}


@dataclasses.dataclass(frozen=True)
class Remainder:
    """A part of Pcloud's state in the cloud.

    :ivar kind: a key of `KINDS`
    :ivar where: the aggregate, the flavor, the table or the silent part
    :ivar what: hosts, keys, or a number with its noun
    """

    kind: str
    where: str
    what: tuple[str, ...] = ()


def find(context: nova_context.RequestContext) -> list[Remainder]:
    """Return what is left of Pcloud, in the order of removing.

    Seven queries and two queries a cell, and one call of Placement for a
    hundred pools and Pclouds.

    :raises: `oslo_db.exception.DBError` when the API database is away
    """
    aggregates = rows.with_values(context)
    closed = [aggregate for aggregate in aggregates if isolation.is_closed(
        aggregate.name, aggregate.metadata)]
    found = [*_of_hosts(context, closed), *_of_placement(context, closed)]
    for aggregate in aggregates:
        found += _of_aggregate(aggregate)
    found += [Remainder('extra-spec', f'flavor {flavor}', (key,))
              for flavor, key, _ in flavors.extra_specs(context)]
    copies = sticky_copies.count(context)
    if copies:
        found.append(Remainder('sticky-copy', 'request_specs', (
            f'{copies} row{"s" if copies > 1 else ""}',)))
    order = list(KINDS)
    return sorted(found, key=lambda each: (order.index(each.kind), each.where))


def _of_hosts(
    context: nova_context.RequestContext, closed: list[rows.Aggregate],
) -> Iterator[Remainder]:
    """Yield the hosts of pools and Pclouds, those with servers first."""
    pclouds = [aggregate for aggregate in closed if isolation.is_pcloud(
        aggregate.name, aggregate.metadata)]
    in_pclouds = _hosts(pclouds)
    servers, silent = computes.known_instances(context, _hosts(closed))
    if silent:
        yield Remainder(findings.NOT_LOOKED_AT, 'servers of silent cells',
                        tuple(sorted(silent)))
    for aggregate in closed:
        is_pcloud = aggregate in pclouds
        hosts = (aggregate.hosts if is_pcloud else
                 aggregate.hosts - in_pclouds)
        used = sorted(host for host in hosts if servers.get(host))
        if used:
            yield Remainder('host-with-servers', aggregate.name, tuple(
                _with_number(host, len(servers[host])) for host in used))
        unused = sorted(hosts.difference(used))
        if unused:
            yield Remainder('host-in-pcloud' if is_pcloud else 'host-in-pool',
                            aggregate.name, tuple(unused))


def _with_number(host: str, servers: int) -> str:
    return f'{host} ({servers} server{"s" if servers > 1 else ""})'


def _of_placement(
    context: nova_context.RequestContext, closed: list[rows.Aggregate],
) -> Iterator[Remainder]:
    """Yield the nodes that Placement alone has in pools and Pclouds."""
    nodes, _ = compute_nodes.known_nodes(context, _hosts(closed))
    known = {node.uuid for node in nodes.values()}
    uuids = [names.CLOSED_UUID, *(aggregate.uuid for aggregate in closed)]
    providers: dict[str, str] = {}
    try:
        for begin in range(0, len(uuids), _AGGREGATES_A_CALL):
            providers |= placement.members(
                context, *uuids[begin:begin + _AGGREGATES_A_CALL])
    except outages.ANY as error:
        yield Remainder(findings.NOT_LOOKED_AT, 'Placement', (str(error),))
    # Where a cell is silent, the nodes that belong there are unknown.
    gone = sorted(name for uuid, name in providers.items()
                  if uuid not in known)
    if gone and len(nodes) == len(_hosts(closed)):
        yield Remainder('only-in-placement', 'Placement', tuple(gone))


def _hosts(aggregates: Iterable[rows.Aggregate]) -> frozenset[str]:
    return frozenset().union(*(aggregate.hosts for aggregate in aggregates))


def _of_aggregate(aggregate: rows.Aggregate) -> Iterator[Remainder]:
    """Yield what an aggregate is to Pcloud, and what the metadata keep."""
    name, metadata = aggregate.name, aggregate.metadata
    if name == names.JOURNAL:
        yield from _of_journal(metadata)
        yield Remainder('journal', name)
    elif isolation.is_pcloud(name, metadata):
        yield Remainder('pcloud', name)
    elif isolation.is_closed(name, metadata):
        yield Remainder('host-flavor', name)
    elif name.startswith(names.POLICY_PREFIX):
        yield Remainder('policy', name)
    elif name.startswith(names.ATTRIBUTE_PREFIX):
        yield Remainder('attribute', name)
    else:
        yield Remainder('key-of-aggregate', name, tuple(sorted(
            key for key in metadata if key.startswith(names.TENANT_PREFIX))))


def _of_journal(metadata: Mapping[str, str]) -> Iterator[Remainder]:
    dues = names.stripped(metadata, names.DUE_PREFIX)
    settling = due.settling({
        host: due.parse(text) for host, text in dues.items()}).keys()
    for kind, hosts in (('host-settling', settling),
                        ('change-due', dues.keys() - settling),
                        ('ratio-saved', names.stripped(
                            metadata, names.OWN_PREFIX).keys())):
        if hosts:
            yield Remainder(kind, names.JOURNAL, tuple(sorted(hosts)))
