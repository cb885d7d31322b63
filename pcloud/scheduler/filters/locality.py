# SPDX-License-Identifier: Apache-2.0

"""The filter that keeps servers near to and far from each other."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager

from pcloud.backend.cells import expected_places
from pcloud.backend.cells import servers
from pcloud import exception
from pcloud.objects.placing import host_attributes as inherited
from pcloud.rules.placing import attributes as attribute_rules
from pcloud.rules.placing import locality
from pcloud.rules.placing import reasons
from pcloud.scheduler.filters import base
from pcloud.scheduler import host_attributes
from pcloud.scheduler import memo
from pcloud.scheduler import request
from pcloud.scheduler import siblings

_SILENT = 'a part of the cloud does not report where servers are'
_NOWHERE = ('no host that could take the server is where the hints near and '
            'far want it')


class LocalityFilter(base.ListFilter):
    """Keep hosts near to or far from servers of the same project.

    `locality.placing.locality.passing_hosts` decides which hosts are kept. The
    hosts of servers and the servers of tags are looked up once per request. A
    strict wish which no host can meet ends the request, so the server's fault
    states the reason.

    Nova uses the hosts kept for the first server of a multi-create for all its
    servers, so for several servers the filter drops only hosts that a strict
    wish refuses; weighers apply the preference. Servers of the request that
    were placed before count where the wish names a tag of these servers.

    A server being moved ignores named servers deleted since its start.

    Rule: reference-locality-filter
    """

    refusals = (exception.InvalidValue, exception.LocalityUnknown,
                exception.HostsRefused)

    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts where the request wants its server.

        A preference ignores servers whose cell does not answer.
        """
        wish = locality.wish(request.scheduler_hints(spec))
        if wish is None:
            return host_states
        if siblings.are_several(spec):
            hosts = _hosts_for_several(host_states, spec, wish)
        else:
            hosts = _passing_hosts(host_states, spec, wish)
        return [host_state for host_state in host_states
                if host_state.host in hosts]

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None for a host that is kept.

        The reasons hold for the first server of a request.

        :raises: `exception.InvalidValue`, `exception.LocalityUnknown`,
            `exception.HostsRefused` when the reason is the same for all
            hosts
        """
        wish = locality.wish(request.scheduler_hints(spec))
        if wish is None:
            return [None] * len(host_states)
        places = _places(host_states, spec, wish)
        hosts = [host_state.host for host_state in host_states]
        known_hosts = [host for host in hosts if host not in places.silent]
        stages = locality.stages(
            known_hosts, places.racks, places.near, places.far, wish.strict)
        return reasons.of_stages(hosts, [
            (_fallen(text, places.racks), rest)
            for text, rest in [(_SILENT, known_hosts), *stages]])


def _refusal(reason: str) -> exception.HostsRefused:
    return exception.HostsRefused(f'Strict locality cannot be kept: {reason}.')


@dataclasses.dataclass(frozen=True)
class _Places:
    """The hosts and racks for a decision about locality.

    :ivar racks: ``service host -> rack`` of the candidates and the servers'
        hosts
    :ivar near: the host of each server to be near to
    :ivar far: the host of each server to be far from
    :ivar silent: service hosts which may have servers to be far from, because
        the cell of the host does not answer
    """

    racks: dict[str, str | None]
    near: list[str]
    far: list[str]
    silent: frozenset[str]


def _passing_hosts(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wish: locality.Wish,
) -> frozenset[str]:
    """Return the service hosts that are kept.

    :raises: `exception.LocalityUnknown`, `exception.HostsRefused` when a
        strict wish cannot be met
    """
    places = _places(host_states, spec, wish)
    hosts = locality.passing_hosts(
        [host_state.host for host_state in host_states
         if host_state.host not in places.silent],
        places.racks, places.near, places.far, wish.strict)
    if not hosts:
        raise _refusal(_NOWHERE)
    return frozenset(hosts)


def _hosts_for_several(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wish: locality.Wish,
) -> frozenset[str]:
    """Return the service hosts for a server of a multi-create.

    The levels of the hosts are left to weighers.

    :raises: `exception.LocalityUnknown`, `exception.HostsRefused` when a
        strict wish cannot be met
    """
    request_memo = memo.of_request(spec)
    if request_memo.places is None:
        request_memo.places = (
            _places(host_states, spec, wish), _own_tags(spec, wish),
            list(host_states))
    places, own_tags, candidates = request_memo.places
    before = sorted(siblings.hosts(spec, host_states))
    near = places.near + before * (not own_tags.isdisjoint(wish.near))
    far = places.far + before * (not own_tags.isdisjoint(wish.far))
    # Also of hosts which later filters have dropped for an earlier server: a
    # single server would be refused if these were the best.
    hosts = [host_state.host for host_state in candidates
             if host_state.host not in places.silent]
    rule = locality.strict_levels if wish.strict else locality.levels
    levels = {host: level for host, level in zip(
        hosts, rule(hosts, places.racks, near, far), strict=True)
        if level is not None}
    if not any(host_state.host in levels for host_state in host_states):
        raise _refusal(_NOWHERE)
    request_memo.levels['LocalityFilter'] = levels
    return frozenset(levels)


def _own_tags(
    spec: objects.RequestSpec, wish: locality.Wish,
) -> frozenset[str]:
    """Return the tags, as hints name tags, of the servers of a request."""
    if not wish.tags():
        return frozenset()
    return frozenset(map(locality.tag, servers.requested_tags(
        nova_context.get_admin_context(), spec.instance_uuid)))


def _fallen(
    text: str, racks: dict[str, str | None],
) -> Callable[[str], reasons.Reason]:
    def reason(host: str) -> reasons.Reason:
        rack = racks.get(host)
        return reasons.open_to_all(
            text, 'no rack is known of it' if rack is None else
            f'its rack is {rack}')
    return reason


def _places(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wish: locality.Wish,
) -> _Places:
    """Look up the hosts and racks for a wish.

    A strict wish counts each server also where the server may be soon.

    :raises: `exception.LocalityUnknown`, `exception.HostsRefused` when a
        strict wish needs a cell, or Placement, that does not answer
    """
    context = nova_context.get_admin_context()
    own = spec.instance_uuid
    find = expected_places.find if wish.strict else servers.find
    try:
        named_servers = find(context, spec.project_id, wish.servers() | {own},
                             wish.tags(), but=own)
    except exception.Unavailable:
        raise _refusal(_SILENT)
    known = locality.Known({
        **{uuid: [host] if host else [] for uuid, host
           in named_servers.servers.items() if uuid != own},
        **{locality.tag(tag): named_servers.tagged.get(tag, [])
           for tag in wish.tags()}})
    if wish.strict:
        if _silent_cells(wish.near, named_servers):
            raise _refusal(_SILENT)
        if own not in named_servers.placed:
            locality.check_known(wish, known)
    expected = locality.Known({
        **{uuid: hosts for uuid, hosts in named_servers.expected.items()
           if uuid != own},
        **{locality.tag(tag): hosts for tag, hosts
           in named_servers.expected_tagged.items()}})
    near, far = (known.hosts(named) + expected.hosts(named)
                 for named in (wish.near, wish.far))
    return _Places(_racks(context, host_states, near + far), near, far,
                   _silent_hosts(host_states, wish, named_servers))


def _silent_cells(
    named: Sequence[str], named_servers: servers.NamedServers,
) -> frozenset[str]:
    """Return the silent cells which may have named servers."""
    has_tag = any(map(locality.is_tag, named))
    return frozenset(cell for cell, there in named_servers.silent.items()
                     if has_tag or not there.isdisjoint(named))


def _silent_hosts(
    host_states: Sequence[host_manager.HostState], wish: locality.Wish,
    named_servers: servers.NamedServers,
) -> frozenset[str]:
    """Return the candidates which may have servers to be far from.

    A server runs in its cell, so the server is on no host of another cell.
    """
    if not wish.strict:
        return frozenset()
    cells = _silent_cells(wish.far, named_servers)
    return frozenset(host_state.host for host_state in host_states
                     if host_state.cell_uuid in cells)


def _racks(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], other_hosts: Sequence[str],
) -> dict[str, str | None]:
    """Return ``service host -> rack`` of the candidates and of other hosts."""
    racks = dict(zip((host_state.host for host_state in host_states),
                     host_attributes.values(host_states, attribute_rules.RACK),
                     strict=True))
    unseen = frozenset(other_hosts) - racks.keys()
    for host, attributes in inherited.effective(context, unseen).items():
        racks[host] = attributes.get(attribute_rules.RACK)
    return racks
