# SPDX-License-Identifier: Apache-2.0

"""Read from Keystone which roles a user has in a project, at this moment.

Keystone is asked as the user of [service_user]: nobody else may look at the
roles of others.

Rule: reference-default-pcloud-grow-rights
"""

import dataclasses
import typing
from urllib import parse

from keystoneauth1 import exceptions as ks_exc
from oslo_log import log as logging

from pcloud.backend import identity
from pcloud import exception

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Grant:
    """What a user has in a project.

    :ivar domain: the id of the project's domain
    :ivar user_domain: the id of the user's domain
    :ivar roles: the names of the user's roles in the project
    """

    domain: str
    user_domain: str
    roles: tuple[str, ...]


def of_user(user: str, project: str) -> Grant | None:
    """Return what a user has in a project; None for what is gone or disabled.

    Roles of groups, inherited roles and implied roles count. The domains of
    user and project have to be enabled too. At most five calls of Keystone.

    :raises: `exception.Unavailable` when Keystone does not tell
    """
    keystone = _Keystone()
    person = keystone.enabled('user', user)
    home = keystone.enabled('project', project)
    if person is None or home is None:
        return None
    domains = {person['domain_id'], home['domain_id']}
    if not all(keystone.enabled('domain', each) for each in sorted(domains)):
        return None
    query = parse.urlencode([
        ('user.id', user), ('scope.project.id', project),
        ('effective', 'true'), ('include_names', 'true')])
    assignments = keystone.get(f'/role_assignments?{query}') or {}
    return Grant(home['domain_id'], person['domain_id'], tuple(sorted({
        each['role']['name'] for each
        in assignments.get('role_assignments', ())})))


class _Keystone:
    """Keystone, as the user of [service_user] sees it.

    :raises: `exception.Unavailable` without such a user
    """

    def __init__(self) -> None:
        try:
            auth = identity.service_user()
            if auth is None:
                raise _silent('[service_user] in nova.conf has no auth_type')
            self._adapter = identity.adapter(auth)
        except (ks_exc.ClientException, ks_exc.AuthPluginException) as error:
            raise _silent(error) from error

    def enabled(self, kind: str, its: str) -> dict[str, typing.Any] | None:
        """Return Keystone's record of what is enabled; else None.

        :param kind: "user", "project" or "domain"
        """
        if not identity.ID.fullmatch(its):
            return None
        answer = self.get(f'/{kind}s/{its}')
        record = None if answer is None else answer[kind]
        return record if record and record.get('enabled') else None

    def get(self, url: str) -> dict[str, typing.Any] | None:
        """Return the body of an answer, None for what is not there."""
        try:
            answer = self._adapter.get(url)
        except ks_exc.ClientException as error:
            raise _silent(error) from error
        if answer.status_code == 404:
            return None
        if answer.status_code != 200:
            raise _silent(f'it answers {answer.status_code}; the user of '
                          '[service_user] in nova.conf needs a role that lets '
                          'it look at users, projects and role assignments')
        return answer.json()


def _silent(reason: object) -> exception.Unavailable:
    """Return an error whose reason is for operators alone."""
    LOG.warning('Keystone does not tell which roles a user has: %s', reason)
    return exception.Unavailable(
        'Keystone does not tell what the user may do who has set the default '
        'Pcloud; the log of nova-scheduler says why. Nothing was changed.')
