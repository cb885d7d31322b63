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

"""What the nova command line loads before it runs a command."""

import importlib.metadata
import subprocess
import sys

import testtools

# Prints what of openstacksdk and of the deployment engine is loaded with some
# extensions.
_LOAD = """
import importlib
import sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*[name for name in sys.modules if name.split('.')[0] == 'openstack'
        or name.startswith('pcloud.client.deploy')])
"""


class ImportsTest(testtools.TestCase):

    def test_extensions_load_what_their_commands_use(self):
        """The import of openstacksdk alone takes a quarter of a second."""
        extensions = [
            each.value for each in importlib.metadata.entry_points(
                group='novaclient.extension')
            if each.value.startswith('pcloud.')]
        self.assertEqual(2, len(extensions))
        loaded = subprocess.run(
            [sys.executable, '-c', _LOAD, *extensions],
            check=True, capture_output=True, text=True).stdout
        self.assertEqual('', loaded.strip())
