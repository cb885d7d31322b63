# SPDX-License-Identifier: Apache-2.0

"""Scaled services follow others in front of real Nova."""

import collections
import functools

from nova import context as nova_context

from pcloud.backend.cells import started_servers
from pcloud.client.deploy import deployments
from pcloud.client.deploy import plans
from pcloud.client.deploy import scaling
from pcloud.client.deploy import services
from pcloud.client.deploy import waits
from pcloud.client import servers
from pcloud.client import v1
from pcloud.tests.functional.quick import test_client
from pcloud.tests.support import kills
from pcloud.worker import follower
SERVICES = ('agent', 'db', 'log')


def started(server):
    """Return what a server was started with, as a worker reads it."""
    return started_servers.read(nova_context.get_admin_context(), server)


class Library(v1.Client):
    """A client whose calls about servers a test may replace."""

    @functools.cached_property
    def servers(self):
        """Nova's own calls about servers."""
        return super().servers


class ScalingTestCase(test_client.ClientTestCase):
    """There is a unit of db on the first host, and one of agent with it."""

    hosts = {'node-1': 'az1', 'node-2': 'az2', 'node-3': 'az3'}
    library = Library

    def setUp(self):
        super().setUp()
        self.told = []
        self.pace = waits.Pace(60, self.told.append)
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

    def _deploy(self, service, scale_with='db', flavor='helper',
                options=servers.Options()):
        return deployments.deploy(
            self.client, self._find_image, plans.Order(
                plans.Part(service, self.image.id, flavor, options),
                scale_with=scale_with, networks='none'), self.pace)

    def _have_db(self, number, **more):
        """Start a unit of db on a host, as any user would."""
        return self.boot(self.alice, {'service': 'db'}, zone=f'az{number}',
                         name=f'db-{number}', **more)

    def _look(self, client=None):
        """Let one look happen; return what the look did, and told."""
        told = []
        changes = follower.follow(
            client or self.client, started, SERVICES, told.append)
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
