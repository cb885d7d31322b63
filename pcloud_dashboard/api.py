# SPDX-License-Identifier: Apache-2.0

"""The cloud, as the pages of the dashboard see it.

Everything that the dashboard asks nova-api about Pclouds goes through the
client that `client` returns. Nothing else in the package connects to the
Pcloud API, so that a test has a single place to look at.
"""

from collections.abc import Callable
import typing

from django.conf import settings
from django.core import cache
from django import http
from django.utils.translation import gettext as _
from horizon import exceptions as horizon_exceptions
from horizon.utils import memoized
from keystoneauth1 import exceptions as ksa_exceptions
from keystoneauth1 import session
from keystoneauth1 import token_endpoint
from openstack_dashboard import api as horizon_api
from openstack_dashboard.api import base

from pcloud_dashboard.words import refusals

from pcloud.client import exceptions
from pcloud.client import resources
from pcloud.client import servers
from pcloud.client import v1

_Found = typing.TypeVar('_Found')

# What a call may raise: the API refuses, or nobody answers.
FAILURES = (exceptions.ClientError, ksa_exceptions.ClientException)
# Seconds for which it is remembered whether a cloud has Pclouds.
_KNOWN = 300
# The same where the API did not answer; each page of Horizon asks.
_UNKNOWN = 10
# Seconds after which an API counts as one that does not answer. A call that
# reads is part of a page, for which nobody waits long; one that adds many
# hosts takes its time.
_READING = 12
_CHANGING = 60


class _Session(session.Session):
    """A session that waits for a silent API once, and no second time.

    A page makes several calls, one after the other.

    :ivar reading: the seconds that a call which reads may take
    """

    reading = _READING
    silent: Exception | None = None

    def request(self, url: str, method: str, **options: typing.Any,
                ) -> typing.Any:
        """Make a call of HTTP.

        :raises keystoneauth1.exceptions.ConnectTimeout: also when an earlier
            call had no answer in time
        """
        if self.silent is not None:
            raise self.silent
        reads = method == 'GET'
        try:
            return super().request(url, method, **{
                **options, 'timeout': self.reading if reads else _CHANGING})
        except ksa_exceptions.ConnectTimeout as error:
            self.silent = error
            raise


@memoized.memoized
def client(request: http.HttpRequest) -> v1.Client:
    """Return a client with the token of the user, one for each request.

    The token names the project, so that nothing has to be asked of Keystone.

    :raises horizon.exceptions.ServiceCatalogException: in a cloud without a
        compute service
    """
    return v1.Client(_session(request))


def _session(request: http.HttpRequest) -> _Session:
    auth = token_endpoint.Token(
        base.url_for(request, 'compute'), request.user.token.id)
    verify = (not settings.OPENSTACK_SSL_NO_VERIFY
              and (settings.OPENSTACK_SSL_CACERT or True))
    return _Session(auth, verify=verify)


def audit(request: http.HttpRequest) -> list[resources.Finding]:
    """Return the findings of the audit.

    The audit of a large cloud takes longer than a page waits, and no page
    waits for its findings.

    :raises pcloud.client.exceptions.ClientError: the API refuses
    :raises keystoneauth1.exceptions.ClientException: nobody answers
    """
    session = _session(request)
    session.reading = _CHANGING
    return v1.Client(session).audit()


def words(error: Exception) -> str:
    """Return the words for a failure that a page shows.

    The words are the API's own where the API has answered, without what is
    for programs alone.

    :raises horizon.exceptions.NotAuthenticated: when the session of the user
        is over, so that the user is led to the login, and back from there
    """
    if isinstance(error, exceptions.Unauthorized):
        raise horizon_exceptions.NotAuthenticated from error
    if isinstance(error, exceptions.ClientError):
        return refusals.plain(error)
    return _('The compute service does not answer. Please try again later.')


def tell(request: http.HttpRequest, error: Exception,
         redirect: str | None = None) -> None:
    """Show a failure on the page, and log it.

    :param error: an error that is being handled
    :param redirect: the address of the page that the user sees instead; None
        goes on with the page
    """
    horizon_exceptions.handle(
        request, words(error), redirect=redirect, details='')


def ask(request: http.HttpRequest,
        call: Callable[[v1.Client], _Found]) -> _Found | None:
    """Return what a call of the API finds.

    :returns: None, with a message on the page, when the API fails
    """
    try:
        return call(client(request))
    except FAILURES as error:
        tell(request, error)
        return None


def ask_all(request: http.HttpRequest,
            call: Callable[[v1.Client], list[_Found]]) -> list[_Found]:
    """Return the list that a call of the API finds.

    :returns: an empty list, with a message on the page, when the API fails
    """
    return ask(request, call) or []


def require(request: http.HttpRequest, call: Callable[[v1.Client], _Found],
            redirect: str) -> _Found:
    """Return what a call of the API finds, for a page that is nothing without.

    :param redirect: the address of the page that the user sees, with a
        message, when the API fails
    :raises horizon.exceptions.Http302: the API fails
    """
    try:
        return call(client(request))
    except FAILURES as error:
        tell(request, error, redirect=redirect)
        raise


def _read(request: http.HttpRequest, read: Callable[[], _Found],
          words: str) -> _Found | None:
    """Return what another service has; None, with a message, on a failure.

    A page that shows less is better than none.

    :raises horizon.exceptions.NotAuthorized: the user has to log in again
    """
    try:
        return read()
    except Exception:
        horizon_exceptions.handle(request, words)
        return None


def has_pclouds(request: http.HttpRequest) -> bool:
    """Return whether the cloud has Pclouds.

    The navigation of each page asks, so the answer is remembered. A cloud
    whose API does not answer may have Pclouds.
    """
    try:
        key = f'pcloud:{base.url_for(request, "compute")}'
    except horizon_exceptions.ServiceCatalogException:
        return False
    known = cache.cache.get(key)
    if known is None:
        known, seconds = True, _KNOWN
        try:
            client(request).check_enabled()
        except exceptions.ExtensionNotEnabled:
            known = False
        except FAILURES:
            seconds = _UNKNOWN
        cache.cache.set(key, known, seconds)
    return known


@memoized.memoized
def project_names(request: http.HttpRequest) -> dict[str, str]:
    """Return the names of the projects that the user may know, by id.

    Keystone tells an administrator all projects, and others the projects of
    their own. Keystone is asked once.
    """
    projects = _read(request, lambda: (
        horizon_api.keystone.tenant_list(request)[0]
        if request.user.is_superuser else request.user.authorized_tenants),
        _('The names of projects could not be read.'))
    return {project.id: project.name for project in projects or ()}


def pcloud_names(request: http.HttpRequest) -> dict[str, str]:
    """Return the names of all projects' Pclouds, by id, for an administrator.

    :returns: empty, with a message, when the API fails
    """
    return {pcloud.id: pcloud.name for pcloud in ask_all(
        request, lambda client: client.list_pclouds(all_tenants=True))}


def domain_names(request: http.HttpRequest) -> dict[str, str]:
    """Return the names of the domains, by id, for an administrator."""
    domains = _read(
        request, lambda: horizon_api.keystone.domain_list(request),
        _('The names of domains could not be read.'))
    return {domain.id: domain.name for domain in domains or ()}


def server_names(request: http.HttpRequest) -> dict[str, str]:
    """Return the names of the servers of the user's project, by id.

    One page of servers is read; of other servers the ids are shown.
    """
    found = _read(request, lambda: horizon_api.nova.server_list(
        request, detailed=False)[0],
        _('The names of instances could not be read.'))
    return {server.id: server.name for server in found or ()}


def own_servers(request: http.HttpRequest) -> list[servers.Server]:
    """Return the servers of the project, with their flavors.

    :returns: empty, with a message, when Nova fails
    """
    return ask_all(request, lambda client: client.servers.list_all())


def unplaced_servers(request: http.HttpRequest,
                     pcloud_id: str) -> list[servers.Server]:
    """Return the servers of the project for a Pcloud that have no host.

    A page shows less where Nova fails, or does not tell hints yet.
    """
    try:
        return client(request).servers.list_unplaced(pcloud_id)
    except exceptions.Unauthorized:
        raise
    except FAILURES:
        horizon_exceptions.handle(request, ignore=True)
        return []


@memoized.memoized
def placed_servers(
    request: http.HttpRequest, ids: tuple[str, ...],
) -> dict[str, resources.PlacedServer]:
    """Return which of some servers are on hosts of Pclouds, by id.

    One call of the API for each hundred servers, and none in a cloud without
    Pclouds. Pages of Horizon's own ask, which show nothing of Pclouds where
    the API has no such call yet, or fails.
    """
    if not ids or not has_pclouds(request):
        return {}
    try:
        found = client(request).list_placed_servers(ids)
    except exceptions.NotFound:
        return {}
    except FAILURES:
        horizon_exceptions.handle(request, ignore=True)
        return {}
    return {server.server: server for server in found}


@memoized.memoized
def host_flavors(request: http.HttpRequest) -> list[resources.HostFlavor]:
    """Return the host flavors, with their pools for an administrator.

    :returns: empty, with a message, when the API fails
    """
    return ask_all(request, lambda client: client.list_host_flavors())


def flavors(request: http.HttpRequest) -> list:
    """Return the flavors of servers, the smallest first.

    :returns: flavors of novaclient; empty, with a message, when Nova fails
    """
    found = _read(request, lambda: horizon_api.nova.flavor_list(request),
                  _('The flavors could not be read.'))
    return sorted(found or (), key=lambda flavor: (
        flavor.ram, flavor.vcpus, flavor.name))


def compute_services(request: http.HttpRequest) -> list:
    """Return all compute services, for an administrator.

    :returns: services of Nova's client; empty, with a message, when Nova
        fails
    """
    return _read(request, lambda: horizon_api.nova.service_list(
        request, binary='nova-compute'),
        _('The compute hosts could not be read.')) or []


def hypervisors(request: http.HttpRequest) -> list:
    """Return all hypervisors, likewise."""
    return _read(request, lambda: horizon_api.nova.hypervisor_list(request),
                 _('The compute hosts could not be read.')) or []


def zones(flavors_of_hosts: list) -> list[str]:
    """Return the zones where a host of some host flavor is free."""
    return sorted({zone for flavor in flavors_of_hosts
                   for zone, free in flavor.available.items() if free})
