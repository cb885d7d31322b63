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

"""Who may ask whether there is room for servers."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud-room:'
SHOW = ROOT + 'show'
SHOW_OUTSIDE = ROOT + 'show_outside'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        "Ask for how many groups of servers there is room in the project's "
        'own Pcloud.',
        [{'path': '/os-pcloud-room?pcloud={id}', 'method': 'GET'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        SHOW_OUTSIDE, base.ADMIN,
        'Ask for how many groups of servers there is room outside of '
        'Pclouds.',
        [{'path': '/os-pcloud-room', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
