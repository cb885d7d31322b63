# SPDX-License-Identifier: Apache-2.0

"""Which host stands in for a host of a Pcloud that is away, or going to be.

A spare of the Pcloud comes first, then a free host of the pool.

Rule: reference-spares-choice
"""

from collections.abc import Mapping
import dataclasses
import random
import secrets

from nova import context as nova_context

from pcloud.backend.aggregates import maintenance_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import computes
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import limits
from pcloud import exception
from pcloud import names
from pcloud.objects.changing_hands import allocation
from pcloud.objects import host_flavors
from pcloud.objects import hosts
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import quotas
from pcloud.objects import reconcile
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import spares
from pcloud.rules.placing import access
from pcloud.rules.placing import choice

# That no host stands in.
NONE_THERE = (exception.NoFreeHost, exception.HostsSettling,
              exception.HostsContended, exception.QuotaExceeded)

# How much of the name of a host the name of a host that joins begins with.
_NAME_LENGTH = 57


def choose(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, stand_in: maintenance_policies.StandIn,
    name: str,
) -> hosts.Host | None:
    """Choose the host that stands in for a host of a Pcloud.

    It has the host flavor and the zone of the host, and no maintenance of its
    own.

    :param aggregate: of the Pcloud, with what the journal keeps of the hosts
    :param stand_in: for which service host the host is to stand in
    :param name: the owner's name for that service host
    :returns: the host, enabled, as `write` has it: a spare, or a future host
        of the Pcloud; None where the host's flavor or zone is not known
    :raises: as `allocation.choose`, where there is no spare; `NONE_THERE` are
        the errors that say that no host stands in
    """
    host, kept = stand_in.host, kept_spares(aggregate)
    pool = next((pool for pool in pool_rows.of_hosts(context, [host, *kept])
                 if host in pool.hosts), None)
    compute = computes.load(context, [host]).get(host)
    if pool is None or compute is None:
        return None
    flavor_id = pool.metadata[names.FLAVOR_ID]
    maintained = [row.host for row in maintenance_rows.maintenances(
        context, flavor_id=flavor_id)]
    spare = spares.choose(
        _candidates(context, aggregate, {
            spare: drain for spare, drain in kept.items()
            if spare in pool.hosts and spare not in maintained}, flavor_id),
        flavor_id, compute.zone)
    if spare is not None:
        return _opened(hosts.show(context, pcloud, spare.name), stand_in)
    units = host_flavors.units(context, flavor_id)
    chosen = allocation.choose(
        context, pcloud, units, flavor_id, choice.Zones(compute.zone),
        maintained, random.SystemRandom())
    return dataclasses.replace(hosts.new(
        context, pcloud,
        f'{name[:_NAME_LENGTH]}-r{secrets.token_hex(2)}', flavor_id, chosen,
        units), state=access.ENABLED, replaces=stand_in)


def _opened(
    spare: hosts.Host, stand_in: maintenance_policies.StandIn,
) -> hosts.Host:
    """Return a spare as it will be while it stands in for a service host."""
    return dataclasses.replace(
        spare, state=access.ENABLED, drain=None, occupied=None,
        replaces=dataclasses.replace(stand_in, spare=True), is_spare=True)


def _candidates(
    context: nova_context.RequestContext, aggregate: rows.Aggregate,
    kept: Mapping[str, draining.Drain | None], flavor_id: str,
) -> list[spares.Candidate]:
    """Return the spares of a host flavor that could be enabled now.

    No query where there are no spares.

    :param kept: as `kept_spares`, without hosts that will not do
    """
    there = [host for host, drain in kept.items()
             if drain is None or drain.spare]
    if not there:
        return []
    reconcile.finish(context, sorted(journal.dues(context, there)))
    used = computes.hosts_in_use(context, there)
    node_of = names.nodes(aggregate.metadata)
    name_of = {node: name for name, node
               in names.hosts(aggregate.metadata).items()}
    return [spares.Candidate(
        name_of[node_of[host]], flavor_id, compute.zone,
        kept[host] is not None, host in used)
        for host, compute in computes.load(context, there).items()
        if compute.up and compute.enabled and node_of.get(host) in name_of]


def kept_spares(
    aggregate: rows.Aggregate,
) -> dict[str, draining.Drain | None]:
    """Return the spares of a Pcloud that do not stand in now.

    A spare is drained until it is empty after it has stood in, and during a
    maintenance of its own.

    :param aggregate: with what the journal keeps of the hosts
    :returns: ``service host -> drain``, None for no drain
    """
    metadata = aggregate.metadata
    spared, drains = names.spares(metadata), names.drains(metadata)
    states, found = names.states(metadata), {}
    for host, node in names.nodes(metadata).items():
        state = states.get(node)
        drain = draining.of(state, drains.get(host))
        if host in aggregate.hosts and (
                spares.is_spare(state, spared.get(host)) or
                drain is not None and drain.spare):
            found[host] = drain
    return found


def write(
    context: nova_context.RequestContext, written: writes.Rows,
    pcloud: pclouds.Head, chosen: hosts.Host, event: str,
) -> list[due.Due]:
    """Write that a chosen host stands in for another host.

    :param event: the event of a host that joins, as for `allocation.write`
    :returns: what is due for a host that joins; nothing is due for a spare
    :raises: `allocation.Lost` when the host cannot be had,
        `exception.QuotaExceeded` for a limit below what is in use, and as
        `allocation.write`
    """
    if not chosen.is_spare or chosen.replaces is None:
        dues = allocation.write(context, written, pcloud, [chosen], event)
        # A host that stands in costs nothing, so Keystone is not asked: while
        # Keystone is away, hosts are recovered.
        if limits.is_kept():
            quotas.check_added(context, limits.ROWS, pcloud.owner, 0)
        return dues
    host, node = chosen.compute.host, chosen.node.hypervisor_hostname
    aggregate_id = pcloud.aggregate.id
    name_key, state_key, drain_key, spare_key = (
        names.host_key(chosen.name), names.state_key(node),
        names.drain_key(host), names.spare_key(host))
    there = written.values(
        aggregate_id, [name_key, state_key, drain_key, spare_key])
    drain = draining.of(there.get(state_key), there.get(drain_key))
    if there.get(name_key) != node or not (
            drain.spare if drain is not None else
            spares.is_spare(there.get(state_key), there.get(spare_key))):
        raise allocation.Lost('it is no spare any more', host)
    written.drop(aggregate_id, [
        key for key in (drain_key, spare_key) if key in there])
    written.insert(aggregate_id, {
        names.replaces_key(host): chosen.replaces.text()})
    written.exchange(aggregate_id, state_key, access.ENABLED)
    if not written.open(host):
        raise allocation.Lost('something is due for it', host)
    return []


def finish(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    chosen: hosts.Host, dues: list[due.Due],
) -> None:
    """Do, after the change, what is due for a host that stands in.

    :param dues: what `write` has returned
    """
    if dues:
        reconcile.finish_written(context, {chosen.compute.host: dues[0]})
    else:
        reconcile.notified(
            notifications.host, context, 'update', hosts.event_of(
                pcloud, dataclasses.replace(chosen, is_spare=False)))
