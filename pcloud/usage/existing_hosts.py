# SPDX-License-Identifier: Apache-2.0

"""Tell billing once an hour which hosts are held.

Rule: reference-usage-exists
"""

from nova import context as nova_context

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import span_rows
from pcloud import names
from pcloud.objects import looks
from pcloud.objects import notifications

_HOUR = 3600


def tell(context: nova_context.RequestContext, begun: int) -> None:
    """Tell of each held host, if no worker has looked in the present hour.

    The first look of an hour tells, before the look is noted: after a worker
    has died meanwhile, another worker tells again. A query where notifications
    are wanted, else none; five more in the first look of an hour.

    :param begun: when the look has begun, in seconds since the epoch
    """
    if not notifications.wanted():
        return
    hour, seen = begun // _HOUR, looks.seen(context)
    if seen is not None and seen // _HOUR >= hour:
        return
    named = _names(context)
    there = span_rows.read(context, ())
    for host, span in sorted(there.spans.items()):
        # A host that has just joined has no name in what was read before.
        if (span.pcloud, host) in named:
            rates = list(there.rates[span.flavor])
            notifications.existing(context, notifications.ExistingHost(
                span.pcloud, span.project, named[span.pcloud, host],
                span.flavor, 0 if span.free else rates[-1][1].units,
                None if span.free else rates[-1][1].price, span.since,
                hour * _HOUR))
    looks.note_always(context, begun)


def _names(
    context: nova_context.RequestContext,
) -> dict[tuple[str, str], str]:
    """Return the owners' names: ``(Pcloud id, service host) -> name``."""
    found = {}
    for pcloud in pcloud_rows.whole(isolation.closed_aggregates(context)):
        by_node = {node: name for name, node
                   in names.hosts(pcloud.metadata).items()}
        for host, node in names.nodes(pcloud.metadata).items():
            if host in pcloud.hosts and node in by_node:
                found[pcloud.metadata[names.ID], host] = by_node[node]
    return found
