# SPDX-License-Identifier: Apache-2.0

"""The worked examples of the contributors' pages are changes that work."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import ddt
import testtools

ROOT = pathlib.Path(__file__).parents[4]
EXAMPLES = ROOT / 'doc/source/contributor/examples'

# The tests that fail until a change of the kind is whole, beside those that
# the change brings.
ASKING = {
    'new-filter': [
        'pcloud.tests.unit.test_walls.WallsTest.test_rooms',
        'pcloud.tests.unit.explain.test_filtering.LoadTest',
        'pcloud.tests.unit.rules.test_coded',
        'pcloud.tests.unit.test_reference',
    ],
    'new-call': [
        'pcloud.tests.unit.test_walls.WallsTest.test_rooms',
        'pcloud.tests.unit.api.test_api_ref',
        'pcloud.tests.unit.api.test_audit_map',
        'pcloud.tests.unit.api.test_openapi.ReferenceTest',
        'pcloud.tests.unit.sdk.test_routes',
        'pcloud.tests.unit.test_reference',
    ],
}


@ddt.ddt
class WorkedExamplesTest(testtools.TestCase):

    @ddt.data(*ASKING)
    def test_change(self, name):
        folder = tempfile.mkdtemp(prefix='pcloud-example-test-')
        self.addCleanup(shutil.rmtree, folder)
        _copy(folder)
        patch = EXAMPLES / f'{name}.patch'
        subprocess.run(['git', 'apply', str(patch)], cwd=folder, check=True)
        brought = [path.removesuffix('.py').replace('/', '.')
                   for path in re.findall(r'^\+\+\+ b/(pcloud/tests/.*)$',
                                          patch.read_text(), re.MULTILINE)
                   if '/test_' in path]
        self.assertNotEqual([], brought)
        # Nova's fixtures of functional tests come before any other import.
        for tests in (
                ASKING[name] + [each for each in brought
                                if '.unit.' in each],
                [each for each in brought if '.quick.' in each]):
            if tests:
                _run(folder, tests)

    def test_every_example_is_run_and_shown(self):
        self.assertEqual({f'{name}.patch' for name in ASKING},
                         {path.name for path in EXAMPLES.iterdir()})
        page = (EXAMPLES.parent / 'examples.rst').read_text()
        for name in ASKING:
            self.assertIn(
                f'.. literalinclude:: examples/{name}.patch\n', page)


def _copy(folder: str) -> None:
    """Copy the files of the repository, without those that are built."""
    for path in subprocess.run(
            ['git', 'ls-files'], cwd=ROOT, check=True, text=True,
            stdout=subprocess.PIPE).stdout.splitlines():
        target = pathlib.Path(folder, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target)


def _run(folder: str, tests: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, '-m', 'testtools.run', *tests], cwd=folder,
        env=os.environ | {'PYTHONPATH': folder}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise AssertionError(done.stdout)
