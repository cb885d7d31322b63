# SPDX-License-Identifier: Apache-2.0

"""Errors between a client and the Pcloud API.

Each error is named after the problem and has the server's own message,
whatever the shape of the answer's body.
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import re

import requests

# An HTML page of a proxy can be long; the beginning of the page is enough.
_LONGEST_TEXT = 300
_MESSAGE_MEMBERS = ('message', 'detail', 'title')


class ClientError(Exception):
    """A call to the Pcloud API failed.

    :ivar message: the problem, on a single line; the server's own message
        where the server sent a message
    :ivar status: the HTTP status, or None where the client found the error
    :ivar request_id: the id of the call in the server's logs, or None
    """

    def __init__(self, message: str, status: int | None = None,
                 request_id: str | None = None) -> None:
        super().__init__(message)
        self.message = ' '.join(message.split())
        self.status = status
        self.request_id = request_id

    def __str__(self) -> str:
        text = self.message
        if self.status is not None:
            text += f' (HTTP {self.status})'
        if self.request_id is not None:
            text += f' (Request-ID: {self.request_id})'
        return text


class BadRequest(ClientError):
    """A value or a body that the API does not accept (400)."""


class Unauthorized(ClientError):
    """The token was not accepted (401)."""


class Forbidden(ClientError):
    """A policy or a quota does not allow the call (403)."""


class NotFound(ClientError):
    """The resource is unknown, or not visible to the caller (404)."""


class Conflict(ClientError):
    """The present state does not allow the call (409)."""


class UnexpectedResponse(ClientError):
    """The server reported success with a body that makes no sense."""


class ExtensionNotEnabled(ClientError):
    """The compute API of the cloud does not know Pclouds."""

    def __init__(self) -> None:
        super().__init__(
            'The Pcloud extension is not enabled in this cloud: its compute '
            'API knows neither Pclouds nor host flavors. Ask the operator of '
            'the cloud to enable it.')


class AmbiguousName(ClientError):
    """Several Pclouds have the given name.

    :ivar candidates: the ids of the Pclouds
    """

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f"{len(candidates)} Pclouds are named '{name}'; give the id of "
            f"one of them instead: {', '.join(candidates)}")
        self.candidates = tuple(candidates)


class Interrupted(KeyboardInterrupt):
    """The user interrupted a run; the text states what was done and is left.

    The class is no :class:`ClientError`: an interruption ends a command with
    the exit status 130, as any other interruption does.
    """


@contextlib.contextmanager
def telling(left: Callable[[], str]) -> Iterator[None]:
    """State what is left when the user interrupts the block.

    :param left: returns a sentence, which follows the sentences of inner
        blocks
    :raises Interrupted: when the user interrupts the block
    """
    try:
        yield
    except KeyboardInterrupt as interruption:
        text = str(interruption) or 'Interrupted.'
        raise Interrupted(f'{text} {left()}') from interruption


_BY_STATUS: Mapping[int, type[ClientError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}


def from_response(response: requests.Response) -> ClientError:
    """Return the error for a response.

    :param response: a response with the status of a failure
    :returns: the error, not raised; a plain :class:`ClientError` for a status
        without a class
    """
    kind = _BY_STATUS.get(response.status_code, ClientError)
    headers = response.headers
    request_id = (headers.get('x-openstack-request-id')
                  or headers.get('x-compute-request-id'))
    return kind(_message(response), response.status_code, request_id)


def _message(response: requests.Response) -> str:
    try:
        texts = list(_messages(response.json()))
    except (ValueError, RecursionError):
        texts = [response.text]
    text = '; '.join(filter(None, map(_plain, texts)))
    return text or response.reason or 'The server gave no reason'


def _messages(body: object) -> Iterator[str]:
    """Find the messages in a body of Nova, Keystone or Placement.

    Nova: {"badRequest": {"code": 400, "message": M}}. Keystone: the same
    below "error". Placement: {"errors": [{"title": T, "detail": M}]}. A
    route that Nova does not know: {"message": M, "title": T}.
    """
    if isinstance(body, str):
        yield body
    elif isinstance(body, list):
        for item in body:
            yield from _messages(item)
    elif isinstance(body, dict):
        own = [body[member] for member in _MESSAGE_MEMBERS
               if isinstance(body.get(member), str) and body[member]]
        if own:
            yield own[0]
        else:
            for value in body.values():
                yield from _messages(value)


def _plain(text: str) -> str:
    without_tags = re.sub(r'<[^<>]*>', ' ', text)
    line = ' '.join(without_tags.split())
    if len(line) > _LONGEST_TEXT:
        return line[:_LONGEST_TEXT] + '...'
    return line
