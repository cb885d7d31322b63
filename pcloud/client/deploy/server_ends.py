# SPDX-License-Identifier: Apache-2.0

"""Servers that are stopped and deleted together."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses
from pcloud.client.deploy import waits
from pcloud.client import exceptions
from pcloud.client import servers


# The statuses of servers that neither settle nor can be stopped. A server that
# is never built serves nobody.
_RESTLESS = frozenset(servers.SETTLING) - {servers.BUILD}

# The task of a server that is being stopped.
_STOPPING = 'powering-off'


class NotStopped(exceptions.ClientError):
    """A server could not be stopped or deleted."""


@dataclasses.dataclass(frozen=True)
class Stuck:
    """A server that was not stopped, or not deleted.

    :ivar reason: the problem, in words that go on after the server's name
    :ivar remedy: a request to the user that ends the problem
    """

    server: servers.Server
    reason: str
    remedy: str


@dataclasses.dataclass(frozen=True)
class Deletion:
    """The outcome of a deletion of servers.

    :ivar stuck: the servers that are not known to be gone
    :ivar is_interrupted: whether the user has interrupted the deletion
    """

    stuck: tuple[Stuck, ...]
    is_interrupted: bool


def stop_all(nova: servers.Servers, units: Iterable[servers.Server],
             pace: waits.Pace) -> list[Stuck]:
    """Stop the running servers, and wait until all have stopped.

    Two runs may stop a server at the same time.

    :returns: the servers that may still run
    """
    settled = [unit for unit in (
        _settled(nova, unit, pace) for unit in units) if unit is not None]
    remaining = waits.countdown(pace.timeout)
    stuck = [_stuck(nova, unit, f'is still {unit.status} after '
                                f'{pace.timeout} seconds')
             for unit in settled if unit.status in _RESTLESS]
    asked = []
    for unit in settled:
        if unit.status == servers.ACTIVE:
            pace.report(f'{unit.name}: stopping')
            refusal = ask_to_stop(nova, unit, remaining())
            if refusal is None:
                asked.append(unit)
            else:
                stuck.append(refusal)
    return stuck + _not_stopped(nova, asked, pace)


def ask_to_stop(nova: servers.Servers, server: servers.Server,
                timeout: float) -> Stuck | None:
    """Ask Nova to stop a server; return Nova's refusal, or None.

    There is no refusal where another run has asked before.

    :param timeout: seconds to ask again while Nova is away
    """
    try:
        waits.poll(lambda: nova.stop(server.id), timeout, lambda _: True)
    except exceptions.NotFound:
        return None
    except waits.FAILURES as error:
        # The server may have stopped by itself, and an earlier request, or
        # another run, may be stopping the server.
        with contextlib.suppress(*waits.FAILURES):
            now = waits.look(nova, server.id)
            if _is_stopped(now) or now and now.task == _STOPPING:
                return None
        return _stuck(
            nova, server, f'could not be stopped: {waits.reason(error)}')
    return None


def _not_stopped(nova: servers.Servers, units: Iterable[servers.Server],
                 pace: waits.Pace) -> list[Stuck]:
    """Wait for servers to stop; return the servers that do not stop."""
    stuck = []
    for unit in units:
        reason = f'was not stopped after {pace.timeout} seconds'
        try:
            is_stopped = _is_stopped(
                waits.wait(nova, unit.id, pace.timeout, _is_stopped))
        except waits.FAILURES as error:
            is_stopped = False
            reason = f'is not known to be stopped: {waits.reason(error)}'
        if is_stopped:
            pace.report(f'{unit.name}: stopped')
        else:
            stuck.append(_stuck(nova, unit, reason))
    return stuck


def _settled(nova: servers.Servers, server: servers.Server,
             pace: waits.Pace) -> servers.Server | None:
    """Wait until a server has left the statuses of `servers.SETTLING`.

    A server that is paused, suspended or rescued serves nobody, and needs
    neither a wait nor a stop.

    :returns: the server as seen last; None for a server that is gone
    """
    if server.status not in servers.SETTLING:
        return server
    try:
        return waits.wait(
            nova, server.id, pace.timeout, lambda seen:
            seen is None or seen.status not in servers.SETTLING)
    except waits.FAILURES:
        return server


def _stuck(nova: servers.Servers, server: servers.Server,
           reason: str) -> Stuck:
    """Describe a server that was not stopped, or not deleted."""
    try:
        now = waits.look(nova, server.id) or server
    except waits.FAILURES:
        now = server
    return Stuck(server, reason, _remedy(now))


def _remedy(server: servers.Server) -> str:
    if server.locked:
        return f'unlock it (openstack server unlock {server.id})'
    if server.task:
        return (f'wait until Nova ends its task {server.task}, or have an '
                f'administrator reset its state')
    return f'see why (openstack server show {server.id})'


def delete_all(nova: servers.Servers, units: Sequence[servers.Server],
               pace: waits.Pace) -> Deletion:
    """Delete servers, and wait until all are gone.

    An interruption ends the wait, but all servers are deleted nevertheless.
    """
    failures: dict[str, BaseException | None] = {}
    for unit in units:
        pace.report(f'{unit.name}: deleting')
        try:
            failures[unit.id] = ask_to_delete(nova, unit, 0)
        except KeyboardInterrupt as interruption:
            failures[unit.id] = interruption
    left = {unit.id: unit for unit in units}
    try:
        for unit in _going(nova, units, failures, pace):
            del left[unit.id]
            pace.report(f'{unit.name}: deleted')
        stuck = [_stuck(nova, unit, _why_there(failures[unit.id]))
                 for unit in left.values()]
        is_interrupted = any(isinstance(error, KeyboardInterrupt)
                             for error in failures.values())
    except KeyboardInterrupt:
        stuck = [Stuck(unit, _why_there(failures[unit.id]), _remedy(unit))
                 for unit in left.values()]
        is_interrupted = True
    return Deletion(tuple(stuck), is_interrupted)


def _going(nova: servers.Servers, units: Iterable[servers.Server],
           failures: dict[str, BaseException | None],
           pace: waits.Pace) -> Iterator[servers.Server]:
    """Wait for deleted servers; yield each server that is gone.

    :param failures: server id -> the failure of the request, or None; updated
        as requests that got no answer are repeated
    """
    remaining = waits.countdown(pace.timeout)
    for unit in units:
        failure = failures[unit.id]
        if isinstance(failure, waits.FAILURES) and not (
                waits.is_refusal(failure)):
            # A restart of the API is no reason to leave a server.
            failures[unit.id] = ask_to_delete(nova, unit, remaining())
        with contextlib.suppress(*waits.FAILURES):
            if failures[unit.id] is None and waits.wait(
                    nova, unit.id, pace.timeout, waits.is_gone) is None:
                yield unit


def ask_to_delete(nova: servers.Servers, server: servers.Server,
                  timeout: float) -> BaseException | None:
    """Ask Nova to delete a server; return the failure, or None.

    :param timeout: seconds to ask again while Nova is away
    """
    try:
        waits.poll(lambda: nova.delete(server.id), timeout, lambda _: True)
    except exceptions.NotFound:
        return None
    except waits.FAILURES as error:
        return error
    return None


def _why_there(failure: BaseException | None) -> str:
    """Return why a server is there, in words after the server's name."""
    if failure is None:
        return 'did not go away'
    return f'could not be deleted: {waits.reason(failure)}'


def _is_stopped(server: servers.Server | None) -> bool:
    # A server in error, or a server that is gone, does not run either.
    return server is None or server.status in (
        servers.SHUTOFF, servers.ERROR)
