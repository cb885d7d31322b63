# SPDX-License-Identifier: Apache-2.0

"""Who may see host flavors, and who may change host flavors."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-host-flavors:'
INDEX = ROOT + 'index'
SHOW = ROOT + 'show'
DETAIL = ROOT + 'show:hosts'
CREATE = ROOT + 'create'
UPDATE = ROOT + 'update'
DELETE = ROOT + 'delete'
ADD_HOST = ROOT + 'hosts:add'
MAINTAIN_HOST = ROOT + 'hosts:maintenance'
FENCE_HOST = ROOT + 'hosts:fence'
REMOVE_HOST = ROOT + 'hosts:remove'

_COLLECTION = '/os-host-flavors'
_ITEM = '/os-host-flavors/{id}'

rules = [
    policy.DocumentedRuleDefault(
        INDEX, base.ANY, 'List host flavors.',
        [{'path': _COLLECTION, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        SHOW, base.ANY,
        'Show a host flavor. Whoever changes a host of a host flavor needs '
        'this rule, and the rule of what is changed.',
        [{'path': _ITEM, 'method': 'GET'},
         {'path': _ITEM + '/hosts/{host}', 'method': 'PUT'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        DETAIL, base.ADMIN, 'See the real hosts of a host flavor.',
        [{'path': _COLLECTION, 'method': 'GET'},
         {'path': _ITEM, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        CREATE, base.ADMIN, 'Define a host flavor.',
        [{'path': _COLLECTION, 'method': 'POST'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        UPDATE, base.ADMIN, 'Change a host flavor.',
        [{'path': _ITEM, 'method': 'PUT'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        DELETE, base.ADMIN, 'Delete a host flavor.',
        [{'path': _ITEM, 'method': 'DELETE'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        ADD_HOST, base.ADMIN, 'Put a host into the pool of a host flavor.',
        [{'path': _ITEM + '/hosts', 'method': 'POST'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        MAINTAIN_HOST, base.ADMIN,
        'Announce or withdraw the maintenance of a host of a host flavor.',
        [{'path': _ITEM + '/hosts/{host}', 'method': 'PUT'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        FENCE_HOST, base.ADMIN,
        'Say whether a host of a host flavor is fenced, so that its servers '
        'may be started on other hosts.',
        [{'path': _ITEM + '/hosts/{host}', 'method': 'PUT'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        REMOVE_HOST, base.ADMIN,
        'Take a host out of the pool of a host flavor.',
        [{'path': _ITEM + '/hosts/{host}', 'method': 'DELETE'}],
        scope_types=base.SCOPES),
]
