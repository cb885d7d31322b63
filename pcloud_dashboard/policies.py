# SPDX-License-Identifier: Apache-2.0

"""The policies that decide which buttons a user sees.

nova-api decides whether a call is allowed. The dashboard only hides what
would be refused, and asks Horizon, which has read the same policies.
"""

from django import http

from openstack_dashboard import policy

_PCLOUDS = 'os_compute_api:os-pclouds:'
_FLAVORS = 'os_compute_api:os-host-flavors:'

LIST = _PCLOUDS + 'index'
ALL_PROJECTS = _PCLOUDS + 'all_projects'
CREATE = _PCLOUDS + 'create'
UPDATE = _PCLOUDS + 'update'
DELETE = _PCLOUDS + 'delete'
ADD_HOST = _PCLOUDS + 'hosts:add'
UPDATE_HOST = _PCLOUDS + 'hosts:update'
MOVE = _PCLOUDS + 'hosts:move'
WAITING = _PCLOUDS + 'waiting:index'
CANCEL_WAITING = _PCLOUDS + 'waiting:cancel'
REMOVE_HOST = _PCLOUDS + 'hosts:remove'
ADD_TENANT = _PCLOUDS + 'tenants:add'
REMOVE_TENANT = _PCLOUDS + 'tenants:remove'
PCLOUD_USAGE = _PCLOUDS + 'usage:show'
EXPLAIN = _PCLOUDS + 'explain:show'
UPDATE_POLICY = 'os_compute_api:os-pcloud-policies:update'
DELETE_POLICY = 'os_compute_api:os-pcloud-policies:delete'
SET_DEFAULT = 'os_compute_api:os-pcloud-policies:default'
AUDIT = 'os_compute_api:os-pcloud-audit:index'
UPDATE_QUOTA = 'os_compute_api:os-pcloud-quotas:update'
CREATE_FLAVOR = _FLAVORS + 'create'
UPDATE_FLAVOR = _FLAVORS + 'update'
DELETE_FLAVOR = _FLAVORS + 'delete'
ADD_POOL_HOST = _FLAVORS + 'hosts:add'
MAINTAIN = _FLAVORS + 'hosts:maintenance'
FENCE = _FLAVORS + 'hosts:fence'
POOL_WAITING = _FLAVORS + 'waiting:index'
REMOVE_POOL_HOST = _FLAVORS + 'hosts:remove'
SET_ATTRIBUTE = 'os_compute_api:os-pcloud-attributes:update'
UNSET_ATTRIBUTE = 'os_compute_api:os-pcloud-attributes:delete'
PLACED_SERVERS = 'os_compute_api:os-pcloud-servers:index'
LAUNCH = 'os_compute_api:servers:create'


def allows(request: http.HttpRequest, rule: str,
           project_id: str | None = None) -> bool:
    """Return whether the policies allow the user a call.

    :param project_id: the project that owns what the call is about; None for
        the project of the user
    """
    service = 'compute' if rule == LAUNCH else 'pcloud'
    return policy.check(((service, rule),), request,
                        {'project_id': project_id})
