# SPDX-License-Identifier: Apache-2.0

"""Many servers of a tenant with caps at once, and several schedulers."""

import collections

from nova.tests import fixtures as nova_fixtures

from pcloud.tests.functional.quick import test_caps

LAUNCHES, CAP, SCHEDULERS = 50, 7, 2


class ManyAtOnceTest(test_caps.CapsTestCase):
    """No nova-api has refused any, as though all had come in together."""

    own_cloud = True

    def test_launches(self):
        for number in range(1, SCHEDULERS):
            # Nova's helper starts one alone.
            self.useFixture(nova_fixtures.ServiceFixture(
                'scheduler', f'scheduler-{number}'))
        self.cap(max_servers=CAP)
        with self.past_nova_api():
            started = [self.launch(
                self.inside, self.bob, flavor_id=self.small).json()['server']
                for _ in range(LAUNCHES)]
            self.wait_until(lambda: self.assertNotIn(
                'BUILD', self.states(started)))
        states = collections.Counter(self.states(started))
        self.assertEqual({'ACTIVE', 'ERROR'}, set(states))
        self.assertIn(states['ACTIVE'], range(CAP, CAP + SCHEDULERS + 1))
        self.assertIn(f'already used {states["ACTIVE"]} of {CAP}',
                      self.refuse())

    def states(self, servers):
        found = {each['id']: each['status'] for each in
                 self.bob.get_json('/servers/detail')['servers']}
        return [found[each['id']] for each in servers]
