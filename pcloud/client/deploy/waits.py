# SPDX-License-Identifier: Apache-2.0

"""Looks at servers until the servers are as wanted, for a limited time."""

from collections.abc import Callable
import dataclasses
import time
import typing

from keystoneauth1 import exceptions as ksa_exceptions

from pcloud.client import exceptions
from pcloud.client import servers


# Seconds between two looks at a server.
POLL_INTERVAL = 2

_Seen = typing.TypeVar('_Seen')

FAILURES = (exceptions.ClientError, ksa_exceptions.ClientException)


@dataclasses.dataclass(frozen=True)
class Pace:
    """The timeout and the reports of a run.

    :ivar timeout: seconds to wait for each server
    :ivar report: called with a text at each step
    :ivar ready_timeout: seconds to wait for each guest; None for `timeout`
    """

    timeout: int
    report: Callable[[str], object]
    ready_timeout: int | None = None

    @property
    def until_ready(self) -> int:
        """Seconds to wait until a guest is ready."""
        return (self.timeout if self.ready_timeout is None
                else self.ready_timeout)


def wait(
    nova: servers.Servers, server_id: str, timeout: int,
    is_done: Callable[[servers.Server | None], bool],
) -> servers.Server | None:
    """Look at a server until the server is as wanted, or the time is up.

    :returns: the server as seen last; None for a server that is gone
    """
    return poll(lambda: look(nova, server_id), timeout, is_done)


def countdown(timeout: float) -> Callable[[], float]:
    """Return a function that returns how many seconds are left."""
    deadline = time.monotonic() + timeout
    return lambda: max(0, deadline - time.monotonic())


def poll(
    look: Callable[[], _Seen], timeout: float,
    is_done: Callable[[_Seen], bool],
) -> _Seen:
    """Call `look` until the result is as wanted, or the time is up.

    :returns: the last result
    """
    deadline = time.monotonic() + timeout
    while True:
        seconds = deadline - time.monotonic()
        try:
            seen = look()
            if is_done(seen) or seconds <= 0:
                return seen
        except FAILURES as error:
            # A restart of the API does not end a run.
            if is_refusal(error) or seconds <= 0:
                raise
        time.sleep(min(POLL_INTERVAL, seconds))


def look(nova: servers.Servers, server_id: str) -> servers.Server | None:
    try:
        seen = nova.get(server_id)
    except exceptions.NotFound:
        return None
    return None if seen.status == servers.SOFT_DELETED else seen


def is_gone(server: servers.Server | None) -> bool:
    return server is None


def reason(cause: BaseException) -> str:
    if isinstance(cause, KeyboardInterrupt):
        return 'interrupted'
    return (str(cause) or type(cause).__name__).rstrip('.')


def is_refusal(cause: BaseException) -> bool:
    return (isinstance(cause, exceptions.ClientError)
            and cause.status is not None and cause.status < 500)
