# SPDX-License-Identifier: Apache-2.0

"""Attributes of hosts, set by the administrator and shown to owners."""

from pcloud.tests.cloud import base

PATH = '/os-pcloud-attributes'


class AttributesTest(base.CloudTest):

    def setUp(self):
        super().setUp()
        self.first, self.second = (each.host for each in self.stage.computes)

    def _set(self, name, value, *hosts):
        """Give hosts a value, for the time of the test."""
        self.call(200, 'admin', 'PUT', f'{PATH}/{name}', {
            'attribute': {'value': value, 'hosts': list(hosts)}})
        query = '&'.join(f'host={host}' for host in hosts)
        self.addCleanup(self.stage.users['admin'].call, 'DELETE',
                        f'{PATH}/{name}?{query}')

    def _hosts_of(self, name):
        """Return value -> the class's hosts that have the value."""
        listed = self.call(200, 'admin', 'GET', PATH)['attributes']
        return {each['value']: mine for each in listed
                if each['name'] == name
                and (mine := self.pool() & set(each['hosts']))}

    def test_life(self):
        self._set(self.stage.name, 'a', self.first, self.second)
        self.assertEqual({'a': self.pool()}, self._hosts_of(self.stage.name))
        # A host has one value.
        self._set(self.stage.name, 'b', self.second)
        self.assertEqual({'a': {self.first}, 'b': {self.second}},
                         self._hosts_of(self.stage.name))
        one = f'{PATH}/{self.stage.name}?host={self.second}'
        self.call(204, 'admin', 'DELETE', one)
        self.call(404, 'admin', 'DELETE', one)
        self.assertEqual({'a': {self.first}}, self._hosts_of(self.stage.name))

    def test_refusals(self):
        path = f'{PATH}/{self.stage.name}'
        body = {'attribute': {'value': 'a', 'hosts': [self.first]}}
        self.call(403, 'owner', 'GET', PATH)
        self.call(403, 'owner', 'PUT', path, body)
        self.call(403, 'owner', 'DELETE', f'{path}?host={self.first}')
        for name, value in (
                ('next_reboot', 'tomorrow'), ('platform_version', 'new'),
                ('hardware_class', 'NaN'), ('rack', ' r'), ('rack', '')):
            self.call(400, 'admin', 'PUT', f'{PATH}/{name}', {
                'attribute': {'value': value, 'hosts': [self.first]}})
        self.call(400, 'admin', 'PUT', path, {
            'attribute': {'value': 'a', 'hosts': []}})
        self.call(404, 'admin', 'PUT', path, {'attribute': {
            'value': 'a', 'hosts': [f'{self.stage.name}-nothing']}})

    def test_what_owners_see(self):
        """A rack is a number within the Pcloud, a reboot a date."""
        reboot, racks = '2099-12-31T00:00:00Z', ('left', 'right')
        pcloud = self.new_pcloud(hosts=2)
        path = f'/os-pclouds/{pcloud.id}/hosts'
        for host, rack in zip((self.first, self.second), racks):
            self._set('rack', f'{self.stage.name}-{rack}', host)
        self._set('next_reboot', reboot, self.real(pcloud, 'h1'))
        hosts = self.call(200, 'owner', 'GET', path)['hosts']
        self.assertEqual([1, 2], sorted(each['rack'] for each in hosts))
        self.assertEqual({'h1': reboot, 'h2': None}, {
            each['name']: each['next_reboot'] for each in hosts})
        self.assertNotIn(self.stage.name + '-left', str(hosts))
        self._set('rack', f'{self.stage.name}-left', self.second)
        hosts = self.call(200, 'owner', 'GET', path)['hosts']
        self.assertEqual([1, 1], [each['rack'] for each in hosts])
