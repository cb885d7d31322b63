# SPDX-License-Identifier: Apache-2.0

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

from pcloud import exception
from pcloud.objects.placing import affinity_keys
from pcloud.objects.placing import sticky_keys
from pcloud.rules.placing import affinity
from pcloud.rules.placing import hints
from pcloud.rules.placing import sticky
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

    The first call for a request makes a query; for a move another query, and
    the further queries of `sticky_keys` where hosts have sticky keys or the
    server has kept copies.
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
    copies = _copies(context, spec, host_states)
    memo.of_request(spec).copies = copies
    kept = copies.kept if copies else ()
    system = affinity.compiled([
        *_system_levels(spec, request_hints),
        [key for key in kept if not affinity.is_reserved(key.name)]])
    customer = affinity.compiled([
        affinity_keys.of_server(request_hints, _extra_specs(spec)).values(),
        [key for key in kept if affinity.is_reserved(key.name)]])
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
    devices = affinity_keys.recorded(
        request_hints, hints.DEVICE_SYSTEM_RECORD)
    return [defaults, cloud, of_domain, project, image, of_pcloud,
            affinity_keys.system(_extra_specs(spec)), devices]


def _extra_specs(spec: objects.RequestSpec) -> Mapping[str, str]:
    flavor = spec.flavor if 'flavor' in spec else None
    if flavor is None or 'extra_specs' not in flavor:
        return {}
    return flavor.extra_specs


def _copies(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> sticky.Copies | None:
    """Return the copies of sticky keys that a server has kept.

    Nothing is read for a new server. Copies are read for every move, even when
    no host has keys: only then is it known on which host the server has
    started before.

    :returns: None when the server neither has copies nor can get copies

    Rule: reference-placement-keys-sticky
    """
    has_sticky = node_keys.has_sticky(host_states)
    if not request.is_move(spec) and not sticky_keys.is_explained():
        return sticky.Copies() if has_sticky else None
    try:
        copies = sticky_keys.copies_of(context, spec.instance_uuid)
        if copies is None and has_sticky:
            return sticky_keys.first_copies(context, spec.instance_uuid)
        return copies
    except exception.Unavailable as error:
        LOG.warning('Sticky keys of server %(server)s are left out: '
                    '%(error)s',
                    {'server': spec.instance_uuid, 'error': error})
        return None


def record_offers(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> None:
    """Record the copies that a server keeps, and those that hosts offer.

    To be called after `compiled` and before the server has a host, so that
    the record is there whatever fails afterwards. A transaction for each
    server of the request; none where no host has sticky keys and the server
    has no copies.

    Rule: reference-placement-keys-sticky
    """
    request_memo = memo.of_request(spec)
    if request_memo.copies is None or (
            spec.instance_uuid in request_memo.recorded):
        return
    sticky_keys.record(
        nova_context.get_admin_context(), spec.instance_uuid,
        request_memo.copies, node_keys.sticky(host_states))
    request_memo.recorded.add(spec.instance_uuid)
