# SPDX-License-Identifier: Apache-2.0

"""What the owner of a Pcloud allows there, through the real scheduler."""

from unittest import mock

from nova import objects

from pcloud.api.nova_calls import servers
from pcloud.tests.functional.quick import test_moving
from pcloud.tests.support import counting


class RulesTestCase(test_moving.MovingTestCase):
    """A Pcloud of Alice's with the hosts a, b and c, which take servers."""

    def furnish(self):
        super().furnish()
        self.only('a', 'b', 'c')

    def set_rules(self, expected=200, user=None, **rules):
        """Change the Pcloud, and return the Pcloud or the message."""
        answer = (user or self.alice).call(
            'PUT', f'/os-pclouds/{self.pcloud}', {'pcloud': rules})
        self.assertEqual(expected, answer.status_code, answer.text)
        return message(answer) if expected >= 400 else answer.json()['pcloud']

    def shown(self):
        """Return the Pcloud as the owner sees it."""
        return self.alice.get_json(f'/os-pclouds/{self.pcloud}')['pcloud']

    def launch(self, hints, user=None, **more):
        """Return the answer to the launch of a server."""
        return (user or self.alice).call('POST', '/servers', {
            'server': self._build_server(networks='none', **more),
            'os:scheduler_hints': hints})

    def refused(self, status, hints, user=None, **more):
        """Return the message of a launch that nova-api refuses."""
        answer = self.launch(hints, user, **more)
        self.assertEqual(status, answer.status_code, answer.text)
        return message(answer)

    def on(self, name, user=None, **more):
        """Return the hints for a server on a host."""
        return {'pcloud': self.pcloud, 'pcloud_host': name, **more}

    def change_hints(self, server, **hints):
        """Change what Nova keeps, as if nova-api had not been asked."""
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id'])
        spec.scheduler_hints = {**spec.scheduler_hints, **hints}
        spec.save()

    def let_in(self, user):
        """Make the project of a user a tenant."""
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{user.project_id}')

    def moves_to(self, server, status='ACTIVE'):
        """Have an administrator migrate a server; return its host's name."""
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status=status)
        return self.name_of(server)


def message(answer):
    """Return the message of an error."""
    fault, = answer.json().values()
    return fault['message']


class PinTest(RulesTestCase):

    def test_server_is_on_the_host_that_it_names(self):
        for name in ('c', 'B', 'c', 'a'):
            server = self.start(self.on(name))
            self.assertEqual(name.lower(), self.name_of(server))

    def test_several_servers(self):
        started = [self.start(self.on('b')) for _ in range(2)]
        self.assertEqual({'b'}, set(map(self.name_of, started)))

    def test_shown(self):
        self.assertNotIn('pin_by_tenants', self.shown())
        self.assertIs(True, self.set_rules(
            pin_by_tenants=True)['pin_by_tenants'])
        self.assertEqual('1', self.metadata()['pcloud:pin_by_tenants'])
        self.assertIs(True, self.shown()['pin_by_tenants'])
        self.assertIs(False, self.set_rules(
            pin_by_tenants=False)['pin_by_tenants'])
        self.assertEqual('0', self.metadata()['pcloud:pin_by_tenants'])
        self.assertIs(False, self.shown()['pin_by_tenants'])
        for wrong in (None, 1, 'true'):
            self.set_rules(400, pin_by_tenants=wrong)
        self.let_in(self.bob)
        self.set_rules(403, self.bob, pin_by_tenants=True)
        self.assertEqual({'id', 'name', 'owner'}, self.bob.get_json(
            f'/os-pclouds/{self.pcloud}')['pcloud'].keys())

    def test_wrong_hints(self):
        for wrong in ('d', 7):
            self.assertIn(f"no host named '{wrong}'",
                          self.refused(400, self.on(wrong)))
        for wrong in ('', 'a b', ['a', 'b'], [], {'a': 'b'}):
            self.assertIn('once', self.refused(400, self.on(wrong)))
        alone = {'pcloud_host': 'a'}
        for hints in (alone, {**alone, 'pcloud': 'none'},
                      {**alone, 'pcloud_prefer': self.pcloud}):
            self.assertIn('pcloud=<id', self.refused(400, hints))
        for name in ('pcloud-host', 'Pcloud_Host', 'PCLOUD-HOST'):
            self.assertIn("has to be 'pcloud_host'", self.refused(
                400, {'pcloud': self.pcloud, name: 'a'}))

    def test_other_tenants(self):
        self.let_in(self.bob)
        answers = {self.refused(403, self.on(name), self.bob)
                   for name in ('a', 'd')}
        self.assertEqual(1, len(answers))
        self.assertIn('pin_by_tenants', answers.pop())
        self.set_rules(pin_by_tenants=True)
        server = self.start(self.on('b'), self.bob)
        self.assertEqual('b', self.name_of(server))
        self.assertIn("'d'", self.refused(400, self.on('d'), self.bob))

    def test_foreign_pcloud_tells_nothing(self):
        for name in ('a', 'd'):
            server = self.boot(self.bob, self.on(name), 'ERROR')
            self.assertIn('it does not exist', self.fault(server))

    def test_full_or_closed_host(self):
        self.only('a', 'b')
        server = self.boot(self.alice, self.on('c'), 'ERROR')
        self.assertIn("'c', which the server names, takes no",
                      self.fault(server))
        self.only('a', 'b', 'c')
        huge = self.make_flavor('huge', memory_mb=7000)
        self.boot(self.alice, self.on('c'), flavorRef=huge)
        server = self.boot(
            self.alice, self.on('c'), 'ERROR', flavorRef=huge)
        self.assertIn("'c', which the server names, has no room",
                      self.fault(server))

    def test_default_pcloud(self):
        default = f'/os-pcloud-policies/project/{self.alice.project_id}'
        for more in ({'mode': 'strict'}, {'mode': 'prefer'},
                     {'mode': 'grow', 'host_flavor': 'gpu', 'max_hosts': 9}):
            self.alice.call_json('PUT', default, {'policy': {
                'default_pcloud': {'pcloud': self.pcloud, **more}}})
            server = self.boot(self.alice, {'pcloud_host': 'b'})
            self.assertEqual('b', self.name_of(server))
            self.assertEqual(
                {'pcloud': [self.pcloud], 'pcloud_host': ['b']},
                objects.RequestSpec.get_by_instance_uuid(
                    self.context, server['id']).scheduler_hints)
            self.refused(400, {'pcloud_host': 'd'})

    def test_later_moves(self):
        server = self.start(self.on('b'))
        self.act(server, {'migrate': None})
        self.wait_for(server, status='ACTIVE')
        self.assertEqual('b', self.name_of(server))
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self.act(server, {'unshelve': None})
        self.arrives(server, 'b')

    def test_filter_asks_again(self):
        """What nova-api let in is no right for ever."""
        self.let_in(self.bob)
        self.set_rules(pin_by_tenants=True)
        server = self.start(self.on('b'), self.bob)
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self.set_rules(pin_by_tenants=False)
        answer = self.bob.call('POST', f'/servers/{server["id"]}/action',
                               {'unshelve': None})
        self.assertEqual(409, answer.status_code, answer.text)
        self.assertIn('its owner alone may name', message(answer))

    def test_request_without_nova_api(self):
        server = self.start()
        for wrong in (['d'], ['a', 'b'], [], ['a b']):
            self.change_hints(server, pcloud_host=wrong)
            here = self.host_of(server)
            self.act(server, {'migrate': None})
            self.wait_for(server, status='ACTIVE')
            self.assertEqual(here, self.host_of(server))

    def test_drain_names_it(self):
        server = self.start(self.on('b'))
        self.drain('b', move='live')
        blocker, = self.get('b')['drain']['blockers']
        self.assertEqual((server['id'], 'placement'),
                         (blocker['server'], blocker['rule']))
        self.assertIn('one host alone', blocker['reason'])
        self.assertEqual([], self.migrations(server))

    def test_rehearsal_refuses_it(self):
        self.start(self.on('b'))
        self._run_periodics()
        said = self.alice.get_json(
            f'/os-pclouds/{self.pcloud}/rehearsal')['rehearsal']
        self.assertEqual(('b', 1), (said['worst']['host'],
                                    said['worst']['servers']))

    def test_costs_no_statement(self):
        self.start()
        costs = []
        prepare = servers.prepare

        def counted(call, rbac):
            costs.append(counting.count(lambda: prepare(call, rbac)).sql)

        with mock.patch.object(servers, 'prepare', counted):
            self.start({'pcloud': self.pcloud})
            self.start(self.on('a'))
        self.assertEqual(costs[0], costs[1])
