# SPDX-License-Identifier: Apache-2.0

"""TCP proxies that break connections, in a separate process.

The API processes reach MariaDB and Placement through the proxies. Chance
decides the fault of each chunk of bytes from an API process:

* ``reset``: both ends are reset before the server gets the chunk;
* ``lost answer``: the server gets the chunk and answers; then the client is
  reset. After the COMMIT of a transaction the client cannot know the outcome;
* ``delay``: the chunk waits;
* ``half-close to the client``: the client sees the end of the answers;
* ``half-close to the server``: the server sees the end of the requests.

A chunk that makes a change last meets more faults than any other chunk.

All processes reach the database of the second cell through a proxy that breaks
no single connection, and is away for moments only.
"""

import asyncio
import contextlib
import ctypes
import math
import multiprocessing
import os
import random
import signal
import socket
import struct
import time

from pcloud.tests.concurrency import server

FAULTS = ('reset', 'lost answer', 'delay', 'half-close to the client',
          'half-close to the server')
# Number of chunks to a server that meet each of FAULTS, out of 10,000: for
# most chunks, and for chunks that make a change last.
_RATES = {'database': ((1, 1, 4, 1, 1), (20, 40, 20, 10, 5)),
          'placement': ((10, 5, 25, 5, 5), (20, 40, 30, 10, 10)),
          'cell2': ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0))}
_LASTING = {'database': (b'\x03COMMIT',), 'placement': (b'PUT ', b'POST '),
            'cell2': ()}
_LONGEST_DELAY = 0.5
_ANSWER_WITHIN = 5
_CHUNK = 1 << 16
_ABORT = struct.pack('ii', 1, 0)


class Proxies:
    """Ports of this machine that forward to servers, with faults.

    :param upstreams: name ('database', 'placement', 'cell2') -> port of the
        server
    :ivar ports: name -> port of the proxy
    :ivar detours: port of a server -> port of the server's first proxy
    """

    def __init__(self, upstreams: dict[str, int]) -> None:
        context = multiprocessing.get_context('fork')
        self._names = list(upstreams)
        self._listeners = [socket.create_server(('127.0.0.1', 0), backlog=128)
                           for _ in upstreams]
        self.ports = {
            name: listener.getsockname()[1]
            for name, listener in zip(upstreams, self._listeners)}
        self.detours = {upstreams[name]: self.ports[name]
                        for name in reversed(self._names)}
        self._upstreams = upstreams
        self._on = context.Value(ctypes.c_bool, False, lock=False)
        self._away = context.Array('d', len(upstreams), lock=False)
        self._counts = context.Array(
            'Q', len(upstreams) * (len(FAULTS) + 1), lock=False)
        self._held = context.Value('d', math.inf, lock=False)
        self._turns = context.Value('Q', 0, lock=False)
        self._process = context.Process(target=self._serve, daemon=True)

    def start(self) -> None:
        """Start the process of the proxies, without faults."""
        self._process.start()
        for listener in self._listeners:
            listener.close()

    def stop(self) -> None:
        """End the process of the proxies."""
        if self._process.pid:
            self._process.kill()
            self._process.join()

    def switch(self, on: bool) -> None:
        """Turn faults on or off."""
        self._on.value = on
        if not on:
            self._away[:] = [0] * len(self._names)

    def take_away(self, name: str, seconds: float) -> None:
        """Reset all connections to a server for a while."""
        self._away[self._names.index(name)] = time.monotonic() + seconds

    def give_back(self, name: str) -> None:
        """End `take_away` before its time."""
        self._away[self._names.index(name)] = 0

    def counts(self) -> dict[str, int]:
        """Return fault -> number of occurrences."""
        kinds = (*FAULTS, 'refused while away')
        met = [f'{name}: {kind}' for name in self._names for kind in kinds]
        return dict(zip(met, self._counts))

    def wait_until_passed(self) -> None:
        """Wait until the proxies have forwarded all earlier chunks.

        :raises: `ConnectionError` when the process of the proxies has ended
        """
        began, turns = time.monotonic(), self._turns.value
        while self._turns.value < turns + 5 or self._held.value <= began:
            if not self._process.is_alive():
                raise ConnectionError('The proxies have come to an end')
            time.sleep(0.01)

    # The next methods run in the process of the proxies.

    def _serve(self) -> None:
        server.go_with_parent()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._run())
        os._exit(0)

    async def _run(self) -> None:
        for number, (name, port) in enumerate(self._upstreams.items()):
            await asyncio.start_server(
                self._handler(number, name, port),
                sock=self._listeners[number])
        while True:
            await asyncio.sleep(0.005)
            self._turns.value += 1

    def _handler(self, number: int, name: str, port: int):
        async def handle(reader, writer):
            try:
                upstream = await asyncio.open_connection('127.0.0.1', port)
            except OSError:
                _reset(writer)
                return
            await _Link(self, number, name, (reader, writer), upstream).run()
        return handle

    def draw(self, number: int, name: str, chunk: bytes) -> str | None:
        """Return the fault of a chunk, or None."""
        if not self._on.value:
            return None
        kinds = len(FAULTS) + 1
        if time.monotonic() < self._away[number]:
            self._counts[number * kinds + len(FAULTS)] += 1
            return 'reset'
        lasting = any(mark in chunk[:16] for mark in _LASTING[name])
        drawn = random.randrange(10000)
        for fault, rate in enumerate(_RATES[name][lasting]):
            if drawn < rate:
                self._counts[number * kinds + fault] += 1
                return FAULTS[fault]
            drawn -= rate
        return None

    async def hold(self, holding: set[float] = set()) -> None:
        """Let a chunk wait, and publish the time of the oldest wait."""
        since = time.monotonic()
        holding.add(since)
        self._held.value = min(holding)
        try:
            await asyncio.sleep(random.uniform(0, _LONGEST_DELAY))
        finally:
            holding.discard(since)
            self._held.value = min(holding, default=math.inf)


class _Link:
    """A connection from an API process to a server."""

    def __init__(self, proxies: Proxies, number: int, name: str,
                 client: tuple, upstream: tuple) -> None:
        self._proxies, self._number, self._name = proxies, number, name
        self._reader, self._writer = client
        self._up_reader, self._up_writer = upstream
        self._mute = False
        self._answered = asyncio.Event()

    async def run(self) -> None:
        """Forward bytes until the client or the server closes."""
        ways = [asyncio.ensure_future(self._forward()),
                asyncio.ensure_future(self._backward())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for writer in (self._writer, self._up_writer):
                writer.close()

    async def _forward(self) -> None:
        while chunk := await self._reader.read(_CHUNK):
            fault = self._proxies.draw(self._number, self._name, chunk)
            if fault == 'reset':
                _reset(self._up_writer)
                _reset(self._writer)
                return
            if fault == 'delay':
                await self._proxies.hold()
            self._mute |= fault in ('lost answer', 'half-close to the client')
            self._answered.clear()
            self._up_writer.write(chunk)
            await self._up_writer.drain()
            if fault == 'lost answer':
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(
                        self._answered.wait(), _ANSWER_WITHIN)
                _reset(self._writer)
                return
            if fault == 'half-close to the client':
                self._writer.write_eof()
            elif fault == 'half-close to the server':
                self._up_writer.write_eof()

    async def _backward(self) -> None:
        while chunk := await self._up_reader.read(_CHUNK):
            self._answered.set()
            if not self._mute:
                self._writer.write(chunk)
                await self._writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with RST."""
    writer.get_extra_info('socket').setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
    writer.transport.abort()
