# SPDX-License-Identifier: Apache-2.0


"""What a Nova in tests does again and again, done once.

None of it is what a test is about: connections to SQLite, validators of
schemas, looking for messages, and going through Nova's modules for garbage.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
import types
import weakref

import fixtures
from nova.api.validation import validators
from oslo_db.sqlalchemy import engines
from oslo_messaging._drivers import base as drivers
from oslo_messaging._drivers import impl_fake
import sqlalchemy as sa
from sqlalchemy import pool


# Objects after which Python looks for garbage; 700 without tests. A cloud that
# starts makes hundred thousands, which stay.
_GARBAGE = 20000


def spare_modules() -> None:
    """Have Python's search for garbage leave out what is there already."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE, 20, 50)


def skip_debug_messages() -> None:
    """Format the debug messages of Pcloud and of Nova, and no others.

    Nova's tests format all, which proves that the messages can be formatted,
    and drop them. With OS_DEBUG all are kept.
    """
    if os.environ.get('OS_DEBUG') not in ('True', 'true', '1', 'yes'):
        for name in 'pcloud', 'nova':
            logging.getLogger(name).setLevel(logging.DEBUG)
        logging.getLogger().setLevel(logging.INFO)


# SQLAlchemy has a pool log each connection that is taken.
logging.getLogger(__name__).setLevel(logging.WARNING)


class ConnectionPool(pool.QueuePool):
    """Connections to an SQLite in a file that stay open, without a limit.

    A new connection reads the whole schema again.
    """

    def __init__(self, creator, **options):
        super().__init__(creator, **options | {
            'pool_size': 0, 'use_lifo': True, 'pre_ping': False})
        sa.event.listen(self, 'checkin', _end_transaction)


def _end_transaction(connection, record):
    # oslo.db notes a transaction with the connection, and would not begin
    # another one; a new connection has neither note nor transaction.
    if record.info.pop('in_transaction', None) and connection is not None:
        connection.rollback()


class OpenConnections(fixtures.Fixture):
    """Have engines keep connections to SQLite open, as to other databases.

    oslo.db opens a connection for each transaction.
    """

    def _setUp(self):
        class Pool(ConnectionPool):
            def __init__(pool, creator, **options):
                super().__init__(creator, **options)
                self.addCleanup(pool.dispose)

        self.useFixture(fixtures.MockPatchObject(
            engines, 'pool', types.SimpleNamespace(
                **vars(pool) | {'NullPool': Pool})))


class KeptValidators(fixtures.Fixture):
    """Have Nova make a validator for a schema once, not for each call."""

    def _setUp(self):
        make, made = validators._SchemaValidator, {}

        def validator(schema, *options):
            # The schema is kept, so that no other schema gets the same id.
            key = id(schema), *options
            if key not in made:
                made[key] = make(schema, *options), schema
            return made[key][0]

        self.useFixture(fixtures.MockPatchObject(
            validators, '_SchemaValidator', validator))


class PromptListener(impl_fake.FakeListener):
    """Gets a message of the fake broker at once, and then only looks.

    The listeners of oslo.messaging look twenty times a second each.
    """

    # Seconds after which a listener looks without having been woken.
    _LONGEST = 5

    def __init__(self, *arguments, **options):
        self._woken = threading.Event()
        super().__init__(*arguments, **options)

    @drivers.batch_poll_helper
    def poll(self, timeout=None):
        """Return a message, or None after a timeout or when stopped."""
        while not self._stopped.is_set():
            # Cleared before looking: a message that comes later wakes.
            self._woken.clear()
            for target in self._targets:
                exchange = self._exchange_manager.get_exchange(
                    target.exchange)
                context, message, reply, requeue = exchange.poll(
                    target, self._pool)
                if message is not None:
                    return impl_fake.FakeIncomingMessage(
                        context, message, reply, requeue)
            woken = self._woken.wait(
                self._LONGEST if timeout is None else timeout)
            if timeout is not None and not woken:
                break
        return None

    def stop(self):
        """Stop listening."""
        super().stop()
        self._woken.set()

    def wake(self, topic: str, server: str | None) -> None:
        """Have the listener look, if the message may be for the listener."""
        if any(target.topic == topic and server in (None, target.server)
               for target in self._targets):
            self._woken.set()


class PromptMessages(fixtures.Fixture):
    """Have services of the fake broker get their messages at once."""

    def _setUp(self):
        listeners: weakref.WeakSet[PromptListener] = weakref.WeakSet()
        deliver = impl_fake.FakeExchange.deliver_message

        def listener(*arguments, **options):
            made = PromptListener(*arguments, **options)
            listeners.add(made)
            return made

        def delivered(exchange, topic, ctxt, message, server=None, **options):
            deliver(exchange, topic, ctxt, message, server=server, **options)
            for each in list(listeners):
                each.wake(topic, server)

        self.useFixture(fixtures.MockPatchObject(
            impl_fake, 'FakeListener', listener))
        self.useFixture(fixtures.MockPatchObject(
            impl_fake.FakeExchange, 'deliver_message', delivered))
