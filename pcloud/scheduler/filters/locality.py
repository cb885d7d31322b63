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

"""The filter that keeps servers near to and far from each other."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager

from pcloud import exception
from pcloud.rules import reasons
from pcloud.scheduler.filters import base
from pcloud.scheduler import locality
from pcloud.scheduler import memo


class LocalityFilter(base.ListFilter):
    """Keep hosts near to or far from servers of the same project.

    What is kept is told in `rules.locality.kept`. Where the servers are, and
    which have a tag, is looked up once per request. A strict wish that no
    host can meet ends the request, so that the server's fault says why.

    Nova hands the hosts that are kept for the first server of a multi-create
    on to the others, so what several servers only prefer drops nothing here:
    it is left to `LocalityWeigher`.

    A server that is there already and is moved does not mind that others,
    which it was to be near to or far from, have been deleted meanwhile.

    Source: CONTRACT section 4; RFD 24, "Desired State".
    """

    # Every server of a multi-create has the same wish.
    run_filter_once_per_request = True
    refusals = (exception.InvalidLocality, exception.LocalityUnknown,
                exception.LocalityUnmet)

    def kept(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts that are where the request would like them."""
        wish = locality.wish(spec)
        if wish is None:
            return host_states
        hosts = locality.kept(host_states, spec, wish)
        if spec.num_instances > 1 and not wish.strict:
            memo.of(spec).preferred = hosts
            return host_states
        return [host_state for host_state in host_states
                if host_state.host in hosts]

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None where it is not.

        :raises: `exception.InvalidLocality`, `exception.LocalityUnknown`,
            `exception.LocalityUnmet` when it is the same for all of them
        """
        return locality.why(host_states, spec)
