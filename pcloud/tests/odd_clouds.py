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

"""Clouds in which somebody has written anything, and the slow way to read.

The rows of a cloud contradict each other: hosts are spelled in several ways,
are in several aggregates, or have no service, no node, or several nodes.
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
import datetime
import itertools
import random
from unittest import mock

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models as main_models
from nova import objects
from oslo_db import exception as db_exc
from oslo_utils import timeutils
from oslo_utils import uuidutils
import sqlalchemy as sa
import testtools

from pcloud.api.views import host_flavors as views
from pcloud.api.views import pclouds as pcloud_views
from pcloud.backend import bulk
from pcloud.backend import due
from pcloud.backend import isolation
from pcloud.backend import journal
from pcloud.backend import pcloud_lists
from pcloud.backend import pcloud_rows
from pcloud.backend import pool_rows
from pcloud.backend import readings
from pcloud.backend import rows
from pcloud import exception
from pcloud import names
from pcloud.objects import host_attributes
from pcloud.objects import host_flavors
from pcloud.objects import machine_constraints
from pcloud.objects import pclouds
from pcloud.objects import supplies
from pcloud.rules import constraints as rules
from pcloud.rules import units as unit_rules

_FLAVORS = ('a', 'b', 'A', 'b.c', 'large')
_ZONES = ('az1', 'az2', '')
_TYPES = (names.TYPE_POOL, names.TYPE_PCLOUD, names.TYPE_POLICY,
          names.TYPE_ATTRIBUTE, 'Pcloud', 'HOST_FLAVOR_POOL', 'x')
_NUMBERS = ('1', '2', '0', '-1', 'x', '', '9' * 30)
_PROJECTS = ('o', 'p', '\u00e9')
_RATIOS = ('1.5', '16', 'x', 'nan', '')
_PREFIXES = (names.PREFIX, 'pcloud:', names.POOL_PREFIX, names.POLICY_PREFIX,
             names.ATTRIBUTE_PREFIX, '')
_WANTED = ('', 'cpu=max', 'ram=2M', 'cpu=2 ram=max', 'rack=r1', 'rack=^r1',
           'host=h-3', 'host=H-4', 'host=n-5', 'rack=r2 cpu=max',
           'storage=max ram=1M', 'cpu=9')


class OddCloud:
    """Rows that are written into the databases of a cloud.

    :param cells: the cells
    :param chance: the source of randomness
    :param hosts: how many hosts there are
    """

    def __init__(
        self, cells: Sequence[objects.CellMapping], chance: random.Random,
        hosts: int,
    ) -> None:
        self._cells = cells
        self._chance = chance
        self._context = nova_context.get_admin_context()
        self._now = timeutils.utcnow()
        self._hosts = [f'h-{number}' for number in range(hosts)]
        self._hosts += ['h \u00f6', 'h,1', "h'1", 'h\\', "h\\'", 'h%s', 'h:x']
        if self._has(0.2):
            self._hosts.append('h\n1')

    def _has(self, probability: float) -> bool:
        return self._chance.random() < probability

    def _spelled(self, text: str) -> str:
        return text.upper() if self._has(0.04) else text

    def _sample(self, share: float) -> list[str]:
        return [self._spelled(host) for host in self._hosts
                if self._has(share)]

    def fill(self) -> None:
        """Write all rows in place of the rows of another odd cloud."""
        for cell in self._cells:
            with nova_context.target_cell(self._context, cell) as context:
                with main_db.get_context_manager(context).writer.using(
                        context) as session:
                    for model in (main_models.Service, main_models.Instance,
                                  main_models.ComputeNode):
                        session.execute(sa.delete(model))
        with api_db.context_manager.writer.using(self._context) as session:
            for model in (api_models.AggregateMetadata,
                          api_models.AggregateHost, api_models.Aggregate,
                          api_models.HostMapping):
                session.execute(sa.delete(model))
        self._write_hosts()
        self._write_aggregates()

    def _write_hosts(self) -> None:
        for number, host in enumerate(self._hosts):
            cell = self._chance.choice(self._cells)
            if self._has(0.95):
                self._insert(api_models.HostMapping, cell_id=cell.id,
                             host=self._spelled(host))
            if self._has(0.05):
                cell = self._chance.choice(self._cells)
            with nova_context.target_cell(self._context, cell) as context:
                self._write_host(context, number, host)

    def _write_host(self, context, number: int, host: str) -> None:
        for _ in range(self._chance.choice((0, *[1] * 20))):
            self._insert_into(
                context, main_models.Service, host=self._spelled(host),
                topic='compute', report_count=1,
                binary=self._chance.choice(['nova-compute'] * 20 + ['x']),
                deleted=self._chance.choice([0] * 20 + [1]),
                disabled=self._chance.choice([False] * 9 + [True, None]),
                forced_down=self._chance.choice([False] * 9 + [True, None]),
                created_at=self._time(), uuid=uuidutils.generate_uuid(),
                last_seen_up=self._chance.choice([self._time(), None]))
        size = self._size()
        for node in range(self._chance.choice((0, *[1] * 12, 2, 2))):
            if self._has(0.5):
                size = self._size()
            self._insert_into(
                context, main_models.ComputeNode, host=self._spelled(host),
                hypervisor_hostname=f'n-{number}' + '+' * node,
                vcpus_used=0, memory_mb_used=0, local_gb_used=0, **size,
                hypervisor_type='', hypervisor_version=1, cpu_info='',
                deleted=self._chance.choice([0] * 20 + [1]),
                uuid=uuidutils.generate_uuid())
        if self._has(0.1):
            self._insert_into(context, main_models.Instance, host=host,
                              uuid=uuidutils.generate_uuid())

    def _size(self) -> dict[str, int]:
        return {name: self._chance.randint(1, 3)
                for name in ('vcpus', 'memory_mb', 'local_gb')}

    def _time(self) -> datetime.datetime:
        """Return a time at which a service that is up reports, or not."""
        return self._now + datetime.timedelta(
            seconds=self._chance.choice([0] * 20 + [-10 ** 8, 10 ** 8]))

    def _write_aggregates(self) -> None:
        for flavor in _FLAVORS:
            metadata = {
                names.TYPE: names.TYPE_POOL, names.FLAVOR_ID: flavor,
                names.UNITS: self._chance.choice('12'),
                names.DESCRIPTION: 'text'}
            self._write_aggregate(names.pool(self._spelled(flavor)),
                                  self._marred(metadata), self._sample(0.3))
        for _ in range(6):
            pcloud_id = uuidutils.generate_uuid()
            metadata = {
                names.TYPE: names.TYPE_PCLOUD, names.ID: pcloud_id,
                names.NAME: self._chance.choice(('mine', 'a\nb', '\u00f6')),
                names.OWNER: self._chance.choice((*_PROJECTS, 'O')),
                names.CPU_RATIO: self._chance.choice(_RATIOS),
                names.state_key('n-1'): 'enabled'}
            hosts = self._sample(0.05)
            metadata |= {
                names.REPLACES_PREFIX + host: self._chance.choice(hosts)
                for host in hosts if self._has(0.5)}
            if self._has(0.3):
                metadata['availability_zone'] = 'az1'
            projects = [*_PROJECTS, 'a:b']
            if self._has(0.1):
                # The key of this tenant is the key of the Pcloud's id.
                projects.append('id')
            for project in projects:
                metadata[self._spelled(names.TENANT_PREFIX + project)] = (
                    self._spelled(self._chance.choice(
                        (names.TENANT_VALUE, 'x'))))
            self._write_aggregate(names.pcloud(pcloud_id),
                                  self._marred(metadata), hosts)
        for number, zone in enumerate((*_ZONES, 'az2')):
            self._write_aggregate(f'zone {number}', self._marred({
                self._spelled('availability_zone'): zone}),
                self._sample(0.25))
        for number in range(8):
            self._write_aggregate(
                self._chance.choice(_PREFIXES) + f'{number}', self._marred({
                    names.TYPE: self._chance.choice(_TYPES),
                    names.attribute_key('rack'): f'r{number % 3}'}),
                self._sample(0.05))
        self._write_aggregate(names.JOURNAL, {
            names.TYPE: names.TYPE_JOURNAL,
            **{names.due_key(host): self._due()
               for host in self._sample(0.1)}}, [])

    def _marred(self, metadata: Mapping[str, str]) -> dict[str, str]:
        """Return metadata that may have lost or changed some entries."""
        found = {}
        for key, value in metadata.items():
            if self._has(0.97):
                found[self._spelled(key) if self._has(0.5) else key] = (
                    self._chance.choice((*_TYPES, *_NUMBERS))
                    if self._has(0.03) else value)
        return found

    def _due(self) -> str:
        """Return what is due for a host."""
        return self._chance.choice(['rubbish', str(due.Due(
            '0' * due.MARK_LENGTH, empty=self._has(0.8),
            service=due.ON if self._has(0.3) else None,
            since=self._chance.choice([None, 1, 2 ** 30])))])

    def _write_aggregate(
        self, name: str, metadata: Mapping[str, str], hosts: Sequence[str],
    ) -> None:
        id_ = self._insert(api_models.Aggregate, name=name,
                           uuid=uuidutils.generate_uuid())
        if id_ is None:
            return
        for key, value in metadata.items():
            self._insert(api_models.AggregateMetadata, aggregate_id=id_,
                         key=key, value=value)
        for host in hosts:
            self._insert(api_models.AggregateHost, aggregate_id=id_,
                         host=host)

    def _insert(self, model, **values) -> int | None:
        with api_db.context_manager.writer.using(self._context) as session:
            return _insert(session, model, values)

    def _insert_into(self, context, model, **values) -> None:
        with main_db.get_context_manager(context).writer.using(
                context) as session:
            _insert(session, model, values)


def _insert(session, model, values: Mapping[str, object]) -> int | None:
    """Insert a row, unless the database takes another row for the same."""
    try:
        with session.begin_nested():
            return session.execute(
                sa.insert(model).values(**values)).inserted_primary_key[0]
    except db_exc.DBDuplicateEntry:
        return None


@contextlib.contextmanager
def named_at_most(count: int) -> Iterator[None]:
    """Look at most so many hosts up by name."""
    with mock.patch.object(bulk, 'MOST_NAMED', count):
        yield


def differing_supplies(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what host by host, and what `supplies`, say of host flavors."""
    pools = host_flavors.pools(context)
    found = supplies.index(context)
    yield [views.show(pool) for pool in pools], [
        views.show(supply.flavor) for supply in found]
    for pool, supply in zip(pools, found, strict=True):
        yield _free(pool), {
            host: zone for zone, hosts in supply.free.items()
            for host in hosts}
        yield _silent(pool), supply.silent
    for flavor_id in (*_FLAVORS, 'absent', 'B', '\u00e4'):
        yield (_shown(host_flavors.pool_of, context, flavor_id),
               _shown(lambda *args: supplies.show(*args).flavor, context,
                      flavor_id))


def _free(pool: host_flavors.Pool) -> dict[str, str]:
    return {host.compute.host: host.compute.zone
            for host in host_flavors.free(pool)}


def _silent(pool: host_flavors.Pool) -> frozenset[str]:
    return frozenset(
        host.compute.zone for host in pool.hosts
        if not host.compute.answered and
        not host_flavors.candidate(host).allocated)


def _shown(show, *args) -> object:
    try:
        return views.show(show(*args))
    except exception.HostFlavorNotFound as error:
        return str(error)


def differing_choices(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what host by host, and what `choose_flavor`, say of requests."""
    for text, zone in zip(_WANTED, itertools.cycle((None, None, 'az1', 'az3')),
                          strict=False):
        settings = rules.effective([
            (rules.REQUEST, {'ram': '1M', 'storage': '1M',
                             **rules.parse(text)})], {})
        yield tuple(
            _chosen(choose, context, settings, zone) for choose in (
                _choose_slowly, machine_constraints.choose_flavor))


def _chosen(choose, *args) -> object:
    try:
        flavor, hosts = choose(*args)
        return flavor.id, hosts
    except (exception.NothingFits, exception.Unavailable) as error:
        return str(error)


def _choose_slowly(
    context: nova_context.RequestContext,
    settings: Mapping[str, rules.Setting], zone: str | None,
) -> tuple[str, frozenset[str]]:
    """Return what `choose_flavor` returns, with a machine for each host."""
    pools = {pool.id: pool for pool in host_flavors.pools(context)}
    what = rules.wanted(settings)
    free = [(pool, host.compute) for pool in pools.values()
            for host in host_flavors.free(pool)
            if zone in (None, host.compute.zone)]
    values = host_attributes.all_values(
        context, [compute.host for _, compute in free], what.attributes)
    unmet = rules.unmet(what, [rules.Machine(
        _sizes(pool), values.get(compute.host, {}),
        (compute.host, compute.node.hypervisor_hostname))
        for pool, compute in free])
    fitting = [(pool, compute.host) for (pool, compute), keys
               in zip(free, unmet, strict=True) if not keys]
    if fitting:
        best = min((rules.waste(what, _sizes(pool)), pool.units, pool.id)
                   for pool, _ in fitting)[2]
        return next(pool for pool, _ in fitting if pool.id == best), frozenset(
            host for pool, host in fitting if pool.id == best)
    if any(zone in (None, *_silent(pool)) and _silent(pool)
           for pool in pools.values()):
        raise exception.Unavailable()
    raise exception.NothingFits(
        zone=host_flavors.in_zone(zone), reasons='; '.join(_reasons(
            settings, len(pools), [pool.id for pool, _ in free], unmet)))


def _sizes(pool: host_flavors.Pool) -> dict[str, int]:
    return {rules.CPU: pool.vcpus, rules.RAM: pool.memory_mb,
            rules.STORAGE: pool.disk_gb * 1024}


def _reasons(
    settings: Mapping[str, rules.Setting], total: int,
    flavors: Collection[str], unmet: Sequence[frozenset[str]],
) -> Iterator[str]:
    ruled_out = {flavor: frozenset.intersection(*(
        keys for other, keys in zip(flavors, unmet, strict=True)
        if other == flavor)) for flavor in flavors}
    if total > len(ruled_out):
        yield f'{total - len(ruled_out)} of {total} have no free host'
    for key in sorted(frozenset().union(*ruled_out.values())):
        count = sum(key in keys for keys in ruled_out.values())
        yield (machine_constraints.shown(
            settings[key], machine_constraints.OWNER_SEES) +
            f' rules out {count} of {total}')
    together = sum(not keys for keys in ruled_out.values())
    if together:
        yield f'all together rule out {together} of {total}'
    if not total:
        yield 'there is no host flavor'


def differing_lists(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what whole aggregates, and what lists of Pclouds, say."""
    everything = rows.whole(
        context, pcloud_rows.is_whole, api_models.Aggregate.name.startswith(
            names.PREFIX, autoescape=True))
    units = {host: readings.units(pool.metadata)
             for pool in sorted(pool_rows.index(context),
                                key=lambda pool: pool.name)
             for host in pool.hosts}
    for project_id in (None, *_PROJECTS, 'O', 'id', 'absent'):
        there = {
            aggregate.metadata[names.ID]: aggregate
            for aggregate in sorted(everything, key=lambda each: each.name)
            if project_id is None or
            aggregate.metadata.get(names.OWNER) == project_id or
            project_id in names.tenants(aggregate.metadata)}
        listed = pcloud_lists.index(context, project_id, None)
        yield list(there), list(listed)
        for name in ('mine', ''):
            yield [id_ for id_, aggregate in there.items()
                   if aggregate.metadata.get(names.NAME, '') == name], list(
                       pcloud_lists.index(context, project_id, name))
        for ids, few in itertools.product(
                (list(there), list(there)[1:2]), (0, 100)):
            with mock.patch.object(pcloud_lists, '_FEW', few):
                found = pclouds.listed(
                    context, [listed[id_] for id_ in ids], project_id)
            yield [_detail(there[id_], units) for id_ in ids], [
                pcloud_views.detail(pcloud) for pcloud in found]
        # A Pcloud that was deleted after it was listed.
        gone = rows.Head(2 ** 30, uuidutils.generate_uuid(), 'gone')
        yield [], pclouds.listed(context, [gone], project_id)


def _detail(
    aggregate: rows.Aggregate, units: Mapping[str, int],
) -> dict[str, object]:
    metadata = aggregate.metadata
    standing_in = {host for host, other in names.replaced(metadata).items()
                   if other in aggregate.hosts}
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
    for aggregate in isolation.closed_aggregates(context):
        closed.update(aggregate.hosts)
    everybody = {host for aggregate in rows.read(context, sa.true())
                 for host in aggregate.hosts}
    yield closed, isolation.closed_hosts(context)
    for hosts in (everybody, sorted(everybody | closed)[::3], {'absent'}, ()):
        yield closed.intersection(hosts), isolation.closed_among(
            context, hosts)


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
    for flavor in _FLAVORS:
        there = members.get(names.pool(flavor), frozenset())
        free = there.difference(taken, dues)
        some = free.intersection(sorted(there)[::2])
        # So many draws miss no host of some dozens.
        drawn = [pool_rows.drawn(context, flavor, 9, random.Random(seed))
                 for seed in range(20)]
        for hosts, found in (
                (free, pool_rows.unallocated(context, flavor)),
                (some, pool_rows.unallocated(context, flavor, some)),
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


def differing_units(
    context: nova_context.RequestContext,
) -> Iterator[tuple[object, object]]:
    """Yield what row after row, and what one query, says of owners' units."""
    counted = _units_slowly(context)
    yield counted, pcloud_rows.units_by_owner(context)
    for owner in (*_PROJECTS, 'O', 'absent'):
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
                other = session.scalar(sa.select(row.value).where(
                    of_pcloud, row.key == names.REPLACES_PREFIX + host))
                if session.scalar(sa.select(member.id).where(
                        is_member, member.host == other)) is not None:
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
       differing_closed, differing_free, differing_units)
