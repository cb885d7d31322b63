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

"""The API from outside, as its users reach it: with tokens, over HTTP."""

import uuid

import psutil

from pcloud.sandbox import settings
from pcloud.tests.cloud import base

MISSING = str(uuid.uuid4())


class ContractTest(base.CloudTest):
    """Two hosts are in the pool of "gpu"; two are in none."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fill_pool('gpu', ['node-1', 'node-2'], units=2)

    def _call(self, expected, user, method, path, body=None):
        """Make a call; the status is as expected; returns the body."""
        answer = self.users[user].call(method, path, body)
        self.assertEqual(expected, answer.status_code,
                         f'{user} {method} {path}: {answer.text}')
        found = answer.json() if answer.content else None
        if expected >= 400:
            (fault,) = found.values()
            self.assertEqual(expected, fault['code'])
            if user != 'admin':
                self.assertNotIn('node-', fault['message'])
        return found

    def _pcloud(self, *arguments, **options):
        made = self.new_pcloud(*arguments, **options)
        self.addCleanup(self.remove_pcloud, made)
        return made

    def test_processes(self):
        state = settings.load(self.where)
        names = set(state.processes)
        self.assertLessEqual({
            'nova', 'nova-conductor', 'nova-scheduler-1',
            'nova-scheduler-2',
            *(f'nova-compute-node-{n}' for n in range(1, 5))}, names)
        api = psutil.Process(state.processes['nova']['pid'])
        self.assertEqual(2, len(api.children()))

    def test_host_flavors(self):
        path = '/os-host-flavors'
        made = {'id': 'tmp', 'description': 'x', 'units': 3}
        self._call(403, 'alice', 'POST', path, {'host_flavor': made})
        self._call(400, 'admin', 'POST', path, {
            'host_flavor': made | {'units': -1}})
        self._call(400, 'admin', 'POST', path, {
            'host_flavor': made | {'more': 1}})
        shown = self._call(201, 'admin', 'POST', path,
                           {'host_flavor': made})['host_flavor']
        self.assertEqual(made | {'vcpus': None, 'memory_mb': None,
                                 'disk_gb': None, 'available': {},
                                 'hosts': []}, shown)
        self._call(409, 'admin', 'POST', path, {'host_flavor': made})
        self._call(200, 'admin', 'PUT', f'{path}/tmp',
                   {'host_flavor': {'units': 0}})
        self._call(409, 'admin', 'POST', f'{path}/tmp/hosts',
                   {'host': {'host': 'node-1'}})
        self._call(409, 'admin', 'POST', f'{path}/tmp/hosts',
                   {'host': {'host': 'node-3'}})
        self._call(404, 'admin', 'POST', f'{path}/tmp/hosts',
                   {'host': {'host': 'nothing'}})
        self._call(409, 'admin', 'DELETE', f'{path}/gpu')
        self._call(403, 'alice', 'DELETE', f'{path}/tmp')
        self._call(204, 'admin', 'DELETE', f'{path}/tmp')
        self._call(404, 'alice', 'GET', f'{path}/tmp')
        shown = self._call(200, 'bob', 'GET', f'{path}/gpu')['host_flavor']
        self.assertEqual((10, 8192), (shown['vcpus'], shown['memory_mb']))
        self.assertNotIn('hosts', shown)

    def test_pclouds(self):
        made = [self._call(201, 'carol', 'POST', '/os-pclouds',
                           {'pcloud': {'name': 'p'}})['pcloud']['id']
                for _ in range(3)]
        seen, marker = [], ''
        while page := self._call(
                200, 'carol', 'GET',
                f'/os-pclouds?limit=2{marker}')['pclouds']:
            seen += [each['id'] for each in page]
            marker = f'&marker={seen[-1]}'
        self.assertEqual(sorted(made), sorted(seen))
        one = f'/os-pclouds/{made[0]}'
        for method, path, body in [
                ('GET', one, None), ('DELETE', one, None),
                ('PUT', one, {'pcloud': {'name': 'x'}}),
                ('GET', f'{one}/hosts', None),
                ('GET', f'{one}/tenants', None)]:
            mine = self._call(404, 'bob', method, path, body)
            none = self._call(404, 'bob', method,
                              path.replace(made[0], MISSING), body)
            self.assertEqual(
                str(none), str(mine).replace(made[0], MISSING))
        self._call(403, 'carol', 'GET', '/os-pclouds?all_tenants=1')
        everybody = self._call(200, 'admin', 'GET',
                               '/os-pclouds?all_tenants=1')['pclouds']
        self.assertLessEqual(set(made), {each['id'] for each in everybody})
        # Nova's other form of URL.
        carol = self.users['carol']
        self.assertEqual(
            self._call(200, 'carol', 'GET', one),
            self._call(200, 'carol', 'GET', f'/{carol.project_id}{one}'))
        self._call(400, 'bob', 'GET', f'/{carol.project_id}{one}')
        for each in made:
            self._call(204, 'carol', 'DELETE', f'/os-pclouds/{each}')

    def test_hosts_and_servers(self):
        alice = self.users['alice']
        shop = self._pcloud('shop', 'gpu', hosts=2)
        base_url = f'/os-pclouds/{shop.id}/hosts'
        self._call(409, 'alice', 'POST', base_url, {
            'host': {'name': 'H1', 'host_flavor': 'gpu'}})
        self._call(409, 'alice', 'POST', base_url, {
            'host': {'name': 'h3', 'host_flavor': 'gpu'}})
        self._call(409, 'alice', 'DELETE', f'{base_url}/h1')
        servers = [alice.boot(f'in{n}', pcloud=shop.id) for n in range(4)]
        outside = alice.boot('out')
        intruder = self.users['bob'].boot('intruder', pcloud=shop.id)
        servers = [alice.settled(each) for each in servers]
        self.assertEqual({'ACTIVE'}, {each.status for each in servers})
        self.assertLessEqual({self.host_of(each) for each in servers},
                             {'node-1', 'node-2'})
        outside = alice.settled(outside)
        self.assertEqual('ACTIVE', outside.status)
        self.assertIn(self.host_of(outside), {'node-3', 'node-4'})
        self.assertEqual(
            'ERROR', self.users['bob'].settled(intruder).status)
        hosts = self._call(200, 'alice', 'GET', base_url)['hosts']
        self.assertEqual(
            sorted(each.id for each in servers),
            sorted(one for each in hosts for one in each['instances']))
        self.assertNotIn('node-', str(hosts))
        self._call(200, 'alice', 'PUT', f'{base_url}/h1',
                   {'host': {'state': 'disabled'}})
        busy = next(each for each in hosts if each['instances'])
        self._call(200, 'alice', 'PUT', f'{base_url}/{busy["name"]}',
                   {'host': {'state': 'disabled'}})
        self._call(409, 'alice', 'DELETE', f'{base_url}/{busy["name"]}')
        alice.delete([*servers, outside])
        self.users['bob'].delete([intruder])

    def test_tenants(self):
        alice, bob = self.users['alice'], self.users['bob']
        shop = self._pcloud('shared', 'gpu')
        tenants = f'/os-pclouds/{shop.id}/tenants'
        self._call(400, 'alice', 'PUT', f'{tenants}/{uuid.uuid4().hex}')
        for _ in range(2):
            self._call(204, 'alice', 'PUT', f'{tenants}/{bob.project_id}')
        shown = self._call(200, 'bob', 'GET', f'/os-pclouds/{shop.id}')
        self.assertEqual({'pcloud': {
            'id': shop.id, 'name': 'shared', 'owner': alice.project_id}},
            shown)
        self._call(403, 'bob', 'GET', f'/os-pclouds/{shop.id}/hosts')
        guest = bob.settled(bob.boot('guest', pcloud=shop.id))
        self.assertEqual('ACTIVE', guest.status)
        self._call(204, 'alice', 'DELETE', f'{tenants}/{bob.project_id}')
        self._call(404, 'alice', 'DELETE', f'{tenants}/{bob.project_id}')
        again = bob.settled(bob.boot('again', pcloud=shop.id))
        self.assertEqual('ERROR', again.status)
        bob.delete([guest, again])

    def test_quota(self):
        project = self.users['alice'].project_id
        path = f'/os-pcloud-quotas/{project}'
        self._call(403, 'alice', 'PUT', path,
                   {'quota': {'units': {'limit': 9}}})
        self._call(403, 'bob', 'GET', path)
        self._call(200, 'admin', 'PUT', path,
                   {'quota': {'units': {'limit': 3}}})
        self.addCleanup(self._call, 204, 'admin', 'DELETE', path)
        shop = self._pcloud('small', 'gpu')
        self._call(403, 'alice', 'POST', f'/os-pclouds/{shop.id}/hosts', {
            'host': {'name': 'h2', 'host_flavor': 'gpu'}})
        self.assertEqual(
            {'quota': {'units': {'limit': 3, 'in_use': 2}}},
            self._call(200, 'alice', 'GET', path))

    def test_ratios(self):
        alice = self.users['alice']
        shop = self._pcloud('dense', 'gpu')
        path = f'/os-pclouds/{shop.id}'
        servers = [alice.settled(alice.boot(
            f'r{n}', flavor='m1.medium', pcloud=shop.id)) for n in range(3)]
        self.assertEqual(['ACTIVE', 'ACTIVE', 'ERROR'],
                         [each.status for each in servers])
        self._call(200, 'alice', 'PUT', path,
                   {'pcloud': {'ram_allocation_ratio': 1.5}})
        servers.append(alice.settled(alice.boot(
            'r4', flavor='m1.medium', pcloud=shop.id)))
        self.assertEqual('ACTIVE', servers[-1].status)
        alice.delete(servers)

    def test_audit(self):
        self.assertEqual((0, []), self.audit())
