# SPDX-License-Identifier: Apache-2.0

"""The servers that do not leave a host, and why.

Rule: reference-draining-blockers
"""

from collections.abc import Collection
import dataclasses
import datetime

from nova import context as nova_context

from pcloud.backend.cells import occupants
from pcloud.rules import coded
from pcloud.rules.moving import blockers as blocker_rules


@dataclasses.dataclass(frozen=True)
class Blocker:
    """A server that does not leave a host as things are.

    :ivar server: the uuid; None for what keeps the whole drain from going on
    :ivar rule: as `pcloud.rules.moving.blockers` names it
    :ivar reason: a sentence for the owner of the host
    :ivar since: since when, None while unknown
    """

    server: str | None
    rule: str
    reason: coded.Reason
    since: datetime.datetime | None


@dataclasses.dataclass(frozen=True)
class Occupied:
    """What is on a host.

    :ivar servers: the uuids of the servers on the host, and of the servers
        with a migration from or to the host
    :ivar blockers: the servers that do not leave the host, and why
    """

    servers: tuple[str, ...] = ()
    blockers: tuple[Blocker, ...] = ()


def find(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, Occupied]:
    """Return what is on hosts; a host in a silent cell has no entry.

    One query, and two queries a cell, however many servers there are; no query
    without hosts.
    """
    if not hosts:
        return {}
    found, silent = occupants.of_hosts(context, hosts)
    return {host: Occupied(
        tuple(occupant.uuid for occupant in found.get(host, ())),
        tuple(_blockers(found.get(host, ()))))
        for host in hosts if host not in silent}


def _blockers(there: Collection[occupants.Occupant]) -> list[Blocker]:
    verdicts = [(occupant, blocker_rules.why(occupant.state))
                for occupant in there]
    return [Blocker(occupant.uuid, *verdict, occupant.since)
            for occupant, verdict in verdicts if verdict is not None]
