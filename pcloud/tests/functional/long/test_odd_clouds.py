# SPDX-License-Identifier: Apache-2.0

"""Reading without rows of hosts agrees with reading host by host."""

import contextlib
import random

import fixtures
from nova import context as nova_context
from nova import test

from pcloud.backend.cells import computes
from pcloud import conf
from pcloud.tests.support import odd_clouds
from pcloud.tests.support import outages
from pcloud.tests.support import slow_ways

_CLOUDS = 8


class _EvenHosts:
    """Knows the services of every other host to be up."""

    def service_is_up(self, member):
        return (member['topic'] == 'compute' and
                not member['forced_down'] and
                sum(member['host'].encode()) % 2 == 0)


class OddCloudsTest(test.TestCase):
    """On SQLite, with a second cell that may be silent."""

    NUMBER_OF_CELLS = 2

    def setUp(self):
        super().setUp()
        conf.register_opts(test.CONF)
        self.flags(service_down_time=3600)
        self.context = nova_context.get_admin_context()
        self.cells = [self.cell_mappings[name] for name in ('cell1', 'cell2')]

    def _clouds(self):
        """Yield as many odd clouds as there are seeds."""
        for seed in range(_CLOUDS):
            chance = random.Random(seed)
            odd_clouds.OddCloud(self.cells, chance, hosts=40).fill()
            with (outages.SilentCell(self.cells[1]) if seed % 3 == 0 else
                  contextlib.nullcontext()):
                yield f'seed {seed}'

    def _check(self, *differing):
        for where in self._clouds():
            for each in differing:
                slow_ways.check(self, self.context, each, where)

    def test_supplies(self):
        self._check(slow_ways.differing_supplies)

    def test_services_that_memcached_knows(self):
        self.flags(servicegroup_driver='mc')
        self.useFixture(fixtures.MockPatchObject(
            computes.servicegroup, 'API', _EvenHosts))
        self._check(slow_ways.differing_supplies)

    def test_choices(self):
        self._check(slow_ways.differing_choices)

    def test_everything_else(self):
        # Clouds take longer to fill than to read.
        self._check(*(each for each in slow_ways.ALL if each not in (
            slow_ways.differing_supplies, slow_ways.differing_choices)))
