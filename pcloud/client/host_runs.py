# SPDX-License-Identifier: Apache-2.0

"""Runs of calls on the hosts of a Pcloud that belong together."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import time
import typing

from pcloud.client import exceptions
from pcloud.client import runs

if typing.TYPE_CHECKING:
    from pcloud.client import v1

# Seconds between two looks at hosts that are being drained.
POLL_INTERVAL = 5


class NotDrained(exceptions.ClientError):
    """A host was not empty when the time was up."""


def drain_and_remove(client: v1.Client, pcloud_id: str, names: Iterable[str],
                     timeout: int, report: Callable[[str], object]) -> None:
    """Disable hosts, wait until all instances are gone, and remove the hosts.

    The owners of the instances have to move or delete the instances. Each host
    is removed as soon as the host is empty. A host that is drained already
    goes on being drained as its drain says, whatever becomes of the removal.

    :param timeout: how many seconds to wait
    :param report: called with the obstacle to the removal of a host, whenever
        the obstacle changes
    :raises NotDrained: when the time is up for a single host; the host stays
        closed
    :raises runs.PartlyDone: when hosts of several could not be removed
    :raises exceptions.Interrupted: on Ctrl-C; hosts that are left stay
        closed
    """
    run = runs.Run(names, 'removed')
    try:
        _close(client, pcloud_id, run)
        deadline = time.monotonic() + timeout
        reported: dict[str, str] = {}
        while obstacles := _remove_empty(client, pcloud_id, run):
            for name, obstacle in obstacles.items():
                if obstacle != reported.get(name):
                    report(f'Waiting for {name}: {obstacle}')
            reported = obstacles
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                run.failed.update({
                    name: _not_drained(name, timeout, obstacle)
                    for name, obstacle in obstacles.items()})
                break
            time.sleep(min(POLL_INTERVAL, seconds))
    except KeyboardInterrupt:
        raise _interrupted(run) from None
    run.check()


def drain_together(client: v1.Client, pcloud_id: str, names: Iterable[str],
                   wish: Mapping[str, str | bool | None]) -> None:
    """Drain hosts; no server moves from one of them to another of them.

    Several hosts are closed before the first server looks for a place; unless
    all of them can be, no server moves. A host that is drained already is
    closed, and keeps its drain until all are.

    :param wish: as for :meth:`v1.Client.drain_host`
    :raises runs.PartlyDone: when hosts of several could not be drained
    :raises exceptions.Interrupted: on Ctrl-C
    """
    names = list(dict.fromkeys(names))
    if len(names) > 1 and wish['move'] not in (None, 'none'):
        runs.run_each(names, lambda name: _begin_drain(
            client, pcloud_id, name), 'closed')
    runs.run_each(
        names, lambda name: client.drain_host(pcloud_id, name, **wish),
        'drained')


def _begin_drain(client: v1.Client, pcloud_id: str, name: str) -> None:
    if client.get_host(pcloud_id, name).state != 'draining':
        client.drain_host(pcloud_id, name)


def wait_until_drained(client: v1.Client, pcloud_id: str,
                       names: Iterable[str],
                       report: Callable[[str], object]) -> None:
    """Wait until drained hosts are empty, or have left the Pcloud.

    A host whose drain asks for that is given back when the host is empty. The
    end of the wait ends no drain.

    :param report: as :func:`drain_and_remove`
    :raises NotDrained: when the deadline of a single host has passed, or its
        drain has ended
    :raises runs.PartlyDone: likewise for hosts of several
    :raises exceptions.Interrupted: on Ctrl-C
    """
    run = runs.Run(names, 'drained')
    reported: dict[str, str] = {}
    try:
        while run.left:
            for name in run.left:
                _look_at_drain(client, pcloud_id, run, name, reported, report)
            if run.left:
                time.sleep(POLL_INTERVAL)
    except KeyboardInterrupt:
        raise run.interrupted() from None
    run.check()


def _look_at_drain(client: v1.Client, pcloud_id: str, run: runs.Run,
                   name: str, reported: dict[str, str],
                   report: Callable[[str], object]) -> None:
    try:
        obstacle = _obstacle_to_drain(client, pcloud_id, name)
    except exceptions.NotFound:
        obstacle = None
    except exceptions.ClientError as error:
        run.failed[name] = error
        return
    if obstacle is None:
        run.finished.append(name)
    elif obstacle != reported.get(name):
        report(f'Waiting for {name}: {obstacle}')
        reported[name] = obstacle


def try_draining(client: v1.Client, pcloud_id: str, names: Sequence[str],
                 wish: Mapping[str, str | bool | None],
                 report: Callable[[str], object]) -> None:
    """Report what drains of all these hosts together would do.

    :param wish: as for :meth:`v1.Client.drain_host`
    :param report: called with each line for the user
    :raises runs.PartlyDone: with each host that cannot be drained
    """
    def look(name: str) -> str | None:
        others = [each for each in names if each != name]
        try:
            host = client.drain_host(
                pcloud_id, name, dry_run=True, together_with=others or None,
                **wish)
        except exceptions.ClientError as error:
            return str(error)
        for line in _forecast(host.drain or {}):
            report(f'{name}: {line}')
        return None

    runs.forecast(names, look, 'drained', report)


def _forecast(drain: Mapping[str, typing.Any]) -> Iterator[str]:
    """Yield what would become of each server of a drained host."""
    told = set()
    for move in drain.get('moves', ()):
        told.add(move['server'])
        yield f'{move["server"]} would be moved, for example to {move["host"]}'
    for blocker in drain.get('blockers') or ():
        told.add(blocker['server'])
        # A blocker without a server is one of the whole drain.
        yield (f'{blocker["server"]} would stay: {blocker["reason"]}'
               if blocker['server'] else
               f'would not go on: {blocker["reason"]}')
    for server in drain.get('remaining') or ():
        if server not in told:
            yield f'{server} would stay until it is moved or deleted'


def _obstacle_to_drain(client: v1.Client, pcloud_id: str,
                       name: str) -> str | None:
    """Return what is left on a drained host, None for an empty host.

    :raises exceptions.NotFound: when the host has left the Pcloud
    :raises NotDrained: when there is no use in waiting any longer
    """
    host = client.get_host(pcloud_id, name)
    if host.drain is None:
        raise NotDrained(f'{name} is not being drained any more')
    remaining = host.drain.get('remaining')
    if remaining == [] and not host.drain.get('release'):
        return None
    left = _left(remaining)
    for blocker in host.drain.get('blockers') or ():
        left += '; ' + ': '.join(
            filter(None, [blocker['server'], blocker['reason']]))
    deadline = host.drain.get('deadline')
    # An empty host leaves after the deadline too.
    if remaining != [] and deadline is not None and _has_passed(deadline):
        raise NotDrained(f'{name} was not empty by {deadline}: {left}')
    return left


def _left(remaining: Sequence[str] | None) -> str:
    if remaining is None:
        return 'what is on it is not known'
    return (f'{len(remaining)} left of its instances: {", ".join(remaining)}'
            if remaining else 'it is empty, and is to leave the Pcloud')


def _has_passed(deadline: str) -> bool:
    return datetime.datetime.fromisoformat(deadline) <= (
        datetime.datetime.now(datetime.UTC))


def _close(client: v1.Client, pcloud_id: str, run: runs.Run) -> None:
    """Disable the hosts that are enabled.

    To disable a drained host would end the drain, and nobody would know what
    the owner wished.
    """
    for name in run.names:
        try:
            if client.get_host(pcloud_id, name).state != 'draining':
                client.set_host_state(pcloud_id, name, 'disabled')
        except exceptions.ClientError as error:
            run.failed[name] = error


def _remove_empty(client: v1.Client, pcloud_id: str,
                  run: runs.Run) -> dict[str, str]:
    """Remove the empty hosts that are left, and return name -> obstacle."""
    obstacles = {}
    for name in run.left:
        try:
            obstacle = _remove_if_empty(client, pcloud_id, name)
        except exceptions.NotFound:
            # The host was there: its drain has released the host meanwhile.
            obstacle = None
        except exceptions.ClientError as error:
            run.failed[name] = error
            continue
        if obstacle is None:
            run.finished.append(name)
        else:
            obstacles[name] = obstacle
    return obstacles


def _not_drained(name: str, timeout: int, obstacle: str) -> NotDrained:
    return NotDrained(
        f'{name} was not empty after {timeout} seconds: {obstacle}. '
        f'It takes no new servers and is still in the Pcloud. Delete or '
        f'migrate what is on it, then remove it again')


def _interrupted(run: runs.Run) -> exceptions.Interrupted:
    interruption = run.interrupted()
    if not run.left:
        return interruption
    return exceptions.Interrupted(
        f'{interruption} Hosts that are left may be disabled, and what was '
        'drained is drained as before; enable them, or remove them when they '
        'are empty.')


def _remove_if_empty(client: v1.Client, pcloud_id: str,
                     name: str) -> str | None:
    """Remove a host, or return the obstacle to the removal."""
    instances = client.get_host(pcloud_id, name).instances
    if instances:
        return f'{len(instances)} left of its instances: ' + ', '.join(
            instances)
    try:
        client.remove_host(pcloud_id, name)
    except exceptions.Conflict as conflict:
        # A migration or a build under way is no instance yet.
        return conflict.message
    return None
