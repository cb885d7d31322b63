# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What a reader copies from the documentation is what a shell reads."""

import configparser
import html
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import testtools

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
        for path in sorted((ROOT / 'pcloud').rglob('*.py')):
            text = path.read_text()
            if text:
                self.assertIn('Apache License', text[:200], str(path))

    def test_every_page_is_in_a_table_of_contents(self):
        for folder in sorted(SOURCES[0].iterdir()):
            if (folder / 'index.rst').exists():
                entries = re.findall(r'^   (\S+)$', (
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
