# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Small worlds: a whole Nova, two hosts, and all orders of some calls."""

from __future__ import annotations

import hashlib
import sys

import fixtures
from nova.db.api import models as api_models
from nova.db.main import models
from nova.tests import fixtures as nova_fixtures
from oslo_utils import timeutils
from placement.db.sqlalchemy import models as placement_models
import sqlalchemy as sa

from pcloud.audit import all_checks
from pcloud.tests.functional import base
from pcloud.tests.functional import one_cell
from pcloud.tests.functional import stored
from pcloud.tests.functional import written
from pcloud.tests.worlds import graph as graphs
from pcloud.tests.worlds import places
from pcloud.tests.worlds import turns as turns_

_NEVER = 10**9

MEMBER = ('reader', 'member')
ADMIN = (*MEMBER, 'admin')


class WorldTestCase(base.PcloudTestCase):
    """Two hosts, and actors that go on in every possible order."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def setUp(self):
        self._computes = []
        # The actors alone act: services neither report nor run tasks.
        self.flags(report_interval=_NEVER, service_down_time=2 * _NEVER,
                   periodic_enable=False)
        self.useFixture(fixtures.MonkeyPatch(
            'nova.servicegroup.drivers.db.DbDriver._report_state',
            lambda *_: None))
        super().setUp()
        self.flags(rpc_response_timeout=_NEVER)
        self.flags(settle_limit=_NEVER, group='pcloud')
        self.useFixture(one_cell.OneCell())
        self.useFixture(nova_fixtures.SpawnIsSynchronousFixture())
        self._api, self._cell, self._placement = self.engines()
        self.databases = written.Databases(
            self._api, self._cell, self._placement)
        self.rows = stored.Rows(self._api, self._cell, self._placement)
        self.addCleanup(self.rows.close)
        self.places = self.useFixture(
            places.Places(self.placement.fixture._client))
        self.addCleanup(timeutils.clear_time_override)
        self.answers: dict[str, list[int]] = {}

    def _start_compute(self, host, *args, **kwargs):
        self._computes.append(
            super()._start_compute(host, *args, **kwargs))
        return self._computes[-1]

    def actor(self, name, *calls):
        """Return an actor that makes calls in sequence.

        :param calls: (project, roles, arguments of `base.Client.call`)
        """
        def work():
            for project, roles, call in calls:
                user = self.client_of(name, project, roles)
                response = user.call(*call)
                self.answers.setdefault(name, []).append(
                    response.status_code)
                self.assertLess(response.status_code, 500, response.text)
        return turns_.Actor(name, work)

    def explore(self, *actors: turns_.Actor) -> graphs.Graph:
        """Let actors go on in every order, and check each state.

        :returns: the graph of the states
        """
        graph, runs = graphs.Graph(), 0
        kept = self._keep()
        while not graph.is_complete:
            # Before the first run too: services cache rows.
            self._put_back(kept)
            self.answers = {}
            self.begin()
            self._run(graph, actors)
            self.end()
            runs += 1
        print(f'{self.id().split(".", 3)[-1]}: {graph.interleavings():,} '
              f'interleavings: {graph.states} states, {graph.turns} turns, '
              f'{runs} runs', file=sys.__stderr__, flush=True)
        return graph

    def _run(self, graph, actors):
        way, last = [], None
        with self.places.run() as turns:
            for actor in actors:
                turns.start(actor)
                turns.standing()
            try:
                while True:
                    standing = turns.standing()
                    state = self._digest(standing)
                    if last is not None:
                        graph.went(*last, state)
                    if graph.meet(state, standing):
                        self.check()
                    if not standing:
                        break
                    last = state, graph.choose(state)
                    way.append(f'{last[1]}: {standing[last[1]]}')
                    self.places.go(last[1])
                for error in turns.errors:
                    raise error
            except Exception as error:
                error.add_note('after ' + '\n      '.join(way))
                raise

    def _digest(self, standing):
        # The readings of an actor that has ended matter no more.
        at_work = {key.split()[0] for key in standing}
        seen = [standing, self.answers, self.rows.all(), {
            name: each for name, each in self.places.seen().items()
            if name in at_work}]
        return hashlib.sha256(places.plain(seen).encode()).hexdigest()

    def check(self):
        """Check the invariants of every state."""
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

    def begin(self):
        """Prepare a run."""

    def end(self):
        """Check the invariants after the end of all actors."""
        self.assertEqual([], all_checks.find(self.context, settle=0))

    def _keep(self):
        kept_rows = self.databases.keep()
        with self._placement.connect() as connection:
            generations = connection.execute(sa.select(
                placement_models.ResourceProvider.id,
                placement_models.ResourceProvider.generation)).all()
        return kept_rows, generations

    def _put_back(self, kept):
        kept_rows, generations = kept
        self.databases.put_back(kept_rows)
        provider = placement_models.ResourceProvider
        with self._placement.begin() as connection:
            for id_, generation in generations:
                connection.execute(sa.update(provider).where(
                    provider.id == id_).values(generation=generation))
        # Servers have the same uuids in each run.
        for engine, base_ in ((self._api, api_models.BASE),
                              (self._cell, models.BASE)):
            self._forget_servers(engine, base_.metadata)
        with self._placement.begin() as connection:
            connection.execute(sa.delete(placement_models.Consumer))
        self.scheduler.manager.host_manager._init_aggregates()
        for each in self._computes:
            each.manager.reportclient.clear_provider_cache()

    def _forget_servers(self, engine, metadata):
        with engine.begin() as connection:
            for table in reversed(metadata.sorted_tables):
                if (table.name == 'instances' or
                        'instance_uuid' in table.columns):
                    connection.execute(sa.delete(table))
