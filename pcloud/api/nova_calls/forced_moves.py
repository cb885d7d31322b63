# SPDX-License-Identifier: Apache-2.0

"""Refuse moves that no scheduler would see.

Before microversion 2.30 a live migration that names a host goes to the host
without the scheduler, and so does an evacuation before 2.29; up to 2.67
``force`` has the same effect. Only the API can keep such a move from crossing
the border of a pool or Pcloud. The target gets the verdict that
``PcloudFilter`` would give.

Rule: reference-isolation-forced
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable

from nova.api.openstack import api_version_request
from nova.api.openstack.compute import servers as nova_servers
from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.policies import evacuate
from nova.policies import migrate_server
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import strutils

from pcloud.api.nova_calls import dispatch
from pcloud.backend.aggregates import isolation
from pcloud.backend.cells import compute_nodes
from pcloud import exception
from pcloud.objects.placing import usable_pclouds
from pcloud.rules import coded
from pcloud.rules.placing import access
from pcloud.rules.placing import hints
from pcloud.rules.placing import house_rules
from pcloud import text

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

_version = api_version_request.APIVersionRequest

# Action -> the first microversion in which a named host is not forced, and
# the policy rule that Nova checks.
_ACTIONS = {
    'os-migrateLive': (_version('2.30'), migrate_server.POLICY_ROOT %
                       'migrate_live:host'),
    'evacuate': (_version('2.29'), evacuate.BASE_POLICY_NAME),
}
_LAST_WITH_FORCE = _version('2.67')


def check(call: dispatch.NovaCall) -> None:
    """Refuse a forced move across the border of a pool or Pcloud.

    Nova answers calls that are no forced moves, calls that are not
    well-formed, and calls that the caller may not make.

    :raises: `exception.Conflict`, `exception.Unavailable` when the
        cell of the target does not answer
    """
    host = _forced_host(call)
    if host is None:
        return
    context, server = call.context, call.arguments['id']
    spec = _request_spec(context, server)
    _, rule = _ACTIONS[call.action]
    if not call.may(rule, spec.project_id if spec else context.project_id):
        return
    verdict = _verdict(context, spec, host)
    if verdict:
        return
    LOG.warning(
        'Forced move (%(action)s) of server %(server)s to %(host)s by '
        '%(user)s: %(reason)s; %(decision)s.',
        {'action': call.action, 'server': text.shown(server),
         'host': text.shown(host),
         'user': context.user_id, 'reason': verdict.reason,
         'decision': 'let through by [pcloud] allow_forced_moves'
         if CONF.pcloud.allow_forced_moves else 'refused'})
    if not CONF.pcloud.allow_forced_moves:
        raise exception.Conflict(
            f"Server {server} cannot be forced to host '{host}': "
            f'{verdict.reason}. Let the scheduler decide (no force, a newer '
            'microversion), or name a host on the right side.')


def _forced_host(call: dispatch.NovaCall) -> str | None:
    """Return the target of a forced move, None for all other calls."""
    if not call.is_of(nova_servers.ServersController, *_ACTIONS):
        return None
    try:
        values = call.body[call.action]
        host = values['host']
        forced = strutils.bool_from_string(values.get('force', False))
    except (AttributeError, KeyError, TypeError):
        return None
    unforced, _ = _ACTIONS[call.action]
    if (host and isinstance(host, str) and call.version <= _LAST_WITH_FORCE
            and (forced or call.version < unforced)):
        return host
    return None


def _request_spec(
    context: nova_context.RequestContext, server: str,
) -> objects.RequestSpec | None:
    if not text.is_askable(server):
        return None
    try:
        return objects.RequestSpec.get_by_instance_uuid(
            context.elevated(), server)
    except nova_exception.RequestSpecNotFound:
        return None


def _verdict(
    context: nova_context.RequestContext,
    spec: objects.RequestSpec | None, host: str,
) -> access.Verdict:
    """Return the verdict that the scheduler would have on a target."""
    if spec is None:
        return _outside(context, host)
    try:
        places = hints.places(spec.scheduler_hints)
        asked = usable_pclouds.asked(spec)
    except (exception.InvalidHint, exception.InvalidValue) as error:
        return access.Verdict(False, coded.of(error))
    # A server that prefers a Pcloud may be in the Pcloud, and outside.
    return max((_outside(context, host) if place is None else
                _inside(context, place, asked, host)
                for place in places), key=bool)


def _outside(
    context: nova_context.RequestContext, host: str,
) -> access.Verdict:
    closed = isolation.closed_hosts(context)
    return _worst(access.public_verdict(target, closed)
                  for target in _named(host, closed))


def _inside(
    context: nova_context.RequestContext, pcloud_id: str,
    asked: house_rules.Asked, host: str,
) -> access.Verdict:
    try:
        _, pcloud = usable_pclouds.find(context, pcloud_id, asked)
    except exception.PcloudUnusable as error:
        return access.Verdict(False, coded.of(
            'of the Pcloud that it was started in: '
            f'{error.details["reason"]}'))
    targets = _named(host, pcloud.hosts)
    nodes = _nodes(context, pcloud, targets)
    return _worst(access.host_verdict(pcloud, target, nodes.get(target, ''))
                  for target in targets)


def _named(host: str, hosts: Iterable[str]) -> list[str]:
    """Return the `hosts` that Nova may find by a name, else the name.

    A database that compares without case finds a host in any letter case.
    """
    return [name for name in hosts
            if name.casefold() == host.casefold()] or [host]


def _worst(verdicts: Iterable[access.Verdict]) -> access.Verdict:
    return min(verdicts, key=bool)


def _nodes(
    context: nova_context.RequestContext, pcloud: access.Pcloud,
    targets: Iterable[str],
) -> dict[str, str]:
    """Return service host -> hypervisor hostname, for targets in a Pcloud.

    :raises: `exception.Unavailable` when the cell of a target does not answer
    """
    inside = [target for target in targets if target in pcloud.hosts]
    nodes, silent = compute_nodes.known_nodes(context, inside)
    if silent:
        raise exception.Unavailable()
    return {name: node.hypervisor_hostname for name, node in nodes.items()}
