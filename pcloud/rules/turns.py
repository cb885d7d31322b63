# SPDX-License-Identifier: Apache-2.0

"""A turn: work that one process at a time does.

A process that dies leaves a turn that lapses.

Rule: reference-changes-turns
"""

import dataclasses
import re

from pcloud import exception

# No clock is ahead by so many seconds.
_SLACK = 3600
_FORM = re.compile('(?P<token>[0-9a-f]{8}) (?P<until>[0-9]{1,18})')


@dataclasses.dataclass(frozen=True)
class Turn:
    """The turn of a process, during which no other process does the work.

    :ivar token: what tells the work from all other work
    :ivar until: when the turn lapses, in seconds since the epoch
    """

    token: str
    until: int

    def __str__(self) -> str:
        """Return the turn as stored."""
        return f'{self.token} {self.until}'


def has_lapsed(until: int, lasts: float, now: float) -> bool:
    """Whether a process is taken for dead that works until a moment.

    A moment that is too far away was written by hand, or by a clock that is
    wrong.

    :param until: in seconds since the epoch, as `now`
    :param lasts: for how many seconds a process may say that it works
    """
    return not now <= until <= now + lasts + _SLACK


def parse(text: str) -> Turn:
    """Return a turn as stored.

    :raises: `exception.InvalidValue`
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise exception.InvalidValue(
            'Turn', text, '8 hexadecimal digits and a time')
    return Turn(match['token'], int(match['until']))
