# SPDX-License-Identifier: Apache-2.0

"""Policies of projects, Pclouds and roles, and who may change them."""

from pcloud.tests.cloud import base

PATH = '/os-pcloud-policies'


class PoliciesTest(base.CloudTest):

    hosts = 1

    def _life(self, user, path, policy):
        """Make, show and remove a policy."""
        self.addCleanup(self.stage.admin.call, 'DELETE', path)
        self.call(404, user, 'GET', path)
        self.call(200, user, 'PUT', path, {'policy': policy})
        shown = self.call(200, user, 'GET', path)['policy']
        self.assertEqual(policy, {name: shown[name] for name in policy})
        self.call(200, user, 'PUT', path, {
            'policy': dict.fromkeys(policy, '') | {
                name: [] for name in policy if name.endswith('keys')}})

    def test_project(self):
        project = self.stage.users['owner'].project_id
        path = f'{PATH}/project/{project}'
        policy = {'constraints': 'ram=1M', 'system_keys': ['A=1:1'],
                  'customer_keys': ['B=1:-1']}
        self._life('admin', path, policy)
        self.call(403, 'owner', 'PUT', path, {'policy': policy})
        self.call(403, 'owner', 'DELETE', path)
        del policy['system_keys']
        self._life('owner', path, policy)
        self.call(403, 'stranger', 'GET', path)
        self.call(403, 'stranger', 'PUT', path, {'policy': policy})

    def test_role(self):
        self._life('admin', f'{PATH}/role/{self.stage.name}',
                   {'constraints': 'ram=1M'})
        self.call(400, 'admin', 'PUT', f'{PATH}/role/{self.stage.name}', {
            'policy': {'system_keys': ['A=1:1']}})

    def test_pcloud(self):
        path = f'{PATH}/pcloud/{self.new_pcloud().id}'
        mine = {'constraints': 'ram=1M', 'customer_keys': ['B=1:-1']}
        self._life('owner', path, mine)
        self.call(403, 'owner', 'PUT', path, {
            'policy': {'system_keys': ['A=1:1']}})
        self.call(200, 'admin', 'PUT', path, {
            'policy': {'system_keys': ['A=1:1']}})
        self.call(404, 'stranger', 'GET', path)
        self.call(404, 'stranger', 'PUT', path, {'policy': mine})

    def test_bad_values(self):
        path = f'{PATH}/pcloud/{self.new_pcloud().id}'
        for wrong in ({'constraints': 'ram=x'}, {'constraints': 'ram'},
                      {'constraints': 'ram=1M ram=2M'}, {'more': 1},
                      {'customer_keys': ['B']}, {'customer_keys': ['B=1:']}):
            self.call(400, 'owner', 'PUT', path, {'policy': wrong})

    def test_effective(self):
        pcloud, project = self.new_pcloud(), self.stage.users['owner']
        project_path = f'{PATH}/project/{project.project_id}'
        path = f'{PATH}/pcloud/{pcloud.id}'
        self.addCleanup(self.stage.admin.call, 'DELETE', project_path)
        self.call(200, 'admin', 'PUT', project_path, {
            'policy': {'constraints': 'ram=3M cpu=0.5'}})
        self.call(200, 'owner', 'PUT', path, {
            'policy': {'constraints': 'ram=2M'}})
        shown = self.call(200, 'owner', 'GET', f'{path}?effective=1')[
            'policy']['effective']
        self.assertIn("'ram'", str(shown))
        self.assertIn("'0.5'", str(shown))
