# SPDX-License-Identifier: Apache-2.0

"""A constraint of max beside a preference, in both orders of the filters."""

from pcloud.tests.functional.quick import test_constraints
from pcloud.tests.support import base

BOTH = ('ConstraintsFilter', 'LocalityFilter')


class FilterOrderTest(test_constraints.ConstraintsTestCase):
    """As `pcloud-status upgrade check` wants the filters."""

    order = BOTH

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    *self.order], group='filter_scheduler')

    def furnish(self):
        super().furnish()
        # The smallest host is near, and has room for all.
        boss = self.client_of('boss', base.ALICE,
                              ['reader', 'member', 'admin'])
        self.near = self.boot(boss, zone='az1:node-1')['id']

    def _hosts(self, **more):
        known = {each['id'] for each in self.alice.get_servers()}
        self.boot(self.alice, {'constraints': 'ram=max', 'near': self.near},
                  **more)

        def hosts():
            found = {self.host_of(each) for each in self.alice.get_servers()
                     if each['id'] not in known}
            self.assertNotIn(None, found)
            return found

        return self.wait_until(hosts)

    def test_one(self):
        self.assert_expected(self._hosts())

    def test_several(self):
        self.assert_expected(self._hosts(min_count=2))

    def assert_expected(self, found):
        """Assert that only the greatest hosts have the servers."""
        self.assertLessEqual(found, {'node-4', 'node-5'})


class WrongOrderTest(FilterOrderTest):
    """The other order, of which `pcloud-status upgrade check` warns."""

    order = BOTH[::-1]

    def assert_expected(self, found):
        """Assert that the near host has servers, until it is full."""
        self.assertIn('node-1', found)
