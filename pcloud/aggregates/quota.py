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

"""How many units the hosts in a project's Pclouds may cost together.

Source: CONTRACT section 3, "Quota and usage".
"""

from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from oslo_config import cfg

from pcloud.aggregates import computes
from pcloud.aggregates import names
from pcloud.aggregates import pclouds
from pcloud.aggregates import snapshot
from pcloud.aggregates import store

CONF = cfg.CONF

UNLIMITED = -1


@dataclasses.dataclass(frozen=True)
class Quota:
    """Units: how many a project may use, and how many it uses.

    :ivar limit: -1 is unlimited
    """

    limit: int
    in_use: int


@dataclasses.dataclass(frozen=True)
class Contest:
    """Requests for the last units of a project, at one moment.

    Each sees the hosts of the others, and together they may be too many.

    :ivar limit: -1 is unlimited
    :ivar kept: the units of each host that has come for good
    :ivar moving: the units of each host that is on its way in or out
    """

    limit: int
    kept: Mapping[str, int]
    moving: Mapping[str, int]

    def refuses(self, requested: int) -> bool:
        """Whether so many units are too many whatever becomes of others."""
        return not self._fits(sum(self.kept.values()) + requested)

    def is_over(self) -> bool:
        """Whether all together are too many."""
        return not self._fits(
            sum(self.kept.values()) + sum(self.moving.values()))

    def prefers(self, host: str) -> bool:
        """Whether a host may come when those that sort behind it let go."""
        before = sum(units for other, units in self.moving.items()
                     if other <= host)
        return self._fits(sum(self.kept.values()) + before)

    def _fits(self, units: int) -> bool:
        return self.limit == UNLIMITED or units <= self.limit


def show(
    context: nova_context.RequestContext, project_id: str,
) -> Quota:
    """Return the quota of a project that owns Pclouds, or could.

    Hosts that are on their way in or out count too.
    """
    hosts = _owned(context, project_id)
    return Quota(_limit(context, project_id),
                 sum(pclouds.units_of(context, hosts).values()))


def contest(
    context: nova_context.RequestContext, project_id: str,
) -> Contest:
    """Return who has the units of a project, and who would like to."""
    states = _owned(context, project_id)
    nodes = computes.nodes(context, states)
    units = pclouds.units_of(context, states)
    kept, moving = {}, {}
    for host, known in states.items():
        settled = (host in nodes and
                   nodes[host].hypervisor_hostname in known)
        (kept if settled else moving)[host] = units.get(host, 0)
    return Contest(_limit(context, project_id), kept, moving)


def _owned(
    context: nova_context.RequestContext, project_id: str,
) -> dict[str, dict[str, str]]:
    """Return the hosts of a project, with the states of their Pcloud."""
    return {host: names.states(aggregate.metadata)
            for aggregate in snapshot.pclouds_of_owner(context, project_id)
            for host in aggregate.hosts}


def _limit(context: nova_context.RequestContext, project_id: str) -> int:
    settings = snapshot.named(context, names.project_policy(project_id))
    own = settings and settings.metadata.get(names.QUOTA_UNITS)
    return int(own or CONF.pcloud.quota_units)


def set_limit(
    context: nova_context.RequestContext, project_id: str, limit: int,
) -> None:
    """Give a project a limit of its own.

    :param limit: units; -1 is unlimited
    :raises: `exception.NameTooLong` when the project's id cannot be kept
    """
    name = names.project_policy(project_id)
    metadata = {names.TYPE: names.TYPE_POLICY, names.SCOPE: 'project',
                names.SCOPE_ID: project_id, names.QUOTA_UNITS: str(limit)}
    if not store.create(context, name, metadata):
        settings = snapshot.named(context, name)
        store.set_metadata(context, settings.id,
                           {names.QUOTA_UNITS: str(limit)})


def reset_limit(
    context: nova_context.RequestContext, project_id: str,
) -> None:
    """Take a project's limit back to the default; harmless when repeated."""
    settings = snapshot.named(context, names.project_policy(project_id))
    if settings and names.QUOTA_UNITS in settings.metadata:
        store.set_metadata(context, settings.id, {names.QUOTA_UNITS: None})
