# SPDX-License-Identifier: Apache-2.0

"""Servers that name no Pcloud, and a default Pcloud that grows for them."""

import collections
from concurrent import futures
import functools
import re
import threading
from unittest import mock

import ddt
import fixtures
from nova.conductor import manager as conductor
from nova.conductor import rpcapi
from nova import exception as nova_exception
from nova import objects
from nova import policy as nova_policy
from nova.scheduler import manager
from nova.tests import fixtures as nova_fixtures

from pcloud.api import enforcer
from pcloud.api.nova_calls import images
from pcloud.api.nova_calls import servers
from pcloud.api.policies import hosts
from pcloud.audit import all_checks
from pcloud.audit import project_checks
from pcloud.backend.calls import placement
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.growth import growth_turns
from pcloud.growth import joining
from pcloud import names
from pcloud.objects.changing_hands import allocation
from pcloud.objects import reconcile
from pcloud.objects import turns
from pcloud.rules.placing import default_pcloud
from pcloud.rules.placing import hints
from pcloud.scheduler.filters import pcloud as pcloud_filter
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import outages
from pcloud.tests.support import shared_cloud

POLICIES = '/os-pcloud-policies'


class GrowTestCase(shared_cloud.SharedCloudTestCase):
    """An empty Pcloud of alice's, and four free hosts.

    A host has capacity for three servers of flavor 'big', and costs two units.
    """

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1',
             'node-4': 'az2', 'node-5': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_flavor('big', memory_mb=2048)
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3', 'node-4', units=2)
        self.pcloud = self.make_pcloud(self.alice)

    def setUp(self):
        super().setUp()
        self.keystone = self.useFixture(outages.GrantingKeystone())
        self.keystone.roles['admin', base.CAROL] = ('admin',)

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

    def refused(self, **given):
        """Return the fault of a server that a launch cannot start."""
        response = self.launch(**given)
        self.assertEqual(202, response.status_code, response.text)
        return self.fault_of(response.json()['server'])

    def fault_of(self, server):
        def ended():
            found = self.admin.get_server(server['id'])
            self.assertEqual('ERROR', found['status'])
            return found['fault']['message']
        return self.wait_until(ended)

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

    def turn(self):
        """Return the row of the turn, None without the row."""
        return self.aggregate(names.pcloud(self.pcloud)).metadata.get(
            names.GROWTH_TURN)

    def lapse(self):
        """Let the turn of a dead launch lapse."""
        self.aggregate(names.pcloud(self.pcloud)).update_metadata({
            names.GROWTH_TURN: re.sub('[0-9]+T[0-9]+Z', '20010909T014640Z',
                                      self.turn())})

    def assert_nothing_is_left(self):
        self.assertIsNone(self.turn())
        # What Keystone tells of projects is another matter.
        self.assertEqual([], [
            each for each in all_checks.find(self.context, settle=0)
            if each.aggregate != 'Keystone' and each.kind not in
            project_checks.KINDS.values()])


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
        self.wait_for_all(7)
        self.assertEqual(3, len(self.members()))
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
        with mock.patch('pcloud.backend.cells.arrivals.awaited',
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
        self.wait_for_all(7)
        self.assertEqual(1, len(self.members()))

    def test_server_groups(self):
        self.grow(most=4)
        for policy, number in (('anti-affinity', 3), ('affinity', 4)):
            group = self.alice.call_json('POST', '/os-server-groups', {
                'server_group': {'name': policy, 'policy': policy}}
            )['server_group']['id']
            response = self.launch(hints={'group': group}, min_count=3)
            self.assertEqual(202, response.status_code, response.text)
            self.wait_until(lambda: self.assertEqual(
                {'ACTIVE'}, {server['status'] for server in
                             self.alice.get_json('/servers/detail')[
                                 'servers']}))
            self.assertEqual(number, len(self.members()))
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
        take = turns.take

        def late(context, taken):
            self.alice.call_json('DELETE', f'/os-pclouds/{self.pcloud}')
            return take(context, taken)

        with mock.patch.object(turns, 'take', late):
            self.assertIn(self.pcloud, self.refused())

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
            # To Nova the disk is on the host.
            self.assertIn('too few free hosts', self.refused(
                flavorRef='wide'))

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

    def test_the_record_is_hidden_and_nobody_may_give_it(self):
        self.grow()
        response = self.launch()
        server = response.json()['server']
        self.wait_until_active(server)
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id'])
        self.assertIn(hints.GROW_RECORD, spec.scheduler_hints)
        for user in (self.alice, self.admin):
            shown = user.get_json(f'/servers/{server["id"]}')['server']
            self.assertEqual({'pcloud': [self.pcloud]},
                             shown['scheduler_hints'])
        self.assertEqual(400, self.launch(hints={
            'pcloud': self.pcloud, hints.GROW_RECORD: 'grow'}).status_code)

    def test_a_move_lets_nothing_grow(self):
        """The record stays with the server, and is for the launch alone."""
        self.grow()
        response = self.launch()
        server = response.json()['server']
        self.wait_until_active(server)
        name, = self.members()
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/{name}',
            {'host': {'state': 'disabled'}})
        refused = self.admin.call(
            'POST', f'/servers/{server["id"]}/action', {'migrate': None})
        self.assertEqual(202, refused.status_code)
        self.wait_until(lambda: self.assertEqual(['error'], [
            each['status'] for each in self.admin.get_json(
                f'/os-migrations?instance_uuid={server["id"]}')[
                    'migrations']]))
        self.assertEqual({name}, self.members().keys())


class AcceptedTest(GrowTestCase):
    """No host joins for a launch that Nova has not accepted."""

    def setUp(self):
        super().setUp()
        self.grow(most=4)
        self.added = []
        self.useFixture(fixtures.MockPatchObject(
            joining, 'add', lambda *given: self.added.append(given)))

    def rows(self):
        """Return all rows of aggregates."""
        return {(each.name, *sorted(each.hosts), *sorted(
            each.metadata.items())) for each
            in objects.AggregateList.get_all(self.context)}

    def assert_refused(self, status, user=None, **server):
        before = self.rows()
        response = self.launch(user, min_count=12, **server)
        self.assertEqual(status, response.status_code, response.text)
        self.assertEqual(before, self.rows())
        self.assertEqual([], self.added)
        return response.text

    def test_who_may_not_create_servers(self):
        self.assertIn('servers:create', self.assert_refused(
            403, self.client_of('eve', base.ALICE, ('reader',))))

    def test_a_policy_of_the_operator(self):
        authorize = nova_policy.authorize

        def forbidding(context, action, *arguments, **options):
            if action == 'os_compute_api:servers:create':
                raise nova_exception.PolicyNotAuthorized(action=action)
            return authorize(context, action, *arguments, **options)

        with mock.patch.object(nova_policy, 'authorize', forbidding):
            self.assert_refused(403)

    def test_nova_s_quota(self):
        self.flags(instances=11, group='quota')
        self.assertIn('Quota exceeded', self.assert_refused(403))

    def test_what_nova_looks_up_late(self):
        for server in (
                {'key_name': 'none'}, {'more': 1},
                {'networks': [{'uuid': self.pcloud}]},
                {'networks': [{'port': self.pcloud}]},
                {'user_data': 'x'},
                {'security_groups': 'default'}):
            self.assert_refused(400, **server)

    def test_what_is_refused_at_once(self):
        """nova-api tells the reason, and changes nothing."""
        self.grow(most=3)
        self.assertIn('max_hosts', self.assert_refused(409))
        self.grow(most=4)
        self.set_quota(7)
        self.assertIn('requested 8', self.assert_refused(403))
        self.admin.call_json('DELETE', '/os-host-flavors/gpu/hosts/node-1')
        self.set_quota(8)
        self.assertIn('too few free hosts', self.assert_refused(409))

    def set_quota(self, limit):
        self.admin.call_json(
            'PUT', f'/os-pcloud-quotas/{base.ALICE}',
            {'quota': {'units': {'limit': limit}}})


@ddt.ddt
class RightsTest(GrowTestCase):
    """Whoever set the default may still add hosts when the Pcloud grows."""

    def setUp(self):
        super().setUp()
        self.grow(user=self.alice)

    def assert_does_not_grow(self, told, **given):
        self.assertIn(told, self.refused(**given))
        self.assertEqual({}, self.members())
        self.assert_nothing_is_left()

    def test_nothing_is_lost(self):
        self.started()
        self.assertEqual(
            ['/users/alice', f'/projects/{base.ALICE}', '/domains/default'],
            self.keystone.asked[:3])

    def test_keystone_is_not_asked_while_there_is_room(self):
        self.started()
        self.keystone.asked.clear()
        self.started()
        self.assertEqual([], self.keystone.asked)

    @ddt.data((), ('reader',), ('Member-not',))
    def test_roles_that_are_gone(self, roles):
        self.keystone.roles['alice', base.ALICE] = roles
        self.assert_does_not_grow('may not add hosts any more')

    def test_any_other_user_may_launch(self):
        """The right is that of whoever has set the default."""
        self.keystone.roles['dave', base.ALICE] = ()
        self.started(user=self.client_of('dave', base.ALICE))

    @ddt.data('/users/alice', f'/projects/{base.ALICE}', '/domains/default')
    def test_what_is_disabled(self, url):
        self.keystone.disabled.add(url)
        self.assert_does_not_grow('may not add hosts any more')

    def test_what_keystone_does_not_know(self):
        self.useFixture(outages.SmallKeystone())
        self.assert_does_not_grow('may not add hosts any more')

    def test_a_silent_keystone(self):
        self.useFixture(outages.SilentKeystone())
        self.assert_does_not_grow('Keystone does not tell')

    def test_a_keystone_that_tells_nothing(self):
        for status in (401, 403, 500):
            self.keystone.status = status
            self.assert_does_not_grow('Keystone does not tell')

    def test_no_credentials(self):
        self.flags(auth_type=None, group='service_user')
        self.assert_does_not_grow('Keystone does not tell')

    def test_a_policy_that_has_changed(self):
        allow = enforcer.Enforcer.allow
        with mock.patch.object(
                enforcer.Enforcer, 'allow',
                lambda self, context, rule, project: rule != hosts.ADD and
                allow(self, context, rule, project)):
            self.assert_does_not_grow('may not add hosts any more')

    def test_another_owner(self):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.aggregate(names.pcloud(self.pcloud)).update_metadata(
            {names.OWNER: base.BOB})
        # How much others have is not told, nor who may do what.
        fault = self.refused()
        self.assertIn('it cannot grow now', fault)
        self.assertEqual([], self.aggregate(names.pcloud(self.pcloud)).hosts)

    def test_another_default_meanwhile(self):
        """The default that counts when the Pcloud would grow."""
        other = self.make_pcloud(self.alice, 'other')
        take = turns.take
        path = f'{POLICIES}/project/{base.ALICE}'
        for default in ({'pcloud': self.pcloud, 'mode': 'strict'}, None,
                        {'pcloud': other, 'mode': 'strict'}):
            self.grow(user=self.alice)

            def late(context, taken, default=default):
                self.alice.call_json(
                    'PUT', path, {'policy': {'default_pcloud': default}})
                return take(context, taken)

            with mock.patch.object(turns, 'take', late):
                self.assert_does_not_grow('its default does not let it grow')

    def test_nobody_knows_who_has_set_it(self):
        self.aggregate(names.project_policy(base.ALICE)).update_metadata({
            names.DEFAULT_PREFIX + default_pcloud.USER: None})
        self.assert_does_not_grow('not recorded')

    def test_an_administrator(self):
        """Who has set a default for others has to be one still."""
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.grow(scope='cloud', scope_id='default')
        self.started(user=self.bob)
        self.assertEqual(1, len(self.members()))
        self.keystone.roles['admin', base.CAROL] = 'reader', 'member'
        self.assertIn('it cannot grow now', self.refused(
            user=self.bob, min_count=3))
        self.assertEqual(1, len(self.members()))

    def test_who_has_set_it_is_shown_to_nobody(self):
        path = f'{POLICIES}/project/{base.ALICE}'
        for user in (self.alice, self.admin):
            self.assertEqual(
                {'pcloud', 'mode', 'host_flavor', 'max_hosts'},
                user.get_json(path)['policy']['default_pcloud'].keys())
        # As stored, where it cannot be read.
        self.aggregate(names.project_policy(base.ALICE)).update_metadata({
            names.DEFAULT_PREFIX + default_pcloud.MOST_HOSTS: 'x'})
        self.assertNotIn(default_pcloud.USER, self.alice.get_json(
            path)['policy']['default_pcloud'])


class TurnTest(GrowTestCase):
    """Launches at the same time, and launches that die."""

    def test_parallel_launches_add_what_they_need_together(self):
        self.grow(most=4)
        with futures.ThreadPoolExecutor(10) as threads:
            answers = list(threads.map(
                lambda count: self.launch(min_count=count), (1, 2) * 3))
        self.assertEqual({202}, {each.status_code for each in answers})
        self.wait_for_all(9)
        self.assertEqual(3, len(self.members()))
        self.assert_nothing_is_left()

    def test_parallel_launches_when_there_is_room_for_some(self):
        """All of a multi-create or nothing, and no host for nothing."""
        self.grow(most=2)
        with futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: self.launch(min_count=4), range(4)))

        def settled():
            statuses = [server['status'] for server in self.alice.get_json(
                '/servers/detail')['servers']]
            self.assertNotIn('BUILD', statuses)
            # Launches that try at the same moment may refuse each other.
            self.assertIn(statuses.count('ACTIVE'), (0, 4))

        self.wait_until(settled)
        self.assertEqual(2, len(self.members()))
        self.assert_nothing_is_left()

    def test_somebody_takes_the_room_meanwhile(self):
        """A launch without a turn; the capacity is counted once more."""
        self.grow()
        add = joining.add
        took = []

        def taken(*given):
            add(*given)
            if not took:
                took.append(self.started(hints={'pcloud': self.pcloud},
                                         min_count=3))

        with mock.patch.object(joining, 'add', taken):
            self.started()
        self.assertEqual(2, len(self.members()))
        self.assert_nothing_is_left()

    def test_another_reason_than_room(self):
        """Hosts join for what is lacking, once, and no more for the rest."""
        self.grow()
        with mock.patch.object(pcloud_filter.PcloudFilter, 'filter_all',
                               lambda *given: iter(())):
            for _ in range(2):
                self.refused()
                self.assertEqual(1, len(self.members()))
        self.started()
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def test_the_turn_of_a_dead_launch(self):
        self.grow()
        with mock.patch.object(joining, 'add', side_effect=_Died), \
                mock.patch.object(growth_turns, '_end'):
            self.refused()
        self.assertIsNotNone(self.turn())
        self.flags(growth_timeout=1, group='pcloud')
        self.assertIn('repeat the request', self.refused())
        self.lapse()
        self.assertEqual([], all_checks.find(self.context, settle=0))
        self.started()
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def test_a_turn_that_would_last_for_years(self):
        """The clock of the process that has died was wrong."""
        self.grow()
        self.aggregate(names.pcloud(self.pcloud)).update_metadata({
            names.GROWTH_TURN: 'token=0123abcd until=21000101T000000Z'})
        self.started()
        self.assert_nothing_is_left()

    def test_too_many_wait(self):
        """Other requests of the scheduler are not held up."""
        self.grow()
        with mock.patch.object(growth_turns, '_PLACES',
                               threading.BoundedSemaphore(1)):
            growth_turns._PLACES.acquire()
            self.assertIn('repeat the request', self.refused())
            growth_turns._PLACES.release()
            self.started()

    def test_a_turn_that_is_lost(self):
        """Nobody adds a host after the turn has lapsed."""
        self.grow()
        choose, chosen = joining.choose, []

        def slow(context, pcloud, *arguments):
            chosen.append(choose(context, pcloud, *arguments))
            if self.turn() and len(chosen) == 2:
                self.lapse()
                with growth_turns.held(context, pcloud):
                    return chosen[-1]
            return chosen[-1]

        with mock.patch.object(joining, 'choose', slow):
            self.started()
        # In nova-api, then twice in nova-scheduler.
        self.assertEqual(3, len(chosen))
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
            self.refused(min_count=3)
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def test_what_is_reached_meanwhile(self):
        """The limits count when the hosts join, too."""
        self.grow(most=1)
        choose = joining.choose

        def late(*given):
            # Between the look at the capacity and the choice among free hosts,
            # so that the launch never chooses the host that is taken here.
            if self.turn():
                self.add_host(self.alice, self.pcloud, 'web', 'gpu')
            return choose(*given)

        with mock.patch.object(joining, 'choose', late):
            self.assertIn('max_hosts', self.refused())
        self.assertEqual({'web'}, self.members().keys())
        self.assert_nothing_is_left()


class OutageTest(GrowTestCase):
    """What stays when a part of the cloud is away, or a process dies."""

    def test_placement_is_away(self):
        self.grow()
        for function in ('candidates', 'read', 'traits', 'consumers'):
            with mock.patch.object(placement, function,
                                   side_effect=exception.PlacementSilent()):
                self.assertEqual(503, self.launch().status_code, function)
            self.assertEqual({}, self.members())
            self.assert_nothing_is_left()

    def test_placement_goes_away_after_nova_has_accepted(self):
        self.grow()
        for function in ('candidates', 'read', 'traits', 'consumers'):
            original = getattr(placement, function)

            def away(*given, original=original):
                if self.turn():
                    raise exception.PlacementSilent()
                return original(*given)

            with mock.patch.object(placement, function, away):
                self.assertIn('does not answer', self.refused(), function)
            self.assertEqual({}, self.members())
            self.assert_nothing_is_left()

    def test_placement_goes_away_after_the_change(self):
        """The host is the Pcloud's own, and the next launch has it."""
        self.grow()
        with mock.patch.object(placement, 'aggregates',
                               side_effect=exception.PlacementSilent()):
            self.refused()
        self.assertIsNone(self.turn())
        self.assertEqual(['enabled'], list(self.members().values()))
        self.started()
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def test_a_scheduler_that_dies_after_the_change(self):
        self.grow()
        with mock.patch.object(reconcile, 'finish_written',
                               side_effect=_Died), \
                mock.patch.object(growth_turns, '_end'):
            self.refused(min_count=4)
        self.assertEqual(['enabled'] * 2, list(self.members().values()))
        self.lapse()
        response = self.launch(min_count=4)
        self.assertEqual(202, response.status_code, response.text)
        self.wait_until_active(response.json()['server'])
        self.assertEqual(2, len(self.members()))
        self.assertEqual([], all_checks.find(self.context, settle=0))

    def test_a_server_that_is_deleted_meanwhile(self):
        """Nobody waits for the host any more."""
        self.grow()
        with mock.patch.object(
                request_specs, 'are_queued', lambda *_: False):
            self.refused()
        self.assertEqual({}, self.members())

    def test_which_servers_nova_has_queued(self):
        with mock.patch.object(
                rpcapi.ComputeTaskAPI, 'schedule_and_build_instances'):
            queued = [self.launch().json()['server']['id'] for _ in 'ab']
        placed = self.launch().json()['server']
        self.wait_until_active(placed)
        for asked, expected in (
                (queued, True), (queued[:1], True), ((), False),
                ([*queued, placed['id']], False), ([placed['id']], False)):
            self.assertEqual(expected, request_specs.are_queued(
                self.context, asked))

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
    """What a launch costs for which there is capacity."""

    def cost(self, name):
        """Return the least statements and calls of the launches of servers.

        :param name: who counts: 'nova-api' or 'nova-scheduler'
        """
        found = []
        prepare, choose = servers.prepare, (
            conductor.ComputeTaskManager._schedule_instances)

        def counted(owner, who):
            @functools.wraps(owner)
            def call(*given, **options):
                if who != name or getattr(
                        given[0], 'action', 'create') != 'create':
                    return owner(*given, **options)
                made = []
                cost = counting.count(
                    lambda: made.append(owner(*given, **options)))
                found.append((cost.sql, cost.http))
                return made[0]
            return call

        with mock.patch.object(
                servers, 'prepare', counted(prepare, 'nova-api')), \
                mock.patch.object(
                    conductor.ComputeTaskManager, '_schedule_instances',
                    counted(choose, 'nova-scheduler')):
            for number in range(1, 6):
                server = self.launch().json()['server']
                # Who looks at the server meanwhile makes statements.
                self.wait_until(lambda number=number: self.assertEqual(
                    number, len(found)))
                self.wait_until_active(server)
        return min(found)

    def test_with_room_it_is_the_same_for_any_number_of_hosts(self):
        self.grow(most=4)
        for name in 'ab':
            self.add_host(self.alice, self.pcloud, name, 'gpu')
            self.enable(name)
        # Five launches, then five more.
        small = self.cost('nova-api')
        self.assertEqual(1, small[1])
        # So that a change for the worse is seen here first.
        self.assertLessEqual(small[0], 45)
        for name in 'cd':
            self.add_host(self.alice, self.pcloud, name, 'gpu')
            self.enable(name)
        self.assertEqual(small, self.cost('nova-api'))

    def test_with_room_the_scheduler_pays_nothing(self):
        for name in 'abcd':
            self.add_host(self.alice, self.pcloud, name, 'gpu')
            self.enable(name)
        self.alice.call_json(
            'PUT', f'{POLICIES}/project/{base.ALICE}',
            {'policy': {'default_pcloud': {
                'pcloud': self.pcloud, 'mode': 'strict'}}})
        strict = self.cost('nova-scheduler')
        self.grow(most=4)
        self.assertLessEqual(self.cost('nova-scheduler'), strict)

    def enable(self, name):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/{name}',
            {'host': {'state': 'enabled'}})


class TwoSchedulersTest(GrowTestCase):
    """Two schedulers have no more in common than the databases."""

    own_cloud = True

    def test_parallel_launches(self):
        # Nova's own function starts one service of a kind.
        other = self.useFixture(nova_fixtures.ServiceFixture(
            'scheduler', 'scheduler-2')).service
        chosen = collections.Counter()
        choose = manager.SchedulerManager._select_destinations

        @functools.wraps(choose)
        def noting(scheduler, *given, **options):
            chosen[id(scheduler)] += 1
            return choose(scheduler, *given, **options)

        self.grow(most=4)
        with mock.patch.object(manager.SchedulerManager,
                               '_select_destinations', noting):
            with futures.ThreadPoolExecutor(12) as threads:
                answers = list(threads.map(
                    lambda _: self.launch(), range(12)))
            self.assertEqual({202}, {each.status_code for each in answers})
            self.wait_for_all(12)
        self.assertEqual(4, len(self.members()))
        self.assertEqual(2, len(chosen), chosen)
        self.assertIn(id(other.manager), chosen)
        self.assert_nothing_is_left()


class _Died(Exception):
    """The process has died."""
