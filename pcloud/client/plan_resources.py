# SPDX-License-Identifier: Apache-2.0

"""What the Pcloud API shows of servers that fit, and of moves."""

from collections.abc import Mapping
import dataclasses
import typing

from pcloud.client import resources


@dataclasses.dataclass(frozen=True)
class NotExplained(resources.Resource):
    """What cannot be told, or may be otherwise.

    :ivar text: in words, which follow from the code and its params
    """

    text: str
    code: str
    params: Mapping[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Room(resources.Resource):
    """The number of groups of servers that there is capacity for.

    :ivar groups: at most the requested number
    :ivar reason: why there is capacity for fewer groups than requested, else
        None; likewise code and params, from which the words follow
    """

    MEMBER = 'room'

    groups: int
    reason: str | None = None
    code: str | None = None
    params: Mapping[str, typing.Any] | None = None


@dataclasses.dataclass(frozen=True)
class Obstacle(resources.Resource):
    """An obstacle to the next server on a host.

    :ivar rule: such as "state", "status" or "room"
    :ivar reason: in words, which follow from the code and its params
    """

    rule: str
    reason: str
    code: str | None = None
    params: Mapping[str, typing.Any] | None = None


@dataclasses.dataclass(frozen=True)
class ExplainedHost(resources.Resource):
    """The capacity for servers of a flavor on a host.

    :ivar fits: how many more servers fit
    :ivar in_the_way: all obstacles that have to go before a server fits
    """

    PARTS = {'in_the_way': Obstacle}

    name: str
    fits: int
    in_the_way: tuple[Obstacle, ...] = ()


@dataclasses.dataclass(frozen=True)
class HelpfulChange(resources.Resource):
    """A change that would free capacity for another server.

    :ivar change: such as "enable", "wait", "add_host" or "flavor"
    :ivar subject: a host of the Pcloud, a host flavor or a flavor
    :ivar text: the change in words
    """

    change: str
    subject: str
    text: str


@dataclasses.dataclass(frozen=True)
class Explanation(resources.Resource):
    """The capacity for servers of a flavor in a Pcloud.

    :ivar fits: how many more servers fit
    :ivar refused: why no host at all would do; None in general, likewise code
        and params, from which the words follow
    :ivar changes: the changes that would free capacity, the smallest first
    :ivar not_explained: what cannot be told, such as filters of the operator
        that give no reasons
    """

    MEMBER = 'explain'
    PARTS = {'hosts': ExplainedHost, 'changes': HelpfulChange,
             'not_explained': NotExplained}

    flavor: str
    fits: int
    hosts: tuple[ExplainedHost, ...] = ()
    changes: tuple[HelpfulChange, ...] = ()
    refused: str | None = None
    code: str | None = None
    params: Mapping[str, typing.Any] | None = None
    not_explained: tuple[NotExplained, ...] = ()


@dataclasses.dataclass(frozen=True)
class PlacedServers(resources.Resource):
    """Servers of a flavor that have capacity on a host of the Pcloud."""

    host: str
    flavor: str
    count: int


@dataclasses.dataclass(frozen=True)
class BindingResource(resources.Resource):
    """A resource of which more alone would be enough.

    :ivar resource: a resource class of Placement, or "hosts"
    """

    resource: str
    short_by: int


@dataclasses.dataclass(frozen=True)
class MoreHosts(resources.Resource):
    """Hosts of a host flavor that would free capacity for all servers.

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
class Simulation(resources.Resource):
    """Whether servers fit a Pcloud together.

    :ivar fits: whether all servers fit
    :ivar exact: whether it is proven that they fit, or that they do not
    :ivar enable: the names of hosts that only have to be enabled
    :ivar more: the host flavors to add hosts of beside, the cheapest first
    :ivar bounds: "least" servers fit, more than "most" do not
    :ivar not_explained: what may be otherwise
    :ivar refused: why no host at all would do; None in general, likewise code
        and params, from which the words follow
    """

    MEMBER = 'simulate'
    PARTS = {'placed': PlacedServers, 'binding': BindingResource,
             'more': MoreHosts, 'not_explained': NotExplained}

    fits: bool
    exact: bool
    bounds: Mapping[str, int]
    placed: tuple[PlacedServers, ...] = ()
    binding: tuple[BindingResource, ...] = ()
    enable: tuple[str, ...] = ()
    more: tuple[MoreHosts, ...] = ()
    not_explained: tuple[NotExplained, ...] = ()
    refused: str | None = None
    code: str | None = None
    params: Mapping[str, typing.Any] | None = None


@dataclasses.dataclass(frozen=True)
class LostServers(resources.Resource):
    """What happens when a host or a rack of a Pcloud fails.

    :ivar host: the host that fails, None for a rack
    :ivar rack: the rack that fails, None for a host
    :ivar hosts: the hosts of the rack
    :ivar servers: the servers on the hosts, None while unknown
    :ivar survives: whether all servers fit, None while not proven
    :ivar no_room: "least" servers and no more than "most" do not fit; "most"
        is None while unknown
    """

    no_room: Mapping[str, int | None]
    host: str | None = None
    rack: int | None = None
    hosts: tuple[str, ...] = ()
    servers: int | None = None
    survives: bool | None = None


@dataclasses.dataclass(frozen=True)
class RefusedServer(resources.Resource):
    """A server that no host of the Pcloud takes again.

    :ivar reason: in words, which follow from the code and its params
    """

    host: str
    server: str
    reason: str
    code: str | None = None
    params: Mapping[str, typing.Any] | None = None


@dataclasses.dataclass(frozen=True)
class Rehearsal(resources.Resource):
    """Which hosts or racks of a Pcloud may fail, one at a time.

    :ivar survives: so many may fail, and all servers fit
    :ivar of: the number of hosts, or of racks
    :ivar exact: whether it is proven of each of them
    :ivar worst: the "host" or "rack" that leaves most "servers" without
        capacity
    :ivar more: the host flavors to add hosts of, so that any may fail
    """

    MEMBER = 'rehearsal'
    PARTS = {'losses': LostServers, 'more': MoreHosts,
             'refused_servers': RefusedServer,
             'not_explained': NotExplained}

    survives: int
    of: int
    exact: bool
    bounds: Mapping[str, int]
    worst: Mapping[str, typing.Any] | None = None
    losses: tuple[LostServers, ...] = ()
    more: tuple[MoreHosts, ...] = ()
    refused_servers: tuple[RefusedServer, ...] = ()
    not_explained: tuple[NotExplained, ...] = ()


@dataclasses.dataclass(frozen=True)
class Rebalance(resources.Resource):
    """Which servers of a Pcloud to move.

    :ivar moves: each with "server", "from" and "to", names of hosts
    :ivar steps: the moves that may run at once, one group after the other, by
        their places in `moves`
    :ivar frees: the names of hosts that become empty
    :ivar units_saved: the units of these hosts
    :ivar valid_for: what has to be given to have the servers moved
    :ivar exact: whether no plan is better
    :ivar fits: whether the servers of the goal "fit" have capacity then
    :ivar pinned: the servers that stay, each with "server", "host", "rule" and
        "reason"
    :ivar not_explained: what may be otherwise
    :ivar under_way: what an earlier plan has still to move
    :ivar stopped: "at" and "reason" of an earlier plan that has ended before
        its end, or None
    """

    MEMBER = 'rebalance'
    PARTS = {'not_explained': NotExplained}

    moves: tuple[Mapping[str, str], ...]
    steps: tuple[list[int], ...]
    frees: tuple[str, ...]
    units_saved: int
    valid_for: str
    exact: bool = False
    fits: bool | None = None
    pinned: tuple[Mapping[str, str], ...] = ()
    not_explained: tuple[NotExplained, ...] = ()
    under_way: tuple[Mapping[str, typing.Any], ...] = ()
    stopped: Mapping[str, str] | None = None
