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

"""The filter of machine constraints."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager

from pcloud import exception
from pcloud.rules import reasons
from pcloud.scheduler import constraints
from pcloud.scheduler.filters import base


class ConstraintsFilter(base.ListFilter):
    """Drop hosts that are not what is asked for.

    =========================  ========================================
    constraint                 a host passes
    =========================  ========================================
    ``cpu ram storage``        when it is as large, whatever runs there
    ``max`` of one of these    when none that meets all else is larger
    ``host=NAME``              when it is that host
    ``NAME=a,^b``              when it has a and has not b
    of other providers         always
    =========================  ========================================

    Constraints that no host meets, or that cannot be understood, end the
    request, so that the server's fault says why.

    Source: CONTRACT section 5; machine-constraints.
    """

    # Hosts do not change their size; and those that are kept for the first
    # server of a request are the greatest for the others too.
    run_filter_once_per_request = True
    refusals = (exception.Invalid, exception.ConstraintsUnmet)

    def kept(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts that satisfy the constraints of a request."""
        return constraints.kept(host_states, spec)

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None where it is not.

        :raises: `exception.Invalid` when it is the same for all of them
        """
        return constraints.why(host_states, spec)
