# SPDX-License-Identifier: Apache-2.0

"""Who may see and change scoped policies."""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pcloud-policies:'
SHOW = ROOT + 'show'
UPDATE = ROOT + 'update'
DELETE = ROOT + 'delete'
DEFAULT = ROOT + 'default'
PROJECT = ROOT + 'project'
DOMAIN = ROOT + 'domain'
ALL = ROOT + 'all'

_ITEM = '/os-pcloud-policies/{scope}/{id}'

rules = [
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        'Show what the customer wishes for the servers of an own Pcloud and '
        'of the own project, and the default Pcloud of the own project.',
        [{'path': _ITEM, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        UPDATE, base.MEMBER,
        'Set what the customer wishes for the servers of an own Pcloud. What '
        'is wished for a project or a domain takes another rule too.',
        [{'path': _ITEM, 'method': 'PUT'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        DELETE, base.ADMIN, 'Take back all settings of a scope.',
        [{'path': _ITEM, 'method': 'DELETE'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        DEFAULT, base.MEMBER,
        'Set the default Pcloud of the own project.',
        [{'path': _ITEM, 'method': 'PUT'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        PROJECT, base.MEMBER,
        'Set the machine constraints and the customer placement keys of the '
        'own project.',
        [{'path': _ITEM, 'method': 'PUT'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        DOMAIN, base.ADMIN,
        'See and set the customer placement keys of the domain of the own '
        'project.',
        [{'path': _ITEM, 'method': 'GET'}, {'path': _ITEM, 'method': 'PUT'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        ALL, base.ADMIN,
        'See and set all settings of all scopes, system keys too.',
        [{'path': _ITEM, 'method': 'GET'}, {'path': _ITEM, 'method': 'PUT'}],
        scope_types=base.SCOPES),
]
