# SPDX-License-Identifier: Apache-2.0

"""The policy of the audit."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud-audit:'
INDEX = ROOT + 'index'

rules = [
    policy.DocumentedRuleDefault(
        INDEX, base.ADMIN,
        'List what does not fit together in aggregates, Placement and cells.',
        [{'path': '/os-pcloud-audit', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
