# SPDX-License-Identifier: Apache-2.0

"""Hosts, servers, pools and Pclouds by the thousand, as rows.

Hosts and servers are copies of a host and a server that Nova itself has
written, in Nova's databases and in Placement's. Pools and Pclouds have the
rows that `pcloud.objects` writes, but in one step instead of call by call.
"""

# Nova's objects are registered when Nova's services start, perhaps after this
# import.
from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models as main_models
from nova import objects
from oslo_utils import timeutils
from oslo_utils import uuidutils
from placement.db.sqlalchemy import models as placement_models
import sqlalchemy as sa

from pcloud.backend.aggregates import readings
from pcloud import names
from pcloud.rules.placing import access
from pcloud.rules.usage import ledger

NODE_SUFFIX = '.hv.example.org'
# When the hosts have joined their Pclouds, in seconds since the epoch.
_JOINED = 1767225600

_RATIOS = {names.CPU_RATIO: 'VCPU', names.RAM_RATIO: 'MEMORY_MB'}

# Rows of one statement.
_BATCH = 1000

_Execute = Callable[..., sa.Result]
_Changes = Mapping[str, object]


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """An aggregate that is to be written.

    :ivar kept: what the journal keeps of the hosts
    """

    name: str
    metadata: Mapping[str, str]
    hosts: Sequence[str]
    kept: Mapping[str, str] = dataclasses.field(default_factory=dict)
    uuid: str = dataclasses.field(default_factory=uuidutils.generate_uuid)

    @property
    def id(self) -> str:
        """The id of the Pcloud or of the host flavor."""
        return (self.metadata.get(names.ID) or
                self.metadata[names.FLAVOR_ID])


def pool(flavor_id: str, hosts: Sequence[str], units: int = 1) -> Aggregate:
    """Return the pool of a host flavor."""
    return Aggregate(names.pool(flavor_id), {
        names.TYPE: names.TYPE_POOL, names.FLAVOR_ID: flavor_id,
        names.DESCRIPTION: '', names.UNITS: str(units)}, hosts)


def pcloud(
    owner: str, hosts: Sequence[str], ratios: Mapping[str, str],
    tenants: Iterable[str] = (),
) -> Aggregate:
    """Return a Pcloud whose hosts are all enabled.

    The owner is a tenant; the name of each host is the name of the service
    host.

    :param tenants: further tenants
    :param ratios: the original allocation ratios of the hosts, from
        `Rows.ratios`
    """
    pcloud_id = uuidutils.generate_uuid()
    metadata = {
        names.TYPE: names.TYPE_PCLOUD, names.ID: pcloud_id,
        names.NAME: pcloud_id, names.OWNER: owner}
    for project in (owner, *tenants):
        metadata[names.tenant_key(project)] = names.TENANT_VALUE
    kept = {}
    for host in hosts:
        node = host + NODE_SUFFIX
        metadata[names.host_key(host)] = node
        metadata[names.state_key(node)] = access.ENABLED
        kept[names.node_key(host)] = node
        kept[names.span_key(host)] = ledger.Span(
            'gpu', pcloud_id, _JOINED, project=owner).text()
        if ratios:
            kept[names.own_ratios_key(host)] = readings.own_ratios_text({
                ratio: float(value) for ratio, value in ratios.items()})
    return Aggregate(names.pcloud(pcloud_id), metadata, hosts, kept)


def journal(made: Iterable[Aggregate]) -> Aggregate:
    """Return the journal, with what is kept of the hosts of aggregates."""
    metadata = {names.TYPE: names.TYPE_JOURNAL}
    for each in made:
        metadata |= each.kept
    return Aggregate(names.JOURNAL, metadata, ())


def zone(name: str, hosts: Sequence[str]) -> Aggregate:
    """Return an availability zone."""
    return Aggregate(name, {'availability_zone': name}, hosts)


class Rows:
    """Writes into the databases of a cloud with a single cell.

    :param placement: Placement's database
    """

    def __init__(self, placement: sa.Engine) -> None:
        self._placement = placement
        self._context = nova_context.get_admin_context()

    @functools.cached_property
    def _cell(self) -> objects.CellMapping:
        return next(each for each in objects.CellMappingList.get_all(
            self._context) if not each.is_cell0())

    def hosts(self, like: str, wanted: Sequence[str]) -> None:
        """Copy a host, with service, node, inventories and traits.

        :param like: the service host to copy, whose node has a single
            resource provider
        :param wanted: the service hosts to make
        """
        uuids = {host: uuidutils.generate_uuid() for host in wanted}
        self._in_cell(
            _copy, main_models.Service.__table__, {'host': like},
            [{'host': host, 'uuid': uuidutils.generate_uuid()}
             for host in wanted])
        self._in_cell(
            _copy, main_models.ComputeNode.__table__, {'host': like},
            [{'host': host, 'uuid': uuid,
              'hypervisor_hostname': host + NODE_SUFFIX}
             for host, uuid in uuids.items()])
        self._in_api(
            _copy, api_models.HostMapping.__table__, {'host': like},
            [{'host': host} for host in wanted])
        self._in_placement(_copy_providers, like + NODE_SUFFIX, {
            host + NODE_SUFFIX: uuid for host, uuid in uuids.items()})

    def servers(self, like: str, hosts: Sequence[str]) -> dict[str, str]:
        """Copy a server to each of `hosts`, with allocations.

        :param like: the uuid of the server to copy
        :returns: service host -> uuid of the server on the host
        """
        uuids = {host: uuidutils.generate_uuid() for host in hosts}
        nodes = self._in_cell(_node_ids, hosts)
        self._in_cell(
            _copy, main_models.Instance.__table__, {'uuid': like},
            [{'host': host, 'uuid': uuid, 'node': host + NODE_SUFFIX,
              'launched_on': host, 'compute_id': nodes[host]}
             for host, uuid in uuids.items()])
        of_instance = [{'instance_uuid': uuid} for uuid in uuids.values()]
        for model in (main_models.InstanceExtra,
                      main_models.InstanceInfoCache):
            self._in_cell(_copy, model.__table__, {'instance_uuid': like},
                          of_instance)
        self._in_api(_copy, api_models.InstanceMapping.__table__,
                     {'instance_uuid': like}, of_instance)
        self._in_api(_copy_specs, like, uuids.values())
        self._in_placement(_copy_consumers, like, {
            uuid: host + NODE_SUFFIX for host, uuid in uuids.items()})
        return uuids

    def ratios(self, like: str) -> dict[str, str]:
        """Return the allocation ratios of a host in a Pcloud's format."""
        return self._in_placement(_read_ratios, like + NODE_SUFFIX)

    def aggregates(self, wanted: Sequence[Aggregate]) -> None:
        """Make aggregates in Nova, and the memberships in Placement."""
        self._in_api(_make_aggregates, wanted)
        self._in_placement(_make_memberships, wanted)

    def _in_api(self, write: Callable, *args):
        with api_db.context_manager.writer.using(self._context) as session:
            return write(session.execute, *args)

    def _in_cell(self, write: Callable, *args):
        with nova_context.target_cell(self._context, self._cell) as context:
            with main_db.get_context_manager(context).writer.using(
                    context) as session:
                return write(session.execute, *args)

    def _in_placement(self, write: Callable, *args):
        with self._placement.begin() as connection:
            return write(connection.execute, *args)


def _insert(execute: _Execute, table: sa.Table, rows: Sequence[_Changes],
            ) -> None:
    for start in range(0, len(rows), _BATCH):
        execute(sa.insert(table), rows[start:start + _BATCH])


def _copy(
    execute: _Execute, table: sa.Table, where: _Changes,
    changes: Iterable[_Changes],
) -> None:
    """Copy the only row of a table with certain values.

    :param where: column -> value
    :param changes: column -> value in a copy, for each copy
    """
    row = dict(execute(sa.select(table).where(*_equal(
        table, where))).one()._mapping)
    del row['id']
    _insert(execute, table, [{**row, **each} for each in changes])


def _equal(table: sa.Table, where: _Changes) -> list:
    return [table.c[name] == value for name, value in where.items()]


def _node_ids(execute: _Execute, hosts: Collection[str]) -> dict[str, int]:
    node = main_models.ComputeNode
    wanted = frozenset(hosts)
    return {host: id_ for host, id_ in execute(sa.select(node.host, node.id))
            if host in wanted}


def _copy_specs(
    execute: _Execute, like: str, uuids: Iterable[str],
) -> None:
    table = api_models.RequestSpec.__table__
    spec = execute(sa.select(table.c.spec).where(
        table.c.instance_uuid == like)).scalar_one()
    _insert(execute, table, [
        {'instance_uuid': uuid, 'spec': spec.replace(like, uuid)}
        for uuid in uuids])


def _provider_ids(execute: _Execute) -> dict[str, int]:
    provider = placement_models.ResourceProvider
    return dict(execute(sa.select(provider.name, provider.id)).all())


def _copy_providers(
    execute: _Execute, like: str, uuids: Mapping[str, str],
) -> None:
    table = placement_models.ResourceProvider.__table__
    _copy(execute, table, {'name': like},
          [{'name': name, 'uuid': uuid} for name, uuid in uuids.items()])
    ids = _provider_ids(execute)
    made = [ids[name] for name in uuids]
    execute(sa.update(table).where(table.c.root_provider_id == ids[like])
            .values(root_provider_id=table.c.id))
    for model in (placement_models.Inventory,
                  placement_models.ResourceProviderTrait):
        _copy_each(execute, model.__table__, 'resource_provider_id',
                   ids[like], [{'resource_provider_id': id_} for id_ in made])


def _copy_each(
    execute: _Execute, table: sa.Table, column: str, value: object,
    changes: Sequence[_Changes],
) -> None:
    """Copy all rows of a table with a value, once for each change."""
    rows = [dict(row._mapping) for row in execute(
        sa.select(table).where(table.c[column] == value))]
    for row in rows:
        row.pop('id', None)
        _insert(execute, table, [{**row, **each} for each in changes])


def _read_ratios(execute: _Execute, provider: str) -> dict[str, str]:
    inventory = placement_models.Inventory
    found = dict(execute(
        sa.select(placement_models.ResourceClass.name,
                  inventory.allocation_ratio)
        .join(inventory, inventory.resource_class_id ==
              placement_models.ResourceClass.id)
        .where(inventory.resource_provider_id ==
               _provider_ids(execute)[provider])).all())
    return {key: repr(found[name]) for key, name in _RATIOS.items()}


def _copy_consumers(
    execute: _Execute, like: str, providers: Mapping[str, str],
) -> None:
    """Copy a consumer and the consumer's allocations.

    :param providers: uuid of a copy -> name of the resource provider of the
        copy's allocations
    """
    ids = _provider_ids(execute)
    _copy(execute, placement_models.Consumer.__table__, {'uuid': like},
          [{'uuid': uuid} for uuid in providers])
    _copy_each(
        execute, placement_models.Allocation.__table__, 'consumer_id', like,
        [{'consumer_id': uuid, 'resource_provider_id': ids[name]}
         for uuid, name in providers.items()])


def _make_aggregates(execute: _Execute, wanted: Sequence[Aggregate]) -> None:
    table = api_models.Aggregate.__table__
    there = set(execute(sa.select(table.c.name)).scalars())
    journal_ = journal(wanted)
    _insert(execute, table, [
        {'name': each.name, 'uuid': each.uuid}
        for each in (journal_, *wanted) if each.name not in there])
    ids = dict(execute(sa.select(table.c.name, table.c.id)).all())
    if journal_.name in there:
        del journal_.metadata[names.TYPE]
    _insert(execute, api_models.AggregateMetadata.__table__, [
        {'aggregate_id': ids[each.name], 'key': key, 'value': value}
        for each in (journal_, *wanted)
        for key, value in each.metadata.items()])
    _insert(execute, api_models.AggregateHost.__table__, [
        {'aggregate_id': ids[each.name], 'host': host,
         'updated_at': timeutils.utcnow()}
        for each in wanted for host in each.hosts])


def _make_memberships(execute: _Execute, wanted: Sequence[Aggregate]) -> None:
    table = placement_models.PlacementAggregate.__table__
    there = set(execute(sa.select(table.c.uuid)).scalars())
    # What Placement alone has: the hosts of all pools.
    closed = Aggregate(names.JOURNAL, {}, sorted({
        host for each in wanted if each.name.startswith(names.POOL_PREFIX)
        for host in each.hosts}), uuid=names.CLOSED_UUID)
    wanted = [*wanted, closed]
    _insert(execute, table, [{'uuid': each.uuid} for each in wanted
                             if each.uuid not in there])
    ids = dict(execute(sa.select(table.c.uuid, table.c.id)).all())
    providers = _provider_ids(execute)
    _insert(execute, placement_models.ResourceProviderAggregate.__table__, [
        {'resource_provider_id': providers[host + NODE_SUFFIX],
         'aggregate_id': ids[each.uuid]}
        for each in wanted for host in each.hosts])
