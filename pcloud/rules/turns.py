# SPDX-License-Identifier: Apache-2.0

"""A turn: work that one process at a time does.

A process that dies leaves a turn that lapses.

Rule: reference-changes-turns
"""

import dataclasses

from pcloud.rules import record

# No clock is ahead by so many seconds.
_SLACK = 3600


@dataclasses.dataclass(frozen=True)
class Turn(record.Record):
    """The turn of a process, during which no other process does the work.

    :ivar token: what tells the work from all other work
    :ivar until: when the turn lapses, in seconds since the epoch
    """

    token: str = dataclasses.field(metadata=record.word(
        '<8 hexadecimal digits>', '[0-9a-f]{8}'))
    until: int = dataclasses.field(metadata=record.INSTANT)


def has_lapsed(until: int, lasts: float, now: float) -> bool:
    """Whether a process is taken for dead that works until a moment.

    A moment that is too far away was written by hand, or by a clock that is
    wrong.

    :param until: in seconds since the epoch, as `now`
    :param lasts: for how many seconds a process may say that it works
    """
    return not now <= until <= now + lasts + _SLACK
