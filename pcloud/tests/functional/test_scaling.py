# SPDX-License-Identifier: Apache-2.0

"""Scaled services follow others in front of real Nova."""

import collections
import functools
import itertools
import queue
import threading

from pcloud.client.deploy import deployments
from pcloud.client.deploy import plans
from pcloud.client.deploy import scaling
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client.deploy import sync
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.client import v1
from pcloud.tests.functional import kills
from pcloud.tests.functional import test_client
from pcloud.worker import follower

# The calls of a look between which another look may do anything.
STEPS = ('list_all', 'create', 'list_known')
SERVICES = ('agent', 'db', 'log')


class Library(v1.Client):
    """A client whose calls about servers a test may replace."""

    @functools.cached_property
    def servers(self):
        """Nova's own calls about servers."""
        return super().servers


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
            follower.follow(self._client, SERVICES, self.told.append)
        finally:
            self._stops.put(True)


class ScalingTestCase(test_client.ClientTestCase):
    """There is a unit of db on the first host, and one of agent with it."""

    hosts = {'node-1': 'az1', 'node-2': 'az2', 'node-3': 'az3'}
    library = Library

    def setUp(self):
        super().setUp()
        self.told = []
        self.pace = server_runs.Pace(60, self.told.append)
        self.image = servers.Image(self.glance.image1['id'])
        self.client = self.as_library(self.alice)
        for name, memory_mb in (('helper', 512), ('large', 7680)):
            self.make_flavor(name, memory_mb=memory_mb,
                             extra_specs={'pcloud:co_located': 'allow'})
        self.first = self._have_db(1)
        self._deploy('agent')
        self.told.clear()

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'ColocationFilter'],
                   group='filter_scheduler')

    def _find_image(self, _name):
        return self.image

    def _deploy(self, service, scale_with='db', flavor='helper'):
        return deployments.deploy(
            self.client, self._find_image, plans.Order(
                plans.Part(service, self.image.id, flavor),
                scale_with=scale_with, networks='none'), self.pace)

    def _have_db(self, number, **more):
        """Start a unit of db on a host, as any user would."""
        return self.boot(self.alice, {'service': 'db'}, zone=f'az{number}',
                         name=f'db-{number}', **more)

    def _look(self, client=None):
        """Let one look happen; return what the look did, and told."""
        told = []
        changes = follower.follow(
            client or self.client, SERVICES, told.append)
        self.assertLessEqual(len(told), 1, told)
        return ([(change.name, change.change) for change in changes],
                ''.join(told))

    def _settle(self):
        """Let looks happen until nothing is due; return the changes."""
        changes = []

        def quiet():
            changes.extend(self._look()[0])
            self.assertEqual([], scaling.due(services.Services(
                self.client.servers.list_all()), SERVICES))

        self.wait_until(quiet)
        return changes

    def _units(self, service='agent'):
        return [unit for unit in self.client.servers.list_all()
                if unit.hint('service') == service]

    def _hosts(self, service='agent'):
        """Return host -> number of units, when none comes or goes."""
        def settled():
            units = self._units(service)
            for unit in units:
                # Nova shows a server as DELETED, without a task, for a moment.
                self.assertNotIn(
                    unit.status, (servers.BUILD, *servers.GONE))
                self.assertNotEqual(servers.DELETING, unit.task)
            return units
        return collections.Counter(
            self.host_of({'id': unit.id})
            for unit in self.wait_until(settled))

    def _await_hosts(self, expected):
        """Wait until as many units as expected are on each host.

        Nova shows a server that is deleted while it is being built in ERROR,
        without a host, until the deletion has its turn.
        """
        self.wait_until(
            lambda: self.assertEqual(expected, self._hosts()))

    def _delete(self, server):
        self.alice.call_json('DELETE', f'/servers/{server["id"]}')
        self._wait_until_deleted(server)

    def _client_killed_before(self, name):
        """Return a client of a process that is killed before a call."""
        client = self.as_library(self.alice)

        def killed(*args, **kwargs):
            raise kills.Killed()

        setattr(client.servers, name, killed)
        return client


class FollowingTest(ScalingTestCase):
    """Units come and go by Nova's own calls."""

    def test_nothing_is_due(self):
        self.assertEqual(([], ''), self._look())

    def test_one_that_comes_and_goes(self):
        second = self._have_db(2)
        self.assertEqual(
            ([('agent-1', 'added')],
             'Scaled services: agent-1 is started beside db-2'),
            self._look())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())
        (unit,) = [unit for unit in self._units() if unit.name == 'agent-1']
        self.assertEqual(second['id'], unit.hint('in'))
        self.assertEqual(([], ''), self._look())

        self._delete(second)
        self.assertEqual([('agent-1', 'stopped'), ('agent-1', 'removed')],
                         self._settle())
        self.assertEqual({'node-1': 1}, self._hosts())
        self.assertEqual(([], ''), self._look())

    def test_the_last_that_goes(self):
        self._delete(self.first)
        self.assertEqual([('agent', 'stopped'), ('agent', 'removed')],
                         self._settle())
        self.wait_until(lambda: self.assertEqual([], self._units()))

    def test_one_whose_build_fails(self):
        self.boot(self.alice, {'service': 'db'}, expected='ERROR',
                  zone='az2', flavorRef=self.make_flavor(
                      'huge', memory_mb=1000000))
        self.assertEqual(([], ''), self._look())

    def test_one_that_is_shelved(self):
        """It comes back elsewhere, and what follows must be known then.

        The unit that new ones are like goes only after the next one has come.
        """
        self.act(self.first, {'shelve': None})
        self.wait_for(self.first, status='SHELVED_OFFLOADED')
        self.assertEqual(([], ''), self._look())
        self.act(self.first, {'unshelve': {'availability_zone': 'az3'}})
        self.wait_for(self.first, status='ACTIVE')
        self.assertEqual([('agent-1', 'added')], self._look()[0])
        self._hosts()
        self.assertEqual([('agent', 'stopped'), ('agent', 'removed')],
                         self._settle())
        self.assertEqual({'node-3': 1}, self._hosts())

    def test_one_that_the_user_has_started_beside(self):
        second = self._have_db(2)
        self.boot(self.alice, {'service': 'agent', 'in': second['id']},
                  flavorRef='helper', name='own')
        self.assertEqual(([], ''), self._look())
        self._delete(second)
        self.assertEqual(([], ''), self._look())
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())

    def test_a_unit_that_the_user_deletes(self):
        self._have_db(2)
        self._look()
        self._hosts()
        (unit,) = [unit for unit in self._units() if unit.name == 'agent']
        self._delete({'id': unit.id, 'status': 'ACTIVE'})
        self.assertEqual([('agent-2', 'added')], self._look()[0])
        self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())

    def test_who_may_only_read(self):
        self._have_db(2)
        reader = self.as_library(self.client_of(
            'eve', self.alice.project_id, ['reader']))
        changes, told = self._look(reader)
        self.assertEqual([], changes)
        self.assertIn('Scaled services: due, but not done: agent-1 (Policy '
                      "doesn't allow os_compute_api:servers:create", told)
        self.assertEqual({'node-1': 1}, self._hosts())
        # Nor does a reader remove anything.
        self._look()
        both = self._hosts()
        self._delete(self.first)
        changes, told = self._look(reader)
        self.assertEqual([], changes)
        self.assertIn('due, but not done: the removal of agent (', told)
        self.assertIn("Policy doesn't allow", told)
        self.assertEqual(both, self._hosts())

    def test_a_host_that_is_full(self):
        """Another host gets its unit; the next look tries once more."""
        self._have_db(2, flavorRef=self.make_flavor(
            'most', memory_mb=7680 - 256))
        self._have_db(3)
        self.assertEqual([('agent-1', 'added'), ('agent-2', 'added')],
                         self._look()[0])
        self.assertEqual({'node-1': 1, 'node-3': 1, None: 1}, self._hosts())
        changes, told = self._look()
        self.assertEqual([('agent-3', 'added'), ('agent-1', 'removed')],
                         changes)
        self.assertIn('agent-3 is started beside db-2; agent-1 is removed (',
                      told)
        self.assertIn('no host with', told)
        self.assertEqual({'node-1': 1, 'node-3': 1, None: 1}, self._hosts())

    def test_over_quota(self):
        self._have_db(2)
        self.flags(instances=3, group='quota')
        changes, told = self._look()
        self.assertEqual([], changes)
        self.assertIn('due, but not done: agent-1 (Quota exceeded', told)


class TwoLooksTest(ScalingTestCase):
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
