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

from pcloud.backend import rows


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
        for name, key, value in connection.execute(
                _statement(len(policies), context.is_admin),
                {**rows.name_parameters(policies), 'flavor': flavor_id,
                 'spec': extra_spec, 'project': context.project_id}):
            if name is not None:
                metadata.setdefault(name, {})[key] = value
            elif key == extra_spec:
                found = value
    return LaunchRows(metadata, found)


# To make the statement takes longer than to execute the statement.
@functools.lru_cache
def _statement(count: int, is_admin: bool) -> sa.CompoundSelect:
    """Select the rows of a launch.

    :param count: the number of policies
    :param is_admin: whether the caller is an administrator, to whom all
        flavors are visible
    """
    of_flavor = _of_flavor() if is_admin else _if_visible(_of_flavor())
    return sa.union_all(rows.select_metadata_by_name(count), of_flavor)


def _of_flavor() -> sa.Select:
    flavor, row = (model.__table__ for model in (
        models.Flavors, models.FlavorExtraSpecs))
    return sa.select(sa.null(), row.c.key, row.c.value).select_from(
        flavor.join(row, row.c.flavor_id == flavor.c.id),
    ).where(flavor.c.flavorid == sa.bindparam('flavor'),
            row.c.key == sa.bindparam('spec'))


def _if_visible(of_flavor: sa.Select) -> sa.Select:
    """Return a statement that finds what Nova would find for the project.

    MariaDB takes longer for a condition with a further statement.
    """
    flavor, granted = (model.__table__ for model in (
        models.Flavors, models.FlavorProjects))
    return of_flavor.outerjoin_from(flavor, granted, sa.and_(
        granted.c.flavor_id == flavor.c.id,
        granted.c.project_id == sa.bindparam('project')),
    ).where(sa.or_(flavor.c.is_public == sa.true(),
                   granted.c.id.is_not(None)))
