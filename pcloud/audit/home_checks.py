# SPDX-License-Identifier: Apache-2.0

"""Find shelved servers that can never be unshelved.

Rule: reference-pclouds-home
"""

from collections.abc import Iterator
from collections.abc import Sequence

from nova import context as nova_context

from pcloud.audit import findings
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import shelved_servers
from pcloud import exception
from pcloud import names
from pcloud.objects import homes
from pcloud import text


def check(
    context: nova_context.RequestContext, aggregates: Sequence[rows.Aggregate],
) -> Iterator[findings.Finding]:
    """Find servers off their hosts that may come back into no Pcloud.

    Queries as `shelved_servers.of_all`.

    :param aggregates: all Pclouds, read before
    :raises: `exception.Unavailable` at the end when a cell is silent
    """
    tenants = {pcloud.metadata[names.ID]: names.tenants(pcloud.metadata)
               for pcloud in pcloud_rows.whole(aggregates)}
    found = shelved_servers.of_all(context)
    for home, servers in sorted(found.servers.items()):
        lost = sorted(server for server, project in servers
                      if project not in tenants.get(home, ()))
        if lost:
            yield findings.Finding(
                'server-without-home', names.pcloud(home), '',
                text.counted(len(lost), 'shelved server has',
                             'shelved servers have') +
                ' this Pcloud as the only home, ' + (
                    'of which the project is no tenant any more'
                    if home in tenants else 'which does not exist') +
                ', and cannot be unshelved: ' + homes.named(lost))
    if not found.is_whole:
        raise exception.Unavailable()
