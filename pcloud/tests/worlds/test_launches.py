# SPDX-License-Identifier: Apache-2.0

"""Two launches at once, of which each depends on the other.

With at most two switches, unless ``PCLOUD_TEST_SWITCHES`` names another
number: two launches with all that the launches read have too many orders.
"""

from unittest import mock

from pcloud.backend.cells import asking
from pcloud.backend.cells import tenant_servers
from pcloud.scheduler import strict_turns
from pcloud.tests.support import base
from pcloud.tests.worlds import copies
from pcloud.tests.worlds import launches
from pcloud.tests.worlds import test_building


class CapTestCase(launches.LaunchesTestCase):
    """Bob's project may have a single server in Alice's Pcloud."""

    building = (*launches.LaunchesTestCase.building,
                (tenant_servers, '_waiting'), (asking, 'ask_hosts'))

    def setUp(self):
        super().setUp()
        for name, host in zip('ab', self.hosts, strict=True):
            self.disable_service(host)
            self.admin.call_json('POST', test_building.GPU, {
                'host': {'host': host}})
            self.add_host(self.alice, self.mine, name, 'gpu')
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.mine}/tenants/{base.BOB}',
            {'tenant': {'max_servers': 1}})

    def explore_both(self):
        """Launch a server twice."""
        return self.explore_as_serial(*(
            self.launch(name, base.BOB, {'pcloud': self.mine})
            for name in ('one', 'two')))

    def _check(self):
        super()._check()
        self.assertLessEqual(len(self.rows.servers()), 1)


class CapTest(CapTestCase):

    def test_two_servers(self):
        self.explore_both()


class PlantedCapTest(CapTestCase):

    def test_launches_without_an_order(self):
        with (mock.patch.object(tenant_servers, '_earlier',
                                lambda waiting, _: []),
              self.assertRaisesRegex(copies.CopyFailed, '2 not less than')):
            self.explore_both()


class StrictTestCase(launches.LaunchesTestCase):
    """Each server of Alice's wants a host without the others."""

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'LocalityFilter'],
                   group='filter_scheduler')

    def explore_both(self):
        """Launch two servers, each far from the other."""
        return self.explore_as_serial(*(
            self.launch(name, base.ALICE, {
                'far': 'tag:db', 'locality': 'strict'}, tags=['db'])
            for name in ('one', 'two')))

    def _check(self):
        super()._check()
        hosts = [each.host for each in self.rows.servers()]
        self.assertEqual(len(hosts), len({*hosts}))


class StrictTest(StrictTestCase):

    def test_two_servers(self):
        self.explore_both()


class PlantedStrictTest(StrictTestCase):

    def test_choices_without_turns(self):
        with (mock.patch.object(strict_turns, 'is_needed', lambda _: False),
              self.assertRaisesRegex(copies.CopyFailed, '2 != 1')):
            self.explore_both()
