# SPDX-License-Identifier: Apache-2.0

"""The local.conf of the box."""

import pathlib

import testtools

from pcloud.tests.devstack import local_conf
from pcloud.tests.devstack import options
from pcloud.tests.devstack import repositories

ROOT = pathlib.Path(__file__).parents[4]


class LocalConfTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.sample = (ROOT / 'devstack/local.conf.sample').read_text()
        self.text = local_conf.compose(self.sample, options.parse(
            ['--localrc', 'MORE=1', '--localrc', 'AGAIN=2'], {}))

    def test_sample_is_whole(self):
        self.assertIn(self.sample, self.text)

    def test_plugin_is_between_the_bookends(self):
        plugins = [line.split()[1] for line in self.text.splitlines()
                   if line.startswith('enable_plugin ')]
        self.assertEqual(['bookend-before', 'pcloud', 'bookend-after'],
                         plugins)

    def test_plugin_is_this_checkout(self):
        self.assertIn(
            f'enable_plugin pcloud file:///opt/stack/{repositories.PLUGIN} '
            'main\n', self.text)

    def test_sample_is_what_the_pages_tell(self):
        line = (f'enable_plugin pcloud file:///opt/stack/'
                f'{repositories.PLUGIN} main\n')
        for name in ('devstack/local.conf.sample', 'devstack/README.rst',
                     'devstack/plugin.sh', 'README.rst',
                     'doc/source/admin/install.rst'):
            self.assertIn(line, (ROOT / name).read_text(), name)

    def test_more_lines_come_after_the_lines_of_the_box(self):
        lines = self.text.splitlines()
        self.assertLess(lines.index('LOG_COLOR=False'),
                        lines.index('MORE=1'))
        self.assertEqual(lines.index('MORE=1') + 1, lines.index('AGAIN=2'))
