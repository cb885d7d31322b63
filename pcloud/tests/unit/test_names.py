# SPDX-License-Identifier: Apache-2.0

import ddt
import testtools

from pcloud import exception
from pcloud import names


@ddt.ddt
class TenantKeyTest(testtools.TestCase):

    @ddt.data('owner', 'Owner', 'id', 'name', 'type', 'flavor_id',
              'description', 'units', 'a:b', 'host:web', ':')
    def test_colliding_ids_are_refused(self, project):
        self.assertRaisesRegex(
            exception.InvalidValue, 'Tenant: ', names.tenant_key, project)

    def test_longest_id(self):
        longest = 'p' * (255 - len('pcloud:'))
        self.assertEqual(255, len(names.tenant_key(longest)))
        error = self.assertRaises(
            exception.NameTooLong, names.tenant_key, longest + 'p')
        self.assertIn('256', str(error))

    def test_keys_of_pcloud_are_no_tenants(self):
        metadata = {
            names.TYPE: 'pcloud-tenant', names.OWNER: 'pcloud-tenant',
            names.NAME: 'pcloud-tenant', 'pcloud:alice': 'pcloud-tenant',
            'pcloud:bob': 'enabled', 'pcloud:host:x': 'pcloud-tenant',
            'carol': 'pcloud-tenant'}
        self.assertEqual({'alice'}, names.tenants(metadata))


class StateKeyTest(testtools.TestCase):

    def test_longest_node(self):
        longest = 'n' * (255 - len('pcloud:host_state:'))
        self.assertEqual(255, len(names.state_key(longest)))
        self.assertRaises(
            exception.NameTooLong, names.state_key, longest + 'n')

    def test_hosts_and_states_are_told_apart(self):
        metadata = {names.host_key('web'): 'node-1',
                    names.state_key('node-1'): 'enabled'}
        self.assertEqual({'web': 'node-1'}, names.hosts(metadata))
        self.assertEqual({'node-1': 'enabled'}, names.states(metadata))
