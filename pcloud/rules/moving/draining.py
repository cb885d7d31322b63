# SPDX-License-Identifier: Apache-2.0

"""The wish of an owner that a host of a Pcloud be emptied.

A drained host is disabled, so that a program which knows nothing of drains
sees a disabled host. The drain is one metadata value beside the state.

Rule: reference-draining
"""

import dataclasses

from pcloud import exception
from pcloud.rules.placing import access
from pcloud.rules.placing import attributes
from pcloud.rules import record

# Which servers are moved: none, those that run, those that are stopped too.
NONE, LIVE, ANY = 'none', 'live', 'any'
MOVES = (NONE, LIVE, ANY)

# The state of a drained host, for the owner. The state kept is 'disabled'.
DRAINING = 'draining'


@dataclasses.dataclass(frozen=True)
class Drain(record.Record):
    """A drain of a host.

    :ivar since: when the drain began, in seconds since the epoch
    :ivar move: `NONE`, `LIVE` or `ANY`
    :ivar release: whether the host leaves the Pcloud once the host is empty
    :ivar deadline: until when servers are moved, in seconds since the epoch;
        None for ever
    :ivar told: whether listeners know that the deadline has passed
    :ivar chosen: the state that the owner had chosen, for a drain that a
        maintenance has begun; None for a drain of the owner's
    :ivar spare: whether the host becomes a spare again once the host is empty
    :ivar idle: whether the Pcloud shrinks by the host: the drain ends when a
        server is on the host
    """

    since: int = dataclasses.field(metadata=record.INSTANT)
    move: str = dataclasses.field(metadata=record.choice(*MOVES))
    release: bool = dataclasses.field(default=False, metadata=record.FLAG)
    deadline: int | None = dataclasses.field(
        default=None, metadata=record.INSTANT)
    told: bool = dataclasses.field(default=False, metadata=record.FLAG)
    chosen: str | None = dataclasses.field(
        default=None, metadata=record.choice(*access.STATES))
    spare: bool = dataclasses.field(default=False, metadata=record.FLAG)
    idle: bool = dataclasses.field(default=False, metadata=record.FLAG)

    def is_overdue(self, now: float) -> bool:
        """Whether the deadline has passed.

        :param now: seconds since the epoch
        """
        return self.deadline is not None and self.deadline <= now


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
    return Drain.known(text) if state == access.DISABLED else None


def is_at_rest(drain: Drain, in_use: bool, now: float) -> bool:
    """Whether nothing is due for a drained host.

    A host in use has servers, or migrations that are not over.

    ===============  ======  ========  ====  ======  =======
    overdue, untold  in use  release   idle  move    at rest
                             or spare
    ===============  ======  ========  ====  ======  =======
    yes              any     any       any   any     no
    no               no      yes       any   any     no
    no               no      no        any   any     yes
    no               yes     any       yes   any     no
    no               yes     any       no    none    yes
    no               yes     any       no    others  no
    ===============  ======  ========  ====  ======  =======

    :param now: seconds since the epoch

    Rule: reference-draining-steps
    """
    if drain.is_overdue(now) and not drain.told:
        return False
    if in_use:
        return drain.move == NONE and not drain.idle
    return not (drain.release or drain.spare)


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


def deadline(text: str, now: float, what: str = 'Drain') -> int:
    """Read the deadline of a new drain, or the date of one.

    :param text: ISO 8601, in UTC when no zone is given; a date without a time
        means the end of the day
    :param now: seconds since the epoch
    :param what: the name of the value, as the user knows the value
    :returns: seconds since the epoch
    :raises: `exception.InvalidValue` unless the deadline is to come
    """
    try:
        moment = int(attributes.reboot(text).timestamp())
    except exception.InvalidValue:
        moment = 0
    if not now < moment <= record.LATEST:
        raise exception.InvalidValue(
            what, text,
            'a moment to come in ISO 8601, such as 2026-12-31T23:59:59Z')
    return moment
