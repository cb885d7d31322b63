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

"""Weigh hosts by the locality preferred by several servers of a request."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import weights

from pcloud.scheduler import memo
from pcloud.scheduler.weights import base


class LocalityWeigher(base.RankWeigher):
    """Prefer the hosts which `LocalityFilter` would keep, level by level.

    The weigher is for a multi-create only: dropped hosts would be missing when
    the preferred hosts are full. For a single server, and for a strict wish,
    the filter drops hosts. Where placement keys are in force,
    `AffinityWeigher` applies the preference too.

    Rule: reference-locality-preference
    """

    # Above all weighers but the weigher of placement keys; two of Nova's
    # weighers have 1,000,000.
    multiplier = 1e7

    def weigh_objects(
        self, weighed_obj_list: Sequence[weights.WeighedHost],
        weight_properties: objects.RequestSpec,
    ) -> list[int]:
        """Return the rank of each host's level, 0 for the worst host."""
        levels = memo.of_request(weight_properties).levels
        worst = max(levels.values(), default=0)
        return [worst - levels.get(weighed.obj.host, worst)
                for weighed in weighed_obj_list]
