# SPDX-License-Identifier: Apache-2.0

"""Read the rows of aggregates from Nova's API database.

Whole ``Aggregate`` objects are expensive to load. So the functions here read
only the rows for a decision, hosts and metadata apart, with a number of
queries independent of the number of rows.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import functools
from typing import TypeVar

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud import names

_Key = TypeVar('_Key')


@dataclasses.dataclass(frozen=True)
class Head:
    """The row of an aggregate, without hosts and metadata.

    :ivar id: Nova's database id
    """

    id: int
    uuid: str
    name: str


@dataclasses.dataclass(frozen=True)
class Aggregate(Head):
    """An aggregate with the hosts and metadata that were read."""

    hosts: frozenset[str]
    metadata: Mapping[str, str]


def read(
    context: nova_context.RequestContext,
    *criteria: sa.ColumnElement[bool],
) -> list[Aggregate]:
    """Return the aggregates that meet all criteria, in order of the names.

    Two queries in one transaction, so that the answers agree.
    """
    head = models.Aggregate
    # Criteria may be about metadata, too.
    metadata = orm.aliased(models.AggregateMetadata)
    statement = sa.select(
        head.id, head.uuid, head.name, metadata.key, metadata.value,
    ).outerjoin(metadata, metadata.aggregate_id == head.id).where(
        *criteria).order_by(head.name)
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(statement).all()
        # The criteria may be expensive, so the database applies them once.
        heads = list(dict.fromkeys(tuple(row[:3]) for row in found))
        members = session.execute(
            _members_of([id_ for id_, _, _ in heads])).all()
    return assemble(heads, members, [
        (row[0], *row[3:]) for row in found if row[3] is not None])


def _members_of(ids: Collection[int]) -> sa.Select:
    """Select the hosts of aggregates, by the aggregates' database ids."""
    row = models.AggregateHost
    return sa.select(row.aggregate_id, row.host).where(
        row.aggregate_id.in_(ids))


def metadata_rows(ids: Collection[int]) -> sa.Select:
    """Select the metadata of aggregates, by the aggregates' database ids."""
    row = models.AggregateMetadata
    return sa.select(row.aggregate_id, row.key, row.value).where(
        row.aggregate_id.in_(ids))


def assemble(
    heads: Iterable, members: Iterable, metadata: Iterable,
) -> list[Aggregate]:
    """Return aggregates made of rows, in the order of the heads.

    :param heads: id, uuid and name of each aggregate
    :param members: the id of an aggregate, and a host
    :param metadata: the id of an aggregate, a key and the value
    """
    hosts_of: dict[int, set[str]] = {}
    for aggregate_id, host in members:
        hosts_of.setdefault(aggregate_id, set()).add(host)
    metadata_of: dict[int, dict[str, str]] = {}
    for aggregate_id, key, value in metadata:
        metadata_of.setdefault(aggregate_id, {})[key] = value
    return [
        Aggregate(id_, uuid, name, frozenset(hosts_of.get(id_, ())),
                  metadata_of.get(id_, {}))
        for id_, uuid, name in heads]


def with_metadata(
    aggregate: Aggregate, more: Mapping[str, str],
) -> Aggregate:
    """Return an aggregate with more metadata."""
    return dataclasses.replace(
        aggregate, metadata={**aggregate.metadata, **more})


def by_key(
    pairs: Iterable[tuple[_Key, str]],
) -> dict[_Key, frozenset[str]]:
    """Return the set of the values of each key."""
    found: dict[_Key, set[str]] = {}
    for key, its_value in pairs:
        found.setdefault(key, set()).add(its_value)
    return {key: frozenset(values) for key, values in found.items()}


def of_id(
    context: nova_context.RequestContext, aggregate_id: int,
) -> Aggregate | None:
    """Return any aggregate by Nova's database id, or None (two queries)."""
    return next(iter(read(context, models.Aggregate.id == aggregate_id)),
                None)


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[Aggregate]:
    """Return the aggregates of any of `hosts`, each with only `hosts`.

    Two queries, by name. Pools and zones are large, so the names of the other
    hosts are not even read.
    """
    if not hosts:
        return []
    member = models.AggregateHost
    members = sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        member.host,
    ).join(models.Aggregate, models.Aggregate.id == member.aggregate_id).where(
        member.host.in_(hosts))
    with api_db.context_manager.reader.using(context) as session:
        member_rows = session.execute(members).all()
        heads = sorted(
            {row[:3] for row in member_rows}, key=lambda row: row[2])
        metadata = session.execute(metadata_rows(
            [row[0] for row in heads])).all()
    return assemble(heads, [(row[0], row[3]) for row in member_rows], metadata)


def with_values(
    context: nova_context.RequestContext,
) -> list[Aggregate]:
    """Return all aggregates with a name or a metadata key of Pcloud.

    Two queries.
    """
    row, aggregate = models.AggregateMetadata, models.Aggregate
    return read(context, sa.or_(
        aggregate.name.startswith(names.PREFIX, autoescape=True),
        aggregate.id.in_(sa.select(row.aggregate_id).where(
            row.key.startswith(names.TENANT_PREFIX, autoescape=True)))))


def whole(
    context: nova_context.RequestContext,
    is_whole: Callable[[str, Mapping[str, str]], bool],
    *criteria: sa.ColumnElement[bool],
) -> list[Aggregate]:
    """Return the aggregates that meet all criteria and are whole, by name.

    Two queries.

    :param is_whole: gets the name and the metadata of an aggregate
    """
    return [aggregate for aggregate in read(context, *criteria)
            if is_whole(aggregate.name, aggregate.metadata)]


def frames(
    context: nova_context.RequestContext, uuids: Collection[str],
) -> dict[str, dict[str, str]]:
    """Return the metadata of aggregates without the keys of hosts (one query).

    :returns: ``aggregate uuid -> metadata``
    """
    aggregate, row = models.Aggregate, models.AggregateMetadata
    found: dict[str, dict[str, str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for uuid, key, value in session.execute(sa.select(
            aggregate.uuid, row.key, row.value,
        ).join(row, row.aggregate_id == aggregate.id).where(
            aggregate.uuid.in_(list(uuids)),
            *(sa.not_(row.key.startswith(prefix, autoescape=True))
              for prefix in names.OF_HOSTS))):
            found.setdefault(uuid, {})[key] = value
    return found


def metadata_by_name(
    context: nova_context.RequestContext, names_: Collection[str],
) -> dict[str, dict[str, str]]:
    """Return the metadata of aggregates (one query).

    Databases that compare without case find other aggregates too.

    :returns: ``aggregate name -> metadata``
    """
    with api_db.context_manager.reader.connection.using(
            context) as connection:
        return _by_name(connection, names_)


def committed_metadata(
    names_: Collection[str],
) -> dict[str, dict[str, str]]:
    """Return `metadata_by_name` as `connected` sees it (one query)."""
    with connected() as connection:
        return _by_name(connection, names_)


def connected() -> sa.Connection:
    """Return a connection to Nova's API database, to read and to close.

    The connection sees what is committed, and takes no part in a transaction
    of a context. To begin such a transaction takes longer than a small query:
    this connection is for what is read for every new server of a cloud.
    """
    return api_db.get_engine().connect()


def _by_name(
    connection: sa.Connection, names_: Collection[str],
) -> dict[str, dict[str, str]]:
    metadata: dict[str, dict[str, str]] = {}
    for name, key, value in connection.execute(
            select_metadata_by_name(len(names_)), name_parameters(names_)):
        metadata.setdefault(name, {})[key] = value
    return metadata


# To make the statement takes longer than to execute the statement, and a list
# of any length has to be written into the statement each time.
@functools.lru_cache
def select_metadata_by_name(count: int) -> sa.Select:
    """Select names, keys and values of the metadata of a few aggregates.

    The bound parameters are `name_parameters`.

    :param count: how many names
    """
    aggregate, row = (model.__table__.c for model in (
        models.Aggregate, models.AggregateMetadata))
    return sa.select(aggregate.name, row.key, row.value).where(
        row.aggregate_id == aggregate.id, aggregate.name.in_([
            sa.bindparam(f'name{number}', type_=aggregate.name.type)
            for number in range(count)]))


def name_parameters(names_: Collection[str]) -> dict[str, str]:
    """Return the parameters of `select_metadata_by_name`."""
    return {f'name{number}': name for number, name in enumerate(names_)}


def value(
    context: nova_context.RequestContext, name: str, key: str,
) -> str | None:
    """Return a metadata value of an aggregate (one query).

    :param name: the name of the aggregate
    """
    row = models.AggregateMetadata
    with api_db.context_manager.reader.using(context) as session:
        return session.scalar(sa.select(row.value).join(
            models.Aggregate, models.Aggregate.id == row.aggregate_id,
        ).where(models.Aggregate.name == name, row.key == key))


def names_with(
    context: nova_context.RequestContext, key: str, value: str,
) -> list[str]:
    """Return the names of aggregates with a metadata entry (one query)."""
    with api_db.context_manager.reader.using(context) as session:
        return list(session.scalars(
            sa.select(models.Aggregate.name).where(has_entry(key, value))
            .order_by(models.Aggregate.name)))


def has_entry(key: str, value: str) -> sa.ColumnElement[bool]:
    """Return the condition that an aggregate has a metadata entry."""
    return models.Aggregate.id.in_(
        sa.select(models.AggregateMetadata.aggregate_id)
        .where(models.AggregateMetadata.key == key,
               models.AggregateMetadata.value == value))
