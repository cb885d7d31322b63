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

"""Servers that name no Pcloud, and a default Pcloud that grows for them."""

import re
from unittest import mock

from nova.conductor import rpcapi
from nova import objects
from oslo_utils import uuidutils

from pcloud.api import enforcer
from pcloud.api.nova_calls import images
from pcloud.api.nova_calls import servers
from pcloud.api.policies import hosts
from pcloud.audit import all_checks
from pcloud.backend import inventories
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.growth import joining
from pcloud.growth import launches
from pcloud.growth import tickets
from pcloud import names
from pcloud.objects import allocation
from pcloud.tests import counting
from pcloud.tests.functional import base
from pcloud.tests.functional import shared_cloud

POLICIES = '/os-pcloud-policies'


class GrowTestCase(shared_cloud.SharedCloudTestCase):
    """An empty Pcloud of alice's, and four free hosts.

    A host has room for three servers of flavor 'big', and costs two units.
    """

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1',
             'node-4': 'az2', 'node-5': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_flavor('big', memory_mb=2048)
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3', 'node-4', units=2)
        self.pcloud = self.make_pcloud(self.alice)

    def grow(self, most=3, zone=None, scope='project', scope_id=base.ALICE,
             user=None, flavor='gpu', pcloud=None):
        value = {'pcloud': pcloud or self.pcloud, 'mode': 'grow',
                 'host_flavor': flavor, 'max_hosts': most}
        if zone is not None:
            value['availability_zone'] = zone
        return (user or self.admin).call(
            'PUT', f'{POLICIES}/{scope}/{scope_id}',
            {'policy': {'default_pcloud': value}})

    def launch(self, user=None, hints=None, **server):
        server = {'flavorRef': 'big', **server}
        body = {'server': self._build_server(
            flavor_id=server.pop('flavorRef'), networks='none') | server}
        if hints:
            body['os:scheduler_hints'] = hints
        return (user or self.alice).call('POST', '/servers', body)

    def started(self, **given):
        """Return the host of a server that a launch has started."""
        response = self.launch(**given)
        self.assertEqual(202, response.status_code, response.text)
        return self.host_of(self.wait_until_active(response.json()['server']))

    def wait_until_active(self, server):
        def active():
            found = self.admin.get_server(server['id'])
            self.assertEqual('ACTIVE', found['status'], self.fault(found)
                             if found['status'] == 'ERROR' else '')
            return found
        return self.wait_until(active)

    def wait_for_all(self, number):
        def active():
            servers = self.alice.get_json('/servers/detail')['servers']
            self.assertEqual(['ACTIVE'] * number,
                             [server['status'] for server in servers])
        self.wait_until(active)

    def members(self):
        """Return the Pcloud's hosts: ``name -> state``."""
        return {host['name']: host['state'] for host in self.alice.get_json(
            f'/os-pclouds/{self.pcloud}/hosts')['hosts']}

    def growth_rows(self):
        return {key: value for key, value in self.aggregate(
            names.pcloud(self.pcloud)).metadata.items()
            if key.startswith(names.GROWTH_PREFIX)}

    def queued(self, context, pcloud_id):
        flavor = objects.Flavor.get_by_flavor_id(self.context, 'big')
        return {server: request_specs.Asked(base.ALICE, flavor, False, {})
                for server in 'xy'}

    def lapse(self):
        """Let what dead launches have written lapse."""
        aggregate = self.aggregate(names.pcloud(self.pcloud))
        aggregate.update_metadata({
            key: re.sub(r'[0-9]{10}', '1000000000', value)
            for key, value in self.growth_rows().items()})

    def assert_nothing_is_left(self):
        self.assertEqual({}, self.growth_rows())
        self.assertEqual([], all_checks.find(self.context, settle=0))


class PolicyTest(GrowTestCase):
    """Who may let a Pcloud grow, and how the default is written."""

    def test_bodies(self):
        right = {'pcloud': self.pcloud, 'mode': 'grow', 'host_flavor': 'gpu',
                 'max_hosts': 3}
        for wrong in (
                {**right, 'max_hosts': 0}, {**right, 'max_hosts': '3'},
                {**right, 'max_hosts': 10001}, {**right, 'host_flavor': '/'},
                {**right, 'availability_zone': ''},
                {**right, 'mode': 'strict'}, {**right, 'mode': 'prefer'},
                {**right, 'max_hosts': 2.5}, {**right, 'more': 1},
                {name: right[name] for name in (
                    'pcloud', 'mode', 'host_flavor')},
                {name: right[name] for name in (
                    'pcloud', 'mode', 'max_hosts')}):
            response = self.alice.call(
                'PUT', f'{POLICIES}/project/{base.ALICE}',
                {'policy': {'default_pcloud': wrong}})
            self.assertEqual(400, response.status_code, wrong)
        for value in (right, {**right, 'availability_zone': 'az1'},
                      # To JSON's schemas this is a whole number.
                      {**right, 'max_hosts': 2.0}):
            shown = self.alice.call_json(
                'PUT', f'{POLICIES}/project/{base.ALICE}',
                {'policy': {'default_pcloud': value}})['policy']
            self.assertEqual(value, shown['default_pcloud'])
            self.assertEqual(value, self.alice.get_json(
                f'{POLICIES}/project/{base.ALICE}')['policy'][
                    'default_pcloud'])

    def test_a_zone_that_is_not_there(self):
        for zone, status in (('az1', 200), ('nova', 200), ('AZ1', 404),
                             ('az9', 404)):
            response = self.alice.call(
                'PUT', f'{POLICIES}/project/{base.ALICE}',
                {'policy': {'default_pcloud': {
                    'pcloud': self.pcloud, 'mode': 'grow', 'max_hosts': 3,
                    'host_flavor': 'gpu', 'availability_zone': zone}}})
            self.assertEqual(status, response.status_code, response.text)

    def test_only_the_owner_lets_it_grow(self):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.assertEqual(403, self.grow(
            user=self.bob, scope_id=base.BOB).status_code)
        self.assertEqual(200, self.grow(user=self.alice).status_code)
        self.assertEqual(404, self.grow(
            user=self.alice, flavor='none').status_code)
        self.assertEqual(200, self.grow(scope_id=base.BOB).status_code)

    def test_who_may_add_no_host_lets_nothing_grow(self):
        allow = enforcer.Enforcer.allow
        with mock.patch.object(
                enforcer.Enforcer, 'allow',
                lambda self, context, rule, project: rule != hosts.ADD and
                allow(self, context, rule, project)):
            self.assertEqual(403, self.grow(user=self.alice).status_code)


class LaunchTest(GrowTestCase):
    """What a launch adds, and what it does not."""

    def test_as_many_as_needed_and_no_more(self):
        self.grow()
        first = [self.started() for _ in range(3)]
        self.assertEqual(1, len(set(first)))
        self.assertEqual(['enabled'], list(self.members().values()))
        self.assertNotIn(self.started(), first)
        self.assertEqual(2, len(self.members()))
        self.assertTrue(all(name.startswith('grown-')
                            for name in self.members()))
        self.assert_nothing_is_left()

    def test_several_at_once(self):
        self.grow()
        response = self.launch(min_count=7, max_count=7,
                               flavorRef='big')
        self.assertEqual(202, response.status_code, response.text)
        self.assertEqual(3, len(self.members()))
        self.wait_for_all(7)
        self.assert_nothing_is_left()

    def test_most_hosts(self):
        self.grow(most=1)
        response = self.launch(min_count=4)
        self.assertEqual(409, response.status_code)
        self.assertIn('has 0 hosts, needs at least 2 more, and may have 1',
                      response.text)
        self.assertEqual({}, self.members())
        self.assert_nothing_is_left()
        self.started(min_count=3)
        response = self.launch()
        self.assertEqual(409, response.status_code)
        self.assertIn('has 1 hosts', response.text)
        self.assertEqual(1, len(self.members()))

    def test_quota(self):
        self.grow()
        self.set_quota(3)
        response = self.launch(min_count=4)
        self.assertEqual(403, response.status_code)
        self.assertIn('requested 4, but already used 0 of 3', response.text)
        self.assertEqual({}, self.members())
        self.started()
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def set_quota(self, limit):
        self.admin.call_json(
            'PUT', f'/os-pcloud-quotas/{base.ALICE}',
            {'quota': {'units': {'limit': limit}}})

    def test_no_free_host(self):
        self.grow(most=9)
        response = self.launch(min_count=13)
        self.assertEqual(409, response.status_code)
        self.assertIn("too few free hosts of host flavor 'gpu'",
                      response.text)
        self.assertEqual({}, self.members())
        self.assert_nothing_is_left()

    def test_a_host_that_settles(self):
        for name in 'abcd':
            self.add_host(self.alice, self.pcloud, name, 'gpu')
        self.grow(most=9)
        with mock.patch('pcloud.backend.arrivals.awaited',
                        lambda context, dues: frozenset(dues)):
            for name in 'abcd':
                path = f'/os-pclouds/{self.pcloud}/hosts/{name}'
                self.alice.call_json(
                    'PUT', path, {'host': {'state': 'disabled'}})
                self.alice.call_json('DELETE', path)
            response = self.launch()
        self.assertEqual(409, response.status_code)
        self.assertIn('4 more are settling', response.text)

    def test_zones(self):
        self.grow(zone='az2')
        self.assertEqual('node-4', self.started())
        # The request's zone counts.
        self.assertIn(self.started(availability_zone='az1'), (
            'node-1', 'node-2', 'node-3'))
        response = self.launch(availability_zone='az2', min_count=3)
        self.assertEqual(409, response.status_code)
        self.assertIn('in availability zone', response.text)

    def test_a_disabled_host_is_no_room(self):
        self.grow()
        self.started()
        name, = self.members()
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/{name}',
            {'host': {'state': 'disabled'}})
        self.started()
        self.assertEqual(2, len(self.members()))

    def test_what_is_too_large_for_any_host(self):
        self.make_flavor('huge', memory_mb=1 << 20)
        self.grow()
        response = self.launch(flavorRef='huge')
        self.assertEqual(409, response.status_code)
        self.assertIn('too few free hosts', response.text)
        self.assertEqual({}, self.members())

    def test_the_ratios_of_the_pcloud_count(self):
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': {'ram_allocation_ratio': 2}})
        self.grow()
        self.assertEqual(202, self.launch(min_count=7).status_code)
        self.assertEqual(1, len(self.members()))

    def test_server_groups(self):
        self.grow(most=4)
        for policy, number in (('anti-affinity', 3), ('affinity', 4)):
            group = self.alice.call_json('POST', '/os-server-groups', {
                'server_group': {'name': policy, 'policy': policy}}
            )['server_group']['id']
            response = self.launch(hints={'group': group}, min_count=3)
            self.assertEqual(202, response.status_code, response.text)
            self.assertEqual(number, len(self.members()))
            self.wait_until(lambda: self.assertEqual(
                {'ACTIVE'}, {server['status'] for server in
                             self.alice.get_json('/servers/detail')[
                                 'servers']}))
        # Four servers together fit on no host.
        group = self.alice.call_json('POST', '/os-server-groups', {
            'server_group': {'name': 'x', 'policy': 'affinity'}}
        )['server_group']['id']
        self.grow(most=9)
        response = self.launch(hints={'group': group}, min_count=4)
        self.assertEqual(409, response.status_code)
        self.assertEqual(4, len(self.members()))

    def test_a_project_that_is_not_the_owner(self):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.grow(most=1, scope='cloud', scope_id='default')
        response = self.launch(self.bob, min_count=4)
        self.assertEqual(409, response.status_code)
        self.assertIn('it cannot grow now', response.text)
        self.started(user=self.bob)
        self.set_quota(1)
        # Nothing of the owner's quota or hosts is told.
        full = self.launch(self.bob, min_count=4)
        self.assertEqual(response.text, full.text)

    def test_a_pcloud_that_is_gone_or_closed(self):
        self.grow()
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/tenants/{base.ALICE}')
        closed = self.launch()
        self.alice.call_json('DELETE', f'/os-pclouds/{self.pcloud}')
        gone = self.launch()
        self.assertEqual((409, 409), (closed.status_code, gone.status_code))
        self.assertEqual(closed.text, gone.text)
        self.assertIn(self.pcloud, gone.text)

    def test_a_pcloud_that_is_deleted_meanwhile(self):
        self.grow()
        take_turn = tickets.take_turn

        def late(context, ticket):
            self.alice.call_json('DELETE', f'/os-pclouds/{self.pcloud}')
            take_turn(context, ticket)

        with mock.patch.object(tickets, 'take_turn', late):
            response = self.launch()
        self.assertEqual(409, response.status_code, response.text)

    def test_later_moves_follow_the_hint(self):
        self.grow()
        response = self.launch()
        server = response.json()['server']
        self.wait_until_active(server)
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id'])
        self.assertEqual([self.pcloud], spec.scheduler_hints['pcloud'])
        self.assertNotIn('pcloud_prefer', spec.scheduler_hints)

    def test_a_root_disk_on_a_volume_needs_no_disk_of_the_host(self):
        self.make_flavor('wide', root_gb=1 << 20)
        self.grow()
        self.assertEqual(409, self.launch(flavorRef='wide').status_code)
        with mock.patch.object(images, 'is_on_volume', lambda server: True):
            self.launch(flavorRef='wide')
        self.assertEqual(1, len(self.members()))

    def test_what_is_on_a_volume(self):
        image, volume = {'boot_index': 0, 'source_type': 'image'}, {
            'boot_index': 0, 'source_type': 'volume', 'uuid': 'x'}
        for server, expected in (
                ({'imageRef': 'x'}, False), ({'imageRef': ''}, True),
                ({}, True),
                ({'block_device_mapping_v2': [volume]}, True),
                ({'imageRef': 'x', 'block_device_mapping_v2': [
                    {**image, 'destination_type': 'local'},
                    {**volume, 'boot_index': 1}]}, False),
                ({'block_device_mapping_v2': [
                    {**image, 'destination_type': 'volume'}]}, True)):
            self.assertEqual(expected, images.is_on_volume(server), server)

    def test_a_hint_or_a_host_lets_nothing_grow(self):
        self.grow()
        self.assertEqual('node-5', self.started(hints={'pcloud': 'none'}))
        self.launch(hints={'pcloud': self.pcloud})
        boss = self.client_of('boss', base.ALICE, (
            'reader', 'member', 'admin'))
        self.assertEqual('node-5', self.started(
            user=boss, availability_zone='az1:node-5'))
        self.assertEqual({}, self.members())

    def test_what_nova_refuses_lets_nothing_grow(self):
        self.grow()
        for server in ({'flavorRef': 'none'}, {'min_count': 'x'},
                       {'min_count': 3, 'max_count': 2}):
            self.assertEqual(400, self.launch(**server).status_code)
            self.assertEqual({}, self.members())
        self.assertEqual(400, self.launch(
            hints={'group': self.pcloud}).status_code)
        self.assert_nothing_is_left()


class UndoTest(GrowTestCase):
    """What is left after launches that end early."""

    def refuse(self, **server):
        """Launch with a key that does not exist, which Nova sees late."""
        response = self.launch(key_name='none', **server)
        self.assertEqual(400, response.status_code, response.text)

    def test_nova_refuses(self):
        self.grow()
        self.refuse(min_count=4)
        self.assertEqual({}, self.members())
        self.assert_nothing_is_left()
        for host in self.admin.get_json('/os-host-flavors/gpu')[
                'host_flavor']['hosts']:
            self.assertIsNone(host['pcloud'])

    def test_hosts_that_others_need_stay(self):
        self.grow()
        self.started()
        self.refuse(min_count=3)
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def test_a_server_on_a_host_that_nova_refuses_keeps_it(self):
        self.grow()
        refused = launches.refused

        def late(context, prepared):
            # Somebody else has come between.
            self.started(hints={'pcloud': self.pcloud})
            refused(context, prepared)

        with mock.patch.object(launches, 'refused', late):
            self.refuse(min_count=4)
        self.assertEqual(['enabled'], list(self.members().values()))
        self.assert_nothing_is_left()

    def test_a_host_that_servers_under_way_need_stays(self):
        self.grow()
        refused = launches.refused

        def late(context, prepared):
            with mock.patch.object(
                    request_specs, 'queued', self.queued), \
                    mock.patch.object(inventories, 'has_allocation',
                                      lambda *_: False):
                refused(context, prepared)

        with mock.patch.object(launches, 'refused', late):
            self.refuse(min_count=4)
        self.assertEqual(['enabled'], list(self.members().values()))
        self.assert_nothing_is_left()

    def test_hosts_that_another_launch_counts_on_stay(self):
        self.grow()
        self.flags(growth_timeout=1, group='pcloud')
        refused = launches.refused

        def late(context, prepared):
            ticket = tickets.draw(prepared.ticket.pcloud)
            tickets.take_turn(context, ticket)
            # As long as Nova has not answered the other launch.
            with mock.patch.object(tickets, 'has_lapsed', lambda row: False):
                tickets.reserve(context, ticket, prepared.launch.demand)
                refused(context, prepared)

        with mock.patch.object(launches, 'refused', late):
            self.refuse(min_count=4)
        self.assertEqual(['enabled'] * 2, list(self.members().values()))
        self.lapse()
        for finding in all_checks.find(self.context, settle=0):
            self.assertEqual('launch-not-finished', finding.kind)
            finding.repair(self.context)
        self.assertEqual({}, self.members())
        self.assert_nothing_is_left()

    def test_a_launch_that_dies_before_nova_is_asked(self):
        self.grow()
        with mock.patch.object(launches, 'refused', lambda *_: None):
            self.refuse(min_count=4)
        self.assertEqual(2, len(self.members()))
        # As long as it may live it is no finding.
        self.assertEqual([], all_checks.find(self.context, settle=0))
        self.lapse()
        finding, = all_checks.find(self.context, settle=0)
        self.assertEqual('launch-not-finished', finding.kind)
        with mock.patch.object(
                request_specs, 'queued', lambda *_: {'x': None}):
            self.assertRaises(exception.LaunchesUnderWay, finding.repair,
                              self.context)
        self.started(hints={'pcloud': self.pcloud})
        self.assertEqual('1 host has left the Pcloud',
                         finding.repair(self.context))
        self.assertEqual(['enabled'], list(self.members().values()))
        self.assert_nothing_is_left()

    def test_the_turn_of_a_dead_launch(self):
        self.grow()
        with mock.patch.object(joining, 'choose', side_effect=_Died), \
                mock.patch.object(launches, '_end_turn'):
            self.assertEqual(500, self.launch().status_code)
        self.assertEqual({names.GROWTH_TURN}, self.growth_rows().keys())
        self.flags(growth_timeout=1, group='pcloud')
        response = self.launch()
        self.assertEqual(409, response.status_code)
        self.assertIn('repeat the request', response.text)
        self.lapse()
        self.assertEqual('launch-not-finished', all_checks.find(
            self.context, settle=0)[0].kind)
        self.started()
        self.assert_nothing_is_left()

    def test_a_turn_that_would_last_for_years(self):
        """The clock of the process that has died was wrong."""
        self.grow()
        self.aggregate(names.pcloud(self.pcloud)).update_metadata({
            names.GROWTH_TURN: '0123abcd 4102444800',
            names.growth_key('4567cdef'): '4102444800 1 - VCPU:1'})
        self.assertEqual(['launch-not-finished'] * 2, [
            each.kind for each in all_checks.find(self.context, settle=0)])
        self.started()
        for finding in all_checks.find(self.context, settle=0):
            finding.repair(self.context)
        self.assert_nothing_is_left()

    def test_placement_is_away(self):
        self.grow()
        for function in ('candidates', 'read', 'traits', 'consumers'):
            with mock.patch.object(inventories, function,
                                   side_effect=exception.PlacementSilent()):
                self.assertEqual(503, self.launch().status_code, function)
            self.assertEqual({}, self.members())
            self.assert_nothing_is_left()

    def test_placement_is_away_after_the_change(self):
        """The servers wait for what is due, or get the host's reason."""
        self.grow()
        with mock.patch.object(inventories, 'aggregates',
                               side_effect=exception.PlacementSilent()):
            server = self.launch().json()['server']
            self.wait_until(lambda: self.assertEqual(
                'ERROR', self.admin.get_server(server['id'])['status']))
        self.assertEqual({}, self.growth_rows())
        self.started()
        self.assertEqual(1, len(self.members()))

    def test_another_change_takes_the_host(self):
        """Another host is taken, until none is left."""
        self.grow()
        write, lost = allocation.write, []

        def lose(context, written, pcloud, added, event):
            if not lost:
                lost.append(added)
                raise allocation.Lost('x')
            return write(context, written, pcloud, added, event)

        with mock.patch.object(allocation, 'write', lose):
            self.started()
        self.assertEqual(1, len(self.members()))
        with mock.patch.object(allocation, 'write',
                               side_effect=allocation.Lost('x')):
            self.assertEqual(409, self.launch(min_count=3).status_code)
        self.assert_nothing_is_left()

    def test_a_turn_that_is_lost(self):
        """Nobody adds a host after the turn has lapsed."""
        self.grow()
        choose, chosen = joining.choose, []

        def slow(context, ticket, *arguments):
            chosen.append(choose(context, ticket, *arguments))
            if len(chosen) == 1:
                self.lapse()
                tickets.take_turn(context, tickets.draw(ticket.pcloud))
                self.lapse()
            return chosen[-1]

        with mock.patch.object(joining, 'choose', slow):
            self.started()
        self.assertEqual(2, len(chosen))
        self.assertEqual(1, len(self.members()))

    def test_audit_of_defaults(self):
        self.grow()
        self.admin.call_json('DELETE', '/os-host-flavors/gpu/hosts/node-1')
        self.make_pool('rare')
        self.grow(flavor='rare')
        self.admin.call_json('DELETE', '/os-host-flavors/rare')
        finding, = all_checks.find(self.context, settle=0)
        self.assertEqual('default-not-usable', finding.kind)
        self.assertIn("host flavor 'rare'", finding.message)
        response = self.launch()
        self.assertEqual(409, response.status_code)
        self.assertIn("'rare'", response.text)


class CostTest(GrowTestCase):
    """What a launch costs in nova-api before Nova is asked."""

    def cost(self):
        found = []
        prepare = servers.prepare

        def counted(call, rbac):
            made = []
            cost = counting.count(lambda: made.append(prepare(call, rbac)))
            if call.action == 'create':
                found.append((cost.sql, cost.http))
            return made[0]

        with mock.patch.object(servers, 'prepare', counted):
            for _ in range(2):
                self.started()
        return min(found)

    def test_with_room_it_is_the_same_for_any_number_of_hosts(self):
        self.grow(most=4)
        self.launch(min_count=4)
        self.wait_for_all(4)
        small = self.cost()
        for name in 'ab':
            self.add_host(self.alice, self.pcloud, name, 'gpu')
            self.alice.call_json(
                'PUT', f'/os-pclouds/{self.pcloud}/hosts/{name}',
                {'host': {'state': 'enabled'}})
        self.assertEqual(small, self.cost())
        self.assertEqual(1, small[1])
        self.assertLessEqual(small[0], 45)


class UnderWayTest(GrowTestCase):
    """Servers under way have their room."""

    def test_room_kept_for_another_launch(self):
        self.grow()
        self.started()
        with mock.patch.object(launches, 'arrived', lambda *_: None):
            self.started()
        # Whether the second counts already cannot be told.
        self.flags(growth_timeout=1, group='pcloud')
        response = self.launch()
        self.assertEqual(409, response.status_code)
        self.assertIn('repeat the request', response.text)
        self.lapse()
        self.started()
        self.assertEqual(1, len(self.members()))

    def test_servers_in_no_cell(self):
        """Those without allocations count, and those with do not twice."""
        self.grow()
        self.started()
        for placed, expected in ((True, 1), (False, 2)):
            with mock.patch.object(
                    request_specs, 'queued', self.queued), \
                    mock.patch.object(inventories, 'has_allocation',
                                      lambda *_: placed):
                self.started()
            self.assertEqual(expected, len(self.members()))

    def test_what_nova_has_queued(self):
        """Read from Nova's own rows while the conductor is busy."""
        self.grow()
        with mock.patch.object(
                rpcapi.ComputeTaskAPI, 'schedule_and_build_instances'):
            response = self.launch(min_count=2)
        self.assertEqual(202, response.status_code)
        found = request_specs.queued(self.context, self.pcloud)
        self.assertEqual(['big', 'big'], [
            each.flavor.flavorid for each in found.values()])
        self.assertEqual({}, request_specs.queued(
            self.context, uuidutils.generate_uuid()))
        self.assertEqual({(False, (self.pcloud,))}, {
            (each.on_volume, tuple(each.hints['pcloud']))
            for each in found.values()})
        # One of two more has room beside them, and a host joins for the two.
        self.launch(min_count=2)
        self.assertEqual(2, len(self.members()))


class _Died(Exception):
    """The process has died."""
