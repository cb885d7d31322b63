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

"""The arrows between the rooms of the house point one way."""

import ast
import pathlib

import testtools

import pcloud

ROOT = pathlib.Path(pcloud.__file__).parent

# What each room that touches Nova may import.
_COMMON = {'rules', 'names', 'exception'}
# What each room may import of Pcloud, and which strangers are not let in.
ALLOWED = {
    'rules': {'rules', 'exception'},
    'backend': {'backend', *_COMMON},
    'objects': {'objects', 'backend', *_COMMON},
    'audit': {'audit', 'objects', 'backend', *_COMMON},
    'scheduler': {'scheduler', 'objects', 'backend', 'conf', *_COMMON},
    'explain': {'explain', 'scheduler', 'objects', 'backend', 'conf',
                *_COMMON},
    'api': {'api', 'explain', 'audit', 'objects', 'backend', 'conf',
            *_COMMON},
    'client': {'client', 'rules'},
}
STRANGERS = {
    'rules': {'nova', 'oslo_config', 'oslo_log', 'sqlalchemy', 'webob'},
    'client': {'nova', 'sqlalchemy', 'webob', 'oslo_config'},
}


def _imported(path: pathlib.Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f'{node.module}.{alias.name}' for alias in node.names}
    return found


class ImportsTest(testtools.TestCase):

    def test_arrows_point_one_way(self):
        wrong = []
        for room, allowed in ALLOWED.items():
            for path in sorted((ROOT / room).rglob('*.py')):
                for name in sorted(_imported(path)):
                    parts = name.split('.')
                    if parts[0] == 'pcloud' and parts[1] not in allowed:
                        wrong.append(f'{path.relative_to(ROOT)}: {name}')
                    if parts[0] in STRANGERS.get(room, ()):
                        wrong.append(f'{path.relative_to(ROOT)}: {name}')
        self.assertEqual([], wrong)
