# SPDX-License-Identifier: Apache-2.0

"""Serve metrics over HTTP."""

from collections.abc import Callable
from collections.abc import Iterable
import socket
import socketserver
import threading
import typing
from wsgiref import simple_server

from oslo_log import log as logging
import prometheus_client

from pcloud import exception
from pcloud.metrics import addresses

LOG = logging.getLogger(__name__)

_PATH = '/metrics'
# Seconds that a client has to send a request.
_PATIENCE = 30

_App: typing.TypeAlias = Callable[[dict, Callable], Iterable[bytes]]


class App:
    """Answers ``GET /metrics`` with the metrics of a registry.

    A registry that cannot be read is a 500. The log has the first of several
    failures in a row, and the end of the failures.
    """

    def __init__(self, registry: prometheus_client.CollectorRegistry) -> None:
        self._answer: _App = prometheus_client.make_wsgi_app(registry)
        self._lock = threading.Lock()
        self._failed = False

    def __call__(
        self, environ: dict, start_response: Callable,
    ) -> Iterable[bytes]:
        """Answer a request."""
        if environ['PATH_INFO'] != _PATH:
            return _told(start_response, '404 Not Found',
                         f'The metrics are at {_PATH}.')
        try:
            answer = self._answer(environ, start_response)
        # Whatever it is, the next scrape may succeed.
        except Exception:
            if not self._note(failed=True):
                LOG.exception('The metrics cannot be read.')
            return _told(start_response, '500 Internal Server Error',
                         'The metrics cannot be read; the log of '
                         'pcloud-manage shows why.')
        if self._note(failed=False):
            LOG.info('The metrics can be read again.')
        return answer

    def _note(self, failed: bool) -> bool:
        """Keep whether a request failed; return what was kept before."""
        with self._lock:
            before, self._failed = self._failed, failed
        return before


def _told(start_response: Callable, status: str, text: str) -> list[bytes]:
    start_response(status, [('Content-Type', 'text/plain; charset=utf-8')])
    return [f'{text}\n'.encode()]


class _Handler(simple_server.WSGIRequestHandler):
    timeout = _PATIENCE

    def log_message(self, format: str, *args: object) -> None:
        LOG.debug(format, *args)


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        # A client that went away before the answer.
        LOG.debug('A request from %s has failed.', client_address,
                  exc_info=True)


class _V6Server(_Server):
    address_family = socket.AF_INET6


def bound(address: addresses.Address, app: App) -> simple_server.WSGIServer:
    """Return a server that listens.

    :raises: `exception.Conflict`
    """
    try:
        family = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE)[0][0]
        kind = _V6Server if family == socket.AF_INET6 else _Server
        return simple_server.make_server(
            address.host, address.port, app, kind, _Handler)
    except OSError as error:
        raise exception.Conflict(
            f'Nothing can be served at {address}: {error.strerror}. '
            'Free the port, or take another address with --listen.')


def address_of(server: simple_server.WSGIServer) -> addresses.Address:
    """Return where a server listens."""
    host, port = server.server_address[:2]
    return addresses.Address(str(host), port)


def serve(
    server: simple_server.WSGIServer, stop: threading.Event,
) -> None:
    """Answer requests until the event is set."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stop.wait()
    server.shutdown()
    thread.join()
    server.server_close()
