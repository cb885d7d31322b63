# SPDX-License-Identifier: Apache-2.0

"""Hosts that die, and whose servers run again inside of their Pcloud."""

import shutil

from pcloud.tests.cloud.own import chosen
from pcloud.tests.cloud import waiting
from pcloud.tests.hypervisors import base
from pcloud_sandbox.configuration import parts

# The zone of two of the three hosts.
ZONE = 'az1'
# Seconds: more than the time between two reports of a host.
AFTER = 15


class RecoveryTest(base.HypervisorTest):

    def setUp(self):
        self.addCleanup(self.remove_shared_disks)
        super().setUp()
        self.add_host('h1', ZONE)
        self.here = self.real('h1')
        self.machine = parts.hypervisor(self.here)

    def choose(self, *, recovery_shared_disks):
        """Set options of [pcloud], and restart what reads the options."""
        chosen.choose(
            self.where, recovery_after=str(AFTER), recovery_max_hosts='100',
            recovery_shared_disks=str(recovery_shared_disks))
        waiting.until(self.answers, 'Nova answers')

    def answers(self):
        return self.owner.call('GET', '/os-pclouds').status_code == 200

    def recovery(self):
        return self.owner.pclouds.get_host(self.pcloud.id, 'h1').recovery

    def blockers(self):
        found = self.recovery() or {}
        return {each['server']: each['rule']
                for each in found.get('blockers', ())}

    def units(self):
        return self.owner.pclouds.get_quota(self.pcloud.owner).units_in_use

    def share_disks(self, servers):
        """Show the other hosts the disks, as a shared file system does."""
        mine = self.where.host_data(self.here) / 'instances'
        for host in base.host_names(self.where):
            theirs = self.where.host_data(host) / 'instances'
            if host != self.here:
                shutil.copytree(mine / '_base', theirs / '_base',
                                dirs_exist_ok=True)
                for each in servers:
                    (theirs / each.id).symlink_to(mine / each.id)

    def remove_shared_disks(self):
        """Remove the disks that hosts still show, once no server runs."""
        for host in base.host_names(self.where):
            for path in (self.where.host_data(host) / 'instances').iterdir():
                if path.is_symlink():
                    shutil.rmtree(path.resolve(), ignore_errors=True)
                    path.unlink()

    def test_servers_run_again(self):
        self.choose(recovery_shared_disks=False)
        self.owner.pclouds.update_pcloud(
            self.pcloud.id, host_recovery='replace')
        running, locked, stopped = servers = self.counting(3)
        before = [self.last(each) for each in servers]
        compute = self.owner.cloud.compute
        compute.stop_server(stopped.id)
        self.wait_for(stopped, 'SHUTOFF')
        compute.lock_server(locked.id)
        units = self.units()
        self.kill(self.machine)
        self.assertIsNone(self.recovery())
        self.admin.pclouds.set_fenced(base.FLAVOR, self.here, True)

        # Nobody has said that the disks are shared.
        waiting.until(
            lambda: self.blockers() == dict.fromkeys(
                (each.id for each in servers), 'local_disk'),
            lambda: f'all servers are blocked: {self.recovery()}')
        name = self.recovery()['replacement']
        self.assertEqual(units, self.units())
        self.assertEqual({self.here}, set(map(self.host_of, servers)))

        self.share_disks(servers)
        self.choose(recovery_shared_disks=True)
        there = self.real(name)
        waiting.until(
            lambda: set(map(self.host_of, servers)) == {there},
            lambda: f'the servers have moved: {self.recovery()}')
        for server, tick in zip((running, locked), before):
            self.wait_for(server, 'ACTIVE')
            self.assert_started_again(server, tick)
        self.wait_for(stopped, 'SHUTOFF')
        self.assertTrue(self.shown(locked).is_locked)
        beside = self.started()
        self.assertEqual(there, self.host_of(beside))
        self.assertEqual(units, self.units())
        self.assert_audit()

        self.repair()
        waiting.until(lambda: self.names() == [name],
                      lambda: f'the failed host has left: {self.recovery()}')
        self.assertEqual(units, self.units())
        compute.start_server(stopped.id)
        self.assert_started_again(stopped, before[2])
        self.assert_audit()

    def test_host_returns_with_its_disks(self):
        self.choose(recovery_shared_disks=False)
        self.owner.pclouds.update_pcloud(
            self.pcloud.id, host_recovery='in_place')
        server, = self.counting(1)
        before = self.last(server)
        self.add_host('h2')
        self.kill(self.machine)
        self.admin.pclouds.set_fenced(base.FLAVOR, self.here, True)
        waiting.until(lambda: self.blockers() == {server.id: 'local_disk'},
                      lambda: f'the server is blocked: {self.recovery()}')
        self.repair()
        waiting.until(
            lambda: (self.recovery() or {}).get('state') in (None, 'done'),
            lambda: f'the recovery has ended: {self.recovery()}')
        self.assertEqual(self.here, self.host_of(server))
        self.owner.cloud.compute.reboot_server(server.id, 'HARD')
        self.assert_started_again(server, before)
        self.wait_for(server, 'ACTIVE')
        self.assert_audit()
