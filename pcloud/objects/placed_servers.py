# SPDX-License-Identifier: Apache-2.0

"""The servers of a project on hosts of Pclouds.

Rule: reference-pclouds-servers
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context

from pcloud.backend.aggregates import lists
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import servers
from pcloud import names
from pcloud.objects.placing import host_attributes
from pcloud.rules.placing import attributes


@dataclasses.dataclass(frozen=True)
class Rack:
    """A rack of a Pcloud.

    :ivar number: the number among the racks of the Pcloud's hosts, from 1
    :ivar name: the rack's own name
    """

    number: int
    name: str


@dataclasses.dataclass(frozen=True)
class PlacedServer:
    """A server on a host of a Pcloud, as the server's project sees the place.

    :ivar host: the owner's name for the host; None for a project that does
        not own the Pcloud, and for a host without a name
    :ivar rack: the host's rack, None while unknown
    """

    uuid: str
    pcloud_id: str
    pcloud_name: str
    host: str | None
    rack: Rack | None


def index(
    context: nova_context.RequestContext, project_id: str,
    named: Collection[str] | None, after: str,
) -> list[PlacedServer]:
    """Return the servers of a project on hosts of Pclouds, in order of uuids.

    Seven queries, and one in each cell with the servers. Servers in silent
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
    racks = _racks(context, [pcloud.id for pcloud in pclouds])
    return [_server(place, by_host[place.host].metadata,
                    names_of[by_host[place.host].id].get(place.node),
                    racks.get(place.host))
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


def _racks(
    context: nova_context.RequestContext, pclouds: Collection[int],
) -> dict[str, Rack]:
    """Return ``service host -> rack`` in the host's Pcloud.

    Four queries, none without Pclouds. The numbers are those that the hosts of
    a Pcloud have in the Pcloud's list of hosts; a Pcloud with a host without a
    row of the host's node has no numbers, as the order of the hosts is not
    known until `audit` has the row written again.

    :param pclouds: the ids of the aggregates
    """
    if not pclouds:
        return {}
    in_order = [_in_order(pcloud) for pcloud
                in lists.with_hosts(context, pclouds)]
    rack_of = {
        host: its.get(attributes.RACK) for host, its
        in host_attributes.effective(
            context, {host for hosts in in_order for host in hosts}).items()}
    return {host: rack for hosts in in_order
            for host, rack in _numbered(hosts, rack_of)}


def _in_order(pcloud: rows.Aggregate) -> list[str]:
    """Return the service hosts of a Pcloud, by the owner's names."""
    nodes = {node: host for host, node
             in names.nodes(pcloud.metadata).items() if host in pcloud.hosts}
    if len(nodes) < len(pcloud.hosts):
        return []
    states = names.states(pcloud.metadata)
    return [nodes[node] for _, node
            in sorted(names.hosts(pcloud.metadata).items())
            if node in states and node in nodes]


def _numbered(
    hosts: Collection[str], rack_of: Mapping[str, str | None],
) -> Iterable[tuple[str, Rack]]:
    """Return the hosts in racks, each with the rack."""
    numbers = attributes.ordinals(rack_of.get(host) for host in hosts)
    return [(host, Rack(numbers[name], name)) for host in hosts
            if (name := rack_of.get(host)) is not None]


def _server(
    place: servers.Place, metadata: Mapping[str, str], host: str | None,
    rack: Rack | None,
) -> PlacedServer:
    return PlacedServer(
        place.uuid, metadata[names.ID], metadata.get(names.NAME, ''), host,
        rack)
