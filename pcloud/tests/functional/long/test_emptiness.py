# SPDX-License-Identifier: Apache-2.0

"""A host that changes hands is empty."""

import contextlib
from unittest import mock

from keystoneauth1 import exceptions as ks_exc
from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler.client import report
from oslo_utils import timeutils

from pcloud.audit import all_checks
from pcloud.backend.cells import computes
from pcloud.backend.cells import consumers
from pcloud.tests.functional.quick import test_emptiness

A_WHILE = test_emptiness.A_WHILE
BODY = test_emptiness.BODY
CONSUMER = test_emptiness.CONSUMER
HOST = test_emptiness.HOST
POOL = test_emptiness.POOL
SERVERS = test_emptiness.SERVERS

MOVES = '1 migration from or to it is not over'


class OccupiedTest(test_emptiness.EmptinessTestCase):
    """Each way in which a server occupies a host, and the end of that way."""

    def test_server_in_any_state(self):
        self.flags(shelved_offload_time=-1, reclaim_instance_interval=3600)
        server = self.start()
        for action, status in (
                (None, 'ACTIVE'),
                ({'os-stop': None}, 'SHUTOFF'),
                ({'os-start': None}, 'ACTIVE'),
                ({'shelve': None}, 'SHELVED'),
                ({'unshelve': None}, 'ACTIVE'),
                ({'os-resetState': {'state': 'error'}}, 'ERROR'),
                ({'os-resetState': {'state': 'active'}}, 'ACTIVE')):
            if action:
                self.act(server, action)
            self.wait_for(server, status=status)
            self.refused(told=test_emptiness.SERVERS)
        self.admin.delete_server(server['id'])
        self.wait_for(server, status='SOFT_DELETED')
        self.refused(told=test_emptiness.SERVERS)
        self.act(server, {'forceDelete': None})
        self._wait_until_deleted(server)
        self.accepted()

    def test_what_is_there_is_named(self):
        server = self.start()
        self._assert_named(('server', server['id']),
                           ('allocation', server['id']))
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        migration, = self.admin.call_json(
            'GET', '/os-migrations')['migrations']
        self._assert_named(('migration', migration['uuid']),
                           ('allocation', migration['uuid']),
                           blocked='resize_not_confirmed')

    def _assert_named(self, *expected, blocked=None):
        self.set_status('disabled')
        fault = self.admin.call(
            'POST', test_emptiness.POOL,
            test_emptiness.BODY).json()['conflictingRequest']
        blockers = fault.pop('blockers', [])
        self.assertEqual([blocked] if blocked else [],
                         [each['rule'] for each in blockers])
        self.assertEqual({'code', 'message', 'reasons'}, set(fault))
        self.assertEqual(
            [{'type': kind, 'uuid': uuid} for kind, uuid in expected],
            fault['reasons'])

    def test_server_that_is_shelved_and_offloaded(self):
        server = self.start()
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self.accepted()

    def test_source_of_a_resize(self):
        server = self.start()
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.assertEqual('node-2', self.host_of(server))
        self.refused(told=MOVES)
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status='ACTIVE')
        self.accepted()

    def test_target_of_a_resize(self):
        server = self.boot(self.admin, host='node-2')
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.assertEqual(test_emptiness.HOST, self.host_of(server))
        self.refused(told=MOVES)
        self.act(server, {'revertResize': None})
        self.wait_for(server, status='ACTIVE')
        self.accepted()

    def test_build_that_has_only_begun(self):
        self.occupy()
        self.refused(told=test_emptiness.CONSUMERS)
        self.vacate()
        self.accepted()


class EvacuatedTest(test_emptiness.EmptinessTestCase):
    """The compute service of the host starts again."""

    own_cloud = True

    def test_server_that_was_evacuated(self):
        """What it left behind is removed when its host is back."""
        server = self.start()
        self.set_down(test_emptiness.HOST)
        self.act(server, {'evacuate': {}})
        self.wait_for(server, **{'OS-EXT-SRV-ATTR:host': 'node-2'})
        self._wait_for_migration_status(server, ['done'])
        self.refused(told=test_emptiness.CONSUMERS)
        self.computes[test_emptiness.HOST] = self.restart_compute_service(
            self.computes[test_emptiness.HOST])
        self._wait_for_migration_status(server, ['completed'])
        self.set_down(test_emptiness.HOST, down=False)
        self.accepted()


class MigrationTest(test_emptiness.EmptinessTestCase):
    """A migration occupies source and target until the migration's end."""

    def _migration(self, **hosts):
        server = self.boot(self.admin, host='node-2')
        context = nova_context.RequestContext(is_admin=True)
        nova_context.set_target_cell(context, self.cell_mappings['cell1'])
        migration = objects.Migration(
            context, instance_uuid=server['id'], status='accepted',
            migration_type='migration', **hosts)
        migration.create()
        return migration

    def _check(self, migration):
        self.refused(told=MOVES)
        self.set_status('disabled')
        for status in ('accepted', 'queued', 'preparing', 'running',
                       'pre-migrating', 'migrating', 'post-migrating',
                       'finished', 'confirming', 'reverting', 'unheard-of'):
            self._set(migration, status)
            self.unchanged(409, MOVES, self.admin, 'POST',
                           test_emptiness.POOL, test_emptiness.BODY)
        for status in ('confirmed', 'reverted', 'error', 'failed',
                       'completed', 'cancelled', 'done'):
            self._set(migration, status)
            self.admin.call_json(
                'POST', test_emptiness.POOL, test_emptiness.BODY)
            self.admin.call_json(
                'DELETE', f'{test_emptiness.POOL}/{test_emptiness.HOST}')
        self.accepted()

    def _set(self, migration, status):
        migration.status = status
        migration.save()

    def test_from_the_host(self):
        self._check(self._migration(
            source_compute=test_emptiness.HOST,
            source_node=test_emptiness.NODE, dest_compute='node-2'))

    def test_to_the_host(self):
        self._check(self._migration(
            source_compute='node-2', source_node='node-2.hv.example.org',
            dest_compute=test_emptiness.HOST))


class CellTest(test_emptiness.EmptinessTestCase):
    """The host is in a cell with few hosts, and cells may not answer."""

    NUMBER_OF_CELLS = 2
    cells = {HOST: 'cell2', 'node-2': 'cell1'}

    def _start_compute(self, host, cell_name=None):
        return super()._start_compute(host, self.cells[host])

    def test_server_in_the_second_cell(self):
        server = self.start()
        with nova_context.target_cell(
                self.context, self.cell_mappings['cell2']) as context:
            found = objects.Instance.get_by_uuid(context, server['id'])
        self.assertEqual(HOST, found.host)
        self.refused(told=SERVERS)
        self._delete_server(server)
        self.accepted()

    @contextlib.contextmanager
    def _silent(self, cell, name):
        """Have a cell not answer a question about the cell's hosts."""
        read = getattr(computes, name)

        def answer(context, *args):
            if context.cell_uuid == self.cell_mappings[cell].uuid:
                raise nova_exception.CellTimeout()
            return read(context, *args)

        with mock.patch.object(computes, name, answer):
            yield

    def test_cell_that_does_not_answer(self):
        for name in ('_servers_and_migrations',):
            with self._silent('cell2', name):
                self.refused(503, 'does not answer')
        self.accepted()

    def test_other_cell_that_does_not_answer(self):
        for name in ('_servers_and_migrations',):
            with self._silent('cell1', name):
                self.accepted()

    def test_consumer_in_a_cell_that_does_not_answer(self):
        server = self.boot(self.admin, host='node-2')
        self.allocate(server['id'])
        with mock.patch.object(
                consumers, '_in_cell', self._unanswered('cell1')):
            self.refused(503, 'does not answer')
            self.set_status('disabled')
            with self._member_of('Pcloud:host_flavor:gpu'):
                self.flags(settle_limit=1, group='pcloud')
                self.assertEqual([('not-looked-at', 'allocations')], [
                    (each.kind, each.aggregate) for each
                    in all_checks.find(self.context, settle=0)
                    if 'alloc' in f'{each.kind}{each.aggregate}'])
        self.accepted()
        self._delete_server(server)

    def _unanswered(self, cell):
        read = consumers._in_cell

        def answer(context, *args):
            if context.cell_uuid == self.cell_mappings[cell].uuid:
                raise nova_exception.CellTimeout()
            return read(context, *args)

        return answer

    def test_placement_that_does_not_answer(self):
        get = report.SchedulerReportClient.get

        def answer(client, url, *args, **kwargs):
            if url.endswith('/allocations'):
                raise ks_exc.ConnectFailure()
            return get(client, url, *args, **kwargs)

        with mock.patch.object(report.SchedulerReportClient, 'get', answer):
            self.refused(503, 'does not answer')
        self.accepted()


class FoundOrphanTest(test_emptiness.OrphanTestCase):
    """An audit names and deletes what nobody will delete any more."""

    def furnish(self):
        super().furnish()
        self.set_status('disabled')
        self.admin.call_json('POST', POOL, BODY)

    def find(self):
        return [each for each in all_checks.find(self.context, settle=0)
                if each.kind == 'orphan-allocation']

    def wait_for_finding(self):
        """Return the finding when the orphan has become old."""
        def found():
            finding, = self.find() or [None]
            self.assertIsNotNone(finding)
            return finding

        self.flags(settle_limit=1, group='pcloud')
        return self.wait_until(found)

    def test_young_one_is_not_named(self):
        self.leave_behind(CONSUMER)
        self.assertEqual([], all_checks.find(self.context, settle=0))

    def test_it_is_named_and_deleted(self):
        self.allocate(CONSUMER)
        finding = self.wait_for_finding()
        self.assertEqual(HOST, finding.subject)
        self.assertIn(CONSUMER, finding.message)
        shown, = [each for each in self.admin.get_json('/os-pcloud-audit')[
            'findings'] if each['kind'] == 'orphan-allocation']
        self.assertEqual((HOST, 'pcloud-manage audit --fix'),
                         (shown['host'], shown['repair']))
        self.assertEqual('the allocation is deleted',
                         finding.repair(self.context))
        self.assertEqual((set(), []), (self.kept(), self.find()))

    def test_server_just_deleted_is_not_named(self):
        server = self.boot(self.admin, host='node-2')
        self.leave_behind(server['id'])
        self.wait_for_finding()
        self.change(server, deleted=1, deleted_at=timeutils.utcnow() + A_WHILE)
        self.assertEqual([], self.find())
        self.change(server, deleted=0, deleted_at=None)
        self._delete_server(server)

    def test_server_keeps_its_allocation_elsewhere(self):
        server = self.elsewhere()
        other = self._get_provider_uuid_by_name('node-2.hv.example.org')
        self.wait_for_finding().repair(self.context)
        self.assertEqual(set(), self.kept())
        self.assertEqual([other], list(self.placement.get(
            f'/allocations/{server["id"]}').body['allocations']))

    def test_server_with_a_migration_that_is_not_over_is_not_named(self):
        """A copy of a disk takes hours; a killed nova-compute ends nothing."""
        server = self.elsewhere()
        self.wait_for_finding()
        migration = self.migration(
            server, 'running', 'live-migration', source_compute='node-2',
            source_node='node-2.hv.example.org', dest_compute=HOST)
        self.assertEqual([], self.find())
        migration.status = 'error'
        migration.save()
        self.assertEqual(1, len(self.find()))

    def test_what_belongs_to_a_server_by_then_is_kept(self):
        self.leave_behind(CONSUMER)
        finding = self.wait_for_finding()
        self.flags(settle_limit=3600, group='pcloud')
        self.occupy()
        self.addCleanup(self.vacate)
        self.assertEqual('it was done meanwhile',
                         finding.repair(self.context))
        self.assertEqual({CONSUMER}, self.kept())

    def test_claim_at_the_same_moment_is_kept(self):
        """The scheduler claims after the look, and before the deletion."""
        server = self.elsewhere()
        finding = self.wait_for_finding()
        orphans, calls = consumers.orphans, []

        def look(*args):
            found = orphans(*args)
            if not calls:
                calls.append(args)
                self.allocate(server['id'])
                self.change(server, task_state='resize_prep',
                            updated_at=timeutils.utcnow() + A_WHILE)
            return found

        with mock.patch.object(consumers, 'orphans', look):
            finding.repair(self.context)
        self.assertEqual({server['id']}, self.kept())
        self.change(server, task_state=None)
