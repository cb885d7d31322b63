# SPDX-License-Identifier: Apache-2.0

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
from oslo_log import log as logging

from pcloud import exception
from pcloud.rules.placing import reasons
from pcloud.scheduler import memo
from pcloud.scheduler import request
from pcloud.scheduler import siblings

LOG = logging.getLogger(__name__)


class ListFilter(filters.BaseHostFilter, abc.ABC):
    """Filter all hosts of a request at once, by a rule of a subclass.

    :cvar is_same_for_siblings: whether the rule is asked for the first server
        of a multi-create only, since the answer is the same for each server;
        Nova's ``run_filter_once_per_request`` would hide that the best hosts
        of a later server were refused
    :cvar refusals: the errors of `passing_hosts` which end the request with
        the reason why no host is right; other errors of `passing_hosts` pass
        on
    """

    is_same_for_siblings = False
    refusals: tuple[type[exception.PcloudError], ...] = ()

    def filter_all(
        self, filter_obj_list: Sequence[host_manager.HostState],
        spec_obj: objects.RequestSpec,
    ) -> Iterator[host_manager.HostState]:
        """Yield the hosts that the request may have.

        A rebuild stays on the server's host whatever the rule is, as in all
        of Nova's filters; Nova protects rebuilds only from filters without
        their own `filter_all`.

        :raises: `nova.exception.NoValidHost` for an error of `refusals`; the
            reason becomes the server's fault
        """
        if not filter_obj_list or request.is_rebuild(spec_obj):
            return iter(filter_obj_list)
        hosts_for = (self._hosts_for_several if siblings.are_several(spec_obj)
                     else self.passing_hosts)
        try:
            return iter(hosts_for(filter_obj_list, spec_obj))
        except self.refusals as error:
            LOG.info('No host for a server of project %(project)s: %(error)s',
                     {'project': spec_obj.project_id, 'error': error})
            raise nova_exception.NoValidHost(reason=str(error))

    def _hosts_for_several(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Iterable[host_manager.HostState]:
        """Return the hosts for a server of a multi-create.

        For a single server, filters with preferences would have dropped all
        hosts but the best, and the rule may refuse these. Nova never offers a
        dropped host again, so the refused hosts are remembered.

        :raises: an error of `refusals`
        """
        turn = siblings.turn(spec, type(self).__name__)
        if turn.server == spec.instance_uuid:
            return self._alternates(host_states, spec, turn)
        kept = self._kept(host_states, spec, turn)
        turn.server = spec.instance_uuid
        if kept is not host_states:
            turn.refused += _without(host_states, kept)
        if not turn.preferences or not turn.refused:
            return kept
        best = siblings.best(
            spec, [*host_states, *turn.refused], turn.preferences)
        if len(_without(best, kept)) < len(best):
            return kept
        # The reason of the refusal, where the rule gives a reason.
        self.passing_hosts(best, spec)
        return []

    def _alternates(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec, turn: memo.MultiCreate,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts for servers whose host fails.

        Nova asks for them when every server has a host: an error would end
        the request, and leave what the servers have claimed in Placement.
        """
        try:
            kept = self._kept(host_states, spec, turn)
        except self.refusals:
            return []
        return siblings.best(
            spec, kept, (*turn.preferences, type(self).__name__))

    def _kept(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec, turn: memo.MultiCreate,
    ) -> Sequence[host_manager.HostState]:
        if self.is_same_for_siblings and turn.server is not None:
            # None of the refused hosts is among them.
            return host_states
        return list(self.passing_hosts(host_states, spec))

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


def _without(
    host_states: Sequence[host_manager.HostState],
    dropped: Sequence[host_manager.HostState],
) -> list[host_manager.HostState]:
    numbers = set(map(id, dropped))
    return [host_state for host_state in host_states
            if id(host_state) not in numbers]
