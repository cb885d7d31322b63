# SPDX-License-Identifier: Apache-2.0

"""Whether a request that prefers a Pcloud goes there.

A Pcloud has capacity for a request when the hosts of the Pcloud that take
servers have capacity for all servers of the request together. Placement tells
what is free on the hosts. Hosts that Nova's scheduler would refuse in any case
do not count.

Rule: reference-default-pcloud-prefer
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

from nova import context as nova_context
from nova import objects
from oslo_log import log as logging

from pcloud.backend.cells import computes
from pcloud import exception
from pcloud.rules import capacity
from pcloud.rules.placing import access
from pcloud.scheduler import candidates
from pcloud.scheduler import open_hosts
from pcloud.scheduler import request

LOG = logging.getLogger(__name__)

_SPREADING = 'anti-affinity'
_GATHERING = 'affinity'


def has_place(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    pcloud: access.Pcloud, destination: objects.Destination,
) -> bool:
    """Whether a Pcloud has a place for all servers of a request.

    One query for the zones, one query a cell, and one call of Placement.
    While Placement does not answer there is no place.

    :param destination: the request's destination, narrowed to the Pcloud
    """
    hosts_there = serving(context, spec, pcloud)
    if not hosts_there:
        return False
    need = candidates.need(spec)
    try:
        hosts = candidates.offered(context, need, destination)
    except exception.Unavailable as error:
        LOG.warning('Whether Pcloud %(pcloud)s has capacity is not known, so '
                    'a server that prefers the Pcloud goes outside: %(error)s',
                    {'pcloud': pcloud.id, 'error': error})
        return False
    fits = {host: capacity.fits(need, hosts[node.uuid])
            for host, node in hosts_there.items() if node.uuid in hosts}
    return places(spec, fits) >= request.servers(spec)


def serving(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    pcloud: access.Pcloud,
) -> dict[str, computes.Node]:
    """Return the hosts on which Nova's scheduler might place a server."""
    return {host: node for host, node
            in open_hosts.serving(context, pcloud).items()
            if _may_have(spec, host, node.hypervisor_hostname)}


def _may_have(spec: objects.RequestSpec, host: str, node: str) -> bool:
    """Whether a request excludes a host neither by name nor by another."""
    destination = spec.requested_destination
    return (
        host not in (_field(spec, 'ignore_hosts') or ()) and
        host in (_field(spec, 'force_hosts') or [host]) and
        node in (_field(spec, 'force_nodes') or [node]) and
        host == (_field(destination, 'host') or host) and
        node == (_field(destination, 'node') or node))


def _field(
    thing: objects.RequestSpec | objects.Destination, name: str,
) -> Any:
    """Return a field of one of Nova's objects, None where it is not set."""
    return getattr(thing, name) if name in thing else None


def places(
    spec: objects.RequestSpec, fits: Mapping[str, int],
) -> int:
    """Return how many servers the hosts take, by the server group as well.

    :param fits: ``service host -> number of servers with room``
    """
    group = _field(spec, 'instance_group')
    policy = group.policy if group is not None else None
    members = frozenset((group.hosts if group is not None else None) or ())
    if policy == _SPREADING:
        return _spread(group, members, fits)
    if policy == _GATHERING:
        return max((number for host, number in fits.items()
                    if not members or host in members), default=0)
    return sum(fits.values())


def _spread(
    group: objects.InstanceGroup, members: Collection[str],
    fits: Mapping[str, int],
) -> int:
    """Return how many servers of an anti-affinity group the hosts take.

    A host with servers of the group counts as full: how many servers of the
    group the host has is not known here.
    """
    most = (group.rules or {}).get('max_server_per_host', 1)
    return sum(min(number, int(most)) for host, number in fits.items()
               if host not in members)
