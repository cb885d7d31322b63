# SPDX-License-Identifier: Apache-2.0

"""Servers that come and go."""

import dataclasses
import datetime

FOREVER = float('inf')
DAY = 86400.0


@dataclasses.dataclass(frozen=True, order=True)
class Size:
    """What a server takes from its host."""

    memory_mb: int
    vcpus: int
    disk_gb: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class TraceServer:
    """A server of a trace.

    :ivar start: seconds since the trace began; 0 for a server that was there
        before
    :ivar end: seconds since the trace began, or `FOREVER`
    :ivar host: the name of the host that the server has at the beginning of
        the trace, where the name is known
    """

    start: float
    end: float
    size: Size
    host: str | None = None


@dataclasses.dataclass(frozen=True)
class Trace:
    """The servers of a cloud for some time.

    :ivar servers: in the order of their start
    :ivar seconds: how long the trace is
    :ivar begin: the moment at which the trace began; None where the trace
        counts seconds from an unknown moment
    :ivar notes: sentences about what was left out
    """

    servers: tuple[TraceServer, ...]
    seconds: float
    begin: datetime.datetime | None
    notes: tuple[str, ...] = ()
