# SPDX-License-Identifier: Apache-2.0

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
