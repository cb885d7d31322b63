# SPDX-License-Identifier: Apache-2.0

"""The first connection of a process is lost while it is set up."""

import contextlib
import socket
import threading

from oslo_db.sqlalchemy import enginefacade
import sqlalchemy as sa
import testtools

from pcloud.backend import outages
from pcloud.tests.concurrency import mariadb

# More chunks than setting up a connection takes.
_CHUNKS = 20


class Relay:
    """A port that leads to MariaDB until so many chunks were sent there."""

    def __init__(self, chunks: int) -> None:
        self._listener = socket.create_server(('127.0.0.1', 0))
        self.port = self._listener.getsockname()[1]
        self._chunks = chunks
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        self._listener.close()
        server = socket.create_connection((mariadb.HOST, mariadb.PORT))
        back = threading.Thread(target=_pass, args=(server, client))
        back.start()
        _pass(client, server, self._chunks)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        back.join()
        client.close()
        server.close()


def _pass(come: socket.socket, go: socket.socket,
          chunks: int | None = None) -> None:
    with contextlib.suppress(OSError):
        while chunks is None or chunks > 0:
            found = come.recv(1 << 16)
            if not found:
                return
            go.sendall(found)
            chunks = chunks and chunks - 1


class FirstConnectionTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        mariadb.need()

    def test_whatever_comes_up_is_an_outage(self):
        lost = []
        for chunks in range(1, _CHUNKS):
            error = self._error(chunks)
            if error is None:
                break
            lost.append(error)
        self.assertIsNone(error)
        self.assertEqual([], [each for each in lost if not isinstance(
            each, outages.DATABASE) or not isinstance(each, outages.ANY)])
        # oslo.db leaves some of them as they are.
        self.assertTrue(any(isinstance(each, outages.FIRST_CONNECTION)
                            for each in lost))

    def _error(self, chunks: int) -> Exception | None:
        """Return what a first query comes to."""
        context = enginefacade.transaction_context_provider(
            type('Context', (), {}))()
        facade = enginefacade.transaction_context()
        facade.configure(
            connection=f'mysql+pymysql://{mariadb.USER}@{mariadb.HOST}:'
                       f'{Relay(chunks).port}/information_schema',
            max_retries=1, retry_interval=0)
        try:
            with facade.reader.using(context) as session:
                session.execute(sa.text('SELECT 1')).all()
        except Exception as error:
            return error
        return None
