# SPDX-License-Identifier: Apache-2.0

"""A picture of the hosts of a sandbox, from the answers of Nova's API."""

from collections.abc import Iterator
import dataclasses

from pcloud_sandbox import narrator
from pcloud_sandbox.stories import administrator
from pcloud_sandbox.stories import boxes


@dataclasses.dataclass(frozen=True)
class ComputeHost:
    """A host as the administrator sees the host.

    :ivar pool: the host flavor in whose pool the host is, or None
    :ivar pcloud: name and owner of the host's Pcloud, or None
    :ivar alias: the owner's name for the host, or None
    :ivar servers: the names of the host's servers
    """

    pool: str | None
    pcloud: str | None
    alias: str | None
    servers: tuple[str, ...]


def draw(teller: narrator.Narrator) -> dict[str, ComputeHost]:
    """Print who may use which host, and the servers of each host.

    :returns: host name -> host
    :raises SandboxError: an API refuses, or does not answer
    """
    found = _hosts(administrator.Administrator())
    teller.show(picture(found))
    return found


def picture(found: dict[str, ComputeHost]) -> list[str]:
    """Return the lines of a picture of hosts.

    :param found: host name -> host
    """
    return boxes.drawn(_boxes(found))


def _boxes(found: dict[str, ComputeHost]) -> Iterator[boxes.Box]:
    grouped: dict[str, list[str]] = {}
    for name, host in sorted(found.items(), key=_order):
        grouped.setdefault(_title(host), []).append(' '.join(
            [name, *([f'= {host.alias}'] if host.alias else []),
             *(f'[{server}]' for server in host.servers)]))
    for title, items in grouped.items():
        yield boxes.Box(title, items)


def _order(item: tuple[str, ComputeHost]) -> tuple[str, str, str]:
    name, host = item
    return host.pcloud or '', host.pool or '', name


def _title(host: ComputeHost) -> str:
    if host.pcloud is not None:
        return f'Pcloud {host.pcloud}'
    if host.pool is not None:
        return f'pool of {host.pool}: for nobody'
    return 'for everybody'


def _hosts(admin: administrator.Administrator) -> dict[str, ComputeHost]:
    pools = _pools(admin)
    pclouds = _pclouds(admin)
    servers = _servers(admin)
    answer = admin.ask('/os-services?binary=nova-compute')
    found = {}
    for service in answer['services']:
        name = service['host']
        pcloud, alias = pclouds.get(name, (None, None))
        found[name] = ComputeHost(pools.get(name), pcloud, alias,
                                  tuple(servers.get(name, ())))
    return found


def _servers(admin: administrator.Administrator) -> dict[str, list[str]]:
    """Return host -> the names of the host's servers."""
    found: dict[str, list[str]] = {}
    answer = admin.ask('/servers/detail?all_tenants=1&sort_key=display_name'
                       '&sort_dir=asc')
    for server in answer['servers']:
        # A server that was never placed has no host.
        found.setdefault(server['OS-EXT-SRV-ATTR:host'], []).append(
            server['name'])
    return found


def _pools(admin: administrator.Administrator) -> dict[str, str]:
    """Return host -> the host flavor in whose pool the host is."""
    listed = admin.ask('/os-host-flavors')['host_flavors']
    shown = [admin.ask(f'/os-host-flavors/{flavor["id"]}')['host_flavor']
             for flavor in listed]
    return {host['host']: flavor['id']
            for flavor in shown for host in flavor['hosts']}


def _pclouds(admin: administrator.Administrator) -> dict[str, tuple[str, str]]:
    """Return host -> name and owner of the Pcloud, and the owner's name.

    In a sandbox the hypervisor of a host has the name of the host.
    """
    projects = admin.projects()
    return {
        host['hypervisor_hostname']: (
            f'{pcloud["name"]} of {projects[pcloud["owner"]]}', host['name'])
        for pcloud in admin.ask('/os-pclouds?all_tenants=1')['pclouds']
        for host in admin.ask(f'/os-pclouds/{pcloud["id"]}/hosts')['hosts']}
