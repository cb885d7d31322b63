# SPDX-License-Identifier: Apache-2.0

"""Which question Placement is asked about the hosts of a request."""

from unittest import mock

import ddt
from nova import objects
from nova.scheduler import host_manager
import testtools

from pcloud import names
from pcloud.rules import host_resources
from pcloud.rules.placing import constraints
from pcloud.rules.placing import machines
from pcloud.scheduler import candidates
from pcloud.scheduler import host_holdings

PCLOUD, ZONE, POOL, OTHER_POOL = 'pcloud', 'zone', 'pool', 'other'


def _host(number, *aggregates):
    host = host_manager.HostState(f'h{number}', 'n', 'c')
    host.uuid = f'u{number}'
    host.aggregates = [objects.Aggregate(uuid=uuid, metadata={
        names.TYPE: names.TYPE_POOL} if uuid in (POOL, OTHER_POOL) else {})
        for uuid in aggregates]
    return host


@ddt.ddt
class QuestionsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()

    def _asked(self, hosts, written, destination, answers=({},)):
        """Return the questions, each a class and a destination."""
        spec = objects.RequestSpec(
            requested_destination=destination, image=None, is_bfv=True,
            requested_resources=[], flavor=objects.Flavor(
                vcpus=1, memory_mb=512, root_gb=1, ephemeral_gb=0, swap=0,
                extra_specs={'resources:CUSTOM_A': '1'}))
        what = machines.wanted(constraints.effective(
            [('request', constraints.parse(written))], {}))
        with mock.patch.object(candidates, 'holdings',
                               side_effect=answers) as asked:
            for _ in range(2):
                host_holdings.grouped(hosts, spec, what)
        return [call.args[1:] for call in asked.call_args_list]

    @ddt.unpack
    @ddt.data(
        # Hosts, required aggregates, where Placement looks.
        ([[PCLOUD, POOL], [PCLOUD, ZONE]], [PCLOUD], [PCLOUD]),
        ([[PCLOUD, ZONE]], [PCLOUD, f'{ZONE},x'], [PCLOUD, f'{ZONE},x']),
        # Free hosts that a plan asks about.
        ([[POOL], [OTHER_POOL]], [PCLOUD], [f'{OTHER_POOL},{POOL}']),
        ([[POOL], [PCLOUD, POOL]], [PCLOUD], [POOL]),
        # Nobody knows where.
        ([[POOL], []], [PCLOUD], None))
    def test_where(self, hosts, required, expected):
        hosts = [_host(number, *its) for number, its in enumerate(hosts)]
        (_, found), = self._asked(
            hosts, 'resource:VGPU=1',
            objects.Destination(aggregates=required))
        self.assertEqual(
            expected, None if found is None else found.aggregates)

    def test_outside(self):
        destination = objects.Destination(forbidden_aggregates={POOL})
        for each in (destination, None):
            (_, found), = self._asked(
                [_host(0)], 'resource:VGPU=1', each)
            self.assertIs(each, found)

    def test_the_first_class_tells_all_others(self):
        found = self._asked(
            [_host(0)], 'resource:VGPU=1 resource:CUSTOM_B=1 resource:VCPU=1 '
            'trait:A=required', None)
        self.assertEqual([('CUSTOM_B', None)], found)

    def test_traits_alone(self):
        """Hosts without memory left are asked for by another class."""
        told = host_resources.Resources({}, {}, frozenset('A'))
        for answers, expected in (
                ([{'u0': told, 'u1': told}], ['MEMORY_MB']),
                ([{'u0': told}, {'u1': told}], ['MEMORY_MB', 'CUSTOM_A']),
                ([{}] * 3, ['MEMORY_MB', 'CUSTOM_A', 'VCPU'])):
            found = self._asked([_host(0), _host(1)], 'trait:A=required',
                                None, answers)
            self.assertEqual(expected, [name for name, _ in found])

    def test_nothing_that_nova_knows(self):
        self.assertEqual([], self._asked(
            [_host(0)], 'ram=1G resource:VCPU=1 resource:MEMORY_MB=1', None))
