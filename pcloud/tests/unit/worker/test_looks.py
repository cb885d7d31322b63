# SPDX-License-Identifier: Apache-2.0

"""Two looks at the same time, in every order of their steps.

Builds end, or fail, between any two steps, and a look may die before any.
"""

import dataclasses
import itertools
import queue
import threading
from unittest import mock

import fixtures
from oslotest import base

from pcloud.backend.cells import started_servers
from pcloud.client import exceptions
from pcloud.client import plan_resources
from pcloud.client import servers
from pcloud.worker import follower

SCALED = {'pcloud_scale_with': 'db'}
# What an order tells to happen: a step of one of two looks, or the end of the
# build of the unit that is being built for the longest or shortest time.
FIRST, SECOND, OLDEST, NEWEST, FAILS = range(5)


class Cloud:
    """A Nova of which every call is a single moment."""

    def __init__(self):
        self.units = {}
        self.add('db-1', 'db', 'h1')
        self.add('db-2', 'db', 'h2')
        self.add('agent-1', 'agent', 'h1', SCALED)
        self._number = itertools.count(1)

    def add(self, name, service, host='', metadata=None, **more):
        """Add a server with the name as id."""
        self.units[name] = servers.Server(
            name, name, **{'status': 'ACTIVE', 'host_id': host, **more},
            hints={'service': (service,), 'in': ('db-2',)},
            metadata=metadata or {}, image_id='image', flavor='small')

    def create(self, metadata):
        """Start to build a unit of agent on the second host."""
        # Ids are in no order.
        number = next(self._number)
        name = f'{number * 7 % 10}'
        self.add(name, 'agent', '', metadata, status='BUILD',
                 created=f'1-{number}')
        return name

    def end_build(self, index, **outcome):
        """Let one of the builds end, which changes the time of creation."""
        building = [unit for unit in self.units.values()
                    if unit.status == 'BUILD']
        if building:
            unit = building[index]
            self.units[unit.id] = dataclasses.replace(
                unit, created=f'0-{unit.created}', **outcome)

    def agents(self):
        """Return the units that are to be exactly one."""
        return [unit for unit in self.units.values()
                if unit.hint('service') == 'agent' and unit.id != 'agent-1'
                and unit.status != 'ERROR']


class Client:
    """A client whose calls wait for their turns, until the client dies."""

    def __init__(self, cloud, steps=None):
        self._cloud, self._left = cloud, steps
        self._turns, self._stops = queue.SimpleQueue(), queue.SimpleQueue()
        self.servers, self.ended = self, False

    def start(self):
        """Start a look, up to the first call."""
        threading.Thread(target=self._look, daemon=True).start()
        self.ended = self._stops.get()

    def step(self):
        """Let one call happen, unless the look has ended."""
        if not self.ended:
            self._turns.put(None)
            self.ended = self._stops.get()

    def _look(self):
        try:
            follower.follow(
                self, lambda server: started_servers.Start('image'),
                ['agent', 'db'], lambda text: None)
        except SystemExit:
            pass
        finally:
            self._stops.put(True)

    def _wait(self):
        self._stops.put(False)
        self._turns.get()
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise SystemExit()

    def list_all(self):
        """Answer as Nova does."""
        self._wait()
        return list(self._cloud.units.values())

    list_known = list_all

    def create(self, name, image, flavor, options):
        """Answer as Nova does."""
        self._wait()
        return self._cloud.create(options.metadata)

    def delete(self, server_id):
        """Answer as Nova does."""
        self._wait()
        if not self._cloud.units.pop(server_id, None):
            raise exceptions.NotFound('gone')

    def get(self, server_id):
        """Answer as Nova does, at once."""
        if server_id not in self._cloud.units:
            raise exceptions.NotFound('gone')
        return self._cloud.units[server_id]

    def stop(self, server_id):
        """Stop a server at once."""
        unit = self.get(server_id)
        self._cloud.units[server_id] = dataclasses.replace(
            unit, status='SHUTOFF')

    def set_metadata(self, server_id, metadata):
        """Answer as Nova does, at once."""
        unit = self.get(server_id)
        self._cloud.units[server_id] = dataclasses.replace(
            unit, metadata={**unit.metadata, **metadata})

    def find_flavor(self, name):
        """Answer as Nova does."""
        return servers.Flavor('1', name, 1, 512)

    def networks(self, _server_id):
        """Answer as Nova does."""
        return 'none'

    def room(self, *_args, **_query):
        """Answer that there is capacity."""
        return plan_resources.Room(1000, None)


class LooksTest(base.BaseTestCase):
    """A host has no unit yet, when two looks begin."""

    def setUp(self):
        super().setUp()
        # The stamps are in the order of the calls, or not, as clocks differ.
        self.stamps = itertools.count()
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.client.deploy.services.stamp',
            lambda: f'{next(self.stamps):04}'))

    def _run(self, order, *lives):
        """Let two looks happen, and builds end, in an order."""
        cloud = Cloud()
        looks = [Client(cloud, steps) for steps in lives or (None, None)]
        for look in looks:
            look.start()
        for event in order:
            self._happen(cloud, looks, event)
        for look in looks:
            while not look.ended:
                look.step()
        return cloud

    def _happen(self, cloud, looks, event):
        if event in (FIRST, SECOND):
            looks[event].step()
        elif event == FAILS:
            cloud.end_build(0, status='ERROR')
        else:
            cloud.end_build(-(event == NEWEST), status='ACTIVE',
                            host_id='h2')

    def _look(self, cloud):
        """Let all builds end, and a look happen."""
        while any(unit.status == 'BUILD' for unit in cloud.units.values()):
            cloud.end_build(0, status='ACTIVE', host_id='h2')
        look = Client(cloud)
        look.start()
        while not look.ended:
            look.step()

    def _orders(self, *events):
        return sorted(set(itertools.permutations(events)))

    def test_every_order(self):
        """Without a look in addition there is one unit."""
        for order in self._orders(*[FIRST] * 4, *[SECOND] * 4):
            cloud = self._run(order)
            self.assertEqual(1, len(cloud.agents()), order)

    def test_clocks_that_differ(self):
        self.stamps = itertools.count(9999, -1)
        self.test_every_order()

    def test_builds_that_end_at_any_time(self):
        for order in self._orders(
                *[FIRST] * 3, *[SECOND] * 3, OLDEST, NEWEST):
            cloud = self._run(order)
            # What has run is stopped before it is deleted.
            self._look(cloud)
            self.assertEqual(1, len(cloud.agents()), order)

    def test_a_build_that_fails(self):
        """Never are there two, and the next look makes one of none."""
        for order in self._orders(*[FIRST] * 3, *[SECOND] * 3, FAILS):
            cloud = self._run(order)
            self.assertGreaterEqual(1, len(cloud.agents()), order)
            self._look(cloud)
            self.assertEqual(1, len(cloud.agents()), order)

    def test_a_look_that_dies(self):
        """Never are two left by the next look."""
        for steps in range(5):
            for order in self._orders(
                    *[FIRST] * 3, *[SECOND] * 4, OLDEST):
                cloud = self._run(order, steps, None)
                self._look(cloud)
                self._look(cloud)
                self.assertEqual(1, len(cloud.agents()), (steps, order))

    def test_both_die(self):
        for order in self._orders(*[FIRST] * 3, *[SECOND] * 3):
            cloud = self._run(order, 2, 2)
            self._look(cloud)
            self._look(cloud)
            self.assertEqual(1, len(cloud.agents()), order)

    def test_nothing_is_started_where_nothing_is_missing(self):
        cloud = self._run([])
        with mock.patch.object(Cloud, 'create') as create:
            self._look(cloud)
        create.assert_not_called()
