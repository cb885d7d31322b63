# SPDX-License-Identifier: Apache-2.0

"""Each statement of the sources has a place in the reference, or a reason."""

import re

import testtools

from pcloud.tests.unit import test_reference

PAGE = test_reference.PAGES / 'sources.rst'

# The tables of the page, each with the label of its source.
_SOURCES = {'whole-host': 30, 'workload-placement': 40,
            'machine-placement': 31, 'designation': 38, 'co-located': 18}

_SECTION = re.compile(r'^\.\. _reference-source-([a-z-]+):$', re.MULTILINE)
_ROW = re.compile(
    r'^   \* - ((?:.+\n)+?)     - ((?:.+\n(?!   \* ))*.+\n)', re.MULTILINE)
_REF = re.compile(r':ref:`(?:[^<`]*<)?([a-z-]+)>?`')
_DOC = re.compile(r':doc:`/([a-z/-]+)`')
_REASON = re.compile(r'Not here: \w.{15,}')
_PARTLY = re.compile(r'Partly: (:ref:|:doc:|Nova).+\. `{0,2}\w.{15,}')


def rows():
    """Return source -> statement -> place or reason."""
    _, *parts = _SECTION.split(PAGE.read_text())
    return {source: {
        ' '.join(statement.split()): ' '.join(place.split())
        for statement, place in _ROW.findall(text)[1:]}
        for source, text in zip(parts[::2], parts[1::2], strict=True)}


class SourcesTest(testtools.TestCase):

    def test_every_source_has_a_table(self):
        found = rows()
        found.pop('own')
        self.assertEqual(_SOURCES, {
            source: len(statements) for source, statements in found.items()})

    def test_every_statement_has_a_place_or_a_reason(self):
        for source, statements in rows().items():
            for statement, place in statements.items():
                if place.startswith('Not here'):
                    right = _REASON.fullmatch(place)
                elif place.startswith('Partly'):
                    right = _PARTLY.fullmatch(place)
                else:
                    right = _REF.search(place) or _DOC.search(place)
                self.assertTrue(right, (source, statement, place))

    def test_every_place_exists(self):
        labels = set(test_reference.labels())
        for statements in rows().values():
            for statement, place in statements.items():
                self.assertEqual(
                    set(), set(_REF.findall(place)) - labels, statement)
                for page in _DOC.findall(place):
                    self.assertTrue(
                        (PAGE.parents[1] / f'{page}.rst').is_file(), page)

    def test_a_row_without_either_is_found(self):
        for place in ('Not here', 'Not here: no', 'Partly: :ref:`a`',
                      'Partly: something is there, and something is not'):
            self.assertIsNone(_REASON.fullmatch(place))
            self.assertIsNone(_PARTLY.fullmatch(place))
