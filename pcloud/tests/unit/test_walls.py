# SPDX-License-Identifier: Apache-2.0

"""The rooms import what they may, and the walls notice what they may not."""

import collections
import pathlib
import shutil
import tempfile

import ddt
import testtools

import pcloud
from pcloud.tests.unit import walls

ROOT = pathlib.Path(pcloud.__file__).parent


class WallsTest(testtools.TestCase):

    def test_rooms(self):
        self.assertEqual([], walls.faults(ROOT))

    def test_every_door_is_used(self):
        self.assertEqual([], walls.unused(ROOT))

    def test_functional_tests_do_not_choose_threads(self):
        """With Nova 32 whoever imports these packages fails."""
        tests = ROOT / 'tests'
        for path in (*tests.glob('support/*.py'),
                     *tests.glob('functional/**/*.py')):
            self.assertNotRegex(
                path.read_text(), r'from pcloud\.tests(\.| import )'
                '(concurrency|benchmarks|soak)', path)

    def test_every_floor_is_there(self):
        for name, room in walls.ROOMS.items():
            for each in frozenset().union(*room.floors):
                folder = folder_of(ROOT, name) / name / each
                self.assertTrue(
                    folder.is_dir() or folder.with_suffix('.py').is_file(),
                    f'{name} has no {each}')

    def test_sizes(self):
        """Nobody has to read a long file, or look for one in a long list."""
        paths = [path for package in ('pcloud', 'pcloud_dashboard',
                                      *walls.YARDS)
                 for path in (ROOT.parent / package).rglob('*.py')
                 if 'tests' not in path.parts]
        rooms = collections.Counter(
            path.parent for path in paths if path.name != '__init__.py')
        self.assertEqual([], [
            (room, number) for room, number in rooms.items() if number > 18])
        self.assertEqual([], [
            path for path in paths
            if len(path.read_text().splitlines()) > 450])


def folder_of(root, name):
    """Return the folder that has a room of `pcloud`, or a yard."""
    return root.parent if name.split('/')[0] in walls.YARDS else root


@ddt.ddt
class PlantedTest(testtools.TestCase):
    """Each fault that is planted is found, and nothing else.

    Faults that nobody has planted are for `WallsTest` alone.
    """

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.faults_before = walls.faults(ROOT)

    def setUp(self):
        super().setUp()
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.root = pathlib.Path(folder) / 'pcloud'
        for package in ('pcloud', *walls.YARDS):
            shutil.copytree(
                ROOT.parent / package, self.root.parent / package,
                ignore=shutil.ignore_patterns('tests', '__pycache__'))

    def path_of(self, module):
        return folder_of(self.root, module) / f'{module}.py'

    @ddt.data(
        ('rules/placing/access', 'import nova.context'),
        ('rules/placing/access', 'from oslo_utils import uuidutils'),
        ('rules/placing/access', 'import dateutil'),
        ('rules/placing/access', 'from pcloud import names'),
        ('text', 'from pcloud.rules import hints'),
        ('text', 'from . import units'),
        ('text', 'from .units import WORD'),
        ('exception', 'from pcloud.rules import access'),
        ('exception', 'import nova'),
        ('conf', 'from pcloud import exception'),
        ('names', 'from pcloud.backend import rows'),
        ('backend/aggregates/rows', 'from pcloud.objects import hosts'),
        ('backend/aggregates/rows', 'from pcloud import conf'),
        ('backend/aggregates/rows',
         'from pcloud.backend.aggregates import isolation'),
        ('objects/hosts', 'import sqlalchemy as sa'),
        ('objects/hosts', 'from nova.db.api import models'),
        ('objects/hosts', 'from nova.scheduler.client import report'),
        ('objects/hosts', 'from pcloud.objects import tenants'),
        ('objects/hosts',
         'from pcloud.objects.changing_hands import allocation'),
        ('objects/reconcile', 'from pcloud.audit import findings'),
        ('audit/findings', 'from pcloud.api import routes'),
        ('scheduler/request', 'from pcloud.explain import schedule'),
        ('scheduler/request', 'from pcloud.scheduler.filters import pcloud'),
        ('scheduler/filters/base',
         'from pcloud.scheduler.filters import reboot'),
        ('scheduler/request', 'import sqlalchemy'),
        ('scheduler/request', 'from nova.scheduler.client import report'),
        ('explain/offers', 'from nova.scheduler.client import report'),
        ('cmd/status', 'from nova.db.api import models'),
        ('api/routes', 'from pcloud.scheduler import prefilter'),
        ('api/routes', 'from pcloud.client import v1'),
        ('api/handlers/hosts', 'from pcloud.api import routes'),
        ('api/handlers/hosts', 'from pcloud.api.handlers import tenants'),
        ('api/views/times', 'from nova.db.main import models'),
        ('client/v1', 'import nova'),
        ('client/v1', 'from pcloud.api import routes'),
        ('client/v1', 'from pcloud.client.osc import common'),
        ('client/deploy/services', 'from pcloud.client.deploy import sync'),
        ('pcloud_sandbox/configuration/layout',
         'from pcloud.backend import rows'),
        ('pcloud_sandbox/configuration/layout', 'from pcloud import conf'),
        ('pcloud_sandbox/configuration/layout',
         'from pcloud_sandbox import rest'),
        ('pcloud_sandbox/services/identity',
         'import pcloud_sandbox.launcher'),
        ('cmd/work', 'import pcloud_sandbox.launcher'),
        ('cmd/work', 'from pcloud_simulator import command'),
        ('cmd/status', 'from pcloud.cmd import manage'),
        ('cmd/status', 'from pcloud.tests.support import base'),
        ('pcloud_simulator/workload', 'from pcloud.scheduler import request'),
        ('pcloud_simulator/replay', 'import nova.conf'))
    @ddt.unpack
    def test_import(self, module, line):
        path = self.path_of(module)
        path.write_text(f'{path.read_text()}\n\ndef planted():\n    {line}\n')
        found = self.planted_faults()
        self.assertEqual(1, len(found), found)
        self.assertTrue(found[0].startswith(f'{module}: imports '), found)

    @ddt.data('backend/more', 'api/handlers/more', 'more', 'more/some')
    def test_module_of_no_room(self, module):
        path = self.path_of(module)
        path.parent.mkdir(exist_ok=True)
        path.touch()
        found = self.planted_faults()
        self.assertEqual(1, len(found), found)
        self.assertTrue(found[0].startswith(f'{module}: '), found)

    def planted_faults(self):
        """Return the faults that the tree has since the planting."""
        return [fault for fault in walls.faults(self.root)
                if fault not in self.faults_before]
