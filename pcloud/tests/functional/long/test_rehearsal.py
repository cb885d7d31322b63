# SPDX-License-Identifier: Apache-2.0

"""Which hosts and racks may fail, told by and tried on real Nova."""

import functools
from unittest import mock

import ddt
from testtools import matchers

from pcloud.backend.calls import placement
from pcloud import exception
from pcloud.planning.programs import solvers
from pcloud.tests.functional.quick import test_simulate
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import explained


class RehearsalTestCase(test_simulate.SimulateTestCase):

    hosts = test_simulate.HOSTS | {'node-5': 'az1', 'node-6': 'az2'}

    def ask(self, query='', user=None):
        return (user or self.alice).get_json(
            f'{self.path}/rehearsal{query}')['rehearsal']

    def start_on(self, name, flavor, user=None, others=(), **more):
        """Start a server on a host, while other hosts are disabled."""
        for other in others:
            self.set_state(other, 'disabled')
        server = self.boot(
            user or self.alice, {'pcloud': self.pcloud, **more},
            flavorRef=flavor)
        for other in others:
            self.set_state(other, 'enabled')
        return server

    def told(self, found):
        """Return name, servers, verdict and the bounds of each loss."""
        return [(each.get('host', each.get('rack')), each['servers'],
                 each['survives'],
                 (each['no_room']['least'], each['no_room']['most']))
                for each in found['losses']]


@ddt.ddt
class RehearsalTest(RehearsalTestCase):

    def test_a_host_that_survives_and_one_that_does_not(self):
        web = self.add('web')
        self.add('db')
        for name, flavor in (('web', 'm'), ('db', 'xl')):
            other = {'web': 'db', 'db': 'web'}[name]
            self.start_on(name, flavor, others=[other])
        self.add('log')
        self.start_on('log', 's', others=['web', 'db'])
        # The host "log" has too little left for the large server.
        found = self.ask()
        self.assertEqual(
            [('db', 1, False, (1, 1)), ('log', 1, True, (0, 0)),
             ('web', 1, True, (0, 0))], self.told(found))
        self.assertEqual(
            (2, 3, True, {'least': 2, 'most': 2}, {'host': 'db', 'servers': 1},
             []),
            tuple(found[name] for name in (
                'survives', 'of', 'exact', 'bounds', 'worst',
                'refused_servers')))
        self.assertEqual([{
            'text': 'whether hosts of host flavor gpu take the servers, '
                    'and whether fewer are enough, for none is free now',
            'code': 'host_flavor_taken', 'params': {'host_flavor': 'gpu'}}],
            found['not_explained'])
        self.assertEqual([
            {'host_flavor': 'big', 'hosts': 1, 'units': 7, 'free': 1,
             'quota_short_by': 3},
            {'host_flavor': 'gpu', 'hosts': 1, 'units': 2, 'free': 0,
             'quota_short_by': 0}], sorted(
                 found['more'], key=lambda each: each['host_flavor']))
        self.assertEqual('gpu', found['more'][0]['host_flavor'])
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': -1}}})
        # What is said to be enough is enough.
        self.add_host(self.alice, self.pcloud, 'new', 'big')
        found = self.ask()
        self.assertEqual((4, 4, None, []), tuple(found[name] for name in (
            'survives', 'of', 'worst', 'more')))
        self.assertNotIn(web, str(found))

    def test_stopped_servers_count(self):
        self.add('web')
        server = self.start_on('web', 'xl')
        self.add('db')
        self.start_on('db', 's', others=['web'])
        self.act(server, {'os-stop': None})
        self.wait_for(server, status='SHUTOFF')
        self.assertEqual(('web', 1, False, (1, 1)),
                         self.told(self.ask())[1])

    def test_disabled_and_drained_hosts_take_no_servers(self):
        self.add('web')
        self.start_on('web', 'm')
        self.add('db', enable=False)
        self.assertEqual(
            [('db', 0, True, (0, 0)), ('web', 1, False, (1, 1))],
            self.told(self.ask()))
        self.set_state('db', 'enabled')
        self.assertEqual(2, self.ask()['survives'])
        # The servers of a disabled host have to fit too.
        self.set_state('web', 'disabled')
        self.assertEqual(2, self.ask()['survives'])
        self.alice.call_json('PUT', f'{self.path}/hosts/db', {
            'host': {'state': 'draining', 'drain': {'move': 'none'}}})
        self.assertEqual(1, self.ask()['survives'])

    def test_racks(self):
        real = {name: self.add(name) for name in ('web', 'db', 'log')}
        self.start_on('web', 'm', others=['db', 'log'])
        self.start_on('db', 'm', others=['web', 'log'])
        for rack, names in (('secret-1', ['web', 'db']),
                            ('secret-2', ['log'])):
            self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
                'attribute': {'value': rack,
                              'hosts': [real[name] for name in names]}})
        numbers = {host['name']: host['rack'] for host in
                   self.alice.get_json(f'{self.path}/hosts')['hosts']}
        found = self.ask('?lose=rack')
        self.assertEqual(sorted([
            (numbers['web'], 2, False, (1, 1)),
            (numbers['log'], 0, True, (0, 0))]), self.told(found))
        self.assertEqual(
            (1, 2, {'rack': numbers['web'], 'servers': 1}),
            tuple(found[name] for name in ('survives', 'of', 'worst')))
        self.assertIn(['db', 'web'],
                      [sorted(each['hosts']) for each in found['losses']])
        for secret in ('secret', *real.values()):
            self.assertNotIn(secret, str(found))
        self.assertEqual(3, self.ask()['survives'])
        self.assertEqual(self.ask(), self.ask('?lose=host'))

    def test_a_rack_that_is_not_known(self):
        """The host may stand in any rack, or in a rack of its own."""
        real = {name: self.add(name) for name in ('web', 'db')}
        self.start_on('web', 's', others=['db'])
        found = self.ask('?lose=rack')
        self.assertEqual((0, 0, None, []), tuple(found[name] for name in (
            'survives', 'of', 'worst', 'losses')))
        self.assertEqual(2, len(found['not_explained']))
        self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
            'attribute': {'value': 'r', 'hosts': [real['web']]}})
        found = self.ask('?lose=rack')
        self.assertEqual([(1, 1, None, (0, 1))], self.told(found))
        self.assertEqual((0, 1, False, {'least': 0, 'most': 1}, None), tuple(
            found[name] for name in (
                'survives', 'of', 'exact', 'bounds', 'worst')))
        self.assertEqual({'host': 'db'}, found['not_explained'][0]['params'])

    def test_an_empty_pcloud_and_a_single_host(self):
        found = self.ask()
        self.assertEqual(
            (0, 0, True, None, [], [], []), tuple(found[name] for name in (
                'survives', 'of', 'exact', 'worst', 'losses', 'more',
                'not_explained')))
        self.add('web')
        found = self.ask()
        self.assertEqual((1, 1, None), tuple(
            found[name] for name in ('survives', 'of', 'worst')))
        self.start_on('web', 's')
        found = self.ask()
        self.assertEqual((0, 1, {'host': 'web', 'servers': 1}), tuple(
            found[name] for name in ('survives', 'of', 'worst')))
        self.assertEqual([('gpu', 1), ('big', 1)], [
            (each['host_flavor'], each['hosts']) for each in found['more']])

    def test_servers_of_other_tenants(self):
        """A borrowed Pcloud: each server is placed as its own project's."""
        self.alice.call_json('PUT', f'{self.path}/tenants/{base.BOB}')
        self.add('web')
        server = self.start_on('web', 's', user=self.bob)
        self.add('db')
        self.assertEqual(2, self.ask()['survives'])
        self.assertEqual(403, self.bob.call(
            'GET', f'{self.path}/rehearsal').status_code)
        self.alice.call_json('DELETE', f'{self.path}/tenants/{base.BOB}')
        found = self.ask()
        self.assertEqual(('web', 1, False, (1, 1)), self.told(found)[1])
        self.assertEqual(
            [('web', server['id'])],
            [(each['host'], each['server'])
             for each in found['refused_servers']])
        self.assertIn('tenants', found['refused_servers'][0]['reason'])
        # No host to be added would help.
        self.assertEqual([], found['more'])

    def test_an_owner_that_left_its_tenants(self):
        self.alice.call_json('PUT', f'{self.path}/tenants/{base.BOB}')
        self.add('web')
        self.start_on('web', 's', user=self.bob)
        self.add('db')
        self.start_on('db', 's', others=['web'])
        self.alice.call_json('DELETE', f'{self.path}/tenants/{base.ALICE}')
        self.assertEqual(
            [('db', 1, False, (1, 1)), ('web', 1, True, (0, 0))],
            self.told(self.ask()))

    @ddt.data(({'group': 'x'}, 'hints'), ({'locality': 'strict'}, 'hints'))
    @ddt.unpack
    def test_hints_are_not_known(self, more, word):
        if 'group' in more:
            more = {'group': self.alice.call_json(
                'POST', '/os-server-groups', {'server_group': {
                    'name': 'g', 'policy': 'anti-affinity'}},
            )['server_group']['id']}
        self.add('web')
        self.start_on('web', 's', **more)
        self.add('db')
        found = self.ask()
        self.assertEqual(
            [('db', 0, True, (0, 0)), ('web', 1, None, (0, 1))],
            self.told(found))
        self.assertEqual((1, False, {'least': 1, 'most': 2}), tuple(
            found[name] for name in ('survives', 'exact', 'bounds')))
        self.assertIn(word, found['not_explained'][0]['text'])

    def test_sticky_keys_are_not_known(self):
        """Servers that are on a host with such keys take them along."""
        web = self.add('web')
        self.start_on('web', 's')
        self.add('db')
        store = self.make_aggregate('store', **{
            'pcloud:key:store': '1', 'pcloud:sticky:store': '60'})
        self.admin.add_host_to_aggregate(store, web)
        self.assertEqual((2, []), (
            self.ask()['survives'], self.ask()['not_explained']))
        self.flags(enabled_filters=['PcloudFilter', 'AffinityFilter'],
                   group='filter_scheduler')
        found = self.ask()
        self.assertEqual([('db', 0, True, (0, 0)), ('web', 1, None, (0, 1))],
                         self.told(found))
        self.assertEqual(['1 server has placement keys of a host'],
                         explained.words(found['not_explained']))

    def test_what_a_flavor_asks_for_is_not_known(self):
        self.add('web')
        self.make_flavor('odd', extra_specs={'pcloud:co_located': 'allow'})
        self.start_on('web', 'odd')
        self.add('db')
        found = self.ask()
        self.assertEqual([('db', 0, True, (0, 0)), ('web', 1, None, (0, 1))],
                         self.told(found))
        self.assertEqual(
            [('flavor_unplanned', {'flavor': 'odd', 'doubt': 'colocation'})],
            [(each['code'], each['params'])
             for each in found['not_explained']])

    def test_flavors_of_other_tenants_are_not_named(self):
        self.alice.call_json('PUT', f'{self.path}/tenants/{base.BOB}')
        self.make_flavor('odd', extra_specs={'pcloud:co_located': 'allow'})
        self.add('web')
        self.start_on('web', 'odd', user=self.bob)
        self.add('db')
        told = self.ask()['not_explained']
        self.assertThat(told[0]['text'],
                        matchers.StartsWith('a flavor of another'))
        moves = self.alice.get_json(
            f'{self.path}/rebalance?goal=free_hosts&move=any')['rebalance']
        self.assertIn('its flavor has a rule', str(moves['pinned']))
        self.assertNotIn('odd', str((told, moves)))

    def test_the_zone_that_was_asked_for(self):
        """A server that was started for a zone fits there alone."""
        self.add('web', pool='big')
        self.start_on('web', 's')
        asked = self.boot(self.alice, {'pcloud': self.pcloud}, flavorRef='s',
                          zone='az1')
        self.assertEqual('node-4', self.host_of(asked))
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': -1}}})
        for name in ('db', 'log', 'more'):
            self.add(name)
        zones = {host['name']: host['availability_zone'] for host in
                 self.alice.get_json(f'{self.path}/hosts')['hosts']}
        self.assertEqual({'az1', 'az2'}, set(zones.values()))
        for name, zone in zones.items():
            if zone == 'az1' and name != 'web':
                self.set_state(name, 'disabled')
        found = self.ask()
        self.assertEqual(('web', 2, False, (1, 1)), self.told(found)[-1])

    def test_resized_servers_are_as_large_as_they_became(self):
        self.add('web')
        server = self.start_on('web', 's')
        self.add('db')
        self.start_on('db', 'm', others=['web'])
        self.flags(allow_resize_to_same_host=True)
        self.assertEqual(2, self.ask()['survives'])
        self.set_state('db', 'disabled')
        self.act(server, {'resize': {'flavorRef': 'm'}})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status='ACTIVE')
        self.set_state('db', 'enabled')
        self.assertEqual(
            [('db', 1, False, (1, 1)), ('web', 1, False, (1, 1))],
            self.told(self.ask()))

    def test_for_whom(self):
        self.add('web')
        for user, status in ((self.bob, 404), (self.alice, 200),
                             (self.admin, 200)):
            self.assertEqual(status, user.call(
                'GET', f'{self.path}/rehearsal').status_code)
        unknown = self.pcloud[:-4] + '0000'
        texts = {self.bob.call(
            'GET', f'/os-pclouds/{each}/rehearsal').text.replace(each, '')
            for each in (unknown, self.pcloud)}
        self.assertEqual(1, len(texts), texts)

    @ddt.data('lose=zone', 'lose=', 'lose=host&lose=rack', 'lost=host')
    def test_bad_questions(self, query):
        response = self.alice.call('GET', f'{self.path}/rehearsal?{query}')
        self.assertEqual(400, response.status_code, response.text)

    def test_without_placement(self):
        self.add('web')
        self.start_on('web', 's')
        self.add('db')
        with mock.patch.object(placement, 'candidates',
                               side_effect=exception.PlacementSilent):
            self.assertEqual(503, self.alice.call(
                'GET', f'{self.path}/rehearsal').status_code)

    def test_without_a_solver_there_are_bounds(self):
        self.add('web')
        self.make_flavor('seven', vcpus=7, memory_mb=256)
        for flavor in ('seven', 'm', 's'):
            self.start_on('web', flavor)
        self.add('db')
        self.start_on('db', 'wide', others=['web'])
        self.add('log')
        self.start_on('log', 'wide', others=['web', 'db'])
        # Of 6 free cpus each, 7 are wanted at once: that is no question.
        with mock.patch.object(solvers, '_library', return_value=None):
            found = self.ask()
        self.assertEqual(('web', 3, False, (1, 1)), self.told(found)[2])

    def test_nothing_is_written(self):
        self.add('web')
        self.start_on('web', 'xl')
        self.add('db')
        before = self.dump()
        self.ask()
        self.ask('?lose=rack')
        self.assertEqual(before, self.dump())

    def test_costs(self):
        """Placement is asked three times; hosts and servers cost nothing."""
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': -1}}})
        self.add('web')
        self.start_on('web', 'xl')
        self.add('db')
        self.start_on('db', 'xl', others=['web'])
        few = self._costs()
        self.assertEqual(3, few[0].http)
        self.make_pool('other', 'node-5', 'node-6')
        for name, others in (('log', ['web', 'db']),
                             ('new', ['web', 'db', 'log'])):
            self.add(name, pool='other')
            self.start_on(name, 'xl', others=others)
        self.assertEqual(0, self.ask()['survives'])
        self.assertEqual(few, self._costs())

    def _costs(self):
        return [counting.least(functools.partial(self.ask, query))
                for query in ('', '?lose=rack')]


class EvacuationTest(RehearsalTestCase):
    """What is said to fit does, and what is not, does not."""

    own_cloud = True

    def test_servers_that_find_room(self):
        web = self.add('web')
        servers = [self.start_on('web', flavor) for flavor in ('m', 's')]
        self.add('db')
        self.add('log')
        found = self.ask()
        self.assertEqual((3, None), (found['survives'], found['worst']))
        self.set_down(web)
        for server in servers:
            self.act(server, {'evacuate': {}})
            self._wait_for_migration_status(server, ['done'])
            self.assertNotEqual(web, self.host_of(server))

    def test_servers_that_find_no_room(self):
        web = self.add('web')
        server = self.start_on('web', 'xl')
        self.add('db')
        self.start_on('db', 's', others=['web'])
        told = [('db', 1, False, (1, 1)), ('web', 1, False, (1, 1))]
        self.assertEqual(('web', 1, False, (1, 1)), self.told(self.ask())[1])
        self.set_down(web)
        # A host that is down already is a host that was lost.
        self.assertEqual(told, self.told(self.ask()))
        self.act(server, {'evacuate': {}})
        self._wait_for_migration_status(server, ['error'])
        self.assertEqual(web, self.host_of(server))


class SparesTest(RehearsalTestCase):

    def test_one_spare_stands_in_for_each_host_that_fails(self):
        for name in ('web', 'db'):
            self.add(name)
        for name, other in (('web', 'db'), ('db', 'web')):
            self.start_on(name, 'xl', others=[other])
        self.assertEqual(0, self.ask()['survives'])
        self.add('spare')
        self.set_state('spare', 'disabled')
        self.assertEqual(1, self.ask()['survives'])
        self.set_state('spare', 'spare')
        zones = {each['name']: each['availability_zone'] for each in
                 self.alice.get_json(f'{self.path}/hosts')['hosts']}
        saved = {name for name in ('web', 'db')
                 if zones[name] == zones['spare']}
        self.assertEqual({
            'db': 'db' in saved, 'web': 'web' in saved, 'spare': True}, {
                name: survives for name, _, survives, _
                in self.told(self.ask())})
        self.assertTrue(self.ask()['exact'])
        # For "simulate" the spare is a disabled host.
        for include, fits in ((False, False), (True, True)):
            self.assertIs(fits, self.alice.call_json(
                'POST', f'{self.path}/simulate', {'simulate': {
                    'servers': [{'flavor': 'xl', 'count': 1}],
                    'include_disabled': include}})['simulate']['fits'])

    def test_several_hosts_that_fail_together(self):
        hosts = {self.add(name): name for name in ('web', 'db')}
        for name, other in (('web', 'db'), ('db', 'web')):
            self.start_on(name, 'xl', others=[other])
        spare = self.add('spare')
        self.set_state('spare', 'spare')
        for host in hosts:
            self.set_rack(host, 'r1')
        self.set_rack(spare, 'r2')
        losses_ = {tuple(sorted(each['hosts'])): each['no_room']['least']
                   for each in self.ask('?lose=rack')['losses']}
        self.assertEqual(
            {('db', 'web'): 1 if self._has_twin(hosts, spare) else 2,
             ('spare',): 0}, losses_)

    def _has_twin(self, hosts, spare):
        return self.hosts[spare] in {self.hosts[host] for host in hosts}

    def set_rack(self, host, rack):
        self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
            'attribute': {'value': rack, 'hosts': [host]}})
