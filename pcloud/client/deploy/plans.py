# SPDX-License-Identifier: Apache-2.0

"""Plans of deployments: the servers to start, in order, and the hosts."""

from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import dataclasses

from pcloud.client.deploy import checks
from pcloud.client.deploy import devices
from pcloud.client.deploy import readiness
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client import exceptions
from pcloud.client import resources
from pcloud.client import servers
from pcloud.client import v1
from pcloud.rules.placing import default_pcloud
from pcloud.rules.placing import hints as hint_rules


@dataclasses.dataclass(frozen=True)
class Part:
    """A service of a deployment.

    :ivar image: the image's id or name, '' for a root disk that was made of
        none; likewise flavor, which is never ''
    :ivar options: without networks, the networks of the order; without a zone,
        the zone of the main service
    :ivar ready: None where a unit is ready when the unit is active
    """

    service: str
    image: str
    flavor: str
    options: servers.Options = servers.Options()
    ready: readiness.Ready | None = None


@dataclasses.dataclass(frozen=True)
class Order:
    """The services that are to be deployed.

    :ivar parts: services that are co-located with the main service, and
        started before the main service
    :ivar pcloud: the Pcloud's id or name; None for outside of Pclouds
    :ivar parent: the service that the main service is co-located with
    :ivar scale_with: the service that the main service is scaled with: each
        host with a unit of this service gets a unit of the main service
    :ivar networks: "auto", "none" or a list, as in Nova's API
    """

    main: Part
    parts: tuple[Part, ...] = ()
    pcloud: str | None = None
    parent: str | None = None
    scale_with: str | None = None
    count: int | None = None
    networks: object = 'auto'

    def options(self, part: Part) -> servers.Options:
        """Return the options of the servers of a part."""
        networks = part.options.networks
        return dataclasses.replace(
            part.options, zone=part.options.zone or self.main.options.zone,
            networks=self.networks if networks is None else networks)

    @property
    def co_located_with(self) -> str | None:
        """The service that the main service is co-located or scaled with."""
        return self.parent or self.scale_with


@dataclasses.dataclass(frozen=True)
class _Situation:
    """An order with the resources that the order names.

    :ivar parts: the kinds of the order's services, the main service last
    """

    order: Order
    parts: tuple[checks.UnitKind, ...]
    pcloud: resources.Pcloud | None
    services: services.Services

    @property
    def near(self) -> tuple[servers.Server, ...]:
        """All units that the main service may be co-located with.

        A unit in another Pcloud than the order's is left out, as a new server
        does not get the unit's host. With --scale-with and without a Pcloud in
        the order all units count: a new server goes to the Pcloud of the unit
        beside.
        """
        name = self.order.co_located_with
        return tuple(
            server for server in self.services.units(name or '')
            if server.host_id and server.status != servers.ERROR and
            (server.hint(hint_rules.PCLOUD) == self.pcloud_id or
             self.order.scale_with and not self.pcloud))

    @property
    def pcloud_id(self) -> str | None:
        """The id of the order's Pcloud."""
        return self.pcloud.id if self.pcloud else None

    @property
    def hosted(self) -> list[servers.Server]:
        """The first unit of `near` on each host."""
        return list({server.host_id: server
                     for server in reversed(self.near)}.values())[::-1]


def plan(client: v1.Client, find_image: checks.FindImage,
         order: Order) -> list[server_runs.Group]:
    """Check an order, and plan the groups of servers to create.

    :raises checks.DeploymentRefused: with all problems in the message
    """
    problems = checks.Problems()
    _check_order(order, problems)
    problems.refuse()
    client.check_enabled()
    situation = _find(client, find_image, order, problems)
    _check_permissions(situation, problems)
    _check_neighbours(situation, problems)
    problems.refuse()
    count = len(situation.hosted) if order.scale_with else order.count or 1
    checks.check_quota(
        client.servers, [(kind, count) for kind in situation.parts], problems)
    _check_room(client, situation, count, problems)
    problems.refuse()
    return list(_groups(situation, count))


def _check_order(order: Order, problems: checks.Problems) -> None:
    names = [part.service for part in (*order.parts, order.main)]
    named = [name for name in (order.parent, order.scale_with)
             if name is not None]
    for name in (*names, *named):
        problems.add(services.name_problem(name))
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(f"'{name}' is named twice; every part is a service of "
                     f"its own")
    for name in sorted({*names} & {*named}):
        problems.add(f"'{name}' cannot be started and be the one that is "
                     f"there already, too")
    if order.parent and order.scale_with:
        problems.add('--in-service and --scale-with exclude each other')
    if order.scale_with and order.count is not None:
        problems.add('--count makes no sense with --scale-with, which counts '
                     'hosts')
    for part in (*order.parts, order.main):
        checks.check_options(
            part.service, part.options, part.ready, problems)
        for volume in devices.given(part.options.devices):
            if order.scale_with or (order.count or 1) > 1:
                problems.add(f'volume {volume} is of one server alone, and '
                             'several are asked for; give --boot-from-volume '
                             'or a block device of a snapshot, an image or '
                             'blank, which each server has anew', part.service)
        for port in _ports(part):
            if order.scale_with or (order.count or 1) > 1:
                problems.add(f'port {port} is of one server alone, and '
                             'several are asked for; give --network, of which '
                             'each server has a port of its own', part.service)
    for hint in (hint_rules.PREFER, hint_rules.HOST):
        if order.scale_with and hint in order.main.options.hints:
            problems.add(f'the hint {hint} makes no sense with --scale-with, '
                         'by which units go wherever the other service is')
    if order.scale_with and order.parts:
        problems.add('--with makes no sense with --scale-with, as later '
                     'units would be without them')


def shared_networks(main: Part) -> object:
    """Return the networks of services without networks of their own.

    They are those of the main service, but for ports, which are of one server.
    """
    networks = main.options.networks
    if isinstance(networks, list):
        networks = [each for each in networks if 'port' not in each]
    return networks or 'auto'


def _ports(part: Part) -> list[str]:
    """Return the ids of the ports of a part that are there already."""
    networks = part.options.networks
    return [each['port'] for each in networks if 'port' in each] if (
        isinstance(networks, list)) else []


def _find(client: v1.Client, find_image: checks.FindImage, order: Order,
          problems: checks.Problems) -> _Situation:
    """Look up the images, flavors, Pcloud and servers of an order.

    :raises checks.DeploymentRefused: when a resource is not found, or not
        usable
    """
    kinds = [checks.find_kind(
        client.servers, find_image, part.service, part.image, part.flavor,
        order.options(part), part.ready, problems)
        for part in (*order.parts, order.main)]
    pcloud = None
    named = _certain_default(client) if order.pcloud is None else order.pcloud
    if named is not None:
        with problems.collecting():
            pcloud = client.find_pcloud(named)
            checks.check_tenant(client, pcloud, problems)
    problems.refuse()
    # A host in a cell that does not answer would be left out silently.
    listed = (client.servers.list_known() if order.scale_with
              else client.servers.list_all())
    return _Situation(order, tuple(kind for kind in kinds if kind), pcloud,
                      services.Services(listed))


def _certain_default(client: v1.Client) -> str | None:
    """Return the id of the Pcloud where all servers go that name none.

    Who may not see the default learns nothing of it.
    """
    with contextlib.suppress(exceptions.Forbidden):
        default = client.get_default_pcloud()
        if default.mode in (default_pcloud.STRICT, default_pcloud.GROW):
            return default.pcloud
    return None


def _check_permissions(situation: _Situation,
                       problems: checks.Problems) -> None:
    *parts, main = situation.parts
    for kind in parts:
        problems.add(services.co_location_problem(
            kind.flavor, kind.image, True), kind.service)
    problems.add(services.co_location_problem(
        main.flavor, main.image, bool(situation.order.co_located_with)),
        main.service)


def _check_neighbours(situation: _Situation,
                      problems: checks.Problems) -> None:
    order = situation.order
    if order.co_located_with and not situation.hosted:
        where = (f' in Pcloud {situation.pcloud.name}' if situation.pcloud else
                 ' outside of Pclouds' if order.parent and
                 situation.services.units(order.parent) else '')
        seen = (' that can be seen now, as a part of the cloud does not '
                'answer' if situation.services.hidden else '')
        problems.add(f"your project has no unit of a service "
                     f"'{order.co_located_with}' on a host{where}{seen}")
    if order.scale_with and situation.services.units(order.main.service):
        problems.add(
            f"there are units of '{order.main.service}' already; \"openstack "
            f'pcloud service sync" waits until they are where they are due')


def _check_room(client: v1.Client, situation: _Situation, count: int,
                problems: checks.Problems) -> None:
    if situation.order.scale_with:
        for anchor in situation.hosted:
            checks.check_room_beside(client, situation.parts, anchor, problems)
    else:
        checks.check_room(client, situation.parts, count, situation.pcloud,
                          situation.order.parent, problems)


def _groups(situation: _Situation, count: int) -> Iterator[server_runs.Group]:
    order, main = situation.order, situation.parts[-1]
    suffixes = [f'-{number}' for number in range(1, count + 1)]
    if count == 1:
        suffixes = ['']
    if order.scale_with:
        # The first unit stays until the others are taken back.
        marks = {services.DEPLOYING: order.scale_with}
        for suffix, anchor in zip(suffixes, situation.hosted):
            yield scaled(main, main.service + suffix, anchor,
                         order.scale_with, marks)
            marks = {}
    else:
        for suffix in suffixes:
            yield _group(situation, suffix)


def _group(situation: _Situation, suffix: str) -> server_runs.Group:
    *parts, main = situation.parts
    beside = ({hint_rules.IN: situation.order.parent} if situation.order.parent
              else {})
    hints = [{hint_rules.WITH: main.service, **beside} for _ in parts]
    return server_runs.Group(tuple(
        unit(kind, kind.service + suffix, situation.pcloud_id, more)
        for kind, more in zip(situation.parts, [*hints, beside])),
        situation.near)


def scaled(kind: checks.UnitKind, name: str, anchor: servers.Server,
           scale_with: str,
           marks: Mapping[str, str] | None = None) -> server_runs.Group:
    """Plan a unit beside a unit of another service.

    :param anchor: the unit of the other service; the new unit goes to the host
        and the Pcloud of the anchor
    :param scale_with: the service of the anchor
    :param marks: metadata of the unit beside the metadata of scaling
    """
    planned = unit(
        kind, name, anchor.hint(hint_rules.PCLOUD),
        {hint_rules.IN: anchor.id},
        {services.SCALE_WITH: scale_with, **(marks or {})})
    return server_runs.Group((planned,), (anchor,))


def unit(kind: checks.UnitKind, name: str, pcloud_id: str | None,
         hints: Mapping[str, object],
         metadata: Mapping[str, str] | None = None) -> server_runs.Planned:
    """Plan a unit of a service.

    :param hints: the hints that co-locate the unit
    """
    all_hints = {
        **kind.options.hints, hint_rules.SERVICE: kind.service, **hints}
    if pcloud_id:
        all_hints[hint_rules.PCLOUD] = pcloud_id
    ready = {readiness.KEY: str(kind.ready)} if kind.ready else {}
    options = dataclasses.replace(
        kind.options, hints=all_hints,
        metadata={**kind.options.metadata, **ready, **(metadata or {})})
    return server_runs.Planned(
        name, kind, options, frozenset(services.consumed(kind.image)))
