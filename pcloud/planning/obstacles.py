# SPDX-License-Identifier: Apache-2.0

"""How many more servers of a flavor a Pcloud takes, and the obstacles.

The reader is the owner of the Pcloud: hosts have the owner's names, and no
fact about other hosts of the cloud is shown.

Rule: reference-room-explain
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import copy
import dataclasses

from nova import context as nova_context
from nova import exception as nova_exception
from nova import filters as nova_filters
from nova import objects
from nova.scheduler import host_manager
import os_traits

from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud.explain import conductor
from pcloud.explain import filtering
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.planning import demands
from pcloud.planning import host_parts
from pcloud.planning import host_states
from pcloud.planning.programs import fitting
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.placing import access
from pcloud.rules.placing import hints
from pcloud.rules.placing import house_rules
from pcloud.scheduler import candidates
from pcloud.scheduler import prefilter

STATE, STATUS, ROOM, INCONSISTENT = 'state', 'status', 'room', 'inconsistent'

# More servers than any host takes.
_MANY = 10_000

# State and status of a host show the answers of these filters to the owner.
_TOLD_OTHERWISE = ('PcloudFilter', 'ComputeFilter')
_STATUS = {'down': coded.Reason('host_down'),
           'maintenance': coded.Reason('host_in_maintenance')}


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """A reason why a host does not take the next server.

    :ivar rule: `STATE`, which the owner sets, `STATUS`, `ROOM`,
        `INCONSISTENT` or the name of a filter
    """

    rule: str
    reason: coded.Reason


@dataclasses.dataclass(frozen=True)
class HostRoom:
    """A host of the Pcloud.

    :ivar would_fit: for how many more servers of the flavor there is capacity
    :ivar in_the_way: all obstacles to the next server
    """

    host: hosts.Host
    would_fit: int
    in_the_way: tuple[Obstacle, ...]

    @property
    def fits(self) -> int:
        """How many more servers of the flavor the host takes now."""
        return 0 if self.in_the_way else self.would_fit


@dataclasses.dataclass(frozen=True)
class FlavorFit:
    """How many servers of a flavor a Pcloud takes, and why not more.

    :ivar left: ``uuid of the node -> free resources``
    :ivar refused: why no host at all is right, None when some host may be
    :ivar not_explained: filters that refused hosts without a reason, filters
        that could not be asked, and what cannot be counted
    :ivar needs_parts: whether servers need parts of hosts, beside amounts
    """

    spec: objects.RequestSpec
    need: capacity.Need
    hosts: tuple[HostRoom, ...]
    free: Mapping[str, capacity.Host]
    refused: coded.Reason | None
    not_explained: tuple[coded.Reason, ...]
    needs_parts: bool

    @property
    def fits(self) -> int:
        """How many more servers of the flavor the Pcloud takes now."""
        return 0 if self.refused else sum(
            host_room.fits for host_room in self.hosts)


def explain(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    flavor: objects.Flavor, domain: str | None,
) -> FlavorFit:
    """Return the obstacles to servers of a flavor in a Pcloud.

    The servers belong to the owner, without hints and with an image without
    requirements. Placement is called once, once for each resource class of the
    flavor, and once for each group of resources for which it matters which
    provider gives it; the number of queries does not depend on the number of
    hosts.

    :param domain: the domain of the owner's project, None when unknown
    :raises: `exception.Unavailable`, `exception.FlavorUnusable`,
        `exception.PcloudNotFound` when the Pcloud is deleted meanwhile
    """
    spec = request_of(context, pcloud, flavor, domain)
    refused = refusal(context, pcloud, spec)
    need = need_of(spec)
    there = hosts.index(context, pcloud)
    free = candidates.free(context, need.amounts, spec.requested_destination)
    needed = demands.read(
        context, [candidates.parts(spec)], [spec], free.values(),
        spec.requested_destination)
    # Placement is asked about groups of resources apart.
    offered = free.keys() if needed.groups else candidates.offered(
        context, need, spec.requested_destination).keys()
    states = host_states.of_hosts(context, there)
    rooms, is_known = _rooms(needed, need, free, states)
    seen = _Seen(access_of(context, pcloud), need, free, offered, rooms)
    host_rooms = [_host(seen, host) for host in there]
    filtered, not_explained = _filtered(host_rooms, states, spec)
    return FlavorFit(
        spec, need, tuple(
            dataclasses.replace(host_room, in_the_way=(
                *host_room.in_the_way,
                *filtered.get(host_room.host.compute.host, ())))
            for host_room in host_rooms),
        seen.free, refused, (*not_explained, *(
            coded.Reason('flavor_unplanned', flavor=flavor.flavorid,
                         doubt=doubt)
            for doubt in needed.unknown.values()), *(
            [] if is_known else [coded.Reason('more_somewhere')])),
        bool(needed.of))


def _rooms(
    needed: demands.Demands, need: capacity.Need,
    free: Mapping[str, capacity.Host],
    states: Sequence[host_manager.HostState],
) -> tuple[dict[str, int] | None, bool]:
    """Return for how many servers of a flavor the parts of hosts suffice.

    :returns: ``uuid of the node -> number``, None for a flavor of which what
        is free of each class tells all; and whether no host takes more
    """
    if not needed.of:
        return None, True
    parts = host_parts.Hosts(needed)
    kind = fitting.ServerKind(need.amounts, _MANY)
    packed = {}
    for state in states:
        found = free.get(state.uuid, capacity.Host({}, frozenset()))
        packed[state.uuid] = parts.packed(
            [kind], state, found, fitting.TargetHost({
                name: sum(max(each, 0) for each in amounts)
                for name, amounts in found.free.items()}))
    return ({uuid: fitting.room(kind, 0, host)
             for uuid, host in packed.items()},
            fitting.is_known(packed.values()))


def passing(
    context: nova_context.RequestContext, names: Collection[str],
    spec: objects.RequestSpec,
) -> set[str]:
    """Return which of some service hosts all filters would keep.

    The hosts are loaded as by `host_states.load`. Filters on values that the
    owner of a host can change are not asked. A filter that fails keeps none.
    """
    states = host_states.load(context, names)
    try:
        return kept(states, asked(filtering.load()), spec)
    except exception.FilterFailed:
        return set()


def kept(
    states: Sequence[host_manager.HostState],
    filters: Iterable[nova_filters.BaseFilter], spec: objects.RequestSpec,
) -> set[str]:
    """Return which of some service hosts all of some filters would keep.

    :raises: `exception.FilterFailed` for a filter that tells nothing
    """
    its_spec = copy.deepcopy(spec)
    dropped = {
        host for filter_ in filters
        for host in _dropped(filter_, states, its_spec)} if states else set()
    return {state.host for state in states} - dropped


def _dropped(
    filter_: nova_filters.BaseFilter,
    states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> list[str]:
    outcome = _outcome(filter_, states, spec)
    if outcome.refusal is not None and filtering.is_failure(outcome.refusal):
        raise exception.FilterFailed(filter=outcome.rule)
    return [drop.host_state.host for drop in outcome.dropped]


@dataclasses.dataclass(frozen=True)
class _Seen:
    """The facts that were read for all hosts together.

    :ivar offered: the uuids of the nodes on which Placement has capacity
    :ivar rooms: for how many servers the parts of each node suffice, by uuid;
        None where what is free of each class tells all
    """

    access: access.Pcloud
    need: capacity.Need
    free: Mapping[str, capacity.Host]
    offered: Collection[str]
    rooms: Mapping[str, int] | None


def request_of(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    flavor: objects.Flavor, domain: str | None,
) -> objects.RequestSpec:
    """Return the request of a server of the owner, without hints.

    :param domain: the domain of the owner's project, None when unknown
    :raises: `exception.FlavorUnusable`
    """
    spec = conductor.make(
        context, flavor, conductor.no_image(), pcloud.owner, {
            hints.PCLOUD: [pcloud.id], hints.DOMAIN_RECORD: [domain or '']})
    spec.requested_destination = objects.Destination(
        aggregates=[pcloud.aggregate.uuid])
    return spec


def refusal(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    spec: objects.RequestSpec,
) -> coded.Reason | None:
    """Return why no host at all is right, None when some host may be.

    Pcloud's own request filter would only state that there is no capacity.
    """
    if pcloud.owner not in pcloud.tenants:
        return coded.Reason('owner_not_a_tenant')
    return house_rules.against_flavor(
        pcloud.flavors, spec.flavor.flavorid) or refusal_of_nova(context, spec)


def refusal_of_nova(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> coded.Reason | None:
    """Return why Nova finds no host right, None when some host may be."""
    try:
        prefilter.narrow_as_nova(context, spec)
    except nova_exception.RequestFilterFailed as error:
        return conductor.reason(error)
    return None


def need_of(spec: objects.RequestSpec) -> capacity.Need:
    """Return what the server of a request needs, wherever it may start."""
    need = candidates.need(spec)
    # The status of a host shows maintenance.
    return dataclasses.replace(need, forbidden=need.forbidden - {
        os_traits.COMPUTE_STATUS_DISABLED})


def access_of(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
) -> access.Pcloud:
    """Return what decides who may be placed in a Pcloud.

    :raises: `exception.PcloudNotFound` when the Pcloud is deleted meanwhile
    """
    pair = isolation.pcloud_access(context, pcloud.id)
    if pair is None:
        raise exception.PcloudNotFound(pcloud=pcloud.id)
    return pair[1]


def _filtered(
    hosts_: Sequence[HostRoom], states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec,
) -> tuple[Mapping[str, Sequence[Obstacle]], tuple[coded.Reason, ...]]:
    """Ask every filter about every host, not only about the hosts left.

    The answer of a filter for a host may depend on the other hosts in the
    question. Hosts with other obstacles are asked about apart, for
    nova-scheduler would not see such hosts.

    :param hosts_: hosts with their other obstacles
    :returns: ``service host -> obstacles``; and the filters which give no
        reason, or which this process could not load
    """
    ready = {host_room.host.compute.host for host_room in hosts_
             if not host_room.in_the_way}
    apart = ([state for state in states if state.host in ready],
             [state for state in states if state.host not in ready])
    groups = [(group, copy.deepcopy(spec)) for group in apart if group]
    loaded = filtering.load()
    by_host: dict[str, list[Obstacle]] = collections.defaultdict(list)
    not_explained = {coded.Reason('filter_unasked', filter=name)
                     for name in loaded.missing}
    for filter_ in asked(loaded):
        name = filtering.name(filter_)
        for group, its_spec in groups:
            for dropped in _outcome(filter_, group, its_spec).dropped:
                if dropped.reason is None:
                    not_explained.add(
                        coded.Reason('filter_unexplained', filter=name))
                by_host[dropped.host_state.host].append(Obstacle(
                    name, coded.Reason('filter_silent')
                    if dropped.reason is None
                    else coded.of(dropped.reason.tenant_text)))
    return by_host, tuple(sorted(not_explained))


def asked(loaded: filtering.Loaded) -> list[nova_filters.BaseFilter]:
    """Return the filters whose answers are not told in another way."""
    return [filter_ for filter_ in loaded.filters
            if filtering.name(filter_) not in _TOLD_OTHERWISE]


def _outcome(
    filter_: nova_filters.BaseFilter,
    host_states_: Sequence[host_manager.HostState],
    spec: objects.RequestSpec,
) -> filtering.Outcome:
    with filtering.keeping_candidates(host_states_):
        return filtering.outcome(filter_, host_states_, spec)


def _host(seen: _Seen, host: hosts.Host) -> HostRoom:
    if not host.compute.answered:
        return HostRoom(
            host, 0, (*state(seen.access, host), *status(host)))
    shortages = _shortages(seen, host)
    free_host = seen.free.get(host.node.uuid or '')
    if shortages or free_host is None:
        room = 0
    elif seen.rooms is None:
        room = capacity.fits(seen.need, free_host)
    else:
        room = seen.rooms.get(host.node.uuid or '', 0)
    return HostRoom(
        host, room,
        (*state(seen.access, host), *status(host),
         *(Obstacle(ROOM, shortage) for shortage in shortages)))


def state(pcloud: access.Pcloud, host: hosts.Host) -> list[Obstacle]:
    """Return the obstacle that the rows are to servers on a host, if any."""
    verdict = access.host_verdict(
        pcloud, host.compute.host, host.node.hypervisor_hostname)
    if verdict:
        return []
    if verdict in (access.IS_DISABLED, access.IS_DUE, access.IS_LEAVING):
        return [Obstacle(STATE, verdict.reason)]
    # The owner must not learn that another owner's Pcloud has the host.
    return [Obstacle(INCONSISTENT, coded.Reason('inconsistent'))]


def status(host: hosts.Host) -> list[Obstacle]:
    """Return the obstacle that the status of a host is, if any."""
    return [Obstacle(STATUS, _STATUS[host.status])
            ] if host.status in _STATUS else []


def _shortages(seen: _Seen, host: hosts.Host) -> list[coded.Reason]:
    uuid = host.node.uuid or ''
    # A host without an entry has no free resources and unknown traits.
    nothing = capacity.Host(dict.fromkeys(seen.need.amounts, (0,)),
                            seen.need.required)
    found = seen.free.get(uuid, nothing)
    if seen.rooms is not None:
        found = dataclasses.replace(found, free={
            name: (sum(max(each, 0) for each in amounts),)
            for name, amounts in found.free.items()})
    problems = capacity.shortages(seen.need, found)
    if not problems and seen.rooms is not None and not seen.rooms.get(uuid):
        problems.append(coded.Reason('parts_too_small'))
    if not problems and uuid not in seen.offered:
        problems.append(coded.Reason('host_too_small'))
    return problems
