# SPDX-License-Identifier: Apache-2.0
"""Find where Placement and the rows of pools and Pclouds differ."""

from collections.abc import Iterator
import functools

from pcloud.audit import findings
from pcloud.audit import repair
from pcloud.audit import row_checks
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import placement
from pcloud.backend.cells import computes
from pcloud.backend.cells import consumers
from pcloud.backend.changes import due
from pcloud import names
from pcloud.objects import allocation_ratios


def check(known: row_checks.Known) -> Iterator[findings.Finding]:
    """Find differences between Placement and the rows.

    One call an aggregate and one for all closed hosts, one call a host of a
    Pcloud with a ratio, and one call a host that Placement lacks in an
    aggregate.

    :raises: `exception.Unavailable` when Placement does not answer
    """
    yield from _check_members(known, rows.Aggregate(
        0, names.CLOSED_UUID, names.JOURNAL, frozenset().union(*(
            aggregate.hosts for aggregate in known.aggregates)), {}))
    for aggregate in known.aggregates:
        yield from _check_members(known, aggregate)
        if pcloud_rows.is_whole(aggregate.name, aggregate.metadata):
            yield from _check_ratios(known, aggregate)


def check_consumers(known: row_checks.Known) -> Iterator[findings.Finding]:
    """Find allocations of consumers that belong to nothing on the hosts.

    Nova may be about to delete a young allocation. One call of Placement a
    host and one a finding, and the queries of `consumers.orphans`.

    :raises: `exception.Unavailable` when Placement or a cell does not answer
    """
    computes_of = {host: compute for host, compute in known.computes.items()
                   if compute.answered and len(compute.nodes) == 1}
    there = {host: set(placement.consumers(known.context, compute.node.uuid))
             for host, compute in computes_of.items()}
    servers = computes.instances(known.context, there.keys())
    orphans = consumers.orphans(known.context, {
        host: uuids.difference(servers[host])
        for host, uuids in there.items()})
    for host in sorted(orphans):
        for consumer, orphan in sorted(orphans[host].items()):
            _, written = placement.allocations(known.context, consumer)
            if repair.is_old(orphan, written):
                yield findings.Finding(
                    'orphan-allocation', '', host,
                    f'Placement keeps an allocation of {consumer}, which is '
                    f'{orphan.what}; the host has that much less capacity',
                    functools.partial(
                        repair.drop_allocation, host, consumer))


def _check_members(
    known: row_checks.Known, aggregate: rows.Aggregate,
) -> Iterator[findings.Finding]:
    mirrored = placement.members(known.context, aggregate.uuid)
    uuids = {node.uuid: host for host in aggregate.hosts
             for node in _nodes(known, host)}
    told_later = {due.parse(text).provider for text in known.dues.values()}
    told_later |= {node.uuid for host in known.dues
                   for node in _nodes(known, host)}
    if any(not known.computes[host].answered
           for host in aggregate.hosts & known.computes.keys()):
        # Nobody knows the nodes of those hosts, so none is too many.
        mirrored = {uuid: node for uuid, node in mirrored.items()
                    if uuid in uuids}
    for uuid, node in sorted(mirrored.items()):
        if uuid not in uuids and uuid not in told_later:
            yield findings.Finding(
                'only-in-placement', aggregate.name, node,
                'Placement has it in the aggregate, Nova does not',
                functools.partial(
                    repair.have_placement_forget, aggregate, uuid))
    for uuid, host in sorted(uuids.items(), key=lambda pair: pair[1]):
        if uuid in mirrored or uuid in told_later:
            continue
        if placement.aggregates(known.context, uuid) is None:
            # The check of the pool finds the node.
            if aggregate.name == names.JOURNAL:
                continue
            yield findings.Finding(
                'node-not-in-placement', aggregate.name, host,
                f'Placement has no resource provider {uuid} for its node; '
                'restart nova-compute there')
        else:
            yield findings.Finding(
                'not-in-placement', aggregate.name, host,
                'Placement does not know that it is in the aggregate',
                functools.partial(repair.tell_placement, aggregate, host))


def _nodes(
    known: row_checks.Known, host: str,
) -> tuple[computes.Node, ...]:
    return known.computes[host].nodes if host in known.computes else ()


def _check_ratios(
    known: row_checks.Known, aggregate: rows.Aggregate,
) -> Iterator[findings.Finding]:
    states = names.states(aggregate.metadata)
    for host in sorted(aggregate.hosts - known.dues.keys()):
        for node in _nodes(known, host):
            if (node.hypervisor_hostname in states and
                    allocation_ratios.differs(
                        known.context, aggregate.metadata, host, node)):
                yield findings.Finding(
                    'ratio-drifted', aggregate.name, host,
                    'its inventory does not have the ratios of the Pcloud; '
                    'nova-compute takes ratios back where its nova.conf sets '
                    'cpu_allocation_ratio or ram_allocation_ratio',
                    functools.partial(
                        repair.tell_placement, aggregate, host))
