# SPDX-License-Identifier: Apache-2.0

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
