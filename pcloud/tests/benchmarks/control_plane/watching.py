# SPDX-License-Identifier: Apache-2.0

"""What operations of this process lock in MariaDB, and cast to schedulers."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import dataclasses
import json
import threading
import time
from unittest import mock

from nova import context as nova_context
from nova.objects import base
from nova.scheduler import rpcapi
from oslo_messaging._drivers import impl_fake
import pymysql
import sqlalchemy as sa

from pcloud import names
from pcloud.tests.concurrency import mariadb

# MariaDB renews what it tells of transactions no more often, in seconds.
_RENEWED = 0.15
_LOCKS = ('SELECT trx_rows_locked FROM information_schema.innodb_trx '
          'WHERE trx_mysql_thread_id = %s')


@dataclasses.dataclass
class Transactions:
    """What transactions have locked.

    :ivar anchors: the kinds of the anchors that were marked
    :ivar rows: rows and index records, of all transactions
    :ivar begun: when the first anchor was locked; None for no anchor
    :ivar ended: when the transaction of the first anchor was committed
    """

    anchors: set[str] = dataclasses.field(default_factory=set)
    rows: int = 0
    begun: float | None = None
    ended: float | None = None


def _kinds(parameters: object) -> set[str]:
    """Return the kinds of the anchors in the parameters of a statement."""
    values = (parameters.values() if isinstance(parameters, dict)
              else parameters if isinstance(parameters, (list, tuple)) else ())
    return {each.removeprefix(names.CHANGES_PREFIX).partition(':')[0]
            for each in values if isinstance(each, str)
            and each.startswith(names.CHANGES_PREFIX)}


@contextlib.contextmanager
def locking() -> Iterator[Transactions]:
    """Watch when anchors are locked, and until when."""
    found = Transactions()
    holder: list[int] = []

    def on_execute(connection, cursor, statement, parameters, *args) -> None:
        if statement.startswith(('UPDATE', 'INSERT')) and (
                kinds := _kinds(parameters)):
            found.anchors |= kinds
            if found.begun is None:
                found.begun = time.perf_counter()
                holder.append(id(connection))

    def on_commit(connection) -> None:
        if id(connection) in holder and found.ended is None:
            found.ended = time.perf_counter()

    with _listening(('before_cursor_execute', on_execute),
                    ('commit', on_commit)):
        yield found


@contextlib.contextmanager
def counting_locks() -> Iterator[Transactions]:
    """Count the locked rows when each transaction is committed.

    Each commit takes longer meanwhile.
    """
    found = Transactions()
    asking = pymysql.connect(
        host=mariadb.HOST, user=mariadb.USER, autocommit=True)

    def on_commit(connection) -> None:
        thread = connection.connection.dbapi_connection.thread_id()
        time.sleep(_RENEWED)
        with asking.cursor() as cursor:
            cursor.execute(_LOCKS, [thread])
            found.rows += sum(rows for rows, in cursor.fetchall())

    with asking, _listening(('commit', on_commit)):
        yield found


@contextlib.contextmanager
def _listening(*listeners) -> Iterator[None]:
    for name, listener in listeners:
        sa.event.listen(sa.Engine, name, listener)
    try:
        yield
    finally:
        for name, listener in listeners:
            sa.event.remove(sa.Engine, name, listener)


@dataclasses.dataclass
class Casts:
    """What was cast to all schedulers.

    :ivar size: bytes of all messages to one scheduler
    :ivar aggregates: the aggregates in the messages, as a scheduler gets them
    """

    size: int = 0
    aggregates: list = dataclasses.field(default_factory=list)


@contextlib.contextmanager
def casting() -> Iterator[Casts]:
    """Watch what is cast to all schedulers.

    The messages get no further.
    """
    found, lock = Casts(), threading.Lock()
    sent = impl_fake.FakeDriver.send
    serializer = base.NovaObjectSerializer()

    def send(driver, target, context, message, *args, **kwargs):
        if not (target.fanout and target.topic == rpcapi.RPC_TOPIC):
            return sent(driver, target, context, message, *args, **kwargs)
        with lock:
            found.size += len(json.dumps(message))
            found.aggregates.append(serializer.deserialize_entity(
                nova_context.get_admin_context(),
                message['args'].get('aggregates')))

    with mock.patch.object(impl_fake.FakeDriver, 'send', send):
        yield found
