# SPDX-License-Identifier: Apache-2.0

"""The removal of units of services, with all co-located servers.

Rule: reference-colocation-removal
"""

from collections.abc import Iterable
from collections.abc import Sequence
import contextlib
import dataclasses

from pcloud.client.deploy import server_ends
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client.deploy import waits
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.rules.placing import hints

# What serves, or may come to serve, and is stopped before a deletion.
_RUNNING = frozenset((servers.ACTIVE, *servers.SETTLING)) - {servers.BUILD}


@dataclasses.dataclass(frozen=True)
class Step:
    """What can be done for a removal immediately, without a wait.

    :ivar stop: the servers to stop
    :ivar delete: the servers to delete, in order; empty while any server has
        still to stop
    """

    stop: tuple[servers.Server, ...] = ()
    delete: tuple[servers.Server, ...] = ()


def next_step(all_services: services.Services,
              unit: servers.Server) -> Step:
    """Return what can be done to remove a unit, by the servers' states.

    A unit is stopped before the servers co-located with the unit. Co-located
    servers are deleted before the unit: whoever dies in between leaves a unit
    by which the co-located servers are found.
    """
    levels = all_services.levels([unit])
    for level in levels:
        running = [server for server in level if server.status in _RUNNING]
        if running:
            return Step(stop=tuple(
                server for server in running
                if server.status == servers.ACTIVE and not server.task))
    return Step(delete=tuple(
        server for level in reversed(levels) for server in level
        if server.task != servers.DELETING
        and server.status not in servers.GONE))


def take_step(nova: servers.Servers, all_services: services.Services,
              unit: servers.Server) -> Step:
    """Do what can be done to remove a unit, and wait for no server.

    The unit is marked before the stop: what has begun is brought to an end,
    whatever comes back to the host meanwhile.

    :returns: what was done
    :raises server_ends.NotStopped: when Nova refuses; what comes later in the
        step is not done
    :raises exceptions.ClientError: when the unit may not be marked
    """
    step = next_step(all_services, unit)
    for server in step.stop:
        if server == unit and services.REMOVING not in unit.metadata:
            _mark(nova, unit)
        stuck = server_ends.ask_to_stop(nova, server, 0)
        if stuck:
            raise server_ends.NotStopped(
                f'{_reasons([stuck])}. {_remedies([stuck])}')
    for server in step.delete:
        # The servers co-located with a server that stays are kept.
        if unit.locked:
            raise server_ends.NotStopped(f'{unit.name} is locked')
        failure = server_ends.ask_to_delete(nova, server, 0)
        if failure:
            raise server_ends.NotStopped(
                f'{server.name} ({server.id}) could not be deleted: {failure}')
    return step


def _mark(nova: servers.Servers, unit: servers.Server) -> None:
    """Mark a unit that is about to be stopped."""
    # Another look may be stopping the unit, which is marked then.
    with contextlib.suppress(exceptions.Conflict):
        nova.set_metadata(unit.id, {services.REMOVING: services.stamp()})


def remove(nova: servers.Servers, all_services: services.Services,
           units: Iterable[servers.Server],
           pace: waits.Pace) -> list[servers.Server]:
    """Stop units, then the servers co-located with the units; delete all.

    Parents are deleted before the co-located servers. A server that is
    co-located with a server that stays is not deleted.

    :returns: the deleted servers
    :raises server_ends.NotStopped: when a server could not be deleted, or not
        be stopped; in the latter case no server is deleted
    :raises exceptions.Interrupted: when the user interrupts; the message names
        the servers that may be there
    """
    levels = all_services.levels(units)
    begun: list[servers.Server] = []
    with exceptions.telling(lambda: (
            f'Nothing was deleted; stopped, or perhaps so: {_names(begun)}. '
            f'Undeploy again, or start them')):
        for level in levels:
            begun += level
            stuck = server_ends.stop_all(nova, level, pace)
            if stuck:
                raise server_ends.NotStopped(
                    f'{_reasons(stuck)}; nothing was deleted. '
                    f'{_remedies(stuck)}')
    return _delete_below(nova, all_services, levels, pace)


def force(nova: servers.Servers, all_services: services.Services,
          units: Iterable[servers.Server], pace: waits.Pace) -> None:
    """Stop and delete the servers of `remove`, whatever fails on the way.

    :raises server_ends.NotStopped: with the servers that could not be deleted
    :raises exceptions.Interrupted: as `remove`
    """
    levels = all_services.levels(units)
    left = {server.id: server for level in levels for server in level}
    survivors: list[server_ends.Stuck] = []
    with exceptions.telling(lambda: _perhaps_there(left.values())):
        for level in levels:
            for stuck in server_ends.stop_all(nova, level, pace):
                pace.report(f'{stuck.server.name} {stuck.reason}; trying to '
                            f'delete it nevertheless')
        for level in levels:
            survivors += _delete_level(nova, level, left, pace)
    if survivors:
        raise server_ends.NotStopped(
            f'Not deleted: {_reasons(survivors)}. {_remedies(survivors)}')


def _delete_below(
    nova: servers.Servers, all_services: services.Services,
    levels: Iterable[Sequence[servers.Server]], pace: waits.Pace,
) -> list[servers.Server]:
    """Delete servers level by level, but nothing below a server that stays.

    :returns: the deleted servers
    :raises server_ends.NotStopped: with the servers that could not be deleted
    """
    everything = [server for level in levels for server in level]
    left = {server.id: server for server in everything}
    survivors: list[server_ends.Stuck] = []
    staying: set[str] = set()
    below: list[servers.Server] = []
    with exceptions.telling(lambda: _perhaps_there(left.values())):
        for level in levels:
            kept = [server for server in level
                    if all_services.unit(server).parent in staying]
            going = [server for server in level if server not in kept]
            stuck = _delete_level(nova, going, left, pace)
            below += kept
            survivors += stuck
            staying.update(server.id for server in (
                *kept, *(case.server for case in stuck)))
    if survivors:
        raise server_ends.NotStopped(
            f'Not deleted: {_reasons(survivors)}.{_kept(below)} '
            f'{_remedies(survivors)}')
    return [server for server in everything if server.id not in left]


def _delete_level(
    nova: servers.Servers, level: Sequence[servers.Server],
    left: dict[str, servers.Server], pace: waits.Pace,
) -> Sequence[server_ends.Stuck]:
    """Delete servers, and take the servers that are gone out of `left`.

    :raises KeyboardInterrupt: when the user has interrupted the deletion; the
        servers of the level are deleted nevertheless
    """
    deletion = server_ends.delete_all(nova, level, pace)
    staying = {case.server.id for case in deletion.stuck}
    for server in level:
        if server.id not in staying:
            del left[server.id]
    if deletion.is_interrupted:
        raise KeyboardInterrupt
    return deletion.stuck


def _perhaps_there(left: Iterable[servers.Server]) -> str:
    return (f'Still there, or perhaps so: {_names(left)}. Undeploy again what '
            f'is left')


def _names(named: Iterable[servers.Server]) -> str:
    return ', '.join(f'{server.name} ({server.id})'
                     for server in named) or 'nothing'


def _kept(below: Sequence[servers.Server]) -> str:
    if not below:
        return ''
    return (f' Stopped and kept, as co-located with what is there: '
            f'{_names(below)}.')


def _reasons(stuck: Iterable[server_ends.Stuck]) -> str:
    return '; '.join(f'{case.server.name} ({case.server.id}) {case.reason}'
                     for case in stuck)


def _remedies(stuck: Iterable[server_ends.Stuck]) -> str:
    texts = '; '.join(f'{case.server.name}: {case.remedy}' for case in stuck)
    return f'What it takes: {texts}'


def withdraw_doubles(nova: servers.Servers,
                     created: Sequence[servers.Server],
                     pace: waits.Pace) -> list[servers.Server]:
    """Remove new units where another run was quicker.

    Two runs at the same time may find the same host without a unit. Hence each
    run lists the servers again when the run's units are active, and removes
    the run's own units that are not the first on the host. Before the removal
    the run waits for units that are being built, as the first unit on a host
    is certain only afterwards. A run that fails removes all units of the run,
    even a unit for which another run has removed a unit; the next run starts
    the unit again.

    :param created: the units that this run has started for scaling
    :returns: the units that stay
    :raises server_ends.NotStopped: when a unit could not be removed
    """
    if not created:
        return []
    all_services = services.Services(_settled(nova, created, pace))
    own = {server.id for server in created}
    doubles = [server for name in all_services.names()
               for server in all_services.doubles(name) if server.id in own]
    for server in doubles:
        pace.report(f'{server.name}: not needed, as another run has started '
                    f'one on its host')
    gone = {server.id for server in remove(nova, all_services, doubles, pace)}
    return [server for server in created if server.id not in gone]


def _settled(nova: servers.Servers, created: Iterable[servers.Server],
             pace: waits.Pace) -> list[servers.Server]:
    """List servers when no rival of a new unit is being built any more."""
    reported_ids: set[str] = set()

    def is_settled(listed: list[servers.Server]) -> bool:
        rivals = _rivals(created, listed)
        for rival in rivals:
            if rival.id not in reported_ids:
                pace.report(f'{rival.name}: waiting, as another run builds it')
                reported_ids.add(rival.id)
        return not rivals

    return server_runs.list_when(nova, is_settled, pace)


def _rivals(created: Iterable[servers.Server],
            listed: Iterable[servers.Server]) -> list[servers.Server]:
    """Return the units being built that may come to the host of a new unit."""
    return [server for server in listed if server.status == servers.BUILD
            and services.is_scaled(server) and any(
                new.hint(hints.SERVICE) == server.hint(hints.SERVICE) and
                (new.host_id == server.host_id or
                 new.hint(hints.IN) == server.hint(hints.IN))
                for new in created)]
