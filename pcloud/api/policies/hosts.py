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

"""Who may do what with the hosts of a Pcloud."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:hosts:'
INDEX = ROOT + 'index'
SHOW = ROOT + 'show'
ADD = ROOT + 'add'
UPDATE = ROOT + 'update'
MOVE = ROOT + 'move'
REASON = ROOT + 'show:maintenance_reason'
REMOVE = ROOT + 'remove'

_COLLECTION = '/os-pclouds/{id}/hosts'
_ITEM = '/os-pclouds/{id}/hosts/{name}'

rules = [
    policy.DocumentedRuleDefault(
        INDEX, base.READER, "List the hosts of the project's own Pcloud.",
        [{'path': _COLLECTION, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        SHOW, base.READER, "Show a host of the project's own Pcloud.",
        [{'path': _ITEM, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        ADD, base.MEMBER, "Add a host to the project's own Pcloud.",
        [{'path': _COLLECTION, 'method': 'POST'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        UPDATE, base.MEMBER,
        "Enable or disable a host of the project's own Pcloud.",
        [{'path': _ITEM, 'method': 'PUT'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        MOVE, base.MEMBER,
        "Have the servers of a drained host of the project's own Pcloud moved "
        'to other hosts of the Pcloud, and have a rebalance of the Pcloud '
        'made or ended.',
        [{'path': _ITEM, 'method': 'PUT'},
         {'path': '/os-pclouds/{id}/rebalance', 'method': 'POST'},
         {'path': '/os-pclouds/{id}/rebalance', 'method': 'DELETE'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        REASON, base.READER,
        "See why a host of the project's own Pcloud is going to be in "
        'maintenance.',
        [{'path': _COLLECTION, 'method': 'GET'},
         {'path': _ITEM, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        REMOVE, base.MEMBER,
        "Remove a host from the project's own Pcloud, and have a drained host "
        'leave the Pcloud once it is empty.',
        [{'path': _ITEM, 'method': 'DELETE'},
         {'path': _ITEM, 'method': 'PUT'}], scope_types=base.SCOPES),
]
