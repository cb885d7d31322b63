# SPDX-License-Identifier: Apache-2.0

"""Where the servers of the caller's project are.

Rule: reference-pclouds-servers
"""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from pcloud.client import resources
from pcloud.client import servers


@dataclasses.dataclass(frozen=True)
class ServerPlace:
    """A server of the caller's project, with the server's Pcloud and host.

    :ivar id: the id of the server
    :ivar pcloud_id: the Pcloud of the server's host; for a server that is on
        no host the Pcloud of the server's hint; None outside of Pclouds, and
        for a Pcloud that the project may not see
    :ivar pcloud: the name of that Pcloud
    :ivar host: the owner's name for the host; None for a server on no host,
        and for a project that does not own the Pcloud
    :ivar rack: the number of the host's rack in the Pcloud, None while unknown
        and where the host is not shown
    """

    id: str
    name: str
    status: str
    pcloud: str | None = None
    host: str | None = None
    rack: int | None = None
    pcloud_id: str | None = None


def hinted(server: servers.Server) -> str | None:
    """Return the id of the Pcloud that the hint of a server names, or None.

    Only a server without a host is where the hint tells: any other server has
    a place, or is where the project may not look.
    """
    return None if server.host_id else server.hint('pcloud')


def join(
    server: servers.Server, places: Mapping[str, resources.PlacedServer],
    pclouds: Mapping[str, str],
) -> ServerPlace:
    """Return a server with the server's place.

    :param places: server id -> place, of servers on hosts of Pclouds
    :param pclouds: id -> name of the Pclouds that the project may see
    """
    place = places.get(server.id)
    if place is not None:
        return ServerPlace(
            server.id, server.name, server.status, place.pcloud['name'],
            place.host, place.rack, place.pcloud['id'])
    pcloud_id = hinted(server)
    if pcloud_id is None or pcloud_id not in pclouds:
        return ServerPlace(server.id, server.name, server.status)
    return ServerPlace(server.id, server.name, server.status,
                       pclouds[pcloud_id], pcloud_id=pcloud_id)


def by_name(joined: Iterable[ServerPlace]) -> list[ServerPlace]:
    """Return servers in the order of their names."""
    return sorted(joined, key=lambda server: (server.name, server.id))
