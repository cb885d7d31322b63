# SPDX-License-Identifier: Apache-2.0

"""What a Pcloud does when one of its hosts is going to be in maintenance.

The owner chooses a policy for the Pcloud. A reaction is what the Pcloud has
done for one maintenance of one host; it is kept as one metadata value.

A host that joins for a maintenance of another host stands in for the other
host until that maintenance is over. It keeps for good that it has joined so. A
host that joins for the recovery of another host that has failed stands in
until the other host has left, and stays. A spare of the owner's stands in too,
and is a spare again after a maintenance.

Rule: reference-maintenance-policy
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from pcloud.rules import record

# Servers stay; they are moved within the Pcloud; a free host joins before.
STAY, MIGRATE, REPLACE = 'stay', 'migrate', 'replace'
POLICIES = (STAY, MIGRATE, REPLACE)

# What is due for a host.
NOTHING, BEGIN, END = 'nothing', 'begin', 'end'

# What the value of a host begins with that stands in for another host now,
# before the name of the other host: a query looks for such values. Those of
# spares, which count, begin with another word.
STANDS_IN, STANDS_IN_AND_STAYS = 'host=', 'stays=1 host='


@dataclasses.dataclass(frozen=True)
class Reaction(record.Record):
    """What a Pcloud has done for a maintenance of one of its hosts.

    :ivar begin: when the maintenance begins, in seconds since the epoch; None
        when the maintenance is over, and the host has still to be what the
        owner had chosen
    :ivar failed: whether there was no host that could join
    :ivar replacement: the service host that has joined the Pcloud, None for
        no host
    """

    begin: int | None = dataclasses.field(
        default=None, metadata=record.INSTANT)
    failed: bool = dataclasses.field(default=False, metadata=record.FLAG)
    replacement: str | None = dataclasses.field(
        default=None, metadata=record.TEXT)


@dataclasses.dataclass(frozen=True)
class StandIn(record.Record):
    """That a host stands in for another host of the Pcloud.

    :ivar over: whether the maintenance of the other host is over, for good
    :ivar spare: whether the host is a spare of the owner's, which counts and
        stays; else the host has joined for the other host
    :ivar stays: whether the host stays when the other host leaves, because
        the other host has failed
    :ivar host: the service host of the other host
    """

    over: bool = dataclasses.field(default=False, metadata=record.FLAG)
    spare: bool = dataclasses.field(default=False, metadata=record.FLAG)
    stays: bool = dataclasses.field(default=False, metadata=record.FLAG)
    host: str = dataclasses.field(kw_only=True, metadata=record.TEXT)


def policy(text: str | None) -> str:
    """Return the policy that counts.

    A value that is not right counts as `STAY`: nothing is moved without the
    owner's wish.

    :param text: the metadata value, None without a value
    """
    return text if text in POLICIES else STAY


def stand_ins(kept: Mapping[str, str]) -> dict[str, StandIn | None]:
    """Return the hosts that have joined for another host.

    :param kept: ``service host -> metadata value``
    :returns: ``service host -> for whom``; None for a value that is not right
    """
    return {host: StandIn.known(text) for host, text in kept.items()}


def leaving(
    stand_ins: Mapping[str, StandIn | None], members: Collection[str],
) -> frozenset[str]:
    """Return the hosts of a Pcloud that have stood in for another host.

    The time of such a host is over: it counts, takes no new servers, and
    leaves the Pcloud when it is empty.

    =============  ==============  =======
    is kept        in the Pcloud   leaving
    =============  ==============  =======
    nothing        any             no
    ``b``          ``b``           no
    ``b``          no ``b``        yes
    ``b``, stays   any             no
    ``b``, over    any             yes
    not right      any             yes
    =============  ==============  =======

    :param stand_ins: ``service host -> for whom``, None for a value that is
        not right
    :param members: the service hosts of the Pcloud

    Rule: reference-maintenance-stand-ins
    """
    return frozenset(
        host for host, other in stand_ins.items() if host in members and (
            other is None or other.over or
            other.host not in members and not other.stays))


def standing_in(
    stand_ins: Mapping[str, StandIn | None], members: Collection[str],
) -> dict[str, StandIn]:
    """Return the hosts that stand in for other hosts of a Pcloud now.

    The units of such a host do not count.

    :param stand_ins: as `leaving`
    :param members: as `leaving`
    :returns: ``service host -> for whom``
    """
    return {host: other for host, other in stand_ins.items()
            if host in members and other is not None and not other.over and
            other.host in members}


def due(
    policy: str, begin: int | None, reaction: Reaction | None, lead: int,
    now: float,
) -> str:
    """Return what is due for a host.

    A maintenance counts from `lead` seconds before it begins, and not at all
    with the policy `STAY`.

    ===========  ==============================  =========
    maintenance  reaction                        due
    ===========  ==============================  =========
    counts       none, or for another beginning  `BEGIN`
    counts       for its beginning               `NOTHING`
    none counts  none                            `NOTHING`
    none counts  any                             `END`
    ===========  ==============================  =========

    :param begin: when a maintenance begins, in seconds since the epoch; None
        without a maintenance
    :param lead: seconds
    :param now: seconds since the epoch
    """
    if policy == STAY or begin is None or begin - lead > now:
        return NOTHING if reaction is None else END
    if reaction is None or reaction.begin != begin:
        return BEGIN
    return NOTHING


def deadline(begin: int, lead: int, now: float) -> int:
    """Return until when servers are moved, in seconds since the epoch.

    That is until the maintenance begins; for `lead` seconds when it has begun
    already.

    :param begin: when a maintenance begins, in seconds since the epoch
    :param lead: seconds
    :param now: seconds since the epoch
    """
    return int(now) + lead if begin <= now else begin
