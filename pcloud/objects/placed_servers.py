# SPDX-License-Identifier: Apache-2.0

"""The servers of a project on hosts of Pclouds.

Rule: reference-pclouds-servers
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import servers
from pcloud import names


@dataclasses.dataclass(frozen=True)
class PlacedServer:
    """A server on a host of a Pcloud, as the server's project sees the place.

    :ivar host: the owner's name for the host; None for a project that does
        not own the Pcloud, and for a host without a name
    """

    uuid: str
    pcloud_id: str
    pcloud_name: str
    host: str | None


def index(
    context: nova_context.RequestContext, project_id: str,
    named: Collection[str] | None, after: str,
) -> list[PlacedServer]:
    """Return the servers of a project on hosts of Pclouds, in order of uuids.

    Three queries, and one in each cell with the servers. Servers in silent
    cells are left out, and servers in a Pcloud that the project neither owns
    nor is a tenant of: the project does not know the Pcloud.

    :param named: the uuids of the servers in question; None for all servers
    :param after: only servers with a greater uuid
    """
    places = servers.places(context, project_id, named, after)
    pclouds = pcloud_rows.of_hosts(
        context, {place.host for place in places},
        {place.node for place in places if place.node}, project_id)
    names_of = {pcloud.id: _names(pcloud, project_id) for pcloud in pclouds}
    by_host = _by_host(pclouds)
    return [_server(place, by_host[place.host].metadata,
                    names_of[by_host[place.host].id])
            for place in sorted(places, key=lambda each: each.uuid)
            if place.host in by_host]


def _names(pcloud: rows.Aggregate, project_id: str) -> dict[str | None, str]:
    """Return ``hypervisor hostname -> owner's name``, for the owner alone."""
    if pcloud.metadata.get(names.OWNER) != project_id:
        return {}
    return {node: name
            for name, node in names.hosts(pcloud.metadata).items()}


def _by_host(pclouds: Collection[rows.Aggregate]) -> dict[str, rows.Aggregate]:
    """Return ``service host -> Pcloud``; no host that is in several."""
    found: dict[str, list[rows.Aggregate]] = {}
    for pcloud in pclouds:
        for host in pcloud.hosts:
            found.setdefault(host, []).append(pcloud)
    return {host: its_pclouds[0] for host, its_pclouds in found.items()
            if len(its_pclouds) == 1}


def _server(
    place: servers.Place, metadata: Mapping[str, str],
    names_of_nodes: Mapping[str | None, str],
) -> PlacedServer:
    return PlacedServer(
        place.uuid, metadata[names.ID], metadata.get(names.NAME, ''),
        names_of_nodes.get(place.node))
