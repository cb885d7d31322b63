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

"""Who may ask what happens when hosts of a Pcloud fail."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:rehearsal:'
SHOW = ROOT + 'show'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        "Ask which hosts or racks of the project's own Pcloud may fail with "
        'room for their servers, and which hosts would have to be added.',
        [{'path': '/os-pclouds/{id}/rehearsal', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
