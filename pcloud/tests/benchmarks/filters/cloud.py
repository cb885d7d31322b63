# SPDX-License-Identifier: Apache-2.0

"""The plan and the rows of the measured cloud.

Half of the hosts are in pools, and nine tenths of the pooled hosts in Pclouds.
Each host is in an availability zone and in a rack, which has attributes and
placement keys, and runs a server.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import random
import uuid

from nova import context as nova_context
from nova.db.api import models as api_models
from nova.db.main import models as main_models
from nova import objects
from oslo_serialization import jsonutils

from pcloud import names
from pcloud.rules.placing import access
from pcloud.tests.benchmarks.filters import databases

TENANTS = 100
KEYS = 10
# The project of the measured requests: a tenant of the first Pcloud.
PROJECT = 'a' * 32

_LARGEST = 50
_POOLS, _ZONES, _RACK = 4, 3, 40
_SERVICE_EVERY = 97


@dataclasses.dataclass(frozen=True)
class Host:
    """A service host with the host's node."""

    name: str
    node: str
    server: str


@dataclasses.dataclass(frozen=True)
class Pcloud:
    """A Pcloud with tenants, of which the first is the owner."""

    id: str
    tenants: tuple[str, ...]
    hosts: tuple[Host, ...]


@dataclasses.dataclass(frozen=True)
class Cloud:
    """The plan of a cloud.

    :ivar pools: the hosts of each pool
    :ivar own: servers of `PROJECT`, units of the service ``db``
    """

    hosts: tuple[Host, ...]
    pools: tuple[tuple[Host, ...], ...]
    pclouds: tuple[Pcloud, ...]
    zones: tuple[tuple[Host, ...], ...]
    racks: tuple[tuple[Host, ...], ...]
    own: tuple[str, ...]


def plan(host_count: int, pcloud_count: int) -> Cloud:
    """Return a cloud, always the same for the same numbers.

    The first Pcloud has the maximum number of hosts of a Pcloud.
    """
    chance = random.Random(host_count * pcloud_count)
    hosts = tuple(
        Host(f'compute-{number:05}.dc1.example.org',
             f'compute-{number:05}.hv.example.org', _uuid(chance))
        for number in range(host_count))
    closed = hosts[::2]
    allocated = [host for number, host in enumerate(closed) if number % 10]
    largest, rest = allocated[:_LARGEST], allocated[_LARGEST:]
    others = pcloud_count - 1
    pclouds = (
        _pcloud(chance, largest, PROJECT),
        *(_pcloud(chance, rest[number::others][:_LARGEST], _project(chance))
          for number in range(others)))
    return Cloud(
        hosts, tuple(closed[number::_POOLS] for number in range(_POOLS)),
        pclouds, tuple(hosts[number::_ZONES] for number in range(_ZONES)),
        tuple(hosts[first:first + _RACK]
              for first in range(0, host_count, _RACK)),
        tuple(host.server for host in hosts[1::_SERVICE_EVERY]))


def _pcloud(
    chance: random.Random, hosts: Sequence[Host], owner: str,
) -> Pcloud:
    tenants = (owner, *(_project(chance) for _ in range(TENANTS - 1)))
    return Pcloud(_uuid(chance), tenants, tuple(hosts))


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _project(chance: random.Random) -> str:
    return _uuid(chance).replace('-', '')


@dataclasses.dataclass(frozen=True)
class _Aggregate:
    name: str
    hosts: tuple[Host, ...]
    metadata: Mapping[str, str]


def _aggregates(cloud: Cloud) -> Iterator[_Aggregate]:
    for number, hosts in enumerate(cloud.zones):
        yield _Aggregate(f'zone-{number}', hosts,
                         {'availability_zone': f'az{number}'})
    for number, hosts in enumerate(cloud.racks):
        yield _Aggregate(f'rack-{number}', hosts, _rack(number))
    for number, hosts in enumerate(cloud.pools):
        yield _Aggregate(names.pool(f'flavor-{number}'), hosts, {
            names.TYPE: names.TYPE_POOL, names.UNITS: '1',
            names.FLAVOR_ID: f'flavor-{number}', names.DESCRIPTION: ''})
    for pcloud in cloud.pclouds:
        yield _Aggregate(names.pcloud(pcloud.id), pcloud.hosts, {
            names.TYPE: names.TYPE_PCLOUD, names.ID: pcloud.id,
            names.NAME: 'web', names.OWNER: pcloud.tenants[0],
            **{names.tenant_key(each): names.TENANT_VALUE
               for each in pcloud.tenants},
            **{names.host_key(f'h{number}'): host.node
               for number, host in enumerate(pcloud.hosts)},
            **{names.state_key(host.node): access.ENABLED
               for host in pcloud.hosts}})


def _rack(number: int) -> dict[str, str]:
    return {
        names.attribute_key('rack'): f'r{number}',
        names.attribute_key('platform_version'): f'2.{number % 9}',
        names.attribute_key('next_reboot'): f'2999-01-{number % 28 + 1:02}',
        names.attribute_key('hardware_class'): str(number % 5),
        **{f'{names.NODE_KEY_PREFIX}K{key}': f'{(number + key) % 11 / 10}'
           for key in range(KEYS)}}


def write(cloud: Cloud, cell: objects.CellMapping) -> None:
    """Replace the rows in the databases by the rows of a cloud."""
    numbered = list(enumerate(_aggregates(cloud), start=1))
    for model, rows in (
            (api_models.AggregateMetadata, (
                {'aggregate_id': number, 'key': key, 'value': value}
                for number, each in numbered
                for key, value in each.metadata.items())),
            (api_models.AggregateHost, (
                {'aggregate_id': number, 'host': host.name}
                for number, each in numbered for host in each.hosts)),
            (api_models.Aggregate, (
                {'id': number, 'uuid': str(uuid.UUID(int=number)),
                 'name': each.name} for number, each in numbered)),
            (api_models.HostMapping, (
                {'host': host.name, 'cell_id': cell.id}
                for host in cloud.hosts)),
            (api_models.RequestSpec, _request_specs(cloud)),
            (api_models.InstanceMapping, (
                {'instance_uuid': host.server, 'cell_id': cell.id,
                 'project_id': _owner(cloud, host),
                 'queued_for_delete': False} for host in cloud.hosts)),
            (main_models.Instance, (
                {'uuid': host.server, 'host': host.name, 'node': host.node,
                 'project_id': _owner(cloud, host), 'instance_type_id': 1,
                 'vm_state': 'active', 'deleted': 0, 'hidden': False}
                for host in cloud.hosts))):
        databases.fill(model, rows, cell)


def _owner(cloud: Cloud, host: Host) -> str:
    return PROJECT if host.server in cloud.own else 'b' * 32


def _request_specs(cloud: Cloud) -> Iterator[dict]:
    """Yield the request specs of the servers, each with a customer key."""
    for number, host in enumerate(cloud.hosts):
        hints = {'placement_key': [f'app{number % KEYS}=1:10']}
        if host.server in cloud.own:
            hints['service'] = ['db']
        spec = objects.RequestSpec(
            nova_context.get_admin_context(), instance_uuid=host.server,
            project_id=_owner(cloud, host), scheduler_hints=hints,
            num_instances=1, flavor=objects.Flavor(
                id=1, flavorid='1', name='m', vcpus=1, memory_mb=512,
                root_gb=1, ephemeral_gb=0, swap=0, extra_specs={}))
        yield {'instance_uuid': host.server,
               'spec': jsonutils.dumps(spec.obj_to_primitive())}
