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

"""Feed locality from a request and the hosts it may have."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager

from pcloud.aggregates import attributes as inherited
from pcloud.aggregates import servers
from pcloud import exception
from pcloud.rules import attributes as attribute_rules
from pcloud.rules import locality
from pcloud.rules import reasons
from pcloud.scheduler import host_attributes
from pcloud.scheduler import request

_SILENT = 'a part of the cloud does not tell where servers are'


@dataclasses.dataclass(frozen=True)
class _Places:
    """What locality depends on.

    :ivar racks: host to rack, of the candidates and the servers' hosts
    :ivar near: the host of each server to be near to
    :ivar far: the host of each server to be far from
    :ivar silent: service hosts that may have such servers, for their cell
        does not tell
    """

    racks: dict[str, str | None]
    near: list[str]
    far: list[str]
    silent: frozenset[str]


def wish(spec: objects.RequestSpec) -> locality.Wish | None:
    """Return what a request says of its place, or None.

    :raises: `exception.InvalidLocality`
    """
    return locality.wish(request.scheduler_hints(spec))


def kept(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wish: locality.Wish,
) -> frozenset[str]:
    """Return the service hosts that are kept.

    What is preferred leaves out servers whose cell does not answer.

    :raises: `exception.LocalityUnknown`, `exception.LocalityUnmet` when a
        strict wish cannot be met
    """
    places = _places(host_states, spec, wish)
    found = locality.kept(
        [each.host for each in host_states if each.host not in places.silent],
        places.racks, places.near, places.far, wish.strict)
    if not found:
        raise exception.LocalityUnmet(
            reason='no host that could take the server is where the hints '
                   'near and far want it')
    return frozenset(found)


def why(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> list[reasons.Reason | None]:
    """Return why each host is not one of `kept`, None where it is.

    As for the first server of a request.

    :raises: `exception.InvalidLocality`, `exception.LocalityUnknown`,
        `exception.LocalityUnmet` when nobody tells where servers are
    """
    wanted = wish(spec)
    if wanted is None:
        return [None] * len(host_states)
    places = _places(host_states, spec, wanted)
    hosts = [each.host for each in host_states]
    told = [each for each in hosts if each not in places.silent]
    stages = locality.stages(
        told, places.racks, places.near, places.far, wanted.strict)
    return reasons.of_stages(hosts, [
        (_fallen(text, places.racks), left)
        for text, left in [(_SILENT, told), *stages]])


def _fallen(
    text: str, racks: dict[str, str | None],
) -> Callable[[str], reasons.Reason]:
    def why_one(host: str) -> reasons.Reason:
        rack = racks.get(host)
        return reasons.open_to_all(
            text, 'no rack is known of it' if rack is None else
            f'its rack is {rack}')
    return why_one


def _places(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wish: locality.Wish,
) -> _Places:
    """Look up what a wish depends on.

    :raises: `exception.LocalityUnknown`, `exception.LocalityUnmet` when a
        strict wish cannot do without a cell that does not answer
    """
    context = nova_context.get_admin_context()
    own = spec.instance_uuid
    found = servers.find(context, spec.project_id,
                         wish.servers() | {own}, wish.tags(), but=own)
    known = locality.Known({
        **{uuid: [host] if host else [] for uuid, host
           in found.servers.items() if uuid != own},
        **{locality.tag(each): found.tagged.get(each, [])
           for each in wish.tags()}})
    if wish.strict:
        if _silent_cells(wish.near, found):
            raise exception.LocalityUnmet(reason=_SILENT)
        if own not in found.placed:
            locality.check_known(wish, known)
    near, far = known.hosts(wish.near), known.hosts(wish.far)
    return _Places(_racks(context, host_states, near + far), near, far,
                   _silent_hosts(host_states, wish, found))


def _silent_cells(
    named: Sequence[str], found: servers.Found,
) -> frozenset[str]:
    """Return the cells that may have named servers, but do not answer."""
    has_tag = any(map(locality.is_tag, named))
    return frozenset(cell for cell, there in found.silent.items()
                     if has_tag or not there.isdisjoint(named))


def _silent_hosts(
    host_states: Sequence[host_manager.HostState], wish: locality.Wish,
    found: servers.Found,
) -> frozenset[str]:
    """Return the candidates that nobody knows to be far enough.

    A server runs in its cell, so it is on no host of another one.
    """
    if not wish.strict:
        return frozenset()
    cells = _silent_cells(wish.far, found)
    return frozenset(each.host for each in host_states
                     if each.cell_uuid in cells)


def _racks(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], others: Sequence[str],
) -> dict[str, str | None]:
    """Return service host to rack, of the candidates and of other hosts."""
    racks = dict(zip((each.host for each in host_states),
                     host_attributes.of(host_states, attribute_rules.RACK),
                     strict=True))
    unseen = frozenset(others) - racks.keys()
    for host, said in inherited.effective(context, unseen).items():
        racks[host] = said.get(attribute_rules.RACK)
    return racks
