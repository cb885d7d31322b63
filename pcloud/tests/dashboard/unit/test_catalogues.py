# SPDX-License-Identifier: Apache-2.0

"""Every text of the dashboard is in every catalogue, and translated."""

import importlib.util
import pathlib
import re
import unittest

from babel.messages import mofile
import ddt

import pcloud_dashboard

ROOT = pathlib.Path(pcloud_dashboard.__file__).parents[1]
_spec = importlib.util.spec_from_file_location(
    'dashboard_messages', ROOT / 'tools' / 'dashboard_messages.py')
tool = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tool)

CATALOGUES = sorted(tool.LOCALE.rglob('*.po'))
# What is put into a text.
_HOLES = re.compile(r'%\(\w+\)[sd]|%[sd]|\{n\}')


def texts(known):
    """Return the texts of a catalogue, each with its translations."""
    return {_forms(each.id): _forms(each.string) for each in known if each.id}


def _forms(text):
    return (text,) if isinstance(text, str) else tuple(text)


@ddt.ddt
class CatalogueTest(unittest.TestCase):

    maxDiff = None

    def test_there_is_a_german_one(self):
        self.assertEqual(
            ['django.po', 'djangojs.po'], [path.name for path in CATALOGUES
                                           if path.parts[-3] == 'de'])

    @ddt.data(*CATALOGUES)
    def test_complete(self, path):
        self.assertEqual(
            sorted(map(str, tool.messages(path.stem))),
            sorted(str(each.id) for each in tool.read(path) if each.id),
            'run: python tools/dashboard_messages.py')

    @ddt.data(*CATALOGUES)
    def test_translated(self, path):
        for each in tool.read(path):
            texts = (each.string if isinstance(each.string, tuple)
                     else (each.string,))
            self.assertTrue(all(texts), each.id)
            self.assertFalse(each.fuzzy, each.id)

    @ddt.data(*CATALOGUES)
    def test_the_holes_are_the_same(self, path):
        for each in tool.read(path):
            if not each.id:
                continue
            pairs = zip(each.id, each.string) if isinstance(
                each.id, tuple) else [(each.id, each.string)]
            for text, translated in pairs:
                self.assertEqual(sorted(_HOLES.findall(text)),
                                 sorted(_HOLES.findall(translated)), text)

    @ddt.data(*CATALOGUES)
    def test_compiled(self, path):
        with path.with_suffix('.mo').open('rb') as stream:
            compiled = mofile.read_mo(stream)
        # The head names the release of Babel that compiled.
        self.assertEqual(
            texts(tool.read(path)), texts(compiled),
            'run: python tools/dashboard_messages.py')
