# SPDX-License-Identifier: Apache-2.0

"""Worlds of two launches, each with a scheduler of its own."""

import functools

import fixtures
from nova.scheduler import manager
from nova.tests import fixtures as nova_fixtures

from pcloud import names
from pcloud.objects import turns as turns_
from pcloud.tests.worlds import memory
from pcloud.tests.worlds import test_building
from pcloud.tests.worlds import turns
from pcloud.tests.worlds import world

# The look at a turn of Pcloud, see `LaunchesTestCase.building`.
_LOOK = 'is_free'
_TURNS = names.GROWTH_TURN, names.STRICT_PREFIX


class LaunchesTestCase(test_building.BuildingTestCase):
    """Builds do not fail, and both launches remember all readings.

    A launch that waits for a turn of Pcloud looks again and again, and
    changes nothing meanwhile. So the launch stands before the look until
    nobody has the turn.
    """

    building = ((turns_, _LOOK), (turns_, 'take'), (turns_, 'end'))
    switches = world.WorldTestCase.switches or 2
    failures = 0

    def setUp(self):
        super().setUp()
        self.places.launching = memory.Reader
        # Nova's own function starts one service of a kind.
        self.other = self.useFixture(nova_fixtures.ServiceFixture(
            'scheduler', 'scheduler-2')).service
        self.places.schedulers = 2
        choose = manager.SchedulerManager.select_destinations

        @functools.wraps(choose)
        def routed(scheduler, context, *given, **options):
            its = self.scheduler if context.user_id == 'one' else self.other
            return choose(its.manager, context, *given, **options)

        self.useFixture(fixtures.MockPatchObject(
            manager.SchedulerManager, 'select_destinations', routed))

    def launch(self, name, project, hints=None, **server):
        """Return the actor that launches a server.

        :param name: 'one', or the name of the launch of the other scheduler
        :param hints: the scheduler hints
        :param server: members of the body that differ from a small server's
        """
        body = {'server': {**self._build_server(
            flavor_id='1', networks='none', az='az1'), 'name': name,
            **server}, 'os:scheduler_hints': hints or {}}

        def work():
            user = self.client_of(name, project)
            answer = user.call('POST', '/servers', body)
            self.answers.setdefault(name, []).append(answer.status_code)
            self.assertLess(answer.status_code, 500, answer.text)
        return turns.Actor(name, work, stands=False)

    def _choices(self, standing):
        has_turn = any(key.startswith(_TURNS)
                       for _, key, _ in self.rows.metadata())
        choices = [each for each in super()._choices(standing)
                   if not (has_turn and standing[each] == _LOOK)]
        self.assertTrue(choices or not standing, standing)
        return choices

    def remembered(self):
        """Return also what schedulers know when a launch has selected.

        A selection may follow the selection of the other launch.
        """
        return [super().remembered(), *(
            _known(its.manager.host_manager)
            for its in (self.scheduler, self.other))]

    def outcome(self):
        """Return how many servers run, and how many hosts the Pcloud has."""
        return [len(self.rows.servers()), self.size()]

    def size(self):
        """Return how many hosts the Pcloud has."""
        return [name for name, _ in self.rows.members()].count(
            names.pcloud(self.mine))


def _known(host_manager):
    """Return what a scheduler knows of aggregates, and of servers on hosts.

    What else a scheduler knows of hosts is read anew for each request.
    """
    return [
        {key: [each.name, sorted(each.hosts), each.metadata]
         for key, each in host_manager.aggs_by_id.items()},
        {host: [sorted(its['instances']), its['updated']] for host, its
         in host_manager._instance_info.items()}]
