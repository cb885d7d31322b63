# SPDX-License-Identifier: Apache-2.0

"""When a worker has looked, and whether a worker is still at work.

Rule: reference-worker-seen
"""

import re

# Seconds after which a worker is taken for gone: five of the longest
# intervals, thirty of the default.
LASTS = 300
# Seconds after which a look is noted once more.
NOTED = 30
# No clock is ahead by so many seconds.
_SLACK = 3600
_FORM = re.compile('[0-9]{1,11}')


def parse(text: str | None) -> int | None:
    """Return the moment of a look, in seconds since the epoch.

    :param text: as stored, None for nothing
    :returns: None for a text that is no moment
    """
    return int(text) if text and _FORM.fullmatch(text) else None


def is_recent(seen: int | None, now: float, lasts: int = LASTS) -> bool:
    """Whether a look is no older than some seconds.

    :param seen: when a worker has looked, None for never; a moment that is too
        far ahead was written by hand, or by a clock that is wrong
    """
    return seen is not None and -_SLACK <= now - seen <= lasts
