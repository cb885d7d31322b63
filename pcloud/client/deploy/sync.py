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
    all_services = services.Services(client.servers.list_known())
    everything = list(_scaled(all_services, service))
    groups = _plan(client, find_image, all_services, everything)
    created = removals.withdraw_doubles(
        client.servers,
        server_runs.create_all(client.servers, groups, pace), pace)
    gone = _remove(client.servers, everything, pace)
    return ([_change(server, ADDED) for server in created]
            + [_change(server, REMOVED) for server in gone])


def _remove(nova: servers.Servers, everything: Iterable[_Scaled],
            pace: server_runs.Pace) -> list[servers.Server]:
    """Remove the surplus units that a second list confirms.

    A list of many servers comes in several pages: servers may move between two
    pages, and parts of the cloud may silently stop to answer.
    """
    before = {unit.id for scaled in everything for unit in scaled.surplus}
    if not before:
        return []
    all_services = services.Services(nova.list_known())
    surplus = {unit.id: unit for scaled in everything
               for unit in _surplus(
                   all_services, scaled.service, scaled.scale_with)
               if unit.id in before}
    return removals.remove(nova, all_services, surplus.values(), pace)


def _change(server: servers.Server, change: str) -> Change:
    return Change(server.hint(hints.SERVICE) or '', server.name,
                  server.id, change)


def _scaled(all_services: services.Services,
            service: str | None) -> Iterator[_Scaled]:
    if service is not None:
        all_services.existing(service)
    names = all_services.names() if service is None else [service]
    is_any = False
    for name in names:
        for other in all_services.scaled_with(name):
            is_any = True
            yield _scaled_with(all_services, name, other)
    if service is not None and not is_any:
        raise checks.DeploymentRefused(
            f"'{service}' was not deployed with --scale-with; nothing was "
            f'changed')


def _scaled_with(all_services: services.Services, service: str,
                 other: str) -> _Scaled:
    units = all_services.units(service)
    # Another run may be about to start a unit.
    coming = {unit.hint(hints.IN) for unit in units
              if not unit.host_id and unit.status == servers.BUILD}
    covered = set(all_services.at_hosts(service)) | {
        unit.host_id for unit in all_services.units(other)
        if unit.id in coming}
    return _Scaled(
        service, other,
        tuple(unit for host, unit in all_services.at_hosts(other).items()
              if host not in covered),
        tuple(_surplus(all_services, service, other)),
        next(_started(all_services, service, other)))


def _started(all_services: services.Services, service: str,
             other: str) -> Iterator[servers.Server]:
    return (unit for unit in all_services.units(service)
            if unit.metadata.get(services.SCALE_WITH) == other)


def _surplus(all_services: services.Services, service: str,
             other: str) -> list[servers.Server]:
    hosts = all_services.at_hosts(other)
    doubles = {unit.id for unit in all_services.doubles(service)}
    return [unit for unit in _started(all_services, service, other)
            if unit.host_id and (unit.host_id not in hosts
                                 or unit.id in doubles)]


def _plan(client: v1.Client, find_image: checks.FindImage,
          all_services: services.Services,
          everything: list[_Scaled]) -> list[server_runs.Group]:
    """Plan the missing units.

    :raises checks.DeploymentRefused: when a unit cannot be added
    """
    problems = checks.Problems()
    wanted = [(scaled, kind) for scaled in everything if scaled.missing
              for kind in _kind(client, find_image, scaled, problems)]
    problems.refuse()
    if not wanted:
        return []
    checks.check_quota(client.servers, [
        (kind, len(scaled.missing)) for scaled, kind in wanted], problems)
    _check_room(client, wanted, problems)
    problems.refuse()
    return [group for scaled, kind in wanted
            for group in _groups(
                all_services, kind, scaled,
                client.servers.networks(scaled.model.id))]


def _kind(client: v1.Client, find_image: checks.FindImage, scaled: _Scaled,
          problems: checks.Problems) -> Iterator[checks.Kind]:
    """Yield the kind of new units, unless the kind cannot be found."""
    if not scaled.model.image_id:
        problems.add(f'{scaled.model.name} has no image that another one '
                     f'could be started from', scaled.service)
        return
    kind = checks.find_kind(
        client.servers, find_image, scaled.service, scaled.model.image_id,
        scaled.model.flavor, problems)
    if kind is not None:
        problems.add(services.co_location_problem(
            kind.flavor, kind.image, True), scaled.service)
        yield kind


def _check_room(client: v1.Client,
                wanted: Iterable[tuple[_Scaled, checks.Kind]],
                problems: checks.Problems) -> None:
    """Note each host without room for all missing units."""
    anchors: dict[str, servers.Server] = {}
    kinds: dict[str, list[checks.Kind]] = {}
    for scaled, kind in wanted:
        for anchor in scaled.missing:
            anchors.setdefault(anchor.host_id, anchor)
            kinds.setdefault(anchor.host_id, []).append(kind)
    for host_id, anchor in anchors.items():
        checks.check_room_beside(client, kinds[host_id], anchor, problems)


def _groups(all_services: services.Services, kind: checks.Kind,
            scaled: _Scaled, networks: object) -> Iterator[server_runs.Group]:
    """Yield a group with the missing unit of each host."""
    taken = {unit.name for unit in all_services.units(scaled.service)}
    number = 0
    for anchor in scaled.missing:
        number += 1
        while f'{scaled.service}-{number}' in taken:
            number += 1
        yield plans.scaled(
            kind, f'{scaled.service}-{number}', networks, anchor,
            scaled.scale_with)
