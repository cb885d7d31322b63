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

"""Who may ask which servers to move.

Who may have the servers moved is decided by the rule for drained hosts.
"""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:rebalance:'
SHOW = ROOT + 'show'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        "Ask which servers in the project's own Pcloud to move, so that hosts "
        'become empty or further servers fit.',
        [{'path': '/os-pclouds/{id}/rebalance', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
