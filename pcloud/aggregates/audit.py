# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Find what a crash or a hand has left behind, and what repairs it.

Source: CONTRACT section 1 for what belongs together. What each step of
adding and removing a host leaves is told in `allocation` and `hosts`.
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import time

from nova import context as nova_context

from pcloud.aggregates import attributes
from pcloud.aggregates import computes
from pcloud.aggregates import inventories
from pcloud.aggregates import names
from pcloud.aggregates import ratios
from pcloud.aggregates import repair
from pcloud.aggregates import request_specs
from pcloud.aggregates import snapshot
from pcloud import exception
from pcloud.rules import attributes as attribute_rules
from pcloud.rules import hints

# Seconds that a request may take from its first write to its last. What is
# incomplete for longer is not on its way any more.
SETTLE = 5.0


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that is not as it should be.

    :ivar kind: a short name for this sort of thing
    :ivar aggregate: the name of the aggregate it is in
    :ivar subject: the host, name or key it is about
    :ivar message: what is wrong, for an administrator: real names are shown
    :ivar repair: repairs it when called with a context, and tells what it
        did; None where an administrator has to decide
    """

    kind: str
    aggregate: str
    subject: str
    message: str = dataclasses.field(compare=False)
    repair: Callable[[nova_context.RequestContext], str] | None = (
        dataclasses.field(default=None, compare=False))


@dataclasses.dataclass(frozen=True)
class _Known:
    """What the checks look at."""

    context: nova_context.RequestContext
    aggregates: list[snapshot.Aggregate]
    computes: Mapping[str, computes.Compute]
    pclouds_of: Mapping[str, list[str]]
    pooled: frozenset[str]
    servers: Mapping[str, list[str]]
    hints: Mapping[str, Mapping]


def find(
    context: nova_context.RequestContext, settle: float = SETTLE,
) -> list[Finding]:
    """Return what is wrong.

    A request that is under way looks like one that died, so when something
    is found it is looked for again `settle` seconds later; only what is
    still there counts.

    :raises: `exception.Unavailable` when a cell or Placement does not answer
    """
    found = _look(context)
    if not found or not settle:
        return found
    time.sleep(settle)
    return [finding for finding in _look(context) if finding in found]


def _look(context: nova_context.RequestContext) -> list[Finding]:
    known = _read(context)
    found = []
    for aggregate in known.aggregates:
        if snapshot.is_whole_pool(aggregate.name, aggregate.metadata):
            found += _check_pool(known, aggregate)
        elif snapshot.is_whole_pcloud(aggregate.name, aggregate.metadata):
            found += _check_pcloud(known, aggregate)
        else:
            found.append(Finding(
                'incomplete-aggregate', aggregate.name, '',
                'its name and its metadata do not agree on what it is; its '
                'hosts are given to nobody'))
    found += _check_attributes(context)
    return found


def _read(context: nova_context.RequestContext) -> _Known:
    aggregates = snapshot.closed(context)
    hosts = frozenset().union(*(each.hosts for each in aggregates))
    pools = [each for each in aggregates
             if snapshot.is_whole_pool(each.name, each.metadata)]
    servers = computes.instances(context, hosts) if hosts else {}
    return _Known(
        context, aggregates, computes.load(context, hosts),
        snapshot.pclouds_of(context, hosts),
        frozenset().union(*(pool.hosts for pool in pools)), servers,
        request_specs.hints(
            context, frozenset().union(*servers.values())))


def _check_pool(
    known: _Known, pool: snapshot.Aggregate,
) -> Iterator[Finding]:
    yield from _check_mirror(known, pool)
    for host in sorted(pool.hosts):
        servers = known.servers.get(host)
        if servers and host not in known.pclouds_of:
            yield Finding(
                'server-on-free-host', pool.name, host,
                f'{len(servers)} servers are on it, but it is in no Pcloud: '
                + ', '.join(servers))


def _check_pcloud(
    known: _Known, aggregate: snapshot.Aggregate,
) -> Iterator[Finding]:
    yield from _check_mirror(known, aggregate)
    node_of = {host: node.hypervisor_hostname
               for host in aggregate.hosts if host in known.computes
               for node in known.computes[host].nodes}
    yield from _check_members(known, aggregate, node_of)
    yield from _check_servers(known, aggregate)
    yield from _check_rows(aggregate, frozenset(node_of.values()))
    yield from _check_ratios(known, aggregate)


def _check_members(
    known: _Known, aggregate: snapshot.Aggregate, node_of: dict[str, str],
) -> Iterator[Finding]:
    states = names.states(aggregate.metadata)
    named = list(names.hosts(aggregate.metadata).values())
    for host, node in sorted(node_of.items()):
        if len(known.pclouds_of.get(host, ())) > 1:
            yield Finding(
                'host-in-two-pclouds', aggregate.name, host,
                'it is in more than one Pcloud and given to nobody: ' +
                ', '.join(known.pclouds_of[host]))
        if node not in states:
            yield Finding(
                'host-without-state', aggregate.name, host,
                'adding or removing it was interrupted; it is given to '
                'nobody',
                lambda context, host=host: repair.finish_half_made(
                    context, aggregate, known.computes[host]))
        elif named.count(node) != 1:
            yield Finding(
                'host-without-one-name', aggregate.name, host,
                f'{named.count(node)} names stand for it')
        if host not in known.pooled:
            yield Finding(
                'host-in-no-pool', aggregate.name, host,
                'it is in a Pcloud, but in the pool of no host flavor')


def _check_servers(
    known: _Known, aggregate: snapshot.Aggregate,
) -> Iterator[Finding]:
    own = {hints.PCLOUD_HINT: [aggregate.metadata[names.ID]]}
    for host in sorted(aggregate.hosts):
        foreign = [server for server in known.servers.get(host, ())
                   if not own.items() <= known.hints.get(server, {}).items()]
        if foreign:
            yield Finding(
                'foreign-server', aggregate.name, host,
                f'{len(foreign)} servers are on it that were not started in '
                'this Pcloud: ' + ', '.join(foreign))


def _check_rows(
    aggregate: snapshot.Aggregate, nodes: frozenset[str],
) -> Iterator[Finding]:
    rows = [
        ('name-without-host', names.host_key(name), node)
        for name, node in names.hosts(aggregate.metadata).items()
    ] + [
        ('state-without-host', names.state_key(node), node)
        for node in names.states(aggregate.metadata)
    ]
    for kind, key, node in sorted(rows):
        if node not in nodes:
            yield Finding(
                kind, aggregate.name, key,
                f'{node} is not in the Pcloud',
                lambda context, key=key: repair.drop_key(
                    context, aggregate, key))
    for key, (_, node) in sorted(
            names.saved_ratios(aggregate.metadata).items()):
        if node not in nodes:
            yield Finding(
                'ratio-not-given-back', aggregate.name, key,
                f'{node} has left the Pcloud with its ratio',
                lambda context, key=key: repair.give_back_ratio(
                    context, aggregate, key))


def _check_ratios(
    known: _Known, aggregate: snapshot.Aggregate,
) -> Iterator[Finding]:
    states = names.states(aggregate.metadata)
    for host in sorted(aggregate.hosts & known.computes.keys()):
        for node in known.computes[host].nodes:
            if (node.hypervisor_hostname in states and ratios.differs(
                    known.context, aggregate.metadata, node)):
                yield Finding(
                    'ratio-drifted', aggregate.name, host,
                    'its inventory does not have the ratios of the Pcloud',
                    lambda context, node=node: repair.apply_ratios(
                        context, aggregate, node))


def _check_mirror(
    known: _Known, aggregate: snapshot.Aggregate,
) -> Iterator[Finding]:
    mirrored = inventories.members(known.context, aggregate.uuid)
    uuids = {node.uuid for host in aggregate.hosts & known.computes.keys()
             for node in known.computes[host].nodes}
    for uuid, node in sorted(mirrored.items()):
        if uuid not in uuids:
            yield Finding(
                'only-in-placement', aggregate.name, node,
                'Placement has it in the aggregate, Nova does not',
                lambda context, node=node: repair.have_placement_forget(
                    context, aggregate, node))
    for host in sorted(aggregate.hosts):
        compute = known.computes.get(host)
        if compute is None:
            yield Finding(
                'host-without-service', aggregate.name, host,
                'Nova has no compute service of this name')
            continue
        for node in compute.nodes:
            if node.uuid not in mirrored:
                yield Finding(
                    'not-in-placement', aggregate.name, host,
                    'Placement does not know that it is in the aggregate',
                    lambda context, node=node: repair.tell_placement(
                        context, aggregate, node))


def _check_attributes(
    context: nova_context.RequestContext,
) -> Iterator[Finding]:
    aggregates = snapshot.saying_attributes(context)
    yield from _check_platforms(aggregates)
    for aggregate in aggregates:
        yield from _check_attribute_aggregate(aggregate)
    for (host, name), said in sorted(attributes.said(aggregates).items()):
        values = attribute_rules.conflicting(name, said)
        if values:
            yield Finding(
                'attribute-conflict', names.ATTRIBUTE_PREFIX + name, host,
                'aggregates of equal standing give it different values: ' +
                ', '.join(values))


def _check_platforms(
    aggregates: list[snapshot.Aggregate],
) -> Iterator[Finding]:
    kinds: dict[bool, set[str]] = {True: set(), False: set()}
    for aggregate in aggregates:
        value = names.attributes(aggregate.metadata).get(
            attribute_rules.PLATFORM)
        if value is not None and aggregate.hosts:
            try:
                kind = attribute_rules.platform(value).dotted
            except exception.InvalidAttribute:
                continue
            kinds[kind].add(value)
    if all(kinds.values()):
        yield Finding(
            'attribute-kinds-mixed',
            names.ATTRIBUTE_PREFIX + attribute_rules.PLATFORM, '',
            'stamps and versions cannot be compared, and hosts with the '
            'rarer kind count as oldest: ' + ', '.join(
                sorted(kinds[True] | kinds[False])))


def _check_attribute_aggregate(
    aggregate: snapshot.Aggregate,
) -> Iterator[Finding]:
    if (aggregate.name.startswith(names.ATTRIBUTE_PREFIX) or
            names.is_attribute(aggregate.metadata)):
        if not snapshot.is_whole_attribute(
                aggregate.name, aggregate.metadata):
            yield Finding(
                'incomplete-aggregate', aggregate.name, '',
                'its name and its metadata do not agree on the attribute')
        elif not aggregate.hosts:
            yield Finding(
                'attribute-without-hosts', aggregate.name, '',
                'no host has this value',
                lambda context: repair.drop_attribute(context, aggregate))
    for name, value in sorted(names.attributes(aggregate.metadata).items()):
        try:
            attribute_rules.read(name, value)
        except exception.InvalidAttribute as error:
            yield Finding('attribute-not-valid', aggregate.name, name,
                          f'it counts nowhere: {error}')
