# SPDX-License-Identifier: Apache-2.0

"""The core runs without wings that are deleted."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import ddt
import testtools

import pcloud

ROOT = pathlib.Path(pcloud.__file__).parent

# Import every module of the core, and show the paths that still have calls.
_CORE = '''
import importlib
import pkgutil

import pcloud

for room in ('rules', 'backend', 'objects', 'counters', 'api', 'scheduler'):
    package = importlib.import_module(f'pcloud.{room}')
    for each in pkgutil.walk_packages(
            package.__path__, f'{package.__name__}.'):
        importlib.import_module(each.name)

from pcloud.api import routes

print(pcloud.__file__)
print(*(row.path for row in routes.ROUTES))
'''


@ddt.ddt
class WingsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.root = pathlib.Path(folder) / 'pcloud'
        shutil.copytree(
            ROOT, self.root,
            ignore=shutil.ignore_patterns('tests', '__pycache__'))

    @ddt.data((['planning'], '/os-pclouds/{id}/rebalance'),
              (['metrics', 'audit'], '/os-pcloud-audit'),
              (['usage', 'worker'], '/os-pcloud-usage'),
              (['worker', 'client'], None))
    @ddt.unpack
    def test_core_runs_without(self, wings, path):
        """Without the folders and their rows, the other calls are there.

        :param path: of a call that goes with the wings
        """
        table = self.root / 'api' / 'routes.py'
        text = table.read_text()
        for wing in wings:
            shutil.rmtree(self.root / wing)
            text = re.sub(rf"'pcloud\.{wing}\.routes',?", '', text)
        table.write_text(text)
        done = subprocess.run(
            [sys.executable, '-c', _CORE], cwd=self.root.parent,
            env={'PYTHONPATH': str(self.root.parent)},
            capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        package, paths = done.stdout.splitlines()
        self.assertEqual(str(self.root / '__init__.py'), package)
        self.assertIn('/os-pclouds/{id}/hosts', paths.split())
        self.assertNotIn(path, paths.split())
