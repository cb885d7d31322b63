# SPDX-License-Identifier: Apache-2.0

"""Pclouds: owners, tenants and units.

Rule: reference-pclouds
"""

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from nova import context as nova_context
from oslo_utils import uuidutils

from pcloud.backend.aggregates import lists
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.aggregates import step_rows
from pcloud.backend.calls import announce
from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import allocation_ratios
from pcloud.objects import notifications
from pcloud.objects.placing import scoped_policies
from pcloud.objects import reconcile
from pcloud.objects import replacements
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import recovery
from pcloud.rules.moving import shrinking
from pcloud.rules.placing import filling
from pcloud.rules.placing import house_rules


_KEYS = {'name': names.NAME, 'cpu_allocation_ratio': names.CPU_RATIO,
         'ram_allocation_ratio': names.RAM_RATIO,
         'maintenance_policy': names.MAINTENANCE_POLICY,
         'host_recovery': names.HOST_RECOVERY,
         'pin_by_tenants': names.PIN_BY_TENANTS,
         'placement': names.FILLING, 'shrink': names.SHRINK}
_LISTS = {'flavors': names.FLAVORS_PREFIX, 'images': names.IMAGES_PREFIX}
# What is written as no key.
_UNSET = (('maintenance_policy', maintenance_policies.STAY),
          ('host_recovery', recovery.OFF))
_FLAGS = {house_rules.ON: True, house_rules.OFF: False}


@dataclasses.dataclass(frozen=True)
class Head:
    """A Pcloud without the Pcloud's hosts.

    A call that is about a single host reads no more of the Pcloud.

    :ivar tenants: ids of the projects that may start servers in the Pcloud
    :ivar maintenance_policy: one of `maintenance_policies.POLICIES`
    :ivar host_recovery: one of `recovery.POLICIES`
    :ivar placement: one of `filling.CHOICES`; None where the owner has not
        chosen, as `filling.DEFAULT`
    :ivar flavors: the ids of the flavors that the Pcloud takes, None for all;
        likewise `images`
    :ivar pin_by_tenants: whether tenants other than the owner may name the
        host of a server; None where the owner has not said so, as False
    :ivar shrink: when empty hosts leave, None for never
    :ivar caps: ``project id -> how much the tenant may use``, as written; not
        in a list
    """

    aggregate: rows.Head
    id: str
    name: str
    owner: str
    tenants: frozenset[str]
    maintenance_policy: str
    host_recovery: str
    pin_by_tenants: bool | None
    placement: str | None
    flavors: frozenset[str] | None
    images: frozenset[str] | None
    shrink: shrinking.Shrink | None
    caps: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Pcloud(Head):
    """A Pcloud as read from the aggregate of the Pcloud.

    :ivar units: the sum of the units of the Pcloud's hosts
    :ivar cpu_allocation_ratio: None for an unset or unreadable ratio; so is
        `ram_allocation_ratio`
    """

    aggregate: rows.Aggregate
    units: int
    cpu_allocation_ratio: float | None
    ram_allocation_ratio: float | None


@dataclasses.dataclass(frozen=True)
class Usage:
    """What is free in a Pcloud, whatever the state of the hosts.

    :ivar empty_hosts: the number of hosts without servers
    :ivar vcpus: the free physical CPUs of all hosts
    :ivar memory_mb: the free memory of all hosts, in MiB
    :ivar servers: the number of servers on the hosts
    """

    empty_hosts: int
    vcpus: int
    memory_mb: int
    servers: int


def create(
    context: nova_context.RequestContext, name: str, owner: str,
) -> Pcloud:
    """Create a Pcloud without hosts; the owner is the first tenant.

    :raises: `exception.InvalidValue` or `exception.NameTooLong` when the
        owner's id cannot be kept as a tenant's, and as `change.run`
    """
    new = _new(name, owner)
    made = change.run(context, _anchors(new),
                      lambda written: _make(written, new))
    _tell(context, 'create', made)
    return made


def create_if_absent(
    context: nova_context.RequestContext, name: str, owner: str,
) -> tuple[Pcloud, bool]:
    """Return the owner's only Pcloud of a name, or create the Pcloud.

    Creations of an owner follow each other, so that of several at the same
    moment one creates the Pcloud.

    :returns: the Pcloud, and whether the Pcloud is new
    :raises: `exception.Conflict` when the owner has several Pclouds of
        the name, and as `create`
    """
    new = _new(name, owner)

    def work(written: writes.Rows) -> tuple[Pcloud, bool]:
        there = _only(context, name, owner)
        return (there, False) if there else (_make(written, new), True)

    # Mostly the Pcloud is there, and nothing has to be written.
    if there := _only(context, name, owner):
        return there, False
    pcloud, is_new = change.run(context, _anchors(new), work)
    if is_new:
        _tell(context, 'create', pcloud)
    return pcloud, is_new


def _only(
    context: nova_context.RequestContext, name: str, owner: str,
) -> Pcloud | None:
    """Return the owner's only Pcloud of a name, None without one.

    :raises: `exception.Conflict` when there are several
    """
    there = [pcloud for pcloud in listed(context, list(
        lists.index(context, owner, name).values()), owner)
        if pcloud.owner == owner]
    if len(there) > 1:
        raise exception.Conflict(
            f"{len(there)} Pclouds of the project have the name '{name}'; "
            'name the one that is meant by its id.')
    return there[0] if there else None


def _new(name: str, owner: str) -> dict[str, str]:
    """Return the metadata of a new Pcloud."""
    return {names.TYPE: names.TYPE_PCLOUD,
            names.ID: uuidutils.generate_uuid(),
            names.NAME: name,
            names.OWNER: owner,
            names.tenant_key(owner): names.TENANT_VALUE}


def _anchors(metadata: Mapping[str, str]) -> list[str]:
    return [journal.pcloud_anchor(metadata[names.ID]),
            journal.owner_anchor(metadata[names.OWNER])]


def _make(written: writes.Rows, metadata: Mapping[str, str]) -> Pcloud:
    """Write the aggregate of a new Pcloud."""
    uuid = uuidutils.generate_uuid()
    name = names.pcloud(metadata[names.ID])
    return _pcloud(rows.Aggregate(
        written.create(uuid, name, metadata), uuid, name, frozenset(),
        metadata), {})


def _tell(
    context: nova_context.RequestContext, action: str, pcloud: Pcloud,
) -> None:
    """Tell listeners of a committed change of a Pcloud."""
    reconcile.notified(notifications.pcloud, context, action, pcloud)


def head(context: nova_context.RequestContext, pcloud_id: str) -> Head:
    """Return one Pcloud without the Pcloud's hosts (one query).

    :raises: `exception.PcloudNotFound`
    """
    return _head(pcloud_id, pcloud_rows.head(context, pcloud_id))


def head_for(
    context: nova_context.RequestContext, pcloud_id: str, project_id: str,
) -> Head:
    """Return `head` of a Pcloud that a project may see (one query).

    :param project_id: the owner or a tenant of the Pcloud
    :raises: `exception.PcloudNotFound`, after the same query for an unknown
        Pcloud and for a Pcloud that the project may not see
    """
    return _head(pcloud_id, pcloud_rows.head_for(
        context, pcloud_id, project_id))


def _head(
    pcloud_id: str, found: tuple[rows.Head, Mapping[str, str]] | None,
) -> Head:
    if found is None:
        raise exception.PcloudNotFound(pcloud=pcloud_id)
    aggregate, metadata = found
    return Head(aggregate=aggregate, **_of_frame(metadata))


def show(context: nova_context.RequestContext, pcloud_id: str) -> Pcloud:
    """Return one Pcloud.

    :raises: `exception.PcloudNotFound`
    """
    aggregate = pcloud_rows.find(context, pcloud_id)
    if aggregate is None:
        raise exception.PcloudNotFound(pcloud=pcloud_id)
    return _pcloud(aggregate, pool_rows.units(context, aggregate.hosts))


def listed(
    context: nova_context.RequestContext, heads: Collection[rows.Head],
    project_id: str | None,
) -> list[Pcloud]:
    """Return Pclouds of a list, in order of the list.

    Pclouds that were deleted meanwhile are left out.

    :param heads: some aggregates of `lists.index`
    :param project_id: as `lists.index`; Pclouds that the project has
        meanwhile lost are left out too
    """
    aggregates, units = lists.read(context, heads, project_id)
    return [_pcloud(aggregate, units) for aggregate in aggregates]


def update(
    context: nova_context.RequestContext, pcloud: Pcloud,
    changes: Mapping[str, typing.Any],
) -> Pcloud:
    """Change settings of a Pcloud.

    New ratios are due for each host of the Pcloud: until Placement has the
    ratios, the host takes no server.

    :param changes: new values of 'name', 'cpu_allocation_ratio',
        'ram_allocation_ratio', 'maintenance_policy', 'host_recovery',
        'pin_by_tenants', 'placement', 'flavors', 'images' and 'shrink'; None
        unsets a ratio, a policy, a list or 'shrink'
    :raises: `exception.PcloudNotFound` when the Pcloud is deleted meanwhile,
        and as `change.run`
    """
    new = _values(changes)
    lists_ = {_LISTS[name]: value for name, value in changes.items()
              if name in _LISTS}

    def work(written: writes.Rows) -> rows.Aggregate:
        try:
            written.touch(pcloud.aggregate.id)
        except exception.AggregateGone:
            raise exception.PcloudNotFound(pcloud=pcloud.id)
        written.set(pcloud.aggregate.id, new)
        _write_lists(written, pcloud.aggregate.id, lists_)
        hosts = frozenset(written.members(pcloud.aggregate.id))
        if new.keys() & allocation_ratios.RESOURCES.keys() and hosts:
            written.remind(hosts)
        if new.get(names.MAINTENANCE_POLICY, '') is None:
            replacements.end_all(written, pcloud.aggregate.id, hosts)
        if new.get(names.SHRINK, '') is None:
            written.unmark(written.values(
                pcloud.aggregate.id, list(map(names.idle_key, hosts))))
        return dataclasses.replace(
            pcloud.aggregate, hosts=hosts,
            metadata=written.metadata(pcloud.aggregate.id))

    aggregate = change.run(
        context, [journal.pcloud_anchor(pcloud.id)], work)
    changed = dataclasses.replace(
        _pcloud(aggregate, {}), units=pcloud.units)
    if new.keys() & allocation_ratios.RESOURCES.keys():
        reconcile.finish(context, sorted(aggregate.hosts))
    if 'placement' in changes:
        # Nova's weighers read the multipliers in the schedulers' memory.
        reconcile.announced(context, [aggregate.uuid])
    _tell(context, 'update', changed)
    return changed


def _values(changes: Mapping[str, typing.Any]) -> dict[str, str | None]:
    """Return the metadata of changes but for lists; None deletes a key."""
    values = {_KEYS[name]: _written(name, value)
              for name, value in changes.items() if name not in _LISTS}
    if 'placement' in changes:
        values |= filling.multipliers(changes['placement'])
    return values


def _write_lists(
    written: writes.Rows, aggregate_id: int,
    lists_: Mapping[str, list[str] | None],
) -> None:
    """Write lists of ids, each in as many rows as the list needs."""
    there = written.metadata(aggregate_id) if lists_ else {}
    for prefix, ids in lists_.items():
        parts = [] if ids is None else house_rules.packed(ids)
        written.set(aggregate_id, {
            **{key: None for key in there if key.startswith(prefix)},
            **{f'{prefix}{number}': part
               for number, part in enumerate(parts)}})


def _written(name: str, value: typing.Any) -> str | None:
    """Return the metadata value of a member, None for no value."""
    if value is None or (name, value) in _UNSET:
        return None
    if name == 'shrink':
        return shrinking.wish(value).text()
    if isinstance(value, bool):
        return house_rules.ON if value else house_rules.OFF
    return str(value)


def delete(context: nova_context.RequestContext, pcloud: Pcloud) -> None:
    """Delete a Pcloud with the Pcloud's settings.

    :raises: `exception.PcloudInUse` when the Pcloud has hosts, and as
        `change.run`
    """
    policy = names.policy(scoped_policies.PCLOUD, pcloud.id)

    def work(written: writes.Rows) -> None:
        if not written.delete(pcloud.aggregate.id):
            raise exception.PcloudInUse(pcloud=pcloud.id)
        settings = written.find(policy)
        if settings is not None:
            written.delete(settings.id)
        written.unmark([
            *(names.rebalance_key(pcloud.id, server) for server
              in step_rows.rebalance(context, pcloud.id)),
            *written.values(pcloud.aggregate.id,
                            [names.moving_key(pcloud.id)])])
        written.forget(journal.pcloud_anchor(pcloud.id))
        written.forget(journal.growth_anchor(pcloud.id))
        written.forget(journal.moving_anchor(pcloud.id))
        written.forget(journal.policy_anchor(
            scoped_policies.PCLOUD, pcloud.id))

    # The marks of the Pcloud go with the Pcloud; the owner's marks stay.
    change.run(context, [journal.owner_anchor(pcloud.owner),
                         journal.pcloud_anchor(pcloud.id)], work)
    reconcile.notified(announce.deleted, context, pcloud.aggregate)
    reconcile.notified(notifications.pcloud, context, 'delete', pcloud)


def _pcloud(
    aggregate: rows.Aggregate, units: Mapping[str, int],
) -> Pcloud:
    metadata = aggregate.metadata
    return Pcloud(
        aggregate=aggregate, **_of_frame(metadata),
        units=sum(filter(None, map(
            units.get, replacements.counted(aggregate)))),
        cpu_allocation_ratio=readings.ratio(metadata, names.CPU_RATIO),
        ram_allocation_ratio=readings.ratio(metadata, names.RAM_RATIO))


def _of_frame(metadata: Mapping[str, str]) -> dict[str, typing.Any]:
    return {'id': metadata[names.ID],
            'name': metadata.get(names.NAME, ''),
            'owner': metadata.get(names.OWNER, ''),
            'tenants': names.tenants(metadata),
            'maintenance_policy': maintenance_policies.policy(
                metadata.get(names.MAINTENANCE_POLICY)),
            'host_recovery': recovery.policy(
                metadata.get(names.HOST_RECOVERY)),
            'pin_by_tenants': _FLAGS.get(
                metadata.get(names.PIN_BY_TENANTS, '')),
            'placement': filling.known(metadata.get(names.FILLING)),
            'shrink': shrinking.Shrink.known(metadata.get(names.SHRINK)),
            'caps': names.caps(metadata),
            **{name: house_rules.listed(metadata, prefix)
               for name, prefix in _LISTS.items()}}


def usages(
    context: nova_context.RequestContext,
    several: Sequence[Pcloud],
) -> dict[str, Usage]:
    """Return the usage of each Pcloud; two queries, and two a cell.

    :returns: ``Pcloud id -> Usage``, but for hosts in a silent cell

    Rule: reference-pclouds-details
    """
    hosts = frozenset().union(*(
        pcloud.aggregate.hosts for pcloud in several))
    nodes, silent = compute_nodes.known_nodes(context, hosts)
    servers, silent_too = computes.known_instances(context, hosts)
    silent |= silent_too
    return {pcloud.id: _usage(
        [nodes[host] for host in pcloud.aggregate.hosts if host in nodes],
        [len(servers.get(host, ())) for host in pcloud.aggregate.hosts])
        for pcloud in several if not pcloud.aggregate.hosts & silent}


def _usage(
    nodes: Sequence[computes.Node], servers: Sequence[int],
) -> Usage:
    # A host may have given away more than it has, and has nothing free then.
    return Usage(
        empty_hosts=servers.count(0),
        vcpus=sum(max(0, node.vcpus - node.vcpus_used) for node in nodes),
        memory_mb=sum(max(0, node.memory_mb - node.memory_mb_used)
                      for node in nodes),
        servers=sum(servers))
