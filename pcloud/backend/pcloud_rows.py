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

"""Read the aggregates of Pclouds, and the units of the Pclouds' hosts."""

from collections.abc import Collection
from collections.abc import Mapping

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend import readings
from pcloud.backend import rows
from pcloud import names
from pcloud.rules import hints
from pcloud.rules import units as unit_rules


def is_whole(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether name and metadata agree that an aggregate is a Pcloud."""
    return (metadata.get(names.TYPE) == names.TYPE_PCLOUD and
            bool(metadata.get(names.ID)) and
            name == names.pcloud(metadata[names.ID]))


def find(
    context: nova_context.RequestContext, pcloud_id: str,
) -> rows.Aggregate | None:
    """Return the aggregate of one whole Pcloud, or None (three queries).

    :param pcloud_id: any text; a text without the form of an id is no Pcloud,
        and not every database can be asked about every character
    """
    if not hints.is_pcloud_id(pcloud_id):
        return None
    aggregates = rows.whole(context, is_whole,
                            models.Aggregate.name == names.pcloud(pcloud_id))
    # Databases that compare without case find more than was asked for.
    return next((aggregate for aggregate in aggregates
                 if aggregate.metadata[names.ID] == pcloud_id), None)


def with_host(
    context: nova_context.RequestContext, host: str,
) -> list[rows.Aggregate]:
    """Return the whole Pclouds of a host, each with the given host alone.

    Two queries. Metadata about other hosts are left out, except for saved
    ratios.
    """
    row, member = models.AggregateMetadata, models.AggregateHost
    heads = sa.select(
        models.Aggregate.id, models.Aggregate.uuid, models.Aggregate.name,
        member.host,
    ).join(member, member.aggregate_id == models.Aggregate.id).where(
        member.host == host,
        models.Aggregate.name.startswith(names.PREFIX, autoescape=True),
        sa.not_(models.Aggregate.name.startswith(
            names.POOL_PREFIX, autoescape=True)))
    keys = [names.TYPE, names.ID, names.OWNER, names.CPU_RATIO,
            names.RAM_RATIO, names.NODE_PREFIX + host]
    with api_db.context_manager.reader.using(context) as session:
        head_rows = [head_row for head_row in session.execute(heads).all()
                     if head_row.host == host]
        metadata = session.execute(rows.metadata_rows(
            [head_row.id for head_row in head_rows]).where(sa.or_(
                row.key.in_(keys),
                row.key.startswith(
                    names.SAVED_PREFIX, autoescape=True)))).all()
    return [aggregate for aggregate in rows.assemble(
        [head_row[:3] for head_row in head_rows],
        [(head_row.id, head_row.host) for head_row in head_rows], metadata)
        if is_whole(aggregate.name, aggregate.metadata)]


def names_by_id(
    context: nova_context.RequestContext, project_id: str | None,
) -> dict[str, str]:
    """Return the names of whole Pclouds, in order of the Pcloud ids.

    One query, which reads few metadata of each Pcloud.

    :param project_id: the owner or a tenant of the Pclouds; None for all
        Pclouds
    :returns: ``Pcloud id -> name``
    """
    row = models.AggregateMetadata
    keys = [names.TYPE, names.ID, names.NAME, names.OWNER]
    statement = sa.select(models.Aggregate.name, row.key, row.value).join(
        row, row.aggregate_id == models.Aggregate.id,
    ).where(models.Aggregate.name.startswith(names.PREFIX, autoescape=True))
    if project_id is not None:
        keys.append(names.TENANT_PREFIX + project_id)
        statement = statement.where(_is_of_project(project_id))
    statement = statement.where(row.key.in_(keys))
    pclouds: dict[str, dict[str, str]] = {}
    with api_db.context_manager.reader.using(context) as session:
        for name, key, value in session.execute(statement):
            pclouds.setdefault(name, {})[key] = value
    return {metadata[names.ID]: metadata.get(names.NAME, '')
            for name, metadata in sorted(pclouds.items())
            if is_whole(name, metadata) and
            (project_id is None or _has_project(metadata, project_id))}


def by_ids(
    context: nova_context.RequestContext, ids: Collection[str],
    project_id: str | None,
) -> list[rows.Aggregate]:
    """Return the whole Pclouds with the given ids, in order of the ids.

    Three queries.

    :param project_id: as `names_by_id`
    """
    wanted = models.Aggregate.name.in_([names.pcloud(id_) for id_ in ids])
    return [aggregate for aggregate in
            rows.whole(context, is_whole, wanted)
            if aggregate.metadata[names.ID] in ids and
            (project_id is None or
             _has_project(aggregate.metadata, project_id))]


def _is_of_project(project_id: str) -> sa.ColumnElement[bool]:
    return sa.or_(
        rows.has_entry(names.OWNER, project_id),
        rows.has_entry(names.TENANT_PREFIX + project_id, names.TENANT_VALUE))


def _has_project(metadata: Mapping[str, str], project_id: str) -> bool:
    return (metadata.get(names.OWNER) == project_id or
            project_id in names.tenants(metadata))


def units_of_owner(
    context: nova_context.RequestContext, project_id: str,
) -> int:
    """Return the sum of the units of all hosts in a project's Pclouds.

    One query, which reads a row a pool. A host whose pool has no readable
    units counts with the greatest number of units.
    """
    row, member = models.AggregateMetadata, models.AggregateHost
    owner, kind, units = (orm.aliased(row) for _ in range(3))
    pooled = orm.aliased(member)
    statement = sa.select(
        owner.value, units.value, sa.func.count(member.id.distinct()),
    ).select_from(owner).join(
        kind, sa.and_(kind.aggregate_id == owner.aggregate_id,
                      kind.key == names.TYPE,
                      kind.value == names.TYPE_PCLOUD),
    ).join(
        member, member.aggregate_id == owner.aggregate_id,
    ).join(
        pooled, pooled.host == member.host,
    ).join(
        models.Aggregate, sa.and_(
            models.Aggregate.id == pooled.aggregate_id,
            models.Aggregate.name.startswith(
                names.POOL_PREFIX, autoescape=True)),
    ).outerjoin(
        units, sa.and_(units.aggregate_id == models.Aggregate.id,
                       units.key == names.UNITS),
    ).where(owner.key == names.OWNER, owner.value == project_id).group_by(
        models.Aggregate.id, owner.value, units.value)
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other owners too.
        return sum(_cost(text) * count for its_owner, text, count
                   in session.execute(statement) if its_owner == project_id)


def _cost(text: str | None) -> int:
    known = None if text is None else readings.units({names.UNITS: text})
    return unit_rules.MOST if known is None else known
