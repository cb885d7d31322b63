# SPDX-License-Identifier: Apache-2.0

"""Runs that start, stop and delete servers."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import time
import uuid


from pcloud.client.deploy import checks
from pcloud.client.deploy import parents
from pcloud.client.deploy import readiness
from pcloud.client.deploy import server_ends
from pcloud.client.deploy import services
from pcloud.client.deploy import waits
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.rules.placing import hints as hint_rules


class DeploymentFailed(exceptions.ClientError):
    """A server could not be started; the created servers are deleted.

    The message names the servers that could not be deleted.
    """


class NotStarted(exceptions.ClientError):
    """A server is in error, gone, late or on the wrong host."""


@dataclasses.dataclass(frozen=True)
class Planned:
    """A server that is to be created.

    :ivar options: with the hints that are known before the first server is
        created
    :ivar consumes: the services of parents that the server is told of
    """

    name: str
    kind: checks.UnitKind
    options: servers.Options
    consumes: frozenset[str] = frozenset()

    def create(self, nova: servers.Servers, hints: Mapping[str, object],
               metadata: Mapping[str, str]) -> str:
        """Ask Nova to build the server, and return the server's id.

        :param hints: beside the hints of the options; likewise metadata
        """
        return nova.create(
            self.name, self.kind.image.id, self.kind.flavor.id,
            dataclasses.replace(
                self.options, hints={**self.options.hints, **hints},
                metadata={**services.dated(self.options.metadata),
                          **metadata}))


@dataclasses.dataclass(frozen=True)
class Group:
    """Servers that are created on a single host, in order.

    :ivar near: the group goes on the host of any of these servers, or on any
        host where empty
    """

    planned: tuple[Planned, ...]
    near: tuple[servers.Server, ...] = ()


def create_all(
    nova: servers.Servers, groups: Iterable[Group], pace: waits.Pace,
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
        text = f'{run.current} failed: {waits.reason(cause)}.'
        with exceptions.telling(lambda: f'{text} {run.remains()}'):
            outcome, was_interrupted = run.take_back(cause)
        if was_interrupted or isinstance(cause, KeyboardInterrupt):
            raise exceptions.Interrupted(f'{text} {outcome}') from cause
        raise DeploymentFailed(f'{text} {outcome}') from cause


def list_when(nova: servers.Servers,
              is_done: Callable[[list[servers.Server]], bool],
              pace: waits.Pace) -> list[servers.Server]:
    """List the project's servers when the list is as wanted.

    :returns: the last list, as wanted or when the time is up
    """
    return waits.poll(nova.list_all, pace.timeout, is_done)


class _Run:
    """A run that creates servers together, or not at all."""

    def __init__(self, nova: servers.Servers, pace: waits.Pace) -> None:
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
            hints: dict[str, object] = {}
            if made:
                hints[hint_rules.BESIDE] = [unit.id for unit in made]
            elif later:
                hints[hint_rules.ROOM_FOR] = [
                    str(unit.kind.companion) for unit in later]
            parent = _known_parent(planned, made, group.near)
            server = self._start(
                planned, hints, parents.told(parent) if parent else {})
            self._check_place(server, made or group.near)
            if parent is None:
                self._tell(
                    server, _parent(planned, _there(server, group.near)))
            for part, unit in zip(group.planned, () if later else made):
                if planned.kind.service in part.consumes:
                    self._tell(unit, server)
            self.current = planned.name
            if planned.kind.ready:
                self._await_ready(server, planned.kind.ready)
            made.append(server)

    def take_back(self, cause: BaseException) -> tuple[str, bool]:
        """Delete all created servers.

        :returns: a message on the outcome, and whether the user interrupted
            the deletion
        """
        unknown = (self._is_asking and not waits.is_refusal(cause)
                   and not self._find_lost())
        deletion = server_ends.delete_all(
            self._nova, self.created[::-1], self._pace)
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

    def _tell(self, server: servers.Server,
              parent: servers.Server | None) -> None:
        """Tell a server that was started of the parent, which came later.

        :param parent: None for no parent to be told of
        """
        if parent is None:
            return
        self.current = server.name
        waits.poll(
            lambda: self._nova.set_metadata(server.id, parents.told(parent)),
            self._pace.timeout, lambda _: True)
        self._pace.report(f'{server.name}: told of its parent {parent.name}')

    def _start(self, planned: Planned, hints: Mapping[str, object],
               metadata: Mapping[str, str]) -> servers.Server:
        self._pace.report(f'{planned.name}: building')
        self._is_asking = True
        server_id = planned.create(
            self._nova, hints, {**metadata, services.RUN: self._id})
        self.created.append(servers.Server(server_id, planned.name))
        self._is_asking = False
        seen = waits.wait(
            self._nova, server_id, self._pace.timeout, lambda server:
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

    def _await_ready(self, server: servers.Server,
                     ready: readiness.Ready) -> None:
        """Wait until a server's guest tells that the guest is ready.

        A server that is not active meanwhile may come back, as a guest may
        restart the server.

        :raises NotStarted: when the server is gone or in error, or the time is
            up
        """
        self._pace.report(f'{server.name}: waiting for {ready}')
        seen = waits.wait(
            self._nova, server.id, self._pace.until_ready, lambda server:
            server is None or server.status == servers.ERROR
            or ready.is_met(server.metadata))
        if seen is None:
            raise NotStarted('it was deleted before it was ready')
        if not ready.is_met(seen.metadata):
            if seen.status == servers.ERROR:
                raise NotStarted(seen.fault or f'its status is {seen.status}')
            told = seen.metadata.get(ready.key)
            text = f'no {ready.key}' if told is None else f'{ready.key}={told}'
            raise NotStarted(
                f'it was not ready after {self._pace.until_ready} seconds: '
                f'its metadata has {text} instead of {ready}')
        self._pace.report(f'{server.name}: ready')

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
                time.sleep(waits.POLL_INTERVAL)
                lost = self._lost()
        except KeyboardInterrupt:
            self._is_interrupted = True
            return False
        except waits.FAILURES:
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


def _known_parent(planned: Planned, made: Sequence[servers.Server],
                  near: Sequence[servers.Server]) -> servers.Server | None:
    """Return the parent that a server is told of when the server starts.

    The parent is not known before where the scheduler has still to choose
    among several hosts.
    """
    there = _there(made[0], near) if made else near
    is_certain = len({unit.host_id for unit in there}) == 1
    return _parent(planned, there) if is_certain else None


def _parent(planned: Planned,
            there: Sequence[servers.Server]) -> servers.Server | None:
    """Return the parent that a server is told of.

    :param there: the servers on the host of the server
    """
    if hint_rules.WITH in planned.options.hints:
        # The parent comes after the server.
        return None
    return next((unit for unit in there
                 if unit.hint(hint_rules.SERVICE) in planned.consumes), None)


def _there(server: servers.Server,
           near: Sequence[servers.Server]) -> list[servers.Server]:
    return [unit for unit in near if services.beside(server, [unit])]
