# SPDX-License-Identifier: Apache-2.0

"""The transport of calls: paths, pages, bodies and failures."""

from collections.abc import Iterator
from collections.abc import Mapping
import itertools
import typing
from urllib import parse

from keystoneauth1 import adapter as ksa_adapter
import requests

from pcloud.client import exceptions

PCLOUDS = '/os-pclouds'
HOST_FLAVORS = '/os-host-flavors'
QUOTAS = '/os-pcloud-quotas'
USAGES = '/os-pcloud-usage'
ATTRIBUTES = '/os-pcloud-attributes'
POLICIES = '/os-pcloud-policies'
HIDDEN_SERVERS = '/os-pcloud-hidden-servers'
ROOM = '/os-pcloud-room'
AUDIT = '/os-pcloud-audit'
SERVERS = '/os-pcloud-servers'

# What names a resource, by what is before the name in a path.
_KINDS = {
    PCLOUDS: 'Id of a Pcloud', HOST_FLAVORS: 'Id of a host flavor',
    QUOTAS: 'Id of a project', USAGES: 'Id of a project',
    'tenants': 'Id of a project', 'waiting': 'Id of an entry',
    'hosts': 'Name of a host', ATTRIBUTES: 'Name of a host attribute',
}
_POSSIBLE = 'one or more characters without "/", and neither "." nor ".."'
# The collections whose servers say more of what is possible.
_POSSIBLE_IN = {
    ATTRIBUTES: '1 to 64 letters, digits, ".", "_", "-" or blanks, and '
                'neither "." nor ".."'}

_COLLECTIONS = (PCLOUDS, HOST_FLAVORS, ATTRIBUTES)
# The beginnings of Pcloud's own paths; all other paths are Nova's.
_OWN = ('/os-pcloud', HOST_FLAVORS)
# The most items of a page, unless Nova is configured otherwise.
_PAGE_SIZE = 1000


def path(collection: str, *names: str) -> str:
    """Return the path of a resource below a collection.

    :param collection: a path such as `PCLOUDS`
    :param names: the names below the collection, as the user wrote the names,
        unquoted
    :raises exceptions.BadRequest: for a name that no URL can carry: an empty
        name, "." or "..", which mean the collection or the collection's
        parent, and a name with a slash, which servers take for two names
    """
    for before, name in itertools.pairwise((collection, *names)):
        if name in ('', '.', '..') or '/' in name:
            raise exceptions.BadRequest(
                f"{_KINDS.get(before, 'Name')} '{name}' is not right; it has "
                f'to be {_POSSIBLE_IN.get(before, _POSSIBLE)}')
    return '/'.join((collection, *(parse.quote(name, safe='')
                                   for name in names)))


class Transport:
    """Sends the calls of one client."""

    def __init__(self, adapter: ksa_adapter.Adapter) -> None:
        self._adapter = adapter
        self._known_to_be_enabled = False

    def own_project_id(self) -> str:
        """Return the project of the caller's token.

        :raises exceptions.BadRequest: when the token is not for a project
        """
        project_id = self._adapter.get_project_id()
        if not project_id:
            raise exceptions.BadRequest(
                'You are not logged in to a project; name one')
        return project_id

    def request(self, method: str, url_path: str,
                **options: typing.Any) -> typing.Any:
        """Send a request.

        :param options: "json", a body, "params", the query, and "microversion"
        :returns: the body of the answer, None for an empty answer
        :raises exceptions.ClientError: the subclass for the answer's status
        :raises exceptions.ExtensionNotEnabled: when the cloud has no Pclouds
        """
        response = self._send(method, url_path, **options)
        own = url_path.startswith(_OWN)
        if response.status_code < 300:
            self._known_to_be_enabled = self._known_to_be_enabled or own
            return _body(response)
        if response.status_code == 404 and own and not self._is_enabled(
                url_path):
            raise exceptions.ExtensionNotEnabled()
        raise exceptions.from_response(response)

    def member(self, name: str, method: str, url_path: str,
               **options: typing.Any) -> typing.Any:
        """Send a request, and return a member of the answer's body.

        :raises exceptions.ClientError: as :meth:`request`
        :raises exceptions.UnexpectedResponse: when the member is missing
        """
        return self._having(name, method, url_path, **options)[name]

    def pages(self, name: str, url_path: str,
              query: Mapping[str, typing.Any], key: str = 'id',
              **options: typing.Any) -> Iterator[typing.Any]:
        """Yield the items of a collection, from all pages.

        A server may cap the size of a page below the requested limit, so only
        a page without new items is known to be the last page. The item of a
        marker may be deleted before the next page is requested; then the item
        before is the marker.

        :param query: the parameters that narrow or widen the collection
        :param key: the member by which the items are in order
        :param options: as for :meth:`request`, beside "params"
        """
        for _, new in self._pages(
                name, url_path, {**query, 'limit': _PAGE_SIZE}, key,
                **options):
            yield from new

    def linked_pages(
        self, name: str, url_path: str, **options: typing.Any,
    ) -> Iterator[tuple[list[typing.Any], bool]]:
        """Yield the pages of a collection of Nova's own, as :meth:`pages`.

        The first page is requested without any query. The last page is the
        page without a link to another page.

        :param options: as for :meth:`pages`
        :returns: the new items of each page, and whether the page is full
        """
        for body, new in self._pages(name, url_path, {}, **options):
            is_full = bool(body.get(f'{name}_links'))
            yield new, is_full
            if not is_full:
                return

    def _pages(self, name: str, url_path: str,
               query: Mapping[str, typing.Any], key: str = 'id',
               **options: typing.Any,
               ) -> Iterator[tuple[typing.Any, list[typing.Any]]]:
        """Yield the body and the new items of each page."""
        seen: set[str] = set()
        markers: list[str] = []
        while True:
            marker = {'marker': markers[-1]} if markers else {}
            try:
                body = self._having(name, 'GET', url_path, params={
                    **query, **marker}, **options)
            except exceptions.BadRequest:
                if not markers:
                    raise
                markers.pop()
                continue
            new = [item for item in body[name] if item[key] not in seen]
            if not new:
                return
            yield body, new
            markers.extend(item[key] for item in new)
            seen.update(markers)

    def _having(self, name: str, method: str, url_path: str,
                **options: typing.Any) -> dict[str, typing.Any]:
        body = self.request(method, url_path, **options)
        if not isinstance(body, dict) or name not in body:
            raise exceptions.UnexpectedResponse(
                f'{method} {url_path} was answered without "{name}"; this '
                f'client and the cloud do not fit together')
        return body

    def _send(self, method: str, url_path: str,
              **options: typing.Any) -> requests.Response:
        if method != 'GET':
            # The call may have succeeded although the answer got lost.
            options['connect_retries'] = 0
        answer = self._adapter.request(
            url_path, method, raise_exc=False,
            headers={'Accept': 'application/json'}, **options)
        # The adapter of novaclient returns the response and its body.
        return answer[0] if isinstance(answer, tuple) else answer

    def _is_enabled(self, url_path: str) -> bool:
        if self._known_to_be_enabled:
            return True
        if url_path in _COLLECTIONS:
            return False
        return self._send('GET', PCLOUDS,
                          params={'limit': 1}).status_code != 404


def _body(response: requests.Response) -> typing.Any:
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise exceptions.UnexpectedResponse(
            'The compute endpoint answered with something that is not JSON; '
            'check its address in the service catalog') from None
