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

"""The filter that keeps servers near to and far from each other."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import filters
from nova.scheduler import host_manager
from nova.scheduler import utils
from oslo_log import log as logging

from pcloud.aggregates import attributes as inherited
from pcloud.aggregates import servers
from pcloud import exception
from pcloud.rules import attributes as attribute_rules
from pcloud.rules import locality
from pcloud.scheduler import attributes

LOG = logging.getLogger(__name__)


class LocalityFilter(filters.BaseHostFilter):
    """Keep hosts near to or far from servers of the same project.

    What is kept is told in `rules.locality.kept`. Where the servers are, and
    which have a tag, is looked up once per request. A strict wish that no
    host can meet ends the request, so that the server's fault says why.

    A server that is there already and is moved does not mind that others,
    which it was to be near to or far from, have been deleted meanwhile.

    Source: CONTRACT section 4; RFD 24, "Desired State".
    """

    # Every server of a multi-create has the same wish.
    run_filter_once_per_request = True

    def filter_all(
        self, filter_obj_list: Sequence[host_manager.HostState],
        spec_obj: objects.RequestSpec,
    ) -> Iterator[host_manager.HostState]:
        """Yield the hosts that are where the request would like them.

        A rebuild stays where it is.

        :raises: `nova.exception.NoValidHost` when a hint is not valid, or a
            strict wish cannot be met; its reason becomes the server's fault
        """
        if not filter_obj_list or utils.request_is_rebuild(spec_obj):
            return iter(filter_obj_list)
        try:
            kept = _kept(filter_obj_list, spec_obj)
        except (exception.InvalidLocality, exception.LocalityUnknown,
                exception.LocalityUnmet) as error:
            LOG.info('No host for a server of project %(project)s: %(error)s',
                     {'project': spec_obj.project_id, 'error': error})
            raise nova_exception.NoValidHost(reason=str(error))
        return (host_state for host_state in filter_obj_list
                if host_state.host in kept)


def _kept(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec,
) -> frozenset[str]:
    """Return the service hosts that are kept."""
    candidates = [each.host for each in host_states]
    wish = locality.wish(
        spec.scheduler_hints if 'scheduler_hints' in spec else None)
    if wish is None:
        return frozenset(candidates)
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
    kept = locality.kept(
        candidates, _racks(context, host_states, near + far), near, far,
        wish.strict)
    if not kept:
        raise exception.LocalityUnmet(
            reason='no host that could take the server is near to and far '
                   'from the servers it names')
    return frozenset(kept)


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
    is_moved = found.servers.get(own) is not None
    if wish.strict and not is_moved:
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
