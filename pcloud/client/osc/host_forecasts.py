# SPDX-License-Identifier: Apache-2.0

"""Obstacles to changes of hosts in a Pcloud that can be seen beforehand.

A forecast asks for what is there now and changes nothing. The server decides
when the change is made: a forecast without obstacle is no promise.
"""

from __future__ import annotations

from collections.abc import Sequence
import typing

from pcloud.client import exceptions

if typing.TYPE_CHECKING:
    from pcloud.client import resources
    from pcloud.client import v1


def to_changing(client: v1.Client, pcloud_id: str, name: str) -> str | None:
    """Return the obstacle to a change of any host, None for none.

    A host can be enabled, disabled and drained whatever is on the host.
    """
    try:
        client.get_host(pcloud_id, name)
    except exceptions.ClientError as error:
        return str(error)
    return None


def to_removing(client: v1.Client, pcloud_id: str, name: str) -> str | None:
    """Return the obstacle to removing a host, None for none."""
    try:
        host = client.get_host(pcloud_id, name)
    except exceptions.ClientError as error:
        return str(error)
    if host.state == 'enabled':
        return 'it is enabled; disable it first'
    if host.instances:
        return f'it is not empty: {", ".join(host.instances)}'
    return None


def to_adding(
    client: v1.Client, pcloud: resources.Pcloud, names: Sequence[str],
    host_flavor: str | None, zone: str | None,
) -> dict[str, str]:
    """Return name -> obstacle of new hosts, for names with an obstacle.

    Names that are taken, free hosts of the host flavor and the quota of the
    Pcloud's owner are looked at. Where constraints choose the host flavor, the
    names alone are looked at.

    :param host_flavor: the host flavor, None for constraints
    """
    taken = {host.name.lower() for host in client.list_hosts(pcloud.id)}
    obstacles = {name: 'a host has the name already' for name in names
                 if name.lower() in taken}
    if host_flavor is None:
        return obstacles
    flavor = client.get_host_flavor(host_flavor)
    free = (sum(flavor.available.values()) if zone is None
            else flavor.available.get(zone, 0))
    affordable = _affordable(client, pcloud.owner, flavor.units)
    new = [name for name in names if name not in obstacles]
    for number, name in enumerate(new):
        if number >= free:
            obstacles[name] = f"no host of host flavor '{flavor.id}' is free"
        elif affordable is not None and number >= affordable:
            obstacles[name] = 'the quota does not suffice'
    return obstacles


def _affordable(client: v1.Client, project_id: str,
                units: int) -> int | None:
    """Return for how many hosts the quota suffices, None for any number."""
    from pcloud.rules import units as unit_rules
    quota = client.get_quota(project_id)
    if quota.units_limit == unit_rules.UNLIMITED or not units:
        return None
    return max(quota.units_limit - (quota.units_in_use or 0), 0) // units
