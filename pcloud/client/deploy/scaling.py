# SPDX-License-Identifier: Apache-2.0

"""Scaled services: the units that are due to start, and to be removed.

A scaled service has a unit on each host with a unit of another service. A
worker starts and removes the units.

Rule: reference-colocation-follow
"""

from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import dataclasses

from keystoneauth1 import exceptions as ksa_exceptions

from pcloud.client.deploy import checks
from pcloud.client.deploy import parents
from pcloud.client.deploy import plans
from pcloud.client.deploy import readiness
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.rules.placing import hints

# Metadata of a unit: the machine constraints of the units to come, instead of
# the constraints that the unit was started with.
CONSTRAINTS = 'pcloud_constraints'

ADDED, REMOVED, STOPPED = 'added', 'removed', 'stopped'
# What a call to Nova may raise.
FAILURES = (exceptions.ClientError, ksa_exceptions.ClientException)


@dataclasses.dataclass(frozen=True)
class UnitChange:
    """A unit that was added or removed.

    :ivar change: "added" or "removed"; "stopped" where the removal goes on
        later
    """

    service: str
    name: str
    id: str
    change: str


@dataclasses.dataclass(frozen=True)
class Scaled:
    """A service that is scaled with another service.

    :ivar missing: a unit of the other service for each host without a unit of
        the scaled service
    :ivar surplus: scaled units on hosts without the other service, scaled
        units that are not the first on the host, and scaled units whose
        removal has begun
    :ivar model: the unit that new units copy
    """

    service: str
    scale_with: str
    missing: tuple[servers.Server, ...]
    surplus: tuple[servers.Server, ...]
    model: servers.Server


def added(server: servers.Server) -> UnitChange:
    """Describe a server as an added unit."""
    return _change(server, ADDED)


def removed(server: servers.Server) -> UnitChange:
    """Describe a server as a removed unit."""
    return _change(server, REMOVED)


def stopped(server: servers.Server) -> UnitChange:
    """Describe a server as a stopped unit, whose removal goes on later."""
    return _change(server, STOPPED)


def _change(server: servers.Server, change: str) -> UnitChange:
    return UnitChange(server.hint(hints.SERVICE) or '', server.name,
                      server.id, change)


def scaled_services(all_services: services.Services,
                    service: str) -> Iterator[Scaled]:
    """Yield a service with each service that the service is scaled with."""
    for other in all_services.scaled_with(service):
        yield _scaled(all_services, service, other)


def _scaled(all_services: services.Services, service: str,
            other: str) -> Scaled:
    # Another run may be about to start a unit.
    covered = {all_services.place(unit)
               for unit in all_services.units(service)}
    hosts = all_services.settled_at_hosts(other)
    return Scaled(
        service, other,
        tuple(unit for host, unit in hosts.items() if host not in covered),
        tuple(_surplus(all_services, service, other)),
        min(started(all_services, service, other), key=_fitness))


def _fitness(unit: servers.Server) -> tuple[bool, bool, str]:
    """Return a key that is least for the unit that is the best model."""
    return not services.is_settled(unit), not unit.host_id, unit.name


def started(all_services: services.Services, service: str,
            other: str) -> Iterator[servers.Server]:
    """Yield the units of a service that scaling with another has started."""
    return (unit for unit in all_services.units(service)
            if unit.metadata.get(services.SCALE_WITH) == other)


def _surplus(all_services: services.Services, service: str,
             other: str) -> list[servers.Server]:
    hosts = all_services.at_hosts(other)
    doubles = {unit.id for unit in all_services.doubles(service)}
    return [unit for unit in started(all_services, service, other)
            if unit.host_id and unit.status != servers.BUILD
            and (unit.host_id not in hosts or unit.id in doubles
                 or services.REMOVING in unit.metadata)]


def removable(all_services: services.Services, service: str,
              other: str) -> list[servers.Server]:
    """Return the surplus units without the one that is still needed.

    The units are all that is known of the scaling. Hence a last unit stays as
    long as the other service has a unit anywhere.
    """
    surplus = _surplus(all_services, service, other)
    surplus_ids = {unit.id for unit in surplus}
    stays = any(services.is_settled(unit) and unit.id not in surplus_ids
                for unit in started(all_services, service, other))
    comes_back = any(unit.status not in (servers.ERROR, *servers.GONE)
                     and unit.task != servers.DELETING
                     for unit in all_services.units(other))
    if stays or not comes_back:
        return surplus
    last = min(filter(services.is_settled, surplus), key=services.rank,
               default=None)
    return [unit for unit in surplus if unit != last]


def confirmed_surplus(all_services: services.Services,
                      everything: Iterable[Scaled],
                      seen_before: Container[str]) -> list[servers.Server]:
    """Return the surplus units that were surplus in an earlier list, too.

    A list of many servers comes in several pages: servers may move between two
    pages, and parts of the cloud may silently stop to answer.

    :param all_services: the services in the later list
    :param seen_before: the ids of the units that were surplus before
    """
    return [unit for scaled in everything
            for unit in removable(
                all_services, scaled.service, scaled.scale_with)
            if unit.id in seen_before]


def copied(model: servers.Server) -> servers.Options:
    """Return the hints and properties that a copy of a unit has, too.

    Left out is what the copy gets from the server beside which the copy is
    started, what only Pcloud writes, and what the guest of the copy has still
    to tell.

    Rule: reference-colocation-copies
    """
    ready = readiness.read(model.metadata.get(readiness.KEY, ''))
    wishes = {name: list(values) for name, values in model.hints.items()
              if name not in checks.OWN_HINTS and not hints.is_record(name)
              and name not in (hints.PREFER, hints.HOST)}
    if CONSTRAINTS in model.metadata:
        wishes[hints.CONSTRAINTS] = [model.metadata[CONSTRAINTS]]
    return servers.Options(
        metadata={key: value for key, value in model.metadata.items()
                  if key in (readiness.KEY, CONSTRAINTS) or not (
                      key.startswith(checks.OWN_METADATA)
                      or ready and key == ready.key)},
        hints={name: values for name, values in wishes.items()
               if values != ['']})


def groups(all_services: services.Services, kind: checks.UnitKind,
           scaled: Scaled) -> Iterator[server_runs.Group]:
    """Yield a group with the missing unit of each host."""
    taken = {unit.name for unit in all_services.units(scaled.service)}
    number = 0
    for anchor in scaled.missing:
        number += 1
        while f'{scaled.service}-{number}' in taken:
            number += 1
        yield plans.scaled(
            kind, f'{scaled.service}-{number}', anchor, scaled.scale_with,
            parents.told(anchor) if parents.ID in scaled.model.metadata
            else None)


def end_deployment(nova: servers.Servers,
                   units: Iterable[servers.Server]) -> None:
    """Let units be followed whose deployment has ended.

    A unit that stays marked, as Nova does not answer, is followed after the
    next ``sync``.
    """
    for unit in units:
        if services.DEPLOYING in unit.metadata:
            with contextlib.suppress(*FAILURES):
                nova.delete_metadata(unit.id, services.DEPLOYING)


def due(all_services: services.Services,
        names: Iterable[str]) -> list[Scaled]:
    """Return the scaled services with units to start or to remove.

    :param names: the services that are looked at
    """
    return [scaled for name in names
            for scaled in scaled_services(all_services, name)
            if scaled.missing or unneeded(all_services, scaled)]


def unneeded(all_services: services.Services,
             scaled: Scaled) -> list[servers.Server]:
    """Return the units of a scaled service that are to be removed."""
    return [*failed(all_services, scaled),
            *building_doubles(all_services, scaled),
            *removable(all_services, scaled.service, scaled.scale_with)]


def failed(all_services: services.Services,
           scaled: Scaled) -> list[servers.Server]:
    """Return the units that a look has started, and that never ran."""
    units = started(all_services, scaled.service, scaled.scale_with)
    return [unit for unit in units
            if unit.status == servers.ERROR and services.is_unattended(unit)
            and not unit.host_id and not unit.launched]


def building_doubles(all_services: services.Services,
                     scaled: Scaled) -> list[servers.Server]:
    """Return the units that a look has started where another is first."""
    return [unit for unit in all_services.doubles(scaled.service)
            if unit.status == servers.BUILD
            and unit.metadata.get(services.SCALE_WITH) == scaled.scale_with]


def is_being_deployed(all_services: services.Services,
                      service: str) -> bool:
    """Whether a service is left alone, as its deployment has not ended."""
    return any(services.DEPLOYING in unit.metadata
               for unit in all_services.units(service))
