# SPDX-License-Identifier: Apache-2.0

"""The credentials of a worker, which acts as the user of [service_user].

In the project of a tenant a worker has a token for the project. What the user
has no role for in the project is refused, as to any user, and what only
administrators may is refused too. Servers of all projects are moved with a
token for the user's own project.

Rule: reference-worker-credentials, reference-worker-moves
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import functools
import typing

from keystoneauth1 import access
from keystoneauth1 import exceptions as ks_exc
from keystoneauth1 import identity
from keystoneauth1 import loading as ks_loading
from keystoneauth1 import plugin
from keystoneauth1 import session
from nova import context as nova_context
from nova import policy
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.backend import complaints
from pcloud import exception

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

_SECTION = 'service_user'
# A token is for a single scope; the section names the user's own project.
_NO_OTHER_SCOPE: dict[str, typing.Any] = dict.fromkeys((
    'project_name', 'project_domain_id', 'project_domain_name',
    'domain_id', 'domain_name', 'system_scope'))
# The role of administrators, whatever the rules of an operator.
_ADMIN = 'admin'


def context(project: str) -> nova_context.RequestContext:
    """Return the context of the worker's user in a project.

    Roles of administrators are left out, as a worker must not get past quotas
    and private flavors.

    :raises: `exception.WorkerWithoutToken` when there is no such user, or the
        user gets no token for the project, or is an administrator without
        such a role; `exception.Unavailable` when Keystone does not answer
    """
    token = _token(project)
    roles = [role for role in token.role_names or ()
             if not _is_of_admins(token, role)]
    dropped = sorted({*(token.role_names or ())} - {*roles})
    if dropped:
        complaints.once(
            f'The user of [service_user] in nova.conf is an administrator in '
            f'project {project}. The worker asks Nova without the role '
            f'{" and ".join(dropped)}; Glance, Neutron and Cinder see all '
            f'roles. The role of members is enough.')
    result = _context(token, roles)
    if policy.check_is_admin(result):
        raise exception.WorkerWithoutToken(
            f'Scaled services do not follow in project {project}: the policy '
            'context_is_admin makes the user of [service_user] in nova.conf '
            'an administrator, whatever the roles of the user are.')
    return result


def administrator() -> nova_context.RequestContext:
    """Return the context in which a worker moves servers.

    The context has the token of the worker's user in the user's own project:
    a hypervisor fetches the image or the kernel of a server that arrives with
    the token of whoever moves the server. Without a token of an administrator
    the context has none, and such servers do not arrive.

    Rule: reference-worker-moves
    """
    token = _own_token()
    if token is None:
        return nova_context.get_admin_context()
    # As `get_admin_context` has it, but for the token.
    return nova_context.RequestContext(
        is_admin=True, overwrite=False, auth_token=token.auth_token,
        service_catalog=list(_catalog(token.service_catalog.catalog)))


def _own_token() -> access.AccessInfo | None:
    """Return a token that sees the images of all projects, or None."""
    try:
        auth, connection = _own_login()
        # A plugin that asks no Keystone, such as `none`, has no token.
        token = (auth.get_access(connection)
                 if isinstance(auth, identity.BaseIdentityPlugin) else None)
    except ks_exc.ClientException as error:
        LOG.warning('The worker gets no token for the user of [service_user] '
                    'in nova.conf: %s', error)
        return None
    if token is None or not policy.check_is_admin(
            _context(token, token.role_names or ())):
        complaints.once(
            '[service_user] in nova.conf names no administrator of Nova. '
            'Servers that a worker moves to a host without their image or '
            'kernel do not arrive.')
        return None
    return token


@functools.cache
def _own_login() -> tuple[plugin.BaseAuthPlugin | None, session.Session]:
    """Return the login of the worker's user, which keeps a token while valid.

    :raises: keystoneauth's `AuthPluginException` when the section is wrong
    """
    return (ks_loading.load_auth_from_conf_options(CONF, _SECTION),
            ks_loading.load_session_from_conf_options(CONF, _SECTION))


def _is_of_admins(token: access.AccessInfo, role: str) -> bool:
    """Whether a role makes an administrator; letter case does not count."""
    return role.lower() == _ADMIN or policy.check_is_admin(
        _context(token, [role]))


def _context(
    token: access.AccessInfo, roles: Sequence[str],
) -> nova_context.RequestContext:
    return nova_context.RequestContext(
        user_id=token.user_id, project_id=token.project_id, is_admin=False,
        user_name=token.username, project_name=token.project_name,
        user_domain_id=token.user_domain_id,
        user_domain_name=token.user_domain_name,
        project_domain_id=token.project_domain_id,
        project_domain_name=token.project_domain_name,
        is_admin_project=token.is_admin_project, roles=list(roles),
        auth_token=token.auth_token,
        service_catalog=list(_catalog(token.service_catalog.catalog)),
        overwrite=False)


def _token(project: str) -> access.AccessInfo:
    auth = _plugin(project)
    if auth is None:
        raise exception.WorkerWithoutToken(
            'Scaled services do not follow: a worker cannot log in to the '
            'projects, as [service_user] in nova.conf has no auth_type.')
    try:
        return auth.get_access(
            ks_loading.load_session_from_conf_options(CONF, _SECTION))
    except (ks_exc.Unauthorized, ks_exc.Forbidden, ks_exc.NotFound) as error:
        raise exception.WorkerWithoutToken(
            f'Scaled services do not follow in project {project}: the user '
            'of [service_user] in nova.conf cannot log in to the project '
            f'(HTTP {error.http_status}). Give the user the role of members '
            'in the project, or in the domain and inherited.') from error
    except ks_exc.ClientException as error:
        raise exception.Unavailable() from error


def _plugin(project: str) -> plugin.BaseAuthPlugin | None:
    try:
        return ks_loading.load_auth_from_conf_options(
            CONF, _SECTION, project_id=project, **_NO_OTHER_SCOPE)
    except (ks_exc.AuthPluginException, TypeError) as error:
        # A plugin that takes no project knows no other project.
        raise exception.WorkerWithoutToken(
            'Scaled services do not follow: a worker cannot log in to the '
            'projects, as [service_user] in nova.conf cannot be used: '
            f'{error}.') from error


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
