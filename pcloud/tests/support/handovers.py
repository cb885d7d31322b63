# SPDX-License-Identifier: Apache-2.0

"""The messages of the fake broker that neither a queue nor a thread has."""

import threading
import typing

import fixtures
from oslo_messaging._drivers import impl_fake
from oslo_messaging import server


class Handovers(fixtures.Fixture):
    """Count the messages that listeners have taken, and no thread has yet.

    A message is counted before it is missing in its queue, and as long as the
    thread that listens has not given the message to the threads that work.

    :cvar open: how many messages are between a queue and a thread
    """

    open: typing.ClassVar[int] = 0
    _lock: typing.ClassVar[threading.Lock] = threading.Lock()

    def _setUp(self):
        Handovers.open = 0
        poll = impl_fake.FakeExchange.poll
        submit = server.MessageHandlingServer._on_incoming

        def polled(exchange, target, pool):
            with exchange._queues_lock:
                found = poll(exchange, target, pool)
                if found[1] is not None:
                    self._count(1)
            return found

        def submitted(handler, incoming):
            try:
                submit(handler, incoming)
            finally:
                self._count(-len(incoming))

        self.useFixture(fixtures.MockPatchObject(
            impl_fake.FakeExchange, 'poll', polled))
        self.useFixture(fixtures.MockPatchObject(
            server.MessageHandlingServer, '_on_incoming', submitted))

    @classmethod
    def _count(cls, more: int) -> None:
        with cls._lock:
            cls.open += more
