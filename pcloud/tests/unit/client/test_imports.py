# SPDX-License-Identifier: Apache-2.0

"""What both command lines load before they run a command."""

import json
import subprocess
import sys

import testtools

# Prints the modules of Pcloud and of openstacksdk that a discovery loads.
_NOVA = """
import json
import sys
from novaclient import api_versions
from novaclient import client
client.discover_extensions(api_versions.APIVersion('2.1'))
print(json.dumps([name for name in sys.modules
                  if name.split('.')[0] in ('openstack', 'pcloud')]))
"""
_OPENSTACK = """
import json
import sys
from openstackclient.common import clientmanager
assert 'pcloud' in [each.API_NAME for each in clientmanager.PLUGIN_MODULES]
print(json.dumps([name for name in sys.modules
                  if name.split('.')[0] == 'pcloud']))
"""
# Loads the commands as cliff does for every command, whoever's it is.
_COMMANDS = """
import json
import sys
import stevedore
stevedore.ExtensionManager('openstack.pcloud.v1')
print(json.dumps([name for name in sys.modules
                  if name.split('.')[0] == 'pcloud'
                  and not name.startswith('pcloud.client.osc.')]))
"""


class ImportsTest(testtools.TestCase):
    """Every command pays for what is loaded, also where no Pcloud is used."""

    def test_nova(self):
        self.assertEqual(
            ['pcloud', 'pcloud.client', 'pcloud.client.arguments',
             'pcloud.client.display', 'pcloud.client.nova_cli',
             'pcloud.client.nova_cli.host_flavors',
             'pcloud.client.nova_cli.output',
             'pcloud.client.nova_cli.pclouds'], _loaded(_NOVA))

    def test_openstack(self):
        self.assertEqual(
            ['pcloud', 'pcloud.client', 'pcloud.client.osc',
             'pcloud.client.osc.plugin'], _loaded(_OPENSTACK))

    def test_commands(self):
        self.assertEqual(
            ['pcloud', 'pcloud.client', 'pcloud.client.arguments',
             'pcloud.client.display', 'pcloud.client.exceptions',
             'pcloud.client.host_runs', 'pcloud.client.osc',
             'pcloud.client.rebalance_runs', 'pcloud.client.runs',
             'pcloud.rules', 'pcloud.rules.forms',
             'pcloud.text'], _loaded(_COMMANDS))


def _loaded(program: str) -> list[str]:
    return sorted(json.loads(subprocess.run(
        [sys.executable, '-c', program], check=True, capture_output=True,
        text=True).stdout))
