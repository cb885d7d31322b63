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

"""Services with a unit on each host of another service.

Rule: reference-colocation-sync
"""

from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses

from pcloud.client.deploy import checks
from pcloud.client.deploy import plans
from pcloud.client.deploy import removals
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client import servers
from pcloud.client import v1
from pcloud.rules import hints

ADDED, REMOVED = 'added', 'removed'


@dataclasses.dataclass(frozen=True)
class Change:
    """A unit that was added or removed.

    :ivar change: "added" or "removed"
    """

    service: str
    name: str
    id: str
    change: str


@dataclasses.dataclass(frozen=True)
class _Scaled:
    """A service that is scaled with another service.

    :ivar missing: a unit of the other service for each host without a unit of
        the scaled service
    :ivar surplus: scaled units on hosts without the other service, and scaled
        units that are not the first on the host
    :ivar model: the unit that new units copy
    """

    service: str
    scale_with: str
    missing: tuple[servers.Server, ...]
    surplus: tuple[servers.Server, ...]
    model: servers.Server


def sync(client: v1.Client, find_image: checks.FindImage,
         service: str | None, pace: server_runs.Pace) -> list[Change]:
    """Add missing units of scaled services, and remove surplus units.

    Afterwards every host with a unit of the other service has a unit of the
    scaled service. Units that were not started by scaling stay.

    :param service: the scaled service; None for all services of the project
    :returns: the changes; empty when all was well
    :raises exceptions.NotFound: when the service has no units
    :raises checks.DeploymentRefused: when the service is not scaled with
        another service, or missing units cannot be added
    :raises servers.NotAllKnown: when a part of the cloud does not answer
    :raises server_runs.DeploymentFailed: when a unit could not be started; the
        new units are deleted again and no unit is removed
    :raises server_runs.NotStopped: when a unit could not be removed
    """
    found = services.Services(client.servers.list_known())
    everything = list(_scaled(found, service))
    groups = _plan(client, find_image, found, everything)
    created = removals.withdraw_doubles(
        client.servers,
        server_runs.create_all(client.servers, groups, pace), pace)
    gone = _remove(client.servers, everything, pace)
    return ([_change(each, ADDED) for each in created]
            + [_change(each, REMOVED) for each in gone])


def _remove(nova: servers.Servers, everything: Iterable[_Scaled],
            pace: server_runs.Pace) -> list[servers.Server]:
    """Remove the surplus units that a second list confirms.

    A list of many servers comes in several pages: servers may move between two
    pages, and parts of the cloud may silently stop to answer.
    """
    before = {each.id for one in everything for each in one.surplus}
    if not before:
        return []
    found = services.Services(nova.list_known())
    surplus = {each.id: each for one in everything
               for each in _surplus(found, one.service, one.scale_with)
               if each.id in before}
    return removals.remove(nova, found, surplus.values(), pace)


def _change(server: servers.Server, change: str) -> Change:
    return Change(server.hint(hints.SERVICE) or '', server.name,
                  server.id, change)


def _scaled(found: services.Services,
            service: str | None) -> Iterator[_Scaled]:
    if service is not None:
        found.existing(service)
    names = found.names() if service is None else [service]
    is_any = False
    for name in names:
        for other in found.scaled_with(name):
            is_any = True
            yield _one(found, name, other)
    if service is not None and not is_any:
        raise checks.DeploymentRefused(
            f"'{service}' was not deployed with --scale-with; nothing was "
            f'changed')


def _one(found: services.Services, service: str, other: str) -> _Scaled:
    units = found.units(service)
    # Another run may be about to start a unit.
    coming = {each.hint(hints.IN) for each in units
              if not each.host_id and each.status == servers.BUILD}
    covered = set(found.at_hosts(service)) | {
        each.host_id for each in found.units(other) if each.id in coming}
    return _Scaled(
        service, other,
        tuple(unit for host, unit in found.at_hosts(other).items()
              if host not in covered),
        tuple(_surplus(found, service, other)),
        next(_started(found, service, other)))


def _started(found: services.Services, service: str,
             other: str) -> Iterator[servers.Server]:
    return (each for each in found.units(service)
            if each.metadata.get(services.SCALE_WITH) == other)


def _surplus(found: services.Services, service: str,
             other: str) -> list[servers.Server]:
    hosts = found.at_hosts(other)
    doubles = {each.id for each in found.doubles(service)}
    return [each for each in _started(found, service, other)
            if each.host_id and (each.host_id not in hosts
                                 or each.id in doubles)]


def _plan(client: v1.Client, find_image: checks.FindImage,
          found: services.Services,
          everything: list[_Scaled]) -> list[server_runs.Group]:
    """Plan the missing units.

    :raises checks.DeploymentRefused: when a unit cannot be added
    """
    problems = checks.Problems()
    wanted = [(each, kind) for each in everything if each.missing
              for kind in _kind(client, find_image, each, problems)]
    problems.refuse()
    if not wanted:
        return []
    checks.check_quota(client.servers, [
        (kind, len(each.missing)) for each, kind in wanted], problems)
    _check_room(client, wanted, problems)
    problems.refuse()
    return [group for each, kind in wanted
            for group in _groups(found, kind, each, client.servers.networks(
                each.model.id))]


def _kind(client: v1.Client, find_image: checks.FindImage, each: _Scaled,
          problems: checks.Problems) -> Iterator[checks.Kind]:
    """Yield the kind of new units, unless the kind cannot be found."""
    if not each.model.image_id:
        problems.add(f'{each.model.name} has no image that another one '
                     f'could be started from', each.service)
        return
    kind = checks.find_kind(
        client.servers, find_image, each.service, each.model.image_id,
        each.model.flavor, problems)
    if kind is not None:
        problems.add(services.co_location_problem(
            kind.flavor, kind.image, True), each.service)
        yield kind


def _check_room(client: v1.Client,
                wanted: Iterable[tuple[_Scaled, checks.Kind]],
                problems: checks.Problems) -> None:
    """Note each host without room for all missing units."""
    anchors: dict[str, servers.Server] = {}
    kinds: dict[str, list[checks.Kind]] = {}
    for each, kind in wanted:
        for anchor in each.missing:
            anchors.setdefault(anchor.host_id, anchor)
            kinds.setdefault(anchor.host_id, []).append(kind)
    for host_id, anchor in anchors.items():
        checks.check_room_beside(client, kinds[host_id], anchor, problems)


def _groups(found: services.Services, kind: checks.Kind, each: _Scaled,
            networks: object) -> Iterator[server_runs.Group]:
    """Yield a group with the missing unit of each host."""
    taken = {unit.name for unit in found.units(each.service)}
    number = 0
    for anchor in each.missing:
        number += 1
        while f'{each.service}-{number}' in taken:
            number += 1
        yield plans.scaled(
            kind, f'{each.service}-{number}', networks, anchor,
            each.scale_with)
