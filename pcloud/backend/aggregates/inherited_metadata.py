# SPDX-License-Identifier: Apache-2.0

"""Read what hosts inherit: zones, attributes and placement keys."""

from collections.abc import Collection
from collections.abc import Mapping
import re

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_config import cfg
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.aggregates import rows
from pcloud import exception
from pcloud import names

CONF = cfg.CONF

_ZONE = models.AggregateMetadata
_IS_ZONE = _ZONE.key == 'availability_zone'

# The parameter of a statement that is made once.
_HOST = 'host'
# What the second and further aggregates of an attribute's value are told by.
_NUMBER = re.compile(r' \([1-9][0-9]*\)')


def attributes(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[rows.Aggregate]:
    """Return the aggregates with attributes of any of `hosts`.

    Two queries. An aggregate has only the given hosts, the type and the
    metadata about attributes; name and uuid are empty.
    """
    return _saying(context, hosts, _says_attribute())


def _attributes_of() -> sa.Select:
    """Select memberships and metadata of `attributes_of`.

    The parameter is the service host `_HOST`.
    """
    said, type_ = (orm.aliased(models.AggregateMetadata) for _ in range(2))
    member = models.AggregateHost
    return sa.select(
        member.aggregate_id, member.host, said.key, said.value, type_.value,
    ).select_from(member).join(said, sa.and_(
        said.aggregate_id == member.aggregate_id,
        said.key.startswith(names.ATTRIBUTE_KEY_PREFIX, autoescape=True)),
    ).outerjoin(type_, sa.and_(
        type_.aggregate_id == member.aggregate_id, type_.key == names.TYPE),
    ).where(member.host == sa.bindparam(_HOST))


def attributes_of(
    context: nova_context.RequestContext, host: str,
) -> list[rows.Aggregate]:
    """Return the aggregates with attributes of one host (one query).

    The aggregates are as from `attributes`.
    """
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other hosts too.
        found = [each for each in session.execute(
            _attributes_of(), {_HOST: host}) if each.host == host]
    metadata = [(each.aggregate_id, key, value) for each in found
                for key, value in (each[2:4], (names.TYPE, each[4]))
                if value is not None]
    heads = [(id_, '', '') for id_ in sorted({each[0] for each in found})]
    return rows.assemble(heads, [each[:2] for each in found], metadata)


def node_keys(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[rows.Aggregate]:
    """Return the aggregates with placement keys of any of `hosts`.

    Two queries. An aggregate has only the given hosts, the type and the
    metadata about placement keys; name and uuid are empty.
    """
    key = models.AggregateMetadata.key
    return _saying(context, hosts, sa.or_(*(
        key.startswith(prefix, autoescape=True)
        for prefix in (names.NODE_KEY_PREFIX, names.STICKY_PREFIX))))


def saying_node_keys(
    context: nova_context.RequestContext,
) -> list[rows.Aggregate]:
    """Return all aggregates with a placement key of hosts (two queries)."""
    row = models.AggregateMetadata
    return rows.read(context, models.Aggregate.id.in_(
        sa.select(row.aggregate_id).where(row.key.startswith(
            names.NODE_KEY_PREFIX, autoescape=True))))


def _saying(
    context: nova_context.RequestContext, hosts: Collection[str],
    criterion: sa.ColumnElement[bool],
) -> list[rows.Aggregate]:
    if not hosts:
        return []
    key, member = models.AggregateMetadata, models.AggregateHost
    with api_db.context_manager.reader.using(context) as session:
        members = session.execute(
            sa.select(member.aggregate_id, member.host).where(
                member.host.in_(hosts), member.aggregate_id.in_(
                    sa.select(key.aggregate_id).where(criterion)))).all()
        ids = sorted({id_ for id_, _ in members})
        metadata = session.execute(
            sa.select(key.aggregate_id, key.key, key.value).where(
                sa.or_(criterion, key.key == names.TYPE),
                key.aggregate_id.in_(ids))).all()
    return rows.assemble([(id_, '', '') for id_ in ids], members, metadata)


def _says_attribute() -> sa.ColumnElement[bool]:
    return models.AggregateMetadata.key.startswith(
        names.ATTRIBUTE_KEY_PREFIX, autoescape=True)


def known_attributes(
    context: nova_context.RequestContext, asked: Collection[str],
) -> frozenset[str]:
    """Return the names of attributes that are in any aggregate's metadata.

    One query, none for no names.

    :param asked: the names to look for
    """
    if not asked:
        return frozenset()
    key = models.AggregateMetadata.key
    wanted = [names.ATTRIBUTE_KEY_PREFIX + name for name in asked]
    with api_db.context_manager.reader.using(context) as session:
        found = session.execute(
            sa.select(key).where(key.in_(wanted)).distinct()).scalars()
        # Databases that compare without case find others too.
        return frozenset(
            name.removeprefix(names.ATTRIBUTE_KEY_PREFIX)
            for name in found) & frozenset(asked)


def attribute_aggregates(
    context: nova_context.RequestContext, name: str | None = None,
) -> list[rows.Aggregate]:
    """Return the whole aggregates of attribute values, by name.

    Two queries.

    :param name: the name of an attribute; None for all attributes
    """
    if name is None:
        named = models.Aggregate.name.startswith(
            names.ATTRIBUTE_PREFIX, autoescape=True)
    else:
        named = models.Aggregate.name.startswith(
            names.attribute(name, ''), autoescape=True)
    # Databases that compare without case find others too.
    return [aggregate for aggregate in
            rows.whole(context, is_whole_attribute, named)
            if name in (None, *names.attributes(aggregate.metadata))]


def is_whole_attribute(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether name and metadata of an aggregate agree on an attribute."""
    pairs = names.attributes(metadata)
    if not names.is_attribute(metadata) or len(pairs) != 1:
        return False
    first = _first_name(pairs)
    return name.startswith(first) and (
        name == first or bool(_NUMBER.fullmatch(name, len(first))))


def part_name(name: str, value: str, number: int) -> str:
    """Return the name of one of the aggregates of an attribute's value.

    :param number: 1 for the aggregate that most values have alone
    :raises: `exception.InvalidValue`, `exception.NameTooLong`
    """
    return names.attribute(
        name, value if number == 1 else f'{value} ({number})')


def first_name(aggregate: rows.Aggregate) -> str:
    """Return the name that a value's first aggregate has.

    The name of an aggregate whose name and metadata do not agree stands for
    itself.
    """
    if not is_whole_attribute(aggregate.name, aggregate.metadata):
        return aggregate.name
    return _first_name(names.attributes(aggregate.metadata))


def _first_name(pairs: Mapping[str, str]) -> str:
    return names.ATTRIBUTE_PREFIX + '='.join(*pairs.items())


def saying_attributes(
    context: nova_context.RequestContext,
) -> list[rows.Aggregate]:
    """Return all aggregates with an attribute in name or metadata.

    Two queries.
    """
    return rows.read(context, sa.or_(
        models.Aggregate.name.startswith(
            names.ATTRIBUTE_PREFIX, autoescape=True),
        models.Aggregate.id.in_(
            sa.select(models.AggregateMetadata.aggregate_id)
            .where(_says_attribute()))))


def zones_of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, str]:
    """Return the availability zones of hosts.

    One query. A host without an entry is in Nova's default zone.

    :returns: ``service host -> availability zone``
    """
    if not hosts:
        return {}
    member = models.AggregateHost
    # MariaDB would go through all hosts of the zones.
    aggregate_id = member.aggregate_id + 0
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(
            sa.select(member.host, _ZONE.value).join(
                _ZONE, _ZONE.aggregate_id == aggregate_id,
            ).where(_IS_ZONE, member.host.in_(hosts)
                    ).order_by(_ZONE.aggregate_id)).all())


def zones_of_aggregates(session: orm.Session) -> dict[int, str]:
    """Return the availability zones of aggregates (one query).

    Of the aggregates of a host the one with the largest id counts, as in
    `zones_of_hosts`. A host in none of the aggregates is in Nova's default
    zone.

    :returns: ``aggregate id -> availability zone``
    """
    return dict(session.execute(sa.select(
        _ZONE.aggregate_id, _ZONE.value).where(_IS_ZONE)).all())


def check_zone(context: nova_context.RequestContext, zone: str) -> None:
    """Refuse an availability zone of no aggregate that is not Nova's default.

    One query.

    :raises: `exception.NotFound`, with the zones that there are
    """
    with api_db.context_manager.reader.using(context) as session:
        found = session.scalars(
            sa.select(_ZONE.value).where(_IS_ZONE).distinct()).all()
    zones = {*found, CONF.default_availability_zone}
    if zone not in zones:
        raise exception.NotFound(
            f"There is no availability zone '{zone}'; it has to be one of "
            f"{', '.join(sorted(zones))}.")
