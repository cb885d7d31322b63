# SPDX-License-Identifier: Apache-2.0

import socket
import time
import unittest

from pcloud_sandbox.configuration import ports
from pcloud_sandbox import rest


class ProbeTest(unittest.TestCase):

    def setUp(self):
        self.server = socket.create_server((ports.HOST, 0))
        self.addCleanup(self.server.close)
        port = self.server.getsockname()[1]
        self.url = f'http://{ports.HOST}:{port}'
        self.probe = rest.Probe(f'{self.url}/v3')
        self.addCleanup(self.probe.close)

    def _until_answered(self):
        while not self.probe.answered():
            time.sleep(0.01)

    def test_a_service_that_is_loaded_late_is_asked_once(self):
        for _ in range(20):
            self.assertFalse(self.probe.answered())
        connection, _ = self.server.accept()
        with connection:
            request = connection.recv(1000)
            self.assertTrue(request.startswith(b'GET /v3 HTTP/1.1\r\n'))
            connection.sendall(b'HTTP/1.1 401 Unauthorized\r\n\r\n')
            self._until_answered()
        self.server.setblocking(False)
        with self.assertRaises(BlockingIOError):
            self.server.accept()

    def test_a_connection_that_breaks_is_made_again(self):
        self.assertFalse(self.probe.answered())
        self.server.accept()[0].close()
        self.server.setblocking(False)
        accepted = None
        while accepted is None:
            self.assertFalse(self.probe.answered())
            try:
                accepted, _ = self.server.accept()
            except BlockingIOError:
                time.sleep(0.01)
        with accepted:
            accepted.sendall(b'HTTP/1.1 200 OK\r\n\r\n')
            self._until_answered()

    def test_another_protocol(self):
        self.assertFalse(self.probe.answered())
        connection, _ = self.server.accept()
        with connection:
            connection.sendall(b'220 mail\r\n')
            self.assertFalse(self.probe.answered())

    def test_nobody_listens(self):
        self.server.close()
        self.assertFalse(self.probe.answered())
