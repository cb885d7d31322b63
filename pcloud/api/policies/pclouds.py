# SPDX-License-Identifier: Apache-2.0

"""Who may do what with Pclouds.

Where a call names a Pcloud, the rule is checked twice: before anything is
read, for the caller's own project, and then for the project that owns the
Pcloud.
"""

from oslo_policy import policy

from pcloud.api.policies import base

ROOT = base.PREFIX + 'os-pclouds:'
ALL_PROJECTS = ROOT + 'all_projects'
INDEX = ROOT + 'index'
SHOW = ROOT + 'show'
CREATE = ROOT + 'create'
UPDATE = ROOT + 'update'
DELETE = ROOT + 'delete'
RACK_NAMES = ROOT + 'rack_names'

_COLLECTION = '/os-pclouds'
_ITEM = '/os-pclouds/{id}'

rules = [
    policy.DocumentedRuleDefault(
        ALL_PROJECTS, base.ADMIN,
        'See and manage the Pclouds of every project, and the real names of '
        'their hosts.',
        [{'path': _COLLECTION + '?all_tenants=1', 'method': 'GET'}],
        scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        INDEX, base.READER,
        'List the Pclouds that the project owns or is a tenant of.',
        [{'path': _COLLECTION, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        SHOW, base.READER,
        'Show a Pcloud that the project owns or is a tenant of.',
        [{'path': _ITEM, 'method': 'GET'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        CREATE, base.MEMBER, 'Create a Pcloud.',
        [{'path': _COLLECTION, 'method': 'POST'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        UPDATE, base.MEMBER, 'Change a Pcloud.',
        [{'path': _ITEM, 'method': 'PUT'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        DELETE, base.MEMBER, 'Delete a Pcloud.',
        [{'path': _ITEM, 'method': 'DELETE'}], scope_types=base.SCOPES),
    policy.DocumentedRuleDefault(
        RACK_NAMES, '!',
        "See the racks' own names beside their numbers: of the hosts of the "
        "project's own Pcloud, and of the hosts of the project's servers. "
        'The names tell how the datacenter is built; in a cloud on premises '
        'an operator may allow this to readers.',
        [{'path': f'{_ITEM}/hosts', 'method': 'GET'},
         {'path': f'{_ITEM}/hosts/{{name}}', 'method': 'GET'},
         {'path': '/os-pcloud-servers', 'method': 'GET'}],
        scope_types=base.SCOPES),
]
