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

"""Refuse moves that no scheduler would see.

Before microversion 2.30 a live migration that names a host goes there
without asking the scheduler, and so does an evacuation before 2.29; from
then to 2.67 ``force`` does the same. Nothing but the API can keep such a
move from crossing the border of a pool or Pcloud.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import json
import re

from nova.api.openstack import api_version_request
from nova.api.openstack import wsgi as nova_wsgi
from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.policies import evacuate
from nova.policies import migrate_server
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import strutils

from pcloud.aggregates import snapshot
from pcloud import exception
from pcloud.rules import access
from pcloud.rules import hints

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

_version = api_version_request.APIVersionRequest

_PATH = re.compile(r'(?:/[0-9a-f-]+)?/servers/(?P<server>[^/]+)/action')

# Action to the first microversion in which naming a host does not force it,
# and the policy that Nova asks.
_ACTIONS = {
    'os-migrateLive': (_version('2.30'), migrate_server.POLICY_ROOT %
                       'migrate_live:host'),
    'evacuate': (_version('2.29'), evacuate.BASE_POLICY_NAME),
}
_LAST_WITH_FORCE = _version('2.67')


def check(request: nova_wsgi.Request) -> None:
    """Refuse a forced move across the border of a pool or Pcloud.

    Whatever is not a forced move, or not well-formed, or not for this
    caller, is left to Nova.

    :raises: `exception.ForcedMoveRefused`
    """
    found = _PATH.fullmatch(request.path_info)
    if found is None or request.method != 'POST':
        return
    action, host = _forced_move(request)
    if action is None:
        return
    context = request.environ['nova.context']
    server = found.group('server')
    spec = _request_spec(context, server)
    if not _is_for_caller(context, action, spec):
        return
    verdict = _verdict(context, spec, host)
    if verdict:
        return
    LOG.warning(
        'Forced move (%(action)s) of server %(server)s to %(host)s by '
        '%(user)s: %(reason)s; %(decision)s.',
        {'action': action, 'server': server, 'host': host,
         'user': context.user_id, 'reason': verdict.reason,
         'decision': 'let through by [pcloud] allow_forced_moves'
         if CONF.pcloud.allow_forced_moves else 'refused'})
    if not CONF.pcloud.allow_forced_moves:
        raise exception.ForcedMoveRefused(
            server=server, host=host, reason=verdict.reason)


def _forced_move(request: nova_wsgi.Request) -> tuple:
    """Return action and host of a forced move, (None, None) for all else."""
    try:
        request.set_api_version_request()
        body = json.loads(request.body)
        (action, values), = body.items()
        unforced, _ = _ACTIONS[action]
        host = values['host']
        forced = strutils.bool_from_string(values.get('force', False))
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError,
            nova_exception.InvalidAPIVersionString,
            nova_exception.InvalidGlobalAPIVersion):
        return None, None
    version = request.api_version_request
    if host and version <= _LAST_WITH_FORCE and (
            forced or version < unforced):
        return action, host
    return None, None


def _request_spec(
    context: nova_context.RequestContext, server: str,
) -> objects.RequestSpec | None:
    try:
        return objects.RequestSpec.get_by_instance_uuid(
            context.elevated(), server)
    except nova_exception.RequestSpecNotFound:
        return None


def _is_for_caller(
    context: nova_context.RequestContext, action: str,
    spec: objects.RequestSpec | None,
) -> bool:
    """Whether Nova would let the caller do it at all.

    Whom it would not is to learn nothing here.
    """
    _, rule = _ACTIONS[action]
    owner = spec.project_id if spec else context.project_id
    return bool(context.can(rule, fatal=False, target={
        'project_id': owner, 'user_id': context.user_id}))


def _verdict(
    context: nova_context.RequestContext,
    spec: objects.RequestSpec | None, host: str,
) -> access.Verdict:
    # Databases that compare without case take any letter case for the host.
    hosts = [each for each in snapshot.closed_hosts(context)
             if each.casefold() == host.casefold()]
    try:
        pcloud_id = hints.pcloud_id(spec.scheduler_hints if spec else None)
    except exception.InvalidHint:
        pcloud_id = None
    pclouds = snapshot.pclouds_of(context, hosts)
    return access.move_verdict(
        pcloud_id, [pcloud for each in hosts for pcloud in
                    pclouds.get(each, ())], bool(hosts))
