# SPDX-License-Identifier: Apache-2.0

"""Two launches at once for which a Pcloud grows.

With a single switch, unless ``PCLOUD_TEST_SWITCHES`` names another number.
"""

from unittest import mock

from pcloud.growth import free_capacity
from pcloud.growth import growth_turns
from pcloud.growth import joining
from pcloud.objects.changing_hands import allocation
from pcloud.objects import reconcile
from pcloud.objects import turns
from pcloud.tests.support import base
from pcloud.tests.support import outages
from pcloud.tests.worlds import copies
from pcloud.tests.worlds import launches
from pcloud.tests.worlds import test_building
from pcloud.tests.worlds import world


class GrowthTestCase(launches.LaunchesTestCase):
    """Both hosts are free, and either has capacity for both servers.

    The servers are of two flavors: launches of one kind in one process would
    take one turn together, where launches of two processes do not. The random
    numbers of the launches are those that draw different hosts first.
    """

    building = (*launches.LaunchesTestCase.building,
                (free_capacity, 'read'), (joining, 'choose'),
                (allocation, 'run'), (reconcile, 'finish_written'))
    switches = world.WorldTestCase.switches or 1

    def setUp(self):
        super().setUp()
        self.useFixture(outages.GrantingKeystone())
        for host in self.hosts:
            self.disable_service(host)
            self.admin.call_json('POST', test_building.GPU, {
                'host': {'host': host}})
        self.alice.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.ALICE}',
            {'policy': {'default_pcloud': {
                'pcloud': self.mine, 'mode': 'grow', 'host_flavor': 'gpu',
                'max_hosts': 2}}})

    def explore_both(self):
        """Launch a server twice."""
        return self.explore_as_serial(*(
            self.launch(name, base.ALICE, flavorRef=flavor)
            for name, flavor in (('one', '1'), ('three', '2'))))

    def _check(self):
        super()._check()
        # The launches need one host together.
        self.assertLessEqual(self.size(), 1)

    def _check_end(self):
        self.assertEqual([2, 1], self.outcome())
        super()._check_end()


class GrowthTest(GrowthTestCase):

    def test_two_servers(self):
        self.explore_both()


class PlantedGrowthTest(GrowthTestCase):

    def test_launches_without_turns(self):
        with (mock.patch.object(turns, 'take', lambda *_: True),
              mock.patch.object(growth_turns, 'check', lambda *_: None),
              self.assertRaisesRegex(copies.CopyFailed, '2 not less than')):
            self.explore_both()
