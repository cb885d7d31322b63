# SPDX-License-Identifier: Apache-2.0

"""Placement keys through real Nova: the use cases of the algorithm."""

from unittest import mock

from pcloud.backend.cells import computes
from pcloud.tests.functional.quick import test_affinity
from pcloud.tests.support import base

APART = test_affinity.APART
POLICIES = test_affinity.POLICIES
TOGETHER = test_affinity.TOGETHER


class CustomerTest(test_affinity.AffinityTestCase):

    def test_keep_together(self):
        first = self.started(TOGETHER)
        self.assertEqual([first] * 2, [self.started(TOGETHER)
                                       for _ in range(2)])
        self.assertEqual([first] * 3, self.several(3, TOGETHER))

    def test_keep_apart(self):
        found = {self.started(APART) for _ in range(3)}
        self.assertEqual(3, len(found))
        fourth = self.started(APART)
        self.assertEqual(set(self.hosts), found | {fourth})
        # There is no host left without one; it starts all the same.
        self.assertIn(self.started(APART), self.hosts)

    def test_siblings_keep_apart(self):
        self.assertEqual(sorted(self.hosts), self.several(4, APART))

    def test_above_every_other_weigher(self):
        first = self.started(TOGETHER)
        self.flags(ram_weight_multiplier=1000000.0,
                   cpu_weight_multiplier=1000000.0,
                   group='filter_scheduler')
        self.assertEqual(first, self.started(TOGETHER))

    def test_levels_of_customer_keys(self):
        first = self.started('A=1:100')
        other = self.started('A=3:-1', 'B=2:1', 'A.x=0:1')
        if other == first:
            other = self.started('A=1:-100', 'B=2:1')
        self.set_policy('project', base.ALICE, customer_keys=['A=1:100'])
        self.assertEqual(first, self.started())
        flavor = self.flavor(**{'pcloud__customer_key__A': '1:-100'})
        self.assertNotEqual(first, self.started(flavorRef=flavor))
        self.assertEqual(first, self.started('A=1:100', flavorRef=flavor))
        self.assertEqual(404, self.admin.call(
            'GET', f'{POLICIES}/project/{base.BOB}').status_code)

    def test_scope_of_customer_keys(self):
        theirs = self.started(TOGETHER, user=self.bob)
        self.assertEqual(theirs, self.started(TOGETHER))
        self.flags(customer_key_scope='project', group='pcloud')
        mine = {self.started('Other=1:-100') for _ in range(3)}
        self.started('Other=1:-100', user=self.bob)
        self.assertNotIn(self.started('Other=1:-100'), mine)

    def test_reserved_keys_of_hosts(self):
        self.node_keys('node-3', **{'key:_gpus': '4'})
        self.node_keys('node-2', **{'key:_gpus': '2'})
        self.assertEqual('node-3', self.started('_gpus=4:10'))
        self.assertEqual('node-2', self.started('_gpus=2.2:10'))

    def test_keys_of_another_flavor(self):
        first = self.started(TOGETHER, APART)
        server = self.boot(self.alice, {'placement_key': APART})
        other = self.started(APART, 'Group2=1:1')
        self.assertEqual(3, len({first, other, self.host_of(server)}))
        self._resize(server, self.flavor(**{
            'pcloud__customer_key__Group1': '1:500',
            'pcloud__customer_key__New': '1:1'}))
        self.assertEqual(first, self.host_of(server))
        self.assertEqual(first, self.started('New=1:1'))
        self._resize(server, self.flavor(**{
            'pcloud__customer_key__Group2': '1:500'}))
        self.assertEqual(other, self.host_of(server))

    def _resize(self, server, flavor):
        self.act(server, {'resize': {'flavorRef': flavor}})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status='ACTIVE')

    def test_deleted_for_the_moment(self):
        self.flags(reclaim_instance_interval=3600)
        server = self.boot(self.alice, {'placement_key': TOGETHER})
        host = self.host_of(server)
        running = computes.running(self.context, [host])
        self.assertEqual([server['id']], [
            each.uuid for each in running[host]])
        self.alice.delete_server(server['id'])
        self.wait_for(server, status='SOFT_DELETED')
        self.assertFalse(computes.running(self.context, [host]))

    def test_no_query_per_host_and_none_without_keys(self):
        with mock.patch.object(computes, 'running',
                               wraps=computes.running) as read:
            self.several(3)
            self.assertEqual(0, read.call_count)
            self.several(3, TOGETHER)
        self.assertEqual(1, read.call_count)
