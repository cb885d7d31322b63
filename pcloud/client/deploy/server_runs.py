# SPDX-License-Identifier: Apache-2.0

"""Runs that start, stop and delete servers."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses
import time
import typing
import uuid

from keystoneauth1 import exceptions as ksa_exceptions

from pcloud.client.deploy import services
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.rules.placing import colocation
from pcloud.rules.placing import hints as hint_rules

# Seconds between two looks at a server.
POLL_INTERVAL = 2

# The statuses of servers that neither settle nor can be stopped. A server that
# is never built serves nobody.
_RESTLESS = frozenset(servers.SETTLING) - {servers.BUILD}
# The task of a server that is being stopped.
_STOPPING = 'powering-off'
_Seen = typing.TypeVar('_Seen')
_FAILURES = (exceptions.ClientError, ksa_exceptions.ClientException)


class DeploymentFailed(exceptions.ClientError):
    """A server could not be started; the created servers are deleted.

    The message names the servers that could not be deleted.
    """


class NotStarted(exceptions.ClientError):
    """A server is in error, gone, late or on the wrong host."""


class NotStopped(exceptions.ClientError):
    """A server could not be stopped or deleted."""


@dataclasses.dataclass(frozen=True)
class Planned:
    """A server that is to be created.

    :ivar hints: the hints that are known before the first server is created
    """

    name: str
    image: servers.Image
    flavor: servers.Flavor
    networks: object
    hints: Mapping[str, object]
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Group:
    """Servers that are created on a single host, in order.

    :ivar near: the group goes on the host of any of these servers, or on any
        host where empty
    """

    planned: tuple[Planned, ...]
    near: tuple[servers.Server, ...] = ()


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


@dataclasses.dataclass(frozen=True)
class Pace:
    """The timeout and the reports of a run.

    :ivar timeout: seconds to wait for each server
    :ivar report: called with a text at each step
    """

    timeout: int
    report: Callable[[str], object]


def create_all(
    nova: servers.Servers, groups: Iterable[Group], pace: Pace,
    finish: Callable[[list[servers.Server]], list[servers.Server]] = list,
) -> list[servers.Server]:
    """Create the servers of all groups in order, or no server.

    :param finish: gets the servers, as seen when active, and returns the
        servers that stay; the run ends with this function
    :returns: the servers that stay
    :raises DeploymentFailed: when a server could not be started, or `finish`
        fails; all created servers are deleted again
    :raises exceptions.Interrupted: when the user interrupts; all created
        servers are deleted again
    """
    run = _Run(nova, pace)
    try:
        for group in groups:
            run.create(group)
        run.current = 'the comparison with other runs'
        return finish(run.created)
    except (Exception, KeyboardInterrupt) as cause:
        text = f'{run.current} failed: {_reason(cause)}.'
        with exceptions.telling(lambda: f'{text} {run.remains()}'):
            outcome, was_interrupted = run.take_back(cause)
        if was_interrupted or isinstance(cause, KeyboardInterrupt):
            raise exceptions.Interrupted(f'{text} {outcome}') from cause
        raise DeploymentFailed(f'{text} {outcome}') from cause


def list_when(nova: servers.Servers,
              is_done: Callable[[list[servers.Server]], bool],
              pace: Pace) -> list[servers.Server]:
    """List the project's servers when the list is as wanted.

    :returns: the last list, as wanted or when the time is up
    """
    return _poll(nova.list_all, pace.timeout, is_done)


def stop_all(nova: servers.Servers, units: Iterable[servers.Server],
             pace: Pace) -> list[Stuck]:
    """Stop the running servers, and wait until all have stopped.

    Two runs may stop a server at the same time.

    :returns: the servers that may still run
    """
    settled = [unit for unit in (
        _settled(nova, unit, pace) for unit in units) if unit is not None]
    remaining = _countdown(pace.timeout)
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
        _poll(lambda: nova.stop(server.id), timeout, lambda _: True)
    except exceptions.NotFound:
        return None
    except _FAILURES as error:
        # The server may have stopped by itself, and an earlier request, or
        # another run, may be stopping the server.
        with contextlib.suppress(*_FAILURES):
            now = _look(nova, server.id)
            if _is_stopped(now) or now and now.task == _STOPPING:
                return None
        return _stuck(nova, server, f'could not be stopped: {_reason(error)}')
    return None


def _not_stopped(nova: servers.Servers, units: Iterable[servers.Server],
                 pace: Pace) -> list[Stuck]:
    """Wait for servers to stop; return the servers that do not stop."""
    stuck = []
    for unit in units:
        reason = f'was not stopped after {pace.timeout} seconds'
        try:
            is_stopped = _is_stopped(
                _wait(nova, unit.id, pace.timeout, _is_stopped))
        except _FAILURES as error:
            is_stopped = False
            reason = f'is not known to be stopped: {_reason(error)}'
        if is_stopped:
            pace.report(f'{unit.name}: stopped')
        else:
            stuck.append(_stuck(nova, unit, reason))
    return stuck


def _settled(nova: servers.Servers, server: servers.Server,
             pace: Pace) -> servers.Server | None:
    """Wait until a server has left the statuses of `servers.SETTLING`.

    A server that is paused, suspended or rescued serves nobody, and needs
    neither a wait nor a stop.

    :returns: the server as seen last; None for a server that is gone
    """
    if server.status not in servers.SETTLING:
        return server
    try:
        return _wait(nova, server.id, pace.timeout, lambda seen:
                     seen is None or seen.status not in servers.SETTLING)
    except _FAILURES:
        return server


def _stuck(nova: servers.Servers, server: servers.Server,
           reason: str) -> Stuck:
    """Describe a server that was not stopped, or not deleted."""
    try:
        now = _look(nova, server.id) or server
    except _FAILURES:
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
               pace: Pace) -> Deletion:
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
           pace: Pace) -> Iterator[servers.Server]:
    """Wait for deleted servers; yield each server that is gone.

    :param failures: server id -> the failure of the request, or None; updated
        as requests that got no answer are repeated
    """
    remaining = _countdown(pace.timeout)
    for unit in units:
        failure = failures[unit.id]
        if isinstance(failure, _FAILURES) and not _is_refusal(failure):
            # A restart of the API is no reason to leave a server.
            failures[unit.id] = ask_to_delete(nova, unit, remaining())
        with contextlib.suppress(*_FAILURES):
            if failures[unit.id] is None and _wait(
                    nova, unit.id, pace.timeout, _is_gone) is None:
                yield unit


def ask_to_delete(nova: servers.Servers, server: servers.Server,
                  timeout: float) -> BaseException | None:
    """Ask Nova to delete a server; return the failure, or None.

    :param timeout: seconds to ask again while Nova is away
    """
    try:
        _poll(lambda: nova.delete(server.id), timeout, lambda _: True)
    except exceptions.NotFound:
        return None
    except _FAILURES as error:
        return error
    return None


def _why_there(failure: BaseException | None) -> str:
    """Return why a server is there, in words after the server's name."""
    if failure is None:
        return 'did not go away'
    return f'could not be deleted: {_reason(failure)}'


class _Run:
    """A run that creates servers together, or not at all."""

    def __init__(self, nova: servers.Servers, pace: Pace) -> None:
        self._nova = nova
        self._pace = pace
        self._id = str(uuid.uuid4())
        self.created: list[servers.Server] = []
        self.current = ''
        self._is_asking = False
        self._is_interrupted = False

    def create(self, group: Group) -> None:
        """Create the servers of a group; each server waits for the former.

        :raises exceptions.ClientError: when a server could not be started
        """
        made: list[servers.Server] = []
        for number, planned in enumerate(group.planned):
            self.current = planned.name
            later = group.planned[number + 1:]
            hints = dict(planned.hints)
            if made:
                hints[hint_rules.BESIDE] = [unit.id for unit in made]
            elif later:
                hints[hint_rules.ROOM_FOR] = [
                    str(colocation.Companion(
                        unit.flavor.id, unit.image.on_volume))
                    for unit in later]
            server = self._start(planned, hints)
            self._check_place(server, made or group.near)
            made.append(server)

    def take_back(self, cause: BaseException) -> tuple[str, bool]:
        """Delete all created servers.

        :returns: a message on the outcome, and whether the user interrupted
            the deletion
        """
        unknown = (self._is_asking and not _is_refusal(cause)
                   and not self._find_lost())
        deletion = delete_all(self._nova, self.created[::-1], self._pace)
        survivors = [f'{stuck.server.name} ({stuck.server.id})'
                     for stuck in deletion.stuck]
        text = ''
        if unknown:
            text += f' It is not known whether {self.current} is there now.'
        if survivors:
            text += f" Could not be removed: {', '.join(survivors)}."
        elif self.created:
            text += f' All that was created ({len(self.created)}) is removed.'
        return (text.strip() or 'Nothing was created.',
                self._is_interrupted or deletion.is_interrupted)

    def remains(self) -> str:
        """Return a message on what may be there when nothing is known."""
        names = [f'{server.name} ({server.id})' for server in self.created]
        if self._is_asking:
            names.append(self.current)
        return f"Perhaps still there: {', '.join(names) or 'nothing'}."

    def _start(self, planned: Planned,
               hints: Mapping[str, object]) -> servers.Server:
        self._pace.report(f'{planned.name}: building')
        self._is_asking = True
        server_id = self._nova.create(
            planned.name, planned.image.id, planned.flavor.id,
            planned.networks, hints,
            {**services.dated(planned.metadata), services.RUN: self._id})
        self.created.append(servers.Server(server_id, planned.name))
        self._is_asking = False
        seen = _wait(self._nova, server_id, self._pace.timeout, lambda server:
                     server is None or server.status != servers.BUILD)
        if seen is None:
            raise NotStarted('it was deleted while it was built')
        if seen.status == servers.BUILD:
            raise NotStarted(
                f'it was not active after {self._pace.timeout} seconds')
        if seen.status != servers.ACTIVE:
            raise NotStarted(seen.fault or f'its status is {seen.status}')
        self.created[-1] = seen
        self._pace.report(f'{planned.name}: active')
        return seen

    def _check_place(self, server: servers.Server,
                     near: Sequence[servers.Server]) -> None:
        if not near or services.beside(server, near):
            return
        # A server may have been moved meanwhile.
        now = {unit.id: unit for unit in self._nova.list_all()}
        if not services.beside(
                now.get(server.id, server),
                [now[unit.id] for unit in near if unit.id in now]):
            raise NotStarted(
                f"it is not on the host of "
                f"{', '.join(unit.name for unit in near)}; ask the operator "
                f"whether ColocationFilter is among the scheduler's filters")

    def _find_lost(self) -> bool:
        """Find servers that were created although the answer got lost.

        :returns: whether there are such servers
        """
        try:
            lost = self._lost()
            if not lost:
                # Nova may still be at work on the request.
                time.sleep(POLL_INTERVAL)
                lost = self._lost()
        except KeyboardInterrupt:
            self._is_interrupted = True
            return False
        except _FAILURES:
            return False
        self.created.extend(lost)
        return bool(lost)

    def _lost(self) -> list[servers.Server]:
        """List the servers of the run that the run does not know."""
        known = {unit.id for unit in self.created}
        listed = list_when(self._nova, lambda _: True, self._pace)
        return [unit for unit in listed
                if unit.metadata.get(services.RUN) == self._id
                and unit.id not in known]


def _wait(nova: servers.Servers, server_id: str, timeout: int,
          is_done: Callable[[servers.Server | None], bool],
          ) -> servers.Server | None:
    """Look at a server until the server is as wanted, or the time is up.

    :returns: the server as seen last; None for a server that is gone
    """
    return _poll(lambda: _look(nova, server_id), timeout, is_done)


def _countdown(timeout: float) -> Callable[[], float]:
    """Return a function that returns how many seconds are left."""
    deadline = time.monotonic() + timeout
    return lambda: max(0, deadline - time.monotonic())


def _poll(look: Callable[[], _Seen], timeout: float,
          is_done: Callable[[_Seen], bool]) -> _Seen:
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
        except _FAILURES as error:
            # A restart of the API does not end a run.
            if _is_refusal(error) or seconds <= 0:
                raise
        time.sleep(min(POLL_INTERVAL, seconds))


def _look(nova: servers.Servers, server_id: str) -> servers.Server | None:
    try:
        seen = nova.get(server_id)
    except exceptions.NotFound:
        return None
    return None if seen.status == servers.SOFT_DELETED else seen


def _is_gone(server: servers.Server | None) -> bool:
    return server is None


def _is_stopped(server: servers.Server | None) -> bool:
    # A server in error, or a server that is gone, does not run either.
    return server is None or server.status in (
        servers.SHUTOFF, servers.ERROR)


def _reason(cause: BaseException) -> str:
    if isinstance(cause, KeyboardInterrupt):
        return 'interrupted'
    return (str(cause) or type(cause).__name__).rstrip('.')


def _is_refusal(cause: BaseException) -> bool:
    return (isinstance(cause, exceptions.ClientError)
            and cause.status is not None and cause.status < 500)
