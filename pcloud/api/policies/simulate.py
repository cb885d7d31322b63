# SPDX-License-Identifier: Apache-2.0

"""Who may ask whether servers fit a Pcloud together."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:simulate:'
ASK = ROOT + 'ask'

rules = [
    policy.DocumentedRuleDefault(
        ASK, base.READER,
        "Ask whether servers of several flavors fit the project's own Pcloud "
        'together, and which hosts would have to be added.',
        [{'path': '/os-pclouds/{id}/simulate', 'method': 'POST'}],
        scope_types=base.SCOPES),
]
