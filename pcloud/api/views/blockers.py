# SPDX-License-Identifier: Apache-2.0

"""How the servers that do not leave a host are shown."""

from collections.abc import Iterable

from pcloud.api.views import reasons
from pcloud.api.views import times
from pcloud.objects import blockers


def show(found: Iterable[blockers.Blocker]) -> list[dict]:
    """Return the servers with the reasons, in the order given."""
    return [{'server': blocker.server,
             'rule': blocker.rule,
             **reasons.show('reason', blocker.reason),
             'since': times.shown(blocker.since)} for blocker in found]
