# SPDX-License-Identifier: Apache-2.0

"""The places at which actors of a small world stand, and actors' readings.

An actor that makes a call of Pcloud's API stands before each transaction that
writes, each call of Placement, each cast and each reading on which a decision
depends, but not inside such a step. An actor that has servers built stands
between the steps of a build in Nova. The further steps of an actor depend on
what the actor remembers of the actor's readings alone, see `memory`, since
time goes by turns, and random numbers are the same in each run.
"""

from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import datetime
import functools
import itertools
import random
import re
import secrets
import sys
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
import tenacity

from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.cells import arrivals
from pcloud.backend.cells import computes
from pcloud.backend.changes import journal
from pcloud.objects import emptiness
from pcloud.objects import quotas
from pcloud.tests.support import driver
from pcloud.tests.worlds import graph
from pcloud.tests.worlds import memory
from pcloud.tests.worlds import ranks
from pcloud.tests.worlds import turns as turns_

# A turn is longer than the greatest difference of clocks, so that the order of
# turns decides what time decides.
_TURN = datetime.timedelta(seconds=20)
_START = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)

# What a turn touches beside databases.
_CLOCK, _SERVICES = 'clock', 'services'
# Statements that write a time which is a part of a state, see `stored.Rows`.
_TIMED = tuple(f'INSERT INTO {each} ' for each in (
    'build_requests', 'instances', 'request_specs'))
_WORD = re.compile(r'\w+')
_WRITTEN = re.compile(r'^(?:INSERT INTO|UPDATE|DELETE FROM) "?(\w+)')
# Readings of the databases on which decisions depend.
_QUESTIONS = (
    (pcloud_rows, 'find'), (pcloud_rows, 'head'), (pcloud_rows, 'host_rows'),
    (pool_rows, 'drawn'), (pool_rows, 'unallocated'), (pool_rows, 'settling'),
    (pool_rows, 'unregistered'), (pool_rows, 'is_registered'),
    (closed_rows, 'closed_of'), (computes, 'load'),
    (emptiness, 'occupants'), (arrivals, 'awaited'), (journal, 'dues'),
    (quotas, 'check'))
# Rooms, and modules of rooms, whose functions keep nothing: readings are
# forgotten at the return.
_FORGETTING = ('pcloud.backend.', 'pcloud.objects.', 'pcloud.moving.drains',
               'pcloud.moving.maintenance', 'pcloud.moving.recover')
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
    :param questions: (module or class, name) of functions before which actors
        stand that make calls, beside those of every world
    :param building: likewise of actors that have servers built
    :ivar turns: the turns of the actors; None before the first turn
    :ivar remembering: the class of the memories of actors that make calls
    :ivar launching: the class of the memories of actors that have servers
        built
    :ivar schedulers: how many schedulers get what is sent to all
    """

    def __init__(
        self, placement, questions: Iterable[tuple[object, str]] = (),
        building: Iterable[tuple[object, str]] = (),
    ) -> None:
        super().__init__()
        self._questions = *_QUESTIONS, *questions
        self._building = *_BUILDING, *building
        self._going = ''
        self.remembering: type[memory.Memory] = memory.Memory
        self.launching: type[memory.Memory] = memory.Launch
        self.schedulers = 1
        self._placement = placement
        self._here = threading.local()
        self.turns: turns_.Turns | None = None
        self._reads: set[str] = set()
        self._writes: set[str] = set()
        self._again: set[graph.Repetition] = set()
        self._now = _START
        self._streams: dict[str, random.Random] = {}
        self._drawn: set[str] = set()
        self._tables: dict[str, set[str]] = {}
        self._memories: dict[str, memory.Memory] = {}
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
        for name, module in sorted(sys.modules.items()):
            if name.startswith(_FORGETTING):
                for each in memory.functions(module):
                    self._replace(module, each, memory.forgetting(
                        getattr(module, each), self._memory))
        self._replace(tenacity.Retrying, '__call__', self._retries(
            tenacity.Retrying.__call__))
        for holder, name in self._questions:
            self._replace(holder, name, self._asking(holder, name))
        for holder, name in self._building:
            self._replace(holder, name, self._named(holder, name))
        for holder, name in _BUILDING_ONE:
            self._replace(holder, name, self._named_of_one(holder, name))
        manager = conductor_manager.ComputeTaskManager
        self._replace(manager, '_schedule_instances', self._selects(
            manager._schedule_instances))
        manager = scheduler_manager.SchedulerManager
        self._replace(manager, '_get_all_host_states', self._offers(
            manager._get_all_host_states))
        self._replace(manager, '_get_sorted_hosts', self._sorts(
            manager._get_sorted_hosts))
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

    def pass_time(self) -> None:
        """Let as much time go by as a turn takes."""
        self._now += _TURN

    def go(self, key: str) -> None:
        """Let an actor go on, and advance the time."""
        self.pass_time()
        self._going = key
        self._reads, self._writes, self._again = set(), set(), set()
        if not self.turns.actor(key).stands:
            self._writes.add(_SERVICES)
        self.turns.go(key)

    def footprint(self) -> graph.Footprint:
        """Return what the latest turn has read and written.

        The names are the databases' tables, the services' memories, and the
        clock. A written row has a time, which an actor that reads the row
        remembers. So each turn that writes a row sets the clock, but for the
        turns of a launch, which set the clock when the time is a part of the
        state: no launch remembers times.
        """
        return graph.Footprint(
            frozenset(self._reads), frozenset(self._writes),
            frozenset(self._again))

    def memories(self, keys: Iterable[str]) -> dict[str, list[list[str]]]:
        """Return what actors, or strands of actors, remember.

        :param keys: the names of actors, or of actors and strands
        :returns: actor, or actor and strand -> what is remembered
        """
        remembered = {}
        for key in keys:
            name, _, strand = key.partition(' ')
            if name in self._memories:
                remembered[key] = self._memories[name].of_strand(strand).text()
        return remembered

    @property
    def has_selected(self) -> bool:
        """Whether a launch remembers nothing but what was selected."""
        return any(each.has_selected for each in self._memories.values())

    def plain(self, value: object) -> str:
        """Return a value as text, without what differs between equal worlds.

        See `ranks`.
        """
        return ranks.numbered(ranks.plain(value), self._drawn)

    def note(self, value: object) -> None:
        """Record a reading of the actor of this thread."""
        its = self._memory()
        if its is not None:
            its.note(value)

    @contextlib.contextmanager
    def one_call(self) -> Iterator[None]:
        """Forget what a call of the API has read when the call is answered.

        Of an answer an actor keeps nothing but the status, which belongs to
        the state of the world.
        """
        its = self._memory()
        its.begin()
        yield
        its.forget(lambda: None)

    def _memory(self) -> memory.Memory | None:
        actor = self._actor()
        if actor is None:
            return None
        if actor.name not in self._memories:
            self._memories[actor.name] = (
                self.remembering if actor.stands else self.launching)()
        return self._memories[actor.name].of_strand(self._strand())

    def _strand(self) -> str:
        """Return the server that this thread builds; empty if none."""
        return getattr(self._here, 'strand', '')

    def _actor(self) -> turns_.Actor | None:
        return self.turns and self.turns.current()

    def arrive(self, place: str) -> None:
        """Stand before a step that is not inside a further step."""
        actor = self._actor()
        if actor is not None and actor.stands and not self._depth():
            self.note(place)
            self._stand(place)

    def _stand(self, place, strand=''):
        self.turns.arrive(place, strand)
        # The turn has begun, maybe with what a service keeps in memory.
        if getattr(self._here, 'is_service', False):
            self._writes.add(_SERVICES)

    def _depth(self) -> int:
        return getattr(self._here, 'depth', 0)

    @contextlib.contextmanager
    def _within(self) -> Iterator[None]:
        self._here.depth = self._depth() + 1
        try:
            yield
        finally:
            self._here.depth -= 1

    def _arrive_named(self, place: str) -> None:
        actor = self._actor()
        if actor is not None and not actor.stands:
            self.note([place, self._strand()])
            self._stand(place, self._strand())

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
            self._here.strand = server
            self._arrive_named(name)
            return original(*args, **kwargs)
        return standing

    def _offers(self, read):
        def offered(manager, context, spec, summaries):
            self.note(summaries and sorted(summaries))
            return read(manager, context, spec, summaries)
        return offered

    def _sorts(self, sort):
        def sorted_(*args):
            found = sort(*args)
            self.note([_of_host(each) for each in found])
            return found
        return sorted_

    def _selects(self, select):
        def selected(manager, context, spec, servers, **kwargs):
            found = select(manager, context, spec, servers, **kwargs)
            its = self._memory()
            if its is not None:
                its.select({server: [host.obj_to_primitive() for host in hosts]
                            for server, hosts
                            in zip(servers, found, strict=True)})
            self._arrive_named('selected')
            return found
        return selected

    def _retries(self, retry):
        def retried(retrying, function, *args, **kwargs):
            if not memory.is_free(function):
                return retry(retrying, function, *args, **kwargs)
            if not isinstance(retrying.stop, tenacity.stop_after_attempt):
                its = memory.forgetting(function, self._memory)
                return retry(retrying, its, *args, **kwargs)
            its = memory.attempt(function, self._memory, functools.partial(
                self._tries_again, function.__name__,
                retrying.stop.max_attempt_number))
            return retry(retrying, its, *args, **kwargs)
        return retried

    def _tries_again(self, name, limit):
        self._again.add(graph.Repetition(self._actor().name, name, limit))

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
        its = self._reader()
        if its is not None:
            its.note([response.status_code, response.text])
        return response

    def _casts(self, cast):
        def sent(caller, context, method, **arguments):
            self.arrive(f'cast {method}')
            self._writes.add(_SERVICES)
            if self.turns is not None:
                for _ in range(self.schedulers if caller.target.fanout else 1):
                    self.turns.began(context.user_id)
            return cast(caller, context, method, **arguments)
        return sent

    def _dispatches(self, dispatch):
        def dispatched(rpc_dispatcher, incoming):
            self._writes.add(_SERVICES)
            self._here.is_service, self._here.strand = True, ''
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
        # A database in memory has a single connection. Whatever thread runs,
        # the statement is part of the present turn.
        is_writing = self._touch(
            connection.connection.driver_connection, statement)
        actor = self._actor()
        is_launching = actor is not None and not actor.stands
        if is_writing and (
                not is_launching or statement.startswith(_TIMED)):
            self._writes.add(_CLOCK)
        its = self._reader()
        if its is None or getattr(self._here, 'is_placement', False):
            return
        if is_writing:
            its.note(cursor.rowcount)
        elif statement.startswith('SELECT'):
            again = connection.connection.cursor()
            again.execute(statement, parameters)
            its.note(again.fetchall())
            again.close()

    def _reader(self) -> memory.Memory | None:
        """Return the memory for what is read now; None to remember nothing.

        Cells are asked by threads of no actor: what is read there belongs to
        the launch that has the turn.
        """
        actor = self._actor()
        if actor is not None and actor.stands:
            return self._memory()
        name, _, strand = self._going.partition(' ')
        its = self._memories.get(name)
        return (its.of_strand(strand) if isinstance(its, memory.Reader)
                else None)

    def _touch(self, database, statement) -> bool:
        """Record the tables of a statement, and return whether it writes."""
        name = str(id(database))
        if name not in self._tables:
            cursor = database.cursor()
            cursor.execute("SELECT name FROM sqlite_master WHERE type='table'")
            self._tables[name] = {table for table, in cursor.fetchall()}
            cursor.close()
        # A column with the name of a table counts as the table, to no harm.
        tables = self._tables[name] & {*_WORD.findall(statement)}
        written = {*_WRITTEN.findall(statement)}
        self._reads |= {f'{name} {each}' for each in tables - written}
        self._writes |= {f'{name} {each}' for each in written}
        return bool(written)

    def _stream(self) -> random.Random | None:
        actor = self._actor()
        return actor and self._streams.setdefault(
            actor.name, random.Random(actor.name))

    def _uuid4(self):
        stream = self._stream()
        if stream is None:
            return self._originals['uuid4']()
        drawn = uuid.UUID(int=stream.getrandbits(128), version=4)
        self._drawn |= {str(drawn), drawn.hex}
        return drawn

    def _token_hex(self, nbytes=None):
        stream = self._stream()
        if stream is None:
            return self._originals['token_hex'](nbytes)
        drawn = stream.randbytes(nbytes or 32).hex()
        self._drawn.add(drawn)
        return drawn

    def _system_random(self):
        actor = self._actor()
        return (self._originals['SystemRandom']() if actor is None else
                random.Random(actor.name))

    def _utcnow(self, with_timezone=False):
        return self._now if with_timezone else self._now.replace(tzinfo=None)

    def _utcnow_ts(self, microsecond=False):
        seconds = int(self._now.timestamp())
        self._writes.add(_CLOCK)
        self.note(f'{self._now:%Y%m%dT%H%M%SZ}')
        return seconds

    def _sleep(self, seconds):
        if self._actor() is None:
            self._originals['sleep'](seconds)

    def _monotonic(self):
        return self._originals['monotonic']() if self._actor() is None else 0.


def _of_host(state):
    """Return what later servers of a launch are selected by, of a host."""
    return [state.host, state.num_instances, state.vcpus_used,
            state.free_ram_mb, state.free_disk_mb, state.num_io_ops,
            sorted(each.name for each in state.aggregates)]
