# SPDX-License-Identifier: Apache-2.0

"""What a choice was right for is asked again, or the choice is final."""

from unittest import mock

import fixtures
from nova.compute import manager as compute_manager
from nova import objects
from nova.scheduler import manager

from pcloud import exception
from pcloud.growth import destinations
from pcloud.tests.support import base
from pcloud.tests.support import driver
from pcloud.tests.support import shared_cloud


class AlternatesTest(shared_cloud.SharedCloudTestCase):
    """A Pcloud of three hosts with a tenant, and two hosts outside.

    Builds, and the preparations of resizes, wait at a gate, and the first of
    them fails.
    """

    hosts = {f'node-{number}': 'az1' for number in range(1, 6)}
    compute_driver = 'fake.HeldDriver'

    def _configure(self):
        super()._configure()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.HeldDriver', driver.HeldDriver))

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3')
        self.pcloud = self.make_pcloud(self.alice)
        self.inside = {
            self.add_host(self.alice, self.pcloud, name, 'gpu'): name
            for name in ('web-1', 'web-2', 'web-3')}

    def setUp(self):
        driver.HeldDriver.gate = driver.Gate()
        self.gate = driver.HeldDriver.gate
        super().setUp()
        self.path = f'/os-pclouds/{self.pcloud}'
        self._be_tenant()
        prepare = compute_manager.ComputeManager._prep_resize

        def held(compute, *args, **kwargs):
            self.gate.pass_through(compute.host)
            return prepare(compute, *args, **kwargs)

        self.useFixture(fixtures.MockPatchObject(
            compute_manager.ComputeManager, '_prep_resize', held))
        # Nothing may be under way any more when the cloud is put back.
        self.addCleanup(self._end)

    def _end(self):
        self.gate.open()
        self.wait_until(lambda: self.assertEqual(set(), {
            each['OS-EXT-STS:task_state'] for each in self.admin.get_servers(
                search_opts={'all_tenants': 1})} - {None}))

    def _be_tenant(self):
        self.alice.call_json('PUT', f'{self.path}/tenants/{base.BOB}')

    def _remove_tenant(self):
        self.alice.call_json('DELETE', f'{self.path}/tenants/{base.BOB}')

    def _disable_others(self):
        for host, name in self.inside.items():
            if host not in self.gate.waiting:
                self.alice.call_json('PUT', f'{self.path}/hosts/{name}', {
                    'host': {'state': 'disabled'}})

    def _build(self, hints):
        """Start a server of Bob's, whose build waits at the gate."""
        self.gate.close(failures=1)
        server = self.bob.post_server({
            'server': self._build_server(flavor_id='1', networks='none'),
            'os:scheduler_hints': hints})
        self._wait_at_gate()
        return server

    def _wait_at_gate(self):
        self.wait_until(lambda: self.assertEqual(1, len(self.gate.waiting)))

    def _claimed(self, server):
        """Return the resources that are claimed for a server, by provider."""
        return {provider: allocation['resources'] for provider, allocation
                in self._get_allocations_by_server_uuid(
                    server['id']).items()}

    def _check_error(self, server):
        self.gate.open()
        self._wait_for_state_change(server, 'ERROR')
        self.assertIn('Exhausted all hosts', self.fault(server))
        self.assertEqual(1, len(self.gate.waiting))
        self.assertEqual({}, self._claimed(server))

    def test_build_of_a_removed_tenant(self):
        for hint in ('pcloud', 'pcloud_prefer'):
            with self.subTest(hint):
                server = self._build({hint: self.pcloud})
                self.assertIn(self.gate.waiting[0], self.inside)
                self._remove_tenant()
                self._check_error(server)
                self._be_tenant()

    def test_build_while_hosts_are_disabled(self):
        server = self._build({'pcloud': self.pcloud})
        self._disable_others()
        self._check_error(server)

    def test_build_fails_once(self):
        """The user tries again, and not Nova."""
        self._check_error(self._build({'pcloud': self.pcloud}))
        self.boot(self.bob, {'pcloud': self.pcloud})

    def test_build_outside_of_pclouds_is_tried_on_another_host(self):
        server = self._build({})
        self.gate.open()
        self._wait_for_state_change(server, 'ACTIVE')
        self.assertEqual(self.gate.waiting[1], self.host_of(server))
        self.assertNotEqual(*self.gate.waiting)

    def _check_stays(self, action, change):
        server = self.boot(self.bob, {'pcloud': self.pcloud})
        source = self.host_of(server)
        before = self._claimed(server)
        self.gate.close(failures=1)
        self.act(server, action)
        self._wait_at_gate()
        change()
        self.gate.open()
        # As wherever a resize fails on the last alternate; the server runs.
        self.wait_for(server, status='ERROR')
        self.assertEqual(source, self.host_of(server))
        self.assertEqual(1, len(self.gate.waiting))
        self.assertEqual(before, self._claimed(server))
        self.assertIn('RuntimeError', self.fault(server))
        self.act(server, {'reboot': {'type': 'HARD'}})
        self.wait_for(server, status='ACTIVE')

    def test_resize(self):
        for change in (self._remove_tenant, self._disable_others):
            with self.subTest(change.__name__):
                self._check_stays({'resize': {'flavorRef': '2'}}, change)
                self._be_tenant()

    def test_cold_migration(self):
        for change in (self._remove_tenant, self._disable_others):
            with self.subTest(change.__name__):
                self._check_stays({'migrate': None}, change)
                self._be_tenant()


class FormsTest(shared_cloud.SharedCloudTestCase):
    """The forms in which conductors ask the scheduler."""

    def setUp(self):
        super().setUp()
        self.choose = mock.Mock(return_value='chosen')
        self.wrapped = destinations._wrapped(self.choose)

    def _spec(self, **hints):
        return objects.RequestSpec(
            self.context, project_id=base.ALICE, scheduler_hints={
                name: [value] for name, value in hints.items()})

    def _asked(self, *values, **arguments):
        self.assertEqual('chosen', self.wrapped(
            mock.sentinel.scheduler, self.context, *values, **arguments))
        return self.choose.call_args.kwargs

    def test_alternates(self):
        for hints, alternates in (
                ({}, True), ({'near': 'tag:a'}, True),
                ({'service': 'a'}, True),
                ({'pcloud': 'a'}, False), ({'pcloud_prefer': 'a'}, False),
                ({'pcloud': 'none'}, False), ({'locality': 'a'}, False),
                ({'in': 'a'}, False), ({'with': 'a'}, False),
                ({'beside': 'a'}, False), ({'room_for': 'a'}, False)):
            self.assertIs(alternates, self._asked(
                spec_obj=self._spec(**hints), instance_uuids=[],
                return_objects=True,
                return_alternates=True)['return_alternates'], hints)

    def test_arguments_without_names(self):
        asked = self._asked(
            None, None, self._spec(pcloud='a'), ['server'], True, True)
        self.assertEqual(['server'], asked['instance_uuids'])
        self.assertTrue(asked['return_objects'])
        self.assertFalse(asked['return_alternates'])

    def test_request_in_two_dictionaries(self):
        for hints, alternates in (({}, True), ({'pcloud': 'a'}, False)):
            asked = self._asked(
                request_spec={'num_instances': 1, 'instance_properties': {
                    'uuid': base.ALICE, 'project_id': base.ALICE}},
                filter_properties={'scheduler_hints': hints},
                return_alternates=True)
            self.assertIs(alternates, asked['return_alternates'])
            self.assertIsInstance(asked['spec_obj'], objects.RequestSpec)
            self.assertNotIn('request_spec', asked)

    def test_unknown_nova(self):
        """The filters cannot be loaded, and the scheduler does not start."""
        with (mock.patch.object(destinations, 'is_registered',
                                return_value=False),
              mock.patch.object(manager.SchedulerManager, 'target',
                                mock.Mock(version='5.0'))):
            self.assertRaises(
                exception.SchedulerUnknown, destinations.register)
