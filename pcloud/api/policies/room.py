# SPDX-License-Identifier: Apache-2.0

"""Who may ask whether there is room for servers."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud-room:'
SHOW = ROOT + 'show'
SHOW_OUTSIDE = ROOT + 'show_outside'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        "Ask for how many groups of servers there is room in the project's "
        'own Pcloud.',
        [{'path': '/os-pcloud-room?pcloud={id}', 'method': 'GET'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        SHOW_OUTSIDE, base.ADMIN,
        'Ask for how many groups of servers there is room outside of '
        'Pclouds.',
        [{'path': '/os-pcloud-room', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
