# SPDX-License-Identifier: Apache-2.0

"""The hosts of Pclouds: allocation, states, quota, ratios and capacity."""

from pcloud.tests.cloud import base


class HostsTest(base.CloudTest):

    def setUp(self):
        super().setUp()
        self.wanted = {'host_flavor': self.stage.flavor_id}

    def _path(self, pcloud, name=''):
        return f'/os-pclouds/{pcloud.id}/hosts{name and "/"}{name}'

    def _set_state(self, pcloud, name, state):
        return self.call(200, 'owner', 'PUT', self._path(pcloud, name),
                         {'host': {'state': state}})['host']

    def test_life(self):
        pcloud = self.new_pcloud()
        self.add_host(pcloud, 'h1')
        shown = self.call(200, 'owner', 'GET',
                          self._path(pcloud, 'h1'))['host']
        self.assertEqual(('h1', self.stage.flavor_id, 'disabled', 'up', []),
                         tuple(shown[name] for name in (
                             'name', 'host_flavor', 'state', 'status',
                             'instances')))
        self.assertNotIn('hypervisor_hostname', shown)
        self.call(409, 'owner', 'DELETE', f'/os-pclouds/{pcloud.id}')
        self.assertEqual(
            'enabled', self._set_state(pcloud, 'h1', 'enabled')['state'])
        self.call(409, 'owner', 'DELETE', self._path(pcloud, 'h1'))
        self._set_state(pcloud, 'h1', 'disabled')
        self.call(204, 'owner', 'DELETE', self._path(pcloud, 'h1'))
        self.call(404, 'owner', 'GET', self._path(pcloud, 'h1'))
        self.call(204, 'owner', 'DELETE', f'/os-pclouds/{pcloud.id}')

    def test_names_and_free_hosts(self):
        pcloud = self.new_pcloud(hosts=1)
        path = self._path(pcloud)
        for wrong in ({'name': 'h 2'}, {'name': ''}, {'name': 'x' * 64},
                      {'host_flavor': None}, {'more': 1},
                      {'constraints': 'cpu=1'}):
            self.call(400, 'owner', 'POST', path, {
                'host': {'name': 'h2'} | self.wanted | wrong})
        self.call(400, 'owner', 'POST', path, {'host': {'name': 'h2'}})
        self.call(404, 'owner', 'POST', path, {
            'host': {'name': 'h2', 'host_flavor': f'{self.stage.name}-no'}})
        # Names differ by more than the letter case.
        self.call(409, 'owner', 'POST', path, {
            'host': {'name': 'H1'} | self.wanted})
        self.add_host(pcloud, 'h2')
        self.call(409, 'owner', 'POST', path, {
            'host': {'name': 'h3'} | self.wanted})
        self.assertEqual(self.pool(), {
            self.real(pcloud, name) for name in ('h1', 'h2')})

    def test_zone(self):
        pcloud = self.new_pcloud()
        zones = self.call(200, 'owner', 'GET', '/os-host-flavors/'
                          f'{self.stage.flavor_id}')['host_flavor'][
                              'available']
        self.assertEqual(2, sum(zones.values()))
        zone = next(iter(zones))
        self.call(409, 'owner', 'POST', self._path(pcloud), {
            'host': {'name': 'h1', 'availability_zone': self.stage.name}
            | self.wanted})
        shown = self.call(201, 'owner', 'POST', self._path(pcloud), {
            'host': {'name': 'h1', 'availability_zone': zone}
            | self.wanted})['host']
        self.assertEqual(zone, shown['availability_zone'])

    def test_host_with_servers(self):
        pcloud = self.new_pcloud(hosts=1)
        path = self._path(pcloud, 'h1')
        servers = [self.started('owner', pcloud=pcloud.id) for _ in range(2)]
        shown = self.call(200, 'owner', 'GET', path)['host']
        self.assertEqual(sorted(each.id for each in servers),
                         sorted(shown['instances']))
        self._set_state(pcloud, 'h1', 'disabled')
        self.call(409, 'owner', 'DELETE', path)

    def test_quota(self):
        project = self.stage.users['owner'].project_id
        path = f'/os-pcloud-quotas/{project}'
        pcloud = self.new_pcloud(hosts=1)
        limit = {'quota': {'units': {'limit': 2 * self.units - 1}}}
        self.call(403, 'owner', 'PUT', path, limit)
        self.call(403, 'stranger', 'GET', path)
        self.call(400, 'admin', 'PUT', path, {
            'quota': {'units': {'limit': -2}}})
        self.call(200, 'admin', 'PUT', path, limit)
        self.addCleanup(self.call, 200, 'admin', 'PUT', path,
                        {'quota': {'units': {'limit': -1}}})
        self.call(403, 'owner', 'POST', self._path(pcloud), {
            'host': {'name': 'h2'} | self.wanted})
        self.assertEqual(
            {'quota': {'units': {
                'limit': 2 * self.units - 1, 'in_use': self.units}}},
            self.call(200, 'owner', 'GET', path))
        self.call(204, 'admin', 'DELETE', path)
        self.assertEqual(self.units, self.call(
            200, 'owner', 'GET', path)['quota']['units']['in_use'])

    def test_ratios(self):
        """A ratio frees capacity for two servers, another for three."""
        pcloud = self.new_pcloud(hosts=1)
        flavor = self.stage.choice.flavor
        memory = self.call(200, 'owner', 'GET', self._path(
            pcloud, 'h1'))['host']['memory_mb']
        # What a host keeps for itself is not multiplied.
        node = self._inventory(pcloud)
        usable = node['total'] - node['reserved']
        self.assertEqual(memory, node['total'])
        for servers in (2, 3):
            self.call(200, 'owner', 'PUT', f'/os-pclouds/{pcloud.id}', {
                'pcloud': {'ram_allocation_ratio':
                           (servers + 0.5) * flavor.ram / usable}})
            while len(self._instances(pcloud)) < servers:
                self.started('owner', pcloud=pcloud.id)
            self.not_started('owner', pcloud=pcloud.id)
        self.call(200, 'owner', 'PUT', f'/os-pclouds/{pcloud.id}', {
            'pcloud': {'ram_allocation_ratio': None}})
        self.assertEqual(node, self._inventory(pcloud))

    def _instances(self, pcloud):
        return self.call(200, 'owner', 'GET', self._path(
            pcloud, 'h1'))['host']['instances']

    def _inventory(self, pcloud):
        """Return Placement's inventory of memory on the host h1."""
        admin = self.stage.admin
        node = admin.pclouds.get_host(pcloud.id, 'h1').hypervisor_hostname
        provider, = admin.cloud.placement.resource_providers(name=node)
        shown = admin.cloud.placement.get(
            f'/resource_providers/{provider.id}/inventories/MEMORY_MB').json()
        return {name: shown[name]
                for name in ('total', 'reserved', 'allocation_ratio')}

    def test_explain(self):
        pcloud = self.new_pcloud(hosts=1)
        path = (f'/os-pclouds/{pcloud.id}/explain?flavor='
                f'{self.stage.choice.flavor.id}')
        shown = self.call(200, 'owner', 'GET', path)['explain']
        self.assertGreater(shown['fits'], 0)
        self.assertEqual(['h1'], [each['name'] for each in shown['hosts']])
        self._set_state(pcloud, 'h1', 'disabled')
        shown = self.call(200, 'owner', 'GET', path)['explain']
        self.assertEqual(0, shown['fits'])
        self.assertEqual(
            ['state'],
            [each['rule'] for each in shown['hosts'][0]['in_the_way']])

    def test_room(self):
        pcloud = self.new_pcloud(hosts=1)
        flavor = self.stage.choice.flavor.id
        inside = f'/os-pcloud-room?flavor={flavor}&count=2&pcloud={pcloud.id}'
        shown = self.call(200, 'owner', 'GET', inside)['room']
        self.assertEqual(2, shown['groups'])
        self._set_state(pcloud, 'h1', 'disabled')
        shown = self.call(200, 'owner', 'GET', inside)['room']
        self.assertEqual(0, shown['groups'])
        self.call(403, 'owner', 'GET', f'/os-pcloud-room?flavor={flavor}')
        shown = self.call(200, 'admin', 'GET',
                          f'/os-pcloud-room?flavor={flavor}')['room']
        self.assertEqual(1, shown['groups'])
