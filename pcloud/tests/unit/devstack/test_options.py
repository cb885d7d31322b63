# SPDX-License-Identifier: Apache-2.0

"""The command line of ``tox -e devstack``."""

import pathlib

import testtools

from pcloud.tests.devstack import options


class OptionsTest(testtools.TestCase):

    def test_defaults(self):
        home = pathlib.Path.home()
        self.assertEqual(
            options.Options(
                suite='trixie', mirror=None,
                components='main', git_base='https://opendev.org',
                branch='master',
                cache=home / '.cache/pcloud-devstack', logs=None,
                localrc=(), keep=False),
            options.parse([], {}))

    def test_git_base_of_the_environment(self):
        environment = {'GIT_BASE': 'file:///opt/git'}
        self.assertEqual('file:///opt/git',
                         options.parse([], environment).git_base)
        self.assertEqual('/srv', options.parse(['--git-base', '/srv'],
                                               environment).git_base)

    def test_folders_are_absolute(self):
        chosen = options.parse(['--cache', 'here', '--logs', '~/there'], {})
        self.assertEqual(pathlib.Path.cwd() / 'here', chosen.cache)
        self.assertEqual(pathlib.Path.home() / 'there', chosen.logs)

    def test_lines_of_localrc(self):
        chosen = options.parse(['--localrc', 'A=1', '--localrc', 'B=2'], {})
        self.assertEqual(('A=1', 'B=2'), chosen.localrc)
