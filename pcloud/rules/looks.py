# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
