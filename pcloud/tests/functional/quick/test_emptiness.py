# SPDX-License-Identifier: Apache-2.0

"""A host that changes hands is empty."""

import contextlib
import datetime
from unittest import mock

from keystoneauth1 import exceptions as ks_exc
from nova.compute import manager
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models
from nova import objects
from nova.scheduler.client import report
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.audit import all_checks
from pcloud.backend.changes import change
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

HOST = 'node-1'
NODE = 'node-1.hv.example.org'
POOL = '/os-host-flavors/gpu/hosts'
BODY = {'host': {'host': HOST}}
# What is said of it.
SERVERS = '1 server is on it'
CONSUMERS = '1 consumer has allocations on it in Placement'

A_WHILE = datetime.timedelta(hours=2)
CONSUMER = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'


class EmptinessTestCase(shared_cloud.SharedCloudTestCase):
    """A host flavor and a Pcloud that have no hosts yet."""

    hosts = {HOST: 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu')
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}/hosts'

    def start(self):
        """Start a server on the host."""
        return self.boot(self.admin, host=HOST)

    def occupy(self):
        """Make the scheduler's allocation on the host, without a server."""
        with api_db.context_manager.writer.using(self.context) as session:
            session.add(api_models.BuildRequest(
                instance_uuid=CONSUMER, project_id=base.ALICE))
        self.allocate(CONSUMER)

    def allocate(self, consumer):
        """Have Placement keep an allocation on the host, and others."""
        provider = self._get_provider_uuid_by_name(NODE)
        body = self.placement.get(
            f'/allocations/{consumer}', version='1.28').body
        response = self.placement.put(f'/allocations/{consumer}', {
            'allocations': {**body['allocations'],
                            provider: {'resources': {'VCPU': 1}}},
            'project_id': base.ALICE, 'user_id': 'alice',
            'consumer_generation': body.get('consumer_generation'),
        }, version='1.28')
        self.assertEqual(204, response.status, response.body)

    def vacate(self):
        """Delete the allocation of `occupy`."""
        self.forget_request()
        self._delete_server_allocations(CONSUMER)

    def forget_request(self):
        """Delete the build request of `occupy`."""
        with api_db.context_manager.writer.using(self.context) as session:
            session.execute(sa.delete(api_models.BuildRequest).where(
                api_models.BuildRequest.instance_uuid == CONSUMER))

    def set_status(self, status):
        """Enable or disable the compute service of the host."""
        self.admin.put_service(self.service_id(HOST), {'status': status})

    def unchanged(self, code, told, user, method, path, body=None):
        """Show that a call is refused and changes nothing."""
        before = self.dump()
        response = user.call(method, path, body)
        self.assertEqual(code, response.status_code, response.text)
        self.assertIn(told, response.text)
        self.assertEqual(before, self.dump())

    def refused(self, code=409, told='is not empty'):
        """Show that the host does not change hands in any way.

        Nova's own calls put the host into the aggregate from which Pcloud
        should take the host.
        """
        self.set_status('disabled')
        self.unchanged(code, told, self.admin, 'POST', POOL, BODY)
        with self._member_of('Pcloud:host_flavor:gpu'):
            for status in ('disabled', 'enabled'):
                self.set_status(status)
                self.unchanged(
                    code, told, self.admin, 'DELETE', f'{POOL}/{HOST}')
            with self._member_of(f'Pcloud:{self.pcloud}', **{
                    'pcloud:host:web': NODE,
                    f'pcloud:host_state:{NODE}': 'disabled'}):
                self.unchanged(
                    code, told, self.alice, 'DELETE', f'{self.path}/web')

    @contextlib.contextmanager
    def _member_of(self, name, **metadata):
        aggregate = self.aggregate(name)
        self._change(aggregate, metadata)
        self.admin.add_host_to_aggregate(aggregate.id, HOST)
        yield
        self.admin.post_aggregate_action(
            aggregate.id, {'remove_host': {'host': HOST}})
        self._change(aggregate, dict.fromkeys(metadata))

    def _change(self, aggregate, metadata):
        if metadata:
            self.admin.post_aggregate_action(
                aggregate.id, {'set_metadata': {'metadata': metadata}})

    def accepted(self):
        """Show that the host changes hands in every way.

        Nova reports the end of an action a little before the end.
        """
        self.set_status('disabled')

        def added():
            response = self.admin.call('POST', POOL, BODY)
            self.assertEqual(201, response.status_code, response.text)

        self.wait_until(added)
        self.add_host(self.alice, self.pcloud, 'web', 'gpu', enable=False)
        self.alice.call_json('DELETE', f'{self.path}/web')
        self.admin.call_json('DELETE', f'{POOL}/{HOST}')
        self.set_status('enabled')


class OrphanTestCase(EmptinessTestCase):
    """What Nova has forgotten in Placement."""

    def kept(self):
        """Return the consumers of the host."""
        provider = self._get_provider_uuid_by_name(NODE)
        return set(self.placement.get(
            f'/resource_providers/{provider}/allocations').body[
                'allocations'])

    def wait_until_gone(self, server):
        """Wait until the API has no server."""
        self.wait_until(lambda: self.assertEqual(404, self.admin.call(
            'GET', f'/servers/{server["id"]}').status_code))

    def leave_behind(self, consumer):
        """Leave an allocation on the host until the end of the test."""
        self.allocate(consumer)
        self.addCleanup(self._delete_server_allocations, consumer)

    def elsewhere(self):
        """Return a server on another host with an allocation on the host."""
        server = self.boot(self.admin, host='node-2')
        self.leave_behind(server['id'])
        self.addCleanup(self._delete_server, server)
        return server

    def change(self, server, **values):
        """Change columns of a server in the cell's database."""
        with nova_context.target_cell(
                self.context, self.cell_mappings['cell1']) as context:
            with main_db.get_context_manager(context).writer.using(
                    context) as session:
                session.execute(sa.update(models.Instance).where(
                    models.Instance.uuid == server['id']).values(values))

    def migration(self, server, status, migration_type, **hosts):
        """Write down a migration of a server, and return the migration."""
        context = nova_context.RequestContext(is_admin=True)
        nova_context.set_target_cell(context, self.cell_mappings['cell1'])
        made = objects.Migration(
            context, instance_uuid=server['id'], status=status,
            migration_type=migration_type, **hosts)
        made.create()
        return made


class OrphanTest(OrphanTestCase):
    """What belongs to nothing keeps no host."""

    def test_server_deleted_while_a_resize_is_reverted(self):
        """Nova loses a race with itself, and forgets the source."""
        server = self.start()
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        migration, = self.admin.call_json(
            'GET', '/os-migrations')['migrations']
        self.addCleanup(self._delete_server_allocations, migration['uuid'])
        finish = manager.ComputeManager.finish_revert_resize

        def finish_late(*args, **kwargs):
            self.wait_until_gone(server)
            return finish(*args, **kwargs)

        with mock.patch.object(
                manager.ComputeManager, 'finish_revert_resize', finish_late):
            self.act(server, {'revertResize': None})
            self.admin.delete_server(server['id'])
            self.wait_until(lambda: self.assertEqual(
                'error', self._status(migration['uuid'])))
        self.assertEqual({migration['uuid']}, self.kept())
        self.accepted()

    def _status(self, migration):
        """Return the status of a migration, which the API shows no longer."""
        with nova_context.target_cell(
                self.context, self.cell_mappings['cell1']) as context:
            return objects.Migration.get_by_uuid(context, migration).status

    def test_server_that_is_deleted(self):
        server = self.start()
        self._delete_server(server)
        self.leave_behind(server['id'])
        self.accepted()

    def test_uuid_that_nova_does_not_know(self):
        self.leave_behind(CONSUMER)
        self.accepted()

    def test_request_that_is_dead(self):
        self.occupy()
        self.addCleanup(self.vacate)
        with api_db.context_manager.writer.using(self.context) as session:
            session.execute(sa.update(api_models.BuildRequest).values(
                created_at=timeutils.utcnow() - A_WHILE))
        self.accepted()

    def test_server_whose_evacuation_failed(self):
        server = self.elsewhere()
        self.migration(server, 'failed', 'evacuation',
                       source_compute='node-2', dest_compute=HOST)
        self.accepted()

    def test_drained_host_is_released(self):
        self.set_status('disabled')
        self.admin.call_json('POST', POOL, BODY)
        self.add_host(self.alice, self.pcloud, 'web', 'gpu')
        self.leave_behind(CONSUMER)
        self.work()
        shown = self.alice.call_json('PUT', f'{self.path}/web', {'host': {
            'state': 'draining', 'drain': {'move': 'none', 'release': True}}})
        self.assertEqual((0, []), (
            len(shown['host']['instances']),
            shown['host']['drain']['blockers']))
        self.work()
        self.assertEqual([], self.alice.get_json(self.path)['hosts'])


class BusyTest(OrphanTestCase):
    """A server elsewhere that may come, or may still be here."""

    def test_server_on_its_way(self):
        server = self.elsewhere()
        now = timeutils.utcnow()
        for way in ({'task_state': 'resize_prep'}, {'vm_state': 'building'},
                    {'host': None}, {'host': None, 'vm_state': 'error'}):
            self.change(server, updated_at=now, **way)
            self._refused()
            self.change(server, updated_at=now - A_WHILE,
                        created_at=now - A_WHILE, **way)
            self._accepted()
            self.change(server, task_state=None, vm_state='active',
                        host='node-2')
        self.change(server, host=None, vm_state='shelved_offloaded',
                    updated_at=now)
        self._accepted()
        self.change(server, host='node-2', vm_state='active')

    def test_guest_that_may_be_here(self):
        server = self.elsewhere()
        self.migration(server, 'error', 'live-migration',
                       source_compute='node-2', dest_compute=HOST)
        self._accepted()
        self.change(server, vm_state='error')
        self._refused()
        self.change(server, vm_state='active')
        self._accepted()

    def _refused(self):
        self.set_status('disabled')
        self.unchanged(409, CONSUMERS, self.admin, 'POST', POOL, BODY)

    def _accepted(self):
        self.set_status('disabled')
        self.admin.call_json('POST', POOL, BODY)
        self.admin.call_json('DELETE', f'{POOL}/{HOST}')


class AfterTheFactTest(EmptinessTestCase):
    """The scheduler's allocation comes between the check and the change.

    The change is then made, and the host is closed until the host is empty.
    """

    @contextlib.contextmanager
    def _occupied_meanwhile(self):
        """Occupy the host right before the host's change is written."""
        original, calls = change.run, []

        def run(*args):
            if not calls:
                calls.append(args)
                self.occupy()
            return original(*args)

        with mock.patch.object(change, 'run', run):
            yield
        self.assertTrue(calls)

    def _is_closed_until_empty(self):
        shown = self.admin.get_json('/os-host-flavors/gpu')['host_flavor']
        self.assertEqual([HOST], [each['host'] for each in shown['hosts']])
        # Placement is asked when somebody wants the host, and not before.
        body = {'host': {'name': 'new', 'host_flavor': 'gpu'}}
        response = self.alice.call('POST', self.path, body)
        self.assertEqual(409, response.status_code)
        self.assertIn('settling', response.text)
        self.assertEqual(['change-not-finished'], [
            each.kind for each in all_checks.find(self.context, settle=0)])
        self.vacate()
        self.alice.call_json('POST', self.path, body)
        self.assertEqual([], all_checks.find(self.context, settle=0))

    def test_added_to_the_pool(self):
        self.set_status('disabled')
        with self._occupied_meanwhile():
            self.admin.call_json('POST', POOL, BODY)
        self._is_closed_until_empty()

    def test_removed_from_the_pcloud(self):
        self.set_status('disabled')
        self.admin.call_json('POST', POOL, BODY)
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': {'cpu_allocation_ratio': 7}})
        # Only a host that was enabled may have requests on their way.
        self.add_host(self.alice, self.pcloud, 'web', 'gpu')
        self.alice.call_json('PUT', f'{self.path}/web', {
            'host': {'state': 'disabled'}})
        with self._occupied_meanwhile():
            self.alice.call_json('DELETE', f'{self.path}/web')
        self._is_closed_until_empty()


class SilentPlacementTest(EmptinessTestCase):
    """Placement refuses the updates after a change."""

    def furnish(self):
        super().furnish()
        self.put = mock.patch.object(
            report.SchedulerReportClient, 'put',
            side_effect=ks_exc.ConnectFailure())
        self.set_status('disabled')

    def _status(self):
        return self.dump()['services'][HOST][0]

    def test_host_that_came_into_the_pool(self):
        with self.put:
            self.admin.call_json('POST', POOL, BODY)
        self.assertEqual('disabled', self._status())
        self.boot(self.admin, expected='ERROR', host=HOST)
        self.add_host(self.alice, self.pcloud, 'web', 'gpu')
        self.assertEqual('enabled', self._status())

    def test_host_that_left_the_pool(self):
        self.admin.call_json('POST', POOL, BODY)
        with self.put:
            self.admin.call_json('DELETE', f'{POOL}/{HOST}')
            # As long as Placement keeps the host in the pool.
            self.assertEqual(503, self.admin.call(
                'DELETE', '/os-host-flavors/gpu').status_code)
        self.assertEqual(['change-not-finished'], [
            each.kind for each in all_checks.find(self.context, settle=0)])
        self.assertEqual('disabled', self._status())
        self.set_status('enabled')
        self.boot(self.admin, expected='ERROR', host=HOST)
        self.admin.call_json('DELETE', '/os-host-flavors/gpu')
        self.assertEqual('disabled', self._status())
        self.set_status('enabled')
        self.boot(self.admin, host=HOST)
