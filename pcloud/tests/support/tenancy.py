# SPDX-License-Identifier: Apache-2.0

"""Many pools and Pclouds of many projects, and calls that read or write."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import enum
import itertools

from oslo_utils import uuidutils

from pcloud.tests.support import bulk

# Of ten hosts of a pool a single host is free.
_FREE = 10

_POOLS = 10
_PCLOUDS_OF_PROJECT = 4
_TENANTS_OF_PCLOUD = 10


class Who(enum.Enum):
    """The user who makes a call."""

    OWNER = 'owner'
    TENANT = 'tenant of all'
    ADMIN = 'admin'


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of the API.

    :ivar name: the call's name in a table
    """

    who: Who
    method: str
    path: str
    name: str
    body: dict | None = None


@dataclasses.dataclass(frozen=True)
class Tenancy:
    """Projects, Pclouds, hosts and host flavors for calls.

    :ivar owner: a project with four Pclouds
    :ivar tenant: a project that is a tenant of every Pcloud
    :ivar pcloud: the id of a Pcloud of the owner
    :ivar host: the name of a host of the owner's Pcloud
    :ivar flavor: the id of a host flavor with half of all hosts
    :ivar middle: the id in the middle of all Pclouds' ids
    """

    owner: str
    tenant: str
    pcloud: str
    host: str
    flavor: str
    middle: str


def fill(
    rows: bulk.Rows, like: str, prefix: str, hosts: int, pclouds: int,
    owner: str, tenant: str,
) -> Tenancy:
    """Make hosts, put all hosts into pools and most hosts into Pclouds.

    :param like: the service host that is copied
    :param prefix: the prefix of the names of hosts and host flavors
    :param owner: the project that has the first Pclouds
    :param tenant: the project that is a tenant of all Pclouds
    """
    added = [f'{prefix}-{number:05}' for number in range(hosts)]
    rows.hosts(like, added)
    zones = [bulk.zone(f'{prefix}-{number}', added[number::2])
             for number in range(2)]
    half = hosts // 2
    pools = [bulk.pool(f'{prefix}-half', added[:half])] + [
        bulk.pool(f'{prefix}-{number}', added[half + number::_POOLS])
        for number in range(_POOLS)]
    made = _pclouds([host for number, host in enumerate(added)
                     if number % _FREE],
                    pclouds, owner, tenant, rows.ratios(like))
    rows.aggregates([*zones, *pools, *made])
    ids = sorted(each.id for each in made)
    return Tenancy(owner, tenant, made[0].id, made[0].hosts[0], pools[0].id,
                   ids[len(ids) // 2])


def _pclouds(
    hosts: Sequence[str], count: int, owner: str, tenant: str,
    ratios: Mapping[str, str],
) -> list[bulk.Aggregate]:
    """Share hosts out evenly among Pclouds."""
    projects = [owner, *(uuidutils.generate_uuid(dashed=False)
                         for _ in range(count // _PCLOUDS_OF_PROJECT))]
    others = itertools.cycle(projects)
    return [
        bulk.pcloud(
            projects[number // _PCLOUDS_OF_PROJECT], hosts[number::count],
            ratios, [tenant, *itertools.islice(others, _TENANTS_OF_PCLOUD)])
        for number in range(count)]


def reads(there: Tenancy) -> list[Call]:
    """Return the calls that read."""
    pcloud = f'/os-pclouds/{there.pcloud}'
    flavor = f'/os-host-flavors/{there.flavor}'
    everything = '/os-pclouds?all_tenants=1'
    return [Call(who, 'GET', path, name or path) for who, path, name in [
        (Who.OWNER, '/os-pclouds', None),
        (Who.OWNER, '/os-pclouds?limit=2', None),
        (Who.OWNER, '/os-pclouds?detail=1', None),
        (Who.OWNER, pcloud, '/os-pclouds/{id}'),
        (Who.OWNER, f'{pcloud}/hosts', '/os-pclouds/{id}/hosts'),
        (Who.OWNER, f'{pcloud}/tenants', '/os-pclouds/{id}/tenants'),
        (Who.OWNER, '/os-host-flavors', None),
        (Who.OWNER, flavor, '/os-host-flavors/{id}'),
        (Who.OWNER, f'/os-pcloud-quotas/{there.owner}',
         '/os-pcloud-quotas/{project_id}'),
        (Who.OWNER, f'{pcloud}/usage', '/os-pclouds/{id}/usage'),
        (Who.OWNER, f'{pcloud}/waiting', '/os-pclouds/{id}/waiting'),
        (Who.OWNER, f'/os-pcloud-usage/{there.owner}',
         '/os-pcloud-usage/{project_id}'),
        (Who.ADMIN, '/os-pcloud-usage', None),
        (Who.TENANT, '/os-pclouds', None),
        (Who.TENANT, pcloud, '/os-pclouds/{id}'),
        (Who.ADMIN, everything, None),
        (Who.ADMIN, f'{everything}&limit=20', None),
        (Who.ADMIN, f'{everything}&limit=20&marker={there.middle}',
         f'{everything}&limit=20&marker={{id}}'),
        (Who.ADMIN, f'{pcloud}/hosts', '/os-pclouds/{id}/hosts'),
        (Who.ADMIN, '/os-host-flavors', None),
        (Who.ADMIN, flavor, '/os-host-flavors/{id}'),
        (Who.ADMIN, f'{flavor}?limit=1000',
         '/os-host-flavors/{id}?limit=1000'),
    ]]


def writes(there: Tenancy) -> list[Call]:
    """Return the calls that write; all calls together restore the state."""
    hosts = f'/os-pclouds/{there.pcloud}/hosts'
    host, shown = {'name': 'new'}, '/os-pclouds/{id}/hosts'
    remove = Call(
        Who.OWNER, 'DELETE', f'{hosts}/new', f'{shown}/{{name}}')
    return [
        Call(Who.OWNER, 'POST', hosts, f'{shown}, host_flavor',
             {'host': {**host, 'host_flavor': there.flavor}}),
        remove,
        Call(Who.OWNER, 'POST', hosts, f'{shown}, constraints',
             {'host': {**host, 'constraints': 'cpu=1'}}),
        remove,
        Call(Who.OWNER, 'PUT', f'{hosts}/{there.host}', f'{shown}/{{name}}',
             {'host': {'state': 'enabled'}})]
