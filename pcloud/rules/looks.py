# SPDX-License-Identifier: Apache-2.0

"""When a worker has looked, and whether a worker is still at work.

Rule: reference-worker-seen
"""

import dataclasses

from pcloud.rules import record

# Seconds after which a worker is taken for gone: five of the longest
# intervals, thirty of the default.
LASTS = 300
# Seconds after which a look is noted once more.
NOTED = 60
# No clock is ahead by so many seconds.
_SLACK = 3600


@dataclasses.dataclass(frozen=True)
class Look(record.Record):
    """A look of a worker.

    :ivar at: in seconds since the epoch
    """

    at: int = dataclasses.field(metadata=record.INSTANT)


def is_recent(seen: int | None, now: float, lasts: int = LASTS) -> bool:
    """Whether a look is no older than some seconds.

    :param seen: when a worker has looked, None for never; a moment that is too
        far ahead was written by hand, or by a clock that is wrong
    """
    return seen is not None and -_SLACK <= now - seen <= lasts
