# SPDX-License-Identifier: Apache-2.0

"""Hosts that an owner keeps for the time when other hosts are away.

A spare is disabled, so that isolation, and any program that knows nothing of
spares, sees a disabled host. That the host is a spare is one metadata value
beside the state.

Rule: reference-spares
"""

from collections.abc import Iterable
import dataclasses

from pcloud.rules.placing import access
from pcloud.rules import record

# The state of a spare, for the owner. The state kept is 'disabled'.
SPARE = 'spare'


@dataclasses.dataclass(frozen=True)
class Spare(record.Record):
    """That a host is a spare.

    :ivar since: when the host has become a spare, in seconds since the epoch
    """

    since: int = dataclasses.field(metadata=record.INSTANT)


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A spare that may stand in for another host.

    :ivar name: the owner's name for the host
    :ivar host_flavor: the id of the host flavor; None for a host in no pool
    :ivar is_returning: whether the host has still to become empty after the
        host has stood in
    :ivar is_used: whether servers are on the host
    """

    name: str
    host_flavor: str | None
    zone: str | None
    is_returning: bool
    is_used: bool


def is_spare(state: str | None, text: str | None) -> bool:
    """Whether a host is a spare.

    ========  ===============  =====
    state     value            spare
    ========  ===============  =====
    disabled  right            yes
    disabled  none, not right  no
    other     any              no
    ========  ===============  =====

    :param state: the state of the host, as kept
    :param text: the metadata value of the spare, None without a value

    Rule: reference-spares-state
    """
    return state == access.DISABLED and Spare.known(text) is not None


def choose(
    candidates: Iterable[Candidate], host_flavor: str | None,
    zone: str | None,
) -> Candidate | None:
    """Return the spare that stands in for a host, None where none can.

    A spare has the host flavor and the zone of the host. Spares at rest come
    before returning spares, empty spares before others, and then the first
    name counts.

    :param candidates: spares that could be enabled now
    :param host_flavor: of the host that is away
    :param zone: of the host that is away

    Rule: reference-spares-choice
    """
    return min(
        (each for each in candidates if host_flavor is not None and
         (each.host_flavor, each.zone) == (host_flavor, zone)),
        key=lambda each: (each.is_returning, each.is_used, each.name),
        default=None)
