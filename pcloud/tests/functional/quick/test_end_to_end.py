# SPDX-License-Identifier: Apache-2.0

"""The whole line: from a host flavor to a server on the Pcloud's host."""

from pcloud.tests.support import shared_cloud


class EndToEndTest(shared_cloud.SharedCloudTestCase):
    """An administrator, an owner and a stranger."""

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.host = self.add_host(self.alice, self.pcloud, 'web1', 'gpu')

    def test_hint_lands_on_the_pclouds_host(self):
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual(self.host, self.host_of(server))

    def test_no_hint_never_lands_on_pool_or_pcloud(self):
        hosts = {self.host_of(self.boot(self.alice)) for _ in range(4)}
        self.assertLessEqual(hosts, {'node-3', 'node-4'})

    def test_stranger_gets_no_valid_host(self):
        server = self.boot(
            self.bob, {'pcloud': self.pcloud}, expected='ERROR')
        self.assertIn('No valid host was found', self.fault(server))
        self.assertIn('does not exist, or the project is not one of its '
                      'tenants', self.fault(server))
