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

"""The filter that puts co-located servers on one host."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager

from pcloud import exception
from pcloud.rules import reasons
from pcloud.scheduler import colocation
from pcloud.scheduler.filters import base


class ColocationFilter(base.ListFilter):
    """Keep hosts that run what a server is to be co-located with.

    What the hints say is told in `rules.colocation`. Only the project's own
    servers count. A wish that no host can meet ends the request, so that the
    server's fault says why.

    Source: CONTRACT section 7; co-located-services.
    """

    # Every server of a multi-create has the same wish.
    run_filter_once_per_request = True
    refusals = (exception.InvalidServiceHint, exception.ColocationUnmet)

    def kept(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts where the server may be co-located."""
        return colocation.kept(host_states, spec)

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None where it is not.

        :raises: `exception.InvalidServiceHint`, `exception.ColocationUnmet`
            when it is the same for all of them
        """
        return colocation.why(host_states, spec)
