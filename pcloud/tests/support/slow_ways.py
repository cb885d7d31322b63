# SPDX-License-Identifier: Apache-2.0

"""Short ways of Pcloud beside slow ways, which look at row after row.

Each function compares both in the cloud that is there. In a cloud of
`odd_clouds` the short ways have every chance to be wrong.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses
import itertools
import random
from unittest import mock

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from oslo_utils import uuidutils
import sqlalchemy as sa
import testtools

from pcloud.api.views import pclouds as pcloud_views
from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import launch_rows
from pcloud.backend.aggregates import lists
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud import names
from pcloud.objects.changing_hands import choosing
from pcloud.objects import free_hosts
from pcloud.objects import host_resources
from pcloud.objects import pclouds
from pcloud.objects.placing import host_attributes
from pcloud.objects.placing import machine_constraints
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.placing import constraints
from pcloud.rules.placing import machines
from pcloud.rules import units as unit_rules
from pcloud.tests.support import odd_clouds
from pcloud import text

_WANTED = ('', 'cpu=max', 'ram=2M', 'cpu=2 ram=max', 'rack=r1', 'rack=^r1',
           'host=h-3', 'host=H-4', 'host=n-5', 'rack=r2 cpu=max',
           'storage=max ram=1M', 'cpu=9')
_ASKED = (*odd_clouds.FLAVORS, 'absent', 'B', '\u00e4')


@dataclasses.dataclass(frozen=True)
class _Pool:
    """A pool that was read host by host.

    :ivar free: the free hosts
    :ivar silent: the zones of hosts in silent cells that may be free
    """

    flavor: free_hosts.HostFlavor
    free: Sequence[computes.Compute]
    silent: frozenset[str]


def _pools(context: nova_context.RequestContext) -> list[_Pool]:
    """Return all pools, by name."""
    return [_pool(context, aggregate) for aggregate in sorted(
        pool_rows.index(context), key=lambda pool: pool.name)]


def _pool(
    context: nova_context.RequestContext, aggregate: rows.Aggregate,
) -> _Pool:
    everybody = frozenset().union(*(
        each.hosts for each in rows.read(context, sa.true())))
    taken = {_written(host) for host
             in isolation.pclouds_of(context, everybody)}
    known = computes.load(context, aggregate.hosts)
    dues = free_hosts.not_settled(context, aggregate.hosts)
    left = [compute for host, compute in sorted(known.items())
            if _written(host) not in taken]
    free = [compute for compute in left if compute.host not in dues and
            choosing.candidate(compute).free]
    known, _ = compute_nodes.known_nodes(context, aggregate.hosts)
    nodes = list(known.values())
    vcpus, memory_mb, disk_gb = (
        min((getattr(node, name) for node in nodes), default=None)
        for name in ('vcpus', 'memory_mb', 'disk_gb'))
    return _Pool(free_hosts.HostFlavor(
        aggregate.metadata[names.FLAVOR_ID],
        aggregate.metadata.get(names.DESCRIPTION, ''),
        readings.units(aggregate.metadata) or 0,
        host_resources.Description(vcpus, memory_mb, disk_gb, None),
        dict(sorted(collections.Counter(
            compute.zone for compute in free).items())),
        sum(compute.host in dues and dues[compute.host].empty
            for compute in left)), free, frozenset(
        compute.zone for compute in left
        if not compute.answered and compute.host not in dues))


def _written(host: str) -> str:
    """Return a host as the database compares the host's name."""
    return (host if api_db.get_engine().dialect.name == 'sqlite'
            else host.upper())


@contextlib.contextmanager
def _without_placement() -> Iterator[None]:
    """Forget what was read of pools, and read nothing from Placement."""
    with (mock.patch.object(
            host_resources, '_memory', host_resources.Memory()),
          mock.patch.object(host_resources, 'of_hosts',
                            side_effect=exception.Unavailable)):
        yield


def differing_supplies(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what host by host, and what `free_hosts`, say of host flavors."""
    pools = _pools(context)
    with _without_placement():
        found = free_hosts.index(context)
        shown = [_shown(context, flavor_id) for flavor_id in _ASKED]
    yield [pool.flavor for pool in pools], [
        supply.flavor for supply in found]
    for pool, supply in zip(pools, found, strict=True):
        yield {compute.host: compute.zone for compute in pool.free}, {
            host: zone for zone, hosts in supply.free.items()
            for host in hosts}
        yield pool.silent, supply.silent
    flavors = {pool.flavor.id: pool.flavor for pool in pools}
    yield [flavors.get(flavor_id) for flavor_id in _ASKED], shown


def _shown(
    context: nova_context.RequestContext, flavor_id: str,
) -> free_hosts.HostFlavor | None:
    try:
        return free_hosts.show(context, flavor_id).flavor
    except exception.HostFlavorNotFound:
        return None


def differing_choices(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what host by host, and what `choose_flavor`, say of requests."""
    zones = itertools.cycle((None, None, 'az1', 'az3'))
    for asked, zone in zip(_WANTED, zones, strict=False):
        settings = constraints.effective([
            (constraints.REQUEST, {'ram': '1M', 'storage': '1M',
                                   **constraints.parse(asked)})], {})
        yield tuple(
            _chosen(choose, context, settings, zone) for choose in (
                _choose_slowly, _choose_one))


def _chosen(choose, *args) -> object:
    try:
        flavor, hosts = choose(*args)
        return flavor.id, hosts
    except (exception.NothingFits, exception.Unavailable) as error:
        return str(error)


def _choose_one(
    context: nova_context.RequestContext,
    settings: Mapping[str, constraints.Setting], zone: str | None,
) -> tuple[free_hosts.HostFlavor, frozenset[str]]:
    with _without_placement():
        return machine_constraints.choose_flavor(context, settings, zone, 1)


def _choose_slowly(
    context: nova_context.RequestContext,
    settings: Mapping[str, constraints.Setting], zone: str | None,
) -> tuple[free_hosts.HostFlavor, frozenset[str]]:
    """Return what `choose_flavor` returns, with a machine for each host."""
    pools = {pool.flavor.id: pool for pool in _pools(context)}
    what = machines.wanted(settings)
    free = [(pool, compute) for pool in pools.values()
            for compute in pool.free if zone in (None, compute.zone)]
    values = host_attributes.all_values(
        context, [compute.host for _, compute in free], what.attributes)
    unmet = machines.unmet(what, [machines.Machine(
        _sizes(pool), values.get(compute.host, {}),
        (compute.host, compute.node.hypervisor_hostname))
        for pool, compute in free])
    fitting = [(pool.flavor, compute.host) for (pool, compute), keys
               in zip(free, unmet, strict=True) if not keys]
    if fitting:
        best = min((machines.waste(what, _sizes(pools[flavor.id]), {}),
                    flavor.units, flavor.id) for flavor, _ in fitting)[2]
        return pools[best].flavor, frozenset(
            host for flavor, host in fitting if flavor.id == best)
    if any(zone in (None, *pool.silent) and pool.silent
           for pool in pools.values()):
        raise exception.Unavailable()
    raise exception.NothingFits(
        zone=text.in_zone(zone), reasons='; '.join(_reasons(
            settings, [pool.flavor for pool in pools.values()],
            [pool.flavor.id for pool, _ in free], unmet)))


def _sizes(pool: _Pool) -> dict[str, int]:
    what = pool.flavor.what
    return {constraints.CPU: what.vcpus, constraints.RAM: what.memory_mb,
            constraints.STORAGE: what.disk_gb * 1024}


def _reasons(
    settings: Mapping[str, constraints.Setting],
    there: Collection[free_hosts.HostFlavor], flavors: Sequence[str],
    unmet: Sequence[frozenset[str]],
) -> Iterator[str]:
    total = len(there)
    ruled_out = {flavor: frozenset.intersection(*(
        keys for other, keys in zip(flavors, unmet, strict=True)
        if other == flavor)) for flavor in flavors}
    if total > len(ruled_out):
        yield (f'{total - len(ruled_out)} of {total} have no free host' +
               machine_constraints.settling(
                   flavor for flavor in there if flavor.id not in ruled_out))
    for key in sorted(frozenset().union(*ruled_out.values())):
        count = sum(key in keys for keys in ruled_out.values())
        yield (machine_constraints.shown(
            settings[key], machine_constraints.OWNER_SEES) +
            f' rules out {count} of {total}')
    together = sum(not keys for keys in ruled_out.values())
    if together:
        yield f'all together rule out {together} of {total}'
    for keys in machines.unmeetable(unmet):
        if len(keys) > 1:
            yield 'no free host meets ' + machine_constraints.in_words(
                settings, keys, machine_constraints.OWNER_SEES)
    if not total:
        yield 'there is no host flavor'


def differing_lists(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what whole aggregates, and what lists of Pclouds, say."""
    everything = kept_rows.added(context, rows.whole(
        context, pcloud_rows.is_whole, api_models.Aggregate.name.startswith(
            names.PREFIX, autoescape=True)))
    units = {host: readings.units(pool.metadata)
             for pool in sorted(pool_rows.index(context),
                                key=lambda pool: pool.name)
             for host in pool.hosts}
    for project_id in (None, *odd_clouds.PROJECTS, 'O', 'id', 'absent'):
        there = {
            aggregate.metadata[names.ID]: aggregate
            for aggregate in sorted(everything, key=lambda each: each.name)
            if project_id is None or
            aggregate.metadata.get(names.OWNER) == project_id or
            project_id in names.tenants(aggregate.metadata)}
        listed = lists.index(context, project_id, None)
        yield list(there), list(listed)
        for name in ('mine', ''):
            yield [id_ for id_, aggregate in there.items()
                   if aggregate.metadata.get(names.NAME, '') == name], list(
                       lists.index(context, project_id, name))
        for ids in (list(there), list(there)[1:2]):
            found = pclouds.listed(
                context, [listed[id_] for id_ in ids], project_id)
            yield [_detail(there[id_], units) for id_ in ids], [
                pcloud_views.detail(pcloud) for pcloud in found]
        # A Pcloud that was deleted after it was listed.
        gone = rows.Head(2 ** 30, uuidutils.generate_uuid(), 'gone')
        yield [], pclouds.listed(context, [gone], project_id)
        # What has changed hands, or is no Pcloud any more.
        yield sorted(there), sorted(pcloud.id for pcloud in pclouds.listed(
            context, rows.read(context, sa.true()), project_id))


def _other(value: str | None) -> str | None:
    """Return the host that another host has joined for, None for none."""
    stand_in = maintenance_policies.StandIn.known(value)
    return (None if stand_in is None or stand_in.over or stand_in.spare
            else stand_in.host)


def _detail(
    aggregate: rows.Aggregate, units: Mapping[str, int],
) -> dict[str, object]:
    metadata = aggregate.metadata
    standing_in = {host for host, value in names.replaced(metadata).items()
                   if _other(value) in aggregate.hosts}
    return {'id': metadata[names.ID], 'name': metadata.get(names.NAME, ''),
            'owner': metadata.get(names.OWNER, ''),
            'tenants': sorted(names.tenants(metadata)),
            'host_count': len(aggregate.hosts),
            'units': sum(units.get(host, 0)
                         for host in aggregate.hosts - standing_in),
            'cpu_allocation_ratio': readings.ratio(
                metadata, names.CPU_RATIO),
            'ram_allocation_ratio': readings.ratio(
                metadata, names.RAM_RATIO)}


def differing_closed(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what whole aggregates, and what names of hosts, say is closed."""
    closed = set(journal.dues(context))
    aggregates = isolation.closed_aggregates(context)
    for aggregate in aggregates:
        closed.update(aggregate.hosts)
    everybody = {host for aggregate in rows.read(context, sa.true())
                 for host in aggregate.hosts}
    # MariaDB finds a key of another letter case, and SQLite no such type.
    hosts_of = {aggregate.name: aggregate.hosts for aggregate in aggregates
                if isolation.is_closed(aggregate.name, aggregate.metadata)}
    for host in everybody:
        yield {name for name, hosts in hosts_of.items() if host in hosts}, {
            aggregate.name for aggregate
            in closed_rows.closed_of(context, host)
            if aggregate.name in hosts_of}
    yield closed, isolation.closed_hosts(context)
    for hosts in (everybody, sorted(everybody | closed)[::3], {'absent'}, ()):
        yield closed.intersection(hosts), isolation.closed_among(
            context, hosts).intersection(hosts)


def _unregistered(
    context: nova_context.RequestContext,
) -> dict[str, set[str]]:
    """Return ``aggregate -> hosts that Nova's own call has put there``."""
    found = collections.defaultdict(set)
    member, aggregate = api_models.AggregateHost, api_models.Aggregate
    with api_db.context_manager.reader.using(context) as session:
        for name, host, updated in session.execute(sa.select(
                aggregate.name, member.host, member.updated_at).join(
                    member, member.aggregate_id == aggregate.id)):
            if updated is None:
                found[name].add(host)
    return found


def differing_free(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what row after row, and what one query, says of a pool's hosts.

    To MariaDB a host has what is written of a host that is spelled otherwise.
    """
    members = {aggregate.name: aggregate.hosts
               for aggregate in rows.read(context, sa.true())}
    everybody = frozenset().union(*members.values())
    taken, dues = isolation.pclouds_of(context, everybody), journal.dues(
        context)
    unregistered = _unregistered(context)
    for flavor in odd_clouds.FLAVORS:
        there = members.get(names.pool(flavor), frozenset())
        free = there.difference(taken, dues, unregistered.get(
            names.pool(flavor), ()))
        # So many draws miss no host of some dozens.
        drawn = [pool_rows.drawn(context, flavor, 9, random.Random(seed))
                 for seed in range(20)]
        for hosts, found in (
                (free, pool_rows.unallocated(context, flavor)),
                (free, frozenset().union(*drawn))):
            yield set(), set(found) - hosts
            yield _other_than(taken | dues, hosts), _other_than(
                taken | dues, found)
        yield (_other_than(taken, there.difference(taken)) & dues.keys(),
               _other_than(taken, pool_rows.settling(context, flavor)) &
               dues.keys())


def _other_than(
    others: Iterable[str], hosts: Iterable[str],
) -> set[str]:
    """Return the hosts that no other is spelled as, in any letter case."""
    spelled = {host.upper() for host in others}
    return {host for host in hosts if host.upper() not in spelled}


def differing_launches(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what row after row, and what one query, says for a launch."""
    policies = [f'{names.POLICY_PREFIX}{number}' for number in range(4)]
    metadata = {aggregate.name: aggregate.metadata
                for aggregate in rows.read(context, sa.true())}
    for flavor, project_id, is_admin in itertools.product(
            (*odd_clouds.NOVA_FLAVORS, 'absent'),
            (*odd_clouds.PROJECTS, None), (False, True)):
        caller = nova_context.RequestContext(
            user_id='u', project_id=project_id, is_admin=is_admin)
        found = launch_rows.read(caller, policies, flavor, odd_clouds.SPEC)
        yield _extra_spec_slowly(caller, flavor), found.extra_spec
        for name in policies:
            yield metadata.get(name, {}), found.metadata.get(name, {})


def _extra_spec_slowly(
    caller: nova_context.RequestContext, flavor_id: str,
) -> str | None:
    flavor, granted, row = (api_models.Flavors, api_models.FlavorProjects,
                            api_models.FlavorExtraSpecs)
    with api_db.context_manager.reader.using(caller) as session:
        found = session.execute(sa.select(flavor.id, flavor.is_public).where(
            flavor.flavorid == flavor_id)).first()
        if found is None or not (
                caller.is_admin or found.is_public or session.scalar(
                    sa.select(granted.id).where(
                        granted.flavor_id == found.id,
                        granted.project_id == caller.project_id))):
            return None
        return dict(session.execute(sa.select(row.key, row.value).where(
            row.flavor_id == found.id)).all()).get(odd_clouds.SPEC)


def differing_units(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what row after row, and what one query, says of owners' units."""
    counted = _units_slowly(context)
    yield counted, pcloud_rows.units_by_owner(context)
    for owner in (*odd_clouds.PROJECTS, 'O', 'absent'):
        yield counted.get(owner, 0), pcloud_rows.units_of_owner(
            context, owner)


def _units_slowly(context: nova_context.RequestContext) -> dict[str, int]:
    row, member = api_models.AggregateMetadata, api_models.AggregateHost
    found: collections.Counter[str] = collections.Counter()
    with api_db.context_manager.reader.using(context) as session:
        for owner in session.execute(sa.select(
                row.aggregate_id, row.value).where(row.key == names.OWNER)):
            of_pcloud = row.aggregate_id == owner.aggregate_id
            if session.scalar(sa.select(row.id).where(
                    of_pcloud, row.key == names.TYPE,
                    row.value == names.TYPE_PCLOUD)) is None:
                continue
            is_member = member.aggregate_id == owner.aggregate_id
            for host in session.scalars(
                    sa.select(member.host).where(is_member)):
                other = session.scalar(sa.select(row.value).join(
                    api_models.Aggregate,
                    api_models.Aggregate.id == row.aggregate_id).where(
                    api_models.Aggregate.name == names.JOURNAL,
                    row.key == names.replaces_key(host)))
                if session.scalar(sa.select(member.id).where(
                        is_member, member.host == _other(other))) is not None:
                    continue
                for units in _units_of_pools(session, host):
                    found[owner.value] += units
    return dict(found)


def _units_of_pools(session, host: str) -> Iterator[int]:
    """Yield the units of a host, for each pool that the host is in."""
    row, member, pool = (api_models.AggregateMetadata,
                         api_models.AggregateHost, api_models.Aggregate)
    for pool_id in session.scalars(sa.select(pool.id).join(
            member, member.aggregate_id == pool.id).where(
                member.host == host, pool.name.startswith(
                    names.POOL_PREFIX, autoescape=True))):
        text = session.scalar(sa.select(row.value).where(
            row.aggregate_id == pool_id, row.key == names.UNITS))
        known = None if text is None else readings.units({names.UNITS: text})
        yield unit_rules.MOST if known is None else known


def check(
    case: testtools.TestCase, context: nova_context.RequestContext,
    differing: Callable[..., Iterator[tuple[object, object]]], where: str,
) -> None:
    """Fail where a short way differs from the slow way.

    Where there is nothing, all ways find nothing; that fails as well.

    :param differing: one of `ALL`
    :param where: which cloud it is
    """
    is_something = False
    for slow, fast in differing(context):
        case.assertEqual(slow, fast, where)
        is_something = is_something or bool(slow)
    case.assertTrue(is_something, f'{differing.__name__}: {where}')


ALL = (differing_supplies, differing_choices, differing_lists,
       differing_closed, differing_free, differing_launches,
       differing_units)
