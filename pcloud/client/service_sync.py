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

"""Services that have a unit wherever another service has one."""

from collections.abc import Iterator
import dataclasses

from pcloud.client import deployment_checks as checks
from pcloud.client import deployment_plans as plans
from pcloud.client import deployments
from pcloud.client import exceptions
from pcloud.client import server_runs
from pcloud.client import servers
from pcloud.client import services
from pcloud.client import v1

ADDED, REMOVED = 'added', 'removed'

# What Nova says of servers in a part of the cloud that does not answer.
_UNKNOWN = 'UNKNOWN'


@dataclasses.dataclass(frozen=True)
class Change:
    """A unit that came or went.

    :ivar change: "added" or "removed"
    """

    service: str
    name: str
    id: str
    change: str


@dataclasses.dataclass(frozen=True)
class _Scaled:
    """A service that goes where another one is.

    :ivar missing: units of the other one that have none beside them, one
        for each host
    :ivar surplus: units on hosts without the other one
    :ivar model: the unit that new ones are like
    """

    service: str
    scale_with: str
    missing: tuple[servers.Server, ...]
    surplus: tuple[servers.Server, ...]
    model: servers.Server


def sync(client: v1.Client, find_image: checks.FindImage,
         service: str | None, pace: server_runs.Pace) -> list[Change]:
    """Add and remove units of services that are scaled with others.

    Every host with a unit of the one has a unit of the other then; units
    that were not started for that are not removed.

    :param service: the one to look at; None for all of the project's
    :returns: what was changed; nothing when all was well
    :raises exceptions.NotFound: when the service has no units
    :raises deployment_checks.DeploymentRefused: when it is not scaled with
        another, or units that are needed cannot be added
    :raises server_runs.DeploymentFailed: when one could not be started;
        those that were are deleted again and none is removed
    :raises server_runs.NotStopped: when one could not be removed
    """
    listed = client.servers.list_all()
    if any(each.status == _UNKNOWN for each in listed):
        raise checks.DeploymentRefused(
            'Nothing was changed: a part of the cloud does not tell which '
            'servers are where; try again later')
    found = services.Services(listed)
    everything = list(_scaled(found, service))
    groups = _plan(client, find_image, found, everything)
    created = server_runs.create_all(client.servers, groups, pace)
    surplus = [each for one in everything for each in one.surplus]
    if surplus:
        deployments.remove(client.servers, found, surplus, pace)
    added = [Change(str(group.planned[0].hints[services.SERVICE]),
                    each.name, each.id, ADDED)
             for group, each in zip(groups, created)]
    gone = [each for level in found.levels(surplus) for each in level]
    return added + [Change(each.hint(services.SERVICE) or '', each.name,
                           each.id, REMOVED) for each in gone]


def _scaled(found: services.Services,
            service: str | None) -> Iterator[_Scaled]:
    if service is not None:
        found.existing(service)
    names = found.names() if service is None else [service]
    is_any = False
    for name in names:
        units = found.units(name)
        for other in sorted({each.metadata[services.SCALE_WITH]
                             for each in units
                             if services.SCALE_WITH in each.metadata}):
            is_any = True
            yield _one(found, name, other)
    if service is not None and not is_any:
        raise checks.DeploymentRefused(
            f"'{service}' was not deployed with --scale-with; nothing was "
            f'changed')


def _one(found: services.Services, service: str, other: str) -> _Scaled:
    units = found.units(service)
    started = [each for each in units
               if each.metadata.get(services.SCALE_WITH) == other]
    there = found.at_hosts(other)
    # Another run may be about to start one.
    coming = {each.hint(services.IN) for each in units
              if not each.host_id and each.status == servers.BUILD}
    covered = set(found.at_hosts(service)) | {
        each.host_id for each in found.units(other) if each.id in coming}
    return _Scaled(
        service, other,
        tuple(unit for host, unit in there.items() if host not in covered),
        tuple(each for each in started
              if each.host_id and each.host_id not in there), started[0])


def _plan(client: v1.Client, find_image: checks.FindImage,
          found: services.Services,
          everything: list[_Scaled]) -> list[server_runs.Group]:
    """Lay out the units that are missing.

    :raises deployment_checks.DeploymentRefused: when one cannot be added
    """
    problems = checks.Problems()
    groups = []
    for each in everything:
        if not each.missing:
            continue
        if not each.model.image_id:
            problems.add(f'{each.model.name} has no image that another one '
                         f'could be started from', each.service)
            continue
        kind = checks.find_kind(
            client.servers, find_image, each.service, each.model.image_id,
            each.model.flavor, problems)
        if kind is not None:
            _check(client, kind, each, problems)
            groups += _groups(found, kind, each, client.servers.networks(
                each.model.id))
    problems.refuse()
    return groups


def _check(client: v1.Client, kind: checks.Kind, each: _Scaled,
           problems: checks.Problems) -> None:
    problems.add(services.co_location_problem(
        kind.flavor, kind.image, True), each.service)
    checks.check_quota(client.servers, [kind], len(each.missing), problems)
    for pcloud_id in sorted({anchor.hint(services.PCLOUD) or ''
                             for anchor in each.missing} - {''}):
        try:
            pcloud = client.get_pcloud(pcloud_id)
        except exceptions.ClientError as error:
            problems.add(str(error), each.service)
            continue
        checks.check_room_beside(client, pcloud, [kind], [
            anchor for anchor in each.missing
            if anchor.hint(services.PCLOUD) == pcloud_id], problems)


def _groups(found: services.Services, kind: checks.Kind, each: _Scaled,
            networks: object) -> Iterator[server_runs.Group]:
    """Yield the units that are missing, one for each host."""
    taken = {unit.name for unit in found.units(each.service)}
    number = 0
    for anchor in each.missing:
        number += 1
        while f'{each.service}-{number}' in taken:
            number += 1
        yield plans.scaled(
            kind, f'{each.service}-{number}', networks, anchor,
            each.scale_with)
