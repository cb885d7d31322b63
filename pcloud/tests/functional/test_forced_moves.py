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

"""Moves that skip the scheduler do not cross a border."""

from pcloud.tests.functional import base


class ForcedMoveTest(base.PcloudTestCase):
    """Two hosts in a Pcloud, one free in the pool, two ordinary ones."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1',
             'node-4': 'az1', 'node-5': 'az1'}

    def setUp(self):
        super().setUp()
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3')
        self.pcloud = self.make_pcloud(self.alice)
        self.inside = [self.add_host(self.alice, self.pcloud, name, 'gpu')
                       for name in ('a', 'b')]
        self.free = ({'node-1', 'node-2', 'node-3'} -
                     set(self.inside)).pop()

    def _live_migrate(self, server, host, version, **more):
        self.admin.microversion = version
        body = {'host': host, 'block_migration': version != '2.29', **more}
        if version == '2.67':
            body['block_migration'] = 'auto'
        else:
            body['disk_over_commit'] = False
            body['block_migration'] = False
        if version == '2.29':
            del body['disk_over_commit']
        return self._act(server, {'os-migrateLive': body})

    def _act(self, server, body, user=None):
        response = (user or self.admin).call(
            'POST', f'/servers/{server["id"]}/action', body)
        self.admin.microversion = 'latest'
        return response

    def _assert_refused(self, response):
        self.assertEqual(409, response.status_code, response.text)
        self.assertIn('cannot be forced', response.text)

    def _other(self, server):
        return (set(self.inside) - {self.host_of(server)}).pop()

    def test_live_migration(self):
        inside = self.boot(self.alice, {'pcloud': self.pcloud})
        outside = self.boot(self.alice)
        for version, more in (('2.24', {}), ('2.29', {}),
                              ('2.67', {'force': True}),
                              ('2.67', {'force': 'true'})):
            for server, target in (
                    (inside, 'node-4'), (inside, self.free),
                    (outside, self.inside[0]), (outside, self.free),
                    (outside, self.free.upper())):
                self._assert_refused(
                    self._live_migrate(server, target, version, **more))
        self.assertIn('refused', self.stdlog.logger.output)

    def test_live_migration_on_its_side_goes_on(self):
        inside = self.boot(self.alice, {'pcloud': self.pcloud})
        target = self._other(inside)
        response = self._live_migrate(
            inside, target, '2.67', force=True)
        self.assertEqual(202, response.status_code, response.text)
        self._wait_for_server_parameter(
            inside, {'OS-EXT-SRV-ATTR:host': target, 'status': 'ACTIVE'})

    def test_evacuation(self):
        inside = self.boot(self.alice, {'pcloud': self.pcloud})
        outside = self.boot(self.alice)
        for server, target in ((inside, 'node-4'), (inside, self.free),
                               (outside, self.inside[0]),
                               (outside, self.free)):
            for version, body in (
                    ('2.13', {'host': target, 'onSharedStorage': False}),
                    ('2.28', {'host': target}),
                    ('2.67', {'host': target, 'force': True})):
                self.admin.microversion = version
                self._assert_refused(self._act(server, {'evacuate': body}))

    def test_whom_nova_refuses_learns_nothing(self):
        server = self.boot(self.alice)
        self.alice.microversion = '2.29'
        texts = set()
        for target in ('node-4', 'node-5', self.free):
            response = self._act(server, {'os-migrateLive': {
                'host': target, 'block_migration': False}}, self.alice)
            self.assertEqual(403, response.status_code)
            texts.add(response.text)
        self.assertEqual(1, len(texts))

    def test_bad_bodies_are_novas(self):
        server = self.boot(self.alice)
        for body in ({'os-migrateLive': None}, {'os-migrateLive': []}, {},
                     {'evacuate': {}, 'os-migrateLive': {}},
                     {'evacuate': {'host': {'x': 1}}}):
            self.admin.microversion = '2.29'
            self.assertEqual(400, self._act(server, body).status_code)

    def test_allowed_by_configuration(self):
        self.flags(allow_forced_moves=True, group='pcloud')
        outside = self.boot(self.alice)
        response = self._live_migrate(outside, self.free, '2.67', force=True)
        self.assertEqual(202, response.status_code, response.text)
        self._wait_for_server_parameter(
            outside, {'OS-EXT-SRV-ATTR:host': self.free, 'status': 'ACTIVE'})
        self.assertIn('let through by [pcloud] allow_forced_moves',
                      self.stdlog.logger.output)
