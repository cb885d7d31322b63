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

import dataclasses

from nova import context as nova_context
from oslo_config import cfg

from pcloud.aggregates import pclouds
from pcloud.aggregates import snapshot

CONF = cfg.CONF

UNLIMITED = -1


@dataclasses.dataclass(frozen=True)
class Quota:
    """Units: how many a project may use, and how many it uses.

    :ivar limit: -1 is unlimited
    """

    limit: int
    in_use: int

    def allows(self, requested: int) -> bool:
        """Whether so many units may come to those in use."""
        return (self.limit == UNLIMITED or
                self.in_use + requested <= self.limit)


def show(
    context: nova_context.RequestContext, project_id: str,
) -> Quota:
    """Return the quota of a project that owns Pclouds, or could."""
    owned = snapshot.pclouds_of_owner(context, project_id)
    hosts = [host for aggregate in owned for host in aggregate.hosts]
    units = pclouds.units_of(context, hosts)
    return Quota(limit=CONF.pcloud.quota_units,
                 in_use=sum(units.get(host, 0) for host in hosts))
