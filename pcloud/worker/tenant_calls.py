# SPDX-License-Identifier: Apache-2.0

"""Calls of Nova's API and Pcloud's in a project.

Nova's own application in the worker's process answers the calls, behind
Pcloud's filter: policies, quotas, defaults and hints apply as to any call.
What nova-api's pipeline has in front, such as the check of a token, is not
there, as no request comes from outside.

Rule: reference-worker-follow
"""

from collections.abc import Iterable
import copy
import functools
import io
import typing
from wsgiref import types

from nova.api import auth
from nova.api import openstack
from nova import context as nova_context
import requests
import webob

from pcloud import api
from pcloud.client import plan_resources
from pcloud.client import transport
from pcloud.client import v1

_BASE = 'http://localhost/v2.1'


class Client(v1.Client):
    """A client whose calls are made with a context.

    Administrators alone see whether a server fits outside of Pclouds.
    A worker may know, and starts no server that no host would take.

    :param context: the context of the worker's user in a project
    """

    def __init__(self, context: nova_context.RequestContext) -> None:
        super().__init__(None)
        self._transport = transport.Transport(_Adapter(context))
        self._elevated = v1.Client.from_adapter(_Adapter(context.elevated()))

    def room(
        self, group: Iterable[str], *, pcloud_id: str | None = None,
        parent: str | None = None, count: int = 1,
    ) -> plan_resources.Room:
        """Return the number of groups that there is capacity for, as `v1`."""
        if pcloud_id is None:
            return self._elevated.room(group, parent=parent, count=count)
        return super().room(
            group, pcloud_id=pcloud_id, parent=parent, count=count)


@functools.cache
def _application() -> types.WSGIApplication:
    """Return Nova's application behind Pcloud's filter.

    Most of Nova's API is imported when a unit is due for the first time:
    no other command should wait for the import.
    """
    from nova.api.openstack import compute

    return api.filter_factory({})(compute.APIRouterV21())


class _Adapter:
    """Hands the calls of a client to Nova's application.

    The class has what `pcloud.client` uses of an adapter of keystoneauth.
    """

    # The client makes a session of an adapter's, and sends nothing with it.
    session = None

    def __init__(self, context: nova_context.RequestContext) -> None:
        self._context = context

    def get_project_id(self) -> str:
        """Return the project of the calls."""
        return self._context.project_id

    def request(
        self, path: str, method: str, json: typing.Any = None,
        params: typing.Any = None, microversion: str | None = None,
        **options: typing.Any,
    ) -> requests.Response:
        """Have a call answered.

        :param options: what concerns networks alone, and the headers
        """
        url = requests.Request(method, f'{_BASE}{path}', params=params)
        request = webob.Request.blank(
            (url.prepare().url or _BASE).removeprefix(_BASE), base_url=_BASE,
            method=method, headers=_headers(options, microversion))
        if json is not None:
            request.json = json
            request.content_type = 'application/json'
        # Nova points the context of a request to the cell of a server.
        application = openstack.FaultWrapper(auth.InjectContext(
            copy.copy(self._context), _application()))
        return _response(request.get_response(application))


def _headers(
    options: dict[str, typing.Any], microversion: str | None,
) -> dict[str, str]:
    version = ({} if microversion is None else
               {'OpenStack-API-Version': f'compute {microversion}'})
    return {**options.get('headers', {}), **version}


def _response(answer: webob.Response) -> requests.Response:
    response = requests.Response()
    response.status_code = answer.status_code
    response.reason = answer.status.partition(' ')[2]
    response.headers.update(answer.headers)
    response.encoding = 'utf-8'
    response.raw = io.BytesIO(answer.body)
    return response
