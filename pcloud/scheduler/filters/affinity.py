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

"""The filter of the affinity algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from fractions import Fraction
import random

from nova import objects
from nova.scheduler import filters
from nova.scheduler import host_manager
from nova.scheduler import utils

from pcloud.rules import reasons
from pcloud.scheduler import affinity_scores


class AffinityFilter(filters.BaseHostFilter):
    """Drop hosts whose system score exceeds no round's threshold.

    In which round a host is, is for `AffinityWeigher`: the hosts that are
    kept for the first server of a multi-create are the only ones that the
    others may have, and those of an early round fill up.

    Source: CONTRACT section 6; dynamic-workload-placement-affinity, Step 4.
    """

    def filter_all(
        self, filter_obj_list: Sequence[host_manager.HostState],
        spec_obj: objects.RequestSpec,
    ) -> Iterator[host_manager.HostState]:
        """Yield the hosts that the administrator accepts for the request.

        They come in a random order: Nova takes the first of those that all
        weighers find equal, and by the contract chance decides. A rebuild
        stays where it is. A request without any key may have all.
        """
        if utils.request_is_rebuild(spec_obj):
            return iter(filter_obj_list)
        wished = affinity_scores.wishes(spec_obj, filter_obj_list)
        if not wished:
            return iter(filter_obj_list)
        numbers = affinity_scores.rounds(filter_obj_list, wished)
        kept = [host_state for host_state, number
                in zip(filter_obj_list, numbers, strict=True)
                if number is not None]
        # For thousands of them this is faster than random.shuffle.
        kept.sort(key=lambda host_state: random.random())
        return iter(kept)

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None where it is not."""
        wished = affinity_scores.wishes(spec, host_states)
        if not wished:
            return [None] * len(host_states)
        return [_reason(score) if number is None else None
                for number, score in zip(
                    affinity_scores.rounds(host_states, wished),
                    affinity_scores.system(host_states, wished),
                    strict=True)]


def _reason(score: Fraction) -> reasons.Reason:
    thresholds = affinity_scores.thresholds()
    first, last = float(thresholds[0]), float(thresholds[-1])
    return reasons.Reason(
        'its system score exceeds none of the thresholds, which are from '
        f'{first:g} to {last:g}',
        'the placement keys of administrators keep the server away from it',
        f'its score is {float(score):g}')
