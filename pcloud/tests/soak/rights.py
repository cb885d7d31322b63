# SPDX-License-Identifier: Apache-2.0

"""Servers without a right to their hosts, from the rows of a moment."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping

from pcloud.tests.soak import rows


def holders(
    pools: Iterable[rows.Aggregate], pclouds: Iterable[rows.Aggregate],
) -> dict[str, rows.Aggregate | None]:
    """Return host -> Pcloud of the host, None for a pooled free host."""
    return {host: None for pool in pools for host in pool.hosts} | {
        host: pcloud for pcloud in pclouds for host in pcloud.hosts}


def _may_use(project: str, pcloud: Mapping[str, str]) -> bool:
    """Return whether a project is the owner, or a tenant, of a Pcloud.

    :param pcloud: the metadata of the Pcloud
    """
    return (project == pcloud['pcloud:owner'] or
            pcloud.get(f'pcloud:{project}') == 'pcloud-tenant')


def violations(
    servers: Iterable[rows.Server],
    held: Mapping[str, rows.Aggregate | None], due_hosts: set[str],
) -> Iterator[tuple[str, str]]:
    """Yield active servers that have no right to their hosts.

    :param held: the return value of `holders`
    :returns: (uuid of the server, description of server and host)
    """
    for each in servers:
        holder = held.get(each.host)
        if holder is not None:
            is_right = (each.hint == holder.metadata['pcloud:id'] and
                        _may_use(each.project, holder.metadata))
        elif each.host in held:
            # No further project can have a host while the host settles.
            is_right = each.host in due_hosts
        else:
            is_right = each.hint is None
        if not is_right:
            yield each.uuid, (
                f'{each} in {holder.name if holder else "no Pcloud"}, pooled '
                f'{each.host in held}, due {each.host in due_hosts}')
