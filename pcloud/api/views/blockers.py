# SPDX-License-Identifier: Apache-2.0

"""How the servers that do not leave a host are shown."""

from collections.abc import Iterable

from pcloud.api.schemas import shown
from pcloud.api.views import reasons
from pcloud.api.views import times
from pcloud.objects import blockers

# A part of a cloud that does not answer is no server.
ALL = shown.list_of(shown.members({
    'server': shown.UUID_OR_NULL, 'rule': shown.TEXT,
    **reasons.members('reason'), 'since': shown.MOMENT_OR_NULL}))


def show(found: Iterable[blockers.Blocker]) -> list[dict]:
    """Return the servers with the reasons, in the order given."""
    return [{'server': blocker.server,
             'rule': blocker.rule,
             **reasons.show('reason', blocker.reason),
             'since': times.shown(blocker.since)} for blocker in found]
