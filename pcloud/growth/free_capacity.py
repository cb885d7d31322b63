# SPDX-License-Identifier: Apache-2.0

"""The capacity of a Pcloud for a launch.

Rule: reference-default-pcloud-grow-room
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from nova import objects

from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud.objects import reconcile
from pcloud.rules import capacity
from pcloud.rules.placing import access
from pcloud.scheduler import candidates
from pcloud.scheduler import preferred_pcloud
from pcloud.scheduler import request


@dataclasses.dataclass(frozen=True)
class Room:
    """The free capacity of a Pcloud, for servers of one kind.

    :ivar spec: the request for the servers
    :ivar need: what each of the servers needs of a host
    :ivar hosts: what is free on the hosts that take servers, by service host
    :ivar size: the number of hosts in the Pcloud
    """

    spec: objects.RequestSpec
    need: capacity.Need
    hosts: Mapping[str, capacity.Host]
    size: int

    def with_hosts(self, more: Mapping[str, capacity.Host]) -> Room:
        """Return the capacity with more hosts."""
        return dataclasses.replace(self, hosts={**self.hosts, **more})

    def for_servers(self, count: int) -> Room:
        """Return the capacity for another number of servers."""
        spec = self.spec.obj_clone()
        spec.num_instances = count
        return dataclasses.replace(self, spec=spec)

    @property
    def shortage(self) -> int:
        """How many servers of the request find no place."""
        return max(0, request.servers(self.spec) - preferred_pcloud.places(
            self.spec, {host: capacity.fits(self.need, free)
                        for host, free in self.hosts.items()}))


def read(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    pcloud_id: str,
) -> Room:
    """Return the free capacity of a Pcloud.

    Four queries, a query a cell, and one call of Placement.

    :param spec: the request with a destination, narrowed by Nova's own request
        filters
    :raises: `exception.PcloudUnusable`, `exception.Unavailable` when Placement
        does not answer, and while a host is closed that is enabled
    """
    uuid, pcloud = _settled_pcloud(context, spec, pcloud_id)
    need = _need(spec)
    destination = spec.requested_destination.obj_clone()
    destination.require_aggregates([uuid])
    offered = candidates.offered(context, need, destination)
    return Room(spec, need, {
        host: offered[node.uuid] for host, node
        in preferred_pcloud.serving(context, spec, pcloud).items()
        if node.uuid in offered}, len(pcloud.hosts))


def _need(spec: objects.RequestSpec) -> capacity.Need:
    """Return what a server needs of a host itself.

    What ports and accelerators ask for is on providers of their own.
    """
    plain = spec.obj_clone()
    plain.requested_resources = []
    return candidates.need(plain)


def _settled_pcloud(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    pcloud_id: str,
) -> tuple[str, access.Pcloud]:
    """Return a Pcloud, after what is due for its enabled hosts is done."""
    uuid, pcloud = isolation.usable_pcloud(context, pcloud_id, spec.project_id)
    if pcloud.due:
        reconcile.finish(context, sorted(pcloud.due))
        uuid, pcloud = isolation.usable_pcloud(
            context, pcloud_id, spec.project_id)
    if pcloud.due and access.ENABLED in pcloud.states.values():
        # An enabled host that is closed would look like no capacity.
        raise exception.Unavailable()
    return uuid, pcloud
