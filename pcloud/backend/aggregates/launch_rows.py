# SPDX-License-Identifier: Apache-2.0

"""Read the rows that every launch of a server depends on, in one query.

Every launch of a cloud pays for this query, also where nobody uses Pclouds.

Rule: reference-isolation-launch
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import functools

from nova import context as nova_context
from nova.db.api import models
import sqlalchemy as sa

from pcloud.backend.aggregates import rows


@dataclasses.dataclass(frozen=True)
class LaunchRows:
    """What a launch depends on.

    :ivar metadata: ``aggregate name -> metadata`` of the policies
    :ivar extra_spec: the extra spec of the flavor that was asked for, or None
    """

    metadata: Mapping[str, Mapping[str, str]]
    extra_spec: str | None


def read(
    context: nova_context.RequestContext, policies: Collection[str],
    flavor_id: str, extra_spec: str,
) -> LaunchRows:
    """Return the metadata of policies, and an extra spec of a flavor.

    A flavor that is unknown, or not visible to the caller, has no extra specs.
    Databases that compare without case find other aggregates too, and other
    extra specs, which do not count.

    :param policies: names of a few aggregates
    :param flavor_id: the id of the flavor in Nova's API
    :param extra_spec: the key of the extra spec
    """
    metadata: dict[str, dict[str, str]] = {}
    found = None
    with rows.connected() as connection:
        for name, key, value in _executed(
                connection, len(policies),
                {**rows.name_parameters(policies), 'flavor': flavor_id,
                 'spec': extra_spec}):
            if name is not None:
                metadata.setdefault(name, {})[key] = value
            elif key == extra_spec:
                found = value
        if found is not None and not _is_visible(
                connection, context, flavor_id):
            found = None
    return LaunchRows(metadata, found)


def _executed(
    connection: sa.Connection, count: int, parameters: Mapping[str, str],
) -> sa.CursorResult:
    """Return the rows of a launch, of `count` policies and a flavor."""
    statement = _statement(connection.dialect, count)
    values = statement.construct_params(parameters)
    return connection.exec_driver_sql(str(statement), tuple(
        map(values.__getitem__, statement.positiontup))
        if statement.positional else values)


# To make the statement takes longer than to execute the statement, and so does
# what SQLAlchemy prepares for each execution of a statement of its own.
@functools.lru_cache
def _statement(dialect: sa.Dialect, count: int) -> sa.Compiled:
    """Compile the statement that selects the rows of a launch.

    :param count: the number of policies
    """
    flavor, row = (model.__table__ for model in (
        models.Flavors, models.FlavorExtraSpecs))
    return sa.union_all(rows.select_metadata_by_name(count), sa.select(
        sa.null(), row.c.key, row.c.value,
    ).where(row.c.flavor_id == flavor.c.id,
            flavor.c.flavorid == sa.bindparam('flavor'),
            row.c.key == sa.bindparam('spec'))).compile(dialect=dialect)


def _is_visible(
    connection: sa.Connection, context: nova_context.RequestContext,
    flavor_id: str,
) -> bool:
    """Whether Nova would find a flavor for the caller (at most one query)."""
    if context.is_admin:
        return True
    flavor, granted = (model.__table__.c for model in (
        models.Flavors, models.FlavorProjects))
    return connection.scalar(sa.select(sa.true()).where(
        flavor.flavorid == flavor_id, sa.or_(
            flavor.is_public == sa.true(),
            flavor.id.in_(sa.select(granted.flavor_id).where(
                granted.project_id == context.project_id))))) is not None
