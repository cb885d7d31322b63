# SPDX-License-Identifier: Apache-2.0

"""A host that changes hands is empty."""

from nova import context as nova_context
from nova import objects

from pcloud.tests.functional.quick import test_emptiness

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
