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

"""What the Pcloud API tells about, as values."""

from collections.abc import Mapping
import dataclasses
import typing

from pcloud.client import exceptions


@dataclasses.dataclass(frozen=True)
class Resource:
    """Made from a body of the API; members it does not know are ignored.

    :cvar MEMBER: the member of an answer's body that holds one
    :cvar PARTS: what the items are of members that hold lists of others
    """

    MEMBER: typing.ClassVar[str]
    PARTS: typing.ClassVar[Mapping[str, type['Resource']]] = {}

    @classmethod
    def from_body(cls, body: object) -> typing.Self:
        """Make one from what the API sent.

        :raises exceptions.UnexpectedResponse: when a member without which
            it makes no sense is missing
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
    """A compute host in the pool of a host flavor, as an admin sees it.

    :ivar pcloud: the id of the Pcloud that the host is in, or None
    :ivar settling: since when the host settles, or None when it does not
    """

    host: str
    hypervisor_hostname: str | None = None
    availability_zone: str | None = None
    pcloud: str | None = None
    settling: str | None = None
    status: str | None = None
    state: str | None = None


@dataclasses.dataclass(frozen=True)
class HostFlavor(Resource):
    """A kind of host.

    :ivar units: what a host of it counts against a project's quota
    :ivar vcpus: the fewest among its hosts, or None while it has none;
        likewise memory_mb (MiB) and disk_gb (GiB)
    :ivar available: how many hosts are free, by availability zone
    :ivar settling: how many hosts are going to be free, when no server from
        before can land on them any more
    :ivar hosts: its pool, or None for who is not an admin
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
    hosts: tuple[PoolHost, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Pcloud(Resource):
    """A private cloud: hosts that only its tenants can use.

    Who is a tenant but not the owner sees the first three members only; the
    others are None then.

    :ivar owner: the id of the project that created it
    :ivar tenants: the ids of the projects that may start servers in it
    :ivar units: the sum of the units of its hosts
    :ivar cpu_allocation_ratio: None where it is not set, so that the cloud's
        own holds; likewise ram_allocation_ratio
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


@dataclasses.dataclass(frozen=True)
class Host(Resource):
    """A host of a Pcloud.

    :ivar state: "enabled" or "disabled"
    :ivar status: "up", "down" or "maintenance"
    :ivar instances: the ids of the servers on it, None when it is not known
    :ivar memory_mb: MiB; likewise memory_mb_used
    :ivar next_reboot: ISO 8601, or None where no reboot is planned
    :ivar rack: an ordinal within the Pcloud, not the rack's own name
    :ivar hypervisor_hostname: None for who is not an admin
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
    hypervisor_hostname: str | None = None


@dataclasses.dataclass(frozen=True)
class Attribute(Resource):
    """A value of an attribute, with the hosts that were given it.

    :ivar hosts: the names of their compute services
    """

    MEMBER = 'attribute'

    name: str
    value: str
    hosts: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Setting(Resource):
    """A machine constraint that counts.

    :ivar value: None where the caller may not see it
    :ivar source: where it is set: "request", "pcloud", "project", "domain",
        "cloud" or "role NAME"; or "built-in"
    """

    key: str
    value: str | None
    source: str


@dataclasses.dataclass(frozen=True)
class Policy(Resource):
    """What is wished for the servers of a scope.

    :ivar customer_keys: placement keys, each as NAME=VALUE:WEIGHT
    :ivar system_keys: likewise; None for who is not an admin
    :ivar constraints: the machine constraints that are set here, such as
        "ram=2G rack=r1"; '' for none
    :ivar effective: the machine constraints that count here, wherever they
        are set; None unless they were asked for
    """

    MEMBER = 'policy'
    PARTS = {'effective': Setting}

    scope: str
    id: str
    customer_keys: tuple[str, ...] = ()
    system_keys: tuple[str, ...] | None = None
    constraints: str = ''
    effective: tuple[Setting, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Room(Resource):
    """For how many groups of servers there is room.

    :ivar groups: at most as many as were asked for
    :ivar reason: why there are fewer; None where there are not
    """

    MEMBER = 'room'

    groups: int
    reason: str | None = None


@dataclasses.dataclass(frozen=True)
class Obstacle(Resource):
    """What stands in the way of the next server on a host.

    :ivar rule: such as "state", "status" or "room"
    """

    rule: str
    reason: str


@dataclasses.dataclass(frozen=True)
class ExplainedHost(Resource):
    """What becomes of servers of a flavor on a host.

    :ivar fits: how many more it takes
    :ivar in_the_way: all that has to change before it takes one
    """

    PARTS = {'in_the_way': Obstacle}

    name: str
    fits: int
    in_the_way: tuple[Obstacle, ...] = ()


@dataclasses.dataclass(frozen=True)
class HelpfulChange(Resource):
    """What would make room for one more server.

    :ivar change: such as "enable", "wait", "add_host" or "flavor"
    :ivar subject: a host of the Pcloud, a host flavor or a flavor
    :ivar text: the same in words
    """

    change: str
    subject: str
    text: str


@dataclasses.dataclass(frozen=True)
class Explanation(Resource):
    """What becomes of servers of a flavor in a Pcloud.

    :ivar fits: how many more there is room for
    :ivar refused: why no host at all would do; None in general
    :ivar changes: what would make room, the smallest first
    :ivar not_explained: filters of the operator's that do not tell why
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
class Tenant:
    """A project that may start servers in a Pcloud."""

    project_id: str


@dataclasses.dataclass(frozen=True)
class Quota:
    """How much a project may own.

    :ivar units_limit: in units of host flavors; -1 is unlimited
    :ivar units_in_use: the units of the hosts in the Pclouds it owns, or
        None where the server does not tell
    """

    project_id: str
    units_limit: int
    units_in_use: int | None = None

    @classmethod
    def from_body(cls, project_id: str, body: object) -> typing.Self:
        """Make a project's quota from what the API sent.

        :raises exceptions.UnexpectedResponse: when it tells no limit
        """
        try:
            units = body['units']  # type: ignore[index]
            return cls(project_id, units['limit'], units.get('in_use'))
        except (AttributeError, KeyError, TypeError):
            raise exceptions.UnexpectedResponse(
                f'The server sent {body!r} for a quota') from None
