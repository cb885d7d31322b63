# SPDX-License-Identifier: Apache-2.0

"""The published description of the API, the reference, and the samples."""

from collections.abc import Iterator
import json
import pathlib
import re

import jsonschema
from oslotest import base
import yaml

from pcloud.api import openapi
from pcloud.api import route
from pcloud.api import routes

ROOT = pathlib.Path(__file__).parents[4]
REFERENCE = ROOT / 'api-ref' / 'source'
SAMPLES = ROOT / 'doc' / 'api_samples'
FAULT = {'conflictingRequest': {'code': 409, 'message': 'It is not empty'}}

# What JSON Schema calls what the reference calls by another name.
_TYPES = {'float': 'number', 'dict': 'object', 'none': 'null'}


def sections() -> Iterator[tuple[route.Route, str]]:
    """Yield each call with its section of the reference."""
    text = '\n'.join(path.read_text() for path in REFERENCE.glob('*.inc'))
    for row in routes.ROUTES:
        section = text.split(
            f'.. rest_method:: {row.method} {row.path}\n')[1]
        yield row, section.split('.. rest_method::')[0]


def members(schema: dict, above: str = '') -> Iterator[tuple[str, dict]]:
    """Yield each member of a schema, and the members' members.

    A member is named alone, and after the member above as in ``hosts.name``.
    """
    for name, inner in schema.get('properties', {}).items():
        yield name, inner
        yield f'{above}.{name}', inner
        yield from members(inner, name)
    for inner in (schema.get('items'), schema.get('additionalProperties'),
                  *schema.get('anyOf', ())):
        if isinstance(inner, dict):
            yield from members(inner, above)


def schemas(found: object) -> Iterator[dict]:
    """Yield the schemas of a description."""
    if isinstance(found, list):
        for each in found:
            yield from schemas(each)
    elif isinstance(found, dict):
        if isinstance(found.get('schema'), dict):
            yield found['schema']
        for each in found.values():
            yield from schemas(each)


class DescriptionTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.description = openapi.description()
        self.operations = {
            (method.upper(), path): operation
            for path, its in self.description['paths'].items()
            for method, operation in its.items()}

    def test_every_call_is_there(self):
        self.assertEqual({(row.method, row.path) for row in routes.ROUTES},
                         set(self.operations))
        ids = [each['operationId'] for each in self.operations.values()]
        self.assertEqual(sorted(set(ids)), sorted(ids))

    def test_it_is_json(self):
        self.assertEqual(self.description,
                         json.loads(json.dumps(self.description)))

    def test_every_schema_is_one(self):
        for schema in schemas(self.description):
            jsonschema.Draft202012Validator.check_schema(schema)

    def test_patterns_are_not_those_of_python_alone(self):
        found = [inner['pattern'] for schema in schemas(self.description)
                 for _, inner in members({'properties': {'it': schema}})
                 if 'pattern' in inner]
        self.assertNotEqual([], found)
        for pattern in found:
            self.assertNotIn(r'\Z', pattern)

    def test_parameters_of_a_path(self):
        for (_, path), operation in self.operations.items():
            self.assertEqual(re.findall('{(.*?)}', path), [
                each['name'] for each in operation['parameters']
                if each['in'] == 'path'])

    def test_what_may_be_repeated_is_a_list(self):
        schemas_of = {
            each['name']: each['schema'] for each in self.operations[
                'DELETE', '/os-pcloud-attributes/{name}']['parameters']}
        self.assertEqual('array', schemas_of['host']['type'])

    def test_bodies(self):
        add = self.operations['POST', '/os-pclouds/{id}/hosts']
        self.assertTrue(add['requestBody']['required'])
        caps = self.operations['PUT', '/os-pclouds/{id}/tenants/{tenant}']
        self.assertFalse(caps['requestBody']['required'])
        self.assertNotIn('content', caps['responses']['204'])

    def test_faults(self):
        fault = jsonschema.Draft202012Validator(
            self.description['components']['schemas']['fault'])
        self.assertTrue(fault.is_valid(FAULT))
        self.assertFalse(fault.is_valid({**FAULT, 'more': {}}))
        self.assertFalse(fault.is_valid({'conflictingRequest': {}}))
        reads = self.operations['GET', '/os-pclouds/{id}']['responses']
        self.assertNotIn('409', reads)
        self.assertIn('404', reads)
        self.assertNotIn(
            '404', self.operations['GET', '/os-pcloud']['responses'])

    def test_an_answer_has_no_other_members(self):
        pcloud = jsonschema.Draft202012Validator(routes.methods_of(
            '/os-pclouds/{id}')['GET'].answer)
        right = {'id': '7f3c8a52-4a0e-4c35-9d6e-5b1f2c7e8a90', 'name': 'farm',
                 'owner': 'a'}
        self.assertTrue(pcloud.is_valid({'pcloud': right}))
        self.assertFalse(pcloud.is_valid({'pcloud': {**right, 'host': 'x'}}))
        self.assertFalse(pcloud.is_valid({'pcloud': {'id': 'x'}}))


class ReferenceTest(base.BaseTestCase):
    """The API reference says what the description says."""

    def setUp(self):
        super().setUp()
        self.kinds = yaml.safe_load(
            (REFERENCE / 'parameters.yaml').read_text())

    def _table(self, section: str, title: str) -> dict[str, str]:
        """Return name -> type of the members in the table of a section."""
        parts = re.split(r'\n(Request|Response)\n-+\n', section)
        found: dict[str, str] = {}
        for name, text in zip(parts[1::2], parts[2::2]):
            if name == title:
                found |= {member: self.kinds[key]['type'] for member, key
                          in re.findall(r'^   - (\S+): (\S+)$', text, re.M)}
        return found

    def test_refusals(self):
        for row, section in sections():
            said = re.search('Error response codes: (.*)', section)[1]
            self.assertEqual(set(), {int(each) for each in said.split(', ')}
                             - set(openapi.faults(row)), row.path)

    def test_members_of_answers(self):
        for row, section in sections():
            if row.answer is None:
                continue
            table, described = self._table(section, 'Response'), {}
            for name, inner in members(row.answer):
                described.setdefault(name, set()).update(self._types(inner))
            self.assertEqual(set(), table.keys() - described.keys(),
                             f'{row.method} {row.path}: not answered')
            for name, kind in table.items():
                said = {_TYPES.get(each, each) for each in kind.split(' or ')}
                self.assertEqual(set(), said - described[name],
                                 f'{row.method} {row.path}: {name}')

    def _types(self, schema: dict) -> set[str]:
        if 'enum' in schema and 'type' not in schema:
            return {'string'}
        kinds = schema['type']
        return {kinds} if isinstance(kinds, str) else set(kinds)

    def test_parameters_of_queries(self):
        for row, section in sections():
            if row.query is None:
                continue
            table = self._table(section, 'Request')
            self.assertEqual(
                set(), set(row.query['properties']) - table.keys(),
                f'{row.method} {row.path}')

    def test_samples(self):
        seen = 0
        for row, section in sections():
            for name in re.findall('api_samples/(.*)', section):
                schema = row.schema if name.endswith('-req.json') else (
                    row.answer)
                errors = [*jsonschema.Draft202012Validator(
                    schema).iter_errors(
                        json.loads((SAMPLES / name).read_text()))]
                self.assertEqual([], errors, name)
                seen += 1
        self.assertEqual(len([*SAMPLES.rglob('*.json')]), seen)
