# SPDX-License-Identifier: Apache-2.0

"""Who may ask what happens when hosts of a Pcloud fail."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:rehearsal:'
SHOW = ROOT + 'show'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        "Ask which hosts or racks of the project's own Pcloud may fail with "
        'room for their servers, and which hosts would have to be added.',
        [{'path': '/os-pclouds/{id}/rehearsal', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
