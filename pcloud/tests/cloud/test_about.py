# SPDX-License-Identifier: Apache-2.0


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
