# SPDX-License-Identifier: Apache-2.0
"""Which requests may still land on a host that has changed hands.

A request for a server is decided long before the server is on its host: a
multi-create is filtered once and claimed for seconds, a build with a late
failure is tried again on an alternate, resizes likewise. Requests for no
Pcloud may land on a host added to a pool; requests for a Pcloud may land on a
host removed from the Pcloud; requests that prefer a Pcloud may land on both.
Only requests from before the change was visible
matter.

Rule: reference-settling
"""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from pcloud import exception
from pcloud.rules.placing import hints as hint_rules

# By how many seconds the clocks of a cloud's controllers may differ.
SKEW = 5


@dataclasses.dataclass(frozen=True)
class Request:
    """A request for a server that is under way.

    :ivar began: when nova-api took the request, in seconds since the epoch
    :ivar hints: the scheduler hints of the server, None when the hints are not
        known
    """

    began: float
    hints: Mapping[str, Sequence[str]] | None


def may_land(request: Request, pcloud_id: str | None, since: float) -> bool:
    """Whether a request was decided when a host was still open to the request.

    :param pcloud_id: the former Pcloud of the host, None for a host added to
        a pool
    :param since: when schedulers saw the change at the latest, in seconds
        since the epoch

    Rule: reference-settling-requests
    """
    if request.began >= since + SKEW:
        return False
    if request.hints is None:
        return True
    try:
        return pcloud_id in hint_rules.places(request.hints)
    except exception.InvalidHint:
        # Such a request is placed nowhere.
        return False
