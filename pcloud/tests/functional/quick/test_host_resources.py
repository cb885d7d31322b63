# SPDX-License-Identifier: Apache-2.0

"""What hosts are, read from a real Placement."""

import contextlib
import time
from unittest import mock

from keystoneauth1 import exceptions as ks_exc
from nova.scheduler.client import report
from oslo_utils import uuidutils

from pcloud.backend.aggregates import pool_rows
from pcloud.backend.calls import placement
from pcloud.backend.cells import computes
from pcloud import names
from pcloud.objects import host_resources
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

_VERSION = '1.36'
NVME, GPU = 'CUSTOM_NVME', 'VGPU'
A, B = 'CUSTOM_A', 'CUSTOM_B'


class ResourcesTestCase(shared_cloud.SharedCloudTestCase):

    def forget(self):
        """Have this process forget what the process has read of pools."""
        self.useFixture(base.ForgetfulProcess())

    def node(self, host):
        return computes.of_host(self.context, host).node

    def put(self, path, body, status=200):
        response = self.placement.put(path, body, version=_VERSION)
        self.assertEqual(status, response.status, response.body)
        return response

    def give(self, provider, traits=(), **totals):
        """Give a provider traits and inventories beside those it has."""
        path = f'/resource_providers/{provider}'
        for trait in traits:
            self.placement.put(f'/traits/{trait}', None, version=_VERSION)
        for name in totals:
            if name.startswith('CUSTOM_'):
                self.placement.put(
                    f'/resource_classes/{name}', None, version=_VERSION)
        its = self.placement.get(
            f'{path}/inventories', version=_VERSION).body
        for name, total in totals.items():
            its['inventories'][name] = {'total': total, 'max_unit': total}
        self.put(f'{path}/inventories', its)
        own = self.placement.get(f'{path}/traits', version=_VERSION).body
        own['traits'] += list(traits)
        self.put(f'{path}/traits', own)

    def make_child(self, host, name, **totals):
        """Make a provider below the provider of a host."""
        uuid = uuidutils.generate_uuid()
        response = self.placement.post('/resource_providers', {
            'uuid': uuid, 'name': name,
            'parent_provider_uuid': self.node(host).uuid}, version=_VERSION)
        self.assertEqual(200, response.status, response.body)
        self.give(uuid, **totals)
        return uuid

    def take_all(self, provider, *classes):
        """Have consumers use all that a provider has of some classes."""
        found = self.placement.get(
            f'/resource_providers/{provider}/inventories',
            version=_VERSION).body['inventories']
        for name in classes:
            its = found[name]
            left = int((its['total'] - its['reserved']) *
                       its['allocation_ratio'])
            while left:
                amount = min(left, its['max_unit'])
                self.put(f'/allocations/{uuidutils.generate_uuid()}', {
                    'allocations': {provider: {'resources': {name: amount}}},
                    'project_id': base.BOB, 'user_id': base.BOB,
                    'consumer_generation': None}, 204)
                left -= amount

    def generation(self, host):
        """Return the generation of the provider of a host."""
        return self.placement.get(
            f'/resource_providers/{self.node(host).uuid}/inventories',
            version=_VERSION).body['resource_provider_generation']

    def pool_uuid(self, flavor_id):
        """Return the uuid of the aggregate of a pool."""
        uuid, = pool_rows.uuids(self.context, [flavor_id])
        return uuid

    @contextlib.contextmanager
    def silence(self):
        """Have Placement not answer; yield the list of what was asked."""
        asked = []

        def refuse(client, url, *args, **options):
            asked.append(url)
            raise ks_exc.ConnectFailure('connection refused')

        with mock.patch.object(report.SchedulerReportClient, 'get', refuse):
            yield asked


class PoolsTest(ResourcesTestCase):

    def put_into_pool(self, flavor_id, host):
        self.disable_service(host)
        self.admin.call_json('POST', f'/os-host-flavors/{flavor_id}/hosts',
                             {'host': {'host': host}})

    def versions(self, *flavor_ids):
        """Return what `host_resources.of_pools` is asked for."""
        stock = pool_rows.stock(self.context)
        versions = {pool.metadata[names.FLAVOR_ID]: stock.versions[pool.id]
                    for pool in stock.pools}
        return {flavor_id: versions[flavor_id] for flavor_id in flavor_ids}

    def kinds(self, versions):
        return {flavor_id: found.kind for flavor_id, found
                in host_resources.of_pools(self.context, versions).items()}

    def kind(self):
        """Return what all hosts of the pool 'm' have."""
        return self.kinds(self.versions('m'))['m']

    def read_anew(self, versions):
        """Read pools of which this process has forgotten all."""
        self.forget()
        self.assertNotIn(None, self.kinds(versions).values())

    def test_the_smallest_of_what_all_have(self):
        self.make_pool('m', 'node-1', 'node-2')
        for host, nvme, more, traits in (
                ('node-1', 4, {GPU: 1}, [A, B]), ('node-2', 2, {}, [A])):
            self.give(self.node(host).uuid, traits, **{NVME: nvme}, **more)
        kind = self.kind()
        self.assertEqual(2, kind.resources[NVME])
        self.assertNotIn(GPU, kind.resources)
        self.assertIn(A, kind.traits)
        self.assertNotIn(B, kind.traits)
        node = self.node('node-1')
        self.assertEqual(
            (node.vcpus, node.memory_mb, node.disk_gb),
            tuple(kind.resources[name] for name in (
                'VCPU', 'MEMORY_MB', 'DISK_GB')))

    def test_nested_providers_are_summed(self):
        self.make_pool('m', 'node-1', 'node-2')
        for number in (1, 2):
            self.make_child('node-1', f'gpu-{number}', **{GPU: 3})
        self.make_child('node-2', 'gpu-3', **{GPU: 5})
        kind = self.kind()
        self.assertEqual(5, kind.resources[GPU])

    def test_one_call_whatever_the_number(self):
        self.make_pool('m', 'node-1', 'node-2')
        self.make_pool('n', 'node-3', 'node-4')

        m, both = self.versions('m'), self.versions('m', 'n')
        few = counting.least(lambda: self.read_anew(m))
        many = counting.least(lambda: self.read_anew(both))
        self.assertEqual((1, few), (few.http, many))

    def test_very_many_pools(self):
        self.make_pool('m', 'node-1')
        self.make_pool('n', 'node-2')
        both = self.versions('m', 'n')
        with mock.patch.object(host_resources, '_AGGREGATES', 1):
            calls = counting.count(lambda: self.read_anew(both))
        self.assertEqual(2, calls.http)

    def test_what_is_read_is_remembered(self):
        self.make_pool('m', 'node-1', 'node-2')
        hosts = ['node-1', 'node-2']
        versions = self.versions('m')
        before = self.kinds(versions)
        for host in hosts:
            self.give(self.node(host).uuid, [A])

        again = counting.count(lambda: self.assertEqual(
            before, self.kinds(versions)))
        self.assertEqual(counting.Count(), again)
        # Another host in the pool has the pool read anew.
        self.give(self.node('node-3').uuid, [A])
        self.put_into_pool('m', 'node-3')
        kind = self.kind()
        self.assertIn(A, kind.traits)

    def test_after_a_minute_it_is_read_again(self):
        self.make_pool('m', 'node-1', 'node-2')
        self.kind()
        self.give(self.node('node-1').uuid, [A])
        self.give(self.node('node-2').uuid, [A])
        now = time.monotonic()
        with mock.patch.object(time, 'monotonic', lambda: now + 61):
            kind = self.kind()
        self.assertIn(A, kind.traits)

    def test_a_host_that_is_full(self):
        self.make_pool('m', 'node-1', 'node-2')
        provider = self.node('node-2').uuid
        self.give(provider, [A], **{NVME: 2})
        self.give(self.node('node-1').uuid, [A], **{NVME: 3})
        self.make_child('node-2', 'gpu', **{GPU: 1})
        self.make_child('node-1', 'gpu-1', **{GPU: 1})
        self.take_all(provider, 'MEMORY_MB')
        kind = self.kind()
        self.assertEqual(2, kind.resources[NVME])
        self.take_all(provider, 'VCPU', 'DISK_GB')
        self.forget()

        alone = self.kind()
        self.assertEqual(kind, alone)
        found = host_resources.of_hosts(
            self.context, [self.node('node-2')], [self.pool_uuid('m')])
        its = found[provider]
        self.assertEqual((1, 0, 2, 0), (
            its.total[GPU], its.used[GPU], its.total[NVME], its.used[NVME]))
        self.assertGreaterEqual(its.used['VCPU'], its.total['VCPU'])

    def test_hosts_without_memory(self):
        hosts = ['node-1', 'node-2', 'node-3', 'node-4']
        self.make_pool('m', *hosts)
        for number, host in enumerate(hosts, 1):
            self.put(f'/resource_providers/{self.node(host).uuid}/inventories',
                     {'resource_provider_generation': self.generation(host),
                      'inventories': {}})
            self.give(self.node(host).uuid, **{NVME: number})
        with mock.patch.object(
                placement, 'holding', wraps=placement.holding) as alone:
            kind = self.kind()
        self.assertEqual({NVME: 1}, kind.resources)
        self.assertEqual(0, kind.cpus)
        self.assertEqual(1, alone.call_count)

    def test_few_hosts_are_read_one_by_one(self):
        hosts = ['node-1', 'node-2', 'node-3', 'node-4']
        self.make_pool('m', *hosts[:3])
        self.make_pool('n', *hosts[3:])
        m, both = self.versions('m'), self.versions('m', 'n')
        for host in hosts[1:]:
            self.take_all(
                self.node(host).uuid, 'MEMORY_MB', 'VCPU', 'DISK_GB')
        with mock.patch.object(host_resources, '_ALONE', 2):
            few = counting.least(lambda: self.read_anew(m))
            # Nothing is known of the host of the other pool.
            many = counting.least(lambda: self.forget() or self.kinds(both))
        self.assertEqual(few.http, many.http)

    def test_disabled_hosts(self):
        self.make_pool('m', 'node-1', 'node-2')
        for host in ('node-1', 'node-2'):
            self.give(self.node(host).uuid, ['COMPUTE_STATUS_DISABLED'])
        kind = self.kind()
        self.assertNotIn('COMPUTE_STATUS_DISABLED', kind.traits)
        self.assertIn('COMPUTE_NODE', kind.traits)

    def test_an_unknown_class(self):
        self.make_pool('m', 'node-1', 'node-2')
        nodes = [self.node('node-1'), self.node('node-2')]
        found = host_resources.of_hosts(
            self.context, nodes, [self.pool_uuid('m')],
            ['CUSTOM_NOBODY', 'MEMORY_MB'])
        self.assertEqual({node.uuid for node in nodes}, found.keys())


class AnswersTest(ResourcesTestCase):
    """What users and administrators see."""

    def furnish(self):
        self.make_pool('m', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.host = self.add_host(self.alice, self.pcloud, 'a', 'm')

    def flavors(self, user):
        """Return what a user sees of the host flavor, in both calls."""
        listed, = user.get_json('/os-host-flavors')['host_flavors']
        shown = user.get_json('/os-host-flavors/m')['host_flavor']
        for host in shown.get('hosts', ()):
            # The list leaves these out, which are read for each host.
            self.assertEqual({}, host.pop('attributes'))
        self.assertEqual(listed, shown)
        return shown

    def hosts_of(self, user):
        """Return what a user sees of the host, in both calls."""
        path = f'/os-pclouds/{self.pcloud}/hosts'
        listed, = user.get_json(path)['hosts']
        shown = user.get_json(f'{path}/a')['host']
        self.assertEqual(listed, shown)
        return shown

    def test_host_flavors(self):
        for host in ('node-1', 'node-2'):
            self.give(self.node(host).uuid, [A], **{NVME: 2})
        for user in (self.bob, self.admin):
            shown = self.flavors(user)
            self.assertEqual(2, shown['resources'][NVME])
            self.assertIn(A, shown['traits'])
            self.assertEqual(sorted(shown['traits']), shown['traits'])

    def test_users_and_administrators_share_what_is_remembered(self):
        self.flavors(self.bob)
        self.assertEqual(0, counting.least(
            lambda: self.flavors(self.admin)).http)
        self.assertEqual(0, counting.count(
            lambda: self.flavors(self.bob)).http)

    def test_a_flavor_without_hosts(self):
        self.make_pool('n')
        shown = self.bob.get_json('/os-host-flavors/n')['host_flavor']
        self.assertEqual((None, None), (shown['resources'], shown['traits']))

    def test_hosts(self):
        node = self.node(self.host)
        self.make_child(self.host, 'gpu-1', **{GPU: 3})
        self.make_child(self.host, 'gpu-2', **{GPU: 5})
        self.give(node.uuid, [A], **{NVME: 2})
        self.boot(self.alice, {'pcloud': self.pcloud})
        for user in (self.alice, self.admin):
            shown = self.hosts_of(user)
            self.assertEqual({'total': 8, 'used': 0}, shown['resources'][GPU])
            self.assertEqual({'total': 2, 'used': 0}, shown['resources'][NVME])
            self.assertEqual({'total': node.memory_mb, 'used': 512},
                             shown['resources']['MEMORY_MB'])
            self.assertEqual({'total': node.vcpus, 'used': 1},
                             shown['resources']['VCPU'])
            self.assertIn(A, shown['traits'])

    def test_a_ratio_is_no_hardware(self):
        before = self.hosts_of(self.alice)['resources']
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': {'cpu_allocation_ratio': 3.0,
                       'ram_allocation_ratio': 0.5}})
        self.assertEqual(before, self.hosts_of(self.alice)['resources'])

    def test_placement_is_away(self):
        flavor, host = self.flavors(self.bob), self.hosts_of(self.alice)
        self.forget()
        unknown = {'resources': None, 'traits': None}
        with self.silence() as asked:
            self.assertEqual({**flavor, **unknown}, self.flavors(self.bob))
            self.assertEqual({**host, **unknown}, self.hosts_of(self.alice))
        # Whoever comes next does not wait for Placement again.
        self.assertEqual(1, len(asked))
        self.assertEqual(
            1, self.stdlog.logger.output.count('resources and traits of'))
        now = time.monotonic()
        with mock.patch.object(time, 'monotonic', lambda: now + 11):
            self.assertEqual(flavor, self.flavors(self.bob))

    def test_placement_stays_away(self):
        with self.silence() as asked:
            self.flavors(self.bob)
            now = time.monotonic()
            with mock.patch.object(time, 'monotonic', lambda: now + 11):
                self.hosts_of(self.alice)
        self.assertEqual(2, len(asked))
        self.assertEqual(
            1, self.stdlog.logger.output.count('resources and traits of'))

    def test_other_tenants_see_no_host(self):
        path = f'/os-pclouds/{self.pcloud}'
        self.alice.call_json('PUT', f'{path}/tenants/{base.BOB}')
        for hosts in ('hosts', 'hosts/a'):
            answer = self.bob.call('GET', f'{path}/{hosts}')
            self.assertEqual(403, answer.status_code)
            self.assertNotIn('resources', answer.text)
        self.assertEqual({'id', 'name', 'owner'},
                         self.bob.get_json(path)['pcloud'].keys())
