# SPDX-License-Identifier: Apache-2.0

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
        "Enable or disable a host of the project's own Pcloud, or keep the "
        'host as a spare.',
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
        "Remove a host from the project's own Pcloud, have a drained host "
        'leave the Pcloud once it is empty, and have hosts leave that have '
        'been empty for long.',
        [{'path': _ITEM, 'method': 'DELETE'},
         {'path': _ITEM, 'method': 'PUT'},
         {'path': '/os-pclouds/{id}', 'method': 'PUT'}],
        scope_types=base.SCOPES),
]
