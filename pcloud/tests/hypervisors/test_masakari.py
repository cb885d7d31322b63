# SPDX-License-Identifier: Apache-2.0

"""Masakari's own engine recovers hosts of a Pcloud, whose owner has not asked.

Pcloud itself does nothing, for nobody has fenced the hosts.
"""

import json

from pcloud.tests.cloud.own import audit
from pcloud.tests.cloud import waiting
from pcloud.tests.hypervisors import base
from pcloud.tests.hypervisors import masakari
from pcloud_sandbox.configuration import parts


class MasakariTest(base.HypervisorTest):

    def setUp(self):
        super().setUp()
        self.add_host('h1')
        self.here = self.real('h1')
        self.servers = self.counting(2)
        self.before = [self.last(each) for each in self.servers]
        self.engine = self.enterContext(masakari.Engine(self.where))

    def die(self):
        self.kill(parts.hypervisor(self.here))
        compute = self.admin.cloud.compute
        waiting.until(lambda: 'down' in {
            each.state for each in compute.services(
                host=self.here, binary='nova-compute')}, 'the host is down')

    def test_auto(self):
        self.add_host('h2')
        self.die()
        self.assertEqual('finished', self.engine.host_has_failed(
            masakari.AUTO, self.here), self.engine.log)
        self.assertEqual({self.real('h2')},
                         set(map(self.host_of, self.servers)))
        for server, tick in zip(self.servers, self.before):
            self.wait_for(server, 'ACTIVE')
            self.assertFalse(self.shown(server).is_locked)
            # Masakari asks Nova whatever disks there are.
            self.assert_built_anew(server, tick)
        self.assertEqual(
            [None, None], [each.recovery for each in
                           self.owner.pclouds.list_hosts(self.pcloud.id)])
        beside = self.started()
        self.assertEqual(self.real('h2'), self.host_of(beside))
        self.assert_audit()

    def test_auto_without_room_inside(self):
        """Nova finds no host, whoever asks, and no host outside."""
        self.die()
        self.assertEqual('error', self.engine.host_has_failed(
            masakari.AUTO, self.here), self.engine.log)
        self.assertEqual({self.here}, set(map(self.host_of, self.servers)))

    def test_reserved_host(self):
        """A host that Masakari puts into the aggregate is open to nobody."""
        foreign, *_ = (host for host in base.host_names(self.where)
                       if host != self.here)
        self.addCleanup(self.take_out, foreign)
        self.die()
        self.assertEqual('error', self.engine.host_has_failed(
            masakari.RESERVED, self.here, foreign), self.engine.log)
        self.assertIn(foreign, self.aggregate().hosts)
        self.assertEqual({self.here}, set(map(self.host_of, self.servers)))
        for hints in ({'pcloud': self.pcloud.id}, {}):
            self.assertEqual('ERROR', self.boot(**hints).status)
        self.assertEqual(['h1'], self.names())
        _, found = audit.run(self.where)
        self.assertIn(foreign, json.dumps(found))

    def aggregate(self):
        """Return Nova's aggregate of the Pcloud."""
        found, = (each for each in self.admin.cloud.compute.aggregates()
                  if each.name == f'Pcloud:{self.pcloud.id}')
        return found

    def take_out(self, host):
        """Take a host out of the Pcloud's aggregate, as an operator does."""
        if host in self.aggregate().hosts:
            self.admin.cloud.compute.remove_host_from_aggregate(
                self.aggregate().id, host)
