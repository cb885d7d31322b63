# SPDX-License-Identifier: Apache-2.0

"""The policy of the document about the API."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud:'
SHOW = ROOT + 'show'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.ANY, 'Show the version, extensions and limits of the API.',
        [{'path': '/os-pcloud', 'method': 'GET'}], scope_types=base.SCOPES),
]
