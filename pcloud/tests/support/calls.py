# SPDX-License-Identifier: Apache-2.0

"""Calls of the routes of Pcloud's API, from the schemas of the routes."""

from collections.abc import Iterator

import jsonschema

from pcloud.api import routes

# Texts of which one is right for any text in a body or a query.
_TEXTS = ('web', '1', 'cpu=1', 'live', '2030-01-01T00:00:00Z',
          '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b')
# What a schema does not say that a call needs.
_MORE = {('POST', '/os-pclouds/{id}/hosts'): {'host_flavor': 'gpu'},
         ('PUT', '/os-pclouds/{id}/hosts/{name}'): {'state': 'enabled'},
         ('POST', '/os-pclouds/{id}/rebalance'): {'goal': 'free_hosts'}}


def body(route: routes.Route) -> dict | None:
    """Return a small body that a route allows, None without a body."""
    if route.schema is None:
        return None
    (name, inner), = smallest(route.schema).items()
    return {name: {**inner, **_MORE.get((route.method, route.path), {})}}


def query(route: routes.Route) -> str:
    """Return a small query string that a route allows."""
    needed = {} if route.query is None else smallest(route.query)
    return '?' + '&'.join(f'{name}={value}' for name, value in needed.items())


def smallest(schema: dict) -> object:
    """Return a small value that a schema allows."""
    if 'enum' in schema:
        return schema['enum'][0]
    if 'anyOf' in schema:
        return smallest(schema['anyOf'][0])
    kinds = schema['type']
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == 'object':
        needed = schema.get('required') or list(
            schema['properties'])[:schema.get('minProperties', 0)]
        return {name: smallest(schema['properties'][name]) for name in needed}
    if kind == 'array':
        return [smallest(schema['items'])] * schema.get('minItems', 0)
    if kind == 'string':
        validator = jsonschema.Draft202012Validator(schema)
        return next(text for text in _TEXTS if validator.is_valid(text))
    return {'integer': schema.get('minimum', 1), 'number': 1.0,
            'boolean': False, 'null': None}[kind]


def with_text(schema: dict, text: str) -> Iterator[object]:
    """Give a value of a schema for each place of a text, with `text` there.

    A value is right but for `text`, and has `text` in a single place.
    """
    for inner in schema.get('anyOf', ()):
        yield from with_text(inner, text)
    kinds = schema.get('type', ())
    if 'string' in kinds:
        yield text
    if 'array' in kinds:
        for inner in with_text(schema['items'], text):
            yield [inner]
    if 'object' in kinds:
        whole = ({} if schema.get('maxProperties') == 1 else
                 smallest({**schema, 'type': 'object'}))
        for name, member in schema['properties'].items():
            for inner in with_text(member, text):
                yield {**whole, name: inner}
