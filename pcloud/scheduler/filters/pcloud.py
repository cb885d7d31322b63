# SPDX-License-Identifier: Apache-2.0

"""The filter that keeps a Pcloud's hosts for its tenants."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from oslo_log import log as logging

from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud.objects.placing import usable_pclouds
from pcloud.rules import coded
from pcloud.rules.placing import access
from pcloud.rules.placing import reasons
from pcloud.scheduler.filters import base
from pcloud.scheduler import group_places
from pcloud.scheduler import request

LOG = logging.getLogger(__name__)

_FULL = coded.Reason('group_is_there')


class PcloudFilter(base.ListFilter):
    """Pass a Pcloud's hosts to its tenants, public hosts to other requests.

    ==============  ===================================================
    hint            a host passes
    ==============  ===================================================
    none            when the host is in no Pcloud and in no pool
    ``pcloud=id``   when the host is in the named Pcloud only, is
                    enabled there, has no due change, and the request's
                    project is a tenant of the Pcloud
                    (:ref:`reference-house-rules` may leave fewer hosts)
    anything else   never
    ==============  ===================================================

    Access is read from the database, once per request: the aggregates that
    Nova passes with the hosts may be out of date. A request for a server of a
    group to be kept apart also leaves out hosts where other servers of the
    group may be soon (`group_places`).

    Rule: reference-isolation-filter
    """

    # Every server of a multi-create has the same hint and project.
    is_same_for_siblings = True

    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Iterable[host_manager.HostState]:
        """Return the hosts that the request may have."""
        found = self._open_hosts(host_states, spec)
        if not request.is_apart(spec):
            return found
        full = group_places.full_hosts(spec)
        return [host_state for host_state in found
                if host_state.host not in full]

    def _open_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Iterable[host_manager.HostState]:
        """Return the hosts that are open to the request."""
        context = nova_context.get_admin_context()
        try:
            wanted = request.pcloud_id(spec)
            if wanted is None:
                return _public(context, host_states)
            _, pcloud = usable_pclouds.find(
                context, wanted, usable_pclouds.asked(spec))
        except (exception.InvalidHint, exception.InvalidValue,
                exception.PcloudUnusable) as error:
            LOG.info('No host passes for a server of project %(project)s: '
                     '%(error)s',
                     {'project': spec.project_id, 'error': error})
            return ()
        # Most of thousands of hosts are in another Pcloud, or in none.
        return (host_state for host_state in host_states
                if host_state.host in pcloud.hosts and access.host_verdict(
                    pcloud, host_state.host, host_state.nodename))

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None for a host that is kept.

        :raises: `exception.InvalidHint`, `exception.InvalidValue`,
            `exception.PcloudUnusable` when the reason is the same for all
            hosts
        """
        context = nova_context.get_admin_context()
        wanted = request.pcloud_id(spec)
        if wanted is None:
            closed = isolation.closed_among(
                context, [host_state.host for host_state in host_states])
            verdicts = [access.public_verdict(host_state.host, closed)
                        for host_state in host_states]
        else:
            _, pcloud = usable_pclouds.find(
                context, wanted, usable_pclouds.asked(spec))
            verdicts = [
                access.host_verdict(
                    pcloud, host_state.host, host_state.nodename)
                for host_state in host_states]
        full = (group_places.full_hosts(spec) if request.is_apart(spec)
                else frozenset())
        return [_reason(verdict, host_state.host in full)
                for host_state, verdict in zip(
                    host_states, verdicts, strict=True)]


def _reason(verdict: access.Verdict, is_full: bool) -> reasons.Reason | None:
    if not verdict:
        return reasons.open_to_all(verdict.reason)
    return reasons.open_to_all(_FULL) if is_full else None


def _public(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState],
) -> list[host_manager.HostState]:
    hosts = [host_state.host for host_state in host_states]
    closed = isolation.closed_among(context, hosts)
    # As `access.public_verdict`, but one step for each of thousands of hosts.
    return [host_state for host_state, host in zip(
        host_states, hosts, strict=True) if host not in closed]
