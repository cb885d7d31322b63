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

"""Who may see and change how many units a project may use."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud-quotas:'
SHOW = ROOT + 'show'
UPDATE = ROOT + 'update'
DELETE = ROOT + 'delete'

_ITEM = '/os-pcloud-quotas/{project}'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER, "Show the units of the project's own Pclouds.",
        [{'path': _ITEM, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        UPDATE, base.ADMIN, "Set a project's limit of units.",
        [{'path': _ITEM, 'method': 'PUT'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        DELETE, base.ADMIN, "Take a project's limit back to the default.",
        [{'path': _ITEM, 'method': 'DELETE'}], scope_types=base.SCOPES),
]
