# SPDX-License-Identifier: Apache-2.0

"""Waiting until scaled services have a unit wherever one is due.

A worker of the operator starts and removes the units.

Rule: reference-colocation-sync
"""

from collections.abc import Iterable
from collections.abc import Iterator

from pcloud.client.deploy import checks
from pcloud.client.deploy import scaling
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client.deploy import waits
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.client import v1


class NotFollowed(exceptions.ClientError):
    """Units are due that no worker has started or removed in time."""


def sync(client: v1.Client, service: str | None,
         pace: waits.Pace) -> list[scaling.UnitChange]:
    """Wait until a worker has done what is due for scaled services.

    A deployment that was killed counts as ended.

    :param service: the scaled service; None for all services of the project
    :returns: the units that came and went; empty when all was well
    :raises exceptions.NotFound: when the service has no units
    :raises checks.DeploymentRefused: when the service is not scaled with
        another service
    :raises servers.NotAllKnown: when a part of the cloud does not answer
    :raises NotFollowed: when the time is up
    :raises exceptions.Interrupted: when the user interrupts
    """
    with exceptions.telling(lambda: 'A worker goes on all the same.'):
        before = services.Services(client.servers.list_known())
        names = list(_names(before, service))
        scaling.end_deployment(client.servers, _units(before, names))
        after = _wait(client.servers, names, pace)
    return _changes(_units(before, names), _units(after, names))


def _wait(nova: servers.Servers, names: Iterable[str],
          pace: waits.Pace) -> services.Services:
    """List the services when nothing is due for some services.

    :raises NotFollowed: when the time is up
    """
    reported = ['']

    def is_done(listed: list[servers.Server]) -> bool:
        text = _left(services.Services(listed), names)
        if text not in ('', reported[-1]):
            pace.report(f'Waiting for a worker: {text}')
            reported.append(text)
        return not text

    after = services.Services(server_runs.list_when(nova, is_done, pace))
    left = _left(after, names)
    if left:
        raise NotFollowed(
            f'After {pace.timeout} seconds there is still due: {left}. Ask '
            'the operator whether a worker runs, and why it does not do so')
    return after


def _names(all_services: services.Services,
           service: str | None) -> Iterator[str]:
    """Yield the names of the scaled services to look at."""
    if service is None:
        yield from (name for name in all_services.names()
                    if all_services.scaled_with(name))
        return
    all_services.existing(service)
    if not all_services.scaled_with(service):
        raise checks.DeploymentRefused(
            f"'{service}' was not deployed with --scale-with")
    yield service


def _units(all_services: services.Services,
           names: Iterable[str]) -> list[servers.Server]:
    return [unit for name in names for unit in all_services.units(name)]


def _left(all_services: services.Services, names: Iterable[str]) -> str:
    """Return what is due or under way, '' when all is well."""
    texts = [f'{all_services.hidden} servers are hidden, as a part of the '
             'cloud does not answer'] if all_services.hidden else []
    for name in names:
        texts += [f'{unit.name} is being built'
                  for unit in all_services.units(name)
                  if unit.status == servers.BUILD]
    for scaled in scaling.due(all_services, names):
        texts += [f'{scaled.service} is missing beside {anchor.name}'
                  for anchor in scaled.missing]
        texts += [f'{unit.name} is not needed'
                  for unit in scaling.unneeded(all_services, scaled)]
    return '; '.join(texts)


def _changes(before: Iterable[servers.Server],
             after: Iterable[servers.Server]) -> list[scaling.UnitChange]:
    old = {unit.id: unit for unit in before}
    new = {unit.id: unit for unit in after}
    return [*(scaling.added(unit) for unit in new.values()
              if unit.id not in old),
            *(scaling.removed(unit) for unit in old.values()
              if unit.id not in new)]
