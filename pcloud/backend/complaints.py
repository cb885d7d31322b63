# SPDX-License-Identifier: Apache-2.0

"""Write each complaint about a wrong value to the log once.

Every request reads the same values of every host again.
"""

import functools

from oslo_log import log as logging

from pcloud import text

LOG = logging.getLogger(__name__)

# The number of different complaints that are remembered.
_TOLD = 1024


@functools.lru_cache(maxsize=_TOLD)
def once(message: str) -> None:
    """Write a warning; a remembered message is not written again."""
    LOG.warning('%s', text.shown(message))
