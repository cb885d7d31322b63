# SPDX-License-Identifier: Apache-2.0

"""Whether servers fit a Pcloud together, told by and tried on real Nova."""

import functools
from unittest import mock

import ddt
from nova import objects
from nova.scheduler.filters import aggregate_instance_extra_specs
from oslo_db import exception as db_exc

from pcloud.backend.calls import placement
from pcloud import exception
from pcloud.planning import host_states
from pcloud.planning.programs import solvers
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import explained
from pcloud.tests.support import shared_cloud
HOSTS = {f'node-{number}': f'az{number % 2 + 1}' for number in range(1, 5)}


class SimulateTestCase(shared_cloud.SharedCloudTestCase):
    """Every host has 10 cpus, 7680 MiB and 1028 GiB of disk to give.

    The ratio of the Pcloud is 1 for cpus; the hosts' own is 4.
    """

    hosts = HOSTS

    def furnish(self):
        super().furnish()
        for name, vcpus, memory_mb in (
                ('s', 1, 2048), ('m', 2, 4096), ('wide', 4, 512),
                ('xl', 1, 7000), ('huge', 1, 99999)):
            self.make_flavor(name, vcpus=vcpus, memory_mb=memory_mb)
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3', units=2)
        self.make_pool('big', 'node-4', units=7)
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}'
        self.set_ratios(cpu_allocation_ratio=1)

    def add(self, name, enable=True, pool='gpu'):
        return self.add_host(self.alice, self.pcloud, name, pool, enable)

    def set_ratios(self, **ratios):
        self.alice.call_json('PUT', self.path, {'pcloud': ratios})

    def set_state(self, name, state):
        self.alice.call_json('PUT', f'{self.path}/hosts/{name}', {
            'host': {'state': state}})

    def ask(self, *servers, **more):
        return self._ask(*servers, **more).json()['simulate']

    def _ask(self, *servers, user=None, **more):
        asked = [dict(zip(('flavor', 'count', 'apart'), each))
                 for each in servers]
        return (user or self.alice).call(
            'POST', f'{self.path}/simulate',
            {'simulate': {'servers': asked, **more}})


@ddt.ddt
class SimulateTest(SimulateTestCase):

    def test_several_flavors_fit_together(self):
        self.add('web')
        self.add('db')
        found = self.ask(('m', 2), ('s', 2), ('wide', 2))
        self.assertEqual(
            (True, True, [], [], {'least': 6, 'most': 6}, []),
            tuple(found[name] for name in (
                'fits', 'exact', 'binding', 'more', 'bounds',
                'not_explained')))
        self.assertEqual(6, sum(each['count'] for each in found['placed']))
        self.assertEqual({'web', 'db'},
                         {each['host'] for each in found['placed']})
        # Each flavor alone fits, and both do not.
        self.assertTrue(self.ask(('xl', 2))['fits'])
        self.assertTrue(self.ask(('m', 2))['fits'])
        both = self.ask(('xl', 2), ('m', 2))
        self.assertEqual((False, True), (both['fits'], both['exact']))
        self.assertEqual(2, both['bounds']['least'])
        self.assertEqual(2 if solvers.is_there() else 3,
                         both['bounds']['most'])
        self.assertEqual(2, sum(each['count'] for each in both['placed']))

    def test_it_says_what_explain_says(self):
        host = self.add('web')
        self.add('db')
        self.add('log', enable=False)
        self.boot(self.alice, {'pcloud': self.pcloud}, flavorRef='m')
        for ratio in (None, 0.5, 2.5):
            self.set_ratios(
                ram_allocation_ratio=ratio, cpu_allocation_ratio=ratio)
            for flavor in ('s', 'm', 'wide', 'xl', 'huge'):
                fits = self.alice.get_json(
                    f'{self.path}/explain?flavor={flavor}')['explain']['fits']
                found = self.ask((flavor, 1000))
                self.assertEqual(
                    {'least': fits, 'most': fits}, found['bounds'], flavor)
                self.assertEqual((False, True),
                                 (found['fits'], found['exact']))
                if fits:
                    self.assertTrue(self.ask((flavor, fits))['fits'])
                    room = self.alice.get_json(
                        f'/os-pcloud-room?pcloud={self.pcloud}'
                        f'&flavor={flavor}&count=1000')['room']['groups']
                    self.assertEqual(room, fits)
        self.set_down(host)
        self.assertEqual(self.alice.get_json(
            f'{self.path}/explain?flavor=s')['explain']['fits'],
            self.ask(('s', 1000))['bounds']['most'])

    def test_what_binds(self):
        self.add('web')
        self.add('db')
        found = self.ask(('s', 7))
        self.assertEqual(
            [{'resource': 'MEMORY_MB', 'short_by': 512}], found['binding'])
        found = self.ask(('wide', 5))
        self.assertEqual(
            [{'resource': 'VCPU', 'short_by': 2}], found['binding'])
        # More of neither alone is enough.
        found = self.ask(('wide', 5), ('xl', 2))
        self.assertEqual([], found['binding'])
        self.assertFalse(found['fits'])
        # A server that is larger than the hosts.
        self.assertEqual(
            [{'resource': 'MEMORY_MB', 'short_by': 99999 - 7680}],
            self.ask(('huge', 1))['binding'])

    def test_servers_that_are_to_be_apart(self):
        self.add('web')
        self.add('db')
        self.assertTrue(self.ask(('s', 3))['fits'])
        self.assertTrue(self.ask(('s', 2, True), ('s', 4))['fits'])
        found = self.ask(('s', 3, True))
        self.assertEqual(
            (False, True, {'least': 2, 'most': 2},
             [{'resource': 'hosts', 'short_by': 1}]),
            tuple(found[name] for name in (
                'fits', 'exact', 'bounds', 'binding')))

    def test_which_hosts_to_add(self):
        self.add('web')
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': 5}}})
        found = self.ask(('xl', 4))
        self.assertEqual([
            {'host_flavor': 'gpu', 'hosts': 3, 'units': 6, 'free': 2,
             'quota_short_by': 3},
            {'host_flavor': 'big', 'hosts': 3, 'units': 21, 'free': 1,
             'quota_short_by': 18}], found['more'])
        self.assertEqual([], self.ask(('huge', 1))['more'])
        # A new host has the ratios of the Pcloud.
        self.set_ratios(cpu_allocation_ratio=2)
        found = self.ask(('wide', 15))
        self.assertEqual([('gpu', 2), ('big', 2)], [
            (each['host_flavor'], each['hosts']) for each in found['more']])
        # The hosts are what they were said to be.
        self.admin.call_json('DELETE', f'/os-pcloud-quotas/{base.ALICE}')
        self.add('db')
        self.add('log')
        self.assertTrue(self.ask(('wide', 15))['fits'])
        self.assertFalse(self.ask(('wide', 16))['fits'])

    def test_what_hosts_to_add_reserve(self):
        """Nothing is said to be enough that the hosts keep to themselves."""
        self.admin.call_json('DELETE', '/os-host-flavors/big/hosts/node-4')
        for host in ('node-1', 'node-2', 'node-3'):
            self.reserve(host, 3)
            self.addCleanup(self.reserve, host, 0)
        found = self.ask(('wide', 3))
        self.assertEqual(([('gpu', 3)], []), (self.hosts_to_add(found),
                                              found['not_explained']))
        for name in 'abc':
            self.add(name)
        # Of hosts that are not free the size alone is known.
        found = self.ask(('wide', 4))
        self.assertEqual(({'least': 3, 'most': 3}, [('gpu', 1)]), (
            found['bounds'], self.hosts_to_add(found)))
        self.assertIn('whether hosts of host flavor gpu take the servers, '
                      'and whether fewer are enough, for none is free now',
                      explained.words(found['not_explained']))

    def hosts_to_add(self, found):
        return [(each['host_flavor'], each['hosts'])
                for each in found['more']]

    def reserve(self, host, vcpus):
        """Keep some cpus of a host from servers."""
        uuid = self._get_provider_uuid_by_host(host)
        found = self.placement.get(
            f'/resource_providers/{uuid}/inventories').body
        found['inventories']['VCPU']['reserved'] = vcpus
        self._update_inventory(uuid, found)

    def test_an_empty_pcloud(self):
        found = self.ask(('s', 4), ('m', 1))
        self.assertEqual(
            (False, True, [], {'least': 0, 'most': 0}),
            tuple(found[name] for name in (
                'fits', 'exact', 'placed', 'bounds')))
        self.assertEqual([('gpu', 2), ('big', 2)], [
            (each['host_flavor'], each['hosts']) for each in found['more']])

    def test_hosts_to_enable_come_before_hosts_to_add(self):
        self.add('web')
        self.add('db', enable=False)
        found = self.ask(('xl', 2))
        self.assertEqual((False, ['db'], []), (
            found['fits'], found['enable'], found['more']))
        self.assertEqual([], self.ask(('xl', 1))['enable'])
        self.assertEqual([], self.ask(('xl', 2), without=['db'])['enable'])
        found = self.ask(('xl', 3))
        self.assertEqual((['db'], [1]), (found['enable'], [
            each['hosts'] for each in found['more']
            if each['host_flavor'] == 'gpu']))
        self.assertEqual([], self.ask(
            ('xl', 3), include_disabled=True)['enable'])

    def test_only_hosts_that_help_are_to_be_enabled(self):
        for name in ('web', 'db', 'log'):
            self.add(name, enable=False)
        self.assertEqual(1, len(self.ask(('xl', 1))['enable']))
        self.alice.call_json('PUT', f'{self.path}/hosts/web', {
            'host': {'state': 'draining', 'drain': {'move': 'none'}}})
        self.assertEqual(
            {'db', 'log'}, set(self.ask(('xl', 3))['enable']))

    def test_which_hosts_count(self):
        self.add('web')
        self.add('db', enable=False)
        self.assertFalse(self.ask(('xl', 2))['fits'])
        found = self.ask(('xl', 2), include_disabled=True)
        self.assertTrue(found['fits'])
        self.assertEqual({'web', 'db'},
                         {each['host'] for each in found['placed']})
        found = self.ask(('xl', 2), include_disabled=True, without=['WEB'])
        self.assertEqual({'db'}, {each['host'] for each in found['placed']})
        self.set_state('db', 'enabled')
        self.assertTrue(self.ask(('xl', 2))['fits'])
        self.alice.call_json('PUT', f'{self.path}/hosts/db', {
            'host': {'state': 'draining', 'drain': {'move': 'none'}}})
        self.assertFalse(self.ask(('xl', 2), include_disabled=True)['fits'])

    def test_filters_are_asked(self):
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'AggregateInstanceExtraSpecsFilter'],
                   group='filter_scheduler')
        host = self.add('web')
        self.add('db')
        self.make_flavor('ssd', memory_mb=2048, extra_specs={
            'aggregate_instance_extra_specs:ssd': 'yes'})
        self.assertEqual(0, self.ask(('ssd', 1))['bounds']['most'])
        aggregate = self.make_aggregate('ssd', ssd='yes')
        self.admin.add_host_to_aggregate(aggregate, host)
        found = self.ask(('ssd', 2), ('s', 4))
        self.assertTrue(found['fits'])
        self.assertEqual({'web'}, {each['host'] for each in found['placed']
                                   if each['flavor'] == 'ssd'})
        self.assertFalse(self.ask(('ssd', 4))['fits'])

    @ddt.data(
        ({'accel:device_profile': 'fpga'}, 'accelerators'),
        ({'pcloud:co_located': 'allow'}, 'co-location'))
    @ddt.unpack
    def test_what_is_not_known_is_no_proof(self, extra_specs, word):
        self.add('web')
        self.make_flavor('odd', extra_specs=extra_specs)
        found = self.ask(('s', 1), ('odd', 1))
        self.assertEqual((False, False, 0), (
            found['fits'], found['exact'], found['bounds']['least']))
        text, = explained.words(found['not_explained'])
        self.assertIn('flavor odd', text)
        self.assertIn(word, text)
        # That there is no capacity is a proof all the same.
        found = self.ask(('s', 1), ('odd', 1), ('xl', 2))
        self.assertEqual((False, True), (found['fits'], found['exact']))

    def test_a_filter_that_counts_is_no_proof(self):
        self.flags(enabled_filters=['PcloudFilter', 'NumInstancesFilter'],
                   group='filter_scheduler')
        self.add('web')
        found = self.ask(('s', 1))
        self.assertEqual((False, False), (found['fits'], found['exact']))
        self.assertIn('NumInstancesFilter', found['not_explained'][0]['text'])

    def test_a_filter_that_fails_is_no_proof(self):
        self.flags(enabled_filters=['PcloudFilter', 'ComputeFilter',
                                    'AggregateInstanceExtraSpecsFilter'],
                   group='filter_scheduler')
        self.add('web')
        self.boot(self.alice, {'pcloud': self.pcloud})
        calls = [lambda: self._ask(('s', 1)), *(
            functools.partial(self.alice.call, 'GET', f'{self.path}/{path}')
            for path in ('rehearsal', 'rebalance?goal=free_hosts'))]
        with mock.patch.object(
                aggregate_instance_extra_specs.
                AggregateInstanceExtraSpecsFilter, 'host_passes',
                side_effect=db_exc.DBConnectionError()):
            for call in calls:
                answer = call()
                self.assertEqual(503, answer.status_code, answer.text)
                self.assertIn('AggregateInstanceExtraSpecs', answer.text)
        for call in calls:
            self.assertEqual(200, call().status_code)

    def test_a_host_that_is_silent_by_now_is_no_proof(self):
        self.add('web')
        with mock.patch.object(host_states, 'load', return_value=[]):
            found = self.ask(('s', 1))
            self.assertEqual(503, self.alice.call(
                'GET', f'{self.path}/rebalance?goal=free_hosts').status_code)
        self.assertEqual(
            (False, False, {'least': 0, 'most': 1}),
            tuple(found[name] for name in ('fits', 'exact', 'bounds')))
        self.assertEqual({'host': 'web'}, found['not_explained'][0]['params'])

    def test_what_one_server_may_have(self):
        """A provider may give a resource in smaller parts than asked for."""
        node = objects.ComputeNode.get_first_node_by_host_for_old_compat(
            self.context, self.add('web'))
        path = f'/resource_providers/{node.uuid}'
        answer = self.placement.post(f'{path}/inventories', {
            'resource_class': 'VGPU',
            'resource_provider_generation': self.placement.get(
                path).body['generation'], 'total': 10, 'max_unit': 1})
        self.assertEqual(201, answer.status, answer.body)
        for number, fits in ((1, True), (2, False)):
            self.make_flavor(f'x{number}', extra_specs={
                'resources:VGPU': str(number)})
            found = self.ask((f'x{number}', 1))
            self.assertEqual((fits, True), (found['fits'], found['exact']))

    def test_bad_questions(self):
        self.add('web')
        for servers, status in (
                ([], 400), ([('s', 0)], 400), ([('s', 1001)], 400),
                ([('s', 600), ('m', 401)], 400), ([('s', 1)] * 21, 400),
                ([('s', 1.5)], 400), ([('s', True)], 400),
                ([('nothing', 1)], 404)):
            self.assertEqual(
                status, self._ask(*servers).status_code, servers)
        # To prove what is best for so many takes longer than a call may.
        with mock.patch.multiple(solvers, DECIDING=.1, TELLING=.1):
            self.assertEqual(
                200, self._ask(('s', 600), ('m', 400)).status_code)
        refused = self._ask(('s', 1), without=['nothing'])
        self.assertEqual(404, refused.status_code)
        self.assertIn("'nothing'", refused.text)
        for more in ({'without': 'web'}, {'include_disabled': 1},
                     {'more': 1}):
            self.assertEqual(400, self._ask(('s', 1), **more).status_code)

    def test_a_flavor_that_the_project_cannot_see(self):
        self.add('web')
        self.make_flavor('secret', is_public=False)
        self.assertEqual(404, self._ask(('secret', 1)).status_code)
        self.assertEqual(200, self._ask(
            ('secret', 1), user=self.admin).status_code)

    def test_flavors_without_a_common_resource(self):
        self.add('web')
        self.make_flavor('metal', extra_specs={
            'resources:VCPU': '0', 'resources:MEMORY_MB': '0',
            'resources:DISK_GB': '0', 'resources:VGPU': '1'})
        found = self.ask(('metal', 1), ('s', 1))
        self.assertEqual((False, True, 1), (
            found['fits'], found['exact'], found['bounds']['most']))

    def test_for_whom(self):
        host = self.add('web')
        for user, status in ((self.bob, 404), (self.alice, 200),
                             (self.admin, 200)):
            answer = self._ask(('xl', 3), user=user)
            self.assertEqual(status, answer.status_code)
            self.assertNotIn(host, answer.text)
        self.alice.call_json(
            'PUT', f'{self.path}/tenants/{base.BOB}')
        self.assertEqual(
            403, self._ask(('s', 1), user=self.bob).status_code)
        self.alice.call_json(
            'DELETE', f'{self.path}/tenants/{base.ALICE}')
        # Each question about the owner's servers has the same answer.
        told = self.alice.get_json(
            f'{self.path}/explain?flavor=s')['explain']
        self.assertEqual((0, []), (told['fits'], told['changes']))
        self.assertIn('not one of its tenants', told['refused'])
        self.assertEqual({
            'fits': False, 'refused': told['refused'], 'exact': True,
            'code': 'owner_not_a_tenant', 'params': {},
            'placed': [], 'binding': [], 'enable': [], 'more': [],
            'bounds': {'least': 0, 'most': 0}, 'not_explained': []},
            self.ask(('s', 1)))
        room = self.alice.get_json(
            f'/os-pcloud-room?pcloud={self.pcloud}&flavor=s')['room']
        self.assertEqual(0, room['groups'])
        self.assertIn('tenant', room['reason'])

    def test_without_placement(self):
        self.add('web')
        with mock.patch.object(placement, 'candidates',
                               side_effect=exception.PlacementSilent):
            self.assertEqual(503, self._ask(('s', 1)).status_code)

    def test_without_a_solver_there_are_bounds(self):
        """Neither simple placements nor a volume decide this."""
        self.add('web')
        self.add('db')
        self.make_flavor('seven', vcpus=7, memory_mb=256)
        servers = ('seven', 2), ('wide', 1), ('m', 1)
        exact = solvers.is_there()
        with mock.patch.object(solvers, '_library', return_value=None):
            found = self.ask(*servers)
        self.assertEqual((False, False, {'least': 3, 'most': 4}), tuple(
            found[name] for name in ('fits', 'exact', 'bounds')))
        self.assertEqual((False, exact), tuple(
            self.ask(*servers)[name] for name in ('fits', 'exact')))

    def test_nothing_is_written(self):
        self.add('web')
        before = self.dump()
        self.ask(('xl', 4), include_disabled=True)
        self.assertEqual(before, self.dump())

    def test_costs(self):
        """Placement is asked three times; hosts and servers cost nothing."""
        self.add('web')
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': -1}}})
        few = self._costs()
        self.assertEqual(3, few[1].http)
        self.assertEqual(2, few[0].http)
        self.add('db')
        self.add_host(self.alice, self.pcloud, 'log', 'big')
        for _ in range(3):
            self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual(few, self._costs())

    def _costs(self):
        """Return what it costs when all fit, and when they do not."""
        return [counting.least(functools.partial(self.ask, *servers))
                for servers in ([('s', 1), ('wide', 1)],
                                [('s', 500), ('huge', 9)])]
