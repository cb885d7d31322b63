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
"""How the maintenance of a host is shown."""

from pcloud.api.views import times
from pcloud.rules import maintenance as rules


def show(maintenance: rules.Maintenance) -> dict:
    """Return a maintenance, with the reason."""
    return {'from': times.shown_seconds(maintenance.begin),
            'until': times.shown_seconds(maintenance.end),
            'reason': maintenance.reason}
