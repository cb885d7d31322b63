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


"""What the API tells of itself, of the use of Pclouds, and the audit."""

from pcloud.tests.cloud import base


class AboutTest(base.CloudTest):

    def test_about(self):
        for user in ('admin', 'owner', 'stranger'):
            shown = self.call(200, user, 'GET', '/os-pcloud')['pcloud_api']
            self.assertLessEqual({'audit', 'explain', 'room', 'settling'},
                                 set(shown['extensions']))
            self.assertIn('quota_units', shown['limits'])

    def test_details(self):
        """A list with details shows what is free, to the owner alone."""
        pcloud = self.new_pcloud(hosts=1)
        tenant = self.stage.users['tenant']
        self.stage.users['owner'].pclouds.add_tenant(
            pcloud.id, tenant.project_id)
        path = '/os-pclouds?detail=1'
        before, = self.call(200, 'owner', 'GET', path)['pclouds']
        self.assertEqual(0, before['servers'])
        self.started('owner', pcloud=pcloud.id)
        after, = self.call(200, 'owner', 'GET', path)['pclouds']
        flavor = self.stage.choice.flavor
        self.assertEqual(1, after['servers'])
        self.assertEqual(
            (flavor.vcpus, flavor.ram), tuple(
                before['free'][name] - after['free'][name]
                for name in ('vcpus', 'memory_mb')))
        theirs, = self.call(200, 'tenant', 'GET', path)['pclouds']
        self.assertEqual({'id', 'name', 'owner'}, set(theirs))

    def test_audit(self):
        """Nothing that is in order is a finding."""
        self.call(403, 'owner', 'GET', '/os-pcloud-audit')
        pcloud = self.new_pcloud(hosts=2)
        self.started('owner', pcloud=pcloud.id)
        found = self.call(200, 'admin', 'GET', '/os-pcloud-audit')['findings']
        mine = [pcloud.id, self.stage.flavor_id, *self.pool()]
        self.assertEqual([], [each for each in found
                              if any(name in str(each) for name in mine)])
