# SPDX-License-Identifier: Apache-2.0

"""Read the limits of units that Keystone keeps: unified limits.

Keystone is asked as the section [oslo_limit] of nova.conf says, as by Nova's
own unified limits. oslo.limit itself knows Keystone's flat model alone, and
refuses to be made where Keystone has the model of two levels.

Rule: reference-quota-unified
"""

from collections.abc import Collection
import dataclasses
import functools
import typing
from urllib import parse

from keystoneauth1 import exceptions as ks_exc
from keystoneauth1 import loading as ks_loading
from nova import utils
from oslo_config import cfg
from oslo_limit import opts as limit_opts
from oslo_log import log as logging

from pcloud.backend import identity
from pcloud import exception
from pcloud.rules import units as unit_rules

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# The resource in Keystone's registered limits and limits.
RESOURCE = 'pcloud_units'
_SECTION = 'oslo_limit'
_FLAT, _TWO_LEVELS = 'flat', 'strict_two_level'
# The number of projects to ask for at a time.
_PAGE = 1000

limit_opts.register_opts(CONF)


@dataclasses.dataclass(frozen=True)
class Domain:
    """What the projects of a domain may use together.

    :ivar limit: units; -1 is unlimited
    :ivar projects: the ids of all projects of the domain
    """

    id: str
    limit: int
    projects: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Limit:
    """What a project may use.

    :ivar units: -1 is unlimited
    :ivar domain: None where Keystone has the flat model, or does not know the
        project
    """

    units: int
    domain: Domain | None = None


@dataclasses.dataclass(frozen=True)
class _Service:
    """Keystone, and the service whose limits are asked for."""

    adapter: typing.Any
    service_id: str
    region_id: str | None

    def get(self, url: str) -> dict:
        """Return the body of Keystone's answer.

        :raises: `exception.LimitsSilent`
        """
        answer = self.adapter.get(url)
        if answer.status_code != 200:
            raise _untold(f'it answers {answer.status_code} to {url}')
        return answer.json()

    def limits(self, kind: str, **wanted: str) -> list[dict]:
        """Return Keystone's limits of units.

        :param kind: 'registered_limits' or 'limits'
        :param wanted: members that the limits have
        """
        region = {} if self.region_id is None else {
            'region_id': self.region_id}
        query = parse.urlencode({
            'service_id': self.service_id, **region,
            'resource_name': RESOURCE, **wanted})
        # Keystone's list of a region has no limits without a region; a list
        # without a region has the limits of all regions.
        return [each for each in self.get(f'/{kind}?{query}')[kind]
                if each.get('region_id') == self.region_id]


def _untold(reason: object) -> exception.LimitsSilent:
    """Return an error whose reason is for operators alone."""
    LOG.warning('Keystone does not tell the limits of %(resource)s: '
                '%(reason)s', {'resource': RESOURCE, 'reason': reason})
    return exception.LimitsSilent(reason=reason)


def forget() -> None:
    """Have the next read look for the service, and sign in, anew."""
    _service.cache_clear()


@functools.cache
def _service() -> _Service:
    """Return the service that [oslo_limit] names; once in a process.

    :raises: `exception.LimitsSilent` when there is none, or several
    """
    auth = ks_loading.load_auth_from_conf_options(CONF, _SECTION)
    if auth is None:
        raise _untold('[oslo_limit] in nova.conf has no auth_type')
    found = _Service(utils.get_ksa_adapter(
        'identity', ksa_auth=auth,
        ksa_session=ks_loading.load_session_from_conf_options(
            CONF, _SECTION, auth=auth),
        min_version=(3, 0), max_version=(3, 'latest')), '', None)
    section = CONF.oslo_limit
    if section.endpoint_id is not None:
        endpoint = found.get(f'/endpoints/{section.endpoint_id}')['endpoint']
    else:
        service = _only(found, 'services', {
            'type': section.endpoint_service_type,
            'name': section.endpoint_service_name})
        endpoint = _only(found, 'endpoints', {
            'service_id': service['id'],
            'region_id': section.endpoint_region_name,
            'interface': section.endpoint_interface.removesuffix('URL')})
    return dataclasses.replace(
        found, service_id=endpoint['service_id'],
        region_id=endpoint.get('region_id'))


def _only(
    service: _Service, kinds: str, wanted: dict[str, str | None],
) -> dict:
    """Return the only record of a list of Keystone.

    :param kinds: the name of the list
    :param wanted: members that the record has; None stands for any value
    :raises: `exception.LimitsSilent`
    """
    query = {name: value for name, value in wanted.items() if value}
    found = service.get(f'/{kinds}?{parse.urlencode(query)}')[kinds]
    if len(found) != 1:
        raise _untold(
            f'[oslo_limit] in nova.conf has to name one of its {kinds} by '
            f'endpoint_id or endpoint_service_type, _name, region_name and '
            f'interface, and names {len(found)}')
    return found[0]


def registered() -> int | None:
    """Return the limit of projects without a limit of their own.

    :returns: units, -1 for unlimited; None where no limit is registered
    :raises: `exception.LimitsSilent`
    """
    try:
        return _registered(_service())
    except ks_exc.ClientException as error:
        raise _untold(error) from error


def _registered(service: _Service) -> int | None:
    found = service.limits('registered_limits')
    return found[0]['default_limit'] if found else None


def read(projects: Collection[str]) -> dict[str, Limit]:
    """Return ``project id -> limit`` of some projects.

    A project without a limit of its own has the registered limit, and no
    units where no limit is registered, as with oslo.limit. Keystone is called
    twice, and once for each project; with two levels three times for each
    project, and for each domain.

    :raises: `exception.LimitsSilent`
    """
    if not projects:
        return {}
    try:
        return _read(_service(), projects)
    except ks_exc.ClientException as error:
        raise _untold(error) from error


def _read(
    service: _Service, projects: Collection[str],
) -> dict[str, Limit]:
    model = service.get('/limits/model')['model']['name']
    if model not in (_FLAT, _TWO_LEVELS):
        raise _untold(f"its model '{model}' is not known")
    default = _registered(service)
    domains: dict[str, Domain] = {}
    found = {}
    for project in projects:
        domain = None
        if model == _TWO_LEVELS:
            domain_id = _domain_of(service, project)
            if domain_id is not None and domain_id not in domains:
                domains[domain_id] = _domain(service, domain_id, default)
            domain = domains.get(domain_id or '')
        found[project] = Limit(
            _own(service, default, project_id=project), domain)
    return found


def _own(
    service: _Service, default: int | None, **whose: str,
) -> int:
    """Return the limit of a project or domain."""
    its = service.limits('limits', **whose)
    units = its[0]['resource_limit'] if its else default
    return 0 if units is None else max(units, unit_rules.UNLIMITED)


def _domain_of(service: _Service, project_id: str) -> str | None:
    """Return the domain of a project; None for an unknown project."""
    if not identity.ID.fullmatch(project_id):
        return None
    answer = service.adapter.get(f'/projects/{project_id}')
    if answer.status_code == 404:
        return None
    if answer.status_code != 200:
        raise _untold(f'it answers {answer.status_code} about a project')
    return answer.json()['project']['domain_id']


def _domain(
    service: _Service, domain_id: str, default: int | None,
) -> Domain:
    """Read the limit and the projects of a domain."""
    limit = _own(service, default, domain_id=domain_id)
    projects: set[str] = set()
    # Without a limit Keystone cuts the list and names no next page.
    url = '/projects?' + parse.urlencode(
        {'domain_id': domain_id, 'limit': _PAGE})
    while url:
        page = service.get(url)
        projects.update(each['id'] for each in page['projects'])
        url = page.get('links', {}).get('next')
    return Domain(domain_id, limit, frozenset(projects))
