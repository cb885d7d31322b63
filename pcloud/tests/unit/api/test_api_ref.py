# SPDX-License-Identifier: Apache-2.0

"""The API reference is about the calls that there are."""

import pathlib
import re

from oslotest import base

from pcloud.api.handlers import about
from pcloud.api import routes

ROOT = pathlib.Path(__file__).parents[4]
REFERENCE = ROOT / 'api-ref' / 'source'
SAMPLES = ROOT / 'doc' / 'api_samples'


class ApiRefTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.text = ''.join(path.read_text()
                            for path in REFERENCE.glob('*.inc'))

    def test_every_call_is_there_once(self):
        described = re.findall(r'\.\. rest_method:: (\w+) (\S+)', self.text)
        self.assertEqual(
            sorted((route.method, route.path) for route in routes.ROUTES),
            sorted(described))

    def test_every_extension_is_there_once(self):
        section = (REFERENCE / 'about.inc').read_text()
        table = section.partition('\nextension ')[2].partition('Everybody')[0]
        self.assertEqual(list(about.EXTENSIONS), re.findall(
            '^``([a-z-]+)``', table, re.MULTILINE))

    def test_calls_are_a_table_of_contents(self):
        contents = (REFERENCE / 'index.rst').read_text().partition(
            '.. contents:: Calls\n')[2]
        included = re.findall(r'^\.\. include:: (\S+)$', contents,
                              re.MULTILINE)
        self.assertEqual(
            sorted(path.name for path in REFERENCE.glob('*.inc')),
            sorted(included))

    def test_status_of_success(self):
        for route in routes.ROUTES:
            section = self.text.split(
                f'.. rest_method:: {route.method} {route.path}\n')[1]
            found = re.search('Normal response codes: (.*)', section)[1]
            self.assertEqual(
                ', '.join(map(str, (route.status, *route.also))), found,
                route.path)

    def test_every_sample_is_shown(self):
        shown = re.findall('literalinclude:: .*/api_samples/(.*)', self.text)
        there = [str(path.relative_to(SAMPLES))
                 for path in SAMPLES.rglob('*.json')]
        self.assertEqual(sorted(there), sorted(shown))
