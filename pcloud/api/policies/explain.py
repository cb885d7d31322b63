# SPDX-License-Identifier: Apache-2.0

"""Who may ask why a Pcloud takes no more servers."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:explain:'
SHOW = ROOT + 'show'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        "Ask how many more servers of a flavor fit the project's own Pcloud, "
        'and what stands in the way of the next one.',
        [{'path': '/os-pclouds/{id}/explain', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
