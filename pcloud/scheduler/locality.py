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
from oslo_log import log as logging

from pcloud.aggregates import attributes as inherited
from pcloud.aggregates import servers
from pcloud import exception
from pcloud.rules import attributes as attribute_rules
from pcloud.rules import locality
from pcloud.rules import reasons
from pcloud.scheduler import attributes
from pcloud.scheduler import request

LOG = logging.getLogger(__name__)

# Where a request keeps which hosts its servers prefer.
_PREFERRED = '_pcloud_preferred'


@dataclasses.dataclass(frozen=True)
class _Places:
    """What locality depends on.

    :ivar racks: host to rack, of the candidates and the servers' hosts
    :ivar near: the host of each server to be near to
    :ivar far: the host of each server to be far from
    """

    racks: dict[str, str | None]
    near: list[str]
    far: list[str]


def wish(spec: objects.RequestSpec) -> locality.Wish | None:
    """Return what a request says of its place, or None.

    :raises: `exception.InvalidLocality`
    """
    return locality.wish(request.scheduler_hints(spec))


def prefer(spec: objects.RequestSpec, hosts: frozenset[str]) -> None:
    """Keep with a request which service hosts its servers prefer."""
    setattr(spec, _PREFERRED, hosts)


def preferred(spec: objects.RequestSpec) -> frozenset[str]:
    """Return the service hosts that a request's servers prefer."""
    return getattr(spec, _PREFERRED, frozenset())


def kept(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wish: locality.Wish,
) -> frozenset[str]:
    """Return the service hosts that are kept.

    A preference is left out while a part of the cloud does not tell.

    :raises: `exception.LocalityUnknown`, `exception.LocalityUnmet` when a
        strict wish cannot be met
    """
    candidates = [each.host for each in host_states]
    places = _places(host_states, spec, wish)
    if places is None:
        return frozenset(candidates)
    found = locality.kept(
        candidates, places.racks, places.near, places.far, wish.strict)
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
    places = _places(host_states, spec, wanted) if wanted else None
    if places is None:
        return [None] * len(host_states)
    stages = locality.stages(
        [each.host for each in host_states], places.racks, places.near,
        places.far, wanted.strict)
    return reasons.of_stages(
        [each.host for each in host_states],
        [(_fallen(text, places.racks), left) for text, left in stages])


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
) -> _Places | None:
    """Look up what a wish depends on; None while nobody tells.

    :raises: `exception.LocalityUnknown`, `exception.LocalityUnmet` when a
        strict wish cannot do without
    """
    context = nova_context.get_admin_context()
    try:
        known = _known(context, spec, wish)
    except exception.Unavailable as error:
        if wish.strict:
            raise exception.LocalityUnmet(
                reason='a part of the cloud does not tell where servers are')
        LOG.warning('The locality that a server of project %(project)s '
                    'prefers is left out: %(error)s',
                    {'project': spec.project_id, 'error': error})
        return None
    near, far = known.hosts(wish.near), known.hosts(wish.far)
    return _Places(_racks(context, host_states, near + far), near, far)


def _known(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    wish: locality.Wish,
) -> locality.Known:
    """Look up what a wish names.

    :raises: `exception.LocalityUnknown`, `exception.Unavailable`
    """
    own = spec.instance_uuid
    found = servers.find(context, spec.project_id,
                         wish.servers() | {own}, wish.tags(), but=own)
    known = locality.Known({
        **{uuid: [host] if host else [] for uuid, host
           in found.servers.items() if uuid != own},
        **{locality.tag(each): found.tagged.get(each, [])
           for each in wish.tags()}})
    if wish.strict and own not in found.placed:
        locality.check_known(wish, known)
    return known


def _racks(
    context: nova_context.RequestContext,
    host_states: Sequence[host_manager.HostState], others: Sequence[str],
) -> dict[str, str | None]:
    """Return service host to rack, of the candidates and of other hosts."""
    racks = dict(zip((each.host for each in host_states),
                     attributes.of(host_states, attribute_rules.RACK),
                     strict=True))
    unseen = frozenset(others) - racks.keys()
    for host, said in inherited.effective(context, unseen).items():
        racks[host] = said.get(attribute_rules.RACK)
    return racks
