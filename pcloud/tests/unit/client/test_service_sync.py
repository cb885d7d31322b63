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

"""openstack pcloud service sync."""

from pcloud.tests.unit.client import base
from pcloud.tests.unit.client import fake_nova

SCALED = {'pcloud_scale_with': 'db'}
HOSTS = f'/os-pclouds/{base.PCLOUD_ID}/hosts'


class SyncTest(fake_nova.ServersTestCase):
    """There is a unit of agent wherever there is one of db."""

    def setUp(self):
        super().setUp()
        self.db = [self.have(f'db-{number}', 'db', host=f'h{number}')
                   for number in (1, 2)]
        self._have_agent(1)
        self._have_agent(2)

    def _have_agent(self, number, host=None, **hints):
        return self.have(f'agent-{number}', 'agent', host or f'h{number}',
                         metadata=SCALED, **{
                             'in_': fake_nova.server_id(f'db-{number}'),
                             **hints})

    def _have_db(self, number, **hints):
        return self.have(f'db-{number}', 'db', host=f'h{number}', **hints)

    def _sync(self, *args):
        return self.openstack('pcloud', 'service', 'sync', *args)

    def test_nothing_to_change(self):
        for args in ((), ('agent',)):
            result = self._sync(*args)
            self.assertEqual((0, '\n', 'Nothing to change\n'), result)
        self.assertEqual([], self.done)

    def test_adding(self):
        third, fourth = self._have_db(3), self._have_db(4)

        result = self._sync('-f', 'json')

        self.assertEqual([
            {'Service': 'agent', 'Name': name, 'Change': 'added',
             'ID': fake_nova.server_id(name)}
            for name in ('agent-3', 'agent-4')], result.json)
        self.assertEqual({'service': 'agent', 'in': third},
                         self.hints('agent-3'))
        self.assertEqual({'service': 'agent', 'in': fourth},
                         self.hints('agent-4'))
        server = self.created[0]['server']
        self.assertEqual(
            (fake_nova.image_id('part'), '1', 'none', 'db'),
            (server['imageRef'], server['flavorRef'], server['networks'],
             server['metadata']['pcloud_scale_with']))
        self.assertEqual('Nothing to change\n', self._sync().err)
        self.assertEqual(2, len(self.created))

    def test_adding_in_the_same_networks(self):
        self._have_db(3)
        self.networks = ['n1', 'n2']
        self._sync()
        self.assertEqual([{'uuid': 'n1'}, {'uuid': 'n2'}],
                         self.created[0]['server']['networks'])

    def test_removing(self):
        self.have('db-1', 'db', host='h2')
        self.have('log-1', 'log', host='h1', in_='agent')

        result = self._sync('agent')

        self.assertEqual(
            [['agent', 'agent-1', 'removed'], ['log', 'log-1', 'removed']],
            [row[:2] + row[3:] for row in base.table(result.out)[1:]])
        self.assertEqual([
            (verb, name) for name in ('agent-1', 'log-1')
            for verb in ('stop', 'shutoff')] + [
            (verb, name) for verb in ('delete', 'gone')
            for name in ('agent-1', 'log-1')], self.done)
        self.assertEqual('Nothing to change\n', self._sync().err)

    def test_a_unit_that_moved(self):
        self.have('db-1', 'db', host='h3')

        result = self._sync()

        self.assertEqual(['added', 'removed'], [
            row[3] for row in base.table(result.out)[1:]])
        self.assertEqual(['agent-2', 'agent-3', 'db-1', 'db-2'],
                         self.names())
        self.assertEqual(('create', 'agent-3'), self.done[0])

    def test_what_was_not_started_for_it_is_not_removed(self):
        self.have('agent-own', 'agent', host='h7')
        self.have('agent-old', 'agent', host='', metadata=SCALED,
                  status='ERROR')

        self.assertEqual('Nothing to change\n', self._sync().err)

    def test_what_another_run_is_about_to_start(self):
        self._have_db(3)
        self.have('agent-9', 'agent', host='', status='BUILD',
                  metadata=SCALED, in_=fake_nova.server_id('db-3'))

        self.assertEqual('Nothing to change\n', self._sync().err)

    def test_a_number_that_is_taken(self):
        self.have('agent-3', 'agent', host='h9')
        self._have_db(3)

        self._sync()

        self.assertEqual([('create', 'agent-4'), ('active', 'agent-4')],
                         self.done)

    def test_the_pcloud_of_the_other(self):
        third = self._have_db(3, pcloud=base.PCLOUD_ID)
        self.answer('GET', f'/os-pclouds/{base.PCLOUD_ID}', json={
            'pcloud': base.PCLOUD})
        host = {**base.HOST, 'instances': [third], 'state': 'enabled'}
        self.answer('GET', HOSTS, {'json': {'hosts': [host]}}, {
            'json': {'hosts': [{**host, 'state': 'disabled'}]}})

        self._sync()

        self.assertEqual(base.PCLOUD_ID, self.hints('agent-3')['pcloud'])
        self._have_db(4, pcloud=base.PCLOUD_ID)
        self.assert_one_line('beside db-4: Pcloud farm has no room',
                             self._sync())

    def test_one_that_cannot_be_added(self):
        self.have('db-1', 'db', host='h3')
        self.faults['agent-3'] = 'full'

        result = self._sync()

        self.assertEqual((1, ''), result[:2])
        self.assertIn('agent-3 failed: full. All that was created (1) is '
                      'removed.', result.err)
        self.assertEqual(['agent-1', 'agent-2', 'db-1', 'db-2'],
                         self.names())

    def test_what_is_checked_before(self):
        self._have_db(3)
        for server in self.servers.values():
            server['flavor'] = {'original_name': 'never'}
        self.limits['maxTotalInstances'] = 3

        result = self._sync()

        self.assert_one_line('agent: may not be co-located', result)
        self.assertIn('is 3 instances', result.err)
        self.assertEqual([], self.done)

    def test_an_image_that_is_gone(self):
        self._have_db(3)
        for image, told in (
                ({'id': base.OTHER_ID}, 'agent: No image has the id'),
                ('', 'agent: agent-1 has no image that another one could')):
            for server in self.servers.values():
                server['image'] = image
            self.assert_one_line(told, self._sync())

    def test_a_cell_that_is_down(self):
        self.servers[self.db[0]] = {'id': self.db[0], 'status': 'UNKNOWN'}

        self.assert_one_line('Nothing was changed: a part of the cloud',
                             self._sync())
        self.assertEqual([], self.done)

    def test_a_service_that_is_not_scaled(self):
        self.assert_one_line("'db' was not deployed with --scale-with",
                             self._sync('db'))

    def test_a_service_that_is_not_there(self):
        self.assert_one_line('no units of a service', self._sync('nope'))
