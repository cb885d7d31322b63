# SPDX-License-Identifier: Apache-2.0

"""A look of a worker lets scaled services follow others."""

import requests

from pcloud.backend.cells import started_servers
from pcloud.client.deploy import parents
from pcloud.client import v1
from pcloud import exception
from pcloud.tests.unit.client import base
from pcloud.tests.unit.client.deploy import fake_nova
from pcloud.worker import follower

SCALED = {'pcloud_scale_with': 'db'}
POLICY = (403, "Policy doesn't allow it.")


class FollowerTestCase(fake_nova.ServersTestCase):
    """There is a unit of agent beside the first of db."""

    def setUp(self):
        super().setUp()
        self.first = self._have_db(1)
        self._have_agent(1)

    def _have_db(self, number, **more):
        return self.have(f'db-{number}', 'db', host=f'h{number}', **more)

    def _have_agent(self, number, name=None, started=None, **more):
        """Add a unit of agent that a look has started, or else a run."""
        metadata = {**SCALED, 'pcloud_scaled_at': started} if started else {
            **SCALED, 'pcloud_run': base.OTHER_ID}
        return self.have(name or f'agent-{number}', 'agent', metadata={
            **metadata, **more.pop('metadata', {})}, **{
                'host': f'h{number}',
                'in_': fake_nova.server_id(f'db-{number}'), **more})

    def _run(self, *args):
        result = self.openstack('pcloud', 'service', *args)
        self.assertEqual(0, result.status, result.err)
        return result

    def _look(self):
        """Let one look happen; return what the look told, if anything."""
        told = []
        follower.follow(v1.Client(self.session()), self.started, sorted({
            server['scheduler_hints']['service'][0]
            for server in self.servers.values()
            if server.get('scheduler_hints', {}).get('service')}),
            told.append)
        return ''.join(told)

    def _told(self):
        """Return what a look tells, which is something."""
        told = self._look()
        self.assertNotEqual('', told)
        return told

    def _removed(self, name):
        """Let two looks remove a unit."""
        self.assertEqual(f'Scaled services: {name} is stopped', self._told())
        self.come()
        self.assertEqual(f'Scaled services: {name} is removed', self._told())
        self.come()

    def _assert_quiet(self):
        before = list(self.done)
        self.assertEqual('', self._look())
        self.assertEqual(before, self.done)


class CommandsTest(FollowerTestCase):
    """Commands leave it to a worker, and show what there is."""

    def test_commands_start_and_remove_no_unit(self):
        second = self._have_db(2)
        for args in ('list',), ('show', 'db'):
            self.assertEqual('', self._run(*args).err)
        self._run('deploy', 'web', '--image', 'plain', '--flavor', 'small')
        self._run('undeploy', 'web')
        self.assertNotIn('agent-2', self.names())

        self.assertEqual('Scaled services: agent-2 is started beside db-2',
                         self._told())
        self.assertEqual(
            [('agent-2', 'BUILD', second)],
            [(row['Name'], row['Status'], row['Parent'])
             for row in self._run('list', '--all', '-f', 'json').json
             if row['Name'] == 'agent-2'])
        body = self.created[-1]
        self.assertEqual({'service': 'agent', 'in': second},
                         body['os:scheduler_hints'])
        self.assertEqual(
            {'pcloud_scale_with', 'pcloud_scaled_at'},
            set(body['server']['metadata']))
        self._assert_quiet()

    def test_nothing_is_asked_when_nothing_is_due(self):
        self._look()
        self.assertEqual(1, len([
            request for request in self.http.request_history
            if '/servers' in request.path]))


class DueTest(FollowerTestCase):
    """What is due, and what is not."""

    def test_where_the_other_is_not_settled(self):
        for more in ({'status': 'BUILD'}, {'status': 'ERROR'}):
            self._have_db(2, **more)
            self._assert_quiet()
        self._have_db(2)
        self.servers[fake_nova.server_id('db-2')][
            'OS-EXT-STS:task_state'] = 'deleting'
        self._assert_quiet()

    def test_beside_the_one_that_is_settled(self):
        self._have_db(2, status='ERROR')
        self.have('db-3', 'db', host='h2')
        self.assertEqual('Scaled services: agent-2 is started beside db-3',
                         self._told())

    def test_one_in_error_keeps_its_unit(self):
        self.servers[self.first]['status'] = 'ERROR'
        self._have_db(2)
        self._have_agent(2)
        self._assert_quiet()

    def test_the_last_unit_stays_while_the_other_may_come_back(self):
        for more in ({'status': 'SHELVED_OFFLOADED'}, {'status': 'BUILD'}):
            self.have('db-1', 'db', host='', **more)
            self._assert_quiet()
        self.have('db-1', 'db', host='', status='ERROR')
        self._removed('agent-1')

    def test_the_next_one_comes_before_the_last_one_goes(self):
        self.have('db-1', 'db', host='h2')
        self.assertEqual('Scaled services: agent-2 is started beside db-1',
                         self._told())
        self.servers[fake_nova.server_id('agent-2')].update(
            status='ACTIVE', hostId='h2')
        self._removed('agent-1')
        self._assert_quiet()

    def test_one_that_is_being_built_somewhere(self):
        self._have_db(2)
        self.have('own', 'agent', host='', status='BUILD', in_='db')
        self.assertEqual(
            "Scaled services: due, but not done: 'agent' (own is being "
            'built, on which host is not known)', self._told())

    def test_one_that_is_being_deleted(self):
        self._have_db(2)
        self._have_agent(7)
        self.servers[fake_nova.server_id('agent-7')][
            'OS-EXT-STS:task_state'] = 'deleting'
        self.assertIn("'agent' (agent-7 is being deleted)", self._told())

    def test_no_unit_to_copy(self):
        self._have_db(2)
        agent = self.servers[fake_nova.server_id('agent-1')]
        agent['image'] = ''
        self.assertIn("'agent' (agent-1 has no image", self._told())
        agent['status'] = 'ERROR'
        self.assertIn("'agent' (there is no running unit", self._told())
        self.assertEqual([], self.done)

    def test_a_unit_that_cannot_be_read_now(self):
        self._have_db(2)

        def away(server):
            raise exception.Unavailable()
        self.started = away
        self.assertIn("due, but not done: 'agent' (", self._told())
        self.assertEqual([], self.done)

    def test_what_is_copied(self):
        self._have_db(2)
        agent = self.servers[fake_nova.server_id('agent-1')]
        agent['metadata'].update(
            tier='1', pcloud_run='x', pcloud_other='x', up='yes',
            pcloud_ready='up=yes')
        agent['scheduler_hints'].update({
            'constraints': ['cpu=1'], 'far': ['a', 'b'],
            'pcloud_prefer': ['p'], 'pcloud_host': ['p'], 'with': ['w'],
            'beside': ['s'], 'room_for': ['1'], '_pcloud_domain': ['d']})
        self.started = lambda server: started_servers.Start(
            'image', 7, 'dXNlcg==', None, 'az1', ('g',), (
                {'source_type': 'blank', 'destination_type': 'volume',
                 'volume_size': 3},), ('v1', 'v2'))
        self.networks = ['n1']
        self.assertEqual(
            'Scaled services: agent-2 is started beside db-2, without the '
            'volumes of agent-1: v1, v2', self._told())
        body = self.created[-1]
        self.assertEqual(
            {'service': 'agent', 'in': fake_nova.server_id('db-2'),
             'constraints': ['cpu=1'], 'far': ['a', 'b']},
            body['os:scheduler_hints'])
        self.assertEqual(
            {'tier': '1', 'pcloud_scale_with': 'db',
             'pcloud_ready': 'up=yes'}, {
                key: value for key, value
                in body['server'].pop('metadata').items()
                if key != 'pcloud_scaled_at'})
        self.assertEqual({
            'name': 'agent-2', 'imageRef': '', 'flavorRef': '1',
            'networks': [{'uuid': 'n1'}], 'user_data': 'dXNlcg==',
            'availability_zone': 'az1', 'security_groups': [{'name': 'g'}],
            'block_device_mapping_v2': [{
                'boot_index': 0, 'uuid': 'image', 'source_type': 'image',
                'destination_type': 'volume', 'volume_size': 7,
                'delete_on_termination': True}, {
                'source_type': 'blank', 'destination_type': 'volume',
                'volume_size': 3}]}, body['server'])

    def test_a_copy_is_told_of_its_own_parent(self):
        self._have_db(2)
        self.servers[fake_nova.server_id('agent-1')]['metadata'].update(
            pcloud_parent='old', pcloud_parent_name='old')
        self._told()
        self.assertEqual(
            [fake_nova.server_id('db-2'), 'db-2', ''],
            [self.created[-1]['server']['metadata'][key] for key in (
                parents.ID, parents.NAME, parents.ADDRESSES)])

    def test_a_deployment_under_way(self):
        self._have_db(2)
        self._have_agent(1, metadata={'pcloud_deploying': 'db'})
        self.assertIn("'agent' (it is being deployed; if the deployment was "
                      'killed, use "openstack pcloud service sync")',
                      self._told())
        self.assertEqual([], self.done)
        self.servers[fake_nova.server_id('agent-1')]['metadata'].pop(
            'pcloud_deploying')
        self.assertIn('agent-2 is started beside db-2', self._told())

    def test_a_deployment_is_marked_until_it_has_ended(self):
        self._have_db(2)
        marks = []
        self.surprises['create', 'log-2'] = lambda: marks.extend(
            server['metadata'].get('pcloud_deploying')
            for server in self.servers.values()
            if server['name'] == 'log-1')
        self._run('deploy', 'log', '--image', 'part', '--flavor', 'small',
                  '--scale-with', 'db')
        self.assertEqual(['db'], marks)
        self.assertEqual([], [
            server['name'] for server in self.servers.values()
            if 'pcloud_deploying' in server['metadata']])

    def test_a_mark_that_stays(self):
        """Nova does not answer at the very end; the deployment stands."""
        self.surprises['unmark', 'log'] = (503, 'restarting')
        self._run('deploy', 'log', '--image', 'part', '--flavor', 'small',
                  '--scale-with', 'db')
        self.assertIn('log', self.names())


class FailureTest(FollowerTestCase):
    """What fails is told, and fails nothing else."""

    def setUp(self):
        super().setUp()
        self.second, self.third = self._have_db(2), self._have_db(3)

    def _have_log(self):
        self.have('log-1', 'log', host='h1', metadata=SCALED,
                  in_=self.first)

    def test_who_may_only_read(self):
        self.surprises['create', 'agent-2'] = POLICY
        self.assertEqual(
            'Scaled services: due, but not done: agent-2 and agent-3 '
            "(Policy doesn't allow it)", self._told())
        self.assertEqual([('create', 'agent-2')], self.done)

    def test_who_may_not_remove(self):
        self._have_agent(2)
        self._have_agent(3)
        self._have_agent(7)
        self.surprises['stop', 'agent-7'] = POLICY
        agent = fake_nova.server_id('agent-7')
        self.assertEqual(
            'Scaled services: due, but not done: the removal of agent-7 '
            f"(agent-7 ({agent}) could not be stopped: Policy doesn't allow "
            f'it. (HTTP 403). What it takes: agent-7: see why (openstack '
            f'server show {agent}))', self._told())

    def test_one_of_several(self):
        self.surprises['create', 'agent-2'] = (500, 'a mistake')
        self.assertEqual(
            'Scaled services: agent-3 is started beside db-3; due, but not '
            'done: agent-2 (a mistake)', self._told())

    def test_no_room(self):
        self.have_room(0, 'it is full', in_=self.second)
        self.assertEqual(
            'Scaled services: agent-3 is started beside db-3; due, but not '
            'done: agent-2 (beside db-2: there is no capacity for 1 times '
            'small: '
            'it is full)', self._told())

    def test_one_service_of_several(self):
        self._have_log()
        for server in self.servers.values():
            if server['name'] == 'agent-1':
                server['flavor'] = {'original_name': 'gone'}
        self.assertEqual(
            'Scaled services: log-2 is started beside db-2; log-3 is started '
            "beside db-3; due, but not done: 'agent' (No flavor has the id "
            "or name 'gone')", self._told())

    def test_one_removal_of_several(self):
        self._have_agent(2)
        self._have_agent(3)
        self._have_agent(7)
        self._have_agent(8)
        self.surprises['stop', 'agent-7'] = (409, 'locked')
        self.assertIn('Scaled services: agent-8 is stopped; due, but not '
                      'done: the removal of agent-7 (', self._told())

    def test_nova_goes_away(self):
        error = requests.exceptions.ConnectionError('gone')
        for verb in ('create', 'created'):
            for number in (2, 3):
                self.surprises[verb, f'agent-{number}'] = error
            told = self._told()
            self.assertIn('due, but not done: agent-2 (', told)
            self.surprises.clear()

    def test_the_list_fails(self):
        self.http.register_uri(
            'GET', f'{base.NOVA}/servers/detail', status_code=500, json={
                'computeFault': {'code': 500, 'message': 'oops'}})
        self.assertEqual('Scaled services were not looked at: oops',
                         self._told())

    def test_a_cell_that_is_down(self):
        hidden = fake_nova.server_id('hidden')
        self.servers[hidden] = {'id': hidden, 'status': 'UNKNOWN'}
        self.assertEqual(
            "Scaled services: due, but not done: 'agent' (a part of the "
            'cloud does not report where servers are)', self._told())
        self.assertEqual([], self.done)

    def test_a_cell_that_goes_down_after_the_first_list(self):
        self._have_agent(2)
        self._have_agent(3)
        self._have_agent(7)
        pages = []

        def page(request, context):
            pages.append(request)
            if len(pages) == 2:
                hidden = fake_nova.server_id('hidden')
                self.servers[hidden] = {'id': hidden, 'status': 'UNKNOWN'}
            return self._list(request, context)
        self.http.register_uri('GET', f'{base.NOVA}/servers/detail',
                               json=page)
        self.assertIn('due, but not done: the rest (Nothing is changed',
                      self._told())
        self.assertEqual([], self.done)


class TwoLooksTest(FollowerTestCase):
    """Another look happens at the same time, or has died."""

    def setUp(self):
        super().setUp()
        self._have_db(2)

    def _meanwhile(self, verb, act):
        def once():
            del self.surprises[verb, 'agent-2']
            act()
        self.surprises[verb, 'agent-2'] = once

    def _other(self, started, **more):
        return self._have_agent(2, 'other', started, **{
            'host': '', 'status': 'BUILD', **more})

    def test_another_one_was_first(self):
        """Whether or not it is built."""
        for more in ({}, {'host': 'h2', 'status': 'ACTIVE'}):
            self._meanwhile('create', lambda: self._other('2025', **more))
            self._assert_created_and_deleted()
            self.assertIn('other', self.names())
            self._have_agent(1)
            del self.servers[fake_nova.server_id('other')]
            self.servers.pop(fake_nova.server_id('agent-2'), None)
            self.done.clear()

    def _assert_created_and_deleted(self):
        self.assertEqual('', self._look())
        self.assertEqual([('create', 'agent-2'), ('delete', 'agent-2')],
                         self.done[:2])

    def test_another_one_is_later(self):
        self._meanwhile('created', lambda: self._other('2026-02'))
        self.assertEqual(
            'Scaled services: agent-2 is started beside db-2; other is '
            'removed (another one was started first)', self._told())
        self.assertEqual([('create', 'agent-2'), ('delete', 'other')],
                         self.done)

    def test_a_run_that_is_later(self):
        """It takes its own unit back when the unit is built."""
        self._meanwhile('created', lambda: self._have_agent(
            2, 'other', None, host='', status='BUILD',
            metadata={'pcloud_scaled_at': '2026-02'}))
        self.assertEqual('Scaled services: agent-2 is started beside db-2',
                         self._told())
        self.assertEqual([('create', 'agent-2')], self.done)

    def test_what_is_left_of_looks_that_died(self):
        self._have_agent(2, 'a', '2026-01-02', host='', status='BUILD')
        self._have_agent(2, 'b', '2026-01-01', host='', status='BUILD')
        self.assertEqual(
            'Scaled services: a is removed (another one was started first)',
            self._told())
        self.assertIn('b', self.names())

    def test_what_is_left_and_runs(self):
        self._have_agent(2, 'a', '2026-01-02')
        self._have_agent(2, 'b', '2026-01-01')
        self._removed('a')
        self.assertEqual(('stop', 'a'), self.done[0])

    def test_what_is_never_removed(self):
        """A user has started it, or it has run, or a run awaits it."""
        own = self.have('own', 'agent', host='h2', in_='db')
        self._have_agent(2, 'scaled', '2026-01-01')
        self._have_agent(9, 'error', '2026-01-01', host='', status='ERROR')
        self.servers[fake_nova.server_id('error')][
            'OS-SRV-USG:launched_at'] = '2026-01-01'
        self._have_agent(9, 'run', None, host='', status='ERROR')
        self._assert_quiet()
        self.assertIn(own, self.servers)

    def test_one_that_could_not_be_built(self):
        self._have_agent(2, 'agent-2', '2026-01-01', host='',
                         status='ERROR')
        self.servers[fake_nova.server_id('agent-2')]['fault'] = {
            'message': 'No valid host was found.'}
        self.assertEqual(
            'Scaled services: agent-3 is started beside db-2; agent-2 is '
            'removed (No valid host was found)', self._told())

    def test_the_service_is_removed_meanwhile(self):
        self._meanwhile('created', lambda: self.servers.pop(
            fake_nova.server_id('agent-1')))
        self._assert_created_and_deleted()
