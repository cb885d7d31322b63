# SPDX-License-Identifier: Apache-2.0

"""Which shelved servers a change would leave without a home.

A shelved server that is on no host comes back into the Pcloud of the server's
hint, or nowhere. When the Pcloud is deleted, or the server's project is no
tenant any more, the server can never be unshelved.

Rule: reference-pclouds-home
"""

from collections.abc import Sequence

from nova import context as nova_context

from pcloud.backend.cells import shelved_servers
from pcloud import exception
from pcloud.objects import pclouds
from pcloud import text

# How many servers an error names.
_MOST = 20


def check_deletion(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
) -> None:
    """Refuse to delete a Pcloud that is the only home of shelved servers.

    A Pcloud with hosts is refused first: as long as the Pcloud has hosts, a
    server of the Pcloud may be shelved after the look.

    :raises: `exception.PcloudInUse`, `exception.Conflict` for such a Pcloud,
        `exception.Unavailable` when a cell is silent
    """
    if pclouds.show(context, pcloud.id).aggregate.hosts:
        raise exception.PcloudInUse(pcloud=pcloud.id)
    _check(pcloud, shelved_servers.of_pcloud(context, pcloud.id))


def check_removal(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    project_id: str,
) -> None:
    """Refuse to remove a tenant with shelved servers that need the Pcloud.

    A project that is no tenant needs nothing.

    :raises: `exception.Conflict` for such a tenant, `exception.Unavailable`
        when a cell with servers of the project is silent
    """
    if project_id in pcloud.tenants:
        _check(pcloud, shelved_servers.of_project(
            context, pcloud.id, project_id))


def named(servers: Sequence[str]) -> str:
    """Return the ids of servers in words, of many servers the first."""
    more = len(servers) - _MOST
    return ', '.join(servers[:_MOST]) + (
        f' and {more} more' if more > 0 else '')


def _check(pcloud: pclouds.Head, servers: Sequence[str]) -> None:
    if servers:
        count = text.counted(
            len(servers), 'shelved server has', 'shelved servers have')
        raise exception.Conflict(
            f"{count} Pcloud '{pcloud.id}' as the only home, and could not be "
            f'unshelved any more: {named(servers)}. Unshelve or delete them '
            'first, or repeat the request with force=1, as --force does.',
            typed_reasons=[{'type': 'server', 'uuid': server}
                           for server in servers[:_MOST]])
