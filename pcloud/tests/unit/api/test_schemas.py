# SPDX-License-Identifier: Apache-2.0

"""What the schemas say to a user whose value is wrong."""

from collections.abc import Iterator
import re

import ddt
import testtools
from testtools import matchers

from pcloud.api import routes
from pcloud.api import wsgi
from pcloud import exception

# What a pattern has and no sentence has.
_PATTERN = re.compile(r'\\[A-Zdsx]|\]\{|\(\?|\^')


def _parts(schema: object) -> Iterator[dict]:
    """Yield all schemas within a schema."""
    if isinstance(schema, dict):
        yield schema
        for part in schema.values():
            yield from _parts(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _parts(part)


SCHEMAS = [schema for route in routes.ROUTES
           for schema in (route.schema, route.query) if schema]


@ddt.ddt
class WordsTest(testtools.TestCase):

    def _message(self, schema, value):
        return str(self.assertRaises(
            exception.Invalid, wsgi._validate, value, schema))

    def test_every_pattern_is_described(self):
        patterns = [part for schema in SCHEMAS for part in _parts(schema)
                    if isinstance(part.get('pattern'), str)]
        self.assertGreater(len(patterns), 10)
        for part in patterns:
            self.assertIn('description', part)
            self.assertIsNone(_PATTERN.search(part['description']), part)

    @ddt.data(0, 'a b', ' ', '', '.', 'x' * 5000, None, [], 'a\nb', '^')
    def test_no_message_has_a_pattern(self, value):
        for schema in SCHEMAS:
            for part in _parts(schema):
                if not isinstance(part.get('pattern'), str):
                    continue
                try:
                    wsgi._validate(value, part)
                except exception.Invalid as error:
                    told = str(error).replace(repr(value), '')
                    self.assertIsNone(_PATTERN.search(told), told)
                    self.assertIn('it has to be', told)

    def test_values_as_json_has_them(self):
        schema = next(route.schema for route in routes.ROUTES
                      if route.path == '/os-pcloud-policies/{scope}/{id}' and
                      route.schema)
        for policy, told in (
                ({'constraints': None}, 'constraints. Value null is not '
                 'right; it has to be at most 4096 characters, without '
                 'control characters and without characters beyond U+FFFF; '
                 '"" unsets the constraints'),
                ({'constraints': True}, 'constraints. Value true is not '),
                ({'system_keys': None}, "system_keys. null is not of type "
                 "'array'")):
            self.assertThat(
                self._message(schema, {'policy': policy}), matchers.StartsWith(
                    f'Invalid input for field/attribute policy.{told}'))

    def test_a_message(self):
        schema = next(route.schema for route in routes.ROUTES
                      if route.path == '/os-host-flavors' and route.schema)
        self.assertEqual(
            'Invalid input for field/attribute host_flavor.id. Value '
            "'a b' is not right; it has to be 1 to 64 letters, digits, "
            '".", "_" and "-", and neither "." nor ".."',
            self._message(schema, {'host_flavor': {
                'id': 'a b', 'units': 1}}))
