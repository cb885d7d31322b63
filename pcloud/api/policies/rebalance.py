# SPDX-License-Identifier: Apache-2.0

"""Who may ask which servers to move.

Who may have the servers moved is decided by the rule for drained hosts.
"""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:rebalance:'
SHOW = ROOT + 'show'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        "Ask which servers in the project's own Pcloud to move, so that hosts "
        'become empty or further servers fit.',
        [{'path': '/os-pclouds/{id}/rebalance', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
