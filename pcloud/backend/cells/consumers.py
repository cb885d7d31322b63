# SPDX-License-Identifier: Apache-2.0

"""Find the consumers of Placement that belong to nothing on their hosts.

Placement has the allocation of a server as long as the server is on a host or
on the way to the host: the scheduler claims before the server is written down
there. So what Placement has is read before Nova's databases, and these in the
order in which a request passes through them.

`pcloud.rules.consumers` decides.

Rule: reference-states-empty
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import datetime

from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
from nova.objects import fields
from oslo_config import cfg
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.cells import computes
from pcloud.backend import request_specs
from pcloud.rules import consumers as consumer_rules

CONF = cfg.CONF

# Until its nova-compute starts again, an evacuated server is on both hosts.
_EVACUATED = 'done'
_FAILED = 'error'
_SERVER, _MIGRATION, _DOUBT = 'server', 'migration', 'doubt'


@dataclasses.dataclass(frozen=True)
class Orphan:
    """A consumer that belongs to nothing on a host.

    :ivar what: `DELETED`, `OVER`, `ELSEWHERE` or `UNKNOWN` of
        `pcloud.rules.consumers`
    :ivar ended: when a server was deleted or a migration was over, in seconds
        since the epoch; 0 where Nova does not tell
    """

    what: str
    ended: float


def orphans(
    context: nova_context.RequestContext,
    consumers: Mapping[str, Collection[str]],
) -> dict[str, dict[str, Orphan]]:
    """Return the consumers that belong to nothing on their hosts.

    Without consumers no query; else three queries and two queries a cell, for
    five hundred consumers each.

    :param consumers: ``service host -> consumers``, as Placement had them
        before the call
    :returns: ``service host -> consumer -> orphan``; a host without orphans
        has no entry
    :raises: `exception.Unavailable` when the cell of a host or of a consumer
        is silent
    """
    known = _known(context, {
        host: there for host, there in consumers.items() if there})
    oldest = _seconds(_oldest())
    found: dict[str, dict[str, Orphan]] = {}
    for host, there in consumers.items():
        for uuid in there:
            its = _of_host(known[uuid], host)
            what = consumer_rules.orphan(its, host, oldest)
            if what is not None:
                found.setdefault(host, {})[uuid] = Orphan(
                    what, consumer_rules.ended(its))
    return found


@dataclasses.dataclass
class _Rows:
    """What Nova's databases have of a consumer.

    :ivar doubts: the hosts on which the guest may be too
    """

    is_requested: bool = False
    servers: list[consumer_rules.Server] = dataclasses.field(
        default_factory=list)
    migrations: list[consumer_rules.Migration] = dataclasses.field(
        default_factory=list)
    doubts: set[str] = dataclasses.field(default_factory=set)


def _of_host(its: _Rows, host: str) -> consumer_rules.Known:
    return consumer_rules.Known(its.is_requested, [
        dataclasses.replace(server, is_in_doubt=host in its.doubts)
        for server in its.servers], its.migrations)


def _known(
    context: nova_context.RequestContext,
    consumers: Mapping[str, Collection[str]],
) -> Mapping[str, _Rows]:
    """Return ``consumer -> rows``, a default dict."""
    found: dict[str, _Rows] = collections.defaultdict(_Rows)
    wanted = frozenset().union(*consumers.values())
    if not wanted:
        return found
    # A server goes from the API's database into a cell, and not back: read in
    # this order none is missed.
    for uuid in _requested(context, wanted):
        found[uuid].is_requested = True
    answers = asking.ask(_questions(context, consumers, wanted), _in_cell)
    for rows in answers.all():
        for kind, uuid, row in rows:
            its = found[uuid]
            if kind == _SERVER:
                its.servers.append(row)
            elif kind == _MIGRATION:
                its.migrations.append(row)
            else:
                its.doubts.add(row)
    return found


def _requested(
    context: nova_context.RequestContext, uuids: Iterable[str],
) -> Iterator[str]:
    """Yield the servers that are in no cell yet."""
    row, oldest = api_models.BuildRequest, _oldest()
    for batch in request_specs.batches(sorted(uuids)):
        with api_db.context_manager.reader.using(context) as session:
            yield from session.scalars(sa.select(row.instance_uuid).where(
                row.instance_uuid.in_(batch), row.created_at >= oldest))


def _questions(
    context: nova_context.RequestContext,
    consumers: Mapping[str, Collection[str]], wanted: Collection[str],
) -> dict[int | None, set[str]]:
    """Return ``cell id -> consumers to ask for``.

    Of servers Nova knows the cell. A migration is in the cell of the host that
    the server comes from.
    """
    questions: dict[int | None, set[str]] = collections.defaultdict(set)
    for batch in request_specs.batches(sorted(wanted)):
        for cell, servers in asking.of_servers(context, batch).items():
            questions[cell] |= servers
    for cell, hosts in asking.of_hosts(context, consumers.keys()).items():
        questions[cell].update(*(consumers[host] for host in hosts))
    return questions


@main_db.pick_context_manager_reader
def _in_cell(
    context: nova_context.RequestContext, uuids: Collection[str],
) -> list[tuple]:
    """Return what a cell has of consumers: kind, consumer and row."""
    found: list[tuple] = []
    for batch in request_specs.batches(sorted(uuids)):
        servers = context.session.execute(_servers(batch)).all()
        found += [(_SERVER, row.uuid, _server(row)) for row in servers]
        in_error = {row.uuid for row in servers
                    if row.vm_state == vm_states.ERROR}
        for row in context.session.execute(_migrations(batch)):
            if row.consumer != row.uuid:
                found += _doubts(row, in_error)
            else:
                found.append((_MIGRATION, row.uuid, consumer_rules.Migration(
                    row.deleted != 0 or
                    row.status in computes.MIGRATION_OVER,
                    _seconds(row.deleted_at or row.changed))))
    return found


def _servers(uuids: Collection[str]) -> sa.Select:
    row = models.Instance
    return sa.select(
        row.uuid, row.host, row.deleted, row.vm_state, row.task_state,
        sa.func.coalesce(row.updated_at, row.created_at).label('changed'),
        row.deleted_at).where(row.uuid.in_(uuids))


def _server(row: sa.Row) -> consumer_rules.Server:
    # A failed build and a server whose state was reset have no host either.
    is_busy = row.task_state is not None or (
        row.vm_state == vm_states.BUILDING or row.host is None and
        row.vm_state != vm_states.SHELVED_OFFLOADED)
    return consumer_rules.Server(
        row.host, row.deleted != 0, is_busy,
        changed=_seconds(row.deleted_at or row.changed))


def _migrations(uuids: Collection[str]) -> sa.CompoundSelect:
    """Select migrations by their own uuids, and those that leave a doubt."""
    row = models.Migration

    def select(consumer: sa.ColumnElement[str],
               *criteria: sa.ColumnElement[bool]) -> sa.Select:
        return sa.select(
            consumer.label('consumer'), row.uuid, row.status,
            row.source_compute, row.dest_compute, row.deleted, row.deleted_at,
            sa.func.coalesce(
                row.updated_at, row.created_at).label('changed'),
        ).where(consumer.in_(uuids), *criteria)

    # With a server Nova deletes the migrations of the server.
    return sa.union_all(
        select(row.uuid),
        select(row.instance_uuid, row.deleted == 0, row.status == _EVACUATED,
               row.migration_type == fields.MigrationType.EVACUATION),
        select(row.instance_uuid, row.deleted == 0, row.status == _FAILED,
               row.migration_type == fields.MigrationType.LIVE_MIGRATION),
        select(row.instance_uuid, row.deleted == 0,
               sa.not_(row.status.in_(computes.MIGRATION_OVER))))


def _doubts(
    row: sa.Row, in_error: Collection[str],
) -> Iterator[tuple[str, str, str]]:
    """Yield the hosts on which the guest of a server may be too, or soon.

    nova-compute destroys evacuated guests when nova-compute starts again. A
    live migration that fails too late to be taken back leaves the server in
    error, and the guest on either host. A migration that is not over may take
    longer than any limit, or its nova-compute may have been killed: then Nova
    calls the server idle, wherever the guest is.
    """
    if row.status == _EVACUATED:
        yield _DOUBT, row.consumer, row.source_compute
    elif row.status != _FAILED:
        yield _DOUBT, row.consumer, row.source_compute
        yield _DOUBT, row.consumer, row.dest_compute
    elif row.consumer in in_error:
        yield _DOUBT, row.consumer, row.dest_compute


def _oldest() -> datetime.datetime:
    return timeutils.utcnow() - datetime.timedelta(
        seconds=CONF.pcloud.settle_limit)


def _seconds(when: datetime.datetime | None) -> float:
    return 0 if when is None else when.replace(
        tzinfo=datetime.timezone.utc).timestamp()
