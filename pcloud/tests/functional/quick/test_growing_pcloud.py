# SPDX-License-Identifier: Apache-2.0

"""Servers that name no Pcloud, and a default Pcloud that grows for them."""

import re
from unittest import mock

import fixtures
from nova.conductor import rpcapi
from nova import exception as nova_exception
from nova import objects
from nova import policy as nova_policy

from pcloud.api import enforcer
from pcloud.api.nova_calls import images
from pcloud.api.policies import hosts
from pcloud.audit import all_checks
from pcloud.audit import project_checks
from pcloud.backend.calls import placement
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.growth import growth_turns
from pcloud.growth import joining
from pcloud import names
from pcloud.objects import reconcile
from pcloud.objects import turns
from pcloud.rules.placing import hints
from pcloud.tests.support import base
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
            # Nova writes the fault after the state.
            self.assertIn('fault', found)
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
                               side_effect=Died), \
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


class Died(Exception):
    """The process has died."""
