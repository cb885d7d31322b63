# SPDX-License-Identifier: Apache-2.0

"""openstack pcloud service sync, and deployments at the same time."""

from pcloud.client import v1
from pcloud.tests.unit.client import base
from pcloud.tests.unit.client.deploy import fake_nova
from pcloud.worker import follower

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

    def _look(self):
        """Let a worker look once; return what the look tells."""
        told = []
        follower.follow(v1.Client(self.session()), self.started,
                        ['agent', 'db', 'log'], told.append)
        return ''.join(told)

    def _work(self):
        """Let servers reach their states, and a worker look."""
        self.come()
        self._look()

    def _sync(self, *args):
        return self.openstack('pcloud', 'service', 'sync', *args)


class WorkerTest(SyncTestCase):
    """A worker looks while the command waits."""

    def setUp(self):
        super().setUp()
        self.clock.at_nap = self._work

    def test_nothing_to_change(self):
        for args in ((), ('agent',)):
            result = self._sync(*args)
            self.assertEqual((0, '\n', 'Nothing to change\n'), result)
        self.assertEqual(([], []), (self.done, self.clock.naps))

    def test_adding(self):
        third, fourth = self._have_db(3), self._have_db(4)

        result = self._sync('-f', 'json')

        self.assertEqual([
            {'Service': 'agent', 'Name': name, 'Change': 'added',
             'ID': fake_nova.server_id(name)}
            for name in ('agent-3', 'agent-4')], result.json)
        self.assertEqual([
            'Waiting for a worker: agent is missing beside db-3; agent is '
            'missing beside db-4',
            'Waiting for a worker: agent-3 is being built; agent-4 is being '
            'built'], result.err.splitlines()[:2])
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
            [['agent', 'agent-1', 'removed']],
            [row[:2] + row[3:] for row in base.table(result.out)[1:]])
        self.assertIn('Waiting for a worker: agent-1 is not needed\n',
                      result.err)
        self.assertEqual(['agent-2', 'db-1', 'db-2'], self.names())
        verbs = [done for done in self.done if done[0] in ('stop', 'delete')]
        self.assertEqual([('stop', 'agent-1'), ('stop', 'log-1'),
                          ('delete', 'log-1'), ('delete', 'agent-1')], verbs)
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
            [['agent-new', 'removed']],
            [[row[1], row[3]] for row in base.table(result.out)[1:]])
        self.assertEqual(['agent-1', 'agent-2', 'agent-own', 'db-1', 'db-2',
                          'log'], self.names())
        self.assertEqual('Nothing to change\n', self._sync().err)

    def test_two_that_came_to_one_host(self):
        for name in ('db-2', 'agent-2'):
            self.servers[fake_nova.server_id(name)]['hostId'] = 'h1'
        self._sync()
        self.assertEqual(['agent-1', 'db-1', 'db-2'], self.names())

    def test_a_deployment_that_was_killed(self):
        """It counts as ended, and the worker goes on."""
        self._have_db(3)
        for name in 'agent-1', 'agent-2':
            self.servers[fake_nova.server_id(name)]['metadata'] = {
                **SCALED, 'pcloud_deploying': 'db'}
        self.assertIn('it is being deployed', self._look())
        self.assertEqual(0, self._sync('agent').status)
        self.assertIn('agent-3', self.names())


class NoWorkerTest(SyncTestCase):
    """No worker looks, or a worker cannot do what is due."""

    def test_time_that_is_up(self):
        self._have_db(3)
        result = self._sync('--timeout', '7')
        self.assertEqual((1, ''), result[:2])
        self.assertIn('After 7 seconds there is still due: agent is missing '
                      'beside db-3. Ask the operator', result.err)
        self.assertEqual([], self.done)

    def test_no_room(self):
        self._have_db(3)
        self.have_room(0, 'it is full', in_=self._have_db(4))
        self.clock.at_nap = self._work
        result = self._sync('--timeout', '60')
        self.assertEqual(1, result.status)
        self.assertIn('still due: agent is missing beside db-4.', result.err)
        self.assertIn('agent-3', self.names())

    def test_what_another_run_is_about_to_start(self):
        self._have_db(3)
        self.have('agent-9', 'agent', host='', status='BUILD',
                  metadata=SCALED, in_=fake_nova.server_id('db-3'))
        self.clock.at_nap = lambda: self.servers[
            fake_nova.server_id('agent-9')].update(
                status='ACTIVE', hostId='h3')

        result = self._sync()

        self.assertEqual(
            ['Waiting for a worker: agent-9 is being built',
             'Nothing to change'], result.err.splitlines())
        self.assertEqual([], self.done)

    def test_a_cell_that_is_down(self):
        self.servers[self.db[0]] = {'id': self.db[0], 'status': 'UNKNOWN'}

        self.assert_one_line('Nothing is changed while a part of the cloud',
                             self._sync())
        self.assertEqual([], self.done)

    def test_a_cell_that_goes_down_meanwhile(self):
        self._have_db(3)

        def lose():
            self.servers[self.db[1]] = {'id': self.db[1],
                                        'status': 'UNKNOWN'}
        self.clock.at_nap = lose
        result = self._sync('--timeout', '7')
        self.assertIn('still due: 1 servers are hidden', result.err)

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
        self.clock.at_nap = self._look

        self.assertEqual('Nothing to change\n', self._sync().err)
        self.assertEqual([], self.done)

    def test_a_service_that_is_not_scaled(self):
        self.assert_one_line("'db' was not deployed with --scale-with",
                             self._sync('db'))

    def test_a_service_that_is_not_there(self):
        self.assert_one_line('no units of a service', self._sync('nope'))


class RaceTest(SyncTestCase):
    """Others start units while a scaled service is deployed."""

    def setUp(self):
        super().setUp()
        for number in 1, 2:
            del self.servers[fake_nova.server_id(f'agent-{number}')]

    def _deploy(self, *args):
        return self.openstack(
            'pcloud', 'service', 'deploy', 'agent', '--image', 'part',
            '--flavor', 'small', '--scale-with', 'db', *args)

    def _forget_agents(self):
        for server_id, server in list(self.servers.items()):
            if server['name'].startswith('agent'):
                del self.servers[server_id]

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

        result = self._deploy()

        self.assertEqual(0, result.status)
        self.assertEqual([
            'agent-3: building', 'agent-3: active',
            'agent-3: not needed, as another run has started one on its '
            'host', 'agent-3: stopping', 'agent-3: stopped',
            'agent-3: deleting', 'agent-3: deleted'],
            [line for line in result.err.splitlines() if '3' in line])
        self.assertEqual(['agent-1', 'agent-2', 'agent-x', 'db-1', 'db-2',
                          'db-3'], self.names())

    def test_one_that_is_later(self):
        """Who started it takes it back, or a worker does."""
        self._have_db(3)
        self._meanwhile('created', lambda: self._other_run('2026-01-02'))

        result = self._deploy()

        self.assertEqual(['agent-1', 'agent-2', 'agent-3'], [
            row[1] for row in base.table(result.out)[1:]])
        self.assertEqual(
            'Scaled services: agent-x is stopped', self._look())
        self.come()
        self.assertEqual(
            'Scaled services: agent-x is removed', self._look())
        self.come()
        self.assertEqual(['agent-1', 'agent-2', 'agent-3'],
                         self.names()[:3])

    def test_one_of_the_same_time(self):
        """The one with the smaller id stays."""
        self._have_db(3)
        self._meanwhile('created', lambda: self._other_run(
            self._same_time()))
        smaller = min('agent-3', 'agent-x', key=fake_nova.server_id)

        self._deploy()
        for _ in range(2):
            self._look()
            self.come()

        self.assertEqual(['agent-1', 'agent-2', smaller], self.names()[:3])

    def test_one_that_is_being_built(self):
        """It is waited for, as it is not known when it was created."""
        for coming, stays in (('ACTIVE', 'agent-x'), ('ERROR', 'agent-3')):
            third = self._have_db(3)
            self._meanwhile('create', lambda: self._other_run(
                host='', status='BUILD'))
            other = fake_nova.server_id('agent-x')

            def settle():
                if ('active', 'agent-3') in self.done:
                    self.servers[other].update(
                        status=coming, hostId='h3', created='2026-01-01')
            self.clock.at_nap = settle

            self.assertEqual(0, self._deploy().status)

            self.assertEqual(stays == 'agent-3', 'agent-3' in self.names())
            self.clock.at_nap = None
            self._forget_agents()
            del self.servers[third]
            self.done.clear()

    def test_one_that_is_built_for_ever(self):
        self._have_db(3)
        self._meanwhile('create', lambda: self._other_run(
            host='', status='BUILD'))

        result = self._deploy('--timeout', '7')

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

            self._deploy()

            self.assertIn('agent-3', self.names(), more)
            self._forget_agents()
            del self.servers[fake_nova.server_id('db-3')]

    def test_one_that_cannot_be_taken_back(self):
        self._have_db(3)
        self._meanwhile('create', self._other_run)
        self.surprises['delete', 'agent-3'] = (409, 'locked')

        result = self._deploy()

        self.assertEqual(1, result.status)
        self.assertIn('Not deleted: agent-3 (', result.err)
