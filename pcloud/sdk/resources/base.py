# SPDX-License-Identifier: Apache-2.0

"""What the resources of the Pcloud API have in common."""

from collections.abc import Mapping
import typing

from keystoneauth1 import adapter
from openstack import exceptions
from openstack import resource
import requests

# Whatever follows these signs in a URL is no name any more.
_NOT_IN_NAMES = frozenset('/?#%')


class Resource(resource.Resource):
    """A resource of the Pcloud API."""

    def _prepare_request(self, *arguments: typing.Any,
                         **options: typing.Any) -> typing.Any:
        """Prepare a request, whose names stay below the resource's path.

        :raises openstack.exceptions.BadRequestException: for a name that
            would lead to the URL of another resource
        """
        request = super()._prepare_request(*arguments, **options)
        for name in (self.id, *self._uri.attributes.values()):
            if isinstance(name, str) and (
                    name in ('', '.', '..') or _NOT_IN_NAMES & set(name)):
                raise exceptions.BadRequestException(
                    f"'{name}' is the name or id of no resource of Pclouds",
                    http_status=400)
        return request

    def _translate_response(
        self, response: requests.Response, has_body: bool | None = None,
        error_message: str | None = None, **options: typing.Any,
    ) -> None:
        """Take over the answer; what the answer leaves out is unknown.

        The API leaves out members that a resource does not have any more.
        """
        if has_body is not False and response.ok and response.content:
            for name in self._body.attributes.keys() - {
                    'id', self._alternate_id()}:
                del self._body.attributes[name]
        super()._translate_response(
            response, has_body, error_message, **options)

    def change(self, session: adapter.Adapter,
               members: Mapping[str, typing.Any]) -> typing.Self:
        """Change members, whatever values of the members are known.

        :raises openstack.exceptions.HttpException: when the API refuses
        """
        request = self._prepare_request(requires_id=True)
        self._translate_response(session.put(
            request.url, json={self.resource_key: dict(members)}))
        return self

    def add(self, session: adapter.Adapter,
            body: Mapping[str, typing.Any]) -> dict[str, typing.Any]:
        """Send a body to the collection, and return the body of the answer.

        :raises openstack.exceptions.HttpException: when the API refuses
        """
        request = self._prepare_request(requires_id=False)
        response = session.post(request.url, json=dict(body))
        exceptions.raise_from_response(response)
        return response.json()


class Paged(Resource):
    """A resource whose collection has pages without links.

    The server may cap a page below any limit, so only an empty page is known
    to be the last page.
    """

    @classmethod
    def _get_next_link(
        cls, uri: str, response: object, data: object, marker: str | None,
        limit: str | None, total_yielded: int,
    ) -> tuple[str, dict[str, str | None]]:
        following = {'marker': marker}
        return uri, {**following, 'limit': limit} if limit else following


def id_of(value: typing.Any) -> str:
    """Return the id of a resource, or an id itself."""
    return resource.Resource._get_id(value)
