# SPDX-License-Identifier: Apache-2.0

"""Which hosts of a Pcloud take servers, and whether such a host has capacity.

When Placement has no candidate, Nova answers "No valid host was found." and
nothing else. The owner of the hosts can help once the owner knows whether to
enable a host, to add a host or to ask for less. The number of hosts is told to
the owner alone.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from urllib import parse

from nova import context as nova_context
from nova import objects
from nova.scheduler import utils

from pcloud.backend.calls import placement
from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud.backend import complaints
from pcloud import exception
from pcloud.rules import capacity
from pcloud.rules.placing import access


# What each request asks Placement for, and what a plain request may ask for.
_USUAL = frozenset(('', 'OWNER_NOVA', '!COMPUTE_STATUS_DISABLED'))
_PLAIN = frozenset(('limit', 'member_of', 'resources', 'root_required'))
_FREE: Mapping[str, Callable[[computes.Node], int]] = {
    capacity.VCPU: lambda node: node.vcpus - node.vcpus_used,
    capacity.MEMORY: lambda node: node.memory_mb - node.memory_mb_used,
    capacity.DISK: lambda node: node.disk_gb - node.disk_gb_used}
_ASKED_FOR = 'what the server asks for (cpu, memory, disk, zone, traits)'


def nodes(
    context: nova_context.RequestContext, pcloud: access.Pcloud,
) -> dict[str, computes.Node]:
    """Return ``service host -> node``: the hosts that take servers of tenants.

    The call makes one query a cell. The hosts of a cell that does not answer
    take no servers.
    """
    known, _ = compute_nodes.known_nodes(context, pcloud.hosts)
    return _open(pcloud, known)


def serving(
    context: nova_context.RequestContext, pcloud: access.Pcloud,
) -> dict[str, computes.Node]:
    """Return `nodes` of the hosts that are up and enabled in Nova.

    One query a cell, and one query for the zones.
    """
    return serving_among(pcloud, computes.load(context, pcloud.hosts))


def serving_among(
    pcloud: access.Pcloud, known: Mapping[str, computes.Compute],
) -> dict[str, computes.Node]:
    """Return `serving`, where the hosts of the Pcloud are known.

    :param known: ``service host -> compute``
    """
    return _open(pcloud, {
        host: compute.nodes[0] for host, compute in known.items()
        if compute.up and compute.enabled and len(compute.nodes) == 1})


def _open(
    pcloud: access.Pcloud, known: Mapping[str, computes.Node],
) -> dict[str, computes.Node]:
    stateless = sorted(
        host for host, node in known.items()
        if access.state(pcloud.states.get(node.hypervisor_hostname)) is None)
    if stateless:
        complaints.once(
            f'Pcloud {pcloud.id} has no state of its hosts '
            f'{", ".join(stateless)}; no project gets them. pcloud-manage '
            'audit shows more')
    return {host: node for host, node in known.items()
            if access.host_verdict(pcloud, host, node.hypervisor_hostname)}


def check_room(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    pcloud: access.Pcloud,
) -> None:
    """Refuse a request for which no enabled host of its Pcloud has capacity.

    Where no host has plainly capacity, Placement is asked the same question as
    later by nova-scheduler; narrowed to the Pcloud, the question costs the
    same however large the cloud is. The check only improves the message, so no
    request is refused while a cell does not answer.

    :param spec: a request already narrowed to the Pcloud, and not forced to a
        host
    :raises: `exception.PcloudUnusable`
    """
    known, silent = compute_nodes.known_nodes(context, pcloud.hosts)
    if silent:
        return
    open_nodes = _open(pcloud, known).values()
    if not open_nodes:
        raise exception.PcloudUnusable(
            pcloud=pcloud.id, reason='it has no enabled host'
            if pcloud.pin is None else
            f"its host '{pcloud.pin}', which the server names, takes no "
            'servers now')
    wanted = utils.resources_from_request_spec(context, spec, None)
    if _has_plainly_room(wanted, open_nodes):
        return
    enabled = {node.uuid for node in open_nodes}
    offer = placement.offered(context, wanted)
    # Without an answer Nova says itself what is wrong.
    if offer is None:
        return
    with_room = {summary.get('root_provider_uuid') or uuid
                 for uuid, summary in offer[1].items()}
    if not enabled & with_room:
        raise exception.PcloudUnusable(
            pcloud=pcloud.id, reason=_no_room(
                spec, pcloud, len(enabled), bool(with_room)))


def _no_room(
    spec: objects.RequestSpec, pcloud: access.Pcloud, enabled: int,
    others_have_room: bool,
) -> str:
    if pcloud.pin is not None:
        return (f"its host '{pcloud.pin}', which the server names, has no "
                f'capacity for {_ASKED_FOR}')
    if spec.project_id != pcloud.owner:
        return f'none of its enabled hosts has capacity for {_ASKED_FOR}'
    return _owners_reason(enabled, len(pcloud.hosts), others_have_room)


def _has_plainly_room(
    wanted: utils.ResourceRequest, nodes: Iterable[computes.Node],
) -> bool:
    """Whether one of the nodes has capacity without any overcommitment.

    What nova-compute has told of its node is enough for a request that asks
    the Pcloud for cpus, memory and disk, and for nothing else.
    """
    asked = parse.parse_qs(wanted.to_querystring())
    amounts = wanted.merged_resources()
    if (asked.keys() - _PLAIN or amounts.keys() - _FREE.keys() or
            len(asked.get('member_of', ())) != 1 or not _USUAL.issuperset(
                ','.join(asked.get('root_required', ())).split(','))):
        return False
    return any(all(amount <= _FREE[name](node)
                   for name, amount in amounts.items()) for node in nodes)


def _owners_reason(enabled: int, hosts: int, others_have_room: bool) -> str:
    text = (f'its only enabled host has no capacity for {_ASKED_FOR}'
            if enabled == 1 else
            f'none of its {enabled} enabled hosts has capacity for '
            f'{_ASKED_FOR}')
    if others_have_room:
        others = ('its other host' if hosts - enabled == 1 else
                  f'one of its {hosts - enabled} other hosts')
        return f'{text}, but {others} has; enable it'
    return text
