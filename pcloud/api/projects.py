# SPDX-License-Identifier: Apache-2.0

"""Questions to Keystone about projects and domains."""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from keystoneauth1 import exceptions as ks_exc
from nova import context as nova_context
from oslo_log import log as logging

from pcloud.backend import identity
from pcloud import exception
from pcloud.rules.placing import hints
from pcloud import text

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class NamedProject:
    """A project with its name."""

    id: str
    name: str


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


def is_own_domain(context: nova_context.RequestContext, domain: str) -> bool:
    """Whether a domain is that of the caller's project.

    :param domain: an id or a name
    """
    return domain in (_own_domain(context), context.project_domain_name)


def named(
    context: nova_context.RequestContext, name: str,
) -> NamedProject:
    """Return the project of a name in the domain of the caller's project.

    Keystone is asked once.

    :raises: `exception.ProjectNotFound`, `exception.KeystoneSilent`
    """
    return _named(context, name, _own_domain(context), '')


def named_in(
    context: nova_context.RequestContext, name: str, domain: str,
) -> NamedProject:
    """Return the project of a name in any domain.

    Keystone is asked twice.

    :param domain: the name of a domain, or else the id of one
    :raises: as `not_found_in`, `exception.KeystoneSilent`
    """
    found = [record['id'] for record in identity.records(
        context, identity.DOMAIN, {'name': domain})
        if record['name'] == domain]
    return _named(context, name, found[0] if found else domain,
                  _in_domain(domain))


def not_found_in(name: str, domain: str) -> exception.ProjectNotFound:
    """Return the error about a name in a domain, whatever is there."""
    return exception.ProjectNotFound(name=name, domain=_in_domain(domain))


def names_in_own_domain(
    context: nova_context.RequestContext, ids: Collection[str],
) -> dict[str, str]:
    """Return id -> name of some projects in the domain of the caller's.

    As `names`, with a single domain to look through.
    """
    return _names(context, ids, {'domain_id': _own_domain(context)})


def names(
    context: nova_context.RequestContext, ids: Collection[str],
) -> dict[str, str]:
    """Return id -> name of some projects, as far as Keystone tells.

    Keystone is asked for all projects, as by `identity.records`, until the
    names of all are known.
    """
    return _names(context, ids, {})


def _own_domain(context: nova_context.RequestContext) -> str:
    return hints.domain_id(context.project_domain_id)


def _in_domain(domain: str) -> str:
    return text.IN_DOMAIN % {'domain': text.beginning(domain)}


def _named(
    context: nova_context.RequestContext, name: str, domain_id: str,
    where: str,
) -> NamedProject:
    for record in identity.records(context, identity.PROJECT, {
            'domain_id': domain_id, 'name': name}):
        if (record['name'], record['domain_id']) == (name, domain_id):
            return NamedProject(record['id'], name)
    raise exception.ProjectNotFound(name=name, domain=where)


def _names(
    context: nova_context.RequestContext, ids: Collection[str],
    wanted: Mapping[str, str],
) -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        for record in identity.records(context, identity.PROJECT, wanted):
            if record['id'] in ids:
                found[record['id']] = record['name']
            if len(found) == len(ids):
                break
    except exception.KeystoneSilent:
        # Nobody needs the names: the ids are shown.
        pass
    return found


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
