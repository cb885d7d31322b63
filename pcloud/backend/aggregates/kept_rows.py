# SPDX-License-Identifier: Apache-2.0

"""Read what the journal keeps of hosts that are in Pclouds, and of moves.

An aggregate with hosts has few rows of each host: Nova joins the hosts of an
aggregate with the metadata, and sends the whole to every scheduler. All else
that Pcloud remembers of a host is in the journal, which has no hosts.

Rule: reference-metadata-journal
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import rows
from pcloud import names

_MEMBER = models.AggregateHost
_ID_LENGTH = 36


def journal_id() -> sa.ScalarSelect:
    """Select the journal's id in the database, for a statement about more."""
    journal = orm.aliased(models.Aggregate)
    return sa.select(journal.id).where(
        journal.name == names.JOURNAL).scalar_subquery()


def is_kept(
    row: type[models.AggregateMetadata], prefix: str,
    host: sa.ColumnElement[str],
) -> sa.ColumnElement[bool]:
    """Return the condition that a row is what the journal keeps of a host.

    :param row: an alias of the rows of metadata
    :param prefix: one of `names.KEPT_OF_HOSTS`
    :param host: the service host
    """
    return sa.and_(row.aggregate_id == journal_id(),
                   row.key == sa.literal(prefix).concat(host))


def has_prefix(
    row: type[models.AggregateMetadata], prefix: str,
) -> sa.ColumnElement[bool]:
    """Return the condition that the journal has a row with a prefix."""
    return sa.and_(row.aggregate_id == journal_id(),
                   row.key.startswith(prefix, autoescape=True))


def host_of(
    row: type[models.AggregateMetadata], prefix: str,
) -> sa.ColumnElement[str]:
    """Select the service host of a row with a prefix."""
    return sa.func.substr(row.key, len(prefix) + 1)


def value_of(
    prefix: str, host: sa.ColumnElement[str],
) -> sa.ScalarSelect:
    """Select the value that the journal keeps of a host, else null."""
    row = orm.aliased(models.AggregateMetadata)
    return sa.select(row.value).where(
        is_kept(row, prefix, host)).scalar_subquery()


def of_members(
    ids: Collection[int], prefixes: Iterable[str],
) -> list[sa.Select]:
    """Select id, key and value of what is kept of the hosts of aggregates.

    :param ids: the ids of the aggregates
    :param prefixes: some of `names.KEPT_OF_HOSTS`
    :returns: a statement a prefix: MariaDB looks each key up in an index,
        which it does not for a list of texts that depend on the host
    """
    row = models.AggregateMetadata
    return [
        sa.select(_MEMBER.aggregate_id, row.key, row.value).select_from(
            _MEMBER).join(row, is_kept(row, prefix, _MEMBER.host)
                          ).where(_MEMBER.aggregate_id.in_(ids))
        for prefix in prefixes]


def moves(prefix: str) -> sa.Select:
    """Select null, key and value of where servers are to be moved.

    :param prefix: of the keys: of one Pcloud, or of all
    """
    row = models.AggregateMetadata
    return sa.select(sa.null(), row.key, row.value).where(
        has_prefix(row, prefix))


def rebalanced() -> sa.Select:
    """Select the ids of the Pclouds of which servers are to be moved."""
    row = models.AggregateMetadata
    return sa.select(sa.func.substr(
        row.key, len(names.REBALANCE_PREFIX) + 1, _ID_LENGTH)).where(
            has_prefix(row, names.REBALANCE_PREFIX))


def added(
    context: nova_context.RequestContext,
    pclouds: Sequence[rows.Aggregate],
) -> list[rows.Aggregate]:
    """Return aggregates with what the journal keeps of the hosts and moves.

    One query; none for no aggregates. A key of the journal means nothing on
    another aggregate.
    """
    if not pclouds:
        return []
    kept: dict[int | None, dict[str, str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for id_, key, value in session.execute(sa.union_all(
                *of_members([pcloud.id for pcloud in pclouds],
                            names.KEPT_OF_HOSTS),
                moves(names.REBALANCE_PREFIX))):
            kept.setdefault(id_, {})[key] = value
    return [rows.with_metadata(pcloud, kept.get(pcloud.id, {}) | {
        key: value for key, value in kept.get(None, {}).items()
        if key.startswith(names.rebalance_prefix(
            pcloud.metadata.get(names.ID, '')))})
            for pcloud in map(_without_kept, pclouds)]


def _without_kept(pcloud: rows.Aggregate) -> rows.Aggregate:
    return dataclasses.replace(pcloud, metadata={
        key: value for key, value in pcloud.metadata.items()
        if not names.is_of_journal(key)})


def value(
    context: nova_context.RequestContext, key: str,
) -> str | None:
    """Return the value of a key of the journal, or None (one query)."""
    return rows.value(context, names.JOURNAL, key)


def of_prefix(
    context: nova_context.RequestContext, prefix: str,
) -> dict[str, str]:
    """Return the rows of the journal with a prefix (one query).

    :returns: ``key -> value``
    """
    row = models.AggregateMetadata
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(sa.select(row.key, row.value).where(
            has_prefix(row, prefix))).tuples().all()
    # Databases that compare without case find other keys too.
    return {key: value for key, value in found if key.startswith(prefix)}


def every(context: nova_context.RequestContext) -> dict[str, str]:
    """Return all that the journal keeps of hosts in Pclouds (one query).

    :returns: ``key -> value``, also of hosts that are in no Pcloud any more
    """
    row = models.AggregateMetadata
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(sa.select(row.key, row.value).where(
            sa.or_(*(has_prefix(row, prefix) for prefix in (
                *names.KEPT_OF_HOSTS, names.MAINTENANCE_PREFIX,
                names.REBALANCE_PREFIX, names.SPAN_PREFIX))))).all())
