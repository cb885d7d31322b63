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

"""The places at which actors of a small world stand, and actors' readings.

An actor that makes a call of Pcloud's API stands before each transaction that
writes, each call of Placement, each cast and each reading on which a decision
depends, but not inside such a step. An actor that has servers built stands
between the steps of a build in Nova. The further steps of an actor depend on
the actor's readings alone, since time goes by turns, and random numbers are
the same in each run.
"""

from collections.abc import Iterator
import contextlib
import datetime
import hashlib
import itertools
import json
import random
import re
import secrets
import threading
import time
import uuid

import fixtures
from nova.compute import manager as compute_manager
from nova.conductor import api as conductor_api
from nova.conductor import manager as conductor_manager
from nova import objects
from nova.scheduler import manager as scheduler_manager
from oslo_db.sqlalchemy import enginefacade
from oslo_messaging.rpc import client as rpc_client
from oslo_messaging.rpc import dispatcher
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.backend import arrivals
from pcloud.backend import computes
from pcloud.backend import isolation
from pcloud.backend import journal
from pcloud.backend import pcloud_rows
from pcloud.backend import pool_rows
from pcloud.objects import emptiness
from pcloud.objects import quotas
from pcloud.tests.functional import driver
from pcloud.tests.worlds import turns as turns_

# A turn is longer than the greatest difference of clocks, so that the order of
# turns decides what time decides.
_TURN = datetime.timedelta(seconds=20)
_START = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)

_TIME = re.compile(
    r'\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?|(?<=\bt=)[0-9a-f]{8}\b')


# Readings of the databases on which decisions depend.
_QUESTIONS = (
    (pcloud_rows, 'find'), (pool_rows, 'unallocated'), (pool_rows, 'settling'),
    (isolation, 'closed_uuids_of'), (pcloud_rows, 'with_host'),
    (computes, 'load'), (emptiness, 'occupants'), (arrivals, 'awaited'),
    (journal, 'dues'), (quotas, 'check'))
# The steps of a build in Nova: the request is in the database, hosts are
# filtered, a host is claimed, the server is built, and built again after a
# failure. No thread holds a lock of Nova at these places.
_BUILDING = (
    (conductor_api.ComputeTaskAPI, 'schedule_and_build_instances'),
    (scheduler_manager.SchedulerManager, '_get_all_host_states'),
    (scheduler_manager.utils, 'claim_resources'))
_BUILDING_ONE = (
    (compute_manager.ComputeManager, 'build_and_run_instance'),
    (driver.HeldDriver, 'spawn'),
    (conductor_manager.ComputeTaskManager, 'build_instances'))


class Places(fixtures.Fixture):
    """Has actors stand at places, and records the readings of each actor.

    :param placement: the keystoneauth adapter that calls Placement
    :ivar turns: the turns of the actors; None before the first turn
    """

    def __init__(self, placement) -> None:
        super().__init__()
        self._placement = placement
        self._here = threading.local()
        self.turns: turns_.Turns | None = None
        self._now = _START
        self._seen: dict[str, 'hashlib._Hash'] = {}
        self._drawn: dict[str, random.Random] = {}
        self._originals = {
            each: getattr(holder, each) for holder, each in (
                (uuid, 'uuid4'), (secrets, 'token_hex'),
                (random, 'SystemRandom'), (time, 'sleep'),
                (time, 'monotonic'))}

    def _setUp(self):
        manager = enginefacade._TransactionContextManager
        self._replace(manager, '_transaction_scope', self._transactions(
            manager._transaction_scope))
        self._replace(self._placement, 'request', self._request)
        caller = rpc_client._BaseCallContext
        self._replace(caller, 'cast', self._casts(caller.cast))
        self._replace(dispatcher.RPCDispatcher, 'dispatch', self._dispatches(
            dispatcher.RPCDispatcher.dispatch))
        sa.event.listen(sa.Engine, 'after_cursor_execute', self._executed)
        self.addCleanup(sa.event.remove, sa.Engine, 'after_cursor_execute',
                        self._executed)
        for holder, name in _QUESTIONS:
            self._replace(holder, name, self._asking(holder, name))
        for holder, name in _BUILDING:
            self._replace(holder, name, self._named(holder, name))
        for holder, name in _BUILDING_ONE:
            self._replace(holder, name, self._named_of_one(holder, name))
        manager = conductor_manager.ComputeTaskManager
        self._replace(manager, '_schedule_instances', self._selects(
            manager._schedule_instances))
        for holder, name, new in (
                (uuid, 'uuid4', self._uuid4),
                (secrets, 'token_hex', self._token_hex),
                (random, 'SystemRandom', self._system_random),
                (timeutils, 'utcnow', self._utcnow),
                (timeutils, 'utcnow_ts', self._utcnow_ts),
                (time, 'sleep', self._sleep),
                (time, 'monotonic', self._monotonic)):
            self._replace(holder, name, new)

    def _replace(self, holder, name, new):
        self.useFixture(fixtures.MockPatchObject(holder, name, new))

    def begin(self) -> turns_.Turns:
        """Begin a world, and return the turns of the world's actors."""
        self.turns = turns_.Turns()
        return self.turns

    def go(self, key: str) -> None:
        """Let an actor go on, and advance the time."""
        self._now += _TURN
        self.turns.go(key)

    def seen(self) -> dict[str, str]:
        """Return name of an actor -> digest of the actor's readings."""
        return {name: each.hexdigest() for name, each in self._seen.items()}

    def note(self, value: object) -> None:
        """Record a reading of the actor of this thread."""
        actor = self._actor()
        if actor is not None:
            self._seen.setdefault(actor.name, hashlib.sha256()).update(
                plain(value).encode())

    def _actor(self) -> turns_.Actor | None:
        return self.turns and self.turns.current()

    def arrive(self, place: str) -> None:
        """Stand before a step that is not inside a further step."""
        actor = self._actor()
        if actor is not None and actor.stands and not self._depth():
            self.turns.arrive(place)

    def _depth(self) -> int:
        return getattr(self._here, 'depth', 0)

    @contextlib.contextmanager
    def _within(self) -> Iterator[None]:
        self._here.depth = self._depth() + 1
        try:
            yield
        finally:
            self._here.depth -= 1

    def _arrive_named(self, place: str, strand: str = '') -> None:
        actor = self._actor()
        if actor is not None and not actor.stands:
            self.turns.arrive(place, strand)

    def _named(self, holder, name):
        original = getattr(holder, name)

        def standing(*args, **kwargs):
            self._arrive_named(name)
            return original(*args, **kwargs)
        return standing

    def _named_of_one(self, holder, name):
        original = getattr(holder, name)

        def standing(*args, **kwargs):
            server, = {each.uuid for each in itertools.chain(
                args, kwargs.get('instances', ()), [kwargs.get('instance')])
                if isinstance(each, objects.Instance)}
            self.note([name, server])
            self._arrive_named(name, server)
            return original(*args, **kwargs)
        return standing

    def _selects(self, select):
        def selected(*args, **kwargs):
            found = select(*args, **kwargs)
            self.note([[host.service_host for host in hosts]
                       for hosts in found])
            self._arrive_named('selected')
            return found
        return selected

    def _asking(self, holder, name):
        original = getattr(holder, name)

        def asking(*args, **kwargs):
            self.arrive(name)
            with self._within():
                return original(*args, **kwargs)
        return asking

    def _transactions(self, scope):
        @contextlib.contextmanager
        def scoped(manager, context):
            if manager._mode is enginefacade._WRITER:
                self.arrive('transaction')
            with self._within(), scope(manager, context) as resource:
                yield resource
        return scoped

    def _request(self, url, method, **options):
        self.arrive(f'{method} {url}')
        self._here.is_placement = True
        try:
            with self._within():
                response = type(self._placement).request(
                    self._placement, url, method, **options)
        finally:
            self._here.is_placement = False
        actor = self._actor()
        if actor is not None and actor.stands:
            self.note([response.status_code, response.text])
        return response

    def _casts(self, cast):
        def sent(caller, context, method, **arguments):
            self.arrive(f'cast {method}')
            if self.turns is not None:
                self.turns.began(context.user_id)
            return cast(caller, context, method, **arguments)
        return sent

    def _dispatches(self, dispatch):
        def dispatched(rpc_dispatcher, incoming):
            name, turns = incoming.ctxt.get('user_id'), self.turns
            if turns is None or not turns.knows(name):
                return dispatch(rpc_dispatcher, incoming)
            try:
                with turns.working_for(name):
                    return dispatch(rpc_dispatcher, incoming)
            finally:
                # The caller of a call waits; no caller waits for a cast.
                if incoming._reply_q is None:
                    turns.ended(name)
        return dispatched

    def _executed(self, connection, cursor, statement, parameters, context,
                  executemany):
        actor = self._actor()
        if actor is None or not actor.stands or getattr(
                self._here, 'is_placement', False):
            return
        if not statement.startswith('SELECT'):
            self.note(cursor.rowcount)
            return
        again = connection.connection.cursor()
        again.execute(statement, parameters)
        self.note(again.fetchall())
        again.close()

    def _draw(self) -> random.Random | None:
        actor = self._actor()
        return actor and self._drawn.setdefault(
            actor.name, random.Random(actor.name))

    def _uuid4(self):
        chance = self._draw()
        return (self._originals['uuid4']() if chance is None else
                uuid.UUID(int=chance.getrandbits(128), version=4))

    def _token_hex(self, nbytes=None):
        chance = self._draw()
        return (self._originals['token_hex'](nbytes) if chance is None else
                chance.randbytes(nbytes or 32).hex())

    def _system_random(self):
        return self._draw() or self._originals['SystemRandom']()

    def _utcnow(self, with_timezone=False):
        return self._now if with_timezone else self._now.replace(tzinfo=None)

    def _utcnow_ts(self, microsecond=False):
        return int(self._now.timestamp())

    def _sleep(self, seconds):
        if self._actor() is None:
            self._originals['sleep'](seconds)

    def _monotonic(self):
        return self._originals['monotonic']() if self._actor() is None else 0.


def plain(value: object) -> str:
    """Return a value as text, with times replaced by their ranks."""
    text = json.dumps(value, default=str)
    times = {each: _seconds(each) for each in _TIME.findall(text)}
    ranks = {seconds: rank for rank, seconds
             in enumerate(sorted(set(times.values())))}
    return _TIME.sub(lambda match: f'time {ranks[times[match[0]]]}', text)


def _seconds(text: str) -> float:
    if ':' not in text:
        return int(text, 16)
    return datetime.datetime.fromisoformat(text).replace(
        tzinfo=datetime.timezone.utc).timestamp()
