# SPDX-License-Identifier: Apache-2.0

"""Host flavors and their pools."""

from pcloud.tests.cloud import base
from pcloud.tests.cloud import computes

PATH = '/os-host-flavors'


class HostFlavorsTest(base.CloudTest):

    hosts = 1

    def setUp(self):
        super().setUp()
        self.mine = f'{PATH}/{self.stage.flavor_id}'

    def test_life(self):
        made = {'id': f'{self.stage.name}-tmp', 'description': 'x',
                'units': 3}
        one = f'{PATH}/{made["id"]}'
        shown = self.call(201, 'admin', 'POST', PATH,
                          {'host_flavor': made})['host_flavor']
        self.assertEqual(made | {
            'vcpus': None, 'memory_mb': None, 'disk_gb': None,
            'available': {}, 'settling': 0, 'hosts': []}, shown)
        self.call(409, 'admin', 'POST', PATH, {'host_flavor': made})
        shown = self.call(200, 'admin', 'PUT', one, {
            'host_flavor': {'units': 0, 'description': 'y'}})['host_flavor']
        self.assertEqual((0, 'y'), (shown['units'], shown['description']))
        listed = self.call(200, 'stranger', 'GET', PATH)['host_flavors']
        self.assertIn(made['id'], [each['id'] for each in listed])
        self.call(204, 'admin', 'DELETE', one)
        self.call(404, 'stranger', 'GET', one)

    def test_bad_values(self):
        made = {'id': f'{self.stage.name}-bad', 'units': 1}
        for wrong in ({'units': -1}, {'units': 'x'}, {'more': 1},
                      {'id': 'a b'}, {'id': ''}, {'description': 'x' * 256}):
            self.call(400, 'admin', 'POST', PATH, {
                'host_flavor': made | wrong})
        self.call(400, 'admin', 'POST', PATH, {'host_flavor': {'units': 1}})
        self.call(404, 'admin', 'GET', f'{PATH}/{made["id"]}')

    def test_only_the_administrator_changes(self):
        host = self.stage.computes[0].host
        for method, path, body in (
                ('POST', PATH, {'host_flavor': {'id': 'x', 'units': 1}}),
                ('PUT', self.mine, {'host_flavor': {'units': 9}}),
                ('DELETE', self.mine, None),
                ('POST', f'{self.mine}/hosts', {'host': {'host': host}}),
                ('DELETE', f'{self.mine}/hosts/{host}', None)):
            self.call(403, 'owner', method, path, body)
        shown = self.call(200, 'owner', 'GET', self.mine)['host_flavor']
        self.assertEqual(self.units, shown['units'])
        self.assertNotIn('hosts', shown)

    def test_size_and_pool(self):
        compute, = self.stage.computes
        admin = self.stage.admin
        node, = [each for each in admin.cloud.compute.hypervisors(
            details=True) if each.name == compute.node]
        shown = self.call(200, 'admin', 'GET', self.mine)['host_flavor']
        self.assertEqual(
            (node.vcpus, node.memory_size, node.local_disk_size),
            (shown['vcpus'], shown['memory_mb'], shown['disk_gb']))
        pooled, = shown['hosts']
        self.assertEqual(
            (compute.host, compute.node, None, 'up'),
            (pooled['host'], pooled['hypervisor_hostname'],
             pooled['pcloud'], pooled['state']))
        self.assertEqual({pooled['availability_zone']: 1},
                         shown['available'])
        self.call(409, 'admin', 'DELETE', self.mine)

    def test_which_hosts_are_taken(self):
        """A host is disabled, empty and in no pool, and is then enabled."""
        path, admin = f'{self.mine}/hosts', self.stage.admin
        taken, = self.stage.computes
        self.call(409, 'admin', 'POST', path, {'host': {'host': taken.host}})
        self.call(404, 'admin', 'POST', path, {
            'host': {'host': f'{self.stage.name}-nothing'}})
        enabled = computes.usable(admin)[0]
        self.call(409, 'admin', 'POST', path, {
            'host': {'host': enabled.host}})
        self.call(204, 'admin', 'DELETE', f'{path}/{taken.host}')
        self.assertEqual('disabled', self._status(taken.host))
        self.call(404, 'admin', 'DELETE', f'{path}/{taken.host}')
        self.call(201, 'admin', 'POST', path, {'host': {'host': taken.host}})
        self.assertEqual('enabled', self._status(taken.host))

    def test_host_with_a_server(self):
        pcloud = self.new_pcloud(hosts=1)
        self.started('owner', pcloud=pcloud.id)
        host = self.stage.computes[0].host
        self.call(409, 'admin', 'DELETE', f'{self.mine}/hosts/{host}')

    def _status(self, host):
        service, = self.stage.admin.cloud.compute.services(
            host=host, binary=computes.BINARY)
        return service.status
