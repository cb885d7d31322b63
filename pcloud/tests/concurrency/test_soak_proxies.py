# SPDX-License-Identifier: Apache-2.0

"""Each fault of the soak test's proxies, as both ends see it."""

import contextlib
import socket
import threading

import testtools

from pcloud.tests.soak import proxies

_LIMIT = 60


class _Server:
    """Answers each line with itself, and keeps what has arrived."""

    def __init__(self):
        self.heard = []
        self._listener = socket.create_server(('127.0.0.1', 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(connection,),
                             daemon=True).start()

    def _serve(self, connection):
        with connection, contextlib.suppress(ConnectionError):
            while line := connection.recv(100):
                self.heard.append(line)
                connection.sendall(line)


class ProxiesTest(testtools.TestCase):

    def _start(self, fault):
        """Start proxies where only one fault is met, by each COMMIT."""
        rates = tuple(10000 * (each == fault) for each in proxies.FAULTS)
        self.patch(proxies, '_RATES', {'database': ((0,) * 5, rates)})
        self.server = _Server()
        made = proxies.Proxies({'database': self.server.port})
        self.addCleanup(made.stop)
        made.start()
        made.switch(True)
        self.made = made
        self.client = socket.create_connection(
            ('127.0.0.1', made.detours[self.server.port]), _LIMIT)
        self.addCleanup(self.client.close)
        self.assertEqual(b'SELECT', self._ask(b'SELECT'))

    def _ask(self, text):
        self.client.sendall(text)
        return self.client.recv(100)

    def _counted(self, fault):
        counts = self.made.counts()
        self.assertEqual(1, counts.pop(f'database: {fault}'))
        self.assertEqual({0}, set(counts.values()))

    def test_reset(self):
        self._start('reset')
        self.assertRaises(ConnectionResetError, self._ask, b'\x03COMMIT')
        self.assertEqual([b'SELECT'], self.server.heard)
        self._counted('reset')

    def test_lost_answer(self):
        self._start('lost answer')
        self.assertRaises(ConnectionResetError, self._ask, b'\x03COMMIT')
        self.assertEqual([b'SELECT', b'\x03COMMIT'], self.server.heard)
        self._counted('lost answer')

    def test_delay(self):
        self._start('delay')
        self.assertEqual(b'\x03COMMIT', self._ask(b'\x03COMMIT'))
        self._counted('delay')

    def test_half_close_to_the_client(self):
        self._start('half-close to the client')
        self.assertEqual(b'', self._ask(b'\x03COMMIT'))
        self._counted('half-close to the client')

    def test_half_close_to_the_server(self):
        self._start('half-close to the server')
        self.assertEqual(b'\x03COMMIT', self._ask(b'\x03COMMIT'))
        self.assertEqual(b'', self.client.recv(100))
        self._counted('half-close to the server')

    def test_away_and_back(self):
        self._start(None)
        self.made.take_away('database', _LIMIT)
        self.assertRaises(ConnectionResetError, self._ask, b'SELECT')
        self.made.switch(False)
        self._connect_again()
        self.assertEqual(b'SELECT', self._ask(b'SELECT'))

    def test_away_until_given_back(self):
        self._start(None)
        self.made.take_away('database', _LIMIT)
        self.assertRaises(ConnectionResetError, self._ask, b'SELECT')
        self.made.give_back('database')
        self._connect_again()
        self.assertEqual(b'SELECT', self._ask(b'SELECT'))

    def _connect_again(self):
        self.client = socket.create_connection(
            ('127.0.0.1', self.made.detours[self.server.port]), _LIMIT)
        self.addCleanup(self.client.close)

    def test_two_proxies_of_a_server(self):
        """Only the second proxy is away; the first is the detour."""
        self.patch(proxies, '_RATES', dict.fromkeys(
            ('database', 'cell2'), ((0,) * 5, (0,) * 5)))
        server = _Server()
        made = proxies.Proxies(
            {'database': server.port, 'cell2': server.port})
        self.addCleanup(made.stop)
        made.start()
        made.switch(True)
        made.take_away('cell2', _LIMIT)
        self.assertEqual({server.port: made.ports['database']}, made.detours)
        for name, answer in (('database', b'SELECT'), ('cell2', None)):
            with socket.create_connection(
                    ('127.0.0.1', made.ports[name]), _LIMIT) as client:
                client.sendall(b'SELECT')
                if answer is None:
                    self.assertRaises(ConnectionResetError, client.recv, 100)
                else:
                    self.assertEqual(answer, client.recv(100))

    def test_wait_until_passed(self):
        """What was sent has arrived, whatever it met on the way."""
        self._start('delay')
        self.client.sendall(b'\x03COMMIT')
        self.made.wait_until_passed()
        self.assertEqual(b'\x03COMMIT', self.client.recv(100))
        self.assertIn(b'\x03COMMIT', self.server.heard)
