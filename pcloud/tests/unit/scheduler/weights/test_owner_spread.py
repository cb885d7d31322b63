# SPDX-License-Identifier: Apache-2.0

"""The servers of a project over hosts, through Nova's own weight handler."""

from unittest import mock

import ddt
import fixtures
from nova import conf as nova_conf
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights
from oslo_config import fixture
import testtools

from pcloud.scheduler.weights import owner_spread


@ddt.ddt
class OwnerSpreadWeigherTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()
        self.conf = self.useFixture(fixture.Config(nova_conf.CONF))
        nova_conf.CONF([], project='nova', default_config_files=[])
        self.conf.config(group='pcloud', owner_spread_weight_multiplier=2.0)
        self.of_project = self.useFixture(fixtures.MockPatchObject(
            owner_spread.servers, 'all_of_project',
            return_value=frozenset(['a', 'b', 'c']))).mock

    def _hosts(self, *instances, **metadata):
        made = []
        for number, uuids in enumerate(instances):
            host = host_manager.HostState(f'h{number}', f'n{number}', 'c')
            host.instances = dict.fromkeys(uuids)
            host.num_instances = len(uuids)
            host.aggregates = [objects.Aggregate(metadata=metadata)]
            made.append(host)
        return made

    def _weighed(self, hosts, spec=None):
        weighed = weights.HostWeightHandler().get_weighed_objects(
            [owner_spread.OwnerSpreadWeigher()], hosts,
            spec or objects.RequestSpec(project_id='alice', num_instances=1))
        found = {each.obj.host: round(each.weight, 4) for each in weighed}
        return [found[host.host] for host in hosts]

    @ddt.data(
        # Two of the project's, one, none, whatever others have.
        ((['a', 'b'], ['c', 'x'], ['x', 'y', 'z']), [0, 1, 2]),
        ((['a', 'b', 'c'], ['x'], []), [0, 2, 2]),
        ((['a'], ['b'], ['c']), [0, 0, 0]),
        (([], ['x']), [0, 0]))
    @ddt.unpack
    def test_scores(self, instances, expected):
        self.assertEqual(expected, self._weighed(self._hosts(*instances)))
        self.of_project.assert_called_once_with(mock.ANY, 'alice')

    def test_of_the_aggregates(self):
        hosts = self._hosts(['a'], [], owner_spread_weight_multiplier='-1')
        self.assertEqual([0, -1], self._weighed(hosts))

    def test_nothing_is_read_when_off(self):
        self.conf.config(group='pcloud', owner_spread_weight_multiplier=0.0)
        self.assertEqual([0, 0], self._weighed(self._hosts(['a'], [])))
        self.of_project.assert_not_called()

    def test_servers_of_one_request(self):
        """Each counts for the next, also where Nova lists it on the host."""
        hosts = self._hosts([], [])
        spec = objects.RequestSpec(
            project_id='alice', num_instances=3, requested_destination=None,
            flavor=objects.Flavor(vcpus=1, memory_mb=1))
        self.assertEqual([0, 0], self._weighed(hosts, spec))
        hosts[0].num_instances += 1
        hosts[0].instances['a'] = None
        self.assertEqual([0, 2], self._weighed(hosts, spec))
        hosts[1].num_instances += 2
        self.assertEqual([2, 0], self._weighed(hosts, spec))
        self.of_project.assert_called_once_with(mock.ANY, 'alice')
