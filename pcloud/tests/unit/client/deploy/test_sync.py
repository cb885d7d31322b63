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
from pcloud.tests.unit.client.deploy import fake_nova

SCALED = {'pcloud_scale_with': 'db'}


class SyncTestCase(fake_nova.ServersTestCase):
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


class SyncTest(SyncTestCase):
    """What one run does."""

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
            (verb, name) for name in ('agent-1', 'log-1')
            for verb in ('delete', 'gone')], self.done)
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

        self._sync()

        self.assertEqual(base.PCLOUD_ID, self.hints('agent-3')['pcloud'])
        self.assertEqual([{'flavor': ['1'], 'count': '1', 'in': third,
                           'pcloud': base.PCLOUD_ID}], self.asked_for_room())

    def test_no_room(self):
        self._have_db(3)
        self.have_room(0, 'it is full', in_=self._have_db(4))

        self.assert_one_line('Nothing was created: beside db-4: there is no '
                             'room for 1 times small: it is full',
                             self._sync())
        self.assertEqual([], self.done)

    def _have_log(self):
        """Let there be a second service that is scaled, on the first host."""
        self.have('log-1', 'log', host='h1', metadata=SCALED,
                  in_=self.db[0], image='part')

    def test_room_for_all_that_is_missing_on_a_host(self):
        self._have_log()
        third = self._have_db(3)

        self._sync()

        self.assertEqual([
            {'flavor': ['1', '1'], 'count': '1', 'in': third},
            {'flavor': ['1'], 'count': '1', 'in': self.db[1]}],
            self.asked_for_room())

    def test_quota_for_all_services_together(self):
        self._have_log()
        self._have_db(3)
        self.limits['maxTotalInstances'] = 5

        self.assert_one_line(
            'the quota of your project is 5 instances, of which 3 are used '
            'and 3 more are needed', self._sync())
        self.assertEqual([], self.done)
        self.limits['maxTotalInstances'] = 6
        self.assertEqual(0, self._sync().status)

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
        for server in self.servers.values():
            server['flavor'] = {'original_name': 'small'}
        self.assert_one_line('is 3 instances', self._sync())
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

        self.assert_one_line('Nothing is changed while a part of the cloud',
                             self._sync())
        self.assertEqual([], self.done)

    def test_a_cell_that_goes_down_between_two_pages(self):
        """Nova does not tell; what was not seen is looked for again."""
        self.page = 3
        seen = []

        def page(request, context):
            answer = self._list(request, context)
            if len(seen) == 1:
                answer = {'servers': []}
            seen.append(answer)
            return answer
        for server in self.db:
            self.servers[server] = self.servers.pop(server)
        self.http.register_uri('GET', f'{base.NOVA}/servers/detail',
                               json=page)

        self.assertEqual('Nothing to change\n', self._sync().err)
        self.assertEqual([], self.done)
        self.assertEqual(4, len(seen))

    def test_a_cell_that_goes_down_before_something_is_removed(self):
        self.have('db-1', 'db', host='h3')

        def lose():
            self.servers[self.db[1]] = {'id': self.db[1],
                                        'status': 'UNKNOWN'}
        self.surprises['created', 'agent-3'] = lose

        result = self._sync()

        self.assertEqual(1, result.status)
        self.assertIn('Nothing is changed while', result.err)
        self.assertIn(fake_nova.server_id('agent-1'), self.servers)

    def test_a_service_that_is_not_scaled(self):
        self.assert_one_line("'db' was not deployed with --scale-with",
                             self._sync('db'))

    def test_a_service_that_is_not_there(self):
        self.assert_one_line('no units of a service', self._sync('nope'))


class RaceTest(SyncTestCase):
    """Other runs look at the same time."""

    def _meanwhile(self, verb, *actions):
        """Do something when the third agent is created or built."""
        def act():
            del self.surprises[verb, 'agent-3']
            for each in actions:
                each()
        self.surprises[verb, 'agent-3'] = act

    def _other_run(self, created='2026-01-01', **more):
        """Another run starts a unit on the third host."""
        more = {'host': 'h3', 'metadata': SCALED,
                'in_': fake_nova.server_id('db-3'), **more}
        other = self.have('agent-x', 'agent', **more)
        self.servers[other]['created'] = created

    def _same_time(self):
        return self.servers[fake_nova.server_id('agent-3')]['metadata'][
            'pcloud_scaled_at']

    def test_one_that_was_earlier(self):
        self._have_db(3)
        self._meanwhile('create', self._other_run)

        result = self._sync()

        self.assertEqual((0, '\n'), result[:2])
        self.assertEqual([
            'agent-3: building', 'agent-3: active',
            'agent-3: not needed, as another run has started one on its '
            'host', 'agent-3: stopping', 'agent-3: stopped',
            'agent-3: deleting', 'agent-3: deleted', 'Nothing to change'],
            result.err.splitlines())
        self.assertEqual(['agent-1', 'agent-2', 'agent-x', 'db-1', 'db-2',
                          'db-3'], self.names())

    def test_one_that_is_later(self):
        """Who started it takes it back, or whoever looks afterwards."""
        self._have_db(3)
        self._meanwhile('created', lambda: self._other_run('2026-01-02'))

        result = self._sync()

        self.assertEqual([['agent', 'agent-3', 'added']], [
            row[:2] + row[3:] for row in base.table(result.out)[1:]])
        self.assertEqual('Scaled services: agent-x is removed',
                         result.err.splitlines()[-1])
        self.assertEqual(['agent-1', 'agent-2', 'agent-3'],
                         self.names()[:3])

    def test_one_of_the_same_time(self):
        """The one with the smaller id stays."""
        self._have_db(3)
        self._meanwhile('created', lambda: self._other_run(
            self._same_time()))
        smaller = min('agent-3', 'agent-x', key=fake_nova.server_id)

        self._sync()
        self._sync()

        self.assertEqual(['agent-1', 'agent-2', smaller], self.names()[:3])

    def test_one_that_is_being_built(self):
        """It is waited for, as it is not known when it was created."""
        for coming, stays in (('ACTIVE', 'agent-x'), ('ERROR', 'agent-3')):
            third = self._have_db(3)
            self._meanwhile('create', lambda: self._other_run(
                host='', status='BUILD'))
            other = fake_nova.server_id('agent-x')

            def settle():
                if 'active' in [verb for verb, _ in self.done]:
                    self.servers[other].update(
                        status=coming, hostId='h3', created='2026-01-01')
            self.clock.at_nap = settle

            self.assertEqual(0, self._sync().status)

            self.assertEqual(stays == 'agent-3', 'agent-3' in self.names())
            self.clock.at_nap = None
            for name in ('agent-3', 'agent-x'):
                self.servers.pop(fake_nova.server_id(name), None)
            del self.servers[third]
            self.done.clear()

    def test_one_that_is_built_for_ever(self):
        self._have_db(3)
        self._meanwhile('create', lambda: self._other_run(
            host='', status='BUILD'))

        result = self._sync('--timeout', '7')

        self.assertEqual(0, result.status)
        self.assertEqual(1, result.err.count(
            'agent-x: waiting, as another run builds it\n'))
        self.assertIn('agent-3', self.names())

    def test_ones_that_do_not_count(self):
        """They do not stay, were not started for it, or are elsewhere."""
        for more in ({'status': 'ERROR'}, {'metadata': {}}, {'host': 'h9'},
                     {'task': 'deleting'}):
            self._have_db(3)
            task = more.pop('task', None)

            def other_run():
                self._other_run(**more)
                self.servers[fake_nova.server_id('agent-x')][
                    'OS-EXT-STS:task_state'] = task
            self._meanwhile('create', other_run)

            self._sync()

            self.assertIn('agent-3', self.names(), more)
            for name in ('agent-3', 'agent-x', 'db-3'):
                self.servers.pop(fake_nova.server_id(name), None)

    def test_one_that_cannot_be_taken_back(self):
        self._have_db(3)
        self._meanwhile('create', self._other_run)
        self.surprises['delete', 'agent-3'] = (409, 'locked')

        result = self._sync()

        self.assertEqual(1, result.status)
        self.assertIn('Not deleted: agent-3 (', result.err)

    def test_more_than_one_on_a_host(self):
        """Only what was started for scaling goes, and never the first."""
        self.have('agent-own', 'agent', host='h1')
        self.have('agent-new', 'agent', host='h1', metadata=SCALED,
                  in_=self.db[0])
        self.have('log', 'log', host='h1', in_='agent')
        self.have('disk', 'disk', host='h1',
                  in_=fake_nova.server_id('agent-new'))

        result = self._sync()

        self.assertEqual(
            [['agent-new', 'removed'], ['disk', 'removed']],
            [[row[1], row[3]] for row in base.table(result.out)[1:]])
        self.assertEqual(['agent-1', 'agent-2', 'agent-own', 'db-1', 'db-2',
                          'log'], self.names())
        self.assertEqual('Nothing to change\n', self._sync().err)

    def test_two_that_came_to_one_host(self):
        for name in ('db-2', 'agent-2'):
            self.servers[fake_nova.server_id(name)]['hostId'] = 'h1'
        self._sync()
        self.assertEqual(['agent-1', 'db-1', 'db-2'], self.names())
