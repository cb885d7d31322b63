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

"""Placement keys of a request: what its server would like a host to have.

Rule: reference-placement-keys-levels
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from fractions import Fraction

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.backend import servers
from pcloud import exception
from pcloud.objects import affinity_keys
from pcloud.rules import affinity
from pcloud.rules import hints
from pcloud.scheduler import host_capacity
from pcloud.scheduler import memo
from pcloud.scheduler import node_keys
from pcloud.scheduler import request

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

_SPECIAL_WEIGHTS = {affinity.RAM: 'ram_contention_weight',
                    affinity.CPU: 'cpu_contention_weight',
                    affinity.LOAD: 'load_weight'}


def compiled(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> memo.CompiledKeys:
    """Return the effective placement keys of a request.

    The first call for a request makes a query; where hosts have sticky keys,
    two more queries, and a query to each cell.
    """
    request_memo = memo.of_request(spec)
    if request_memo.keys is None:
        request_memo.keys = _compiled(spec, host_states)
    return request_memo.keys


def _compiled(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> memo.CompiledKeys:
    context = nova_context.get_admin_context()
    request_hints = request.scheduler_hints(spec)
    # Without a host with a sticky key the former host does not matter.
    sticky = (_sticky(context, spec) if node_keys.has_sticky(host_states)
              else [])
    system = affinity.compiled([
        *_system_levels(spec, request_hints),
        [key for key in sticky if not affinity.is_reserved(key.name)]])
    customer = affinity.compiled([
        affinity_keys.of_server(request_hints, _extra_specs(spec)).values(),
        [key for key in sticky if affinity.is_reserved(key.name)]])
    return memo.CompiledKeys(system, customer)


def _system_levels(
    spec: objects.RequestSpec, request_hints: Mapping[str, Sequence[str]],
) -> list[Sequence[affinity.Key]]:
    """Return the system keys of each level, from the highest."""
    of_pcloud, project, of_domain, cloud = (
        policy.system_keys for policy in request.policies(spec))
    defaults = [affinity.Key(name, Fraction(0), weight) for name, option
                in _SPECIAL_WEIGHTS.items()
                if (weight := host_capacity.exact(CONF.pcloud[option]))]
    image = affinity_keys.recorded(request_hints, hints.IMAGE_RECORD)
    return [defaults, cloud, of_domain, project, image, of_pcloud,
            affinity_keys.system(_extra_specs(spec))]


def _extra_specs(spec: objects.RequestSpec) -> Mapping[str, str]:
    flavor = spec.flavor if 'flavor' in spec else None
    if flavor is None or 'extra_specs' not in flavor:
        return {}
    return flavor.extra_specs


def _sticky(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> list[affinity.Key]:
    """Return the sticky keys of a server's former host, if any.

    Rule: reference-placement-keys-sticky
    """
    if 'instance_uuid' not in spec or not spec.instance_uuid:
        return []
    try:
        host = servers.last_host(context, spec.instance_uuid)
    except exception.Unavailable as error:
        LOG.warning('Sticky keys of server %(server)s are left out: '
                    '%(error)s',
                    {'server': spec.instance_uuid, 'error': error})
        return []
    return affinity_keys.sticky_of_host(context, host) if host else []
