# SPDX-License-Identifier: Apache-2.0

"""The wish of an owner that a host of a Pcloud be emptied.

A drained host is disabled, so that a program which knows nothing of drains
sees a disabled host. The drain is one metadata value beside the state.

Rule: reference-draining
"""

import dataclasses
import re

from pcloud import exception
from pcloud.rules import access
from pcloud.rules import attributes

# Which servers are moved: none, those that run, those that are stopped too.
NONE, LIVE, ANY = 'none', 'live', 'any'
MOVES = (NONE, LIVE, ANY)

# The state of a drained host, for the owner. The state kept is 'disabled'.
DRAINING = 'draining'

_SECONDS = r'[0-9a-f]{1,8}'
_FORM = re.compile(
    rf't=({_SECONDS}) v=({"|".join(MOVES)})(?: u=({_SECONDS}))?( r=1)?( o=1)?'
    rf'(?: m=({access.ENABLED}|{access.DISABLED}))?')
# What eight digits of seconds hold.
_LATEST = 0xffffffff


@dataclasses.dataclass(frozen=True)
class Drain:
    """A drain of a host.

    :ivar since: when the drain began, in seconds since the epoch
    :ivar move: `NONE`, `LIVE` or `ANY`
    :ivar release: whether the host leaves the Pcloud once the host is empty
    :ivar deadline: until when servers are moved, in seconds since the epoch;
        None for ever
    :ivar told: whether listeners know that the deadline has passed
    :ivar chosen: the state that the owner had chosen, for a drain that a
        maintenance has begun; None for a drain of the owner's
    """

    since: int
    move: str = NONE
    release: bool = False
    deadline: int | None = None
    told: bool = False
    chosen: str | None = None

    def __str__(self) -> str:
        """Return the metadata value, which `parse` reads."""
        return f't={self.since:x} v={self.move}' + (
            '' if self.deadline is None else f' u={self.deadline:x}') + (
            ' r=1' if self.release else '') + (' o=1' if self.told else '') + (
            '' if self.chosen is None else f' m={self.chosen}')

    def is_overdue(self, now: float) -> bool:
        """Whether the deadline has passed.

        :param now: seconds since the epoch
        """
        return self.deadline is not None and self.deadline <= now


def parse(text: str | None) -> Drain | None:
    """Read a metadata value; return None for a value that is not right."""
    found = _FORM.fullmatch(text or '')
    if found is None:
        return None
    since, move, deadline, release, told, chosen = found.groups()
    return Drain(int(since, 16), move, bool(release),
                 None if deadline is None else int(deadline, 16), bool(told),
                 chosen)


def of(state: str | None, text: str | None) -> Drain | None:
    """Return the drain of a host, None for a host that is not drained.

    ========  ===============  =======
    state     value            drained
    ========  ===============  =======
    disabled  right            yes
    disabled  none, not right  no
    other     any              no
    ========  ===============  =======

    Who writes the state by hand leaves the value behind.

    :param state: the state of the host, as kept
    :param text: the metadata value of the drain, None without a value

    Rule: reference-draining-state
    """
    return parse(text) if state == access.DISABLED else None


def lets_go(drain: Drain | None) -> bool:
    """Whether a drain has a host emptied, and leave, whatever comes.

    ========  =======  ========  =====
    move      release  deadline  lets
    ========  =======  ========  =====
    none      any      any       no
    live, any no       any       no
    live, any yes      some      no
    live, any yes      none      yes
    ========  =======  ========  =====

    :param drain: None for no drain

    Rule: reference-maintenance-stand-ins
    """
    return (drain is not None and drain.release and drain.move != NONE and
            drain.deadline is None)


def check(node: str, value: str) -> None:
    """Refuse a metadata value that is no drain.

    :param node: the hypervisor hostname of the host
    :raises: `exception.InvalidValue`
    """
    if parse(value) is None:
        raise exception.InvalidValue(
            'Drain', value, 'as a change has written it')


def deadline(text: str, now: float) -> int:
    """Read the deadline of a new drain.

    :param text: ISO 8601, in UTC when no zone is given; a date without a time
        means the end of the day
    :param now: seconds since the epoch
    :returns: seconds since the epoch
    :raises: `exception.InvalidValue` unless the deadline is to come
    """
    try:
        moment = int(attributes.reboot(text).timestamp())
    except exception.InvalidValue:
        moment = 0
    if not now < moment <= _LATEST:
        raise exception.InvalidValue(
            'Drain', text,
            'a moment to come in ISO 8601, such as 2026-12-31T23:59:59Z')
    return moment
