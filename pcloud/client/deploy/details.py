# SPDX-License-Identifier: Apache-2.0

"""The details of a service."""

from collections.abc import Iterable
import dataclasses

from pcloud.client.deploy import checks
from pcloud.client.deploy import services
from pcloud.client import exceptions
from pcloud.client import servers


@dataclasses.dataclass(frozen=True)
class Consumed:
    """A service that units can use when on the same host.

    :ivar state: "present" when all units that can use the service have the
        service on the same host, else "absent"
    :ivar absent_beside: the ids of the units without the service on the same
        host
    """

    service: str
    state: str
    absent_beside: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Service:
    """A service with all details.

    :ivar units: the units of the service, by name
    :ivar co_located: the units with a parent among the units of the service
    :ivar consumes: the services that the images of the units name
    :ivar hidden: how many servers of the project are not visible now
    """

    service: str
    units: tuple[services.Unit, ...]
    co_located: tuple[services.Unit, ...]
    consumes: tuple[Consumed, ...]
    hidden: int = 0


def get(all_services: services.Services, find_image: checks.FindImage,
        name: str) -> Service:
    """Get the details of a service by the service's name.

    :param all_services: all services of the project
    :raises exceptions.NotFound: when the service has no units
    """
    units = all_services.existing(name)
    return Service(
        name, tuple(map(all_services.unit, units)),
        tuple(all_services.unit(below) for unit in units
              for below in all_services.co_located(unit)),
        tuple(_consumed(all_services, find_image, units)), all_services.hidden)


def _consumed(all_services: services.Services, find_image: checks.FindImage,
              units: Iterable[servers.Server]) -> Iterable[Consumed]:
    users: dict[str, list[servers.Server]] = {}
    known: dict[str, list[str]] = {}
    for unit in units:
        if unit.image_id not in known:
            known[unit.image_id] = _named(find_image, unit.image_id)
        for service in known[unit.image_id]:
            users.setdefault(service, []).append(unit)
    for service in sorted(users):
        without = tuple(
            unit.id for unit in users[service]
            if not services.beside(unit, all_services.units(service)))
        yield Consumed(service, 'absent' if without else 'present', without)


def _named(find_image: checks.FindImage, image_id: str) -> list[str]:
    if not image_id:
        return []
    try:
        return services.consumed(find_image(image_id))
    except exceptions.NotFound:
        # Servers outlive their images.
        return []
