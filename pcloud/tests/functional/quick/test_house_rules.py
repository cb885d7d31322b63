# SPDX-License-Identifier: Apache-2.0

"""What the owner of a Pcloud allows there, through the real scheduler."""

from unittest import mock

from nova import objects
from nova.tests import fixtures

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
        self.assertIn("'c', which the server names, has no capacity",
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


class ListsTest(RulesTestCase):
    """The flavors and images that a Pcloud takes."""

    def setUp(self):
        super().setUp()
        self.inside = {'pcloud': self.pcloud}
        self.image, self.other = (
            image['id'] for image in (fixtures.GlanceFixture.image1,
                                      fixtures.GlanceFixture.image2))

    def resize(self, server, flavor):
        return self.alice.call('POST', f'/servers/{server["id"]}/action',
                               {'resize': {'flavorRef': flavor}})

    def rebuild(self, server, image):
        return self.alice.call('POST', f'/servers/{server["id"]}/action',
                               {'rebuild': {'imageRef': image}})

    def test_shown(self):
        self.assertFalse({'flavors', 'images'} & self.shown().keys())
        many = [f'{number:036}' for number in range(99)]
        ids = [f'{number:08x}-0000-4000-8000-000000000000'
               for number in range(100)]
        changed = self.set_rules(flavors=['2', *many], images=ids)
        self.assertEqual(sorted(['2', *many]), changed['flavors'])
        self.assertEqual(ids, changed['images'])
        self.set_rules(pin_by_tenants=True)
        changed['pin_by_tenants'] = True
        self.assertEqual(changed, self.shown())
        self.assertEqual([changed], self.alice.get_json(
            '/os-pclouds')['pclouds'])
        self.assertEqual([], self.kinds())
        self.assertEqual(['1'], self.set_rules(flavors=['1'])['flavors'])
        self.assertEqual([], self.set_rules(flavors=[])['flavors'])
        self.assertEqual(
            {'pcloud:flavors:0': ''},
            {key: value for key, value in self.metadata().items()
             if key.startswith('pcloud:flavors')})
        self.assertEqual([], self.kinds())
        self.assertNotIn('flavors', self.set_rules(flavors=None, images=None))
        self.assertFalse([key for key in self.metadata()
                          if key.startswith(('pcloud:fl', 'pcloud:im'))])
        for wrong in ('1', [1], ['a,b'], ['1', '1'], ['x' * 256],
                      [str(number) for number in range(101)]):
            self.set_rules(400, flavors=wrong)
        for wrong in (['7'], [self.image.upper()]):
            self.set_rules(400, images=wrong)

    def test_hand_made_rows_are_found(self):
        self.set_metadata(**{'pcloud:images:0': 'cirros'})
        self.assertEqual(['value-not-valid'], self.kinds())
        self.refused(403, self.inside)

    def test_launch(self):
        self.set_rules(flavors=['2'], images=[self.image])
        self.assertIn("flavor '1'", self.refused(
            403, self.inside, flavor_id='1', image_uuid=self.image))
        self.assertIn(f"image '{self.other}'", self.refused(
            403, self.inside, flavor_id='2', image_uuid=self.other))
        server = self.boot(self.alice, self.inside, flavorRef='2',
                           imageRef=self.image)
        self.assertIn(self.name_of(server), 'abc')

    def test_preferring_server_goes_outside(self):
        self.set_rules(flavors=['2'])
        for flavor, inside in (('2', True), ('1', False)):
            server = self.boot(self.alice, {'pcloud_prefer': self.pcloud},
                               'ACTIVE' if inside else 'ERROR',
                               flavorRef=flavor)
            self.assertEqual(inside, self.host_of(
                server) in self.real.values())

    def test_resize_and_rebuild(self):
        server = self.boot(self.alice, self.inside, imageRef=self.image)
        self.set_rules(flavors=['1'], images=[self.image])
        for answer in (self.resize(server, '2'),
                       self.rebuild(server, self.other)):
            self.assertEqual(403, answer.status_code, answer.text)
            self.assertIn('does not allow', message(answer))
        self.assertEqual(
            202, self.rebuild(server, self.image).status_code)
        self.wait_for(server, status='ACTIVE')
        self.set_rules(flavors=['1', '2'])
        self.assertEqual(202, self.resize(server, '2').status_code)
        self.wait_for(server, status='VERIFY_RESIZE')

    def test_later_moves(self):
        server = self.boot(self.alice, self.inside, imageRef=self.image)
        for rules in ({'flavors': ['2']},
                      {'flavors': None, 'images': [self.other]}):
            self.set_rules(**rules)
            here = self.host_of(server)
            self.act(server, {'migrate': None})
            self.wait_for(server, status='ACTIVE')
            self.assertEqual(here, self.host_of(server))
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        answer = self.alice.call('POST', f'/servers/{server["id"]}/action',
                                 {'unshelve': None})
        self.assertEqual(409, answer.status_code, answer.text)
        self.set_rules(images=None)
        self.act(server, {'unshelve': None})
        self.wait_for(server, status='ACTIVE')

    def test_plans_know_flavors(self):
        self.set_rules(flavors=['2'], images=[self.image])
        fits = {}
        for flavor in '12':
            said = self.alice.get_json(
                f'/os-pclouds/{self.pcloud}/explain?flavor={flavor}')
            fits[flavor] = said['explain']['fits']
            self.assertEqual(flavor == '2', self.alice.call_json(
                'POST', f'/os-pclouds/{self.pcloud}/simulate',
                {'simulate': {'servers': [
                    {'flavor': flavor, 'count': 1}]}})['simulate']['fits'])
        self.assertEqual(0, fits['1'])
        self.assertGreater(fits['2'], 0)

    def test_rehearsal_knows_both(self):
        self.boot(self.alice, self.inside, imageRef=self.image)
        self._run_periodics()
        for survives, rules in (
                (3, {'flavors': ['1'], 'images': [self.image]}),
                (2, {'flavors': ['2'], 'images': None}),
                (2, {'flavors': None, 'images': [self.other]})):
            self.set_rules(**rules)
            self.assertEqual(survives, self.alice.get_json(
                f'/os-pclouds/{self.pcloud}/rehearsal'
            )['rehearsal']['survives'])

    def test_costs_no_statement(self):
        costs = []
        prepare = servers.prepare

        def counted(call, rbac):
            costs.append(counting.count(lambda: prepare(call, rbac)).sql)

        with mock.patch.object(servers, 'prepare', counted):
            self.start()
            self.set_rules(flavors=['1'])
            self.start()
        self.assertEqual(costs[0], costs[1])
