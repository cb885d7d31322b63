# SPDX-License-Identifier: Apache-2.0

"""What owners are told about capacity in their Pclouds, by real Nova."""

import datetime
import functools

from nova import objects
from oslo_utils.fixture import uuidsentinel as uuids

from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import explained
from pcloud.tests.support import shared_cloud

HOSTS = {'node-1': 'az1', 'node-2': 'az2', 'node-3': 'az1'}


class ExplainTest(shared_cloud.SharedCloudTestCase):
    """Every host has 10 cpus, 7680 MiB and 1028 GiB of disk to give."""

    hosts = HOSTS

    def _configure(self):
        super()._configure()
        self.flags(
            enabled_filters=['ComputeFilter', 'ComputeCapabilitiesFilter',
                             'PcloudFilter', 'RebootFilter',
                             'ConstraintsFilter', 'AffinityFilter',
                             'ColocationFilter', 'LocalityFilter'],
            group='filter_scheduler')

    def furnish(self):
        super().furnish()
        for name, memory_mb in (
                ('s', 2048), ('m', 4096), ('xl', 7000), ('huge', 99999)):
            self.make_flavor(name, memory_mb=memory_mb)
        self.make_pool('gpu', 'node-1', 'node-2', units=2)
        self.pcloud = self.make_pcloud(self.alice)

    def add(self, name, enable=True):
        return self.add_host(self.alice, self.pcloud, name, 'gpu', enable)

    def explain(self, flavor, user=None):
        path = f'/os-pclouds/{self.pcloud}/explain?flavor={flavor}'
        return (user or self.alice).get_json(path)['explain']

    def in_the_way(self, found, host):
        found, = [each for each in found['hosts'] if each['name'] == host]
        return [(each['rule'], each['reason'])
                for each in found['in_the_way']]

    def changes(self, found):
        return [(each['change'], each['subject'])
                for each in found['changes']]

    def test_there_is_room(self):
        self.add('web')
        self.add('db')
        found = self.explain('s')
        self.assertEqual(6, found['fits'])
        self.assertEqual([3, 3], [each['fits'] for each in found['hosts']])
        self.assertEqual([], found['changes'])
        self.assertIsNone(found['refused'])
        for _ in range(2):
            self.boot(self.alice, {'pcloud': self.pcloud}, flavorRef='s')
        found = self.explain('s')
        self.assertEqual(4, found['fits'])
        # What is promised is there, and no more.
        for _ in range(4):
            self.boot(self.alice, {'pcloud': self.pcloud}, flavorRef='s')
        self.assertEqual(0, self.explain('s')['fits'])
        self.boot(self.alice, {'pcloud': self.pcloud}, 'ERROR',
                  flavorRef='s')

    def test_it_costs_the_same_for_few_and_many_hosts(self):
        self.make_pool('big', 'node-3')
        self.add('web')
        few = self._costs()
        self.add('db')
        for _ in range(3):
            self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual(few, self._costs())
        # No cell is asked about free hosts where no host is free.
        self.add_host(self.alice, self.pcloud, 'log', 'big')
        for cost, count in zip(few, self._costs(), strict=True):
            self.assertEqual(cost.http, count.http)
            self.assertLessEqual(count.sql, cost.sql)

    def _costs(self):
        """Return what it costs with capacity, and without."""
        explain = f'/os-pclouds/{self.pcloud}/explain?flavor='
        room = f'/os-pcloud-room?pcloud={self.pcloud}&count=99&flavor='
        return [counting.least(functools.partial(
            self.alice.get_json, path + flavor))
            for path in (explain, room) for flavor in ('s', 'huge')]

    def test_all_rules_are_told(self):
        host = self.add('web', enable=False)
        self.set_down(host)
        soon = datetime.date.today() + datetime.timedelta(days=9)
        self.admin.call_json('PUT', '/os-pcloud-attributes/next_reboot', {
            'attribute': {'value': soon.isoformat(), 'hosts': [host]}})
        self.flags(reboot_filter_days=30, group='pcloud')
        self.alice.call_json('PUT', f'/os-pcloud-policies/pcloud/'
                             f'{self.pcloud}', {'policy': {
                                 'constraints': 'cpu=99'}})
        self.make_flavor('wide', memory_mb=512, vcpus=11)
        found = self.explain('wide')
        told = dict(self.in_the_way(found, 'web'))
        self.assertEqual({'state', 'status', 'room', 'RebootFilter',
                          'ConstraintsFilter'}, told.keys())
        self.assertIn('disabled', told['state'])
        self.assertEqual('it is down', told['status'])
        self.assertIn('too small for one server', told['room'])
        self.assertIn('within 30 days', told['RebootFilter'])
        self.assertIn('cpu=99', told['ConstraintsFilter'])
        self.assertEqual(0, found['fits'])

    def test_a_domain_that_keystone_does_not_tell_has_no_policy(self):
        self.add('web')
        self.admin.call_json('PUT', '/os-pcloud-policies/domain/default', {
            'policy': {'constraints': 'cpu=99'}})
        # A project without a domain is in the default domain.
        for user, expected in ((self.alice, ['ConstraintsFilter']),
                               (self.admin, [])):
            found = self.explain('s', user)
            self.assertEqual(expected, [
                rule for rule, _ in self.in_the_way(found, 'web')])

    def test_smallest_change_is_to_enable(self):
        self.add('web', enable=False)
        self.assertEqual(('enable', 'web'),
                         self.changes(self.explain('s'))[0])

    def test_smallest_change_is_to_wait(self):
        for name in ('db', 'web'):
            self.set_down(self.add(name))
        found = self.explain('s')
        self.assertEqual([('wait', 'db'), ('wait', 'web')],
                         self.changes(found))
        self.assertEqual('wait for db, until it comes up',
                         found['changes'][0]['text'])
        self.disable_service(self.admin.get_json(
            f'/os-pclouds/{self.pcloud}/hosts/db')['host'][
                'hypervisor_hostname'].removesuffix('.hv.example.org'))
        self.assertIn('maintenance ends',
                      self.explain('s')['changes'][0]['text'])

    def test_smallest_change_is_to_add_a_host(self):
        self.assertEqual([('add_host', 'gpu')],
                         self.changes(self.explain('s')))
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': 3}}})
        self.add('web')
        self.boot(self.alice, {'pcloud': self.pcloud}, flavorRef='m')
        found = self.explain('m')
        self.assertEqual([('add_host', 'gpu'), ('flavor', 's')],
                         self.changes(found))
        self.assertIn('quota would have to be 1 unit larger',
                      found['changes'][0]['text'])
        self.assertEqual(
            [('room', '3584 MiB of memory are left, 4096 are needed')],
            self.in_the_way(found, 'web'))
        # A host whose ratio is small is no better.
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': {'ram_allocation_ratio': 0.5}})
        self.assertEqual([], self.changes(self.explain('xl')))

    def test_a_new_host_that_filters_would_drop_is_no_help(self):
        self.alice.call_json('PUT', f'/os-pcloud-policies/pcloud/'
                             f'{self.pcloud}', {'policy': {
                                 'constraints': 'cpu=99'}})
        self.assertEqual([], self.changes(self.explain('s')))

    def test_hosts_that_cannot_be_had_do_not_count(self):
        self.make_pool('big', 'node-3')
        self.add('web')
        other = self.add_host(self.alice, self.pcloud, 'db', 'big',
                              enable=False)
        self.alice.call_json('PUT', f'/os-pcloud-policies/pcloud/'
                             f'{self.pcloud}', {'policy': {
                                 'constraints': 'ram=max'}})
        node = objects.ComputeNode.get_by_host_and_nodename(
            self.context, other, f'{other}.hv.example.org')
        node.memory_mb *= 2
        node.save()
        found = self.explain('s')
        self.assertEqual([], self.in_the_way(found, 'web'))
        self.assertEqual(3, found['fits'])
        server = self.boot(self.alice, {'pcloud': self.pcloud},
                           flavorRef='s')
        self.assertNotEqual(other, self.host_of(server))

    def test_a_host_with_a_second_node(self):
        host = self.add('web')
        node = objects.ComputeNode.get_by_host_and_nodename(
            self.context, host, f'{host}.hv.example.org')
        twin = objects.ComputeNode(self.context, **{
            name: getattr(node, name) for name in (
                'service_id', 'host', 'vcpus', 'memory_mb', 'local_gb',
                'vcpus_used', 'memory_mb_used', 'local_gb_used',
                'hypervisor_type', 'hypervisor_version', 'cpu_info',
                'cpu_allocation_ratio', 'ram_allocation_ratio',
                'disk_allocation_ratio')})
        twin.hypervisor_hostname, twin.uuid = 'a.new.name', uuids.twin
        twin.create()
        found, = self.explain('s')['hosts']
        self.assertEqual(
            ('web', 3, []),
            (found['name'], found['fits'], found['in_the_way']))
        path = f'/os-pclouds/{self.pcloud}/hosts/web'
        self.assertEqual('web', self.alice.get_json(path)['host']['name'])
        self.alice.call_json('PUT', path, {'host': {'state': 'disabled'}})
        refused = self.alice.call('DELETE', path)
        self.assertEqual(409, refused.status_code)
        self.assertNotIn(host, refused.text)

    def test_hosts_without_numa_cells(self):
        """Without the filter Nova starts such servers there."""
        self.add('web')
        self.make_flavor('plain', memory_mb=512)
        self.make_flavor('numa', memory_mb=512, extra_specs={
            'hw:numa_nodes': '1'})
        self.assertEqual(self.explain('plain')['fits'],
                         self.explain('numa')['fits'])
        self.flags(enabled_filters=['PcloudFilter', 'NUMATopologyFilter'],
                   group='filter_scheduler')
        self.assertEqual(0, self.explain('numa')['fits'])

    def test_a_flavor_that_nova_refuses(self):
        self.make_flavor('odd', memory_mb=512, extra_specs={
            'pci_passthrough:alias': 'nothing:1'})
        self.make_flavor('secret', memory_mb=512, extra_specs={
            'hw:mem_encryption': 'true'})
        for flavor in ('odd', 'secret'):
            for path in (f'/os-pclouds/{self.pcloud}/explain',
                         '/os-pcloud-room'):
                self.assertEqual(400, self.admin.call(
                    'GET', f'{path}?flavor={flavor}').status_code, path)

    def test_for_whom(self):
        self.add('web')
        path = f'/os-pclouds/{self.pcloud}/explain'
        for user, query, status in (
                (self.bob, 'flavor=s', 404), (self.alice, '', 400),
                (self.alice, 'flavor=s&flavor=m', 400),
                (self.alice, 'flavor=nothing', 404),
                (self.admin, 'flavor=s', 200)):
            self.assertEqual(status, user.call(
                'GET', f'{path}?{query}').status_code, query)
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.assertEqual(403, self.bob.call(
            'GET', f'{path}?flavor=s').status_code)
        self.assertNotIn('node-', self.alice.call(
            'GET', f'{path}?flavor=xl').text)

    def test_owner_that_is_no_tenant(self):
        self.add('web')
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/tenants/{base.ALICE}')
        found = self.explain('s')
        self.assertEqual((0, []), (found['fits'], found['changes']))
        self.assertIn('not one of its tenants', found['refused'])

    def test_foreign_filters_are_named(self):
        self.add('web')
        self.make_flavor('capable', memory_mb=512, extra_specs={
            'capabilities:hypervisor_type': 'none such'})
        found = self.explain('capable')
        self.assertEqual(['ComputeCapabilitiesFilter gives no reason'],
                         explained.words(found['not_explained']))
        self.assertEqual([('ComputeCapabilitiesFilter',
                           'its reason is not known')],
                         self.in_the_way(found, 'web'))
