# SPDX-License-Identifier: Apache-2.0
"""Call compute services, and do not wait for a broker that is away.

A remote procedure call of oslo.messaging waits until the broker is back,
whatever the number of retries: the connection for the answer has no limit. So
would every request that enables or disables a compute service. A cast has a
limit, and precedes the call.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping

from nova.compute import api as compute_api
from nova.compute import rpcapi
from nova import context as nova_context
from nova import exception as nova_exception
from oslo_log import log as logging

LOG = logging.getLogger(__name__)

_SERVICE = 'nova-compute'
_REASON = 'Pcloud: taken out of a host flavor pool'
# Tells a service that a maintenance has disabled from any other, so it is
# not to be changed.
MAINTENANCE = 'Pcloud: maintenance'

_GONE = (nova_exception.ComputeHostNotFound,
         nova_exception.HostMappingNotFound,
         nova_exception.HostBinaryNotFound)

# How often a broker is tried, instead of for ever.
_RETRIES = 1

# What every service of Nova answers to.
_PING = {'namespace': 'baseapi', 'version': '1.0', 'version_cap': None}


class _Calls(rpcapi.ComputeAPI):

    def set_host_enabled(
        self, ctxt: nova_context.RequestContext, host: str, enabled: bool,
    ) -> str:
        """Have a compute service tell Placement whether the host is enabled.

        :raises: whatever oslo.messaging's driver raises when the broker is
            away
        """
        self.router.client(ctxt).prepare(
            server=host, retry=_RETRIES, **_PING).cast(ctxt, 'ping', arg={})
        return super().set_host_enabled(ctxt, host, enabled)


def host_api() -> compute_api.HostAPI:
    """Return Nova's calls about hosts, which give up when the broker is away.

    When a compute service cannot be called, Nova writes the failure to the log
    and goes on: the service does the rest at its next periodic task.
    """
    return compute_api.HostAPI(rpcapi=_Calls())


def enable(context: nova_context.RequestContext, host: str) -> None:
    """Enable a host's compute service, if the service still exists."""
    _update(context, host, {'disabled': False, 'disabled_reason': None})


def disable(context: nova_context.RequestContext, host: str) -> None:
    """Disable a host's compute service, if the service still exists."""
    _update(context, host, {'disabled': True, 'disabled_reason': _REASON})


def close(context: nova_context.RequestContext, host: str) -> None:
    """Disable a compute service for a maintenance, if it still exists."""
    _update(context, host, {'disabled': True, 'disabled_reason': MAINTENANCE})


def force_down(
    context: nova_context.RequestContext, host: str, is_down: bool,
) -> None:
    """Have Nova take a compute service for down, or believe its reports."""
    _update(context, host, {'forced_down': is_down})


def open_again(context: nova_context.RequestContext, host: str) -> bool:
    """Enable a compute service that `close` has disabled.

    A service that was disabled for another reason stays disabled.

    :returns: whether the service was enabled
    """
    try:
        service = host_api().service_get_by_compute_host(
            context.elevated(), host)
    except _GONE:
        return False
    is_closed = service.disabled and service.disabled_reason == MAINTENANCE
    if is_closed:
        enable(context, host)
    return is_closed


def _update(
    context: nova_context.RequestContext, host: str,
    changes: Mapping[str, bool | str | None],
) -> None:
    try:
        host_api().service_update_by_host_and_binary(
            context.elevated(), host, _SERVICE, changes)
    except _GONE:
        LOG.info('Host %s has no compute service any more.', host)
