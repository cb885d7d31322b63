# SPDX-License-Identifier: Apache-2.0

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
