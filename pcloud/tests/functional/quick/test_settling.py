# SPDX-License-Identifier: Apache-2.0
"""A host changes hands when nothing decided before can land on it."""

import datetime
from unittest import mock

import fixtures
from nova.compute import task_states
from nova.compute import vm_states
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from nova import objects
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.audit import all_checks
from pcloud.objects import emptiness
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import driver
from pcloud.tests.support import outages
from pcloud.tests.support import shared_cloud

A_WHILE = datetime.timedelta(hours=2)


class SettlingTestCase(shared_cloud.SharedCloudTestCase):
    """Hosts whose builds and resizes wait until they are told to go on."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}
    compute_driver = 'fake.HeldDriver'

    def _configure(self):
        super()._configure()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.HeldDriver', driver.HeldDriver))

    def setUp(self):
        driver.HeldDriver.gate = driver.Gate()
        self.gate = driver.HeldDriver.gate
        super().setUp()
        # Nothing may be under way any more when the cloud is put back.
        self.addCleanup(self._end)

    def furnish(self):
        super().furnish()
        self.make_pool('gpu')

    def _end(self):
        self.gate.failures = 0
        self.gate.open()
        self.wait_until(lambda: self.assertEqual(set(), {
            each['OS-EXT-STS:task_state'] for each in self.admin.get_servers(
                search_opts={'all_tenants': 1})} - {None}))

    def start(self, user, hints=None):
        """Start a server whose first build fails when the gate opens.

        :returns: the server, and the host on which it is being built
        """
        self.gate.close(failures=1)
        server = self._build_server(
            flavor_id='1', networks='none', az='az1')
        body = {'server': server}
        if hints:
            body['os:scheduler_hints'] = hints
        made = user.post_server(body)
        return made, self.wait_until(self._held)

    def _held(self):
        self.assertEqual(1, len(self.gate.waiting))
        return self.gate.waiting[0]

    def pool(self, host):
        """Put a host into the pool, and return the answer."""
        self.disable_service(host)
        return self.admin.call_json(
            'POST', '/os-host-flavors/gpu/hosts', {'host': {'host': host}}
        )['host']

    def flavor(self):
        """Return what an administrator sees of the host flavor."""
        return self.admin.get_json('/os-host-flavors/gpu')['host_flavor']

    def allocate(self, user, pcloud, name='new'):
        """Return the answer to a request for a host."""
        return user.call('POST', f'/os-pclouds/{pcloud}/hosts', {
            'host': {'name': name, 'host_flavor': 'gpu'}})

    def check_settling(self, user, pcloud):
        """Nobody is given the only host that is not in a Pcloud."""
        answer = self.allocate(user, pcloud)
        self.assertEqual(409, answer.status_code, answer.text)
        self.assertIn('1 more are settling', answer.text)
        answer = user.call('POST', f'/os-pclouds/{pcloud}/hosts', {
            'host': {'name': 'fitting', 'constraints': 'cpu=1'}})
        self.assertEqual(409, answer.status_code, answer.text)
        self.assertIn('1 of 1 have no free host yet (1 more are settling',
                      answer.text)
        found = self.flavor()
        self.assertEqual(({}, 1), (found['available'], found['settling']))

    def kinds(self):
        """Return the kinds of what an audit finds."""
        return {each.kind for each in all_checks.find(self.context, settle=0)}


class EnteringTest(SettlingTestCase):
    """An empty public host enters a pool while public servers are built."""

    def setUp(self):
        super().setUp()
        self.pcloud = self.make_pcloud(self.alice)
        # Of the two that are left one is the alternate of the other.
        self.disable_service('node-3')
        self.server, first = self.start(self.bob)
        self.other = next(host for host in ('node-1', 'node-2')
                          if host != first)
        self.pooled = self.pool(self.other)

    def test_build_that_is_tried_again_keeps_the_host(self):
        self.assertIsNotNone(self.pooled['settling'])
        self.check_settling(self.alice, self.pcloud)
        self.assertEqual(set(), self.kinds())
        self.gate.open()
        self._wait_for_state_change(self.server, 'ACTIVE')
        self.assertEqual(self.other, self.host_of(self.server))
        self.check_settling(self.alice, self.pcloud)
        self.assertIn('server-on-free-host', self.kinds())
        self._delete_server(self.server)
        self.assertEqual({'az1': 1}, self.flavor()['available'])
        self.assertEqual(
            201, self.allocate(self.alice, self.pcloud).status_code)

    def test_it_ends_by_itself(self):
        self.gate.failures = 0
        self.gate.open()
        self._wait_for_state_change(self.server, 'ACTIVE')
        found = self.flavor()
        self.assertEqual(({'az1': 1}, 0),
                         (found['available'], found['settling']))
        self.assertEqual([None], [each['settling']
                                  for each in found['hosts']])
        self.assertEqual(
            201, self.allocate(self.alice, self.pcloud).status_code)

    def test_many_cost_what_one_costs(self):
        one = counting.least(self.flavor)
        self.pool('node-3')
        many = counting.least(self.flavor)
        self.assertEqual(2, self.flavor()['settling'])
        self.assertEqual((one, 0), (many, many.http))

    def test_it_does_not_leave_before(self):
        path = f'/os-host-flavors/gpu/hosts/{self.other}'
        answer = self.admin.call('DELETE', path)
        self.assertEqual(409, answer.status_code)
        self.assertIn('is settling', answer.text)
        self.gate.failures = 0
        self.gate.open()
        self._wait_for_state_change(self.server, 'ACTIVE')
        self.assertEqual(204, self.admin.call('DELETE', path).status_code)

    def test_request_that_waits_for_too_long_is_dead(self):
        self.check_settling(self.alice, self.pcloud)
        with api_db.context_manager.writer.using(self.context) as session:
            session.execute(sa.update(models.RequestSpec).values(
                created_at=timeutils.utcnow() - A_WHILE))
        self.assertEqual({'az1': 1}, self.flavor()['available'])
        self.assertEqual(
            201, self.allocate(self.alice, self.pcloud).status_code)

    def test_cell_that_does_not_answer(self):
        self.gate.failures = 0
        with outages.SilentCell(self.cell_mappings['cell1']):
            self.assertEqual({}, self.flavor()['available'])
            self.assertIn(
                self.allocate(self.alice, self.pcloud).status_code,
                (409, 503))


class EnteringByNovaTest(EnteringTest):
    """Nova's own call puts the host into the aggregate of the pool."""

    def pool(self, host):
        self.by_nova('add_host', host)
        found, = [each for each in self.flavor()['hosts']
                  if each['host'] == host]
        return found

    def by_nova(self, action, host):
        """Put a host into the aggregate of the pool, or take the host out."""
        self.admin.post_aggregate_action(
            self.aggregate('Pcloud:host_flavor:gpu').id,
            {action: {'host': host}})

    def test_put_in_again(self):
        """Each time it settles."""
        self._free()
        self._put_in_again()
        self.assertIsNotNone(self.flavor()['hosts'][0]['settling'])
        self.check_settling(self.alice, self.pcloud)

    def test_put_in_again_while_somebody_takes_it(self):
        self._free()
        occupants, calls = emptiness.occupants, []

        def look(*args):
            found = occupants(*args)
            if not calls:
                calls.append(args)
                self._put_in_again()
            return found

        with mock.patch.object(emptiness, 'occupants', look):
            self.check_settling(self.alice, self.pcloud)

    def _free(self):
        """End the build; what a change of Pcloud has seen is free."""
        self.gate.failures = 0
        self.gate.open()
        self._wait_for_state_change(self.server, 'ACTIVE')
        self.add_host(self.alice, self.pcloud, 'new', 'gpu', enable=False)
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/hosts/new')
        self.assertEqual({'az1': 1}, self.flavor()['available'])
        self._delete_server(self.server)

    def _put_in_again(self):
        """Take the host out and put it in, a build beginning in between."""
        self.by_nova('remove_host', self.other)
        self.server, _ = self.start(self.bob)
        self.by_nova('add_host', self.other)


class LeavingTest(SettlingTestCase):
    """A host leaves a Pcloud while the Pcloud's servers are built."""

    def furnish(self):
        super().furnish()
        for host in ('node-1', 'node-2'):
            self.assertIsNone(self.pool(host)['settling'])
        self.mine = self.make_pcloud(self.alice)
        self.theirs = self.make_pcloud(self.bob)
        self.names = {self.add_host(self.alice, self.mine, name, 'gpu'): name
                      for name in ('a', 'b')}

    def remove(self, host):
        """Take a host out of the Pcloud."""
        path = f'/os-pclouds/{self.mine}/hosts/{self.names[host]}'
        self.alice.call_json('PUT', path, {'host': {'state': 'disabled'}})
        self.alice.call_json('DELETE', path)

    def in_use(self, user, project):
        """Return the units that a project uses."""
        return user.get_json(f'/os-pcloud-quotas/{project}')[
            'quota']['units']['in_use']

    def test_build_that_fails_frees_the_host(self):
        """Nobody knows the chosen host; no build is tried again."""
        server, first = self.start(self.alice, {'pcloud': self.mine})
        other, = self.names.keys() - {first}
        self.remove(other)
        self.assertEqual(1, self.in_use(self.alice, base.ALICE))
        self.check_settling(self.bob, self.theirs)
        self.gate.open()
        self._wait_for_state_change(server, 'ERROR')
        self.assertEqual(201, self.allocate(
            self.bob, self.theirs).status_code)
        self.assertEqual(set(), self.kinds())

    def test_public_servers_concern_it_not(self):
        _, first = self.start(self.bob)
        self.assertEqual('node-3', first)
        self.remove('node-1')
        self.assertEqual(201, self.allocate(
            self.bob, self.theirs).status_code)

    def test_pcloud_s_servers_concern_no_public_host(self):
        _, first = self.start(self.alice, {'pcloud': self.mine})
        self.assertIn(first, self.names)
        self.assertIsNone(self.pool('node-3')['settling'])
        self.assertEqual(201, self.allocate(
            self.bob, self.theirs).status_code)


class MovingTest(SettlingTestCase):
    """An empty public host enters a pool while a server is resized."""

    def test_resize(self):
        pcloud = self.make_pcloud(self.alice)
        server = self.boot(self.bob)
        source = self.host_of(server)
        other = next(host for host in ('node-1', 'node-2')
                     if host != source)
        self.gate.close(failures=0)
        self.disable_service(other)
        self.act(server, {'resize': {'flavorRef': '2'}})
        self.wait_until(self._held)
        self.assertIsNotNone(self.pool(other)['settling'])
        self.check_settling(self.alice, pcloud)
        self.gate.open()
        self._wait_for_state_change(server, 'VERIFY_RESIZE')
        self.assertNotEqual(other, self.host_of(server))
        self.assertEqual(201, self.allocate(
            self.alice, pcloud).status_code)


class HiddenTest(SettlingTestCase):
    """Servers that look at rest, or like nobody's, and are on their way."""

    def furnish(self):
        super().furnish()
        self.pcloud = self.make_pcloud(self.alice)

    def test_move_whose_compute_has_started_again(self):
        server = self.boot(self.bob)
        with self._targeted() as context:
            migration = objects.Migration(
                context, instance_uuid=server['id'], migration_type='resize',
                status='pre-migrating', source_compute=self.host_of(server))
            migration.create()
        self.pool(next(host for host in self.hosts
                       if host != self.host_of(server)))
        self.check_settling(self.alice, self.pcloud)
        with self._targeted():
            migration.status = 'error'
            migration.save()
        self.assertEqual(
            201, self.allocate(self.alice, self.pcloud).status_code)

    def test_build_that_was_given_up_and_goes_on(self):
        server, first = self.start(self.bob)
        with self._targeted() as context:
            instance = objects.Instance.get_by_uuid(context, server['id'])
            instance.vm_state = vm_states.ERROR
            instance.task_state = task_states.SCHEDULING
            instance.save()
        self.pool(next(host for host in self.hosts if host != first))
        self.check_settling(self.alice, self.pcloud)
        with self._targeted():
            instance.vm_state = vm_states.BUILDING
            instance.task_state = task_states.SPAWNING
            instance.save()

    def test_build_whose_request_is_forgotten(self):
        server, first = self.start(self.bob)
        self.gate.failures = 0
        self._rename_spec(server['id'], self.pcloud)
        self.pool(next(host for host in self.hosts if host != first))
        self.check_settling(self.alice, self.pcloud)
        self._rename_spec(self.pcloud, server['id'])
        self.gate.open()
        self._wait_for_state_change(server, 'ACTIVE')
        self.assertEqual(
            201, self.allocate(self.alice, self.pcloud).status_code)

    def _rename_spec(self, old, new):
        """Have a request spec be somebody else's."""
        row = models.RequestSpec
        with api_db.context_manager.writer.using(self.context) as session:
            session.execute(sa.update(row).where(
                row.instance_uuid == old).values(instance_uuid=new))

    def _targeted(self):
        return nova_context.target_cell(
            self.context, self.cell_mappings['cell1'])


class GoneTest(SettlingTestCase):

    def test_what_is_refused_at_last_is_over(self):
        """A server that ends in ERROR is awaited no longer."""
        pcloud = self.make_pcloud(self.alice)
        server, first = self.start(self.bob)
        self.gate.failures = 3
        other = next(host for host in ('node-1', 'node-2')
                     if host != first)
        self.pool(other)
        self.check_settling(self.alice, pcloud)
        self.gate.open()
        self._wait_for_state_change(server, 'ERROR')
        self.assertEqual(201, self.allocate(
            self.alice, pcloud).status_code)
