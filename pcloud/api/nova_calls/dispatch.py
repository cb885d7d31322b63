# SPDX-License-Identifier: Apache-2.0

"""The call that Nova will execute for a request, read by Nova's own means.

A check in front of Nova is worth nothing when Nova executes another call than
the checked call. Hence Pcloud has no rules of its own for reading a request:
the method comes from the middleware that Nova's router is made of, the path
goes through the mapper of the router after the filter, and the version and the
body are read by the resource that will get the request. A request that Nova
answers without a controller is no call.

Rule: reference-isolation-api
"""

import collections
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import json
import typing
from wsgiref import types

from nova.api import openstack
from nova.api.openstack import api_version_request
from nova.api.openstack import common
from nova.api.openstack import wsgi as nova_wsgi
from nova.api import wsgi as base_wsgi
from nova import context as nova_context
from nova import exception as nova_exception
from routes import middleware

from pcloud import exception
from pcloud import text

_VERSION_HEADERS = tuple(
    f'HTTP_{name.upper().replace("-", "_")}' for name in (
        nova_wsgi.API_VERSION_REQUEST_HEADER,
        nova_wsgi.LEGACY_API_VERSION_REQUEST_HEADER))
# The `action` of the calls whose bodies name the action.
_IN_THE_BODY = 'action'


@dataclasses.dataclass(frozen=True)
class NovaCall:
    """A call of a controller of Nova, before Nova executes the call.

    :ivar request: the request that Nova will get
    :ivar controller: the resource's controller
    :ivar action: the name of the controller's action; the action in the body
        where the path ends in ``/action``
    :ivar arguments: name -> value of the ``{name}`` parameters in the route's
        path
    :ivar version: the microversion in force
    :ivar body: the body, None where Nova reads no body
    """

    request: nova_wsgi.Request
    controller: nova_wsgi.Controller
    action: str
    arguments: Mapping[str, str]
    version: api_version_request.APIVersionRequest
    body: typing.Any

    @property
    def context(self) -> nova_context.RequestContext:
        """The caller's context."""
        return self.request.environ['nova.context']

    def is_of(self, controller: type, *actions: str) -> bool:
        """Whether the call is any of some actions of a controller."""
        return self.action in actions and isinstance(
            self.controller, controller)

    def may(self, rule: str, project_id: str) -> bool:
        """Whether Nova's policy allows the caller the call.

        A caller who is refused learns nothing else about the server.

        :param rule: the policy rule that Nova checks
        :param project_id: the project of the server in the call
        """
        return bool(self.context.can(rule, fatal=False, target={
            'project_id': project_id, 'user_id': self.context.user_id}))

    def hand_on(self, body: Mapping) -> None:
        """Replace the body that Nova will read.

        The new body is ASCII, which is the same in whatever encoding the
        request names.
        """
        self.request.body = json.dumps(body).encode('ascii')


class Reader:
    """Reads requests as the part of Nova after the filter will.

    :param application: the next application in the pipeline
    :raises: `exception.PcloudError` when nothing of Nova comes after the
        filter
    """

    def __init__(self, application: types.WSGIApplication) -> None:
        end = next((layer for layer in _chain(application)
                    if isinstance(layer, _ENDS)), None)
        if end is None:
            raise exception.PcloudError(
                "Behind Pcloud's filter there is nothing of Nova's API in "
                "the pipeline; put 'pcloud' into the pipelines of the "
                'compute API in api-paste.ini, behind keystonecontext.')
        # A pipeline of Nova that ends in a single resource has no calls.
        self._map = getattr(end, 'map', None)

    def call(self, request: nova_wsgi.Request) -> NovaCall | None:
        """Return the call that Nova will execute, None where there is no call.

        :raises: `exception.Invalid` for a body at which Nova would fail
            with an unexpected error
        """
        try:
            return self._call(request)
        except (nova_exception.InvalidAPIVersionString,
                nova_exception.InvalidGlobalAPIVersion,
                nova_exception.InvalidContentType,
                nova_exception.MalformedRequestBody):
            return None
        except UnicodeDecodeError:
            raise exception.Invalid('Malformed request body: it is not UTF-8.')
        except RecursionError:
            raise exception.Invalid(
                'Malformed request body: it is nested too deeply.')

    def _call(self, request: nova_wsgi.Request) -> NovaCall | None:
        content_type = request.get_content_type()
        match = self._match(request)
        resource = match.get('controller')
        if not isinstance(resource, nova_wsgi.Resource):
            return None
        return _read(resource, request, _copy(request, match), content_type)

    def _match(self, request: nova_wsgi.Request) -> Mapping:
        if self._map is None:
            return {}
        environ = {**request.environ, 'REQUEST_METHOD': method(request)}
        match = self._map.routematch(environ['PATH_INFO'], environ)
        return match[0] if match else {}


def _read(
    resource: nova_wsgi.Resource, request: nova_wsgi.Request,
    judged: nova_wsgi.Request, content_type: str | None,
) -> NovaCall | None:
    """Take the steps of a Nova resource, in the order of the resource."""
    version = _version(resource, request)
    arguments = resource.get_action_args(judged.environ)
    action, body = arguments.pop('action', None), judged.body
    try:
        resource.get_method(judged, action, content_type, body)
    except (AttributeError, TypeError, KeyError):
        return None
    if action == _IN_THE_BODY:
        action = nova_wsgi.action_peek(body)
    # Nova writes the body to the log before the body is read.
    body.decode()
    content = resource._get_request_content(body, judged)
    project, context = (arguments.pop('project_id', None),
                        request.environ.get('nova.context'))
    if project and context and project != context.project_id:
        return None
    return NovaCall(
        request, resource.controller, action, arguments,
        version, content.get('body'))


def _version(
    resource: nova_wsgi.Resource, request: nova_wsgi.Request,
) -> api_version_request.APIVersionRequest:
    """Return the microversion that a resource will read from a request.

    To look through all headers takes as long as to find the resource, and
    only these headers count.
    """
    bare = nova_wsgi.Request({
        name: request.environ[name] for name in _VERSION_HEADERS
        if name in request.environ})
    if resource.support_api_request_version:
        bare.set_api_version_request()
    return bare.api_version_request


def flavor_id(reference: object) -> str:
    """Return the id of a flavor, '' where there can be no such flavor.

    :param reference: the flavor's id, or an address that ends in the id, as in
        Nova's API
    """
    try:
        found = common.get_id_from_href(str(reference))
    except ValueError:
        return ''
    return found if text.is_askable(found) else ''


def method(request: nova_wsgi.Request) -> str:
    """Return the method by which Nova's router looks up a call.

    A ``_method`` in the query takes the place of the request's method. A
    ``_method`` in a form does not count: Nova takes no forms.

    :raises: `nova.exception.InvalidContentType`
    """
    request.get_content_type()
    return _METHOD(dict(request.environ), None)


def is_plain_read(request: nova_wsgi.Request) -> bool:
    """Whether a request has no body by its headers, and Nova sees a ``GET``.

    Pcloud checks no call that Nova's router finds for a ``GET``: only what
    Nova answers matters.
    """
    return (request.method == 'GET' and not request.content_length and
            'Transfer-Encoding' not in request.headers and
            '_method' not in request.query_string)


def is_legacy(application: types.WSGIApplication) -> bool:
    """Whether Nova will read no version from a request's headers.

    :param application: the next application in the pipeline
    """
    for layer in _chain(application):
        if isinstance(layer, openstack.LegacyV2CompatibleWrapper):
            return True
        if isinstance(layer, _ENDS):
            return False
    return False


class _MethodMapper:
    """Finds the method of a look-up instead of a call."""

    def routematch(self, environ: Mapping) -> tuple[Mapping, None]:
        return {'method': environ['REQUEST_METHOD']}, None


_METHOD = middleware.RoutesMiddleware(
    lambda environ, _: environ['wsgiorg.routing_args'][1]['method'],
    _MethodMapper(), singleton=False)


def _copy(request: nova_wsgi.Request, match: Mapping) -> nova_wsgi.Request:
    """Return a copy of a request to read, apart from the request of Nova."""
    # A body can be read only once from the source.
    request.make_body_seekable()
    environ = {**request.environ, 'wsgiorg.routing_args': ((None,), match)}
    environ.pop('webob.adhoc_attrs', None)
    return nova_wsgi.Request(environ)


# The applications after a router or a resource do not matter.
_ENDS = (base_wsgi.Router, nova_wsgi.Resource)


def _chain(application: object) -> Iterator[object]:
    """Yield an application and all applications after it, the nearest first.

    A foreign filter keeps the next application in an attribute of any name, or
    in a closure.
    """
    waiting, seen = collections.deque([application]), set()
    while waiting:
        layer = waiting.popleft()
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        yield layer
        waiting.extend(
            part for part in _inside(layer)
            if callable(part) and not isinstance(part, type))


def _inside(layer: object) -> Iterator[object]:
    yield from list(getattr(layer, '__dict__', {}).values())
    yield getattr(layer, '__self__', None)
    for cell in getattr(layer, '__closure__', None) or ():
        yield cell.cell_contents
