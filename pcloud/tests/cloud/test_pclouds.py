# SPDX-License-Identifier: Apache-2.0

"""Pclouds, as their owners, tenants and strangers see them."""

import uuid

from pcloud.tests.cloud import base

PATH = '/os-pclouds'
MISSING = str(uuid.uuid4())


class PcloudsTest(base.CloudTest):

    hosts = 1

    def test_life(self):
        owner = self.stage.users['owner'].project_id
        made = self.call(201, 'owner', 'POST', PATH,
                         {'pcloud': {'name': 'p'}})['pcloud']
        one = f'{PATH}/{made["id"]}'
        expected = {
            'id': made['id'], 'name': 'p', 'owner': owner,
            'tenants': [owner], 'host_count': 0, 'units': 0,
            'cpu_allocation_ratio': None, 'ram_allocation_ratio': None}
        self.assertEqual(expected, made)
        for change in ({'name': 'q'}, {'cpu_allocation_ratio': 2.0},
                       {'ram_allocation_ratio': 1.5},
                       {'cpu_allocation_ratio': None}):
            expected |= change
            self.assertEqual({'pcloud': expected}, self.call(
                200, 'owner', 'PUT', one, {'pcloud': change}))
        self.assertEqual({'pcloud': expected},
                         self.call(200, 'owner', 'GET', one))
        self.call(204, 'owner', 'DELETE', one)
        self.call(404, 'owner', 'GET', one)

    def test_bad_values(self):
        for wrong in ({}, {'name': ''}, {'name': 'x' * 256}, {'name': 1},
                      {'name': 'x', 'more': 1}):
            self.call(400, 'owner', 'POST', PATH, {'pcloud': wrong})
        one = f'{PATH}/{self.new_pcloud().id}'
        for wrong in (0, -1, 'x', 1e9):
            self.call(400, 'owner', 'PUT', one, {
                'pcloud': {'ram_allocation_ratio': wrong}})

    def test_lists(self):
        made = [self.new_pcloud(name=name).id for name in 'ppq']
        seen, marker = [], ''
        while page := self.call(200, 'owner', 'GET',
                                f'{PATH}?limit=2{marker}')['pclouds']:
            seen += [each['id'] for each in page]
            marker = f'&marker={seen[-1]}'
        self.assertEqual(sorted(made), sorted(seen))
        named = self.call(200, 'owner', 'GET', f'{PATH}?name=q')['pclouds']
        self.assertEqual(made[2:], [each['id'] for each in named])
        self.assertEqual(
            {'pclouds': []}, self.call(200, 'stranger', 'GET', PATH))
        self.call(403, 'owner', 'GET', f'{PATH}?all_tenants=1')
        everybody = {each.id for each in self.stage.admin.pclouds
                     .list_pclouds(all_tenants=True)}
        self.assertLessEqual(set(made), everybody)

    def test_strangers_see_what_is_not_there(self):
        """A Pcloud of somebody else and none are refused alike."""
        pcloud = self.new_pcloud(hosts=1).id
        one = f'{PATH}/{pcloud}'
        for method, path, body in (
                ('GET', one, None), ('DELETE', one, None),
                ('PUT', one, {'pcloud': {'name': 'x'}}),
                ('GET', f'{one}/hosts', None),
                ('POST', f'{one}/hosts', {'host': {
                    'name': 'x', 'host_flavor': self.stage.flavor_id}}),
                ('GET', f'{one}/hosts/h1', None),
                ('PUT', f'{one}/hosts/h1', {'host': {'state': 'disabled'}}),
                ('DELETE', f'{one}/hosts/h1', None),
                ('GET', f'{one}/tenants', None),
                ('PUT', f'{one}/tenants/x', None),
                ('DELETE', f'{one}/tenants/x', None),
                ('GET', f'{one}/explain?flavor=x', None)):
            there = self.call(404, 'stranger', method, path, body)
            missing = self.call(404, 'stranger', method,
                                path.replace(pcloud, MISSING), body)
            self.assertEqual(
                str(missing), str(there).replace(pcloud, MISSING))

    def test_tenants(self):
        owner, tenant = (self.stage.users[name].project_id
                         for name in ('owner', 'tenant'))
        pcloud = self.new_pcloud(hosts=1, name='shared')
        one = f'{PATH}/{pcloud.id}'
        tenants = f'{one}/tenants'
        self.call(400, 'owner', 'PUT', f'{tenants}/{uuid.uuid4().hex}')
        for _ in range(2):
            self.call(204, 'owner', 'PUT', f'{tenants}/{tenant}')
        listed = self.call(200, 'owner', 'GET', tenants)['tenants']
        self.assertEqual(sorted([owner, tenant]),
                         [each['id'] for each in listed])
        for each in listed:
            self.assertEqual({'tenant': each}, self.call(
                201, 'owner', 'POST', tenants,
                {'tenant': {'name': each['name']}}))
        self.call(404, 'owner', 'POST', tenants,
                  {'tenant': {'name': uuid.uuid4().hex}})
        shown = {'id': pcloud.id, 'name': 'shared', 'owner': owner}
        self.assertEqual({'pcloud': shown},
                         self.call(200, 'tenant', 'GET', one))
        self.assertEqual({'pclouds': [shown]},
                         self.call(200, 'tenant', 'GET', PATH))
        for method, path, body in (
                ('GET', f'{one}/hosts', None), ('DELETE', one, None),
                ('GET', tenants, None), ('DELETE', f'{tenants}/{owner}', None),
                ('PUT', one, {'pcloud': {'name': 'mine'}})):
            self.call(403, 'tenant', method, path, body)
        self.call(204, 'owner', 'DELETE', f'{tenants}/{tenant}')
        self.call(404, 'owner', 'DELETE', f'{tenants}/{tenant}')
        self.call(404, 'tenant', 'GET', one)

    def test_administrator(self):
        """The administrator manages the Pclouds of all projects."""
        one = f'{PATH}/{self.new_pcloud(hosts=1).id}'
        self.call(200, 'admin', 'PUT', one, {'pcloud': {'name': 'theirs'}})
        host, = self.call(200, 'admin', 'GET', f'{one}/hosts')['hosts']
        self.assertEqual(self.stage.computes[0].node,
                         host['hypervisor_hostname'])
        self.call(200, 'admin', 'PUT', f'{one}/hosts/h1', {
            'host': {'state': 'disabled'}})
        self.call(204, 'admin', 'DELETE', f'{one}/hosts/h1')
        self.call(204, 'admin', 'DELETE', one)
