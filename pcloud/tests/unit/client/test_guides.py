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

"""The users' guides show every command."""

import importlib.metadata
import pathlib
import re

from oslotest import base

from pcloud.client.nova_cli import host_flavors
from pcloud.client.nova_cli import pclouds

USER = pathlib.Path(__file__).parents[4] / 'doc' / 'source' / 'user'


class GuidesTest(base.BaseTestCase):

    def _missing(self, names, commands):
        typed = [line for name in names for line in re.findall(
            r'^   [$>] (.*)', (USER / name).read_text(), re.MULTILINE)]
        return [command for command in commands
                if not any(f'{command} ' in f'{line} ' for line in typed)]

    def test_openstack(self):
        points = importlib.metadata.entry_points(group='openstack.pcloud.v1')
        commands = ['openstack ' + point.name.replace('_', ' ')
                    for point in points]
        self.assertGreater(len(commands), 20)
        self.assertEqual([], self._missing(
            ['openstack.rst', 'services.rst'], commands))

    def test_nova(self):
        commands = [
            'nova ' + name.removeprefix('do_').replace('_', '-')
            for module in (host_flavors, pclouds)
            for name in vars(module) if name.startswith('do_')]
        self.assertGreater(len(commands), 20)
        self.assertEqual([], self._missing(['nova.rst'], commands))
