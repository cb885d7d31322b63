# SPDX-License-Identifier: Apache-2.0

"""The hosts which Placement would offer to a request.

Names of HTTP calls are the names in the Placement API reference.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import urllib.parse

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import utils

from pcloud.backend.calls import placement
from pcloud import exception
from pcloud.rules import capacity
from pcloud.rules import host_resources

# Nova's errors about a flavor.
_NOT_RIGHT = (nova_exception.Invalid, nova_exception.FlavorImageConflict)


@dataclasses.dataclass(frozen=True)
class Part:
    """A group of resources that a request asks for.

    :ivar suffix: the name of the group, empty for resources in no group;
        those of a group with a name come from one resource provider
    :ivar amounts: ``resource class -> amount``
    :ivar traits: traits of the providers; a forbidden trait begins with ``!``
    """

    suffix: str
    amounts: Mapping[str, int]
    traits: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Parts:
    """All that a request asks for.

    :ivar groups: the groups with names
    :ivar is_isolated: whether each of the groups comes from another provider
    :ivar is_tied: whether providers of some groups have to be in one part of
        a host's tree
    """

    loose: Part
    groups: Sequence[Part]
    is_isolated: bool = False
    is_tied: bool = False


def parts(spec: objects.RequestSpec) -> Parts:
    """Return what the server of a request needs, group by group.

    The groups are those in which Nova asks Placement, for PCI devices too
    where Placement has PCI devices.
    """
    asked: dict[str, list[str]] = urllib.parse.parse_qs(
        utils.ResourceRequest.from_request_spec(spec).to_querystring())
    amounts, traits = _by_suffix(asked, 'resources'), _by_suffix(
        asked, 'required')
    made = {suffix: Part(
        suffix, {name: int(amount) for name, _, amount in (
            each.partition(':') for each in amounts.get(suffix, ()))},
        tuple(traits.get(suffix, ()))) for suffix in amounts | traits}
    loose = made.pop('', Part('', {}))
    return Parts(
        loose, [made[suffix] for suffix in sorted(made)],
        asked.get('group_policy') == ['isolate'],
        'same_subtree' in asked)


def _by_suffix(
    asked: Mapping[str, Sequence[str]], prefix: str,
) -> dict[str, list[str]]:
    """Return the values of the parameters that begin alike."""
    return {name.removeprefix(prefix): values[0].split(',')
            for name, values in asked.items() if name.startswith(prefix)}


def givers(
    context: nova_context.RequestContext, loose: Part, group: Part | None,
    destination: objects.Destination | None,
) -> dict[tuple[str, str], frozenset[str]]:
    """Return which providers may give what a request asks for now.

    Placement is called once.

    :param loose: the resources in no group; not nothing
    :param group: one of the groups, None for none
    :param destination: the required and the forbidden aggregates
    :returns: ``(suffix of the group, resource class) -> provider uuids``
    :raises: `exception.Unavailable` when Placement does not answer
    """
    query = _member_of(destination)
    for part in (loose,) if group is None else (loose, group):
        query.append((f'resources{part.suffix}', _amounts(part.amounts)))
        if part.traits:
            query.append((f'required{part.suffix}', ','.join(part.traits)))
    return placement.givers(context, urllib.parse.urlencode(query))


def _amounts(amounts: Mapping[str, int]) -> str:
    return ','.join(f'{name}:{amount}'
                    for name, amount in sorted(amounts.items()))


def need(spec: objects.RequestSpec) -> capacity.Need:
    """Return the resources and traits that the server of a request needs.

    Resources of numbered groups count as the host's own.
    """
    wanted = utils.ResourceRequest.from_request_spec(spec)
    return capacity.Need(
        wanted.merged_resources(),
        frozenset(wanted.all_required_traits | spec.root_required),
        frozenset(wanted.get_request_group(None).forbidden_traits |
                  spec.root_forbidden))


def need_of(flavor: objects.Flavor, on_volume: bool) -> capacity.Need:
    """Return the resources and traits that a server of a flavor needs.

    :param on_volume: the root disk is a volume, and needs no disk of the host
    :raises: `exception.FlavorUnusable`
    """
    spec = objects.RequestSpec(
        flavor=flavor, image=None, is_bfv=on_volume, requested_resources=[])
    try:
        return need(spec)
    except _NOT_RIGHT as error:
        raise exception.FlavorUnusable(
            flavor=flavor.flavorid, reason=error.format_message())


def offered(
    context: nova_context.RequestContext, wanted: capacity.Need,
    destination: objects.Destination | None, limit: int | None = None,
) -> dict[str, capacity.Host]:
    """Return ``uuid of the node -> host`` for hosts with capacity for a need.

    Placement is called once.

    :param destination: the required and the forbidden aggregates
    :param limit: the most candidates to return, None for all
    :raises: `exception.Unavailable` when Placement does not answer
    """
    query = [('resources', _amounts(wanted.amounts)),
             *_member_of(destination)]
    traits = [*sorted(wanted.required),
              *(f'!{trait}' for trait in sorted(wanted.forbidden))]
    if traits:
        query.append(('required', ','.join(traits)))
    if limit is not None:
        query.append(('limit', str(limit)))
    return placement.candidates(context, urllib.parse.urlencode(query))


def free(
    context: nova_context.RequestContext, classes: Iterable[str],
    destination: objects.Destination | None,
) -> dict[str, capacity.Host]:
    """Return ``uuid of the node -> host``, with what is free on each host.

    Placement is called once for each resource class. A host without any free
    resource of the classes has no entry.

    :raises: `exception.Unavailable` when Placement does not answer
    """
    hosts: dict[str, capacity.Host] = {}
    for name in sorted(classes):
        hosts.update(offered(context, capacity.Need({name: 1}), destination))
    return hosts


def holdings(
    context: nova_context.RequestContext, name: str,
    destination: objects.Destination | None,
) -> dict[str, host_resources.Resources]:
    """Return what hosts have, for the hosts with anything left of a class.

    Placement is called once.

    :param name: the resource class; no host has anything of an unknown class
    :param destination: as for `offered`
    :returns: ``uuid of the node -> all resources and traits``
    :raises: `exception.Unavailable` when Placement does not answer
    """
    return placement.holdings(
        context, [('resources', f'{name}:1'), *_member_of(destination)])


def _member_of(
    destination: objects.Destination | None,
) -> list[tuple[str, str]]:
    if destination is None:
        return []
    parameters = [('member_of', f'in:{aggregate}')
                  for aggregate in destination.aggregates or ()]
    if destination.forbidden_aggregates:
        forbidden = ','.join(sorted(destination.forbidden_aggregates))
        parameters.append(('member_of', f'!in:{forbidden}'))
    return parameters
