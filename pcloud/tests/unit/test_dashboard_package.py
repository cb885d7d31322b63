# SPDX-License-Identifier: Apache-2.0

"""The package of the dashboard, as far as that needs no Horizon."""

import ast
import importlib.util
import pathlib
import re
import subprocess
import sys

import testtools

import pcloud
from pcloud.api import policies
from pcloud.tests.unit import walls

ROOT = pathlib.Path(pcloud.__file__).parents[1]
PACKAGE = ROOT / 'pcloud_dashboard'
OTHERS = {'django', 'horizon', 'keystoneauth1', 'openstack_dashboard'}


def _tool(name):
    spec = importlib.util.spec_from_file_location(
        name, ROOT / 'tools' / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _modules():
    return sorted(PACKAGE.rglob('*.py'))


class ImportsTest(testtools.TestCase):

    def test_of_pcloud_the_client_and_texts_alone(self):
        for path in _modules():
            for name in walls.imported(path):
                if name.split('.')[0] == 'pcloud':
                    self.assertTrue(
                        name.startswith('pcloud.client.') or name in (
                            'pcloud.exception', 'pcloud.text'), (path, name))

    def test_few_others(self):
        found = {name.split('.')[0] for path in _modules()
                 for name in walls.imported(path)}
        self.assertEqual(OTHERS, found - set(sys.stdlib_module_names)
                         - {'pcloud', 'pcloud_dashboard'})

    def test_the_client_is_asked_in_one_module(self):
        makers = {path.name for path in _modules() if 'v1.Client(' in
                  path.read_text()}
        self.assertEqual({'api.py'}, makers)


class PoliciesTest(testtools.TestCase):

    def test_the_files_are_up_to_date(self):
        tool = _tool('dashboard_policies')
        self.assertEqual(
            tool.defaults(),
            (PACKAGE / 'conf/default_policies/pcloud.yaml').read_text(),
            'run: python tools/dashboard_policies.py')
        self.assertEqual(
            tool.OWN, (PACKAGE / 'conf/pcloud_policy.yaml').read_text())

    def test_every_rule_is_one_of_the_api(self):
        known = {rule.name for rule in policies.list_rules()}
        tree = ast.parse((PACKAGE / 'policies.py').read_text())
        names = {}
        for node in tree.body:
            if isinstance(node, ast.Assign):
                names[node.targets[0].id] = eval(
                    compile(ast.Expression(node.value), '', 'eval'), {},
                    dict(names))
        used = {value for name, value in names.items()
                if not name.startswith('_')}
        self.assertEqual({'os_compute_api:servers:create'}, used - known)


class FilesTest(testtools.TestCase):

    def test_no_compiled_catalogue_is_kept(self):
        listed = subprocess.run(
            ['git', 'ls-files', '*.mo'], cwd=ROOT, text=True,
            capture_output=True)
        if listed.returncode:
            self.skipTest('not a clone')
        self.assertEqual('', listed.stdout)

    def test_every_static_file_is_there(self):
        for path in (PACKAGE / 'enabled').glob('_[0-9]*.py'):
            for name in re.findall(r"'(pcloud_dashboard/\S+)'",
                                   path.read_text()):
                self.assertTrue((PACKAGE / 'static' / name).is_file(), name)

    def test_every_template_is_there(self):
        templates = PACKAGE / 'templates'
        texts = [path.read_text() for path in [
            *_modules(), *templates.rglob('*.html')]]
        for name in re.findall(
                r"'(pcloud_dashboard/\S+\.html)'", ''.join(texts)):
            self.assertTrue((templates / name).is_file(), name)
