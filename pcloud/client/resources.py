# SPDX-License-Identifier: Apache-2.0

"""The resources of the Pcloud API, as values."""

from collections.abc import Mapping
import dataclasses
import typing

from pcloud.client import exceptions


@dataclasses.dataclass(frozen=True)
class Resource:
    """A resource, made from a body of the API; unknown members are ignored.

    :cvar MEMBER: the member of an answer's body with a resource of the class
    :cvar PARTS: member -> class of the items, for members that hold lists of
        resources
    """

    MEMBER: typing.ClassVar[str]
    PARTS: typing.ClassVar[Mapping[str, type['Resource']]] = {}

    @classmethod
    def from_body(cls, body: object) -> typing.Self:
        """Make a resource from a body of the API.

        :raises exceptions.UnexpectedResponse: when a required member is
            missing
        """
        if not isinstance(body, dict):
            raise exceptions.UnexpectedResponse(
                f'The server sent {body!r} for a {cls.__name__}')
        names = {field.name for field in dataclasses.fields(cls)}
        members = {name: cls._value(name, value)
                   for name, value in body.items() if name in names}
        try:
            return cls(**members)
        except TypeError as error:
            raise exceptions.UnexpectedResponse(
                f'The server sent an incomplete {cls.__name__}: '
                f'{error}') from None

    @classmethod
    def _value(cls, name: str, value: typing.Any) -> typing.Any:
        if not isinstance(value, list):
            return value
        part = cls.PARTS.get(name)
        return tuple(map(part.from_body, value) if part else value)


@dataclasses.dataclass(frozen=True)
class PoolHost(Resource):
    """A compute host in the pool of a host flavor, as an admin sees the host.

    :ivar pcloud: the id of the host's Pcloud, or None
    :ivar settling: since when the host settles, or None for a host that does
        not settle
    :ivar maintenance: the announced maintenance, as in the API, or None
    :ivar vcpus: physical CPUs, None while nobody knows; likewise vcpus_used,
        memory_mb (MiB) and memory_mb_used (MiB)
    """

    MEMBER = 'host'

    host: str
    hypervisor_hostname: str | None = None
    availability_zone: str | None = None
    pcloud: str | None = None
    settling: str | None = None
    maintenance: Mapping[str, typing.Any] | None = None
    status: str | None = None
    state: str | None = None
    vcpus: int | None = None
    vcpus_used: int | None = None
    memory_mb: int | None = None
    memory_mb_used: int | None = None


@dataclasses.dataclass(frozen=True)
class HostFlavor(Resource):
    """A kind of host.

    :ivar units: the units that a host of the flavor counts against a project's
        quota
    :ivar vcpus: the fewest among the hosts of the flavor, or None without
        hosts; likewise memory_mb (MiB) and disk_gb (GiB)
    :ivar available: how many hosts are free, by availability zone
    :ivar settling: how many hosts are going to be free, when no server from
        before can land on the hosts any more
    :ivar resources: resource class -> the least amount among the hosts, of the
        classes that all hosts have; None while Placement does not answer;
        likewise traits, which all hosts have
    :ivar hosts: the pool of the flavor, or None for a caller who is not an
        admin
    """

    MEMBER = 'host_flavor'
    PARTS = {'hosts': PoolHost}

    id: str
    units: int
    description: str = ''
    vcpus: int | None = None
    memory_mb: int | None = None
    disk_gb: int | None = None
    available: Mapping[str, int] = dataclasses.field(default_factory=dict)
    settling: int = 0
    resources: Mapping[str, int] | None = None
    traits: tuple[str, ...] | None = None
    hosts: tuple[PoolHost, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Pcloud(Resource):
    """A private cloud: hosts that only the tenants of the Pcloud can use.

    A tenant that is not the owner sees id, name and owner only; the other
    members are None then.

    :ivar owner: the id of the project that created the Pcloud
    :ivar tenants: the ids of the projects that may start servers in the Pcloud
    :ivar units: the sum of the units of the Pcloud's hosts
    :ivar cpu_allocation_ratio: None where the cloud's own ratio holds;
        likewise ram_allocation_ratio
    :ivar maintenance_policy: "migrate" or "replace"; None where servers stay
        on a host in maintenance
    :ivar free: "hosts" without servers, "vcpus" and "memory_mb" (MiB) that are
        free; None unless requested, and while the cell of a host is silent
    :ivar servers: how many servers run in the Pcloud; None likewise
    """

    MEMBER = 'pcloud'

    id: str
    name: str
    owner: str
    tenants: tuple[str, ...] | None = None
    host_count: int | None = None
    units: int | None = None
    cpu_allocation_ratio: float | None = None
    ram_allocation_ratio: float | None = None
    maintenance_policy: str | None = None
    free: Mapping[str, int] | None = None
    servers: int | None = None


@dataclasses.dataclass(frozen=True)
class GrowingPcloud(Pcloud):
    """A Pcloud, and how the Pcloud grows.

    :ivar growth: host_flavor, max_hosts and availability_zone of the default
        Pcloud of the owner; None where the owner's servers let the Pcloud not
        grow, or where the caller may not know
    """

    growth: Mapping[str, str | int | None] | None = None


@dataclasses.dataclass(frozen=True)
class Host(Resource):
    """A host of a Pcloud.

    :ivar state: "enabled", "disabled" or "draining"
    :ivar status: "up", "down" or "maintenance"
    :ivar instances: the ids of the servers on the host, None when not known
    :ivar memory_mb: MiB; likewise memory_mb_used
    :ivar next_reboot: ISO 8601, or None where no reboot is planned
    :ivar resources: resource class -> "total" and "used"; None while Placement
        does not answer, and in the answers to calls that change the host;
        likewise traits
    :ivar rack: an ordinal within the Pcloud, not the rack's own name
    :ivar drain: what is left to do where the host is being drained, as in the
        API; None for other hosts
    :ivar maintenance: the announced maintenance, as in the API; None for a
        host without one
    :ivar hypervisor_hostname: None for a caller who is not an admin
    """

    MEMBER = 'host'

    name: str
    host_flavor: str | None = None
    availability_zone: str | None = None
    state: str | None = None
    status: str | None = None
    instances: tuple[str, ...] | None = ()
    vcpus: int | None = None
    vcpus_used: int | None = None
    memory_mb: int | None = None
    memory_mb_used: int | None = None
    next_reboot: str | None = None
    rack: int | None = None
    resources: Mapping[str, Mapping[str, int]] | None = None
    traits: tuple[str, ...] | None = None
    drain: Mapping[str, typing.Any] | None = None
    maintenance: Mapping[str, typing.Any] | None = None
    hypervisor_hostname: str | None = None


@dataclasses.dataclass(frozen=True)
class PlacedServer(Resource):
    """A server of the caller's project on a host of a Pcloud.

    :ivar server: the id of the server
    :ivar pcloud: "id" and "name" of the Pcloud
    :ivar host: the owner's name for the host; None for a project that does
        not own the Pcloud
    """

    server: str
    pcloud: Mapping[str, str]
    host: str | None = None


@dataclasses.dataclass(frozen=True)
class Attribute(Resource):
    """A value of an attribute, with the hosts that have the value.

    :ivar hosts: the names of the hosts' compute services
    """

    MEMBER = 'attribute'

    name: str
    value: str
    hosts: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Finding(Resource):
    """Something in the rows of the cloud that does not fit together.

    :ivar kind: such as "state-without-host"
    :ivar aggregate: the name of the aggregate, or None
    :ivar host: the name of the host's compute service, or None
    :ivar repair: what repairs it, or None where nothing does by itself
    """

    kind: str
    text: str
    aggregate: str | None = None
    host: str | None = None
    repair: str | None = None


@dataclasses.dataclass(frozen=True)
class Setting(Resource):
    """An effective machine constraint.

    :ivar value: None where the caller may not see the value
    :ivar source: the level of the constraint: "request", "pcloud", "project",
        "domain", "cloud" or "role NAME"; or "built-in"
    """

    key: str
    value: str | None
    source: str


@dataclasses.dataclass(frozen=True)
class Policy(Resource):
    """The policy for the servers of a scope.

    :ivar customer_keys: placement keys, each as NAME=VALUE:WEIGHT
    :ivar system_keys: likewise; None for a caller who is not an admin
    :ivar constraints: the machine constraints of the policy, such as "ram=2G
        rack=r1"; '' for no constraints
    :ivar effective: the effective machine constraints of the scope, from all
        levels; None unless requested
    :ivar default_pcloud: the default Pcloud that counts in the scope, as in
        the API; None where none counts, and where it was not asked for
    :ivar default_pcloud_source: the scope that has set the default, a default
        outside of Pclouds too; None where no scope has
    """

    MEMBER = 'policy'
    PARTS = {'effective': Setting}

    scope: str
    id: str
    customer_keys: tuple[str, ...] = ()
    system_keys: tuple[str, ...] | None = None
    constraints: str = ''
    effective: tuple[Setting, ...] | None = None
    default_pcloud: Mapping[str, typing.Any] | None = None
    default_pcloud_source: str | None = None


@dataclasses.dataclass(frozen=True)
class DefaultPcloud:
    """The default Pcloud that counts for a project.

    :ivar pcloud: the id of the Pcloud, None for no default
    :ivar mode: 'strict', 'prefer' or 'grow', None for no default
    :ivar host_flavor: in mode grow the host flavor of new hosts, else None
    :ivar max_hosts: in mode grow the most hosts in the Pcloud, else None
    :ivar availability_zone: in mode grow the zone of new hosts, None for any
    :ivar source: where the default is set: 'project', 'domain' or 'cloud';
        None where none is set
    :ivar warning: what to know of a default that was set, None for nothing
    """

    project_id: str
    pcloud: str | None = None
    mode: str | None = None
    host_flavor: str | None = None
    max_hosts: int | None = None
    availability_zone: str | None = None
    source: str | None = None
    warning: str | None = None

    @classmethod
    def from_body(cls, project_id: str, body: typing.Any) -> typing.Self:
        """Make a project's default from a policy of the API.

        :raises exceptions.UnexpectedResponse: for a body without a default
        """
        try:
            value = body['default_pcloud'] or {}
            return cls(
                project_id, value.get('pcloud'), value.get('mode'),
                value.get('host_flavor'), value.get('max_hosts'),
                value.get('availability_zone'), body['default_pcloud_source'],
                body.get('warning'))
        except (AttributeError, KeyError, TypeError):
            raise exceptions.UnexpectedResponse(
                f'The server sent {body!r} for a default Pcloud') from None


@dataclasses.dataclass(frozen=True)
class Room(Resource):
    """The number of groups of servers that there is room for.

    :ivar groups: at most the requested number
    :ivar reason: why there is room for fewer groups than requested, else None
    """

    MEMBER = 'room'

    groups: int
    reason: str | None = None


@dataclasses.dataclass(frozen=True)
class Obstacle(Resource):
    """An obstacle to the next server on a host.

    :ivar rule: such as "state", "status" or "room"
    """

    rule: str
    reason: str


@dataclasses.dataclass(frozen=True)
class ExplainedHost(Resource):
    """The room for servers of a flavor on a host.

    :ivar fits: how many more servers fit
    :ivar in_the_way: all obstacles that have to go before a server fits
    """

    PARTS = {'in_the_way': Obstacle}

    name: str
    fits: int
    in_the_way: tuple[Obstacle, ...] = ()


@dataclasses.dataclass(frozen=True)
class HelpfulChange(Resource):
    """A change that would make room for another server.

    :ivar change: such as "enable", "wait", "add_host" or "flavor"
    :ivar subject: a host of the Pcloud, a host flavor or a flavor
    :ivar text: the change in words
    """

    change: str
    subject: str
    text: str


@dataclasses.dataclass(frozen=True)
class Explanation(Resource):
    """The room for servers of a flavor in a Pcloud.

    :ivar fits: how many more servers fit
    :ivar refused: why no host at all would do; None in general
    :ivar changes: the changes that would make room, the smallest first
    :ivar not_explained: filters of the operator that give no reasons
    """

    MEMBER = 'explain'
    PARTS = {'hosts': ExplainedHost, 'changes': HelpfulChange}

    flavor: str
    fits: int
    hosts: tuple[ExplainedHost, ...] = ()
    changes: tuple[HelpfulChange, ...] = ()
    refused: str | None = None
    not_explained: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class PlacedServers(Resource):
    """Servers of a flavor that have room on a host of the Pcloud."""

    host: str
    flavor: str
    count: int


@dataclasses.dataclass(frozen=True)
class BindingResource(Resource):
    """A resource of which more alone would be enough.

    :ivar resource: a resource class of Placement, or "hosts"
    """

    resource: str
    short_by: int


@dataclasses.dataclass(frozen=True)
class MoreHosts(Resource):
    """Hosts of a host flavor that would make room for all servers.

    :ivar hosts: how many hosts are enough
    :ivar units: the units of these hosts together
    :ivar free: how many hosts of the host flavor are free
    :ivar quota_short_by: the units by which the quota is too small
    """

    host_flavor: str
    hosts: int
    units: int
    free: int
    quota_short_by: int = 0


@dataclasses.dataclass(frozen=True)
class Simulation(Resource):
    """Whether servers fit a Pcloud together.

    :ivar fits: whether all servers have room
    :ivar exact: whether it is proven that they fit, or that they do not
    :ivar enable: the names of hosts that only have to be enabled
    :ivar more: the host flavors to add hosts of beside, the cheapest first
    :ivar bounds: "least" servers have room, more than "most" have none
    :ivar not_explained: what may be otherwise, in words
    :ivar refused: why no host at all would do, None in general
    """

    MEMBER = 'simulate'
    PARTS = {'placed': PlacedServers, 'binding': BindingResource,
             'more': MoreHosts}

    fits: bool
    exact: bool
    bounds: Mapping[str, int]
    placed: tuple[PlacedServers, ...] = ()
    binding: tuple[BindingResource, ...] = ()
    enable: tuple[str, ...] = ()
    more: tuple[MoreHosts, ...] = ()
    not_explained: tuple[str, ...] = ()
    refused: str | None = None


@dataclasses.dataclass(frozen=True)
class LostServers(Resource):
    """What happens when a host or a rack of a Pcloud fails.

    :ivar host: the host that fails, None for a rack
    :ivar rack: the rack that fails, None for a host
    :ivar hosts: the hosts of the rack
    :ivar servers: the servers on the hosts, None while unknown
    :ivar survives: whether all servers find room, None while not proven
    :ivar no_room: "least" servers and no more than "most" find no room; "most"
        is None while unknown
    """

    no_room: Mapping[str, int | None]
    host: str | None = None
    rack: int | None = None
    hosts: tuple[str, ...] = ()
    servers: int | None = None
    survives: bool | None = None


@dataclasses.dataclass(frozen=True)
class RefusedServer(Resource):
    """A server that no host of the Pcloud takes again."""

    host: str
    server: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Rehearsal(Resource):
    """Which hosts or racks of a Pcloud may fail, one at a time.

    :ivar survives: so many may fail, and all servers find room
    :ivar of: the number of hosts, or of racks
    :ivar exact: whether it is proven of each of them
    :ivar worst: the "host" or "rack" that leaves most "servers" without room
    :ivar more: the host flavors to add hosts of, so that any may fail
    """

    MEMBER = 'rehearsal'
    PARTS = {'losses': LostServers, 'more': MoreHosts,
             'refused_servers': RefusedServer}

    survives: int
    of: int
    exact: bool
    bounds: Mapping[str, int]
    worst: Mapping[str, typing.Any] | None = None
    losses: tuple[LostServers, ...] = ()
    more: tuple[MoreHosts, ...] = ()
    refused_servers: tuple[RefusedServer, ...] = ()
    not_explained: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Rebalance(Resource):
    """Which servers of a Pcloud to move.

    :ivar moves: each with "server", "from" and "to", names of hosts
    :ivar steps: the moves that may run at once, one group after the other, by
        their places in `moves`
    :ivar frees: the names of hosts that become empty
    :ivar units_saved: the units of these hosts
    :ivar valid_for: what has to be given to have the servers moved
    :ivar exact: whether no plan is better
    :ivar fits: whether the servers of the goal "fit" have room then
    :ivar pinned: the servers that stay, each with "server", "host", "rule" and
        "reason"
    :ivar not_explained: what may be otherwise, in words
    :ivar under_way: what an earlier plan has still to move
    :ivar stopped: "at" and "reason" of an earlier plan that has ended before
        its end, or None
    """

    MEMBER = 'rebalance'

    moves: tuple[Mapping[str, str], ...]
    steps: tuple[list[int], ...]
    frees: tuple[str, ...]
    units_saved: int
    valid_for: str
    exact: bool = False
    fits: bool | None = None
    pinned: tuple[Mapping[str, str], ...] = ()
    not_explained: tuple[str, ...] = ()
    under_way: tuple[Mapping[str, typing.Any], ...] = ()
    stopped: Mapping[str, str] | None = None


@dataclasses.dataclass(frozen=True)
class Tenant:
    """A project that may start servers in a Pcloud."""

    project_id: str


@dataclasses.dataclass(frozen=True)
class Quota:
    """The quota of a project.

    :ivar units_limit: in units of host flavors; -1 is unlimited
    :ivar units_in_use: the units of the hosts in the project's Pclouds, or
        None where the server does not return the units
    """

    project_id: str
    units_limit: int
    units_in_use: int | None = None

    @classmethod
    def from_body(cls, project_id: str, body: typing.Any) -> typing.Self:
        """Make a project's quota from a body of the API.

        :raises exceptions.UnexpectedResponse: for a body without a limit
        """
        try:
            units = body['units']
            return cls(project_id, units['limit'], units.get('in_use'))
        except (AttributeError, KeyError, TypeError):
            raise exceptions.UnexpectedResponse(
                f'The server sent {body!r} for a quota') from None
