# SPDX-License-Identifier: Apache-2.0

"""Placement keys of customers and of the system, on two hosts."""

from pcloud.tests.cloud import base
from pcloud.tests.cloud import needs

TOGETHER, APART = 'Group1=1:100', 'Repel1=1:-100'


@needs.filter_enabled('AffinityFilter')
class PlacementKeysTest(base.CloudTest):

    def setUp(self):
        super().setUp()
        self.pcloud = self.new_pcloud(hosts=2).id

    def _host(self, *keys, **options):
        """Start a server with customer keys, and return the host."""
        hints = {'placement_key': list(keys)} if keys else {}
        return self.host_of(self.started(
            'owner', pcloud=self.pcloud, **hints, **options))

    def test_together(self):
        first = self._host(TOGETHER)
        self.assertEqual([first] * 2, [self._host(TOGETHER)
                                       for _ in range(2)])

    def test_apart(self):
        self.assertEqual(self.pool(), {self._host(APART) for _ in range(2)})
        # A server starts where no host is left without the key, too.
        self.assertIn(self._host(APART), self.pool())

    def test_levels(self):
        """The flavor is above the Pcloud, and the server above both."""
        first = self._host(TOGETHER)
        self.stage.users['owner'].pclouds.update_policy(
            'pcloud', self.pcloud, customer_keys=[TOGETHER])
        self.assertEqual(first, self._host())
        flavor = self.stage.new_flavor(pcloud__customer_key__Group1='1:-100')
        self.assertNotEqual(first, self._host(flavor=flavor))

    def test_hint_above_the_flavor(self):
        first = self._host(TOGETHER)
        flavor = self.stage.new_flavor(pcloud__customer_key__Group1='1:-100')
        self.assertEqual(first, self._host(TOGETHER, flavor=flavor))

    def test_system_keys(self):
        """A host with the key is before others, whatever customers want."""
        fast, slow = (each.host for each in self.stage.computes)
        key = f'pcloud:key:{self.stage.name}'
        self.stage.new_aggregate(fast, {key: '1'})
        self.stage.new_aggregate(slow, {key: '0'})
        flavor = self.stage.new_flavor(
            **{f'pcloud__system_key__{self.stage.name}': '1:100'})
        self.assertEqual([fast] * 3, [
            self._host(APART, flavor=flavor) for _ in range(3)])

    def test_bad_keys(self):
        for wrong in ('x', 'A=1', 'A=1:', 'A=x:1'):
            self.not_started('owner', pcloud=self.pcloud,
                             placement_key=wrong)
