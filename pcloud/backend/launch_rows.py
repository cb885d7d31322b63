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

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa


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
    statement = sa.union_all(
        _of_policies(policies), _of_flavor(context, flavor_id, extra_specs))
    with api_db.context_manager.reader.using(context) as session:
        for name, key, value in session.execute(statement):
            if name is None:
                found[key] = value
            else:
                metadata.setdefault(name, {})[key] = value
    return LaunchRows(metadata, found)


def _of_policies(policies: Collection[str]) -> sa.Select:
    row = models.AggregateMetadata
    return sa.select(models.Aggregate.name, row.key, row.value).join(
        row, row.aggregate_id == models.Aggregate.id,
    ).where(models.Aggregate.name.in_(list(policies)))


def _of_flavor(
    context: nova_context.RequestContext, flavor_id: str,
    extra_specs: Collection[str],
) -> sa.Select:
    """Select extra specs of a flavor, which Nova would find for the caller."""
    row, flavor = models.FlavorExtraSpecs, models.Flavors
    statement = sa.select(sa.null(), row.key, row.value).join(
        flavor, flavor.id == row.flavor_id,
    ).where(flavor.flavorid == flavor_id, row.key.in_(list(extra_specs)))
    if context.is_admin:
        return statement
    return statement.where(sa.or_(
        flavor.is_public == sa.true(),
        flavor.projects.any(project_id=context.project_id)))
