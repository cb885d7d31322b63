# SPDX-License-Identifier: Apache-2.0
"""The journal: marks of changes, and what is still due for hosts.

The journal is an aggregate without hosts, created when first needed. The
metadata of the journal have these sorts of rows.

``pcloud:changes:<anchor>``
    The marks of the latest changes of an anchor, the newest first. An anchor
    is what changes must not happen to at the same moment: a Pcloud, the
    quota of an owner, a host flavor, a policy, an attribute. Every change
    first puts a mark into the rows of all anchors of the change. The row
    lock lets the next change wait, and the mark shows whether a commit with
    a lost answer has arrived.

``pcloud:due:<service host>``
    What Placement has still to be told of a host, see `due`. A host has one
    row in the whole cloud, so the unique constraint refuses one of two
    changes of the same host.

``pcloud:unopened:<service host>``
    The id of the Pcloud that the host has joined disabled, as long as the host
    was never enabled there. The host is closed to everybody meanwhile, so no
    request can be on its way to the host when the host leaves.

``pcloud:released:<service host>``
    Units and project: what a settling host counts, and against whose limit,
    see `Released`.
    The row goes with the due row of the host.

``pcloud:worker``
    When a worker has looked, see `pcloud.rules.looks`.

``pcloud:strict:<project id>``, ``pcloud:moving:<Pcloud id>``
    Which scheduler chooses a host for a strict wish of a project, and which
    worker is at the hosts of a Pcloud, see `pcloud.rules.turns`.

What is kept of hosts in pools and Pclouds is here too, see
`pcloud.backend.aggregates.kept_rows`: all that Nova need not join with the
hosts of an aggregate.

Rule: reference-changes-journal
"""

import collections
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_db import api as oslo_db_api
from oslo_db import exception as db_exc
from oslo_log import log as logging
from oslo_utils import uuidutils
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.changes import due
from pcloud import names
from pcloud.rules import record

LOG = logging.getLogger(__name__)

# As many marks as fit into the 255 characters of a value.
KEPT = 18
_WIDTH = due.MARK_LENGTH + 1

_ROW = models.AggregateMetadata


@dataclasses.dataclass(frozen=True)
class Released(record.Record):
    """Who has let a settling host go.

    :ivar units: what the host counts
    :ivar project: the project against whose limit the host counts
    """

    units: int = dataclasses.field(metadata=record.WHOLE)
    project: str = dataclasses.field(metadata=record.TEXT)


# The anchor of repairs of rows whose aggregate is gone.
REPAIR_ANCHOR = 'repair'


def pcloud_anchor(pcloud_id: str) -> str:
    """Return the anchor of the changes of a Pcloud."""
    return f'pcloud:{pcloud_id}'


def owner_anchor(project_id: str) -> str:
    """Return the anchor of the changes that count in a project's quota."""
    return f'owner:{project_id}'


def domain_anchor(domain_id: str) -> str:
    """Return the anchor of the changes that count in a domain's limit."""
    return f'domain:{domain_id}'


def growth_anchor(pcloud_id: str) -> str:
    """Return the anchor of the launches that may let a Pcloud grow."""
    return f'growth:{pcloud_id}'


def moving_anchor(pcloud_id: str) -> str:
    """Return the anchor of who moves servers of a Pcloud."""
    return f'moving:{pcloud_id}'


def recovery_anchor(cell: str) -> str:
    """Return the anchor of the recoveries that begin in a cell.

    :param cell: the uuid
    """
    return f'recovery:{cell}'


def strict_anchor(project_id: str) -> str:
    """Return the anchor of the choices for strict wishes of a project."""
    return f'strict:{project_id}'


def waiting_anchor(flavor_id: str) -> str:
    """Return the anchor of the changes of a host flavor's waiting list."""
    return f'waiting:{flavor_id}'


def flavor_anchor(flavor_id: str) -> str:
    """Return the anchor of the changes of a host flavor and its pool."""
    return f'flavor:{flavor_id}'


def policy_anchor(scope: str, scope_id: str) -> str:
    """Return the anchor of the changes of a scope's settings."""
    return f'policy:{scope}:{scope_id}'


def attribute_anchor(name: str) -> str:
    """Return the anchor of the changes of a host attribute.

    Names that differ in letter case alone have one anchor: only one of the
    names may become an attribute.
    """
    return f'attribute:{name.casefold()}'


def find(context: nova_context.RequestContext) -> int | None:
    """Return the journal's id in the database, None before the first row.

    One query.
    """
    with api_db.context_manager.reader.using(context) as session:
        return session.scalar(sa.select(models.Aggregate.id).where(
            models.Aggregate.name == names.JOURNAL))


def create(session: orm.Session) -> int:
    """Create the journal within a change, and return the journal's id.

    :raises: `oslo_db.exception.DBDuplicateEntry` when another change created
        the journal at the same moment
    """
    made = session.execute(sa.insert(models.Aggregate).values(
        uuid=uuidutils.generate_uuid(), name=names.JOURNAL))
    journal_id, = made.inserted_primary_key
    session.execute(sa.insert(_ROW), [{
        'aggregate_id': journal_id, 'key': names.TYPE,
        'value': names.TYPE_JOURNAL}])
    return journal_id


def mark(
    session: orm.Session, journal_id: int, anchors: Collection[str],
    new: str,
) -> Mapping[str, list[str]]:
    """Put a mark into the rows of anchors, and lock the rows until the end.

    :returns: ``journal key of an anchor -> marks``, newest first: `new`, and
        at most `KEPT` older marks
    :raises: `oslo_db.exception.DBDuplicateEntry` when another change created
        the row of an anchor at the same moment
    """
    keys = {names.CHANGES_PREFIX + anchor for anchor in anchors}
    rows = sa.and_(_ROW.aggregate_id == journal_id, _ROW.key.in_(keys))
    session.execute(sa.update(_ROW).where(rows).values(
        value=sa.literal(f'{new} ').concat(
            sa.func.substr(_ROW.value, 1, KEPT * _WIDTH))
    ).execution_options(synchronize_session=False))
    # A locking read: plain reads see the state of the first plain read, and
    # the change has still to wait for other rows.
    mark_lists = {key: value.split() for key, value in session.execute(
        sa.select(_ROW.key, _ROW.value).where(rows).with_for_update())}
    there = {key.casefold() for key in mark_lists}
    missing = [key for key in sorted(keys) if key.casefold() not in there]
    if missing:
        session.execute(sa.insert(_ROW), [
            {'aggregate_id': journal_id, 'key': key, 'value': new}
            for key in missing])
        mark_lists |= {key: [new] for key in missing}
    return mark_lists


def marks(context: nova_context.RequestContext) -> dict[str, str]:
    """Return the marks of the latest changes (one query).

    :returns: ``anchor -> marks``, as written
    """
    return _read(context, names.CHANGES_PREFIX, _ROW.key.startswith(
        names.CHANGES_PREFIX, autoescape=True))


def _read(
    context: nova_context.RequestContext, prefix: str,
    criterion: sa.ColumnElement[bool],
) -> dict[str, str]:
    """Return the values of journal rows by key, without the key's prefix."""
    statement = _select(_ROW.key, _ROW.value).where(criterion)
    with api_db.context_manager.reader.using(context) as session:
        return names.stripped(
            dict(session.execute(statement).all()), prefix)


def _select(*columns: sa.ColumnElement[str]) -> sa.Select:
    """Select columns of the journal's rows."""
    return sa.select(*columns).join(
        models.Aggregate, models.Aggregate.id == _ROW.aggregate_id,
    ).where(models.Aggregate.name == names.JOURNAL)


def newest(
    context: nova_context.RequestContext, anchor: str,
) -> str | None:
    """Return the newest mark of an anchor, None before the first change.

    One query.
    """
    with api_db.context_manager.reader.using(context) as session:
        marks = session.scalar(_select(_ROW.value).where(
            _ROW.key == names.CHANGES_PREFIX + anchor))
    return next(iter((marks or '').split()), None)


def look(context: nova_context.RequestContext) -> str | None:
    """Return when a worker has looked, as written; None for never.

    One query.
    """
    with api_db.context_manager.reader.using(context) as session:
        return session.scalar(_select(_ROW.value).where(
            _ROW.key == names.WORKER))


def note_look(context: nova_context.RequestContext, when: str) -> None:
    """Write when a worker has looked, unless another writes it just now.

    One transaction, which waits for no change and has no change wait.
    """
    try:
        with api_db.context_manager.writer.using(context) as session:
            journal_id = session.scalar(sa.select(models.Aggregate.id).where(
                models.Aggregate.name == names.JOURNAL)) or create(session)
            row = {'aggregate_id': journal_id, 'key': names.WORKER}
            if not session.execute(sa.update(_ROW).filter_by(**row).values(
                    value=when).execution_options(
                        synchronize_session=False)).rowcount:
                session.execute(sa.insert(_ROW), [{**row, 'value': when}])
    except db_exc.DBDuplicateEntry:
        LOG.debug('Another worker has noted its look at the same moment.')


def unopened(context: nova_context.RequestContext) -> dict[str, str]:
    """Return the hosts that were never enabled in a Pcloud (one query).

    :returns: ``service host -> id of the Pcloud``, as written
    """
    return _read(context, names.UNOPENED_PREFIX, _ROW.key.startswith(
        names.UNOPENED_PREFIX, autoescape=True))


def released(context: nova_context.RequestContext) -> dict[str, str]:
    """Return who has let hosts go, as written (one query).

    :returns: ``service host -> units and project``; a row counts only while
        something is due for the host
    """
    return _read(context, names.RELEASED_PREFIX, _ROW.key.startswith(
        names.RELEASED_PREFIX, autoescape=True))


def released_units(context: nova_context.RequestContext) -> dict[str, int]:
    """Return the units of hosts that settle, by who has let the hosts go.

    Two queries, one while no such host settles.

    :returns: ``project id -> units``, as `released_by`
    """
    hosts = released(context)
    there = dues(context, hosts) if hosts else {}
    found: collections.Counter[str] = collections.Counter()
    for host, text in hosts.items():
        kept = Released.known(text)
        if host in there and kept is not None:
            found[kept.project] += kept.units
    return dict(found)


def released_by(
    context: nova_context.RequestContext, project_id: str,
) -> dict[str, int]:
    """Return the hosts that settle after a project has let the hosts go.

    One query. A row without a due row has outlived the settling, for example
    because somebody has deleted the due row by hand, and does not count.

    :returns: ``service host -> units``
    """
    waiting = orm.aliased(_ROW)
    host = sa.func.substr(_ROW.key, len(names.RELEASED_PREFIX) + 1)
    found = _read(context, names.RELEASED_PREFIX, sa.and_(
        _ROW.key.startswith(names.RELEASED_PREFIX, autoescape=True),
        _ROW.value.endswith(f' project={project_id}', autoescape=True),
        sa.exists().where(
            waiting.aggregate_id == _ROW.aggregate_id,
            waiting.key == sa.literal(names.DUE_PREFIX).concat(host))))
    released = {host: Released.known(text) for host, text in found.items()}
    # Databases that compare without case find other projects too.
    return {host: what.units for host, what in released.items()
            if what is not None and what.project == project_id}


def dues(
    context: nova_context.RequestContext,
    hosts: Collection[str] | None = None,
) -> dict[str, str]:
    """Return what is due for hosts, as written (one query).

    :param hosts: the service hosts to look for, None for all hosts
    :returns: ``service host -> what is due``
    """
    if hosts is not None and not hosts:
        return {}
    if hosts is None:
        wanted = _ROW.key.startswith(names.DUE_PREFIX, autoescape=True)
    else:
        wanted = _ROW.key.in_([names.DUE_PREFIX + host for host in hosts])
    return _read(context, names.DUE_PREFIX, wanted)


def select_due_hosts(*columns: sa.ColumnElement) -> sa.Select:
    """Select the service hosts that something is due for.

    :param columns: what is selected beside each host
    """
    return _select(
        sa.func.substr(_ROW.key, len(names.DUE_PREFIX) + 1), *columns,
    ).where(_ROW.key.startswith(names.DUE_PREFIX, autoescape=True))


def leaving(
    context: nova_context.RequestContext, uuid: str,
) -> list[str]:
    """Return the hosts that have still to leave an aggregate in Placement.

    One query.

    :param uuid: the uuid of the aggregate
    """
    return sorted(host for host, text in dues(context).items()
                  if due.parse(text).origin == uuid)


def is_due(host: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Return the condition that something is due for a service host."""
    return _has(names.DUE_PREFIX, host)


def is_unopened(host: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a service host was never enabled."""
    return _has(names.UNOPENED_PREFIX, host)


def _has(
    prefix: str, host: sa.ColumnElement[str],
) -> sa.ColumnElement[bool]:
    """Return the condition that the journal has a row of a service host."""
    row, journal = orm.aliased(_ROW), orm.aliased(models.Aggregate)
    return sa.exists().where(
        journal.name == names.JOURNAL, row.aggregate_id == journal.id,
        row.key == sa.literal(prefix).concat(host))


@oslo_db_api.wrap_db_retry(
    max_retries=5, retry_interval=0.05, inc_retry_interval=True,
    max_retry_interval=1, retry_on_deadlock=True, retry_on_disconnect=True)
def settle(
    context: nova_context.RequestContext, host: str, done: str,
    remainder: str | None,
) -> bool:
    """Note that what was due for a host has been done.

    One transaction, repeated when the database breaks a deadlock or a
    connection is lost. A host that has settled counts against the limit of
    nobody any more.

    :param done: the value that was read before the work
    :param remainder: what is still due, None for nothing
    :returns: False when the row has another value by now, or is gone
    """
    there = _ROW.aggregate_id.in_(sa.select(models.Aggregate.id).where(
        models.Aggregate.name == names.JOURNAL))
    here = sa.and_(
        there, _ROW.key == names.DUE_PREFIX + host, _ROW.value == done)
    statement = (sa.delete(_ROW).where(here) if remainder is None else
                 sa.update(_ROW).where(here).values(value=remainder))
    what = due.parse(done)
    with api_db.context_manager.writer.using(context) as session:
        if session.execute(statement.execution_options(
                synchronize_session=False)).rowcount != 1:
            return False
        # Only a host that settles after a Pcloud has such a row: to delete
        # nothing would lock a gap, and hold up other changes.
        if remainder is None and what.empty and what.pcloud is not None:
            session.execute(sa.delete(_ROW).where(
                there, _ROW.key == names.released_key(host),
            ).execution_options(synchronize_session=False))
    return True
