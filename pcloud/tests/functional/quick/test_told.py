# SPDX-License-Identifier: Apache-2.0

"""What the schedulers are told of, and what is kept beside hosts."""

import fixtures
from nova import objects

from pcloud.backend.calls import announce
from pcloud import names
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud


class ToldTest(shared_cloud.SharedCloudTestCase):
    """A change is sent to schedulers that need something of the aggregate."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)

    def setUp(self):
        super().setUp()
        self.sent = []
        send = announce._cast

        def cast(context, method, **arguments):
            self.sent += [each.name for each in arguments.get(
                'aggregates', [arguments.get('aggregate')])]
            send(context, method, **arguments)

        self.useFixture(fixtures.MockPatchObject(announce, '_cast', cast))

    def told(self):
        """Return the names of the aggregates sent since the last call."""
        sent, self.sent = self.sent, []
        return sorted(sent)

    def update(self, **changes):
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': changes})

    def test_pools(self):
        self.disable_service('node-3')
        self.admin.call_json('POST', '/os-host-flavors/gpu/hosts', {
            'host': {'host': 'node-3'}})
        self.admin.call_json('PUT', '/os-host-flavors/gpu', {
            'host_flavor': {'units': 2}})
        self.admin.call_json('PUT', '/os-host-flavors/gpu/hosts/node-3', {
            'host': {'maintenance': {
                'from': '2100-01-01T00:00:00Z', 'reason': 'disk'}}})
        self.admin.call_json('DELETE', '/os-host-flavors/gpu/hosts/node-3')
        self.make_pool('empty')
        self.admin.call_json('DELETE', '/os-host-flavors/empty')
        self.assertEqual([], self.told())

    def test_pcloud(self):
        self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.update(name='other', cpu_allocation_ratio=2)
        path = f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}'
        self.alice.call_json('PUT', path)
        self.alice.call_json('DELETE', path)
        self.admin.call_json('PUT', '/os-pcloud-policies/cloud/default', {
            'policy': {'system_keys': ['C=1:1']}})
        host = f'/os-pclouds/{self.pcloud}/hosts/a'
        self.alice.call_json('PUT', host, {'host': {'state': 'disabled'}})
        self.alice.call_json('DELETE', host)
        self.assertEqual([], self.told())

    def test_multipliers(self):
        """Nova's weighers read multipliers in the schedulers' memory."""
        name = f'Pcloud:{self.pcloud}'
        self.update(placement='pack')
        self.assertEqual([name], self.told())
        self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.assertEqual([name], self.told())
        self.update(placement='default')
        self.assertEqual([name], self.told())
        manager = self.scheduler.manager.host_manager

        def is_known():
            known, = (each for each in manager.aggs_by_id.values()
                      if each.name == name)
            self.assertNotIn('ram_weight_multiplier', known.metadata)

        self.wait_until(is_known)

    def test_attributes(self):
        self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
            'attribute': {'value': 'r1', 'hosts': ['node-1']}})
        self.admin.call_json('DELETE', '/os-pcloud-attributes/rack?'
                                       'host=node-1')
        self.assertEqual(['Pcloud:attribute:rack=r1'] * 2, self.told())


class BesideHostsTest(shared_cloud.SharedCloudTestCase):
    """An aggregate with hosts has the owner's names and the states alone."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.add_host(self.alice, self.pcloud, 'b', 'gpu')

    def test_all_that_is_kept_of_hosts(self):
        path = f'/os-pclouds/{self.pcloud}'
        self.alice.call_json('PUT', path, {'pcloud': {
            'ram_allocation_ratio': 2, 'maintenance_policy': 'migrate'}})
        self.alice.call_json('PUT', f'{path}/hosts/a', {'host': {
            'state': 'draining', 'drain': {'move': 'none'}}})
        for host in self.hosts:
            self.admin.call_json('PUT', f'/os-host-flavors/gpu/hosts/{host}', {
                'host': {'maintenance': {
                    'from': '2026-01-01T00:00:00Z', 'reason': 'disk'}}})
        self.work()
        of_hosts = {}
        for aggregate in objects.AggregateList.get_all(self.context):
            for key in aggregate.metadata:
                if aggregate.hosts and ('node-' in key or key.startswith(
                        names.HOST_PREFIX)):
                    of_hosts[key] = aggregate.name
        name = f'Pcloud:{self.pcloud}'
        self.assertEqual({
            f'{prefix}{end}': name for prefix, ends in (
                (names.HOST_PREFIX, 'ab'),
                (names.STATE_PREFIX, [f'{host}.hv.example.org'
                                      for host in self.hosts]))
            for end in ends}, of_hosts)
        kept = self.aggregate(names.JOURNAL).metadata
        for prefix in (names.NODE_PREFIX, names.OWN_PREFIX,
                       names.DRAIN_PREFIX, names.REACTION_PREFIX,
                       names.MAINTENANCE_PREFIX):
            self.assertEqual(
                {prefix + host for host in self.hosts},
                {key for key in kept if key.startswith(prefix)})
