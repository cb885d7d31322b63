# SPDX-License-Identifier: Apache-2.0

"""Who may name a host in machine constraints."""

from oslo_policy import policy

from pcloud.api.policies import base

HOST = base.PREFIX + 'os-pcloud-constraints:host'

rules = [
    policy.DocumentedRuleDefault(
        HOST, base.ADMIN, 'Name a real host in machine constraints.',
        [{'path': '/servers', 'method': 'POST'},
         {'path': '/os-pclouds/{id}/hosts', 'method': 'POST'},
         {'path': '/os-pcloud-policies/{scope}/{id}', 'method': 'PUT'}],
        scope_types=base.SCOPES),
]
