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

from collections.abc import Iterator
from collections.abc import Sequence

from nova import objects
from nova.scheduler import filters
from nova.scheduler import host_manager
from nova.scheduler import utils

from pcloud import exception
from pcloud.rules import reasons
from pcloud.scheduler import locality
from pcloud.scheduler import refusal


class LocalityFilter(filters.BaseHostFilter):
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

    def filter_all(
        self, filter_obj_list: Sequence[host_manager.HostState],
        spec_obj: objects.RequestSpec,
    ) -> Iterator[host_manager.HostState]:
        """Yield the hosts that are where the request would like them.

        A rebuild stays where it is.

        :raises: `nova.exception.NoValidHost` when a hint is not valid, or a
            strict wish cannot be met; its reason becomes the server's fault
        """
        if not filter_obj_list or utils.request_is_rebuild(spec_obj):
            return iter(filter_obj_list)
        with refusal.told(spec_obj, exception.InvalidLocality,
                          exception.LocalityUnknown,
                          exception.LocalityUnmet):
            wish = locality.wish(spec_obj)
            if wish is None:
                return iter(filter_obj_list)
            kept = locality.kept(filter_obj_list, spec_obj, wish)
        if spec_obj.num_instances > 1 and not wish.strict:
            locality.prefer(spec_obj, kept)
            return iter(filter_obj_list)
        return (host_state for host_state in filter_obj_list
                if host_state.host in kept)

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None where it is not.

        :raises: `exception.InvalidLocality`, `exception.LocalityUnknown`,
            `exception.LocalityUnmet` when it is the same for all of them
        """
        return locality.why(host_states, spec)
