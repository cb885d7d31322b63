# SPDX-License-Identifier: Apache-2.0

"""A description of the API in OpenAPI 3.1, made of the table of all calls.

The table has the paths, methods, schemas and status codes, the policies have
who may call, and the handlers' docstrings what a call does. Nothing is written
twice; the API reference publishes the description.
"""

from collections.abc import Iterator
import inspect
import typing

from pcloud.api.handlers import about
from pcloud.api import policies
from pcloud.api import route
from pcloud.api import routes
from pcloud.api.schemas import shown

_TOKEN = {'type': 'apiKey', 'in': 'header', 'name': 'X-Auth-Token',
          'description': 'A token of Keystone for a project.'}

_FAULT = {
    'description': 'A refusal has a single member, with a name of Nova\'s.',
    'type': 'object',
    'minProperties': 1,
    'maxProperties': 1,
    'additionalProperties': {
        'type': 'object',
        'properties': {'code': {'type': 'integer'}, 'message': shown.TEXT},
        'required': ['code', 'message']}}

_FAULTS = {
    400: 'The path, the query or the body is not right; the message says what '
         'would be right.',
    401: 'The token is missing or not valid.',
    403: 'The policy or a limit forbids the call.',
    404: 'Nothing of this name exists that the caller may know of.',
    405: 'The path has no such method.',
    406: 'This Nova has no such microversion.',
    409: 'The present state forbids the change; nothing was changed.',
    415: 'The body is of another type than application/json.',
    503: 'A database or a service cannot be reached; nothing was changed.'}
# Keystone's middleware refuses a token in a form of its own.
_NOT_OF_NOVA = 401
# These are for calls that name something, and that change something.
_OF_NAMES, _OF_CHANGES = 404, 409


def description() -> dict:
    """Return the description, to be written as JSON.

    Schemas are of JSON Schema 2020-12, with regular expressions that
    ECMAScript understands too.
    """
    paths: dict[str, dict] = {}
    rules = {rule.name: rule for rule in policies.list_rules()}
    for row in routes.ROUTES:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(
            row, rules)
    return {
        'openapi': '3.1.0',
        'info': {'title': 'Pcloud', 'version': about.VERSION,
                 'license': {'name': 'Apache-2.0',
                             'identifier': 'Apache-2.0'}},
        'servers': [{'url': '/v2.1',
                     'description': 'the compute endpoint'}],
        'security': [{'token': []}],
        'paths': paths,
        'components': {
            'securitySchemes': {'token': _TOKEN},
            'schemas': {'fault': _FAULT},
            'responses': {str(status): _fault(status, text)
                          for status, text in _FAULTS.items()}}}


def faults(row: route.Route) -> list[int]:
    """Return the status codes with which a call may be refused."""
    absent = set()
    if '{' not in row.path and row.query is None and row.schema is None:
        absent.add(_OF_NAMES)
    if row.method == 'GET':
        absent.add(_OF_CHANGES)
    return [status for status in _FAULTS if status not in absent]


def _fault(status: int, text: str) -> dict:
    if status == _NOT_OF_NOVA:
        return {'description': text}
    return {'description': text, 'content': {'application/json': {
        'schema': {'$ref': '#/components/schemas/fault'}}}}


def _operation(row: route.Route, rules: dict) -> dict:
    """Return the description of a call."""
    handler = row.handler
    noun = handler.__module__.rpartition('.')[2]
    made: dict[str, typing.Any] = {
        'operationId': f'{row.method.lower()}{_words(row.path)}',
        'summary': (inspect.getdoc(handler) or '').partition('\n')[0],
        'tags': [noun],
        'x-policy': {'name': row.rule, 'default': rules[row.rule].check_str},
        'parameters': [*_of_path(row), *_of_query(row)],
        'responses': {
            **{str(status): _success(row)
               for status in (row.status, *row.also)},
            **{str(status): {'$ref': f'#/components/responses/{status}'}
               for status in faults(row)}}}
    if row.schema is not None:
        made['requestBody'] = {
            'required': not row.is_optional,
            'content': {'application/json': {
                'schema': _portable(row.schema)}}}
    return made


def _words(path: str) -> str:
    """Return a path as a part of an id."""
    return path.replace('/', '_').replace('{', '').replace('}', '')


def _success(row: route.Route) -> dict:
    if row.answer is None:
        return {'description': 'It is done.'}
    return {'description': 'It is done.', 'content': {'application/json': {
        'schema': _portable(row.answer)}}}


def _of_path(row: route.Route) -> Iterator[dict]:
    for name, form in routes.forms_of(row.path).items():
        yield {'name': name, 'in': 'path', 'required': True,
               'schema': _portable(form)}


def _of_query(row: route.Route) -> Iterator[dict]:
    if row.query is None:
        return
    required = row.query.get('required', ())
    for name, form in row.query['properties'].items():
        yield {'name': name, 'in': 'query', 'required': name in required,
               'schema': _portable(_repeated(form))}


def _repeated(form: dict) -> dict:
    """Return a list as the schema of what may be given several times."""
    lists = [each for each in form.get('anyOf', ())
             if each.get('type') == 'array']
    return lists[0] if lists else form


def _portable(schema: typing.Any) -> typing.Any:
    r"""Return a schema whose patterns are not Python's alone.

    ECMAScript has no ``\Z``, and its ``$`` is the end of a text.
    """
    if isinstance(schema, list):
        return [_portable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _portable(inner) for name, inner in schema.items()}
    if isinstance(made.get('pattern'), str):
        made['pattern'] = made['pattern'].replace(r'\Z', '$')
    return made
