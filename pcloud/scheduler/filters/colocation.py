# SPDX-License-Identifier: Apache-2.0

"""The filter that puts co-located servers on one host."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager

from pcloud.backend.cells import servers
from pcloud.backend import flavors
from pcloud import exception
from pcloud.rules import capacity
from pcloud.rules.placing import colocation
from pcloud.rules.placing import reasons
from pcloud.scheduler import candidates
from pcloud.scheduler.filters import base
from pcloud.scheduler import request


class ColocationFilter(base.ListFilter):
    """Keep hosts with the servers to be co-located with.

    The meaning of the hints is in `rules.placing.colocation`. Only servers of
    the same project count. A wish which no host can meet ends the request, so
    the server's fault states the reason.

    A server placed before is being moved: the server follows the service of
    ``with``, or else the parent of ``in``; ``beside`` and ``room_for`` do not
    count.

    Rule: reference-colocation-filter
    """

    # Every server of a multi-create has the same wish.
    is_same_for_siblings = True
    refusals = (exception.InvalidValue, exception.HostsRefused)

    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts where the server may be co-located.

        The filter makes two queries for the named servers and services and one
        query in each of their cells, and for ``room_for`` one query for the
        flavors and one call of Placement; none for requests without such
        hints.
        """
        hosts = host_states
        for stage in _stages(host_states, spec):
            hosts = stage.hosts
            if not hosts:
                raise exception.HostsRefused(
                    f'The server cannot be co-located: {stage.unmet}.')
        return hosts

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None for a host that is kept.

        :raises: `exception.InvalidValue`, `exception.HostsRefused`
            when the reason is the same for all hosts
        """
        return reasons.of_stages(host_states, (
            (stage.why, stage.hosts)
            for stage in _stages(host_states, spec)))


@dataclasses.dataclass(frozen=True)
class _Stage:
    """A wish of a request, met.

    :ivar hosts: the remaining hosts
    :ivar why: ``host -> reason`` for each dropped host
    :ivar unmet: the reason when no host remains
    """

    hosts: Sequence[host_manager.HostState]
    why: Callable[[host_manager.HostState], reasons.Reason]
    unmet: str


def _stages(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> Iterator[_Stage]:
    """Yield the remaining hosts for each wish; the last stage's are kept."""
    wish = colocation.wish(request.scheduler_hints(spec))
    if not (wish.is_co_located or wish.needs_some_hosts):
        return
    context = nova_context.get_admin_context()
    placed = servers.find(
        context, spec.project_id, {spec.instance_uuid}, (),
        but=spec.instance_uuid).placed
    stages = _moved if placed else _started
    yield from stages(context, host_states, spec, wish)


def _started(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    wish: colocation.Wish,
) -> Iterator[_Stage]:
    hosts = host_states
    if wish.parent:
        stage = _on(hosts, wish.parent,
                    _unit_places(context, spec, wish.parent))
        yield stage
        hosts = stage.hosts
    if wish.beside:
        there = servers.hosts(context, spec.project_id, wish.beside)
        for server_id in wish.beside:
            stage = _on(hosts, server_id, _only(there, {server_id}))
            yield stage
            hosts = stage.hosts
    if wish.room_for:
        yield _with_room(context, hosts, spec, wish)


def _moved(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    wish: colocation.Wish,
) -> Iterator[_Stage]:
    for followed in wish.followed:
        places = _unit_places(context, spec, followed)
        if places.hosts or places.silent or places.under_way:
            yield _on(host_states, followed, places)
            return
    # With all its neighbours gone the server is alone, wherever it goes.


def _unit_places(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    parent: str,
) -> servers.Places:
    """Return the hosts of a service's units, or of a server."""
    if colocation.is_server(parent):
        members = servers.hosts(context, spec.project_id, [parent])
    else:
        members = servers.units(context, spec.project_id, parent)
    return _only(members, (members.hosts.keys() | members.silent |
                           members.under_way) - {spec.instance_uuid})


def _only(places: servers.Places, uuids: Collection[str]) -> servers.Places:
    return servers.Places(
        {uuid: host for uuid, host in places.hosts.items() if uuid in uuids},
        places.silent.intersection(uuids),
        places.under_way.intersection(uuids))


def _on(
    host_states: Sequence[host_manager.HostState], named: str,
    places: servers.Places,
) -> _Stage:
    """Return the hosts of the named service or server.

    Hosts in a cell that does not answer take no server, so the servers of such
    hosts do not matter. A server that is being built or moved may be elsewhere
    in the end.
    """
    hosts = frozenset(places.hosts.values())
    if not hosts:
        unmet = ('a part of the cloud does not report where servers are'
                 if places.silent else
                 f"what is known as '{named}' is still being built or moved"
                 if places.under_way else
                 f"nothing of the project that is known as '{named}' is on "
                 'a host')
        return _Stage([], lambda host_state: reasons.open_to_all(unmet),
                      unmet)
    return _Stage(
        [host_state for host_state in host_states if host_state.host in hosts],
        lambda host_state: reasons.open_to_all(
            f"nothing of the project that is known as '{named}' is on it"),
        f"no host with '{named}' can take it")


def _with_room(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    wish: colocation.Wish,
) -> _Stage:
    """Return hosts with capacity for the server and its neighbours to come.

    Placement is asked once, for hosts with capacity for the largest of the
    servers, and tells how much is free on the hosts.

    :raises: `exception.HostsRefused`
    """
    needs = [candidates.need(spec), *_companions(context, wish)]
    group = capacity.total(needs)
    try:
        hosts = candidates.offered(
            context, capacity.largest(needs), spec.requested_destination)
    except exception.Unavailable:
        raise exception.HostsRefused(
            'The server cannot be co-located: Placement does not report which '
            'hosts have capacity.')
    text = ', '.join(capacity.words(group))
    return _Stage(
        [host_state for host_state in host_states
         if host_state.uuid in hosts
         and capacity.fits(group, hosts[host_state.uuid])],
        lambda host_state: _shortage(group, hosts.get(host_state.uuid)),
        f'no host has capacity for all of its group ({text})')


def _companions(
    context: nova_context.RequestContext, wish: colocation.Wish,
) -> list[capacity.Need]:
    try:
        flavors_ = flavors.by_ids(
            context, [companion.flavor for companion in wish.room_for])
        return [candidates.need_of(flavor, companion.on_volume)
                for flavor, companion in zip(flavors_, wish.room_for)]
    except (exception.FlavorNotFound, exception.FlavorUnusable) as error:
        raise exception.HostsRefused(
            f"The server cannot be co-located: {str(error).rstrip('.')}.")


def _shortage(
    group: capacity.Need, host: capacity.Host | None,
) -> reasons.Reason:
    wanted = ', '.join(capacity.words(group))
    return reasons.open_to_all(
        f'it has no capacity for all of the group ({wanted})',
        '; '.join(capacity.shortages(group, host)) if host else '')
