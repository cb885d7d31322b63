# SPDX-License-Identifier: Apache-2.0

"""What a Pcloud does when one of its hosts has failed.

A host that answers no more may still run its servers. So nothing is done
before an administrator has *fenced* the host: has promised that no server runs
there any more. Then the servers are started anew on other hosts of the Pcloud.

Rule: reference-recovery
"""

from collections.abc import Iterable
import dataclasses

from pcloud.rules import coded
from pcloud.rules import forms
from pcloud.rules.moving import blockers
from pcloud.rules.moving import moves
from pcloud.rules.placing import access
from pcloud.rules import record

# Nothing is done; servers are started on the other hosts of the Pcloud; a free
# host joins before.
OFF, IN_PLACE, REPLACE = 'off', 'in_place', 'replace'
POLICIES = (OFF, IN_PLACE, REPLACE)

# The states of a recovery: servers are started elsewhere; none is left; so
# many hosts have failed that a person has to look first.
MOVING, DONE, HELD = 'moving', 'done', 'held'

# What is due for a host.
NOTHING, BEGIN, MOVE, RETURN = 'nothing', 'begin', 'move', 'return'

# Of how many seconds the recoveries that have begun count.
PERIOD = 3600

# What keeps a server whose data are on the host that has failed.
LOCAL_DISK = 'local_disk'

_LOCAL_DISK = LOCAL_DISK, coded.Reason('local_disk')


@dataclasses.dataclass(frozen=True)
class Recovery(record.Record):
    """What is kept of the recovery of a host of a Pcloud.

    :ivar state: `MOVING`, `DONE` or `HELD`
    :ivar since: since when, in seconds since the epoch: since the recovery
        began, or was held
    :ivar chosen: the state that the host had before; None while the recovery
        is held, and for a host without a state
    :ivar released: whether an administrator lets go on a recovery that is held
    """

    state: str = dataclasses.field(
        metadata=record.choice(MOVING, DONE, HELD))
    since: int = dataclasses.field(metadata=record.INSTANT)
    chosen: str | None = dataclasses.field(
        default=None, metadata=record.choice(*access.STATES))
    released: bool = dataclasses.field(default=False, metadata=record.FLAG)

    def __post_init__(self) -> None:
        """Refuse what has begun and is released."""
        if self.released and self.has_begun:
            raise ValueError(self.state)

    @property
    def has_begun(self) -> bool:
        """Whether servers are or were started elsewhere."""
        return self.state != HELD


@dataclasses.dataclass(frozen=True)
class Begun(record.Record):
    """That the recovery of a host has begun.

    :ivar at: in seconds since the epoch
    :ivar cell: the uuid of the host's cell
    """

    at: int = dataclasses.field(metadata=record.INSTANT)
    cell: str = dataclasses.field(metadata=record.word('<uuid>', forms.UUID))


@dataclasses.dataclass(frozen=True)
class Service:
    """What Nova knows of the compute service of a host.

    :ivar is_up: whether the service reports, and is not forced down
    :ivar is_fenced: whether the service is forced down
    :ivar heard: when the service has last reported or was last changed, in
        seconds since the epoch
    :ivar cell: the uuid of the host's cell
    """

    is_up: bool
    is_fenced: bool
    heard: float
    cell: str


def has_begun(text: str | None) -> bool:
    """Whether the recovery of a host has begun.

    :param text: the metadata value, None without a value
    """
    there = Recovery.known(text)
    return there is not None and there.has_begun


def policy(text: str | None) -> str:
    """Return the policy that counts.

    A value that is not right counts as `OFF`: no server is started elsewhere
    without the owner's wish.

    :param text: the metadata value, None without a value
    """
    return text if text in POLICIES else OFF


def has_failed(service: Service | None, after: int, now: float) -> bool:
    """Whether a host is down, and fenced, for long enough.

    =======  =======  ==================  ======
    service  fenced   nothing heard for   failed
    =======  =======  ==================  ======
    unknown  any      any                 no
    up       any      any                 no
    down     no       any                 no
    down     yes      less than `after`   no
    down     yes      `after`             yes
    =======  =======  ==================  ======

    A service that is forced down and still reports has not failed: whatever
    runs there may run on.

    :param service: None while the host's cell is silent
    :param after: seconds
    :param now: seconds since the epoch

    Rule: reference-recovery-trigger
    """
    return (service is not None and not service.is_up and
            service.is_fenced and service.heard + after <= now)


def due(
    policy: str, service: Service | None, recovery: Recovery | None,
    after: int, now: float,
) -> str:
    """Return what is due for a host.

    ================  ========  ==============  =========
    host              policy    recovery        due
    ================  ========  ==============  =========
    up                any       none            `NOTHING`
    up                any       any             `RETURN`
    has failed        `OFF`     any             `NOTHING`
    has failed        others    none            `BEGIN`
    has failed        others    held            `NOTHING`
    has failed        others    held, released  `BEGIN`
    has failed        others    moving, done    `MOVE`
    not fenced        any       held            `RETURN`
    any other         any       any             `NOTHING`
    ================  ========  ==============  =========

    :param service: None while the host's cell is silent
    :param recovery: None without a recovery
    :param after: seconds
    :param now: seconds since the epoch

    Rule: reference-recovery-trigger
    """
    if service is not None and service.is_up:
        return NOTHING if recovery is None else RETURN
    if (service is not None and not service.is_fenced and
            recovery is not None and not recovery.has_begun):
        return RETURN
    if policy == OFF or not has_failed(service, after, now):
        return NOTHING
    if recovery is None or recovery.released:
        return BEGIN
    return MOVE if recovery.has_begun else NOTHING


def is_at_rest(recovery: Recovery, policy: str) -> bool:
    """Whether nothing is due for a host that has failed.

    ============  ===========  =======
    state         policy       at rest
    ============  ===========  =======
    `DONE`        `REPLACE`    no
    `DONE`        others       yes
    others        any          no
    ============  ===========  =======

    With `REPLACE` a free host is looked for as long as none has joined.
    """
    return recovery.state == DONE and policy != REPLACE


def is_too_many(
    begun: Iterable[Begun], cell: str, most: int, now: float,
) -> bool:
    """Whether no further recovery may begin in a cell by itself.

    :param begun: what is kept of other hosts
    :param most: how many may begin within `PERIOD`
    :param now: seconds since the epoch

    Rule: reference-recovery-held
    """
    return sum(each.cell == cell and each.at > now - PERIOD
               for each in begun) >= most


@dataclasses.dataclass(frozen=True)
class Guest:
    """What decides whether a server can be started on another host.

    :ivar comes_first: whether the server has the property ``HA_Enabled``
    :ivar on_local_disk: whether a disk of the server is on the host's own
        disks: the root disk, an ephemeral disk or swap
    :ivar refused: what Nova evacuates no server with, such as 'vTPM'; None
        for nothing
    """

    comes_first: bool = False
    on_local_disk: bool = True
    refused: str | None = None


def obstacle(
    server: blockers.ServerState, guest: Guest, has_shared_disks: bool,
    may_retry: bool,
) -> blockers.Why | None:
    """Return the rule and the reason that keep a server on a failed host.

    The first row that fits counts:

    ==================  =====  =======  ==========  ======  ==============
    state               retry  refused  local disk  shared  rule
    ==================  =====  =======  ==========  ======  ==============
    error               no     any      any         any     error
    a blocker but       any    any      any         any     as `blockers`
    locked, error
    paused              any    any      any         any     not_migratable
    any other           any    yes      any         any     not_migratable
    any other           any    no       yes         no      local_disk
    any other           any    no       yes         yes     none
    any other           any    no       no          any     none
    ==================  =====  =======  ==========  ======  ==============

    A server that is locked is started elsewhere, and stays locked. A server
    that is in error because an earlier attempt has failed may be tried again.

    :param has_shared_disks: whether all hosts share their disks
    :param may_retry: whether an earlier attempt has failed

    Rule: reference-recovery-servers
    """
    state = dataclasses.replace(
        server, locked=False, vm_state=_RETRIED if may_retry and
        server.vm_state == _ERROR else server.vm_state)
    why = blockers.why(state)
    if why is not None:
        return why
    if state.vm_state not in _EVACUATED:
        return blockers.NOT_MIGRATABLE, coded.Reason(
            'state_not_migratable', state=state.vm_state)
    if guest.refused is not None:
        return blockers.NOT_MIGRATABLE, coded.Reason(
            'nova_evacuates_none', what=guest.refused)
    return _LOCAL_DISK if guest.on_local_disk and not has_shared_disks else (
        None)


# Nova's words for states of servers.
_ERROR, _RETRIED = 'error', 'active'
_EVACUATED = ('active', 'stopped')


def wait(
    history: Iterable[moves.Past], since: float, now: float,
) -> moves.Wait | None:
    """Return why a server waits after attempts that have failed.

    How often the server was moved before does not count, for the server does
    not run.

    :param history: what is over of the server
    :param since: when the recovery began, in seconds since the epoch
    :param now: seconds since the epoch
    """
    return moves.wait(failures(history, since), now)


def failures(
    history: Iterable[moves.Past], since: float,
) -> list[moves.Past]:
    """Return the attempts of a recovery that have failed.

    :param since: when the recovery began, in seconds since the epoch
    """
    return [past for past in history if past.is_evacuation and
            not past.arrived and past.ended >= since]
