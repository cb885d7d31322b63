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

"""Write each complaint about a wrong value to the log once.

Every request reads the same values of every host again.
"""

import functools

from oslo_log import log as logging

from pcloud.rules import text

LOG = logging.getLogger(__name__)

# The number of different complaints that are remembered.
_TOLD = 1024


@functools.lru_cache(maxsize=_TOLD)
def once(message: str) -> None:
    """Write a warning; a remembered message is not written again."""
    LOG.warning('%s', text.shown(message))
