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
