# SPDX-License-Identifier: Apache-2.0

"""The reference names what there is, and the code cites what it names."""

import pathlib
import re

from oslotest import base

from pcloud import conf
from pcloud.scheduler import filters
from pcloud.scheduler import weights

ROOT = pathlib.Path(__file__).parents[3]
PAGES = ROOT / 'doc' / 'source' / 'reference'

_LABEL = re.compile(r'^\.\. _(reference[a-z-]*):$', re.MULTILINE)
_CITATION = re.compile(r'\breference-[a-z]+(?:-[a-z]+)*')


def labels():
    """Return the labels of all sections, in the order of the pages."""
    return [label for page in sorted(PAGES.glob('*.rst'))
            for label in _LABEL.findall(page.read_text())]


def cited(text):
    """Return the labels that a text of code cites."""
    return set(_CITATION.findall(text))


class ReferenceTest(base.BaseTestCase):

    def test_every_label_is_defined_once(self):
        self.assertEqual(sorted(set(labels())), sorted(labels()))

    def test_every_cited_label_is_defined(self):
        wrong = {
            str(path.relative_to(ROOT)): missing
            for path in sorted((ROOT / 'pcloud').rglob('*.py'))
            if path != pathlib.Path(__file__)
            and (missing := cited(path.read_text()) - set(labels()))}
        self.assertEqual({}, wrong)

    def test_a_citation_is_found(self):
        self.assertEqual(
            {'reference-locality', 'reference-source-own'},
            cited('"""Rule: reference-locality. See\n'
                  'reference-source-own, and the reference."""'))

    def test_everything_is_named(self):
        text = ''.join(page.read_text() for page in PAGES.glob('*.rst'))
        names = [option.name for option in conf.options] + [
            each.__name__ for each in (
                *filters.all_filters(), *weights.all_weighers())]
        self.assertEqual([], [name for name in names if name not in text])
