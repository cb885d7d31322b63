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
"""Call compute services, and do not wait for a broker that is away.

Nova waits for ever until the broker of a cell is back, and so would every
request that enables or disables a compute service.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from nova.compute import api as compute_api
from nova.compute import rpcapi
from nova import context as nova_context
from nova import rpc
import oslo_messaging as messaging

# How often a broker is tried, instead of for ever.
_RETRIES = 1


class _Router:
    """Nova's router, whose clients give up when the broker stays away."""

    def __init__(self, router: rpc.ClientRouter) -> None:
        self._router = router

    def client(
        self, context: nova_context.RequestContext,
    ) -> messaging.RPCClient:
        """Return the client for the cell of a context."""
        return self._router.client(context).prepare(retry=_RETRIES)


class _Calls(rpcapi.ComputeAPI):

    @property
    def router(self) -> _Router:
        """What finds the client for a cell."""
        return _Router(super().router)


def host_api() -> compute_api.HostAPI:
    """Return Nova's calls about hosts, which give up when the broker is away.

    Nova logs that a compute service could not be called, and goes on: the
    service itself does what is left at its next periodic task.
    """
    return compute_api.HostAPI(rpcapi=_Calls())
