# SPDX-License-Identifier: Apache-2.0

"""Hosts that the worker empties while the guests count."""

import shutil
import subprocess
import sys
import tempfile

from pcloud.client import exceptions
from pcloud.tests.cloud import waiting
from pcloud.tests.hypervisors import base
from pcloud.tests.hypervisors import guests
from pcloud_sandbox import launcher


class DrainingTest(base.HypervisorTest):

    def setUp(self):
        super().setUp()
        self.add_host('h1')

    def drain(self, **wish):
        self.owner.pclouds.drain_host(self.pcloud.id, 'h1', **wish)

    def shown_drain(self):
        """Return the drain of h1, None when h1 has left."""
        try:
            return self.owner.pclouds.get_host(self.pcloud.id, 'h1').drain
        except exceptions.NotFound:
            return None

    def blockers(self):
        return {each['server']: each['rule']
                for each in self.shown_drain()['blockers']}

    def remaining(self):
        return set(self.shown_drain()['remaining'])

    def until_empty(self):
        waiting.until(lambda: not self.remaining(),
                      lambda: f'h1 is empty: {self.shown_drain()}')

    def test_live(self):
        servers = self.counting(2)
        self.add_host('h2')
        before = [self.last(each) for each in servers]
        self.drain(move='live', release=True)
        beside = self.started()
        waiting.until(lambda: self.names() == ['h2'],
                      lambda: f'h1 has left: {self.shown_drain()}')
        self.assertEqual({self.real('h2')},
                         set(map(self.host_of, [*servers, beside])))
        for server, tick in zip(servers, before):
            self.assertEqual('ACTIVE', self.shown(server).status)
            self.assert_went_on(server, tick)
        self.assert_audit()

    def test_any_moves_stopped_servers(self):
        stopped, running = self.counting(2)
        before = [self.last(each) for each in (stopped, running)]
        self.owner.cloud.compute.stop_server(stopped.id)
        self.wait_for(stopped, 'SHUTOFF')
        self.add_host('h2')
        self.drain(move='live')
        waiting.until(lambda: self.remaining() == {stopped.id},
                      lambda: f'one is left: {self.shown_drain()}')
        self.assertEqual({stopped.id: 'not_migratable'}, self.blockers())
        self.drain(move='any')
        beside = self.started()
        self.until_empty()
        self.wait_for(stopped, 'SHUTOFF')
        self.assertEqual({self.real('h2')}, set(map(
            self.host_of, (stopped, running, beside))))
        self.assert_went_on(running, before[1])
        self.owner.cloud.compute.start_server(stopped.id)
        self.assert_started_again(stopped, before[0])

    def test_what_stays(self):
        locked, paused, free = self.counting(3)
        pinned = self.started(pcloud_host='h1')
        compute = self.owner.cloud.compute
        compute.lock_server(locked.id)
        compute.pause_server(paused.id)
        self.wait_for(paused, 'PAUSED')
        self.add_host('h2')
        before = [self.last(each) for each in (locked, free)]
        self.drain(move='live', release=True)
        waiting.until(
            lambda: self.remaining() == {locked.id, pinned.id},
            lambda: f'two are left: {self.shown_drain()}')
        self.assertEqual({locked.id: 'locked', pinned.id: 'placement'},
                         self.blockers())
        self.assertEqual(
            ['PAUSED', 'ACTIVE', 'ACTIVE', 'ACTIVE'],
            [self.shown(each).status
             for each in (paused, locked, pinned, free)])
        for server, tick in zip((locked, free), before):
            self.assert_went_on(server, tick)
        # A guest that was paused goes on where the guest stopped.
        compute.unpause_server(paused.id)
        self.wait_for(paused, 'ACTIVE')
        self.assertEqual(self.real('h2'), self.host_of(paused))
        self.assertEqual(1, self.last(paused).boots)

    def test_disk_in_the_way(self):
        """What Nova cannot move is a blocker, and is tried again."""
        server, = self.counting(1)
        before = self.last(server)
        self.add_host('h2')
        # Nova refuses to overwrite a folder that was left behind.
        there = self.where.host_data(self.real('h2')) / 'instances'
        (there / server.id).mkdir()
        self.drain(move='live')
        waiting.until(
            lambda: ['migration_failed'] == [
                each['code'] for each in self.shown_drain()['blockers']],
            lambda: f'the move fails: {self.shown_drain()}')
        self.assertEqual(('ACTIVE', self.real('h1')),
                         (self.shown(server).status, self.host_of(server)))
        self.assert_went_on(server, before)
        self.assert_drained(server, before)

    def until_moving(self, server):
        """Wait until the worker has begun to move a server."""
        waiting.until(lambda: self.shown(server).task_state == 'migrating',
                      lambda: f'a server moves: {self.shown_drain()}')

    def begun(self):
        """Begin to move a server; return the server and its last tick."""
        server, = self.counting(1)
        before = self.last(server)
        self.add_host('h2')
        self.drain(move='live')
        self.until_moving(server)
        return server, before

    def assert_drained(self, server, before):
        """Assert that the guest went on, in the end on h2."""
        self.until_empty()
        self.assertEqual(('ACTIVE', self.real('h2')),
                         (self.shown(server).status, self.host_of(server)))
        self.assert_went_on(server, before)
        self.assert_audit()

    def migration(self, server):
        """Return the status of the latest migration of a server."""
        found = self.admin.call('GET', '/os-migrations?instance_uuid='
                                f'{server.id}').json()['migrations']
        return found[0]['status'] if found else None

    def work(self, **options):
        """Have one more worker look once, with options of its own."""
        with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
            file.write('[pcloud]\n' + ''.join(
                f'{name} = {value}\n' for name, value in options.items()))
            file.flush()
            subprocess.run(
                [sys.executable, '-m', 'pcloud.cmd.manage',
                 '--config-file', str(self.where.nova_conf),
                 '--config-file', file.name, 'work', '--once'],
                check=True, capture_output=True)

    def test_compute_is_killed(self):
        """Nova forgets what nova-compute had not asked the hypervisor for.

        The server is blocked, and not broken; once the request has waited for
        too long, the drain goes on.
        """
        server, before = self.begun()
        part = f'nova-compute-{self.real("h1")}'
        waiting.until(lambda: self.migration(server) != 'accepted',
                      'a host has been found')
        self.kill(part)
        self.assertEqual({server.id: 'migration'}, self.blockers())
        launcher.start_service(self.where, part)
        self.wait_for(server, 'ACTIVE')

        # A migration that the hypervisor had begun has failed, says Nova.
        def is_over():
            self.work(settle_limit=1)
            return self.migration(server) in ('error', 'failed')

        waiting.until(is_over, lambda: self.migration(server))
        waiting.until(lambda: self.blockers() == {server.id: 'migration'},
                      lambda: f'the server waits: {self.shown_drain()}')
        self.assertEqual(self.real('h1'), self.host_of(server))
        self.assert_went_on(server, before)
        # Nova refuses to overwrite what the killed migration has left there.
        shutil.rmtree(self.where.host_data(self.real('h2')) / 'instances' /
                      server.id, ignore_errors=True)
        self.assert_drained(server, before)

    def test_compute_of_the_target_is_killed(self):
        server, before = self.begun()
        part = f'nova-compute-{self.real("h2")}'
        waiting.until(lambda: self.migration(server) != 'accepted',
                      'a host has been found')
        self.kill(part)
        self.assertEqual({server.id: 'migration'}, self.blockers())
        launcher.start_service(self.where, part)
        self.assert_drained(server, before)

    def test_libvirtd_is_killed(self):
        server, before = self.begun()
        for each in self.inside(self.real('h1'), 'libvirtd'):
            each.kill()
        self.assert_drained(server, before)

    def test_guest_is_killed(self):
        """A guest that ends on the way is left inside; the other arrives."""
        servers = self.counting(2)
        before = {each.id: self.last(each) for each in servers}
        self.add_host('h2')
        there = {self.real('h1'), self.real('h2')}
        self.drain(move='live')
        victim = waiting.until(
            lambda: next((each for each in servers if self.shown(
                each).task_state == 'migrating'), None),
            lambda: f'a server moves: {self.shown_drain()}')
        other, = (each for each in servers if each is not victim)
        for process in self.inside(self.real('h1'), 'qemu'):
            if victim.id in process.cmdline():
                process.kill()
        waiting.until(lambda: other.id not in self.remaining(),
                      lambda: f'the other moves: {self.shown_drain()}')
        self.wait_for(other, 'ACTIVE')
        self.assertEqual(self.real('h2'), self.host_of(other))
        self.assert_went_on(other, before[other.id])
        waiting.until(lambda: self.shown(victim).task_state is None,
                      'the move is over')
        self.assertIn(self.host_of(victim), there)
        self.assert_audit()

        # Nova calls such a server stopped or in error, and so does the drain.
        waiting.until(lambda: self.shown(victim).status in (
            'SHUTOFF', 'ERROR'), 'Nova knows of the end')
        if victim.id in self.remaining():
            self.assertIn(self.blockers()[victim.id],
                          ('error', 'not_migratable', 'migration'))
        self.admin.cloud.compute.reset_server_state(victim.id, 'active')
        self.owner.cloud.compute.reboot_server(victim.id, 'HARD')
        guests.other_boot(self.owner, victim, before[victim.id])
        self.assertIn(self.host_of(victim), there)
