# SPDX-License-Identifier: Apache-2.0

"""Whether a host is empty, and so can change hands.

Rule: reference-states-empty
"""

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context

from pcloud.backend.calls import placement
from pcloud.backend.cells import computes
from pcloud.backend.cells import consumers
from pcloud import exception
from pcloud.objects import blockers
from pcloud import text as text_rules

SERVER, MIGRATION, ALLOCATION = 'server', 'migration', 'allocation'
# Of one, and of several.
_TEXTS = {
    SERVER: ('server is on it', 'servers are on it'),
    MIGRATION: ('migration from or to it is not over',
                'migrations from or to it are not over'),
    ALLOCATION: ('consumer has allocations on it in Placement',
                 'consumers have allocations on it in Placement'),
}


@dataclasses.dataclass(frozen=True)
class Occupant:
    """Something on a host, because of which the host is not empty.

    :ivar kind: `SERVER`, `MIGRATION` or `ALLOCATION`
    :ivar uuid: of the server, of the migration, or of the consumer, which is a
        server or a migration
    """

    kind: str
    uuid: str


def occupants(
    context: nova_context.RequestContext, compute: computes.Compute,
) -> list[Occupant]:
    """Return why a host is not empty; an empty host has no occupants.

    Servers in any state count, and migrations, resizes and evacuations that
    can still end on the host, and allocations in Placement, which alone show
    the latest choices of the scheduler. An allocation whose consumer belongs
    to nothing on the host does not count.

    :raises: `exception.Unavailable` when a cell or Placement does not answer
    """
    servers, moves = computes.servers_and_migrations(context, compute.host)
    there = set(placement.consumers(context, compute.node.uuid))
    orphans = consumers.orphans(context, {
        compute.host: there.difference(servers, moves)})
    allocated = there.difference(orphans.get(compute.host, ()))
    return [Occupant(kind, uuid) for kind, uuids in (
        (SERVER, servers), (MIGRATION, moves), (ALLOCATION, allocated))
        for uuid in sorted(uuids)]


def text(found: Iterable[Occupant]) -> str:
    """Return how many occupants of each kind there are, as a phrase."""
    kinds = [occupant.kind for occupant in found]
    return ', '.join(text_rules.counted(kinds.count(kind), *texts)
                     for kind, texts in _TEXTS.items() if kind in kinds)


def check(
    context: nova_context.RequestContext, compute: computes.Compute,
    shown_as: str,
) -> None:
    """Refuse a host that is not empty.

    :param shown_as: the name under which the caller knows the host
    :raises: `exception.HostNotEmpty`, `exception.Unavailable`
    """
    found = occupants(context, compute)
    if found:
        there = blockers.find(context, [compute.host]).get(
            compute.host, blockers.Occupied())
        raise exception.HostNotEmpty(
            host=shown_as, reasons=text(found), typed_reasons=_typed(found),
            blockers=there.blockers)


def _typed(found: Sequence[Occupant]) -> list[dict[str, str]]:
    return [{'type': occupant.kind, 'uuid': occupant.uuid}
            for occupant in found]
