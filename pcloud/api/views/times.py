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

"""How a time is shown."""

import datetime

from oslo_utils import timeutils


def shown(when: datetime.datetime | None) -> str | None:
    """Return a time in ISO 8601 and UTC; None where there is none."""
    return None if when is None else (
        timeutils.normalize_time(when).isoformat() + 'Z')


def shown_seconds(when: int | None) -> str | None:
    """Return a time, in seconds since the epoch, as `shown` does."""
    return None if when is None else shown(
        datetime.datetime.fromtimestamp(when, datetime.UTC))
