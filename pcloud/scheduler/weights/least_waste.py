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

from pcloud import exception
from pcloud.rules import constraints as rules
from pcloud.scheduler import host_capacity
from pcloud.scheduler import request
from pcloud.scheduler.weights import base


class LeastWasteWeigher(base.ScoreWeigher):
    """Prefer hosts that exceed the constraints of a request the least.

    Memory counts first, then cpus, then storage.

    Rule: reference-constraints-waste
    """

    option = 'waste_weight_multiplier'

    def scores(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[float]:
        """Return the score of each host's waste."""
        try:
            what = rules.wanted(request.constraint_settings(spec))
        except exception.Invalid:
            # ConstraintsFilter, where it is on, has ended the request.
            return [0.0] * len(host_states)
        kinds, sizes = host_capacity.grouped(host_states)
        wastes = [rules.waste(what, each) for each in sizes]
        return base.among_equals(
            host_states, spec, kinds, lambda some, counts: rules.waste_scores(
                [wastes[kind] for kind in some]))
