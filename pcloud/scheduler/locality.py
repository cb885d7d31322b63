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

from collections.abc import Sequence

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from oslo_log import log as logging

from pcloud.aggregates import attributes as inherited
from pcloud.aggregates import servers
from pcloud import exception
from pcloud.rules import attributes as attribute_rules
from pcloud.rules import locality
from pcloud.scheduler import attributes
from pcloud.scheduler import request

LOG = logging.getLogger(__name__)

# Where a request keeps which hosts its servers prefer.
_PREFERRED = '_pcloud_preferred'


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
        return frozenset(candidates)
    near, far = known.hosts(wish.near), known.hosts(wish.far)
    found = locality.kept(
        candidates, _racks(context, host_states, near + far), near, far,
        wish.strict)
    if not found:
        raise exception.LocalityUnmet(
            reason='no host that could take the server is where the hints '
                   'near and far want it')
    return frozenset(found)


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
