# SPDX-License-Identifier: Apache-2.0

"""Scaled services follow other services, although no user looks.

A worker reads from the databases whether units are due, by the rules of the
client. Where units are due, the worker looks with calls in the project
(`pcloud.worker.follower`), and waits for no server: what a look has begun is
seen by the next pass from the servers' own states. Any number of looks may
happen at the same time, and any look may die.

Rule: reference-worker-follow
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime

from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.calls import server_calls
from pcloud.backend.cells import scaled_servers
from pcloud.backend.cells import started_servers
from pcloud.backend import complaints
from pcloud.backend import outages
from pcloud.client.deploy import removals
from pcloud.client.deploy import scaling
from pcloud.client.deploy import services
from pcloud.client import servers
from pcloud import exception
from pcloud.rules.placing import hints
from pcloud.worker import credentials
from pcloud.worker import follower
from pcloud.worker import tenant_calls

LOG = logging.getLogger(__name__)

_KEYS = (services.SCALE_WITH, services.SCALED_AT, services.DEPLOYING,
         services.REMOVING, services.RUN)

# Seconds until what could not be done is tried again: after the first look,
# and at most. Each look that does not help doubles the time.
_FIRST, _LONGEST = 10, 300
# Seconds until a unit whose build has failed is replaced.
_UNTIL_REPLACED = 300

# What is due: the service, a change, and the server beside which a unit is
# missing or that is to be stopped or removed.
_Item = tuple[str, str, str]


@dataclasses.dataclass(frozen=True)
class _Tried:
    """What looks have left undone in a project.

    :ivar items: what was due
    :ivar until: the time before which a look for the items is not worth the
        cost, as `time.time`
    :ivar wait: how many seconds `until` was from the last look
    """

    items: frozenset[_Item]
    until: float
    wait: float


@dataclasses.dataclass
class PassMemory:
    """What a worker remembers, so that the next pass costs less.

    A worker that has forgotten all does the same, at more cost.

    :ivar servers: of the servers seen
    :ivar tried: project -> looks in vain
    """

    servers: scaled_servers.Memory = dataclasses.field(
        default_factory=scaled_servers.Memory)
    tried: dict[str, _Tried] = dataclasses.field(default_factory=dict)


def follow(context: nova_context.RequestContext, memory: PassMemory) -> None:
    """Let the scaled services of all projects follow services.

    The queries of `scaled_servers.read` where nothing is due. What cannot be
    done in a project does not keep other projects from being looked after.

    :raises: `exception.Unavailable` when units stay due, as a part of the
        cloud is away
    """
    found = scaled_servers.read(
        context, services.SCALE_WITH, _KEYS, memory.servers)
    due = {project: items for project, items in (
        (project, _due(rows)) for project, rows in found.projects.items())
        if items}
    memory.tried = {project: tried for project, tried in memory.tried.items()
                    if project in due}
    ready = [project for project in sorted(due)
             if _is_time(memory.tried.get(project), due[project])]
    if ready:
        server_calls.check_services(context)
    is_done = [_looked(memory, project, due[project]) for project in ready]
    if not (found.is_whole and all(is_done)):
        raise exception.Unavailable()


def _is_time(tried: _Tried | None, items: frozenset[_Item]) -> bool:
    # A clock may step back.
    return tried is None or not items <= tried.items or not (
        tried.until - tried.wait <= timeutils.utcnow_ts() < tried.until)


def _looked(
    memory: PassMemory, project: str, items: frozenset[_Item],
) -> bool:
    """Look after a project; return whether no part of the cloud was away."""
    tried = memory.tried.get(project)
    wait = (min(2 * tried.wait, _LONGEST)
            if tried and items <= tried.items else _FIRST)
    failure = None
    try:
        _look(project, sorted({service for service, _, _ in items}))
    except outages.ANY as error:
        failure = error
    except Exception:
        # An unexpected error in one project must not stop all other projects.
        LOG.exception('The scaled services of project %s cannot be looked '
                      'at', project)
    if isinstance(failure, exception.WorkerWithoutToken):
        wait = _LONGEST
        complaints.once(str(failure))
    elif failure is not None:
        LOG.warning('The scaled services of project %(project)s have to be '
                    'looked at later: %(error)s',
                    {'project': project, 'error': failure})
        return False
    memory.tried[project] = _Tried(items, timeutils.utcnow_ts() + wait, wait)
    return True


def _look(project: str, names: Sequence[str]) -> None:
    """Look at services of a project, and wait for no server."""
    told: list[str] = []
    admin = nova_context.get_admin_context()
    changes = follower.follow(
        tenant_calls.Client(credentials.context(project)),
        lambda server: started_servers.read(admin, server), names,
        told.append)
    text = f'Project {project}: {"".join(told)}'
    if changes:
        LOG.info('%s', text)
    elif told:
        complaints.once(text)


def _due(rows: Iterable[scaled_servers.Row]) -> frozenset[_Item]:
    """Return what is due in a project, but for what can wait."""
    listed = {row.server: _server(row) for row in rows}
    all_services = services.Services(listed.values())
    return frozenset(
        item for scaled in scaling.due(all_services, all_services.names())
        for item in _items(all_services, listed, scaled))


def _items(
    all_services: services.Services, listed: Mapping[str, servers.Server],
    scaled: scaling.Scaled,
) -> Iterator[_Item]:
    """Yield what is due for a service, but for what can wait."""
    service = scaled.service
    if scaling.is_being_deployed(all_services, service):
        return
    resting = [unit for unit in scaling.failed(all_services, scaled)
               if _is_recent(unit)]
    if _is_running(all_services, service):
        closed = {_host_of_anchor(listed, unit) for unit in resting}
        for anchor in scaled.missing:
            if anchor.host_id not in closed:
                yield service, scaling.ADDED, anchor.id
    for unit in scaling.unneeded(all_services, scaled):
        if unit not in resting:
            step = removals.next_step(all_services, unit)
            for server in step.stop:
                yield service, scaling.STOPPED, server.id
            for server in step.delete:
                yield service, scaling.REMOVED, server.id


def _is_running(all_services: services.Services, service: str) -> bool:
    """Whether a unit of a service runs.

    A user who removes a service stops all units, and then deletes one after
    the other.
    """
    return any(unit.status == servers.ACTIVE
               for unit in all_services.units(service))


def _is_recent(unit: servers.Server) -> bool:
    """Whether a unit was asked for a short time ago.

    The time is in metadata, which a user may have changed, and by the clock
    of another machine.
    """
    try:
        asked = datetime.datetime.fromisoformat(
            unit.metadata[services.SCALED_AT]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return False
    return abs(timeutils.utcnow_ts() - asked) < _UNTIL_REPLACED


def _host_of_anchor(
    listed: Mapping[str, servers.Server], unit: servers.Server,
) -> str:
    """Return the host of the server that a unit was to be started beside."""
    anchor = listed.get(unit.hint(hints.IN) or '')
    return anchor.host_id if anchor else ''


def _server(row: scaled_servers.Row) -> servers.Server:
    """Return a server as shown to the project, but for the host's id."""
    return servers.Server(
        id=row.server, name=row.name, status=row.status, host_id=row.host,
        hints={name: tuple(values) for name, values in row.hints.items()},
        metadata=row.metadata, task=row.task, created=_text(row.created),
        launched=_text(row.launched))


def _text(moment: datetime.datetime | None) -> str:
    return f'{moment.isoformat()}Z' if moment else ''
