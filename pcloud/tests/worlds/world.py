# SPDX-License-Identifier: Apache-2.0

"""Small worlds: a whole Nova, two hosts, and all orders of some calls."""

from __future__ import annotations

from collections.abc import Sequence
import functools
import gc
import hashlib
import itertools
import os
import sys
import typing

import fixtures
from nova.tests import fixtures as nova_fixtures

from pcloud.audit import all_checks
from pcloud.tests.support import base
from pcloud.tests.support import databases
from pcloud.tests.support import one_cell
from pcloud.tests.support import stored
from pcloud.tests.worlds import copies
from pcloud.tests.worlds import graph as graphs
from pcloud.tests.worlds import places
from pcloud.tests.worlds import ranks
from pcloud.tests.worlds import turns

# How often the turn may go to another actor while an actor could go on, where
# a world is too large to be explored whole; None for any number.
_SWITCHES = (int(os.environ['PCLOUD_TEST_SWITCHES'])
             if os.environ.get('PCLOUD_TEST_SWITCHES') else None)
_NEVER = 10**9
# Characters of the log that are shown with a failure.
_LOG = 5000

MEMBER = ('reader', 'member')
ADMIN = (*MEMBER, 'admin')


class WorldTestCase(base.PcloudTestCase):
    """Two hosts, and actors that go on in every possible order.

    :cvar questions: (module or class, name) of functions before which actors
        stand that make calls, in these worlds alone
    :cvar building: likewise of actors that have servers built
    :cvar switches: how often the turn may go to another actor while an actor
        could go on; None for any number
    """

    hosts = {'node-1': 'az1', 'node-2': 'az1'}
    service_down_time = _NEVER
    questions: typing.ClassVar[Sequence[tuple[object, str]]] = ()
    building: typing.ClassVar[Sequence[tuple[object, str]]] = ()
    switches: typing.ClassVar[int | None] = _SWITCHES

    def setUp(self):
        # The actors alone act: services run no tasks.
        self.flags(periodic_enable=False)
        super().setUp()
        # oslo.db gives each process new connections; a new connection to a
        # database in memory is a new database.
        self.useFixture(fixtures.MonkeyPatch(
            'os.getpid', functools.partial(int, os.getpid())))
        self.flags(rpc_response_timeout=_NEVER)
        self.flags(settle_limit=_NEVER, group='pcloud')
        self.useFixture(one_cell.OneCell())
        self.useFixture(nova_fixtures.SpawnIsSynchronousFixture())
        # The databases are in memory, where each has a single connection.
        self.rows = stored.Rows(*(
            databases.Connection(each.raw_connection().driver_connection)
            for each in self.engines()))
        self.places = self.useFixture(
            places.Places(self.placement.fixture._client, self.questions,
                          self.building))
        self.answers: dict[str, list[int]] = {}
        self._way: list[str] = []
        self._last: str | None = None
        self._switches = 0
        self._serial: set[str] | None = None

    def actor(self, name, *calls):
        """Return an actor that makes calls in sequence.

        :param calls: (project, roles, arguments of `base.Client.call`)
        """
        def work():
            for project, roles, call in calls:
                user = self.client_of(name, project, roles)
                with self.places.one_call():
                    response = user.call(*call)
                self.answers.setdefault(name, []).append(
                    response.status_code)
                self.assertLess(response.status_code, 500, response.text)
        return turns.Actor(name, work)

    def explore(self, *actors: turns.Actor) -> graphs.Graph:
        """Let actors go on in every order, and check each state.

        :returns: the graph of the states
        """
        gc.collect()
        gc.freeze()
        self.addCleanup(gc.unfreeze)
        graph = copies.run(functools.partial(self._explore, actors))
        print(f'{self.id().split(".", 3)[-1]}: {graph.interleavings():,} '
              f'interleavings: {graph.states} states, {graph.turns} turns '
              f'({graph.taken} taken), '
              f'{len(graph.ends)} ends, '
              f'{"any" if self.switches is None else self.switches} '
              'switches',
              file=sys.__stderr__, flush=True)
        for each, most in graph.repetitions().items():
            print(f'    {each.actor}: {each.function} is tried at most '
                  f'{most + 1} times', file=sys.__stderr__, flush=True)
            self.assertLess(most + 1, each.limit)
        return graph

    def explore_as_serial(self, *actors: turns.Actor) -> graphs.Graph:
        """Explore, where each end is the end of actors one after the other.

        See `outcome`.
        """
        self._serial = {
            copies.run(functools.partial(self._one_by_one, actors, order))
            for order in itertools.permutations(actors)}
        return self.explore(*actors)

    def _explore(self, actors):
        self._graph = graphs.Graph()
        self._begin(actors)
        graphs.explore(self, self._graph)
        return self._graph

    def _begin(self, actors):
        with self.engines()[2].begin() as connection:
            ranks.spread(connection)
        self._turns = self.places.begin()
        for actor in actors:
            self._turns.start(actor)
            self._turns.standing()

    def _one_by_one(self, actors, order):
        """Return the outcome of actors, each of which acts as a whole."""
        self._begin(actors)
        while choices := self._choices(self._turns.standing()):
            self.take(min(choices, key=lambda choice: [
                each.name for each in order].index(choice.split()[0])))
        for error in self._turns.errors:
            raise self._explained(error)
        return repr(self.outcome())

    def outcome(self) -> object:
        """Return what users are told in the end, and what they have."""
        return [sorted(self.answers.items()), sorted(
            each for each in self.rows.members()
            if each[0].startswith('Pcloud:'))]

    def _choices(self, standing):
        """Return the actors that may have the turn."""
        return sorted(standing)

    def look(self) -> tuple[str, list[str]]:
        """Return the present state, and the actors that may have the turn."""
        standing = self._turns.standing()
        for error in self._turns.errors:
            raise self._explained(error)
        choices = self._choices(standing)
        if self.switches is None:
            return self._digest(standing), choices
        if self._switches >= self.switches and self._last in choices:
            choices = [self._last]
        return (f'{self._digest(standing)} {self._last} {self._switches}',
                choices)

    def take(self, choice: str) -> None:
        """Let an actor go on."""
        standing = self._turns.standing()
        self._way.append(f'{choice}: {standing[choice]}')
        self._switches += choice != self._last and (
            self._last in self._choices(standing))
        self._last = choice
        self.places.go(choice)

    def footprint(self) -> graphs.Footprint:
        """Return what the latest turn has read and written."""
        footprint = self.places.footprint()
        if self.switches is None:
            return footprint
        # The states count the switches.
        return footprint._replace(writes=footprint.writes | {'switches'})

    def _explained(self, error):
        error.add_note('after ' + '\n      '.join(self._way))
        # What a copy logs ends with the copy.
        error.add_note(self.stdlog.logger.output[-_LOG:])
        return error

    def _digest(self, standing):
        # The readings of an actor that has ended matter no more.
        seen = [standing, sorted(self.answers.items()), self.rows.all(),
                self.remembered(), self.places.memories(standing)]
        return hashlib.sha256(self.places.plain(seen).encode()).hexdigest()

    def remembered(self) -> object:
        """Return what services remember, beside the databases.

        No call of Pcloud's API depends on what schedulers and compute services
        remember.
        """

    def check(self) -> None:
        """Check the invariants of every state."""
        if not self._graph.states % 1000:
            print(f'{self._graph.states} states', file=sys.__stderr__,
                  flush=True)
        try:
            self._check()
        except AssertionError as error:
            raise self._explained(error)

    def _check(self):
        holders = {}
        for name, host in self.rows.members():
            if name.startswith('Pcloud:'):
                kind = name.startswith('Pcloud:host_flavor:')
                self.assertNotIn((kind, host), holders)
                holders[kind, host] = name
        for each in self.rows.servers():
            holder = holders.get((False, each.host))
            if holder is not None:
                self.assertEqual(f'Pcloud:{each.hint}', holder)
            elif (True, each.host) in holders:
                self.assertIn(each.host, self.rows.dues())
            else:
                self.assertIsNone(each.hint)

    def end(self):
        """Check the invariants after the end of all actors."""
        try:
            if self._serial is not None:
                self.assertIn(repr(self.outcome()), self._serial)
            self._check_end()
        except AssertionError as error:
            raise self._explained(error)

    def _check_end(self):
        self.assertEqual([], all_checks.find(self.context, settle=0))
