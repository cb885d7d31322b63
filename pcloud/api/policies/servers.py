# SPDX-License-Identifier: Apache-2.0

"""The policy of the servers on hosts of Pclouds."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud-servers:'
INDEX = ROOT + 'index'

rules = [
    policy.DocumentedRuleDefault(
        INDEX, base.READER,
        "List the project's own servers on hosts of Pclouds, and the hosts "
        'where the project owns the Pcloud.',
        [{'path': '/os-pcloud-servers', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
