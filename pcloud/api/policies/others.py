# SPDX-License-Identifier: Apache-2.0

"""Who may do what with all that has a single rule, or a few.

The rules of tenants, quotas, attributes, machine constraints, capacity,
planning, servers, usage, the audit, and the API itself.
"""

from oslo_policy import policy

from pcloud.api.policies import base

TENANTS_INDEX = base.PREFIX + 'os-pclouds:tenants:index'
TENANTS_ADD = base.PREFIX + 'os-pclouds:tenants:add'
TENANTS_FIND_ANYWHERE = base.PREFIX + 'os-pclouds:tenants:find_anywhere'
TENANTS_REMOVE = base.PREFIX + 'os-pclouds:tenants:remove'
QUOTAS_SHOW = base.PREFIX + 'os-pcloud-quotas:show'
QUOTAS_UPDATE = base.PREFIX + 'os-pcloud-quotas:update'
QUOTAS_DELETE = base.PREFIX + 'os-pcloud-quotas:delete'
ATTRIBUTES_INDEX = base.PREFIX + 'os-pcloud-attributes:index'
ATTRIBUTES_UPDATE = base.PREFIX + 'os-pcloud-attributes:update'
ATTRIBUTES_DELETE = base.PREFIX + 'os-pcloud-attributes:delete'
CONSTRAINTS_HOST = base.PREFIX + 'os-pcloud-constraints:host'
ROOM_SHOW = base.PREFIX + 'os-pcloud-room:show'
ROOM_SHOW_OUTSIDE = base.PREFIX + 'os-pcloud-room:show_outside'
EXPLAIN_SHOW = base.PREFIX + 'os-pclouds:explain:show'
SIMULATE_ASK = base.PREFIX + 'os-pclouds:simulate:ask'
# Who may have the servers moved is decided by the rule for drained hosts.
REBALANCE_SHOW = base.PREFIX + 'os-pclouds:rebalance:show'
REHEARSAL_SHOW = base.PREFIX + 'os-pclouds:rehearsal:show'
HIDDEN_SERVERS_INDEX = base.PREFIX + 'os-pcloud-hidden-servers:index'
SERVERS_INDEX = base.PREFIX + 'os-pcloud-servers:index'
PCLOUD_USAGE_SHOW = base.PREFIX + 'os-pclouds:usage:show'
USAGE_INDEX = base.PREFIX + 'os-pcloud-usage:index'
USAGE_SHOW = base.PREFIX + 'os-pcloud-usage:show'
WAITING_INDEX = base.PREFIX + 'os-pclouds:waiting:index'
WAITING_CANCEL = base.PREFIX + 'os-pclouds:waiting:cancel'
FLAVOR_WAITING_INDEX = base.PREFIX + 'os-host-flavors:waiting:index'
ABOUT_SHOW = base.PREFIX + 'os-pcloud:show'
AUDIT_INDEX = base.PREFIX + 'os-pcloud-audit:index'


def _rule(
    name: str, right: str, description: str, *calls: tuple[str, str],
) -> policy.DocumentedRuleDefault:
    """Return a rule.

    :param calls: method and path of each call that the rule decides
    """
    return policy.DocumentedRuleDefault(
        name, right, description,
        [{'path': path, 'method': method} for method, path in calls],
        scope_types=base.SCOPES)


rules = [
    _rule(TENANTS_INDEX, base.READER,
          "List the tenants of the project's own Pcloud.",
          ('GET', '/os-pclouds/{id}/tenants')),
    _rule(TENANTS_ADD, base.MEMBER,
          "Add a tenant to the project's own Pcloud.",
          ('PUT', '/os-pclouds/{id}/tenants/{tenant}'),
          ('POST', '/os-pclouds/{id}/tenants')),
    _rule(TENANTS_FIND_ANYWHERE, base.ADMIN,
          "Find projects of other domains than the caller's by name, and see "
          'the names of such projects among the tenants of a Pcloud.',
          ('GET', '/os-pclouds/{id}/tenants'),
          ('POST', '/os-pclouds/{id}/tenants')),
    _rule(TENANTS_REMOVE, base.MEMBER,
          "Remove a tenant from the project's own Pcloud.",
          ('DELETE', '/os-pclouds/{id}/tenants/{tenant}')),
    _rule(QUOTAS_SHOW, base.READER,
          "Show the units of the project's own Pclouds.",
          ('GET', '/os-pcloud-quotas/{project}')),
    _rule(QUOTAS_UPDATE, base.ADMIN, "Set a project's limit of units.",
          ('PUT', '/os-pcloud-quotas/{project}')),
    _rule(QUOTAS_DELETE, base.ADMIN,
          "Take a project's limit back to the default.",
          ('DELETE', '/os-pcloud-quotas/{project}')),
    _rule(ATTRIBUTES_INDEX, base.ADMIN,
          'List the attributes of hosts, with the real names of the hosts.',
          ('GET', '/os-pcloud-attributes')),
    _rule(ATTRIBUTES_UPDATE, base.ADMIN,
          'Give hosts a value of an attribute.',
          ('PUT', '/os-pcloud-attributes/{name}')),
    _rule(ATTRIBUTES_DELETE, base.ADMIN, 'Take an attribute from hosts.',
          ('DELETE', '/os-pcloud-attributes/{name}')),
    _rule(CONSTRAINTS_HOST, base.ADMIN,
          'Name a real host in machine constraints.',
          ('POST', '/servers'), ('POST', '/os-pclouds/{id}/hosts'),
          ('PUT', '/os-pcloud-policies/{scope}/{id}')),
    _rule(ROOM_SHOW, base.READER,
          'Ask for how many groups of servers there is capacity in the '
          "project's own Pcloud.",
          ('GET', '/os-pcloud-room?pcloud={id}')),
    _rule(ROOM_SHOW_OUTSIDE, base.ADMIN,
          'Ask for how many groups of servers there is capacity outside of '
          'Pclouds.',
          ('GET', '/os-pcloud-room')),
    _rule(EXPLAIN_SHOW, base.READER,
          "Ask how many more servers of a flavor fit the project's own "
          'Pcloud, and what stands in the way of the next one.',
          ('GET', '/os-pclouds/{id}/explain')),
    _rule(SIMULATE_ASK, base.READER,
          "Ask whether servers of several flavors fit the project's own "
          'Pcloud together, and which hosts would have to be added.',
          ('POST', '/os-pclouds/{id}/simulate')),
    _rule(REBALANCE_SHOW, base.READER,
          "Ask which servers in the project's own Pcloud to move, so that "
          'hosts become empty or further servers fit.',
          ('GET', '/os-pclouds/{id}/rebalance')),
    _rule(REHEARSAL_SHOW, base.READER,
          "Ask which hosts or racks of the project's own Pcloud may fail "
          'with capacity for their servers, and which hosts would have to be '
          'added.',
          ('GET', '/os-pclouds/{id}/rehearsal')),
    _rule(HIDDEN_SERVERS_INDEX, base.READER,
          "List the project's own servers in parts of the cloud that do not "
          'answer.',
          ('GET', '/os-pcloud-hidden-servers')),
    _rule(SERVERS_INDEX, base.READER,
          "List the project's own servers on hosts of Pclouds, and the "
          'hosts where the project owns the Pcloud.',
          ('GET', '/os-pcloud-servers')),
    _rule(PCLOUD_USAGE_SHOW, base.READER,
          "Show what each tenant uses of the project's own Pcloud, and since "
          'when the Pcloud has its hosts.',
          ('GET', '/os-pclouds/{id}/usage')),
    _rule(USAGE_INDEX, base.ADMIN,
          'List what all projects have held of hosts in a month.',
          ('GET', '/os-pcloud-usage')),
    _rule(USAGE_SHOW, base.READER,
          'Show what the project has held of hosts in a month.',
          ('GET', '/os-pcloud-usage/{project}')),
    _rule(WAITING_INDEX, base.READER,
          "List the hosts that the project's own Pcloud waits for.",
          ('GET', '/os-pclouds/{id}/waiting')),
    _rule(WAITING_CANCEL, base.MEMBER,
          "End that the project's own Pcloud waits for a host.",
          ('DELETE', '/os-pclouds/{id}/waiting/{entry}')),
    _rule(FLAVOR_WAITING_INDEX, base.ADMIN,
          'List who waits for hosts of a host flavor, with Pclouds and '
          'owners.',
          ('GET', '/os-host-flavors/{id}/waiting')),
    _rule(ABOUT_SHOW, base.ANY,
          'Show the version, extensions and limits of the API.',
          ('GET', '/os-pcloud')),
    _rule(AUDIT_INDEX, base.ADMIN,
          'List what does not fit together in aggregates, Placement and '
          'cells.',
          ('GET', '/os-pcloud-audit')),
]
