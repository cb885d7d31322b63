# SPDX-License-Identifier: Apache-2.0

"""Policies of the servers in parts of the cloud that do not answer."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud-hidden-servers:'
INDEX = ROOT + 'index'

rules = [
    policy.DocumentedRuleDefault(
        INDEX, base.READER,
        "List the project's own servers in parts of the cloud that do not "
        'answer.',
        [{'path': '/os-pcloud-hidden-servers', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
