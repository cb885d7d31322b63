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

"""Weigh hosts by the resources wasted on a host."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights

from pcloud import exception
from pcloud.rules import constraints as rules
from pcloud.scheduler import host_capacity
from pcloud.scheduler import request
from pcloud.scheduler.weights import base

_OPTION = 'waste_weight_multiplier'


class LeastWasteWeigher(base.ListWeigher):
    """Prefer hosts that exceed the constraints of a request the least.

    Memory counts first, then cpus, then storage.

    Rule: reference-constraints-waste
    """

    def weight_multiplier(
        self, host_state: host_manager.HostState,
    ) -> float:
        """Return the multiplier for the weight of a host."""
        return base.multiplier(host_state, _OPTION)

    def weigh_objects(
        self, weighed_obj_list: Sequence[weights.WeighedHost],
        weight_properties: objects.RequestSpec,
    ) -> list[float]:
        """Return a score from 0 to 1 for each host."""
        hosts = [weighed.obj for weighed in weighed_obj_list]
        if not base.counts(hosts, _OPTION):
            # By default nothing has to be read.
            return [0.0] * len(hosts)
        try:
            what = rules.wanted(request.constraint_settings(weight_properties))
        except exception.Invalid:
            # ConstraintsFilter, where it is on, has ended the request.
            return [0.0] * len(hosts)
        return base.among_equals(
            hosts, weight_properties,
            lambda host_states: rules.waste_scores([
                rules.waste(what, host_capacity.sizes(host_state))
                for host_state in host_states]))
