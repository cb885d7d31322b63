# SPDX-License-Identifier: Apache-2.0

"""How large the servers of a host are, for bars to scale."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import math
import typing

from pcloud_dashboard import shown

from pcloud.client import servers as own

VCPU, MEMORY = 'VCPU', 'MEMORY_MB'
# What a flavor of Nova's client has of each resource class.
_NEEDS: Mapping[str, typing.Callable[[typing.Any], float]] = {
    VCPU: lambda flavor: flavor.vcpus,
    MEMORY: lambda flavor: flavor.ram,
    'DISK_GB': lambda flavor: flavor.disk + getattr(
        flavor, 'OS-FLV-EXT-DATA:ephemeral', 0) + math.ceil(
            (flavor.swap or 0) / 1024)}


def needs(flavor: typing.Any) -> dict[str, float]:
    """Return what a server of a flavor needs, by resource class.

    :param flavor: a flavor of Nova's client
    """
    return {name: need for name, read in _NEEDS.items()
            if (need := read(flavor))}


@dataclasses.dataclass(frozen=True)
class ServerSize:
    """A server of the user's project.

    :ivar needs: as of `needs`; None while the flavor is not known
    """

    name: str
    needs: Mapping[str, float] | None


def sizes(servers: Iterable[own.Server],
          flavors: Iterable[typing.Any]) -> dict[str, ServerSize]:
    """Return the servers of the user's project, by id.

    :param flavors: flavors of Nova's client
    """
    by_name = {flavor.name: needs(flavor) for flavor in flavors}
    return {server.id: ServerSize(server.name or server.id[:8],
                                  by_name.get(server.flavor))
            for server in servers}


def parts(ids: Sequence[str], resource: str, used: float,
          servers: Mapping[str, ServerSize]) -> list[tuple[str, float]]:
    """Return the name of each server on a host, and its part of the use.

    Servers whose size nobody tells share what the others leave.

    :param used: how much of the resource is used on the host
    """
    told = {each: found.needs.get(resource, 0) for each in ids
            if (found := servers.get(each)) and found.needs is not None}
    over = max(0.0, used - sum(told.values()))
    share = over / max(1, len(ids) - len(told))
    return [(servers[each].name if each in servers else each[:8],
             told.get(each, share)) for each in ids]


def to_scale(host: shown.ShownHost,
             servers: Mapping[str, ServerSize]) -> shown.ShownHost:
    """Return a host whose bars have a part for each server."""
    ids = [server.id for server in host.servers or ()]
    return dataclasses.replace(
        host, vcpus=_divided(host.vcpus, ids, VCPU, servers),
        memory=_divided(host.memory, ids, MEMORY, servers))


def _divided(bar: shown.Bar | None, ids: Sequence[str], resource: str,
             servers: Mapping[str, ServerSize]) -> shown.Bar | None:
    if bar is None or not bar.used:
        return bar
    found = parts(ids, resource, bar.used, servers)
    # Of a server that comes or goes the use may be told later.
    whole = max(bar.used, sum(size for _name, size in found))
    return dataclasses.replace(bar, parts=tuple(
        shown.Part(name, round(100 * size / whole, 2))
        for name, size in found if size))
