# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Servers that are started, and servers that are stopped, one by one."""

from collections.abc import Callable
from collections.abc import Iterable
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
from pcloud.rules import hints as hint_rules

# Seconds between two looks at a server.
POLL_INTERVAL = 2

# Metadata of a server: which run of a command created it.
_RUN = 'pcloud_run'
_Seen = typing.TypeVar('_Seen')
_FAILURES = (exceptions.ClientError, ksa_exceptions.ClientException)


class DeploymentFailed(exceptions.ClientError):
    """A part could not be started; what was created is taken back.

    The message names what could not be.
    """


class NotStarted(exceptions.ClientError):
    """A server is in error, gone, late or on the wrong host."""


class NotStopped(exceptions.ClientError):
    """A server could not be stopped or deleted."""


@dataclasses.dataclass(frozen=True)
class Planned:
    """A server that is to be created.

    :ivar hints: those that are known before any other is created
    """

    name: str
    image_id: str
    flavor: servers.Flavor
    networks: object
    hints: Mapping[str, object]
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Group:
    """Servers that are created on one host, in this order.

    :ivar near: they go on the host of one of these, or on any where empty
    """

    planned: tuple[Planned, ...]
    near: tuple[servers.Server, ...] = ()


@dataclasses.dataclass(frozen=True)
class Pace:
    """How long to wait, and whom to tell.

    :ivar timeout: seconds to wait for each server
    :ivar report: told of each step
    """

    timeout: int
    report: Callable[[str], object]


def create_all(nova: servers.Servers, groups: Iterable[Group],
               pace: Pace) -> list[servers.Server]:
    """Create all servers of some groups, one after the other, or none.

    :returns: the servers, as they were when they became active
    :raises DeploymentFailed: when one could not be started, or the user
        interrupts. All that were created are deleted again.
    """
    run = _Run(nova, pace)
    try:
        for group in groups:
            run.create(group)
    except (Exception, KeyboardInterrupt) as cause:
        text = f'{run.current} failed: {_reason(cause)}.'
        raise DeploymentFailed(
            f'{text} {run.take_back(cause)}') from cause
    return run.created


def list_when(nova: servers.Servers,
              is_done: Callable[[list[servers.Server]], bool],
              pace: Pace) -> list[servers.Server]:
    """List the project's servers when they are as wanted.

    :returns: what was seen last when the time is up
    """
    return _poll(nova.list_all, pace.timeout, is_done)


def stop_all(nova: servers.Servers, found: Iterable[servers.Server],
             pace: Pace) -> None:
    """Shut down those servers that are running, and wait until they are.

    :raises NotStopped: when one is not in time
    """
    settled = [_settled(nova, each, pace) for each in found]
    running = [each for each in settled
               if each is not None and each.status == servers.ACTIVE]
    for each in running:
        pace.report(f'{each.name}: stopping')
        try:
            nova.stop(each.id)
        except exceptions.NotFound:
            continue
        except exceptions.ClientError as error:
            # It may have stopped by itself.
            if _is_stopped(_look(nova, each.id)):
                continue
            raise NotStopped(
                f'{each.name} could not be stopped: {error}; nothing was '
                f'deleted') from error
    for each in running:
        seen = _wait(nova, each.id, pace.timeout, _is_stopped)
        if not _is_stopped(seen):
            raise NotStopped(
                f'{each.name} was not stopped after {pace.timeout} seconds; '
                f'nothing was deleted')
        pace.report(f'{each.name}: stopped')


def _settled(nova: servers.Servers, server: servers.Server,
             pace: Pace) -> servers.Server | None:
    """Wait until nothing is being done with a server; None if it is gone.

    One that is paused, suspended or rescued does not serve anybody.
    """
    if server.status not in servers.SETTLING:
        return server
    return _wait(nova, server.id, pace.timeout, lambda seen:
                 seen is None or seen.status not in servers.SETTLING)


def delete_all(nova: servers.Servers, found: Sequence[servers.Server],
               pace: Pace) -> None:
    """Delete servers, and wait until they are gone.

    :raises NotStopped: naming those that could not be deleted
    """
    left = _delete(nova, found, pace)
    if left:
        raise NotStopped(f"Not deleted: {', '.join(left)}")


class _Run:
    """Servers that are created together, or not at all."""

    def __init__(self, nova: servers.Servers, pace: Pace) -> None:
        self._nova = nova
        self._pace = pace
        self._id = str(uuid.uuid4())
        self.created: list[servers.Server] = []
        self.current = ''
        self._is_asking = False

    def create(self, group: Group) -> None:
        """Create the servers of a group, each after the one before is up.

        :raises exceptions.ClientError: when one is not
        """
        made: list[servers.Server] = []
        for number, planned in enumerate(group.planned):
            self.current = planned.name
            later = group.planned[number + 1:]
            hints = dict(planned.hints)
            if made:
                hints[hint_rules.BESIDE] = [each.id for each in made]
            elif later:
                hints[hint_rules.ROOM_FOR] = [each.flavor.id for each in later]
            server = self._start(planned, hints)
            self._check_place(server, made or group.near)
            made.append(server)

    def take_back(self, cause: BaseException) -> str:
        """Delete all that was created, and tell what became of it."""
        unknown = (self._is_asking and not _is_refusal(cause)
                   and not self._find_lost())
        left = _delete(self._nova, self.created[::-1], self._pace)
        text = ''
        if unknown:
            text += f' It is not known whether {self.current} is there now.'
        if left:
            text += f" Could not be removed: {', '.join(left)}."
        elif self.created:
            text += f' All that was created ({len(self.created)}) is removed.'
        return text.strip() or 'Nothing was created.'

    def _start(self, planned: Planned,
               hints: Mapping[str, object]) -> servers.Server:
        self._pace.report(f'{planned.name}: building')
        self._is_asking = True
        server_id = self._nova.create(
            planned.name, planned.image_id, planned.flavor.id,
            planned.networks, hints, {**planned.metadata, _RUN: self._id})
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
        # One of them may have been moved meanwhile.
        now = {each.id: each for each in self._nova.list_all()}
        if not services.beside(
                now.get(server.id, server),
                [now[each.id] for each in near if each.id in now]):
            raise NotStarted(
                f"it is not on the host of "
                f"{', '.join(each.name for each in near)}; ask the operator "
                f"whether ColocationFilter is among the scheduler's filters")

    def _find_lost(self) -> bool:
        """Find what was created although the answer got lost."""
        known = {each.id for each in self.created}
        try:
            lost = [each for each in self._nova.list_all()
                    if each.metadata.get(_RUN) == self._id
                    and each.id not in known]
        except (*_FAILURES, KeyboardInterrupt):
            return False
        self.created.extend(lost)
        return bool(lost)


def _delete(nova: servers.Servers, found: Sequence[servers.Server],
            pace: Pace) -> list[str]:
    """Delete servers; return the names and ids of those that stay.

    An interruption ends the waiting, but nothing is left undeleted for it.
    """
    left = {each.id: each for each in found}
    going = []
    for each in found:
        pace.report(f'{each.name}: deleting')
        with contextlib.suppress(*_FAILURES, KeyboardInterrupt):
            _delete_one(nova, each.id)
            going.append(each)
    with contextlib.suppress(KeyboardInterrupt):
        for each in going:
            with contextlib.suppress(*_FAILURES):
                if _wait(nova, each.id, pace.timeout, _is_gone) is None:
                    del left[each.id]
                    pace.report(f'{each.name}: deleted')
    return [f'{each.name} ({each.id})' for each in left.values()]


def _delete_one(nova: servers.Servers, server_id: str) -> None:
    with contextlib.suppress(exceptions.NotFound):
        nova.delete(server_id)


def _wait(nova: servers.Servers, server_id: str, timeout: int,
          is_done: Callable[[servers.Server | None], bool],
          ) -> servers.Server | None:
    """Look at a server until it is as wanted, or the time is up.

    :returns: what was seen last; None for one that is gone
    """
    return _poll(lambda: _look(nova, server_id), timeout, is_done)


def _poll(look: Callable[[], _Seen], timeout: int,
          is_done: Callable[[_Seen], bool]) -> _Seen:
    """Look until it is as wanted, or the time is up.

    :returns: what was seen last
    """
    deadline = time.monotonic() + timeout
    while True:
        left = deadline - time.monotonic()
        try:
            seen = look()
            if is_done(seen) or left <= 0:
                return seen
        except _FAILURES as error:
            # An API that is restarted does not spoil what is under way.
            if _is_refusal(error) or left <= 0:
                raise
        time.sleep(min(POLL_INTERVAL, left))


def _look(nova: servers.Servers, server_id: str) -> servers.Server | None:
    try:
        seen = nova.get(server_id)
    except exceptions.NotFound:
        return None
    return None if seen.status == servers.SOFT_DELETED else seen


def _is_gone(server: servers.Server | None) -> bool:
    return server is None


def _is_stopped(server: servers.Server | None) -> bool:
    # One in error, or one that is gone, does not run either.
    return server is None or server.status in (
        servers.SHUTOFF, servers.ERROR)


def _reason(cause: BaseException) -> str:
    if isinstance(cause, KeyboardInterrupt):
        return 'interrupted'
    return (str(cause) or type(cause).__name__).rstrip('.')


def _is_refusal(cause: BaseException) -> bool:
    return (isinstance(cause, exceptions.ClientError)
            and cause.status is not None and cause.status < 500)
