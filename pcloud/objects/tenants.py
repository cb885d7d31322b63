# SPDX-License-Identifier: Apache-2.0

"""Which projects may start servers in a Pcloud, and how much they may use.

Each tenant has a metadata key, so that no value grows too long, and another
one where the owner has capped what the tenant may use.

Rule: reference-tenants, reference-usage-caps
"""

from nova import context as nova_context

from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.rules.usage import caps


def add(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    project_id: str, its_caps: caps.Caps | None = None,
) -> None:
    """Make a project a tenant; harmless for a project that is a tenant.

    :param its_caps: how much of the Pcloud the tenant may use from now on;
        None leaves that as it is
    :raises: `exception.InvalidValue`, `exception.NameTooLong`,
        `exception.PcloudNotFound` when the Pcloud is deleted meanwhile, and as
        `change.run`
    """
    key, caps_key = names.tenant_key(project_id), names.caps_key(project_id)

    def work(written: writes.Rows) -> bool:
        try:
            written.touch(pcloud.aggregate.id)
        except exception.AggregateGone:
            raise exception.PcloudNotFound(pcloud=pcloud.id)
        is_new = not written.values(pcloud.aggregate.id, [key])
        if is_new:
            written.insert(pcloud.aggregate.id, {key: names.TENANT_VALUE})
        if its_caps is not None:
            written.set(pcloud.aggregate.id, {
                caps_key: None if its_caps == caps.Caps() else
                its_caps.text()})
        return is_new

    if change.run(context, [journal.pcloud_anchor(pcloud.id)], work):
        _tell(context, 'add', pcloud, project_id)


def remove(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    project_id: str,
) -> None:
    """Make a project no tenant any more; the project's servers stay in place.

    The caps of the tenant go with it.

    :raises: `exception.TenantNotFound`, and as `change.run`
    """
    # An id that no tenant can have is unknown like any other.
    if project_id not in pcloud.tenants:
        raise exception.TenantNotFound(project=project_id, pcloud=pcloud.id)
    key, caps_key = names.tenant_key(project_id), names.caps_key(project_id)

    def work(written: writes.Rows) -> None:
        if not written.drop_if(
                pcloud.aggregate.id, key, names.TENANT_VALUE):
            raise exception.TenantNotFound(
                project=project_id, pcloud=pcloud.id)
        # To delete nothing would lock a gap, and hold up other changes.
        if written.values(pcloud.aggregate.id, [caps_key]):
            written.drop(pcloud.aggregate.id, [caps_key])

    change.run(context, [journal.pcloud_anchor(pcloud.id)], work)
    _tell(context, 'remove', pcloud, project_id)


def _tell(
    context: nova_context.RequestContext, action: str,
    pcloud: pclouds.Head, project_id: str,
) -> None:
    """Tell listeners of a committed change of a tenant."""
    reconcile.notified(
        notifications.tenant, context, action, pcloud, project_id)
