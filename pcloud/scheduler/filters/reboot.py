# SPDX-License-Identifier: Apache-2.0

"""The filter that keeps servers off hosts about to be rebooted."""

from __future__ import annotations

from collections.abc import Sequence
import datetime

from nova import objects
from nova.scheduler import host_manager
from oslo_config import cfg

from pcloud import exception
from pcloud.rules import coded
from pcloud.rules.placing import attributes
from pcloud.rules.placing import reasons
from pcloud.scheduler.filters import base
from pcloud.scheduler import host_attributes

CONF = cfg.CONF


class RebootFilter(base.ListFilter):
    """Drop hosts to be rebooted within ``[pcloud] reboot_filter_days``.

    ==============================  ==============
    ``next_reboot``                 a host passes
    ==============================  ==============
    no date, or a past date         always
    within so many days             never
    later                           always
    ==============================  ==============

    When no host passes, the server's fault states the reason.

    Rule: reference-attributes-filter
    """

    # The hosts of a request keep their dates while the request is placed.
    is_same_for_siblings = True
    refusals = (exception.HostsRefused,)

    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts that are not rebooted soon.

        :raises: `exception.HostsRefused` when no host is left
        """
        days = CONF.pcloud.reboot_filter_days
        if not days:
            return host_states
        moment, span = host_attributes.now(), datetime.timedelta(days=days)
        hosts = [host_state for host_state, date
                 in zip(host_states, _dates(host_states, spec), strict=True)
                 if not attributes.reboots_within(date, moment, span)]
        if not hosts:
            raise exception.HostsRefused(
                'Each host that could take the server is rebooted within '
                f'{days} days.')
        return hosts

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None for a host that is kept."""
        days = CONF.pcloud.reboot_filter_days
        moment, span = host_attributes.now(), datetime.timedelta(days=days)
        return [
            reasons.open_to_all(coded.Reason('rebooted_soon', days=days),
                                f'at {date:%Y-%m-%dT%H:%M:%SZ}')
            if attributes.reboots_within(date, moment, span) else None
            for date in _dates(host_states, spec)]


def _dates(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> list[datetime.datetime | None]:
    """Return the date of the next reboot of each host."""
    of_hosts, dates = host_attributes.reboots(host_states, spec)
    return [dates[kind] for kind in of_hosts]
