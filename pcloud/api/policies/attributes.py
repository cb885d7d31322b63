# SPDX-License-Identifier: Apache-2.0

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
