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

"""The common base of Pcloud's filters."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from nova import exception as nova_exception
from nova import objects
from nova.scheduler import filters
from nova.scheduler import host_manager
from nova.scheduler import utils
from oslo_log import log as logging

from pcloud import exception
from pcloud.rules import reasons

LOG = logging.getLogger(__name__)


class ListFilter(filters.BaseHostFilter, abc.ABC):
    """Filter all hosts of a request at once, by a rule of a subclass.

    :cvar refusals: the errors of `passing_hosts` which end the request with
        the reason why no host is right; other errors of `passing_hosts` pass
        on
    """

    refusals: tuple[type[exception.PcloudError], ...] = ()

    def filter_all(
        self, filter_obj_list: Sequence[host_manager.HostState],
        spec_obj: objects.RequestSpec,
    ) -> Iterator[host_manager.HostState]:
        """Yield the hosts that the request may have.

        A rebuild stays on its host whatever the rule is, as in all of Nova's
        filters; Nova protects rebuilds only from filters without their
        own `filter_all`.

        :raises: `nova.exception.NoValidHost` for an error of `refusals`; the
            reason becomes the server's fault
        """
        if not filter_obj_list or utils.request_is_rebuild(spec_obj):
            return iter(filter_obj_list)
        try:
            return iter(self.passing_hosts(filter_obj_list, spec_obj))
        except self.refusals as error:
            LOG.info('No host for a server of project %(project)s: %(error)s',
                     {'project': spec_obj.project_id, 'error': error})
            raise nova_exception.NoValidHost(reason=str(error))

    @abc.abstractmethod
    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Iterable[host_manager.HostState]:
        """Return the hosts that satisfy the rule.

        :param host_states: one host or more
        :param spec: a request that is no rebuild
        :raises: an error of `refusals`
        """

    @abc.abstractmethod
    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why the rule drops each host, None for a host that is kept.

        :raises: an error of `refusals` when the reason is the same for all
            hosts
        """
