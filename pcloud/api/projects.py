# SPDX-License-Identifier: Apache-2.0

"""Questions to Keystone about projects and domains."""

from collections.abc import Mapping

from keystoneauth1 import exceptions as ks_exc
from nova import context as nova_context
from oslo_log import log as logging

from pcloud.backend import identity
from pcloud import exception
from pcloud.rules.placing import hints

LOG = logging.getLogger(__name__)


def check(context: nova_context.RequestContext, project_id: str) -> None:
    """Refuse a project that Keystone does not know.

    The credentials of [service_user] are used where configured: a tenant may
    not look up other projects, so that with the tenant's token every project
    id would pass. Where Keystone gives no answer, the project passes, as in
    all of Nova.

    :raises: `exception.ProjectUnknown`
    """
    if project_id != context.project_id:
        _ask(context, project_id)


def check_domain(
    context: nova_context.RequestContext, domain_id: str,
) -> None:
    """Refuse a domain that Keystone does not know, as `check` a project.

    :raises: `exception.InvalidValue`
    """
    if domain_id == context.project_domain_id:
        return
    if _record(context, identity.DOMAIN, domain_id) is None:
        raise exception.InvalidValue(
            'Domain', domain_id, 'the id of a domain that exists, which '
            'openstack domain list shows')


def domain(
    context: nova_context.RequestContext, project_id: str,
) -> str | None:
    """Return the domain of a project, None where Keystone gives no answer.

    :raises: `exception.ProjectUnknown`
    """
    if project_id == context.project_id:
        return hints.domain_id(context.project_domain_id)
    return _ask(context, project_id).get('domain_id')


def known_domain(
    context: nova_context.RequestContext, project_id: str,
) -> str | None:
    """Return the domain of a project; None for an unknown project too."""
    try:
        return domain(context, project_id)
    except exception.ProjectUnknown:
        return None


def _ask(
    context: nova_context.RequestContext, project_id: str,
) -> Mapping[str, str]:
    """Return Keystone's record of a project; empty without an answer.

    :raises: `exception.ProjectUnknown`
    """
    record = _record(context, identity.PROJECT, project_id)
    if record is None:
        raise exception.ProjectUnknown(project=project_id)
    return record


def _record(
    context: nova_context.RequestContext, kind: str, record_id: str,
) -> Mapping[str, str] | None:
    """Return Keystone's record of a project or a domain.

    :param kind: `identity.PROJECT` or `identity.DOMAIN`
    :returns: an empty record without an answer, None for an unknown id
    """
    if not identity.ID.fullmatch(record_id):
        return None
    try:
        answer = identity.get(context, f'/{kind}s/{record_id}')
    except ks_exc.ClientException as error:
        LOG.warning('Keystone cannot be asked about %(kind)s %(id)s: '
                    '%(error)s',
                    {'kind': kind, 'id': record_id, 'error': error})
        return {}
    if answer.status_code == 404:
        return None
    if answer.status_code != 200:
        LOG.warning('Keystone answered %(status)d when asked about %(kind)s '
                    '%(id)s; does the user of [service_user] in nova.conf '
                    'have a role that lets it look?',
                    {'status': answer.status_code, 'kind': kind,
                     'id': record_id})
        return {}
    return answer.json()[kind]
