# SPDX-License-Identifier: Apache-2.0

"""Services: the units of each service, and the parent of each unit.

A server that was started with the hint ``service`` is a unit of the service;
the hints ``in`` and ``with`` name the service or server that the unit is
co-located with. The functions work on listed servers and make no calls.

Rule: reference-colocation-parents
"""

from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime

from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.rules import forms
from pcloud.rules.placing import colocation
from pcloud.rules.placing import hints

# Metadata of a unit: the service that the unit is scaled with.
SCALE_WITH = 'pcloud_scale_with'
# Metadata of a scaled unit: when a command asked for the unit.
SCALED_AT = 'pcloud_scaled_at'
# Metadata of the first unit of a deployment that has not ended yet.
DEPLOYING = 'pcloud_deploying'
# Metadata of a unit whose removal has begun: when a look stopped the unit.
REMOVING = 'pcloud_removing'
# Metadata of a server: the id of the run that created the server, and waited
# for the server.
RUN = 'pcloud_run'

_CONSUMES = 'pcloud_consumes'


@dataclasses.dataclass(frozen=True)
class Unit:
    """A server as a unit of a service.

    :ivar parent: the id of the server that the unit is co-located with, or
        None
    """

    service: str
    name: str
    id: str
    status: str
    parent: str | None = None


@dataclasses.dataclass(frozen=True)
class CoLocated:
    """A service with units beside units of a parent service.

    A co-located service is listed as a unit is listed, without what only a
    unit has.

    :ivar parent: the name of the parent service, or the id of a parent that
        is no unit of a service
    """

    service: str
    parent: str
    name: str | None = None
    id: str | None = None
    status: str = 'co-located'


class Services:
    """The services of a project.

    :param found: all servers of the project
    :ivar hidden: how many servers are in a part of the cloud that does not
        answer; the services of hidden servers are not known
    """

    def __init__(self, known: Iterable[servers.Server]) -> None:
        self._servers = {server.id: server for server in sorted(
            known, key=lambda server: (server.name, server.id))}
        self.hidden = sum(server.status == servers.UNKNOWN
                          for server in self._servers.values())
        self._units: dict[str, list[servers.Server]] = {}
        for server in self._servers.values():
            service = server.hint(hints.SERVICE)
            if service:
                self._units.setdefault(service, []).append(server)
        self._parents = {server.id: self._find_parent(server)
                         for server in self._servers.values()}
        self._children: dict[str | None, list[servers.Server]] = {}
        for child in sorted(self._servers.values(), key=lambda server: (
                server.hint(hints.SERVICE) or '', server.name)):
            # A server without a service hint may be co-located too.
            self._children.setdefault(
                self._parents[child.id], []).append(child)

    def units(self, service: str) -> list[servers.Server]:
        """Return the units of a service, by name."""
        return list(self._units.get(service, ()))

    def names(self) -> list[str]:
        """Return the names of all services."""
        return sorted(self._units)

    def unit(self, server: servers.Server) -> Unit:
        """Describe a server as a unit."""
        return Unit(server.hint(hints.SERVICE) or '', server.name, server.id,
                    server.status, self._parents.get(server.id))

    def existing(self, service: str) -> list[servers.Server]:
        """Return the units of a service that must have units.

        :raises exceptions.NotFound: when the service has no units
        """
        units = self.units(service)
        if not units:
            seen = ' that can be seen now' if self.hidden else ''
            raise exceptions.NotFound(
                f"Your project has no units of a service '{service}'{seen}; "
                f'see "openstack pcloud service list --all"')
        return units

    def co_located(self, server: servers.Server) -> list[servers.Server]:
        """Return the servers with the given server as parent."""
        return list(self._children.get(server.id, ()))

    def levels(self, roots: Iterable[servers.Server],
               ) -> list[list[servers.Server]]:
        """Return servers, then the servers co-located with servers so far.

        A server appears once, on the first possible level. A server that is
        co-located with a service is left out when another unit of the service,
        which stays, can be the parent.
        """
        levels: list[list[servers.Server]] = []
        gone: dict[str, servers.Server] = {}
        level = list(roots)
        while level:
            levels.append(level)
            gone.update({server.id: server for server in level})
            level = [child for parent in gone.values()
                     for child in self.co_located(parent)
                     if child.id not in gone
                     and self._find_parent(child, gone) is None]
        return levels

    def roots(self) -> list[Unit]:
        """Return the units without a parent, by service and name."""
        return [self.unit(unit) for unit in self._roots()]

    def co_located_services(self) -> list[CoLocated]:
        """Return each service that has units with a parent, by name."""
        pairs = set()
        for service in self.names():
            for unit in self.units(service):
                parent = self._parents[unit.id]
                if parent is not None:
                    pairs.add((service, self._servers[parent].hint(
                        hints.SERVICE) or parent))
        return [CoLocated(service, parent)
                for service, parent in sorted(pairs)]

    def tree(self) -> list[Unit]:
        """Return all units by service and name, below parents."""
        all_units = [unit for name in self.names()
                     for unit in self.units(name)]
        seen: set[str] = set()
        # Units below a server that is no unit are below nothing shown, and
        # units that are each other's parents have no root.
        return [self.unit(unit) for root in self._roots() + all_units
                for unit in self._family(root, seen)]

    def _roots(self) -> list[servers.Server]:
        return [unit for name in self.names() for unit in self.units(name)
                if self._parents[unit.id] is None]

    def at_hosts(self, service: str) -> dict[str, servers.Server]:
        """Return host id -> a unit of the service, for hosts with units."""
        return _by_host(unit for unit in self.units(service)
                        if unit.status not in servers.GONE)

    def settled_at_hosts(self, service: str) -> dict[str, servers.Server]:
        """Return host id -> a settled unit, for hosts with settled units."""
        return _by_host(filter(is_settled, self.units(service)))

    def place(self, unit: servers.Server) -> str:
        """Return the id of the host that a unit is on, or comes to.

        A unit that is being built comes to the host of the server that the
        hint ``in`` names. The place is '' where unknown.
        """
        if unit.host_id or unit.status != servers.BUILD:
            return unit.host_id
        anchor = self._servers.get(unit.hint(hints.IN) or '')
        return anchor.host_id if anchor else ''

    def scaled_with(self, service: str) -> list[str]:
        """Return the services that a service is scaled with."""
        return sorted({unit.metadata[SCALE_WITH]
                       for unit in self.units(service)
                       if SCALE_WITH in unit.metadata})

    def doubles(self, service: str) -> list[servers.Server]:
        """Return scaled units on hosts with an earlier scaled unit.

        Only units that were started by scaling count. The first unit on a host
        is no double, by :func:`rank`, which never changes: two looks at the
        same time find the same first unit. A unit in error or being deleted is
        never the first. As a build may fail, a unit that is being built is
        first only before units that no run has awaited. A unit whose build a
        run awaits is no double: the run takes its own units back.

        Rule: reference-colocation-two
        """
        doubles = []
        settled: set[str] = set()
        building: set[str] = set()
        for unit in sorted(filter(is_scaled, self.units(service)), key=rank):
            host, is_built = self.place(unit), unit.status != servers.BUILD
            if (host in settled | building if is_unattended(unit)
                    else host in settled and is_built):
                doubles.append(unit)
            elif host and is_settled(unit):
                settled.add(host)
            elif host and not is_built:
                building.add(host)
        return doubles

    def _family(self, root: servers.Server,
                seen: set[str]) -> Iterator[servers.Server]:
        if root.id in seen:
            return
        seen.add(root.id)
        yield root
        for child in self.co_located(root):
            yield from self._family(child, seen)

    def _find_parent(self, server: servers.Server,
                     but: Container[str] = ()) -> str | None:
        # The main service counts before the service that both go beside.
        named = server.hint(hints.WITH) or server.hint(hints.IN)
        if not named:
            return None
        if colocation.is_server(named):
            return (named if named in self._servers and named not in but
                    else None)
        candidates = [unit for unit in self.units(named)
                      if unit.id != server.id and unit.id not in but]
        near = [unit for unit in candidates
                if unit.host_id and unit.host_id == server.host_id]
        mine = [unit for unit in candidates
                if server.id in unit.hints.get(hints.BESIDE, ())]
        # Of several units on the host, the unit that was started ``beside``
        # the server; without any on the host, that unit wherever it is.
        chosen = [unit for unit in near if unit in mine] or near or mine
        return chosen[0].id if chosen else None


def is_scaled(server: servers.Server) -> bool:
    """Whether a server was started by scaling with another service."""
    return SCALE_WITH in server.metadata


def is_unattended(server: servers.Server) -> bool:
    """Whether a server was started by scaling, and no run awaits its build."""
    return (is_scaled(server) and SCALED_AT in server.metadata
            and RUN not in server.metadata)


def is_settled(server: servers.Server) -> bool:
    """Whether a server is built, in no error and not being deleted."""
    return (server.status not in (servers.BUILD, servers.ERROR, *servers.GONE)
            and server.task != servers.DELETING)


def rank(unit: servers.Server) -> tuple[str, str]:
    """Return the rank of a scaled unit; of several on a host the least stays.

    Nova changes the time of creation when a server gets a host, but not the
    metadata.
    """
    return unit.metadata.get(SCALED_AT, unit.created), unit.id


def dated(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Return the metadata of a server that is about to be created.

    The metadata of a scaled unit tell when the unit was started.
    """
    if SCALE_WITH not in metadata:
        return metadata
    return {**metadata, SCALED_AT: stamp()}


def stamp() -> str:
    """Return the present time as the value of `SCALED_AT`."""
    return datetime.datetime.now(datetime.UTC).isoformat(
        timespec='microseconds')


def name_problem(name: str) -> str | None:
    """Return why a service cannot have a name, or None."""
    if colocation.is_service(name):
        return None
    if forms.is_uuid_in_any_case(name):
        return f"A service cannot be named '{name}', which is an id"
    return (f"'{name}' is not the name of a service: "
            f'{colocation.EXPECTED_NAME}')


def co_location_problem(flavor: servers.Flavor, image: servers.Image,
                        co_located: bool) -> str | None:
    """Return why a server may not be started, or None.

    :param co_located: whether the server is to be co-located

    The rule is `pcloud.rules.placing.colocation.is_permitted`.
    """
    extra_spec = flavor.extra_specs.get(colocation.EXTRA_SPEC)
    image_property = image.properties.get(colocation.IMAGE_PROPERTY)
    permission = colocation.flag(extra_spec, image_property)
    if colocation.is_permitted(permission, co_located):
        return None
    text = (f'({colocation.EXTRA_SPEC} of flavor {flavor.name}, else '
            f'{colocation.IMAGE_PROPERTY} of image {image.name}, is '
            f'{_words(permission, extra_spec, image_property)})')
    if co_located:
        return f'may not be co-located {text}'
    return (f'may only be co-located {text}; give --in-service or '
            f"--scale-with, or make it another one's --with")


def _words(permission: str, extra_spec: str | None,
           image_property: str | None) -> str:
    """Return a permission, with the wrong word that the permission is for."""
    word = image_property if extra_spec is None else extra_spec
    if word in (None, permission):
        return permission
    flags = ', '.join(colocation.FLAGS)
    return f"{permission}, as '{word}' is none of {flags}"


def consumed(image: servers.Image) -> list[str]:
    """Return the services that the software of an image can use."""
    listed = (image.properties.get(_CONSUMES) or '').split(',')
    return [name for name in map(str.strip, listed) if name]


def beside(server: servers.Server,
           units: Sequence[servers.Server]) -> bool:
    """Whether a server shares a host with any of the given units."""
    return bool(server.host_id) and any(
        unit.host_id == server.host_id and unit.id != server.id
        for unit in units)


def _by_host(units: Iterable[servers.Server]) -> dict[str, servers.Server]:
    hosts: dict[str, servers.Server] = {}
    for unit in units:
        if unit.host_id:
            hosts.setdefault(unit.host_id, unit)
    return hosts
