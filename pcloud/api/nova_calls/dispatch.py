# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What Nova will execute for a request, read by Nova's own means.

A check in front of Nova is worth nothing when Nova executes another call
than the one that was looked at. Hence nothing is read here by rules of our
own: the method comes from the middleware that Nova's router is made of, the
path goes through the mapper of the very router that stands behind us, and the
version and the body are read by the resource that Nova will hand the request
to. A request that Nova answers before any controller of its own is called is
no call.
"""

import collections
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import json

from nova.api import openstack
from nova.api.openstack import api_version_request
from nova.api.openstack import wsgi as nova_wsgi
from nova.api import wsgi as base_wsgi
from nova import context as nova_context
from nova import exception as nova_exception
from routes import middleware

from pcloud import exception

# What `action` is for the calls whose bodies say what is to be done.
_IN_THE_BODY = 'action'


@dataclasses.dataclass(frozen=True)
class NovaCall:
    """A call of one of Nova's controllers, before it is made.

    :ivar request: the request that Nova will get
    :ivar controller: the class of the resource's controller
    :ivar action: the name of what the controller is to do; the one in the
        body where the path ends in ``/action``
    :ivar arguments: what stands in the path where the route has braces
    :ivar version: the microversion in force
    :ivar body: the body, None where Nova reads none
    """

    request: nova_wsgi.Request
    controller: type
    action: str
    arguments: Mapping[str, str]
    version: api_version_request.APIVersionRequest
    body: object

    @property
    def context(self) -> nova_context.RequestContext:
        """The caller's context."""
        return self.request.environ['nova.context']

    def is_of(self, controller: type, *actions: str) -> bool:
        """Whether the call is one of these actions of a controller."""
        return self.action in actions and issubclass(
            self.controller, controller)

    def hand_on(self, body: Mapping) -> None:
        """Have Nova read another body than the one that came.

        It is ASCII, which is the same in whatever the request says of the
        encoding.
        """
        self.request.body = json.dumps(body).encode('ascii')


class Reader:
    """Reads requests as the part of Nova that stands behind us will.

    :param application: what comes behind in the pipeline
    :raises: `exception.NotInFrontOfNova`
    """

    def __init__(self, application) -> None:
        end = next((each for each in _chain(application)
                    if isinstance(each, _ENDS)), None)
        if end is None:
            raise exception.NotInFrontOfNova()
        # A pipeline of Nova's that ends in one resource has no calls.
        self._map = getattr(end, 'map', None)

    def call(self, request: nova_wsgi.Request) -> NovaCall | None:
        """Return the call that Nova will make, None where it makes none.

        :raises: `exception.InvalidBody` when Nova would fail to read the
            body and know no answer
        """
        try:
            return self._call(request)
        except (nova_exception.InvalidAPIVersionString,
                nova_exception.InvalidGlobalAPIVersion,
                nova_exception.InvalidContentType,
                nova_exception.MalformedRequestBody):
            return None
        except UnicodeDecodeError:
            raise exception.InvalidBody(
                reason='Malformed request body: it is not UTF-8.')
        except RecursionError:
            raise exception.InvalidBody(
                reason='Malformed request body: it is nested too deeply.')

    def _call(self, request):
        content_type = request.get_content_type()
        match = self._match(request)
        resource = match.get('controller')
        if not isinstance(resource, nova_wsgi.Resource):
            return None
        return _read(resource, request, _copy(request, match), content_type)

    def _match(self, request) -> Mapping:
        if self._map is None:
            return {}
        environ = {**request.environ, 'REQUEST_METHOD': method(request)}
        found = self._map.routematch(environ['PATH_INFO'], environ)
        return found[0] if found else {}


def _read(resource, request, judged, content_type) -> NovaCall | None:
    """Take the steps of a resource of Nova's, in their order."""
    if resource.support_api_request_version:
        judged.set_api_version_request()
    arguments = resource.get_action_args(judged.environ)
    action = arguments.pop('action', None)
    try:
        resource.get_method(judged, action, content_type, judged.body)
    except (AttributeError, TypeError, KeyError):
        return None
    if action == _IN_THE_BODY:
        action = nova_wsgi.action_peek(judged.body)
    # Nova writes the body to its log before it is read.
    judged.body.decode()
    content = resource._get_request_content(judged.body, judged)
    project, context = (arguments.pop('project_id', None),
                        request.environ.get('nova.context'))
    if project and context and project != context.project_id:
        return None
    return NovaCall(
        request, type(resource.controller), action, arguments,
        judged.api_version_request, content.get('body'))


def method(request: nova_wsgi.Request) -> str:
    """Return the method by which Nova's router looks for a call.

    It is the one that ``_method`` in the query asks for. That of a form is
    left out: Nova takes no forms, whatever they say.

    :raises: `nova.exception.InvalidContentType`
    """
    request.get_content_type()
    return _METHOD(dict(request.environ), None)


def is_legacy(application) -> bool:
    """Whether Nova will read no version from a request's headers.

    :param application: what comes behind in the pipeline
    """
    for each in _chain(application):
        if isinstance(each, openstack.LegacyV2CompatibleWrapper):
            return True
        if isinstance(each, _ENDS):
            return False
    return False


class _MethodMapper:
    """Finds, in place of a call, the method that it is looked for by."""

    def routematch(self, environ):
        return {'method': environ['REQUEST_METHOD']}, None


_METHOD = middleware.RoutesMiddleware(
    lambda environ, _: environ['wsgiorg.routing_args'][1]['method'],
    _MethodMapper(), singleton=False)


def _copy(request, match):
    """Return a request to read, of which Nova's own learns nothing."""
    # The body can be read from its source once.
    request.make_body_seekable()
    environ = {**request.environ, 'wsgiorg.routing_args': ((None,), match)}
    environ.pop('webob.adhoc_attrs', None)
    return nova_wsgi.Request(environ)


# Nothing that is of interest to us comes behind them.
_ENDS = (base_wsgi.Router, nova_wsgi.Resource)


def _chain(application) -> Iterator[object]:
    """Yield an application and what is behind it, the nearest first.

    Filters of others keep what is behind them under whatever name, or have
    it in a closure.
    """
    waiting, seen = collections.deque([application]), set()
    while waiting:
        found = waiting.popleft()
        if id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        waiting.extend(
            each for each in _inside(found)
            if callable(each) and not isinstance(each, type))


def _inside(found) -> Iterator[object]:
    yield from list(getattr(found, '__dict__', {}).values())
    yield getattr(found, '__self__', None)
    for cell in getattr(found, '__closure__', None) or ():
        yield cell.cell_contents
