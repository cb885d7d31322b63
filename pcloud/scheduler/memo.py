# SPDX-License-Identifier: Apache-2.0

"""Values that are read once for a request, whoever asks.

Filters and weighers are shared by all requests under way, so the values of a
request are kept with the request.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from fractions import Fraction
import typing

from nova import objects
from nova.scheduler import host_manager

from pcloud.objects.placing import scoped_policies
from pcloud.rules import host_resources
from pcloud.rules.placing import affinity
from pcloud.rules.placing import constraints
from pcloud.rules.placing import sticky

_ATTRIBUTE = '_pcloud_memo'


@dataclasses.dataclass(frozen=True)
class CompiledKeys:
    """The placement keys of a request; false when the request has no key.

    :ivar system: compiled system keys, by name
    :ivar customer: compiled customer keys, by name
    """

    system: Mapping[str, affinity.Key]
    customer: Mapping[str, affinity.Key]

    def __bool__(self) -> bool:
        return bool(self.system or self.customer)


@dataclasses.dataclass
class MultiCreate:
    """What a filter remembers of a multi-create.

    :ivar preferences: the filters with preferences that come before
    :ivar refused: the hosts that the filter has dropped
    :ivar server: uuid of the latest server; None before the first server
    """

    preferences: tuple[str, ...]
    refused: list[host_manager.HostState] = dataclasses.field(
        default_factory=list)
    server: str | None = None


@dataclasses.dataclass
class Memo:
    """The known values of a request; None for a value not yet asked for.

    :ivar place: where a request goes that prefers a Pcloud: the id of the
        Pcloud, or '' for outside
    :ivar maintenances: ``service host -> maintenance`` of the hosts of the
        Pcloud of the request, as written
    :ivar policies: the policies of Pcloud, project, domain and cloud, in
        this order
    :ivar settings: the effective machine constraints, by key
    :ivar holdings: ``uuid of the node -> resources`` for the hosts that
        Placement has told of
    :ivar keys: the placement keys
    :ivar before: ``(service host, node) -> (customer score, number of
        servers)`` for each host, when the first server of the request was
        placed
    :ivar levels: ``filter -> service host -> level``, 0 for the hosts that the
        filter would keep for a single server; in the order of the filters,
        and only of filters that leave a preference to weighers
    :ivar turns: ``filter -> what the filter remembers``; of a multi-create
        only
    :ivar counts: each host, with its number of servers when the first server
        of the request was placed
    :ivar places: the hosts and racks for a decision about locality, and of a
        multi-create the hosts among which the first server was to be placed
    :ivar owned: ``service host -> number of the project's servers``, when the
        first server of the request was placed
    :ivar copies: the copies of sticky keys that the server has kept; None also
        for a server that neither has copies nor can get copies
    :ivar recorded: uuids of the servers whose offers are recorded
    """

    place: str | None = None
    maintenances: Mapping[str, str] = dataclasses.field(default_factory=dict)
    policies: list[scoped_policies.Policy] | None = None
    settings: dict[str, constraints.Setting] | None = None
    holdings: Mapping[str, host_resources.Resources] | None = None
    keys: CompiledKeys | None = None
    before: dict[tuple[str, str], tuple[Fraction, int]] | None = None
    levels: dict[str, Mapping[str, int]] = dataclasses.field(
        default_factory=dict)
    turns: dict[str, MultiCreate] = dataclasses.field(default_factory=dict)
    counts: list[tuple[host_manager.HostState, int]] | None = None
    places: typing.Any = None
    owned: Mapping[str, int] | None = None
    copies: sticky.Copies | None = None
    recorded: set[str] = dataclasses.field(default_factory=set)


def of_request(spec: objects.RequestSpec) -> Memo:
    """Return the memo of a request; the first call makes the memo.

    All servers of a multi-create have the same request, and so the same memo.
    The memo is no field of the request: Nova neither copies, sends nor stores
    the memo, so a placement by a copy of a request reads every value anew.
    """
    request_memo = getattr(spec, _ATTRIBUTE, None)
    if request_memo is None:
        request_memo = Memo()
        setattr(spec, _ATTRIBUTE, request_memo)
    return request_memo
