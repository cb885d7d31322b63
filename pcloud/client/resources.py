# SPDX-License-Identifier: Apache-2.0

"""The resources of the Pcloud API, as values."""

from collections.abc import Mapping
import dataclasses
import typing

from pcloud.client import exceptions

# A GiB, in MiB.
_MIB = 1024


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
    :ivar fenced: whether Nova takes the host for down, whatever it reports
    :ivar attributes: attribute -> value, of all sources; None in lists
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
    fenced: bool = False
    attributes: Mapping[str, str] | None = None
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
    :ivar price: what a host costs an hour, as a decimal text, or None
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
    price: str | None = None
    resources: Mapping[str, int] | None = None
    traits: tuple[str, ...] | None = None
    hosts: tuple[PoolHost, ...] | None = None

    @property
    def constraints(self) -> str:
        """Machine constraints that every host of the flavor meets.

        As a text for the constraints of a host or of a server; '' for a flavor
        without hosts. An administrator's have the attributes too that all
        hosts have alike.
        """
        # A command that shows no constraints needs none of the rules.
        from pcloud.rules.placing import constraints
        from pcloud.rules.placing import machines
        having = [(host.attributes or {}).items() for host in self.hosts or ()]
        return constraints.text(machines.fulfilled(
            {machines.CPU: self.vcpus, machines.RAM: self.memory_mb,
             machines.STORAGE: (self.disk_gb or 0) * _MIB},
            dict(set(having[0]).intersection(*having[1:])) if having else {},
            self.resources or {}, self.traits or ()))


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
    :ivar host_recovery: "in_place" or "replace"; None where nothing is done
        for a host that has failed
    :ivar pin_by_tenants: whether tenants other than the owner may name the
        host of a server
    :ivar placement: "pack", "spread" or "default"; None where the owner has
        not chosen, as "default"
    :ivar flavors: the ids of the flavors that the Pcloud takes; None for all,
        likewise images
    :ivar shrink: "after_hours", "min_hosts" and "keep_spare", by which empty
        hosts leave; None where none does
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
    host_recovery: str | None = None
    pin_by_tenants: bool | None = None
    placement: str | None = None
    flavors: tuple[str, ...] | None = None
    images: tuple[str, ...] | None = None
    shrink: Mapping[str, int] | None = None
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

    :ivar state: "enabled", "disabled", "draining" or "spare"
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
    :ivar recovery: what is done where the host has failed, as in the API;
        None for other hosts
    :ivar maintenance: the announced maintenance, as in the API; None for a
        host without one
    :ivar until: when the host leaves, in ISO 8601; None for no date
    :ivar move: the servers that are moved then, "none", "live" or "any"; None
        for no date
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
    recovery: Mapping[str, typing.Any] | None = None
    maintenance: Mapping[str, typing.Any] | None = None
    until: str | None = None
    move: str | None = None
    hypervisor_hostname: str | None = None


@dataclasses.dataclass(frozen=True)
class PlacedServer(Resource):
    """A server of the caller's project on a host of a Pcloud.

    :ivar server: the id of the server
    :ivar pcloud: "id" and "name" of the Pcloud
    :ivar host: the owner's name for the host; None for a project that does
        not own the Pcloud
    :ivar rack: the number of the host's rack in the Pcloud, None while unknown
        and where the host is not shown
    """

    server: str
    pcloud: Mapping[str, str]
    host: str | None = None
    rack: int | None = None


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
    :ivar share: the share of a project in waiting lists; None where none is
        set, and for a caller who is not an admin
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
    share: float | None = None


@dataclasses.dataclass(frozen=True)
class DefaultPcloud:
    """The default Pcloud that counts for a project, a domain or the cloud.

    :ivar project_id: None for a default of a domain or the cloud
    :ivar pcloud: the id of the Pcloud, None for no default
    :ivar mode: 'strict', 'prefer' or 'grow', None for no default
    :ivar host_flavor: in mode grow the host flavor of new hosts, else None
    :ivar max_hosts: in mode grow the most hosts in the Pcloud, else None
    :ivar availability_zone: in mode grow the zone of new hosts, None for any
    :ivar source: where the default is set: 'project', 'domain' or 'cloud';
        None where none is set
    :ivar warning: what to know of a default that was set, None for nothing
    :ivar domain_id: the id of the domain, None for a project and the cloud
    """

    project_id: str | None
    pcloud: str | None = None
    mode: str | None = None
    host_flavor: str | None = None
    max_hosts: int | None = None
    availability_zone: str | None = None
    source: str | None = None
    warning: str | None = None
    domain_id: str | None = None

    @classmethod
    def from_body(cls, scope: str, scope_id: str,
                  body: typing.Any) -> typing.Self:
        """Make the default of a scope from a policy of the API.

        :raises exceptions.UnexpectedResponse: for a body without a default
        """
        try:
            value = body['default_pcloud'] or {}
            return cls(
                scope_id if scope == 'project' else None,
                value.get('pcloud'), value.get('mode'),
                value.get('host_flavor'), value.get('max_hosts'),
                value.get('availability_zone'), body['default_pcloud_source'],
                body.get('warning'), scope_id if scope == 'domain' else None)
        except (AttributeError, KeyError, TypeError):
            raise exceptions.UnexpectedResponse(
                f'The server sent {body!r} for a default Pcloud') from None


@dataclasses.dataclass(frozen=True)
class Tenant(Resource):
    """A project that may start servers in a Pcloud.

    :ivar name: None where the caller may not know the name
    :ivar max_servers: the most servers that the project may use of the
        Pcloud, None for any number; likewise max_vcpus and max_memory_mb (MiB)
    """

    MEMBER = 'tenant'

    project_id: str
    name: str | None = None
    max_servers: int | None = None
    max_vcpus: int | None = None
    max_memory_mb: int | None = None

    @classmethod
    def from_body(cls, body: object) -> typing.Self:
        """Make a tenant from a body of the API, in which the id is "id"."""
        if isinstance(body, dict) and 'id' in body:
            body = {**body, 'project_id': body['id']}
        return super().from_body(body)

    @property
    def place(self) -> tuple[bool, str]:
        """What people look for; projects without a known name come last."""
        return self.name is None, self.name or self.project_id


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
