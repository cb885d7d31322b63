# SPDX-License-Identifier: Apache-2.0

"""The filter in nova-api: route, check, call, answer."""

from collections.abc import Mapping
import json
import re
import typing
from wsgiref import types

import jsonschema
from nova.api import openstack
from nova.api.openstack import wsgi as nova_wsgi
from nova import context as nova_context
from nova import exception as nova_exception
from oslo_config import cfg
from oslo_log import log as logging
import webob
import webob.dec
import webob.exc

from pcloud.api import call
from pcloud.api import enforcer
from pcloud.api.nova_calls import dispatch
from pcloud.api.nova_calls import forced_moves
from pcloud.api.nova_calls import kept_requests
from pcloud.api.nova_calls import metadata
from pcloud.api.nova_calls import servers
from pcloud.api import routes
from pcloud.api.views import blockers
from pcloud.backend import outages
from pcloud import conf
from pcloud import exception
from pcloud import text

LOG = logging.getLogger(__name__)

_CONTROL = re.compile(r'[\x00-\x1f\x7f]')

# The only place where our errors become status codes.
_FAULTS = [
    (exception.Invalid, webob.exc.HTTPBadRequest),
    (exception.Denied, webob.exc.HTTPForbidden),
    (exception.NotFound, webob.exc.HTTPNotFound),
    (exception.Conflict, webob.exc.HTTPConflict),
    (exception.Unavailable, webob.exc.HTTPServiceUnavailable),
    (exception.WrongContentType, webob.exc.HTTPUnsupportedMediaType),
]


def wrap(
    application: types.WSGIApplication,
) -> types.WSGIApplication:
    """Return Pcloud's filter, after a second legacy filter where needed.

    Below ``/v2`` a filter of Nova removes the microversion from a request.
    Where Nova's filter comes after Pcloud's in the pipeline, a second instance
    of Nova's filter is put in front of Pcloud's, so that Pcloud's filter never
    reads a microversion that is not in force.

    :param application: the next application in the pipeline
    :raises: `exception.PcloudError` when nothing of Nova comes after the
        filter
    """
    made = Middleware(application)
    if dispatch.is_legacy(application):
        return openstack.LegacyV2CompatibleWrapper(made)
    return made


class Middleware:
    """Answer Pcloud's calls, check Nova's calls, and hand Nova's calls on.

    :param application: the next application in the pipeline
    """

    def __init__(self, application: types.WSGIApplication) -> None:
        conf.register_opts(cfg.CONF)
        self._application = application
        self._mapper = routes.mapper()
        self._nova = dispatch.Reader(application)
        self._rbac = enforcer.Enforcer()

    @webob.dec.wsgify(RequestClass=nova_wsgi.Request)
    def __call__(self, request: nova_wsgi.Request) -> webob.Response:
        """Answer a request.

        An unknown error goes on to Nova's own fault wrapper, which logs the
        error and answers 500.
        """
        try:
            path = request.path_info
        except UnicodeDecodeError:
            return nova_wsgi.Fault(webob.exc.HTTPBadRequest(
                explanation='The path is not UTF-8 encoded'))
        # To Nova a path that ends in a newline is the same as without.
        if _CONTROL.search(path):
            return nova_wsgi.Fault(webob.exc.HTTPBadRequest(
                explanation='The path has a control character in it'))
        parameters = self._mapper.match(path)
        if parameters is None and dispatch.is_plain_read(request):
            # To find out which call it is takes longer than to look for hints.
            return servers.without_secrets(
                request, self._application, self._rbac)
        try:
            if parameters is not None:
                request.set_api_version_request()
                return self._answer(request, parameters)
            judged = self._nova.call(request)
            if judged is not None:
                self._check(judged)
        except exception.PcloudError as error:
            return _refusal(request, error)
        except nova_exception.InvalidAPIVersionString as error:
            return nova_wsgi.Fault(webob.exc.HTTPBadRequest(
                explanation=error.format_message()))
        except nova_exception.InvalidGlobalAPIVersion as error:
            return nova_wsgi.Fault(webob.exc.HTTPNotAcceptable(
                explanation=error.format_message()))
        except webob.exc.HTTPException as error:
            return nova_wsgi.Fault(error)
        except outages.DATABASE as error:
            if not outages.is_outage(error):
                raise
            LOG.exception('The database cannot be reached')
            return nova_wsgi.Fault(_fault(exception.Unavailable(
                'The database of the compute service cannot be reached; '
                'nothing was changed. Repeat the request when the database '
                'is back.')))
        # Errors of the applications after the filter are not translated.
        if judged is None:
            return self._application
        return servers.answer(judged, self._application, self._rbac)

    def _check(self, judged: dispatch.NovaCall) -> None:
        forced_moves.check(judged)
        kept_requests.check(judged)
        metadata.check(judged)
        servers.prepare(judged, self._rbac)

    def _answer(
        self, request: nova_wsgi.Request, parameters: dict,
    ) -> webob.Response:
        _check_content_type(request)
        _check_method(request)
        methods = routes.methods_of(parameters.pop('template'))
        route = methods.get(request.method)
        if route is None:
            allowed = ', '.join(sorted(methods))
            raise webob.exc.HTTPMethodNotAllowed(
                headers={'Allow': allowed}, explanation=(
                    f'The method {request.method} is not right for this '
                    f'path; it has to be one of {allowed}.'))
        context = request.environ['nova.context']
        _check_project(context, parameters.pop('project_id', None))
        _check_names(route, parameters)
        made = call.Call(
            context=context, rbac=self._rbac, rule=route.rule,
            parameters=parameters, query=_query(request, route),
            body=_body(request, route),
            has_body=_has_body(request, route))
        if not made.can(route.rule):
            raise exception.PolicyForbids(rule=route.rule)
        return _response(request, route, route.handler(made))


def _fault(error: exception.PcloudError) -> webob.exc.HTTPException:
    for kind, fault in _FAULTS:
        if isinstance(error, kind):
            return fault(explanation=str(error))
    raise error


def _refusal(
    request: nova_wsgi.Request, error: exception.PcloudError,
) -> webob.Response:
    """Return Nova's answer for an error, with what stands in the way."""
    response = request.get_response(nova_wsgi.Fault(_fault(error)))
    if error.typed_reasons:
        (name, fault), = response.json_body.items()
        fault['reasons'] = list(error.typed_reasons)
        if error.blockers:
            fault['blockers'] = blockers.show(error.blockers)
        response.json_body = {name: fault}
    return response


def _check_content_type(request: nova_wsgi.Request) -> None:
    """Refuse the content types that Nova refuses, even without a body."""
    try:
        request.get_content_type()
    except nova_exception.InvalidContentType:
        raise exception.WrongContentType(found=request.content_type)


def _check_method(request: nova_wsgi.Request) -> None:
    """Refuse a ``_method`` in the query that is not the request's method.

    Nova looks up a call by ``_method``, and then reads the body by the
    request's method.
    """
    meant = dispatch.method(request)
    if meant != request.method:
        raise exception.Invalid(
            f'The query has _method={meant} and the request is a '
            f'{request.method}; leave _method out, and send the request with '
            'the method that is meant.')


def _check_project(
    context: nova_context.RequestContext, project_id: str | None,
) -> None:
    """Refuse a project in the path that is not the caller's, as Nova does."""
    if project_id is not None and project_id != context.project_id:
        raise exception.Invalid(
            f"Malformed request URL: URL's project_id '{project_id}' "
            "doesn't match Context's project_id "
            f"'{context.project_id}'")


def _check_names(
    route: routes.Route, parameters: Mapping[str, str],
) -> None:
    """Refuse a path with a text that no object of its kind can have as name.

    Not every database can be asked about every text.

    :raises: `exception.NotFound`

    Rule: reference-names-in-paths
    """
    for name, form in routes.forms_of(route.path).items():
        if not jsonschema.Draft202012Validator(form).is_valid(
                parameters[name]):
            raise exception.NotFound(
                f'Nothing can have the name {_written(parameters[name])} in '
                f"this place of a path; it has to be {form['description']}.")


def _query(request: nova_wsgi.Request, route: routes.Route) -> dict:
    if route.query is None:
        return {}
    try:
        values = request.GET.mixed()
    except UnicodeDecodeError:
        raise exception.Invalid('Query string is not UTF-8 encoded')
    # `_check_method` has judged what Nova's routing reads.
    values.pop('_method', None)
    _validate(values, route.query)
    return values


def _has_body(request: nova_wsgi.Request, route: routes.Route) -> bool:
    """Whether a request has a body to be read, right or not."""
    return not route.is_optional or bool(request.body)


def _body(request: nova_wsgi.Request, route: routes.Route) -> dict:
    if route.schema is None or not _has_body(request, route):
        return {}
    try:
        # json.loads would guess the encoding of bytes.
        body = json.loads(request.body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise exception.Invalid(
            'Malformed request body: it is not JSON in UTF-8.')
    _validate(body, route.schema)
    (name, value), = _whole(body, route.schema).items()
    return value if isinstance(value, dict) else {name: value}


def _whole(value: typing.Any, schema: Mapping) -> typing.Any:
    """Return a valid body with integers where 2.0 and the like are written.

    To JSON Schema 2.0 is an integer too, and to Python's ranges it is none.
    """
    if isinstance(value, dict):
        inner = schema.get('properties', {})
        return {name: _whole(each, inner.get(name, {}))
                for name, each in value.items()}
    if isinstance(value, list):
        return [_whole(each, schema.get('items', {})) for each in value]
    if isinstance(value, float) and 'integer' in schema.get('type', ()):
        return int(value)
    return value


def _no_constant(name: str) -> typing.NoReturn:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(name)


def _validate(value: object, schema: dict) -> None:
    """Check a value against a schema.

    :raises: `exception.Invalid`, with the place of the first fault
    """
    validator = jsonschema.Draft202012Validator(schema)
    mismatch = min(validator.iter_errors(value), default=None,
                   key=lambda problem: [
                       str(part) for part in problem.absolute_path])
    if mismatch is None:
        return
    where = '.'.join(str(part) for part in mismatch.absolute_path)
    if where:
        raise exception.Invalid(
            'Invalid input for field/attribute '
            f'{where}. {_shown(mismatch)}')
    raise exception.Invalid(f'Invalid input: {_shown(mismatch)}')


def _shown(error: jsonschema.ValidationError) -> str:
    """Return what is wrong, in words: no user has to read a pattern."""
    value = error.instance
    right = error.schema.get('description')
    if right is not None:
        return f'Value {_written(value)} is not right; it has to be {right}'
    if error.message.startswith(repr(value)):
        return _written(value) + error.message.removeprefix(repr(value))
    return error.message


def _written(value: object) -> str:
    """Return a value as in a message, null, true and false as in JSON."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return text.beginning(repr(value))


def _response(
    request: nova_wsgi.Request, route: routes.Route,
    answer: call.Answer | dict | None,
) -> webob.Response:
    version = request.api_version_request.get_string()
    status, body = ((answer.status, answer.body)
                    if isinstance(answer, call.Answer)
                    else (route.status, answer))
    response = webob.Response(status=status)
    if body is None:
        response.headers.pop('Content-Type', None)
    else:
        response.content_type = 'application/json'
        response.text = json.dumps(body)
    # Nova's clients warn about an answer that does not name its version.
    for header, value in (
            (nova_wsgi.API_VERSION_REQUEST_HEADER, f'compute {version}'),
            (nova_wsgi.LEGACY_API_VERSION_REQUEST_HEADER, version)):
        response.headers[header] = value
        response.headers.add('Vary', header)
    return response
