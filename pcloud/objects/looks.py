# SPDX-License-Identifier: Apache-2.0

"""When a worker has looked at what is due, as workers note it.

Rule: reference-worker-seen
"""

import datetime

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.changes import journal
from pcloud.objects import blockers
from pcloud.rules import looks
from pcloud.rules.moving import blockers as blocker_rules


def seen(context: nova_context.RequestContext) -> int | None:
    """Return when a worker has looked, None for never (one query).

    :returns: seconds since the epoch, `looks.NOTED` too early at most
    """
    look = looks.Look.known(journal.look(context))
    return None if look is None else look.at


def note(context: nova_context.RequestContext, begun: int) -> None:
    """Note that a worker looks, unless that was noted a moment ago.

    One query, and one change in `looks.NOTED` seconds, of which no scheduler
    has to know.

    :param begun: when the look has begun, in seconds since the epoch
    """
    if not looks.is_recent(seen(context), begun, looks.NOTED):
        note_always(context, begun)


def note_always(context: nova_context.RequestContext, begun: int) -> None:
    """Note that a worker looks, whenever that was noted before.

    :param begun: as `note`
    """
    journal.note_look(context, looks.Look(begun).text())


def blocker(
    begun: int, seen: int | None,
) -> blockers.Blocker | None:
    """Return what keeps a drain or recovery from going on without a worker.

    :param begun: since when, in seconds since the epoch
    :param seen: when a worker has looked, as `seen` returns it
    :returns: None while a worker looks

    Rule: reference-draining-blockers
    """
    if looks.is_recent(seen, timeutils.utcnow_ts()):
        return None
    since = max(begun, seen or 0)
    return blockers.Blocker(
        None, *blocker_rules.without_worker(seen),
        datetime.datetime.fromtimestamp(since, datetime.timezone.utc))
