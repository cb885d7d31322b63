# SPDX-License-Identifier: Apache-2.0

"""What Placement has of the hosts that a request may have.

nova-scheduler knows cpus, memory and disk of its hosts. Of other resource
classes, and of traits, only Placement knows, and is asked once for a request.

Rule: reference-constraints-placement
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager

from pcloud import names
from pcloud.rules import capacity
from pcloud.rules import host_resources
from pcloud.rules.placing import machines
from pcloud.scheduler import candidates
from pcloud.scheduler import host_capacity
from pcloud.scheduler import host_kinds
from pcloud.scheduler import memo

# The amounts and the traits of a kind of host; None for traits not known.
_Held = tuple[dict[str, int], frozenset[str] | None]


def grouped(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    what: machines.Wanted,
) -> tuple[list[int], list[_Held]]:
    """Return the kind of each host, and what each kind has of what is wanted.

    Placement is called once for a request, and not at all where nova-scheduler
    knows all that is wanted.

    :returns: for each host the position of its kind; and for each kind
        ``resource class -> amount`` and the traits, of those wanted
    :raises: `exception.Unavailable` when Placement does not answer
    """
    others = [name for name in what.resources
              if name not in host_capacity.CLASSES]
    if not what.resources and not what.traits:
        return [0] * len(host_states), [({}, frozenset())]
    there = (_of_placement(host_states, spec, others)
             if others or what.traits else {})
    of_hosts, kinds = host_kinds.numbered(
        (tuple(host_capacity.CLASSES[name](host_state)
               for name in what.resources if name in host_capacity.CLASSES),
         _held(there.get(host_state.uuid), others, what.traits))
        for host_state in host_states)
    ours = [name for name in what.resources if name not in others]
    return of_hosts, [
        ({**dict(zip(ours, sizes, strict=True)),
          **dict(zip(others, amounts, strict=True))}, traits)
        for sizes, (amounts, traits) in kinds]


def _held(
    its: host_resources.Resources | None, classes: Sequence[str],
    traits: Collection[str],
) -> tuple[tuple[int, ...], frozenset[str] | None]:
    if its is None:
        return (0,) * len(classes), None
    return (tuple(its.total.get(name, 0) for name in classes),
            its.traits.intersection(traits))


def _of_placement(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    classes: Sequence[str],
) -> Mapping[str, host_resources.Resources]:
    """Return ``uuid of the node -> resources``, read once for a request.

    With each host Placement returns all classes and traits of the host, so the
    hosts with something left of one class are enough. Where traits alone are
    wanted that is a class of the server. Placement has offered the hosts of a
    request, and so returns all of them; of hosts without memory left, which
    only plans ask about, it returns those with something left of another
    class.
    """
    request_memo = memo.of_request(spec)
    if request_memo.holdings is None:
        context = nova_context.get_admin_context()
        destination = _bounds(host_states, spec)
        uuids = {host_state.uuid for host_state in host_states}
        found: dict[str, host_resources.Resources] = {}
        for name in classes[:1] or _classes_of_server(spec):
            found |= candidates.holdings(context, name, destination)
            if uuids <= found.keys():
                break
        request_memo.holdings = found
    return request_memo.holdings


def _classes_of_server(spec: objects.RequestSpec) -> list[str]:
    """Return the resource classes that a server needs, memory first."""
    return sorted(candidates.need(spec).amounts,
                  key=lambda name: (name != capacity.MEMORY, name))


def _bounds(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> objects.Destination | None:
    """Return in which aggregates Placement is to look, None for everywhere.

    Plans ask about free hosts of pools too, which are not where the request
    goes yet.
    """
    destination = (spec.requested_destination
                   if 'requested_destination' in spec else None)
    if destination is None or all(
            _is_in(host_state, choice.split(','))
            for choice in destination.aggregates or ()
            for host_state in host_states):
        return destination
    pools = [{aggregate.uuid for aggregate in host_state.aggregates
              if aggregate.metadata.get(names.TYPE) == names.TYPE_POOL}
             for host_state in host_states]
    if not all(pools):
        return None
    return objects.Destination(
        aggregates=[','.join(sorted(set().union(*pools)))])


def _is_in(
    host_state: host_manager.HostState, uuids: Collection[str],
) -> bool:
    return any(aggregate.uuid in uuids for aggregate in host_state.aggregates)
