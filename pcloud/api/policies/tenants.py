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

"""Who may see and change the tenants of a Pcloud."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:tenants:'
INDEX = ROOT + 'index'
ADD = ROOT + 'add'
REMOVE = ROOT + 'remove'

_COLLECTION = '/os-pclouds/{id}/tenants'
_ITEM = '/os-pclouds/{id}/tenants/{tenant}'

rules = [
    policy.DocumentedRuleDefault(
        INDEX, base.READER, "List the tenants of the project's own Pcloud.",
        [{'path': _COLLECTION, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        ADD, base.MEMBER, "Add a tenant to the project's own Pcloud.",
        [{'path': _ITEM, 'method': 'PUT'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        REMOVE, base.MEMBER,
        "Remove a tenant from the project's own Pcloud.",
        [{'path': _ITEM, 'method': 'DELETE'}], scope_types=base.SCOPES),
]
