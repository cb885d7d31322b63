# SPDX-License-Identifier: Apache-2.0

"""Read from Nova's request specs what servers were started with."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import copy
import dataclasses
import datetime
import functools
import itertools
from typing import TypeVar

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from nova import objects
from oslo_serialization import jsonutils
import sqlalchemy as sa

from pcloud.rules.placing import hints as hint_rules

# The number of ids in one query; not every database takes a whole cloud's.
_BATCH = 500

_T = TypeVar('_T')


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a server was started with.

    :ivar flavor: the flavor's id in the database
    :ivar extra_specs: the flavor's extra specs in the request spec
    :ivar flavor_id: the flavor's id in Nova's API
    :ivar image: the image's id; '' where Nova does not know the image
    :ivar vcpus: the flavor's number of processors
    :ivar memory_mb: the flavor's memory, in MiB
    """

    project: str
    flavor: int | None
    hints: Mapping[str, Sequence[str]]
    extra_specs: Mapping[str, str]
    flavor_id: str = ''
    image: str = ''
    vcpus: int = 0
    memory_mb: int = 0


def hints(
    context: nova_context.RequestContext, servers: Collection[str],
) -> dict[str, Mapping[str, Sequence[str]]]:
    """Return the scheduler hints of servers.

    One query for five hundred servers. A server without a request spec has no
    entry.

    :returns: ``server uuid -> scheduler hints``
    """
    return {server: data.get('scheduler_hints') or {}
            for server, data in _read(context, servers)}


def of_server(
    context: nova_context.RequestContext, server: str,
) -> Spec | None:
    """Return what a server was started with (one query).

    :returns: None for a server without a request spec
    """
    return next((_spec(data) for _, data in _read(context, [server])), None)


def begun(
    context: nova_context.RequestContext, servers: Collection[str],
) -> Iterator[tuple[str, datetime.datetime,
                    Mapping[str, Sequence[str]]]]:
    """Yield server uuid, time of the request in UTC, and scheduler hints.

    One query for five hundred servers. Servers without a request spec are left
    out.
    """
    row = models.RequestSpec
    for batch in batches(sorted(servers)):
        statement = sa.select(
            row.instance_uuid, row.created_at, row.spec,
        ).where(row.instance_uuid.in_(batch))
        with api_db.context_manager.reader.using(context) as session:
            for server, created, spec in session.execute(statement):
                data = _data(jsonutils.loads(spec))
                yield server, created, data.get('scheduler_hints') or {}


def with_any(
    context: nova_context.RequestContext, servers: Collection[str],
    texts: Collection[str],
) -> Iterator[tuple[str, Spec]]:
    """Yield the servers with any of some texts in the request spec.

    One query for five hundred servers. The query reads only request specs with
    one of the texts, so servers without the texts cost next to nothing. A
    server that Nova's API does not find any more is left out.

    :param texts: names of hints and extra specs
    :returns: pairs of server uuid and `Spec`
    """
    column = models.RequestSpec.spec
    has_any = sa.or_(*(column.contains(text, autoescape=True)
                       for text in texts))
    for server, data in _read(context, servers, has_any, _is_known()):
        yield server, _spec(data)


def _is_known() -> sa.ColumnElement[bool]:
    """Return the condition that Nova's API finds the server of a spec.

    nova-conductor records the cell of a server before the build request goes:
    a server always has one of both. Where the database of a cell goes away
    while nova-conductor writes a server, a row can stay in the cell that has
    neither, and that nobody can delete.
    """
    spec, server, build = (
        models.RequestSpec, models.InstanceMapping, models.BuildRequest)
    return sa.or_(
        sa.exists().where(server.instance_uuid == spec.instance_uuid,
                          server.cell_id.is_not(None)),
        sa.exists().where(build.instance_uuid == spec.instance_uuid))


def of_service(
    context: nova_context.RequestContext, project_id: str, service: str,
) -> list[str]:
    """Return the uuids of the units of a project's service.

    One query.
    """
    spec, server = models.RequestSpec, models.InstanceMapping
    hint = {hint_rules.SERVICE: [service]}
    statement = sa.select(spec.instance_uuid, spec.spec).join(
        server, server.instance_uuid == spec.instance_uuid,
    ).where(
        server.project_id == project_id,
        sa.not_(sa.func.coalesce(server.queued_for_delete, False)),
        # The hint as Nova writes the spec, so that few other rows are read.
        spec.spec.contains(jsonutils.dumps(hint)[1:-1], autoescape=True))
    with api_db.context_manager.reader.using(context) as session:
        return [uuid for uuid, data in session.execute(statement)
                if (_data(jsonutils.loads(data)).get('scheduler_hints') or {}
                    ).get(hint_rules.SERVICE) == [service]]


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a server was asked for with, and has after a resize.

    :ivar on_volume: whether the root disk is a volume
    """

    project: str
    flavor: objects.Flavor
    on_volume: bool
    hints: Mapping[str, Sequence[str]]


def asked(
    context: nova_context.RequestContext, servers: Collection[str],
) -> dict[str, Asked]:
    """Return what servers have been asked for with.

    One query for five hundred servers. A server without a request spec has no
    entry.

    :returns: ``server uuid -> request``
    """
    return {server: _asked(data) for server, data in _read(context, servers)}


# What differs between servers that were asked for with the same.
_OWN = ('id', 'instance_uuid', 'num_instances', 'retry', 'ignore_hosts',
        'force_hosts', 'force_nodes', 'requested_destination', 'user_id',
        'security_groups', 'pci_requests')


@dataclasses.dataclass(frozen=True)
class Kept:
    """A request as Nova keeps it, to find another host for the server.

    :ivar primitive: the primitive of the request spec
    """

    primitive: Mapping

    @functools.cached_property
    def key(self) -> str:
        """A text that servers share that were asked for with the same."""
        return jsonutils.dumps([
            {name: value for name, value in self._data.items()
             if name not in _OWN} | {'scheduler_hints': self.hints},
            _data(self._data.get('pci_requests')).get('requests')],
            sort_keys=True)

    @functools.cached_property
    def asked(self) -> Asked:
        """What the server was asked for with."""
        return _asked(self._data)

    @property
    def project(self) -> str:
        """The project of the server."""
        return self._data.get('project_id') or ''

    @property
    def flavor(self) -> Mapping:
        """The primitive of the flavor."""
        return self._data['flavor']

    @property
    def image(self) -> Mapping | None:
        """The primitive of the image, None for a server without an image."""
        return self._data.get('image')

    @property
    def image_id(self) -> str:
        """The id of the image, '' where Nova does not know the image."""
        return _data(self.image).get('id') or ''

    @property
    def on_volume(self) -> bool:
        """Whether the root disk is a volume."""
        return bool(self._data.get('is_bfv'))

    @property
    def zone(self) -> str | None:
        """The availability zone that was asked for, None for any."""
        return self._data.get('availability_zone')

    @property
    def hints(self) -> Mapping[str, Sequence[str]]:
        """The scheduler hints."""
        return self._data.get('scheduler_hints') or {}

    @property
    def has_devices_of_ports(self) -> bool:
        """Whether ports ask for PCI devices, which no flavor tells of.

        Those of a flavor have the name of an alias.
        """
        return any(not _data(request).get('alias_name') for request in _data(
            self._data.get('pci_requests')).get('requests') or ())

    @property
    def _data(self) -> Mapping:
        return _data(self.primitive)

    def spec(self) -> objects.RequestSpec:
        """Return the request, fresh, without the server's group."""
        spec = objects.RequestSpec.obj_from_primitive(
            copy.deepcopy(self.primitive))
        # Nova does not keep these fields.
        spec.requested_destination = None
        spec.requested_resources = []
        spec.request_level_params = objects.RequestLevelParams()
        spec.instance_group = None
        for name in ('retry', 'ignore_hosts', 'force_hosts', 'force_nodes'):
            setattr(spec, name, None)
        return spec


def kept(
    context: nova_context.RequestContext, servers: Collection[str],
) -> dict[str, Kept]:
    """Return the requests of servers.

    One query for five hundred servers. A server without a request spec has no
    entry.

    :returns: ``server uuid -> request``
    """
    return {server: Kept(primitive)
            for server, primitive in _primitives(context, servers)}


def are_queued(
    context: nova_context.RequestContext, servers: Collection[str],
) -> bool:
    """Whether some servers are all accepted by Nova and in no cell yet.

    One query for five hundred servers.
    """
    row = models.BuildRequest
    with api_db.context_manager.reader.using(context) as session:
        return bool(servers) and all(
            session.scalar(sa.select(sa.func.count()).where(
                row.instance_uuid.in_(batch))) == len(batch)
            for batch in batches(sorted(servers)))


def _asked(data: Mapping) -> Asked:
    return Asked(data.get('project_id') or '',
                 objects.Flavor.obj_from_primitive(data['flavor']),
                 bool(data.get('is_bfv')), data.get('scheduler_hints') or {})


def _spec(data: Mapping) -> Spec:
    flavor = _data(data.get('flavor'))
    return Spec(data.get('project_id') or '', flavor.get('id'),
                data.get('scheduler_hints') or {},
                flavor.get('extra_specs') or {}, flavor.get('flavorid') or '',
                _data(data.get('image')).get('id') or '',
                flavor.get('vcpus') or 0, flavor.get('memory_mb') or 0)


def _data(primitive: Mapping | None) -> Mapping:
    return (primitive or {}).get('nova_object.data') or {}


def _read(
    context: nova_context.RequestContext, servers: Collection[str],
    *criteria: sa.ColumnElement[bool],
) -> Iterator[tuple[str, Mapping]]:
    """Yield each server uuid with the primitives of the request spec."""
    for server, primitive in _primitives(context, servers, *criteria):
        yield server, _data(primitive)


def _primitives(
    context: nova_context.RequestContext, servers: Collection[str],
    *criteria: sa.ColumnElement[bool],
) -> Iterator[tuple[str, Mapping]]:
    """Yield each server uuid with the request spec, as Nova keeps it."""
    row = models.RequestSpec
    for batch in batches(sorted(servers)):
        statement = sa.select(row.instance_uuid, row.spec).where(
            row.instance_uuid.in_(batch), *criteria)
        with api_db.context_manager.reader.using(context) as session:
            for server, spec in session.execute(statement):
                yield server, jsonutils.loads(spec)


def batches(servers: Iterable[_T]) -> Iterator[tuple[_T, ...]]:
    """Yield servers in batches for one query each."""
    iterator = iter(servers)
    while batch := tuple(itertools.islice(iterator, _BATCH)):
        yield batch
