# SPDX-License-Identifier: Apache-2.0

"""A small client of OpenStack's APIs, from the standard library alone.

The client sends some dozen requests, in a process that has to start fast.
"""

from collections.abc import Mapping
import json
import socket
import typing
import urllib.error
import urllib.parse
import urllib.request

from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors

# Seconds until the kernel accepts a connection on this machine.
_CONNECT_TIMEOUT = 1

# Requests stay on this machine whatever proxy the user has set.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Probe:
    """A request that waits until a service is loaded.

    gunicorn accepts connections long before the service has been loaded, so
    the probe keeps the connection: a service that is slow to start shall not
    be asked again and again.

    :param url: a URL of the service, with a port
    """

    def __init__(self, url: str) -> None:
        self._parts = urllib.parse.urlsplit(url)
        self._connection: socket.socket | None = None

    def answered(self) -> bool:
        """Return whether the service answers over HTTP, with any status."""
        try:
            if self._connection is None:
                self._connection = self._request()
            answer = self._connection.recv(5)
        except BlockingIOError:
            return False
        except OSError:
            answer = b''
        self.close()
        return answer == b'HTTP/'

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _request(self) -> socket.socket:
        connection = socket.create_connection(
            (self._parts.hostname, self._parts.port), _CONNECT_TIMEOUT)
        connection.sendall(
            f'GET {self._parts.path or "/"} HTTP/1.1\r\n'
            f'Host: {self._parts.netloc}\r\n'
            'Connection: close\r\n\r\n'.encode())
        connection.setblocking(False)
        return connection


class Client:
    """An authenticated user.

    :param chosen: settings with the URLs of the services
    :param user: a user of the sandbox; the user's project has the same name
    :raises SandboxError: Keystone refuses, or does not answer
    """

    def __init__(self, chosen: settings.Settings, user: str):
        self._token = None
        domain = {'id': settings.DOMAIN}
        _, headers = self._send('POST', chosen.auth_url + '/auth/tokens', {
            'auth': {
                'identity': {
                    'methods': ['password'],
                    'password': {'user': {
                        'name': user, 'domain': domain,
                        'password': chosen.password}}},
                'scope': {'project': {'name': user, 'domain': domain}}}})
        self._token = headers['X-Subject-Token']

    def get(self, url: str) -> dict:
        """Send a GET request; see :meth:`send`."""
        return self.send('GET', url)

    def send(
        self, method: str, url: str, body: typing.Any = None,
    ) -> dict:
        """Send a request and decode the answer.

        :param body: bytes are sent unchanged, any other value as JSON
        :returns: the decoded answer; {} for an empty answer
        :raises SandboxError: the answer is an error, or there is no answer
        """
        content, _ = self._send(method, url, body)
        return json.loads(content) if content else {}

    def _send(
        self, method: str, url: str, body: typing.Any = None,
    ) -> tuple[bytes, Mapping[str, str]]:
        headers = {'Content-Type': 'application/json',
                   'OpenStack-API-Version': 'compute 2.53, placement 1.4'}
        if isinstance(body, bytes):
            headers['Content-Type'] = 'application/octet-stream'
        elif body is not None:
            body = json.dumps(body).encode()
        if self._token:
            headers['X-Auth-Token'] = self._token
        request = urllib.request.Request(
            url, data=body, headers=headers, method=method)
        try:
            with _OPENER.open(request) as answer:
                return answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors='replace')
            raise errors.SandboxError(
                f'{method} {url}: {error.code} {text}') from error
        except OSError as error:
            raise errors.SandboxError(f'{method} {url}: {error}') from error
