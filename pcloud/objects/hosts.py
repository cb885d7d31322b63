# SPDX-License-Identifier: Apache-2.0

"""The hosts of a Pcloud, from the owner's point of view.

Rule: reference-pcloud-hosts, reference-allocation-removal
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime

from nova import context as nova_context
from oslo_log import log as logging

from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import maintenance_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import computes
from pcloud.backend import outages
from pcloud import exception
from pcloud import names
from pcloud.objects import blockers
from pcloud.objects import host_resources
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects.placing import host_attributes
from pcloud.objects import reconcile
from pcloud.objects import replacements
from pcloud.rules import host_resources as kinds
from pcloud.rules.moving import dates
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.moving import recovery as recovery_rules
from pcloud.rules.moving import spares
from pcloud.rules.placing import access
from pcloud.rules.placing import attributes as attribute_rules

LOG = logging.getLogger(__name__)

# How often a change is tried while an earlier change is being reconciled.
ATTEMPTS = 3


@dataclasses.dataclass(frozen=True)
class Host:
    """A host of a Pcloud.

    :ivar name: the owner's name for the host
    :ivar node: the compute node, of which only the name is known while the
        host's cell is silent
    :ivar host_flavor: the id of the host flavor; None for a host in no pool
    :ivar units: the units of the host
    :ivar state: 'enabled' or 'disabled', set by the owner; None for any other
        text in place of the state
    :ivar instances: uuids of the servers on the host, None while unknown
    :ivar drain: the drain of a drained host, which is disabled
    :ivar occupied: what is on a host that is drained or has failed; None while
        unknown, and for any other host
    :ivar planned_reboot: the time of the next reboot by the host's
        attributes, None while unknown
    :ivar maintenance: the announced maintenance, None without one
    :ivar rack: the number of the rack among the racks of the Pcloud's hosts,
        from 1; None while unknown
    :ivar rack_name: the rack's own name, for whom a policy lets see it
    :ivar reaction: what the Pcloud has done for the maintenance, None for
        nothing, and without a maintenance
    :ivar replacement: the owner's name for the host that stands in for the
        host, None without one
    :ivar is_spare: whether the owner keeps the host as a spare; it is
        disabled then, but for a spare that is about to stand in
    :ivar resources: what the host has by Placement, None while unknown
    :ivar replaces: for which host the host is to stand in; None for a host of
        its own, and for a host that is in the Pcloud already
    :ivar recovery: what is done because the host has failed, None for nothing
    :ivar recovered_by: the owner's name for the host that has joined for the
        recovery, None without one
    :ivar until: when the host is to leave, None for no date
    """

    name: str
    compute: computes.Compute
    node: computes.Node | computes.UnknownNode
    host_flavor: str | None
    units: int
    state: str | None
    instances: tuple[str, ...] | None
    planned_reboot: datetime.datetime | None
    rack: int | None
    rack_name: str | None
    drain: draining.Drain | None = None
    occupied: blockers.Occupied | None = None
    maintenance: maintenance_windows.Maintenance | None = None
    reaction: maintenance_policies.Reaction | None = None
    replacement: str | None = None
    replaces: maintenance_policies.StandIn | None = None
    is_spare: bool = False
    resources: kinds.Resources | None = None
    recovery: recovery_rules.Recovery | None = None
    recovered_by: str | None = None
    until: dates.Until | None = None

    @property
    def next_reboot(self) -> datetime.datetime | None:
        """The time of the next reboot or maintenance, None while unknown."""
        return maintenance_windows.next_reboot(
            self.planned_reboot, self.maintenance)

    @property
    def shown_state(self) -> str | None:
        """The state for the owner: as `state`, 'draining' or 'spare'."""
        if self.drain is not None:
            return draining.DRAINING
        return spares.SPARE if self.is_spare else self.state

    @property
    def status(self) -> str:
        """'maintenance', 'up' or 'down', from the host's compute service."""
        if not self.compute.answered:
            return 'down'
        if not self.compute.enabled:
            return 'maintenance'
        return 'up' if self.compute.up else 'down'


def index(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
) -> list[Host]:
    """Return the hosts of a Pcloud, in order of the owner's names."""
    aggregate = pcloud.aggregate
    known = computes.load(context, aggregate.hosts)
    instances, silent = computes.known_instances(context, aggregate.hosts)
    states = names.states(aggregate.metadata)
    drains = names.drains(aggregate.metadata)
    spared = names.spares(aggregate.metadata)
    host_of = _hosts_of_nodes(aggregate, known)
    # A host without a state belongs to nobody, and a host without a service
    # is no host any more.
    named = {name: (known[host_of[node]], node)
             for name, node in sorted(names.hosts(aggregate.metadata).items())
             if node in states and host_of.get(node) in known}
    pools = _pools(context, aggregate.hosts)
    announced = _maintenances(maintenance_rows.maintenances(
        context, pcloud_id=aggregate.id))
    attributes = host_attributes.effective(context, aggregate.hosts)
    racks = _racks(attributes, [compute.host for compute, _ in named.values()])
    names_of_hosts = {compute.host: name
                      for name, (compute, _) in named.items()}
    return with_occupants(context, [_with_reaction(
        Host(name=name, compute=compute, node=_node(compute, node),
             state=access.state(states[node]),
             drain=draining.of(states[node], drains.get(compute.host)),
             is_spare=spares.is_spare(states[node], spared.get(compute.host)),
             until=dates.Until.known(aggregate.metadata.get(
                 names.until_key(compute.host))),
             maintenance=announced.get(compute.host),
             recovery=recovery_rules.Recovery.known(names.recoveries(
                 aggregate.metadata).get(compute.host)),
             recovered_by=names_of_hosts.get(replacements.standing_in(
                 aggregate, compute.host) or ''),
             **_of_pool(pools.get(compute.host)),
             **_of_place(attributes.get(compute.host, {}), racks),
             instances=_instances(compute.host, instances, silent)),
        names.reactions(aggregate.metadata), names_of_hosts)
        for name, (compute, node) in named.items()])


def with_resources(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    there: Sequence[Host],
) -> list[Host]:
    """Add what hosts are, and leave that unknown while Placement is silent.

    The calls of `host_resources.of_hosts` to Placement.
    """
    nodes = [host.node for host in there
             if isinstance(host.node, computes.Node)]
    try:
        found = host_resources.of_hosts(
            context, nodes, [pcloud.aggregate.uuid])
    except exception.Unavailable:
        return list(there)
    return [dataclasses.replace(
        host, resources=found.get(host.node.uuid or '')) for host in there]


def _with_reaction(
    host: Host, reactions_of_hosts: Mapping[str, str],
    names_of_hosts: Mapping[str, str],
) -> Host:
    """Add what the Pcloud has done for the maintenance of a host.

    :param reactions_of_hosts: ``service host -> reaction``, as written
    :param names_of_hosts: ``service host -> owner's name``
    """
    reaction = maintenance_policies.Reaction.known(
        reactions_of_hosts.get(host.compute.host))
    if host.maintenance is None or reaction is None:
        return host
    return dataclasses.replace(
        host, reaction=reaction,
        replacement=names_of_hosts.get(reaction.replacement or ''))


def with_occupants(
    context: nova_context.RequestContext, hosts: Sequence[Host],
) -> list[Host]:
    """Add what is on hosts that are drained, or have failed.

    A query, and two queries a cell.
    """
    found = blockers.find(context, [
        host.compute.host for host in hosts
        if host.drain is not None or host.recovery is not None])
    return [dataclasses.replace(host, occupied=found[host.compute.host])
            if host.compute.host in found else host for host in hosts]


def _pools(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, Mapping[str, str]]:
    """Return the metadata of the pool of each host (two queries)."""
    return {host: pool.metadata
            for pool in pool_rows.of_hosts(context, hosts)
            for host in pool.hosts}


def _instances(
    host: str, known: Mapping[str, list[str]], silent: Collection[str],
) -> tuple[str, ...] | None:
    return None if host in silent else tuple(known.get(host, ()))


def _hosts_of_nodes(
    aggregate: rows.Aggregate, known: Mapping[str, computes.Compute],
) -> dict[str, str]:
    """Return the service hosts of a Pcloud's nodes.

    The rows decide; the cells decide for hosts whose row is lost.

    :returns: ``hypervisor hostname -> service host``
    """
    hosts = {node.hypervisor_hostname: host
             for host, compute in known.items() for node in compute.nodes}
    return hosts | {node: host for host, node
                    in names.nodes(aggregate.metadata).items()
                    if host in aggregate.hosts}


def _node(
    compute: computes.Compute, name: str,
) -> computes.Node | computes.UnknownNode:
    """Return a host's node; a node with only a name for a silent cell."""
    return next((node for node in compute.nodes
                 if node.hypervisor_hostname == name),
                computes.UnknownNode(name))


def _racks(
    attributes: Mapping[str, Mapping[str, str]], hosts: list[str],
) -> Mapping[str, int]:
    """Return the number of each rack within a Pcloud.

    :returns: ``rack -> number``, from 1
    """
    return attribute_rules.ordinals(
        attributes.get(host, {}).get(attribute_rules.RACK) for host in hosts)


def _maintenances(
    there: Iterable[maintenance_rows.Kept],
) -> dict[str, maintenance_windows.Maintenance | None]:
    return {row.host: maintenance_windows.of(row.value) for row in there}


def _of_pool(metadata: Mapping[str, str] | None) -> dict:
    if metadata is None:
        return {'host_flavor': None, 'units': 0}
    return {'host_flavor': metadata[names.FLAVOR_ID],
            'units': readings.units(metadata) or 0}


def _of_place(attributes: Mapping[str, str], racks: Mapping[str, int]) -> dict:
    date, rack = (attributes.get(name) for name in (
        attribute_rules.REBOOT, attribute_rules.RACK))
    return {'planned_reboot': date and attribute_rules.reboot(date),
            'rack': None if rack is None else racks.get(rack),
            'rack_name': rack}


def new(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
    flavor_id: str, compute: computes.Compute, units: int,
) -> Host:
    """Return an empty, free host as a future host of a Pcloud.

    :raises: `exception.Conflict` for a host with several nodes
    """
    return Host(
        name=name, compute=compute, node=compute.node,
        host_flavor=flavor_id,
        units=units, state=access.DISABLED, instances=(),
        **_place(context, pcloud, name, compute.host))


def show(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
) -> Host:
    """Return one host of a Pcloud, by name in any letter case.

    The cost does not grow with the Pcloud, unless the host is in a rack, or
    was added before the rows of nodes existed.

    :raises: `exception.HostNotFound`
    """
    found = pcloud_rows.host_rows(context, pcloud.aggregate.id, name)
    if found is None:
        return _show_unplaced(context, pcloud, name)
    compute = computes.load(context, [found.host]).get(found.host)
    if compute is None:
        raise exception.HostNotFound(name=name, pcloud=pcloud.id)
    instances, silent = computes.known_instances(context, [found.host])
    shown = Host(
        name=found.name, compute=compute, node=_node(compute, found.node),
        state=access.state(found.state),
        drain=draining.of(found.state, found.drain),
        is_spare=spares.is_spare(found.state, found.spare),
        until=dates.Until.known(found.until),
        **_own_recovery(context, pcloud, found),
        maintenance=_maintenances(maintenance_rows.maintenances(
            context, hosts=[found.host])).get(found.host),
        **_of_pool(_pools(context, [found.host]).get(found.host)),
        **_place(context, pcloud, found.name, found.host),
        instances=_instances(found.host, instances, silent))
    return with_occupants(
        context, [_with_own_reaction(context, pcloud, shown)])[0]


def _own_recovery(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    found: pcloud_rows.HostRows,
) -> dict:
    """Return the recovery of a host; one query for a host that has failed."""
    kept = recovery_rules.Recovery.known(found.recovery)
    if kept is None:
        return {}
    return {'recovery': kept, 'recovered_by': pcloud_rows.name_of_stand_in(
        context, pcloud.aggregate.id, found.host)}


def _with_own_reaction(
    context: nova_context.RequestContext, pcloud: pclouds.Head, host: Host,
) -> Host:
    """Add what the Pcloud has done for the maintenance of a host.

    No query without a maintenance, or where the servers stay.
    """
    if (host.maintenance is None or
            pcloud.maintenance_policy == maintenance_policies.STAY):
        return host
    key = names.reaction_key(host.compute.host)
    value = kept_rows.value(context, key) or ''
    reaction = maintenance_policies.Reaction.known(value)
    other = reaction and reaction.replacement
    name = other and pcloud_rows.name_of(context, pcloud.aggregate.id, other)
    return _with_reaction(host, {host.compute.host: value},
                          {other: name} if other and name else {})


def _show_unplaced(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
) -> Host:
    """Return a host that has no row of its node, if the Pcloud has the host.

    :raises: `exception.HostNotFound`
    """
    if pcloud_rows.is_unplaced(context, pcloud.aggregate.id):
        for host in index(context, pclouds.show(context, pcloud.id)):
            if host.name.casefold() == name.casefold():
                return host
    raise exception.HostNotFound(name=name, pcloud=pcloud.id)


def _place(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
    host: str,
) -> dict:
    """Return reboot and rack of one host, which may be about to join.

    One query, and five queries for a host in a rack, because a rack has its
    number among the racks of all hosts.

    :param name: the owner's name for the host
    :param host: the service host
    """
    own = host_attributes.effective_of(context, host)
    if attribute_rules.RACK not in own:
        return _of_place(own, {})
    aggregate = pcloud_rows.find(context, pcloud.id)
    named = {name: host}
    if aggregate is not None:
        named |= _service_hosts(context, aggregate)
    in_order = [named[each] for each in sorted(named)]
    return _of_place(own, _racks(
        host_attributes.effective(context, in_order), in_order))


def _service_hosts(
    context: nova_context.RequestContext, aggregate: rows.Aggregate,
) -> dict[str, str]:
    """Return the hosts of a Pcloud: ``owner's name -> service host``.

    A host whose row of the node was deleted by hand is looked up in the host's
    cell, so that the owner sees the host until `audit` has the row written
    again (``node-not-kept``).
    """
    unplaced = aggregate.hosts - names.nodes(aggregate.metadata).keys()
    host_of = _hosts_of_nodes(aggregate, computes.load(context, unplaced))
    states = names.states(aggregate.metadata)
    return {name: host_of[node]
            for name, node in names.hosts(aggregate.metadata).items()
            if node in states and node in host_of}


def event_of(pcloud: pclouds.Head, host: Host) -> notifications.HostEvent:
    """Return the payload of a notification about a host."""
    return notifications.HostEvent(
        pcloud_id=pcloud.id, owner=pcloud.owner, name=host.name,
        host_flavor=host.host_flavor, units=host.units,
        availability_zone=host.compute.zone, state=host.shown_state or '')


def finish(context: nova_context.RequestContext, host: Host) -> None:
    """Do what is due for a host before the host is changed again.

    :raises: `exception.HostBusy` when something stays due
    """
    try:
        if reconcile.host(context, host.compute.host):
            return
    except outages.ANY as error:
        LOG.warning('What is due for host %(host)s has still to be done: '
                    '%(error)s', {'host': host.compute.host, 'error': error})
    raise exception.HostBusy(name=host.name)
