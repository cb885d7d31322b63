# SPDX-License-Identifier: Apache-2.0

"""Whether there is capacity for servers, asked of real Nova."""

import urllib.parse

from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud


class RoomTest(shared_cloud.SharedCloudTestCase):
    """Every host has 10 cpus (160 to give), 7680 MiB and 1028 GiB of disk."""

    def furnish(self):
        super().furnish()
        self.make_flavor('s', memory_mb=2048)
        self.make_flavor('xl', memory_mb=5120)

    def room(self, *flavors, user=None, **query):
        query = urllib.parse.urlencode([
            *(('flavor', each) for each in flavors),
            *((name.rstrip('_'), each) for name, each in query.items())])
        user = user or (self.alice if 'pcloud' in query else self.admin)
        found = user.get_json(f'/os-pcloud-room?{query}')
        return found['room']['groups'], found['room']['reason']

    def refused(self, query, user=None):
        response = (user or self.admin).call(
            'GET', f'/os-pcloud-room?{query}')
        return response.status_code

    def test_outside_of_pclouds(self):
        self.assertEqual((1, None), self.room('xl'))
        self.assertEqual((4, None), self.room('xl', 's', count=4))
        groups, reason = self.room('xl', 's', count=5)
        self.assertEqual(4, groups)
        self.assertEqual('no host has more capacity for 2 GiB of disk, 7168 '
                         'MiB '
                         'of memory, 2 cpus together', reason)
        # Several small groups fit on one host.
        self.assertEqual(12, self.room('s', count=1000)[0])
        self.make_pool('gpu', 'node-1', 'node-2')
        self.assertEqual(2, self.room('xl', 's', count=5)[0])
        self.boot(self.admin, host='node-3', flavorRef='s')
        self.assertEqual(1, self.room('xl', 's', count=5)[0])
        self.assertEqual(0, self.room('xl', 'xl')[0])

    def test_hosts_that_are_down(self):
        """They do not count, whichever Placement would tell first."""
        self.flags(max_placement_results=1, group='scheduler')
        for left in (3, 2, 1, 0):
            self.set_down(f'node-{left + 1}')
            self.assertEqual(min(1, left), self.room('xl', 's')[0])
            self.assertEqual(left, self.room('xl', count=9)[0])
        self.assertIn('no host has more capacity', self.room('xl')[1])
        self.set_down('node-1', False)
        self.assertEqual((1, None), self.room('xl'))

    def test_hosts_of_pools_that_placement_does_not_know(self):
        self.make_pool('gpu', 'node-1', 'node-2')
        for host in ('node-1', 'node-2'):
            uuid = self._get_provider_uuid_by_host(host)
            self.placement.put(f'/resource_providers/{uuid}/aggregates', [],
                               version='1.1')
        self.assertEqual(2, self.room('xl', count=9)[0])

    def test_a_group_larger_than_any_server(self):
        """Sixteen cpus are given out for each, but ten to one server."""
        self.make_flavor('wide', memory_mb=512, vcpus=8)
        self.assertEqual(4, self.room('wide', 'wide', count=4)[0])
        self.make_flavor('wider', memory_mb=512, vcpus=12)
        self.assertEqual(0, self.room('wider')[0])

    def test_disk(self):
        self.make_flavor('deep', memory_mb=512, root_gb=600)
        self.assertEqual((1, None), self.room('deep'))
        groups, reason = self.room('deep', 'deep')
        self.assertEqual(0, groups)
        self.assertIn('1200 GiB of disk', reason)

    def test_disk_for_swap(self):
        """The swap of each server is rounded up, as Nova does it."""
        self.make_flavor('swapping', root_gb=600, swap=1, ephemeral_gb=2)
        self.assertIn('1206 GiB of disk',
                      self.room('swapping', 'swapping')[1])

    def test_disk_on_a_volume(self):
        """A root disk on a volume needs no disk of the host."""
        self.make_flavor('deep', root_gb=5000, ephemeral_gb=600)
        self.assertIn('5600 GiB of disk', self.room('deep')[1])
        self.assertEqual((1, None), self.room('deep:volume'))
        self.assertEqual(4, self.room('deep:volume', 's', count=9)[0])
        self.assertIn('1200 GiB of disk',
                      self.room('deep:volume', 'deep:volume')[1])
        self.assertEqual(400, self.refused('flavor=deep:disk'))

    def test_in_a_pcloud(self):
        self.make_pool('gpu', 'node-1', 'node-2')
        pcloud = self.make_pcloud(self.alice)
        self.assertIn('no enabled host',
                      self.room('s', pcloud=pcloud)[1])
        host = self.add_host(self.alice, pcloud, 'web', 'gpu')
        self.add_host(self.alice, pcloud, 'db', 'gpu', enable=False)
        self.assertEqual((1, None), self.room('xl', 's', pcloud=pcloud))
        self.assertEqual(1, self.room('xl', pcloud=pcloud, count=2)[0])
        self.alice.call_json('PUT', f'/os-pclouds/{pcloud}', {
            'pcloud': {'ram_allocation_ratio': 2.0}})
        self.assertEqual(3, self.room('xl', pcloud=pcloud, count=9)[0])
        self.assertEqual(0, self.room('xl', 'xl', 'xl', 's', pcloud=pcloud,
                                      )[0])
        self.set_down(host)
        self.assertEqual((0, 'there is no host that is up and enabled'),
                         self.room('s', pcloud=pcloud))

    def test_for_whom(self):
        self.make_pool('gpu', 'node-1')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'web', 'gpu')
        inside = f'flavor=s&pcloud={pcloud}'
        # The administrator's own project is no tenant.
        self.assertEqual((3, 'not even the only host that would do has more '
                             'capacity for 1 GiB of disk, 2048 MiB of memory, '
                             '1 cpu together'), self.room(
            's', user=self.admin, pcloud=pcloud, count=1000))
        for user in (self.alice, self.bob):
            self.assertEqual(403, self.refused('flavor=s', user))
            self.assertEqual(403, self.refused('flavor=s&in=web', user))
        # Its existence is nobody else's business.
        self.assertEqual(404, self.refused(inside, self.bob))
        self.assertEqual(404, self.refused('flavor=s&pcloud=x', self.alice))
        self.alice.call_json(
            'PUT', f'/os-pclouds/{pcloud}/tenants/{base.BOB}')
        self.assertEqual(403, self.refused(inside, self.bob))
        self.assertEqual(200, self.refused(
            inside, self.client_of('looker', base.ALICE, ['reader'])))

    def test_never_more_than_was_asked_for(self):
        self.make_pool('gpu', 'node-1')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'web', 'gpu')
        for count in (1, 2, 3):
            self.assertEqual((count, None), self.room('s', count=count))
            self.assertEqual((count, None), self.room(
                's', pcloud=pcloud, count=count))

    def test_beside_a_service(self):
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter'],
                   group='filter_scheduler')
        self.assertEqual((0, "there is no host with 'web' that is up and "
                             'enabled'), self.room('s', in_='web'))
        server = self.boot(self.admin, {'service': 'web'}, flavorRef='s')
        for parent in ('web', server['id']):
            self.assertEqual(2, self.room('s', in_=parent, count=9)[0])
            self.assertEqual(0, self.room('xl', 's', in_=parent)[0])

    def test_beside_a_service_of_the_owner(self):
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter'],
                   group='filter_scheduler')
        self.make_pool('gpu', 'node-1')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'web', 'gpu')
        server = self.boot(self.alice, {'service': 'web', 'pcloud': pcloud},
                           flavorRef='s')
        for user in (self.alice, self.admin):
            for parent in ('web', server['id']):
                self.assertEqual(2, self.room(
                    's', user=user, pcloud=pcloud, in_=parent, count=9)[0])
        # Servers of another project do not count.
        for parent in ('web', server['id']):
            self.assertEqual(0, self.room('s', in_=parent)[0])

    def test_bad_questions(self):
        for query in ('', 'flavor=', 'flavor=s&count=0', 'flavor=s&count=x',
                      'flavor=s&count=1001', 'flavor=s&in=..',
                      'flavor=s&in=AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE',
                      'flavor=s&more=1'):
            self.assertEqual(400, self.refused(query), query)
        self.assertEqual(404, self.refused('flavor=nothing'))
        self.make_flavor('hidden', memory_mb=512, is_public=False)
        pcloud = self.make_pcloud(self.alice)
        self.assertEqual(404, self.refused(
            f'flavor=hidden&pcloud={pcloud}', self.alice))
        self.assertEqual((1, None), self.room('hidden', user=self.admin))
        self.make_flavor(
            'odd', memory_mb=512, extra_specs={'hw:numa_nodes': 'x'})
        self.assertEqual(400, self.refused('flavor=odd'))
