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

"""Say in the log what somebody has written that is not right, once.

The same is read for every request and every host.
"""

import functools

from oslo_log import log as logging

from pcloud.rules import text

LOG = logging.getLogger(__name__)

# So many different complaints are each told of once.
_TOLD = 1024


@functools.lru_cache(maxsize=_TOLD)
def once(message: str) -> None:
    """Write a warning; remembered, so that it is written once."""
    LOG.warning('%s', text.shown(message))
