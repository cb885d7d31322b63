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

"""Who may see and change the attributes of hosts."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud-attributes:'
INDEX = ROOT + 'index'
UPDATE = ROOT + 'update'
DELETE = ROOT + 'delete'

_COLLECTION = '/os-pcloud-attributes'
_ITEM = _COLLECTION + '/{name}'

rules = [
    policy.DocumentedRuleDefault(
        INDEX, base.ADMIN,
        'List the attributes of hosts, with the real names of the hosts.',
        [{'path': _COLLECTION, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        UPDATE, base.ADMIN, 'Give hosts a value of an attribute.',
        [{'path': _ITEM, 'method': 'PUT'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        DELETE, base.ADMIN, 'Take an attribute from hosts.',
        [{'path': _ITEM, 'method': 'DELETE'}], scope_types=base.SCOPES),
]
