# SPDX-License-Identifier: Apache-2.0

"""What a reader copies from the documentation is what a shell reads."""

import ast
import configparser
import html
import importlib.metadata
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import testtools

from pcloud.api import policies
from pcloud.audit import remains
from pcloud import conf

ROOT = pathlib.Path(__file__).parents[3]
SOURCES = [ROOT / each / 'source' for each in (
    'doc', 'api-ref', 'releasenotes')]

try:
    import furo
except ImportError:
    furo = None


def built(conf: str, page: str) -> str:
    """Return what a page shows, built with the extensions of the guides.

    :returns: HTML with plain quotation marks
    """
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / 'conf.py').write_text(textwrap.dedent(conf))
        (source / 'index.rst').write_text(textwrap.dedent(page))
        subprocess.run(
            [sys.executable, '-m', 'sphinx', '-W', '-q', '-b', 'html',
             folder, f'{folder}/html'], check=True,
            env={'PYTHONPATH': str(SOURCES[0] / '_ext'), 'LC_ALL': 'C.UTF-8'})
        page = (source / 'html' / 'index.html').read_text()
    return html.unescape(page.partition('<article')[2].partition(
        '</article>')[0])


def texts(root: pathlib.Path) -> list[str]:
    """Return the texts of all modules of the package, but not of the tests.

    Adjacent texts are one; values that are filled in are left out.
    """
    found = []
    for path in sorted(root.rglob('*.py')):
        if path.relative_to(root).parts[0] != 'tests':
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(
                        node.value, str):
                    found.append(node.value)
                elif isinstance(node, ast.JoinedStr):
                    found.append(''.join(
                        each.value if isinstance(each, ast.Constant) else '%'
                        for each in node.values))
    return found


def tracked() -> list[str]:
    """Return the paths of all files of the repository."""
    return subprocess.run(
        ['git', 'ls-files'], cwd=ROOT, check=True, text=True,
        stdout=subprocess.PIPE).stdout.splitlines()


class AdminPagesTest(testtools.TestCase):

    PAGES = SOURCES[0] / 'admin'

    def _text(self):
        return {path.name: path.read_text()
                for path in sorted(self.PAGES.glob('*.rst'))}

    def test_messages_are_those_of_the_code(self):
        page = self._text()['troubleshooting.rst']
        tables = re.findall(
            r'   :class: messages\n\n((?:   .*\n|\n)+)', page)
        messages = re.findall(r'^   \* - ``(.*)``$', ''.join(tables),
                              re.MULTILINE)
        self.assertGreater(len(messages), 20)
        known = texts(ROOT / 'pcloud')
        for message in messages:
            for part in re.split(r'<[^>]*>|: |; |,? %', message):
                part = part.strip(" .'")
                self.assertTrue(
                    any(part in each for each in known), (message, part))

    def test_commands_are_there(self):
        points = importlib.metadata.entry_points(group='openstack.pcloud.v1')
        there = {point.name.replace('_', ' ') for point in points}
        for page, text in self._text().items():
            for words in re.findall(
                    r'\bopenstack\s+((?:pcloud|host\s+flavor)'
                    r'(?:\s+[a-z]+)*)', text):
                words = ' '.join(words.split())
                self.assertTrue(
                    words in ('pcloud', 'host flavor') or
                    any(f'{words} '.startswith(f'{each} ') for each in there),
                    (page, words))

    def test_options_are_there(self):
        names = {option.name for option in conf.options}
        for page, text in self._text().items():
            for name in re.findall(r'``\[pcloud\]\s+([a-z_]+)``', text):
                self.assertIn(name, names, page)

    def test_rules_are_there(self):
        names = {rule.name for rule in policies.list_rules()}
        for page, text in self._text().items():
            for name in re.findall(
                    r'\bos_compute_api:os-(?:pcloud|host-flavor)s?[a-z-]*'
                    r':[a-z_:-]+', text):
                self.assertIn(name, names, page)

    def test_kinds_of_what_is_left(self):
        page = (SOURCES[0] / 'reference' / 'states.rst').read_text()
        table = page.partition('.. _reference-remains:')[2]
        named = [name for line in re.findall(
            r'^   \* - (``.*)$', table, re.MULTILINE)
            for name in re.findall('``([a-z-]+)``', line)]
        self.assertEqual(list(remains.KINDS), named)


class SourcesTest(testtools.TestCase):

    def test_each_is_built_without_smart_quotes(self):
        for source in SOURCES:
            conf = (source / 'conf.py').read_text()
            self.assertIn('\nsmartquotes = False\n', conf)

    def test_no_theme_of_an_official_project(self):
        for source in SOURCES:
            conf = (source / 'conf.py').read_text()
            self.assertIn("\nhtml_theme = 'furo'\n", conf)
            self.assertNotIn('openstackdocs', conf)

    def test_api_reference_is_linked_where_it_is_built(self):
        link = '<api-ref/index.html>`__'
        self.assertIn(link, (SOURCES[0] / 'index.rst').read_text())
        tox = configparser.ConfigParser(interpolation=None)
        tox.read(ROOT / 'tox.ini')
        commands = tox['testenv:docs']['commands']
        self.assertIn(' doc/source doc/build/html\n', commands)
        self.assertIn(' api-ref/source doc/build/html/api-ref', commands)

    def test_one_licence(self):
        setup = configparser.ConfigParser(interpolation=None)
        setup.read(ROOT / 'setup.cfg')
        self.assertEqual('Apache-2.0', setup['metadata']['license_expression'])
        self.assertIn('Apache License', (ROOT / 'LICENSE').read_text()[:200])
        for source in SOURCES:
            self.assertIn('under the Apache License 2.0',
                          (source / 'conf.py').read_text())
        for path in sorted(ROOT.glob('pcloud*/**/*.py')):
            text = path.read_text()
            if text:
                self.assertIn('# SPDX-License-Identifier: Apache-2.0\n',
                              text[:200], str(path))

    def test_one_address_of_the_repository(self):
        found = re.search(r"\nrepository = '(https://([^/]+)/(\S+))'\n", (
            SOURCES[0] / 'conf.py').read_text())
        address, host, name = found.groups()
        setup = configparser.ConfigParser(interpolation=None)
        setup.read(ROOT / 'setup.cfg')
        metadata = setup['metadata']
        self.assertEqual(address, metadata['url'])
        self.assertIn(f'\nSource = {address}\n', metadata['project_urls'])
        self.assertTrue(metadata['project_urls'].endswith(f'project:{name}'))
        self.assertIn(f'\nrepository: {address}\n', (
            ROOT / 'ansible/galaxy.yml').read_text())
        for path, field in (('control', 'Homepage'), ('copyright', 'Source')):
            self.assertIn(f'\n{field}: {address}\n', (
                ROOT / 'debian' / path).read_text())
        self.assertEqual(2, (ROOT / '.zuul.yaml').read_text().count(
            f'pcloud: {address}\n'))
        self.assertIn(f'\nproject={name}.git\n', (
            ROOT / '.gitreview').read_text())
        self.assertEqual(
            {'.zuul.yaml', 'ansible/galaxy.yml', 'debian/control',
             'debian/copyright', 'doc/source/conf.py', 'setup.cfg'},
            {path for path in tracked()
             if f'{host}/{name}' in (ROOT / path).read_text('latin-1')})

    def test_every_page_is_in_a_table_of_contents(self):
        for folder in sorted(SOURCES[0].iterdir()):
            if (folder / 'index.rst').exists():
                entries = re.findall(r'^   ([\w-]+)$', (
                    folder / 'index.rst').read_text(), re.MULTILINE)
                self.assertEqual(
                    {path.stem for path in folder.glob('*.rst')} - {'index'},
                    set(entries), folder.name)


@unittest.skipUnless(furo, 'Sphinx and the theme are not installed')
class BuiltTest(testtools.TestCase):

    def test_example_of_a_command(self):
        shown = built(
            '''
            extensions = ['examples']
            html_theme = 'furo'
            smartquotes = False
            ''',
            '''
            Page
            ====

            Say "--long", or read the help.

            Example:
              openstack pcloud policy set pcloud x --constraints "ram=2G cpu=4"

            Examples:
              openstack pcloud list \\
                --name x

            Term:
              no example
            ''')
        self.assertIn('<p>Say "--long", or', shown)
        code = re.sub('<[^>]*>', '', shown)
        self.assertIn('policy set pcloud x --constraints "ram=2G cpu=4"\n',
                      code)
        self.assertIn('openstack pcloud list \\\n    --name x\n', code)
        self.assertEqual(2, shown.count('highlight-shell'))
        self.assertIn('<p>no example</p>', shown)

    def test_releases_have_the_name_of_the_package(self):
        shown = built(
            '''
            extensions = ['release_titles']
            html_theme = 'furo'
            ''',
            '''
            Notes
            =====

            1.2.0
            -----

            In development
            --------------
            ''')
        self.assertIn('<h2>pcloud-1.2.0<', shown)
        self.assertIn('<h2>In development<', shown)
