# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What hosts are, read from a real Placement."""

from oslo_utils import uuidutils

from pcloud.backend import computes
from pcloud.objects import host_resources
from pcloud.tests import counting
from pcloud.tests.functional import base
from pcloud.tests.functional import shared_cloud

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


class PoolsTest(ResourcesTestCase):

    def kinds(self, **pools):
        return host_resources.of_pools(self.context, {
            flavor_id: frozenset(hosts)
            for flavor_id, hosts in pools.items()})

    def test_the_smallest_of_what_all_have(self):
        self.make_pool('m', 'node-1', 'node-2')
        for host, nvme, more, traits in (
                ('node-1', 4, {GPU: 1}, [A, B]), ('node-2', 2, {}, [A])):
            self.give(self.node(host).uuid, traits, **{NVME: nvme}, **more)
        kind, = self.kinds(m=['node-1', 'node-2']).values()
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
        kind, = self.kinds(m=['node-1', 'node-2']).values()
        self.assertEqual(5, kind.resources[GPU])

    def test_one_call_whatever_the_number(self):
        self.make_pool('m', 'node-1', 'node-2')
        self.make_pool('n', 'node-3', 'node-4')

        def ask(**pools):
            self.forget()
            self.assertNotIn(None, self.kinds(**pools).values())

        m, n = ['node-1', 'node-2'], ['node-3', 'node-4']
        few = counting.least(lambda: ask(m=m))
        many = counting.least(lambda: ask(m=m, n=n))
        self.assertEqual((1, few), (few.http, many))
