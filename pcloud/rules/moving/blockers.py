# SPDX-License-Identifier: Apache-2.0

"""Why a server does not leave its host: the one decision.

Rule: reference-draining-blockers
"""

from collections.abc import Collection
import dataclasses

from pcloud.rules import coded

SOFT_DELETED, ERROR, SHELVED = 'soft_deleted', 'error', 'shelved'
RESIZE_NOT_CONFIRMED, MIGRATION = 'resize_not_confirmed', 'migration'
TASK, LOCKED, NOT_MIGRATABLE = 'task', 'locked', 'not_migratable'
# Known only where servers are to be moved.
NO_ROOM, PLACEMENT = 'no_room', 'placement'
# Of the drain itself.
NO_WORKER = 'no_worker'

# The status of a migration that waits for a confirmation.
_FINISHED = 'finished'

# The rule that keeps a server or a drain, and the reason.
Why = tuple[str, coded.Reason]

# Nova's words for states of servers.
_AT_REST: dict[str, Why] = {
    'soft-delete': (SOFT_DELETED, coded.Reason('soft_deleted')),
    'error': (ERROR, coded.Reason('error'))}
_RESIZED = RESIZE_NOT_CONFIRMED, coded.Reason('resize_not_confirmed')
_MIGRATES = MIGRATION, coded.Reason('migration')
_BUILDING = 'building'
_SHELVED = SHELVED, coded.Reason('shelved')
_LOCKED = LOCKED, coded.Reason('locked')
# In any other state Nova neither migrates a server live nor cold.
_MIGRATABLE = ('active', 'paused', 'stopped')


@dataclasses.dataclass(frozen=True)
class ServerState:
    """What decides whether a server can leave its host.

    :ivar vm_state: as Nova keeps it, such as 'active'
    :ivar task_state: as Nova keeps it; None for a server at rest
    :ivar migrations: the statuses of the server's migrations from or to the
        host that are not over
    :ivar power_state: as Nova names it, such as 'running'
    """

    vm_state: str
    task_state: str | None
    locked: bool
    migrations: Collection[str] = ()
    power_state: str = 'running'


def why(server: ServerState) -> Why | None:
    """Return the rule and the reason that keep a server on its host.

    The first row that fits counts:

    ===========  ====  ===========  ======  ====================
    vm_state     task  migration    locked  rule
    ===========  ====  ===========  ======  ====================
    soft-delete  any   any          any     soft_deleted
    error        any   any          any     error
    resized      none  any          any     resize_not_confirmed
    any          none  finished     any     resize_not_confirmed
    any          any   not over     any     migration
    any          yes   none         any     task
    building     any   none         any     task
    shelved      none  none         any     shelved
    any          none  none         yes     locked
    active       none  none         no      none
    paused       none  none         no      none
    stopped      none  none         no      none
    any other    none  none         no      not_migratable
    ===========  ====  ===========  ======  ====================

    :returns: None for a server that can be moved

    Rule: reference-draining-blockers
    """
    if server.vm_state in _AT_REST:
        return _AT_REST[server.vm_state]
    if server.task_state is None and (
            server.vm_state == 'resized' or _FINISHED in server.migrations):
        return _RESIZED
    if server.migrations:
        return _MIGRATES
    busy = server.task_state or (
        _BUILDING if server.vm_state == _BUILDING else None)
    if busy:
        return TASK, coded.Reason('task', task=busy)
    if server.vm_state == 'shelved':
        return _SHELVED
    if server.locked:
        return _LOCKED
    if server.vm_state not in _MIGRATABLE:
        return NOT_MIGRATABLE, coded.Reason(
            'state_not_migratable', state=server.vm_state)
    return None


def without_worker(seen: int | None) -> Why:
    """Return the rule and the reason while no worker looks after drains.

    :param seen: when a worker has looked, in seconds since the epoch; None for
        never
    """
    return NO_WORKER, coded.Reason(
        'no_worker', since=None if seen is None else coded.moment(seen))
