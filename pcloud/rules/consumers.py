# SPDX-License-Identifier: Apache-2.0

"""Whether a consumer of Placement belongs to a host.

Placement keeps what Nova has forgotten to give back: Nova's compute service
may lose a race with itself, and leave the allocation of a migration that is
over, of a deleted server, or of an evacuation that has failed.

Rule: reference-states-empty
"""

from collections.abc import Sequence
import dataclasses

# What an orphan is.
DELETED = 'a server that is deleted'
OVER = 'a migration that is over'
ELSEWHERE = 'a server that is not on the host, nor on its way to it'
UNKNOWN = 'nothing that Nova knows'


@dataclasses.dataclass(frozen=True)
class Server:
    """A server, as a cell knows the server.

    :ivar host: the service host, None for a server on no host
    :ivar is_deleted: whether the row is kept although the server is gone
    :ivar is_busy: whether Nova is at work on the server, or the server may be
        on its way to a host
    :ivar is_in_doubt: whether the guest may be on the host, or may arrive,
        although the server is on another host
    :ivar changed: when the row was last written, in seconds since the epoch
    """

    host: str | None
    is_deleted: bool = False
    is_busy: bool = False
    is_in_doubt: bool = False
    changed: float = 0


@dataclasses.dataclass(frozen=True)
class Migration:
    """A migration, as a cell knows the migration.

    :ivar is_over: also where Nova has deleted the migration with the server
    :ivar changed: when the row was last written, in seconds since the epoch
    """

    is_over: bool
    changed: float = 0


@dataclasses.dataclass(frozen=True)
class Known:
    """What Nova knows by the uuid of a consumer.

    :ivar is_requested: whether a server with the uuid waits for its host
    :ivar servers: a server that moves to another cell has a row in both
    """

    is_requested: bool = False
    servers: Sequence[Server] = ()
    migrations: Sequence[Migration] = ()


def orphan(known: Known, host: str, oldest: float) -> str | None:
    """Return what a consumer is that does not belong to a host, or None.

    The first row that fits decides.

    ===================================================  =============
    what Nova knows by the uuid                          the consumer
    ===================================================  =============
    a request for a server that has no host yet          belongs
    a migration that is not over                         belongs
    a server on the host                                 belongs
    a server whose guest may be on the host, or arrive   belongs
    a busy server that was changed since `oldest`        belongs
    another server                                       `ELSEWHERE`
    a migration that is over                             `OVER`
    a deleted server                                     `DELETED`
    nothing                                              `UNKNOWN`
    ===================================================  =============

    :param oldest: a request from before counts as dead, in seconds since the
        epoch
    """
    there = [server for server in known.servers if not server.is_deleted]
    if known.is_requested or any(
            not each.is_over for each in known.migrations) or any(
            server.host == host or server.is_in_doubt or
            server.is_busy and server.changed >= oldest for server in there):
        return None
    if there:
        return ELSEWHERE
    if known.migrations:
        return OVER
    return DELETED if known.servers else UNKNOWN


def ended(known: Known) -> float:
    """Return when a server was deleted, or a migration was over.

    :returns: seconds since the epoch; 0 where no row tells
    """
    return max([0, *(migration.changed for migration in known.migrations), *(
        server.changed for server in known.servers if server.is_deleted)])
