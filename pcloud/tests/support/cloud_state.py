# SPDX-License-Identifier: Apache-2.0

"""The whole state of a running cloud: kept, put back, and compared.

A cloud has state in the rows of its databases, in what its services remember,
in the fakes of other services, and in the configuration. Each kind of state
is a part (`Part`).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import copy
import dataclasses
import functools
import typing
from unittest import mock

from nova import availability_zones
from nova import conf as nova_conf
from nova import context as nova_context
from nova.objects import base as objects_base
from nova import quota
from nova.scheduler.client import report
from nova.scheduler import request_filter
from nova.scheduler import utils as scheduler_utils
from nova import utils
from oslo_messaging._drivers import impl_fake
import sqlalchemy as sa

from pcloud.backend import complaints
from pcloud.objects.placing import affinity_keys
from pcloud.scheduler import affinity_scores
from pcloud.tests.support import databases
from pcloud.tests.support import handovers

try:
    from nova import thread_pool_factory
except ImportError:
    # An earlier Nova, with which no cloud is shared.
    thread_pool_factory = None

CONF = nova_conf.CONF

# Services that run write these columns all the time.
_HEARTBEAT = {'services': ('updated_at', 'report_count', 'last_seen_up')}

_TRACKER = ('compute_nodes', 'stats', 'tracked_instances',
            'tracked_migrations', 'is_bfv', 'old_resources',
            'assigned_resources', 'provider_tree', 'absent_providers')
_COMPUTE = ('_syncs_in_progress', '_waiting_live_migrations',
            '_pending_dest_live_migrations', '_pending_dest_resizes')
_DRIVER = ('instances', 'resources', 'active_migrations', '_mounts',
           '_interfaces', 'host_status_base', '_nodes')
_HOSTS = ('aggs_by_id', 'host_aggregates_map', '_instance_info')
_PLACEMENT = ('_provider_tree', '_association_refresh_time')
_GLANCE = ('images', '_imagedata')
_NEUTRON = ('_ports', '_port_bindings', '_networks', '_subnets',
            '_security_groups')
_CINDER = ('volumes', 'volume_to_attachment', 'volume_snapshots',
           'swap_volume_instance_uuid', 'swap_volume_instance_error_uuid',
           'attachment_error_id', 'multiattach_ro_migrated')

_ABSENT = object()


class Part(typing.Protocol):
    """A kind of state."""

    def keep(self) -> typing.Any:
        """Return the present state."""

    def put_back(self, kept: typing.Any) -> None:
        """Restore a state that `keep` has returned."""

    def differences(self, kept: typing.Any) -> Iterator[str]:
        """Return the differences from a kept state, a line each."""


class Database:
    """The rows of all tables of a database.

    :param name: the name of the database in differences
    :param engine: the engine of the database
    """

    def __init__(self, name: str, engine: sa.Engine) -> None:
        self._name, self._engine = name, engine

    def keep(self) -> dict[str, databases.Rows]:
        """Return table -> rows."""
        with databases.connect(self._engine) as connection:
            return databases.read(connection)

    def put_back(self, kept: Mapping[str, databases.Rows]) -> None:
        """Restore the rows of the tables that differ, in one transaction."""
        with databases.connect(self._engine) as connection:
            now = databases.read(connection)
            databases.replace(connection, {
                table: rows for table, rows in kept.items()
                if _shown(table, now) != _shown(table, kept)})

    def differences(self, kept: Mapping) -> Iterator[str]:
        """Return a line for each row that is missing or should not be."""
        now = self.keep()
        for table in sorted(now.keys() | kept.keys()):
            found, wanted = _shown(table, now), _shown(table, kept)
            if found == wanted:
                continue
            for row in found or ():
                if row not in (wanted or ()):
                    yield f'{self._name}: {table} has {row}'
            for row in wanted or ():
                if row not in (found or ()):
                    yield f'{self._name}: {table} lacks {row}'


def _shown(table: str, found: Mapping) -> list[tuple] | None:
    if table not in found:
        return None
    columns, rows = found[table]
    beats = _HEARTBEAT.get(table, ())
    if not beats:
        return rows
    shown = [number for number, column in enumerate(columns)
             if column not in beats]
    return [tuple(row[number] for number in shown) for row in rows]


class Attributes:
    """What attributes of an object hold, to the last level.

    :param name: the name of the object in differences
    :param find: returns the object
    :param names: the names of the attributes
    """

    def __init__(
        self, name: str, find: Callable[[], object], names: Iterable[str],
    ) -> None:
        self._name, self._find, self._names = name, find, tuple(names)

    def keep(self) -> dict[str, object]:
        """Return attribute -> copy of the value."""
        holder = self._find()
        return {name: copy.deepcopy(getattr(holder, name))
                for name in self._names}

    def put_back(self, kept: Mapping[str, object]) -> None:
        """Give copies of the kept values to the attributes that differ."""
        holder = self._find()
        for name, value in kept.items():
            if plain(getattr(holder, name)) != plain(value):
                setattr(holder, name, copy.deepcopy(value))

    def differences(self, kept: Mapping[str, object]) -> Iterator[str]:
        """Return a line for each attribute that differs."""
        holder = self._find()
        for name, value in kept.items():
            found, wanted = plain(getattr(holder, name)), plain(value)
            if found != wanted:
                yield f'{self._name}.{name} is {found}, not {wanted}'


def plain(value: object) -> object:
    """Return a value as built-in types that compare by what they hold."""
    if isinstance(value, objects_base.NovaObject):
        return (type(value).__name__, {
            name: plain(getattr(value, name))
            for name in sorted(value.obj_fields)
            if value.obj_attr_is_set(name)})
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return set(value)
    if type(value).__module__.startswith('nova.'):
        # Locks are no state.
        return (type(value).__name__, {
            name: plain(each) for name, each in sorted(vars(value).items())
            if name != 'lock'})
    return value


class Options:
    """The overrides and defaults that were set for Nova's options."""

    def keep(self) -> dict[tuple[str | None, str], tuple]:
        """Return (group, option) -> (override, default)."""
        return {
            (group, name): (_copied(info, 'override'),
                            _copied(info, 'default'))
            for group, options in [
                (None, CONF._opts), *((name, each._opts) for name, each
                                      in CONF._groups.items())]
            for name, info in options.items()}

    def put_back(self, kept: Mapping) -> None:
        """Set and clear the overrides and defaults that differ."""
        nothing = _ABSENT, _ABSENT
        for (group, name), found in self.keep().items():
            wanted = kept.get((group, name), nothing)
            for value, other, put, clear in zip(
                    wanted, found, (CONF.set_override, CONF.set_default),
                    (CONF.clear_override, CONF.clear_default), strict=True):
                if value is _ABSENT and other is not _ABSENT:
                    clear(name, group)
                elif value != other:
                    put(name, value, group)

    def differences(self, kept: Mapping) -> Iterator[str]:
        """Return a line for each option that differs."""
        nothing = _ABSENT, _ABSENT
        for (group, name), found in self.keep().items():
            wanted = kept.get((group, name), nothing)
            if found != wanted:
                yield (f'option {name} of {group or "DEFAULT"} is {found}, '
                       f'not {wanted}')


def _copied(info: Mapping, key: str) -> object:
    value = info.get(key, _ABSENT)
    return copy.copy(value) if isinstance(value, list | dict) else value


class Caches:
    """What modules remember, which a cloud that has just started has not."""

    def keep(self) -> None:
        """Return nothing, for an empty cache has no state."""

    def put_back(self, kept: None) -> None:
        """Empty the caches."""
        availability_zones.reset_cache()
        nova_context.reset_globals()
        scheduler_utils.reset_globals()
        complaints.once.cache_clear()
        affinity_scores._memory = affinity_keys.Memory()
        quota.UID_QFD_POPULATED_CACHE_BY_PROJECT = set()
        quota.UID_QFD_POPULATED_CACHE_ALL = False

    def differences(self, kept: None) -> Iterator[str]:
        """Return a line for each cache that holds something."""
        held = {
            'zones of hosts': availability_zones.MC,
            'cells': nova_context.CELLS,
            'customer keys': affinity_scores._memory._known,
            'complaints': complaints.once.cache_info().currsize,
            'projects with quota': quota.UID_QFD_POPULATED_CACHE_BY_PROJECT}
        for name, value in held.items():
            if value:
                yield f'cache of {name}: {value}'


class Patches:
    """The patches of mock that were started and have not ended."""

    def keep(self) -> list:
        """Return the patches."""
        return list(mock._patch._active_patches)

    def put_back(self, kept: list) -> None:
        """End the later patches."""
        for patch in reversed(self._later(kept)):
            patch.stop()

    def _later(self, kept):
        return [each for each in self.keep() if each not in kept]

    def differences(self, kept: list) -> Iterator[str]:
        """Return a line for each later patch."""
        for patch in self._later(kept):
            yield f'patch of {patch.attribute}'


class Notifications:
    """The notifications that were sent.

    :param fixture: Nova's fixture, which keeps the notifications
    """

    def __init__(self, fixture) -> None:
        self._fixture = fixture

    def keep(self) -> None:
        """Return nothing, for a kept cloud has sent nothing."""

    def put_back(self, kept: None) -> None:
        """Forget the notifications."""
        self._fixture.reset()

    def differences(self, kept: None) -> Iterator[str]:
        """Return a line for each notification."""
        for each in (*self._fixture.notifications,
                     *self._fixture.versioned_notifications):
            yield f'notification {each}'


def parts(cloud) -> list[Part]:
    """Return the parts of the state of a cloud.

    :param cloud: the `pcloud.tests.support.base.PcloudTestCase` that has
        started the cloud
    """
    found: list[Part] = [
        Database(name, engine) for name, engine in engines(cloud).items()]
    found += [Options(), Caches(), Patches(), Notifications(cloud.notifier)]
    hosts = functools.partial(getattr, cloud.scheduler, 'manager')
    found += [
        Attributes('scheduler', lambda: hosts().host_manager, _HOSTS),
        Attributes('client of Placement', report.report_client_singleton,
                   _PLACEMENT),
        Attributes('request filters', lambda: request_filter,
                   ['ALL_REQUEST_FILTERS']),
        Attributes('Glance', lambda: cloud.glance, _GLANCE),
        Attributes('Neutron', lambda: cloud.neutron, _NEUTRON),
        Attributes('Cinder', lambda: cloud.cinder, _CINDER)]
    for host, service in cloud.computes.items():
        manager = service.manager
        for name, holder, names in (
                ('compute', manager, _COMPUTE),
                ('events', manager.instance_events, ['_events']),
                ('tracker', manager.rt, _TRACKER),
                ('driver', manager.driver, _DRIVER),
                ('client of Placement', manager.reportclient, _PLACEMENT)):
            found.append(Attributes(
                f'{name} of {host}', functools.partial(_same, holder), names))
    return found


def _same(value):
    return value


def engines(cloud) -> dict[str, sa.Engine]:
    """Return the engine of each database of a cloud, by the name.

    :param cloud: as for `parts`
    """
    api, _, placement = cloud.engines()
    return {'API': api, 'Placement': placement} | {
        name: cloud.cell_engine(name) for name in cloud.cell_mappings}


@dataclasses.dataclass(frozen=True)
class State:
    """A kept state of a cloud.

    :ivar kept: (part, kept state of the part), for all parts
    """

    kept: list[tuple[Part, typing.Any]]

    @classmethod
    def of(cls, found: Iterable[Part]) -> State:
        """Return the present state of parts, with empty caches."""
        found = list(found)
        for part in found:
            if isinstance(part, Caches | Notifications):
                part.put_back(None)
        return cls([(part, part.keep()) for part in found])

    def put_back(self) -> None:
        """Restore the state of all parts."""
        for part, kept in self.kept:
            part.put_back(kept)

    def differences(self) -> list[str]:
        """Return the differences of the present state, a line each."""
        return [line for part, kept in self.kept
                for line in part.differences(kept)]


def sees_work() -> bool:
    """Return whether `under_way` sees the work, with this Nova."""
    threading = getattr(utils, 'concurrency_mode_threading', None)
    return threading is not None and threading()


def under_way(services: Iterable) -> list[str]:
    """Return what services of this process have still to do, a line each.

    :param services: the services of Nova that have RPC servers
    """
    # A message goes from a queue by a handover to a thread: who looks in this
    # order finds the message.
    found = []
    for exchange in list(impl_fake.FakeExchangeManager._exchanges.values()):
        with exchange._queues_lock:
            for queues in exchange._topic_queues, exchange._server_queues:
                found += [f'{len(messages)} messages for {address}'
                          for address, messages in queues.items() if messages]
    if handovers.Handovers.open:
        found.append(f'{handovers.Handovers.open} messages from a queue')
    for name, executor in _executors(services):
        busy = sum(not each.idle for each in list(executor._workers))
        if busy or executor._work_queue.qsize():
            found.append(f'{busy} threads of {name}')
    return found


def done(services: Iterable) -> int:
    """Return how many tasks the services have done."""
    return sum(executor.statistics.executed
               for _, executor in _executors(services))


def _executors(services):
    for kind, executor in list(
            thread_pool_factory.FACTORY._all_executors.items()):
        yield kind.value, executor
    for service in services:
        for server in service.rpcserver, service.rpcserver_alt:
            if server is not None:
                yield (f'{service.binary} on {service.host}',
                       server._work_executor)
