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

from pcloud.client.deploy import checks
from pcloud.client.deploy import removals
from pcloud.client.deploy import scaling
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.client import v1


def sync(client: v1.Client, find_image: checks.FindImage,
         service: str | None,
         pace: server_runs.Pace) -> list[scaling.Change]:
    """Add missing units of scaled services, and remove surplus units.

    Afterwards every host with a settled unit of the other service has a unit
    of the scaled service. Units that were not started by scaling stay.

    :param service: the scaled service; None for all services of the project
    :returns: the changes; empty when all was well
    :raises exceptions.NotFound: when the service has no units
    :raises checks.DeploymentRefused: when the service is not scaled with
        another service, or missing units cannot be added
    :raises servers.NotAllKnown: when a part of the cloud does not answer
    :raises server_runs.DeploymentFailed: when a unit could not be started; the
        new units are deleted again and no unit is removed
    :raises server_runs.NotStopped: when a unit could not be removed
    :raises exceptions.Interrupted: when the user interrupts: before all new
        units are active, the new units are deleted again; afterwards the new
        units stay
    """
    with exceptions.telling(lambda: 'Nothing was changed.'):
        all_services = services.Services(client.servers.list_known())
        everything = list(_scaled(all_services, service))
        groups = _plan(client, find_image, all_services, everything)
    created = server_runs.create_all(
        client.servers, groups, pace, lambda units:
        removals.withdraw_doubles(client.servers, units, pace))
    with exceptions.telling(lambda: _added(created)):
        scaling.end_deployment(client.servers, (
            unit for scaled in everything
            for unit in all_services.units(scaled.service)))
        gone = _remove(client.servers, everything, pace)
    return [*map(scaling.added, created), *map(scaling.removed, gone)]


def _added(created: Iterable[servers.Server]) -> str:
    names = ', '.join(f'{unit.name} ({unit.id})' for unit in created)
    return f"Added, and not taken back: {names or 'nothing'}"


def _remove(nova: servers.Servers, everything: Iterable[scaling.Scaled],
            pace: server_runs.Pace) -> list[servers.Server]:
    """Remove the surplus units that a second list confirms."""
    before = {unit.id for scaled in everything for unit in scaled.surplus}
    if not before:
        return []
    all_services = services.Services(nova.list_known())
    return removals.remove(
        nova, all_services, scaling.confirmed_surplus(
            all_services, everything, before), pace)


def _scaled(all_services: services.Services,
            service: str | None) -> Iterator[scaling.Scaled]:
    if service is None:
        for name in all_services.names():
            yield from scaling.scaled_services(all_services, name)
        return
    all_services.existing(service)
    found = list(scaling.scaled_services(all_services, service))
    if not found:
        raise checks.DeploymentRefused(
            f"'{service}' was not deployed with --scale-with; nothing was "
            f'changed')
    yield from found


def _plan(client: v1.Client, find_image: checks.FindImage,
          all_services: services.Services,
          everything: list[scaling.Scaled]) -> list[server_runs.Group]:
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
            for group in scaling.groups(
                all_services, kind, scaled,
                client.servers.networks(scaled.model.id))]


def _kind(client: v1.Client, find_image: checks.FindImage,
          scaled: scaling.Scaled, problems: checks.Problems,
          ) -> Iterator[checks.Kind]:
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
                wanted: Iterable[tuple[scaling.Scaled, checks.Kind]],
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
