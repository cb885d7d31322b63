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

"""Weigh hosts by what several servers of a request prefer."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import weights

from pcloud.scheduler import memo
from pcloud.scheduler.weights import base


class LocalityWeigher(base.RankWeigher):
    """Prefer the hosts that `LocalityFilter` would keep.

    For a multi-create only: dropped hosts would be missing when those that
    are preferred are full. A single server's hosts are dropped by the
    filter, and a strict wish's are too.

    Source: CONTRACT section 4: an empty result is undone.
    """

    # Above all weighers but that of placement keys; two of Nova's have
    # 1,000,000.
    multiplier = 1e7

    def weigh_objects(
        self, weighed_obj_list: Sequence[weights.WeighedHost],
        weight_properties: objects.RequestSpec,
    ) -> list[int]:
        """Return 1 for each host that is preferred, 0 for the others."""
        preferred = memo.of(weight_properties).preferred
        return [int(weighed.obj.host in preferred)
                for weighed in weighed_obj_list]
