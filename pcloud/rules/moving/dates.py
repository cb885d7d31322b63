# SPDX-License-Identifier: Apache-2.0

"""The date at which a host of a Pcloud is to leave.

Rule: reference-waiting-dates
"""

import dataclasses

from pcloud.rules.moving import draining
from pcloud.rules import record

# What is due for a host with a date.
NOTHING, TELL, DRAIN = 'nothing', 'tell', 'drain'

_DAY = 86400


@dataclasses.dataclass(frozen=True)
class Until(record.Record):
    """When a host is to leave, as kept.

    :ivar at: seconds since the epoch
    :ivar move: one of `draining.MOVES`: which servers are moved then
    :ivar told: whether listeners know that the date is near
    """

    at: int = dataclasses.field(metadata=record.INSTANT)
    move: str = dataclasses.field(metadata=record.choice(*draining.MOVES))
    told: bool = dataclasses.field(default=False, metadata=record.FLAG)


def until(text: str, move: str, now: float) -> Until:
    """Read when a host is to leave.

    :param text: as for `draining.deadline`
    :param move: one of `draining.MOVES`
    :param now: seconds since the epoch
    :raises: `exception.InvalidValue` unless the date is to come
    """
    return Until(draining.deadline(text, now, 'until'), move)


def due(kept: Until, now: float) -> str:
    """Return what is due for a host.

    ==================  ======  =======
    the date            told    due
    ==================  ======  =======
    has come            any     drain
    is within a day     no      tell
    is within a day     yes     nothing
    is later            any     nothing
    ==================  ======  =======

    :param now: seconds since the epoch
    """
    if kept.at <= now:
        return DRAIN
    return TELL if kept.at <= now + _DAY and not kept.told else NOTHING
