# SPDX-License-Identifier: Apache-2.0

"""Scaled services follow others in front of real Nova."""

import collections
import functools
import itertools
import queue
import threading

from pcloud.client.deploy import deployments
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import sync
from pcloud.client import exceptions
from pcloud.tests.functional.long import test_scaling
from pcloud.tests.support import kills
from pcloud.worker import follower

# The calls of a look between which another look may do anything.
STEPS = ('list_all', 'create', 'list_known')


class Look:
    """A look in a thread of its own, which takes one step when told to."""

    def __init__(self, client):
        self._client = client
        self._turns, self._stops = queue.SimpleQueue(), queue.SimpleQueue()
        for name in STEPS:
            self._stop_before(name)
        self.told, self.ended = [], False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._stops.get()

    def step(self):
        """Take one step, if any is left."""
        if not self.ended:
            self._turns.put(None)
            self.ended = self._stops.get()

    def _stop_before(self, name):
        call = getattr(self._client.servers, name)

        def stopped(*args, **kwargs):
            self._stops.put(False)
            self._turns.get()
            return call(*args, **kwargs)

        setattr(self._client.servers, name, stopped)

    def _run(self):
        try:
            follower.follow(
                self._client, test_scaling.started, test_scaling.SERVICES,
                self.told.append)
        finally:
            self._stops.put(True)


class TwoLooksTest(test_scaling.ScalingTestCase):
    """Two looks at the same time start no unit twice."""

    def _steps(self, order):
        """Let two looks take their steps in an order of 0 and 1."""
        looks = [Look(self.as_library(self.alice)) for _ in range(2)]
        for number in order:
            looks[number].step()
        for look in looks:
            while not look.ended:
                look.step()
        return looks

    def test_all_orders(self):
        """Afterwards there is one unit, or the next look sees to it."""
        self._have_db(2)
        number = len(STEPS)
        orders = [[int(place in places) for place in range(2 * number)]
                  for places in itertools.combinations(
                      range(1, 2 * number), number)]
        self.assertEqual(10, len(orders))
        for order in orders:
            self._steps(order)
            self._settle()
            self._await_hosts({'node-1': 1, 'node-2': 1})
            self.assertEqual(([], ''), self._look(), order)
            for unit in self._units():
                if self.host_of({'id': unit.id}) == 'node-2':
                    self._delete({'id': unit.id, 'status': 'ACTIVE'})

    def test_one_that_is_killed_before_it_looks_again(self):
        """The next look takes away what is there twice."""
        self._have_db(2)
        other = Look(self.as_library(self.alice))
        other.step()
        self.assertRaises(kills.Killed, self._look,
                          self._client_killed_before('list_known'))
        other.step()
        self.assertEqual(3, len(self._units()))
        while not other.ended:
            other.step()
        self._settle()
        self._await_hosts({'node-1': 1, 'node-2': 1})
        self.assertEqual(([], ''), self._look())

    def test_two_that_are_killed(self):
        self._have_db(2)
        killed = [self._client_killed_before('list_known') for _ in range(2)]
        listed = [client.servers.list_all() for client in killed]
        for client, found in zip(killed, listed):
            client.servers.list_all = functools.partial(list, found)
            self.assertRaises(kills.Killed, self._look, client)
        self.assertEqual({'node-1': 1, 'node-2': 2}, self._hosts())
        _, first, second = sorted(self._units(), key=lambda unit: (
            unit.metadata['pcloud_scaled_at']))
        self._settle()
        self.wait_until(lambda: self.assertNotIn(
            second.id, {unit.id for unit in self._units()}))
        self.assertIn(first.id, {unit.id for unit in self._units()})
        self.assertEqual(([], ''), self._look())

    def test_a_look_during_a_removal(self):
        """A service that is being removed does not come back."""
        self._have_db(2)
        look = Look(self.as_library(self.alice))
        look.step()
        deployments.undeploy(self.client, 'agent', self.pace)
        while not look.ended:
            look.step()
        self.assertEqual(collections.Counter(), self._hosts())
        self.assertEqual([], look.told)

    def test_a_look_during_a_deployment(self):
        """What fails as a whole is not continued by others."""
        self._have_db(2)
        self._have_db(3)
        looks = []
        create = self.client.servers.create

        def look_first(*args, **kwargs):
            looks.append(self._look(self.as_library(self.alice)))
            if len(looks) == 3:
                raise exceptions.Conflict('no more')
            return create(*args, **kwargs)

        self._look()
        self.client.servers.create = look_first
        self.assertRaises(server_runs.DeploymentFailed, self._deploy, 'log')
        self.assertEqual(([], ''), looks[0])
        for changes, told in looks[1:]:
            self.assertEqual([], changes)
            self.assertIn("not done: 'log' (it is being deployed", told)
        self.assertEqual([], self._units('log'))
        del self.client.servers.create
        self._deploy('log')
        self.assertEqual(([], ''), self._look())
        self._delete(self.first)
        self.assertEqual(2, len(self._look()[0]))
        # The cloud is put back once the units have gone.
        for service in ('agent', 'log'):
            self._hosts(service)

    def test_a_deployment_that_is_killed(self):
        """Its units are followed once the user has had them completed."""
        self._have_db(2)
        self._look()
        killed = self._client_killed_before('delete_metadata')
        self.client, client = killed, self.client
        self.assertRaises(kills.Killed, self._deploy, 'log')
        self.client = client
        self._have_db(3)
        changes, told = self._look()
        self.assertEqual([('agent-2', 'added')], changes)
        self.assertIn("not done: 'log' (it is being deployed", told)
        self._hosts()
        waiting = threading.Thread(
            target=sync.sync, args=(self.client, 'log', self.pace))
        waiting.start()

        def ended():
            self._look()
            self.assertFalse(waiting.is_alive())

        self.wait_until(ended)
        self.assertEqual({'node-1': 1, 'node-2': 1, 'node-3': 1},
                         self._hosts('log'))
        self.assertEqual(([], ''), self._look())
