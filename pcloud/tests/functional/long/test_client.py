# SPDX-License-Identifier: Apache-2.0

"""The Python client in front of real Nova."""

import collections
import concurrent.futures
import dataclasses
import threading

import fixtures

from pcloud.client.deploy import checks
from pcloud.client.deploy import deployments
from pcloud.client.deploy import plans
from pcloud.client.deploy import readiness
from pcloud.client.deploy import server_ends
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import sync
from pcloud.client.deploy import waits
from pcloud.client import servers
from pcloud.tests.functional.quick import test_client


class ServicesTest(test_client.ClientTestCase):
    """Services are deployed and brought up to date."""

    hosts = {'node-1': 'az1', 'node-2': 'az2'}

    def setUp(self):
        super().setUp()
        self.told = []
        self.pace = waits.Pace(60, self.told.append)
        self.image = servers.Image(self.glance.image1['id'])
        self.client = self.as_library(self.alice)
        self._flavor('helper', 512)
        self._flavor('medium', 2560)
        self._flavor('large', 5120)

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'ColocationFilter'],
                   group='filter_scheduler')

    def _flavor(self, name, memory_mb):
        self.make_flavor(name, memory_mb=memory_mb,
                         extra_specs={'pcloud:co_located': 'allow'})

    def _find_image(self, _name):
        return self.image

    def _part(self, service, flavor='helper'):
        return plans.Part(service, self.image.id, flavor)

    def _deploy(self, *parts, user=None, **order):
        *parts, main = parts
        return deployments.deploy(
            self.as_library(user or self.alice), self._find_image,
            plans.Order(main, tuple(parts), networks='none', **order),
            self.pace)

    def _where(self, service):
        return [self.host_of({'id': each.id})
                for each in self.client.servers.list_all()
                if each.hint('service') == service]

    def test_a_group_goes_to_the_unit_with_room(self):
        """Of 7680 MiB two groups of 3072 fit, and none beside 5120."""
        for zone in ('az1', 'az2'):
            self.boot(self.alice, {'service': 'db'}, zone=zone)
        self.boot(self.alice, zone='az1', flavorRef='large')
        group = self._part('disk'), self._part('web', 'medium')
        for _ in range(2):
            disk, web = self._deploy(*group, parent='db')
            self.assertEqual(web.id, disk.parent)
            self.assertEqual('node-2', self.host_of({'id': web.parent}))
        self.assertEqual(['node-2'] * 2, self._where('disk'))
        # She may not ask how much is free outside of Pclouds.
        error = self.assertRaises(
            server_runs.DeploymentFailed, self._deploy, *group, parent='db')
        self.assertIn('no host has capacity for all of its group', str(error))
        self.assertEqual(['node-2'] * 2, self._where('disk'))

    def test_a_group_in_a_large_cloud(self):
        """Placement's limit does not hide the host of the parent."""
        self.flags(max_placement_results=1, group='scheduler')
        group = self._part('disk'), self._part('web', 'medium')
        for zone, host in (('az1', 'node-1'), ('az2', 'node-2')):
            self.boot(self.admin, {'service': zone}, zone=zone)
            units = self._deploy(*group, parent=zone, user=self.admin)
            self.assertEqual(
                [host] * 2, [self.host_of({'id': unit.id}) for unit in units])

    def test_a_parent_that_cannot_be_stopped(self):
        disk, web = self._deploy(self._part('disk'), self._part('web'))
        self._act(web, 'lock')
        for undeploy, text, names in (
                (deployments.undeploy, 'nothing was deleted.',
                 ['disk', 'web']),
                (deployments.undeploy_by_force, 'Not deleted: web', ['web'])):
            error = self.assertRaises(
                server_ends.NotStopped, undeploy, self.client, 'web',
                self.pace)
            self.assertIn(text, str(error))
            self.assertIn(f'unlock it (openstack server unlock {web.id})',
                          str(error))
            self.assertEqual(names, sorted(
                each.name for each in self.client.servers.list_all()))
        self._act(web, 'unlock')
        deployments.undeploy(self.client, 'web', self.pace)
        self.assertEqual([], self.client.servers.list_all())

    def _act(self, unit, action):
        response = self.alice.call(
            'POST', f'/servers/{unit.id}/action', {action: None})
        self.assertEqual(202, response.status_code)

    def test_room_for_some(self):
        group = self._part('disk'), self._part('web', 'large')
        error = self.assertRaises(
            checks.DeploymentRefused, self._deploy, *group, count=3,
            user=self.admin)
        self.assertIn('no capacity outside of Pclouds for 3 times helper and '
                      'large together on one host, only for 2', str(error))
        # Who may not ask has it tried, and taken back.
        error = self.assertRaises(
            server_runs.DeploymentFailed, self._deploy, *group, count=3)
        self.assertIn('no host has capacity for all of its group', str(error))
        self.assertEqual([], self.client.servers.list_all())
        self.assertEqual(4, len(self._deploy(*group, count=2)))

    def _guests_tell(self, **values):
        """Let guests tell that they are ready, when the run waits."""
        def report(progress):
            self.told.append(progress)
            name, _, step = progress.partition(': ')
            if step.startswith('waiting for') and name in values:
                unit, = (each for each in self.client.servers.list_all()
                         if each.name == name)
                self.client.servers.set_metadata(
                    unit.id, {'state': values[name]})

        self.pace = waits.Pace(60, report, ready_timeout=3)

    def test_guests_that_are_ready(self):
        self._guests_tell(disk='up', web='up')
        ready = readiness.Ready('state', 'up')
        self._deploy(*(dataclasses.replace(self._part(name), ready=ready)
                       for name in ('disk', 'web')))
        self.assertEqual(
            [f'{name}: {step}' for name in ('disk', 'web') for step in (
                'building', 'active', 'waiting for state=up', 'ready')],
            self.told)
        self.assertEqual({'state=up'}, {
            unit.metadata['pcloud_ready']
            for unit in self.client.servers.list_all()})

    def test_a_guest_that_is_not_ready(self):
        self._guests_tell(disk='down')
        error = self.assertRaises(
            server_runs.DeploymentFailed, self._deploy, dataclasses.replace(
                self._part('disk'), ready=readiness.Ready('state', 'up')),
            self._part('web'))
        self.assertIn('its metadata has state=down instead of state=up',
                      str(error))
        self.assertEqual([], self.client.servers.list_all())

    def test_units_that_are_told_of_their_parents(self):
        self.image = dataclasses.replace(
            self.image, properties={'pcloud_consumes': 'db'})
        db = dataclasses.replace(self._part('db'), options=servers.Options(
            networks=[{'uuid': self.neutron.network_1['id']}]))
        # The fake Neutron gives ports to a project of its own.
        self.useFixture(fixtures.MockPatchObject(
            self.neutron, 'default_port', {
                **self.neutron.default_port,
                'tenant_id': self.alice.project_id}))
        self._deploy(self._part('disk'), db)
        self._deploy(self._part('agent'), parent='db')
        units = {each.name: each for each in self.client.servers.list_all()}
        expected = {'pcloud_parent': units['db'].id,
                    'pcloud_parent_name': 'db',
                    'pcloud_parent_addresses': '192.168.1.30'}
        for name in 'disk', 'agent':
            self.assertEqual(expected, {
                key: value for key, value in units[name].metadata.items()
                if key != 'pcloud_run'})
        # The agent knew it from the beginning.
        self.assertEqual(['disk: told of its parent db'], [
            told for told in self.told if 'told' in told])

    def test_two_runs_at_the_same_time(self):
        """None of them sees what the other is about to start."""
        self._deploy(self._part('db'))
        before = self._where('db')
        self.boot(self.alice, {'service': 'db'}, zone={
            'node-1': 'az2', 'node-2': 'az1'}[before[0]])
        both = threading.Barrier(2)

        def find_image(name):
            # Both have looked, and none has started anything.
            both.wait(60)
            return self.image

        def run():
            client = self.as_library(self.alice)
            return deployments.deploy(client, find_image, plans.Order(
                self._part('agent'), scale_with='db', networks='none'),
                self.pace)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(run) for _ in range(2)]
            units = [unit for each in runs for unit in each.result()]
        self.assertEqual(2, len(units))
        self.assertEqual(2, len([each for each in self.told
                                 if 'not needed' in each]), self.told)
        self.assertEqual({'node-1': 1, 'node-2': 1},
                         collections.Counter(self._where('agent')))
        self.assertEqual([], sync.sync(self.client, 'agent', self.pace))
