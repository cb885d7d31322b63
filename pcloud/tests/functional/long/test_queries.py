# SPDX-License-Identifier: Apache-2.0

"""The number of queries of a call does not grow with what there is."""

import functools

from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud


class RebalanceTest(shared_cloud.SharedCloudTestCase):
    """Counts what a plan that moves servers costs."""

    hosts = {f'node-{number}': 'az1' for number in range(1, 7)}

    def test_plans_cost_the_same_for_few_and_many(self):
        self.make_pool('gpu', *self.hosts)
        pcloud = self.make_pcloud(self.alice)
        path = f'/os-pclouds/{pcloud}/rebalance'
        plans = [f'{path}?goal=free_hosts', f'{path}?goal=fit&flavor=2']
        self.add_host(self.alice, pcloud, 'a', 'gpu')
        self.boot(self.alice, {'pcloud': pcloud})
        self.add_host(self.alice, pcloud, 'b', 'gpu')
        few = [counting.least(functools.partial(self.alice.get_json, plan))
               for plan in plans]
        self.assertEqual([3, 3], [cost.http for cost in few])
        for name in 'cdef':
            self.add_host(self.alice, pcloud, name, 'gpu')
        for name in 'gh':
            self.make_pcloud(self.alice, name)
        for _ in range(5):
            self.boot(self.alice, {'pcloud': pcloud})
        many = [counting.least(functools.partial(self.alice.get_json, plan))
                for plan in plans]
        self.assertEqual(few, many)
        # So that a change for the worse is seen here first.
        self.assertLessEqual(max(cost.sql for cost in many), 60, many)
