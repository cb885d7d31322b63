# SPDX-License-Identifier: Apache-2.0
"""Pages of the hosts of a host flavor."""

from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud


class PoolPagesTest(shared_cloud.SharedCloudTestCase):

    hosts = dict.fromkeys(
        ('Node-1', 'node-1', 'node-10', 'node-2', 'other'), 'az1')

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-2', 'node-10', 'node-1', 'Node-1')
        self.make_pool('GPU', 'other')

    def page(self, query='', flavor='gpu'):
        """Return the names of hosts on a page."""
        return [host['host'] for host in self.whole(query, flavor)['hosts']]

    def whole(self, query='', flavor='gpu', api=None):
        return (api or self.admin).get_json(
            f'/os-host-flavors/{flavor}{query}')['host_flavor']

    def test_pages(self):
        everything = ['Node-1', 'node-1', 'node-10', 'node-2']
        self.assertEqual(everything, self.page())
        found, after = [], ''
        while page := self.page(f'?limit=1{after}'):
            found += page
            after = f'&marker={page[-1]}'
        self.assertEqual(everything, found)
        self.assertEqual(everything[:3], self.page('?limit=3'))
        self.assertEqual(everything[3:], self.page(
            '?limit=3&marker=node-10'))
        self.assertEqual(everything[1:], self.page('?marker=Node-1'))
        self.assertEqual(['other'], self.page('?limit=9', flavor='GPU'))

    def test_all_else_is_of_the_whole_pool(self):
        shown = self.whole()
        first = self.whole('?limit=1')
        self.assertEqual(shown['hosts'][:1], first['hosts'])
        self.assertEqual({'az1': 4}, first['available'])
        for member in shown.keys() - {'hosts'}:
            self.assertEqual(shown[member], first[member], member)

    def test_marker_that_is_gone(self):
        self.assertEqual(['node-2'], self.page('?marker=node-1z'))
        self.assertEqual([], self.page('?marker=other'))

    def test_not_more_than_nova_shows(self):
        self.flags(max_limit=2, group='api')
        self.assertEqual(['Node-1', 'node-1'], self.page('?limit=3'))
        self.assertEqual(['node-10', 'node-2'], self.page('?marker=node-1'))

    def test_refused(self):
        for query in ('?limit=-1', '?limit=x', '?marker=a%20b', '?page=2'):
            self.assertEqual(400, self.admin.call(
                'GET', f'/os-host-flavors/gpu{query}').status_code, query)
        self.assertEqual(404, self.admin.call(
            'GET', '/os-host-flavors/none?limit=1').status_code)

    def test_tenants_see_no_hosts(self):
        self.assertEqual(
            self.whole(api=self.alice),
            self.whole('?limit=1&marker=node-1', api=self.alice))
        self.assertNotIn('hosts', self.whole('?limit=1', api=self.alice))

    def test_rows_of_the_page_alone(self):
        counts = [counting.least(lambda: self.page(f'?limit={limit}'))
                  for limit in (1, 3)]
        self.assertEqual(counts[0], counts[1])
