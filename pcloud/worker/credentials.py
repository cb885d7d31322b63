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

"""The credentials of a worker in the projects of tenants.

A worker starts servers in the name of a project. Nova, Glance, Neutron and
Cinder see a token of the user of [service_user] for that very project: what
the user has no role for in the project is refused, as to anybody else.

Rule: reference-worker-credentials
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from keystoneauth1 import access
from keystoneauth1 import exceptions as ks_exc
from keystoneauth1 import loading as ks_loading
from keystoneauth1 import plugin
from nova import context as nova_context
from oslo_config import cfg

from pcloud import exception

CONF = cfg.CONF

_SECTION = 'service_user'
# A token is for a single scope; the section names the user's own project.
_NO_OTHER_SCOPE: dict[str, typing.Any] = dict.fromkeys((
    'project_name', 'project_domain_id', 'project_domain_name',
    'domain_id', 'domain_name', 'system_scope'))
# A role by which a worker would get past quotas and hints.
_ADMIN = 'admin'


def context(project: str, user: str) -> nova_context.RequestContext:
    """Return the context of a user of a project.

    :param user: the user in whose name servers are started
    :raises: `exception.WorkerWithoutUser`, `exception.WorkerHasNoRole` when
        Keystone gives no token for the project, `exception.Unavailable` when
        Keystone does not answer
    """
    token = _token(project)
    return nova_context.RequestContext(
        user_id=user, project_id=project, is_admin=False,
        project_domain_id=token.project_domain_id,
        roles=[role for role in token.role_names if role != _ADMIN],
        auth_token=token.auth_token,
        service_catalog=list(_catalog(token.service_catalog.catalog)),
        overwrite=False)


def _token(project: str) -> access.AccessInfo:
    auth = _plugin(project)
    if auth is None:
        raise exception.WorkerWithoutUser(reason='has no auth_type')
    session = ks_loading.load_session_from_conf_options(CONF, _SECTION)
    try:
        return auth.get_access(session)
    except (ks_exc.Unauthorized, ks_exc.Forbidden, ks_exc.NotFound) as error:
        raise exception.WorkerHasNoRole(
            project=project, reason=f'HTTP {error.http_status}') from error
    except ks_exc.ClientException as error:
        raise exception.Unavailable() from error


def _plugin(project: str) -> plugin.BaseAuthPlugin | None:
    try:
        return ks_loading.load_auth_from_conf_options(
            CONF, _SECTION, project_id=project, **_NO_OTHER_SCOPE)
    except (ks_exc.AuthPluginException, TypeError) as error:
        # A plugin that takes no project knows no other project.
        raise exception.WorkerWithoutUser(
            reason=f'cannot be used: {error}') from error


def _catalog(services: Sequence[Mapping]) -> Iterator[Mapping]:
    """Yield services in the form in which Nova gets catalogs."""
    for service in services:
        regions: dict[str, dict[str, str]] = {}
        for endpoint in service['endpoints']:
            name = endpoint.get('region_id') or endpoint.get('region') or ''
            regions.setdefault(name, {'region': name})[
                f'{endpoint["interface"]}URL'] = endpoint['url']
        yield {'type': service['type'], 'name': service.get('name') or '',
               'endpoints': list(regions.values())}
