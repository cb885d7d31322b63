# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Which projects may start servers in a Pcloud.

Source: CONTRACT section 3; whole-host-allocation, "Tenant Operations": one
metadata key a tenant, so that no value grows too long.
"""

from nova import context as nova_context

from pcloud.aggregates import names
from pcloud.aggregates import notifications
from pcloud.aggregates import pclouds
from pcloud.aggregates import store
from pcloud import exception


def add(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    project_id: str,
) -> None:
    """Make a project a tenant; harmless when it is one.

    :raises: `exception.ReservedProject`, `exception.NameTooLong`,
        `exception.PcloudNotFound` when the Pcloud is deleted meanwhile
    """
    key = names.tenant_key(project_id)
    try:
        is_new = store.insert_metadata(
            context, pcloud.aggregate.id, key, names.TENANT_VALUE)
    except exception.AggregateGone:
        raise exception.PcloudNotFound(pcloud=pcloud.id)
    if is_new:
        store.publish(context, pcloud.aggregate.id)
        notifications.tenant(context, 'add', pcloud, project_id)


def remove(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    project_id: str,
) -> None:
    """Make a project no tenant any more; its servers stay where they are.

    :raises: `exception.TenantNotFound`
    """
    if project_id not in pcloud.tenants or not store.delete_metadata(
            context, pcloud.aggregate.id, names.tenant_key(project_id)):
        raise exception.TenantNotFound(
            project=project_id, pcloud=pcloud.id)
    store.publish(context, pcloud.aggregate.id)
    notifications.tenant(context, 'remove', pcloud, project_id)
