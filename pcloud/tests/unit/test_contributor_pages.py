# SPDX-License-Identifier: Apache-2.0

"""The pages for contributors name what there is."""

import configparser
import pathlib
import re
import subprocess

import ddt
import testtools

from pcloud.tests.unit import definitions
from pcloud.tests.unit import walls

ROOT = pathlib.Path(__file__).parents[3]
FOLDER = ROOT / 'doc' / 'source' / 'contributor'
PAGES = [*sorted(FOLDER.glob('*.rst')),
         ROOT / 'CONTRIBUTING.rst', ROOT / 'HACKING.rst']

_NAME = re.compile(r'(?::def:|`)`(pcloud\.[\w.]+)`')
# Paths of this repository; those below /os- are of URLs.
_PATH = re.compile(
    r'``((?:pcloud|doc|etc|api-ref|releasenotes|devstack)/[\w./-]+)``')
_FLOORS = re.compile(r'^\.\. floors:: (\S+)$', re.MULTILINE)
_ENVIRONMENT = re.compile(r'\btox -e ([a-z0-9,-]+)')


def found(pattern):
    """Return what a pattern finds in all pages, with the page's name."""
    return [(path.name, each) for path in PAGES
            for each in pattern.findall(path.read_text())]


def environments(section: str) -> list[str]:
    """Return the names of a section: ``nova{32,33}`` are two."""
    stem, _, choices = section.partition('{')
    return [stem + choice for choice in choices.rstrip('}').split(',')]


class PagesTest(testtools.TestCase):

    def test_names_are_defined(self):
        names = found(_NAME)
        self.assertGreater(len(names), 50)
        wrong = []
        for page, name in names:
            try:
                definitions.find(name)
            except LookupError:
                wrong.append((page, name))
        self.assertEqual([], wrong)

    def test_paths_are_there(self):
        paths = found(_PATH)
        self.assertGreater(len(paths), 20)
        self.assertEqual([], [each for each in paths
                              if not (ROOT / each[1]).exists()])

    def test_worked_examples_apply(self):
        """`functional.long.test_worked_examples` runs them."""
        patches = sorted((FOLDER / 'examples').glob('*.patch'))
        self.assertNotEqual([], patches)
        for patch in patches:
            done = subprocess.run(
                ['git', 'apply', '--check', str(patch)], cwd=ROOT, text=True,
                stderr=subprocess.PIPE)
            self.assertEqual(0, done.returncode, done.stderr)

    def test_every_room_is_described(self):
        text = (FOLDER / 'rooms.rst').read_text()
        self.assertEqual([], [room for room in walls.ROOMS if '/' not in room
                              and f'   * - ``{room}``\n' not in text])

    def test_floors_are_of_rooms(self):
        rooms = {room for _, room in found(_FLOORS)}
        self.assertEqual(set(), rooms - walls.ROOMS.keys())

    def test_suites(self):
        tox = configparser.ConfigParser(interpolation=None)
        tox.read(ROOT / 'tox.ini')
        there = {name for section in tox.sections()
                 if section.startswith('testenv:')
                 for name in environments(section.removeprefix('testenv:'))}
        pages = [ROOT / 'bindep.txt', *ROOT.glob('*.rst'), *(
            path for folder in ('devstack', 'doc/source', 'etc')
            for path in (ROOT / folder).rglob('*.rst'))]
        named = {each for path in pages
                 for several in _ENVIRONMENT.findall(path.read_text())
                 for each in several.split(',')}
        self.assertEqual(set(), named - there)
        text = (FOLDER / 'testing.rst').read_text()
        self.assertEqual([], [name for name in sorted(there)
                              if f'``{name}``' not in text])

    def test_suites_of_a_night(self):
        script = (ROOT / 'tools/night.sh').read_text()
        suites = re.search(r'^suites=\((.*)\)$', script, re.MULTILINE)[1]
        text = (FOLDER / 'testing.rst').read_text()
        table = text.partition('   * - suite\n')[2].partition('\nA change')[0]
        self.assertEqual(suites.split(), re.findall(
            r'^   \* - ``(.*)``$', table, re.MULTILINE))

    def test_the_script_does_what_a_newcomer_does(self):
        line = re.compile(r'^    (python3 -m venv .*tox.*)$', re.MULTILINE)
        told = line.findall((ROOT / 'README.rst').read_text())
        self.assertEqual(2, len(told))
        self.assertEqual(sorted(told), sorted(
            line.findall((ROOT / 'tools/check.sh').read_text())))

    def test_every_functional_test_is_in_one_folder(self):
        folder = ROOT / 'pcloud/tests/functional'
        self.assertEqual(
            {'quick', 'long', 'lost_calls', 'random'},
            {path.parent.name for path in folder.rglob('test_*.py')})

    def test_every_folder_of_tests_is_described(self):
        text = (FOLDER / 'testing.rst').read_text()
        folders = [path.name for path in (ROOT / 'pcloud/tests').iterdir()
                   if (path / '__init__.py').is_file()]
        self.assertEqual([], [name for name in sorted(folders)
                              if f'``pcloud/tests/{name}``' not in text])


@ddt.ddt
class DefinitionsTest(testtools.TestCase):

    @ddt.data(
        ('pcloud.rules.placing.access', 'rules/placing/access.py', ''),
        ('pcloud.rules', 'rules/__init__.py', ''),
        ('pcloud.rules.placing.access.host_verdict', 'rules/placing/access.py',
         'host_verdict'),
        ('pcloud.rules.placing.access.STATES', 'rules/placing/access.py',
         'STATES'),
        ('pcloud.rules.placing.hints.NEAR', 'rules/placing/hints.py', 'NEAR'),
        ('pcloud.rules.placing.access.Pcloud.tenants',
         'rules/placing/access.py',
         'Pcloud.tenants'),
        ('pcloud.api.filter_factory', 'api/__init__.py', 'filter_factory'))
    @ddt.unpack
    def test_found(self, name, path, inside):
        found = definitions.find(name)
        self.assertEqual((path, inside), (str(found.path), found.name))
        self.assertGreater(found.line, 0)

    def test_line(self):
        found = definitions.find('pcloud.rules.placing.access.host_verdict')
        lines = (definitions.ROOT / found.path).read_text().splitlines()
        self.assertTrue(
            lines[found.line - 1].startswith('def host_verdict('))

    @ddt.data('pcloud.nothing', 'pcloud.rules.nothing',
              'pcloud.rules.placing.access.nothing',
              'pcloud.rules.placing.access.Pcloud.nothing',
              'pcloud.rules.placing.access.host_verdict.nothing')
    def test_not_found(self, name):
        self.assertRaises(LookupError, definitions.find, name)
