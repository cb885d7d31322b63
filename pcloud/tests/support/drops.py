# SPDX-License-Identifier: Apache-2.0

"""Losing the messages that leave the process while a call is handled.

The fixture does not change Pcloud: statements and commits are intercepted
below SQLAlchemy, calls of Placement, RPC and notifications at the border
between Nova and a library, and Keystone is a fake.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import dataclasses
import enum
import sqlite3
import threading
import time

import fixtures
from keystoneauth1 import exceptions as ks_exc
from nova import context as nova_context
from nova.tests.fixtures import notifications
from nova import utils
import oslo_messaging
from oslo_messaging.rpc import client as rpc_client
import pymysql
import sqlalchemy as sa

from pcloud.tests.support import databases
from pcloud.tests.support import outages

PLACEMENT, RPC = 'Placement', 'RPC'
NOTIFICATIONS, KEYSTONE = 'notifications', 'Keystone'

COMMIT = 'COMMIT'

# oslo.db's statement, for SQLite alone; transactions in other databases begin
# with the first statement.
_BEGIN = 'BEGIN'

# Far more points than any call needs: a call with more is in an endless loop.
_MOST_POINTS = 2000
_SHOWN = 110


class When(enum.Enum):
    """Whether a message is lost before or after taking effect."""

    BEFORE = 'before'
    AFTER = 'after'


class Endless(BaseException):
    """A call is in an endless loop; no handler catches the error."""


class _LostConnection(sqlite3.ProgrammingError):
    """An error that SQLAlchemy and oslo.db take for a lost connection.

    The connection to SQLite stays open and is rolled back, as a database
    server rolls back when a client is gone: oslo.db cannot lose a connection
    to SQLite.
    """

    def __init__(self) -> None:
        super().__init__('Cannot operate on a closed database.')


class _LostServer(pymysql.err.OperationalError):
    """The same error of a connection to MariaDB, which stays open too."""

    def __init__(self) -> None:
        super().__init__(2013, 'Lost connection to MySQL server during query')


@dataclasses.dataclass(frozen=True)
class Point:
    """A moment at which a message could be lost.

    :ivar part: the part of the cloud that receives the message
    :ivar text: the statement, or the method and the URL
    :ivar whens: the values of `When` that can make a difference
    :ivar within: whether the message is a statement of a transaction after
        the first statement: the transaction is lost with the first statement
        too
    """

    part: str
    text: str
    whens: tuple[When, ...] = tuple(When)
    within: bool = False

    def __str__(self) -> str:
        text = ' '.join(self.text.split())
        if len(text) > _SHOWN:
            text = f'{text[:_SHOWN // 2]} ... {text[-_SHOWN // 2:]}'
        return f'{self.part}: {text}'


@dataclasses.dataclass(frozen=True)
class Drop:
    """A message to lose.

    :ivar number: the number of the point, from 1
    :ivar when: whether the message is lost before or after taking effect
    :ivar stays_away: whether the part never answers again after the loss
    """

    number: int
    when: When
    stays_away: bool = False


@dataclasses.dataclass
class Met:
    """The events while a call was handled.

    :ivar points: all points, lost messages included
    :ivar lost: number of drops that happened
    :ivar waited: seconds for which the call would have slept
    """

    points: list[Point] = dataclasses.field(default_factory=list)
    lost: int = 0
    waited: float = 0.0


class Outgoing(fixtures.Fixture):
    """Loses messages of the thread in `dropping`, and of no other thread.

    All other threads are services of the cloud. The thread asks cells in
    sequence, and sleeping takes no time, but counts on the thread's own
    clock.

    :param engines: name of a database in reports -> engine
    :param placement: the keystoneauth adapter that calls Placement
    """

    def __init__(
        self, engines: Mapping[str, sa.Engine], placement,
    ) -> None:
        super().__init__()
        self._engines = engines
        self._placement = placement
        self._thread: int | None = None
        self._drops: dict[int, Drop] = {}
        self._away: set[str] = set()
        self._begun: set[int] = set()
        self._met = Met()
        self._sleep, self._monotonic = time.sleep, time.monotonic

    def _setUp(self):
        for name, engine in self._engines.items():
            self._watch_database(name, engine)
        self._replace(self._placement, 'request', self._placement_request)
        caller = rpc_client._BaseCallContext
        for method, error in (
                ('cast', oslo_messaging.MessageDeliveryFailure),
                ('call', oslo_messaging.MessagingTimeout)):
            self._replace(caller, method, self._messaging(
                getattr(caller, method), error))
        for notifier in (notifications.FakeNotifier,
                         notifications.FakeVersionedNotifier):
            self._replace(notifier, '_notify', self._notifying(
                notifier._notify))
        self._replace(utils, 'get_ksa_adapter', self._adapters(
            utils.get_ksa_adapter))
        self._replace(nova_context, 'scatter_gather_cells', _one_by_one)
        self._replace(time, 'sleep', self._sleeping)
        self._replace(time, 'monotonic', self._clock)

    def _replace(self, holder, name, new):
        self.useFixture(fixtures.MockPatchObject(holder, name, new))

    @contextlib.contextmanager
    def dropping(self, *drops: Drop) -> Iterator[Met]:
        """Lose messages of this thread; yields the events."""
        self._drops = {drop.number: drop for drop in drops}
        self._away, self._begun, self._met = set(), set(), Met()
        self._thread = threading.get_ident()
        try:
            yield self._met
        finally:
            self._thread = None

    def _is_watched(self) -> bool:
        return threading.get_ident() == self._thread

    def _pass(
        self, point: Point, error: Exception, go: Callable = lambda: None,
    ) -> object:
        """Send a message, unless the message is to be lost.

        :param error: raised for a lost message
        :param go: sends the message
        :raises: `error`, or `Endless` after too many points
        """
        if not self._is_watched():
            return go()
        self._met.points.append(point)
        number = len(self._met.points)
        if number > _MOST_POINTS:
            raise Endless(f'{number} calls and no end: {point}')
        if point.part in self._away:
            raise error
        drop = self._drops.get(number)
        if drop is None:
            return go()
        self._met.lost += 1
        if drop.stays_away:
            self._away.add(point.part)
        if drop.when is When.AFTER:
            go()
        raise error

    def _watch_database(self, part: str, engine: sa.Engine) -> None:
        lost = (_LostServer if databases.is_mariadb(engine.url)
                else _LostConnection)

        def begin(connection):
            self._begun.add(id(connection))

        def execute(cursor, statement, parameters, context):
            if statement == _BEGIN:
                return
            connection = id(context.root_connection)
            point = Point(part, statement, (When.BEFORE,),
                          within=connection not in self._begun)
            self._begun.discard(connection)
            self._pass(point, lost())

        def keep_connection(context):
            if isinstance(context.original_exception, lost):
                context.is_disconnect = False

        do_commit = engine.dialect.do_commit

        def commit(connection):
            self._pass(Point(part, COMMIT), lost(),
                       lambda: do_commit(connection))

        for target, name, listener in (
                (engine, 'begin', begin),
                (engine, 'do_execute', execute),
                (engine, 'do_executemany', execute),
                (engine, 'handle_error', keep_connection)):
            sa.event.listen(target, name, listener)
            self.addCleanup(sa.event.remove, target, name, listener)
        self._replace(engine.dialect, 'do_commit', commit)

    def _placement_request(self, url, method, **options):
        request = type(self._placement).request
        whens = (When.BEFORE,) if method == 'GET' else tuple(When)
        return self._pass(
            Point(PLACEMENT, f'{method} {url}', whens),
            ks_exc.ConnectFailure(f'{method} {url} was lost'),
            lambda: request(self._placement, url, method, **options))

    def _messaging(self, send, error):
        def sent(caller, context, method, **arguments):
            return self._pass(
                Point(RPC, f'{send.__name__} {method}'),
                error(f'{method} was lost'),
                lambda: send(caller, context, method, **arguments))
        return sent

    def _notifying(self, notify):
        def notified(notifier, priority, context, event_type, payload):
            return self._pass(
                Point(NOTIFICATIONS, event_type),
                oslo_messaging.MessageDeliveryFailure(
                    f'{event_type} was lost'),
                lambda: notify(notifier, priority, context, event_type,
                               payload))
        return notified

    def _adapters(self, get_adapter):
        def get(service_type, *arguments, **options):
            if service_type != 'identity':
                return get_adapter(service_type, *arguments, **options)
            return _Keystone(self._pass)
        return get

    def _sleeping(self, seconds):
        if self._is_watched():
            self._met.waited += seconds
        else:
            self._sleep(seconds)

    def _clock(self):
        return self._monotonic() + (
            self._met.waited if self._is_watched() else 0)


class _Keystone:
    def __init__(self, pass_: Callable) -> None:
        self._pass = pass_

    def get(self, url: str) -> object:
        """Return Keystone's answer about a project, or about a name."""
        return self._pass(
            Point(KEYSTONE, f'GET {url}', (When.BEFORE,)),
            ks_exc.ConnectFailure(f'GET {url} was lost'),
            lambda: outages.about(url))


def _one_by_one(context, cell_mappings, timeout, function, *args, **kwargs):
    """Ask cells as `nova.context.scatter_gather_cells`, but in sequence."""
    results = {}
    for mapping in cell_mappings:
        with nova_context.target_cell(context, mapping) as targeted:
            try:
                results[mapping.uuid] = function(targeted, *args, **kwargs)
            except Exception as error:  # Nova returns any exception.
                results[mapping.uuid] = error
    return results
