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
    :ivar extra_specs: the extra specs of the flavor that were asked for
    """

    metadata: Mapping[str, Mapping[str, str]]
    extra_specs: Mapping[str, str]


def read(
    context: nova_context.RequestContext, policies: Collection[str],
    flavor_id: str, extra_specs: Collection[str],
) -> LaunchRows:
    """Return the metadata of policies, and some extra specs of a flavor.

    A flavor that is unknown, or not visible to the caller, has no extra specs.
    Databases that compare without case find other aggregates too.

    :param policies: names of aggregates
    :param flavor_id: the id of the flavor in Nova's API
    :param extra_specs: the keys of the extra specs
    """
    metadata: dict[str, dict[str, str]] = {}
    found: dict[str, str] = {}
    with rows.connected() as connection:
        for name, key, value in connection.execute(
                _statement(context.is_admin),
                {'names': list(policies), 'flavor': flavor_id,
                 'specs': list(extra_specs),
                 'project': context.project_id}):
            if name is None:
                found[key] = value
            else:
                metadata.setdefault(name, {})[key] = value
    return LaunchRows(metadata, found)


# To make the statement takes longer than to execute the statement.
@functools.cache
def _statement(is_admin: bool) -> sa.CompoundSelect:
    return sa.union_all(
        rows.select_metadata_by_name(),
        _of_flavor(sa.true() if is_admin else _is_visible()))


def _of_flavor(visible: sa.ColumnElement[bool]) -> sa.Select:
    flavor, row = (model.__table__.c for model in (
        models.Flavors, models.FlavorExtraSpecs))
    return sa.select(sa.null(), row.key, row.value).where(
        row.flavor_id == flavor.id, flavor.flavorid == sa.bindparam('flavor'),
        row.key.in_(sa.bindparam('specs', expanding=True)), visible)


def _is_visible() -> sa.ColumnElement[bool]:
    """Return the condition that Nova would find a flavor for the caller."""
    flavor, row = (model.__table__.c for model in (
        models.Flavors, models.FlavorProjects))
    return sa.or_(flavor.is_public == sa.true(), sa.exists().where(
        row.flavor_id == flavor.id, row.project_id == sa.bindparam('project')))
