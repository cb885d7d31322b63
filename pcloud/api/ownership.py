# SPDX-License-Identifier: Apache-2.0

"""The Pclouds that a caller sees, and the Pclouds that a caller manages."""

from pcloud.api import call as api_call
from pcloud import exception
from pcloud.objects import pclouds


def is_own(call: api_call.Call, pcloud: pclouds.Head) -> bool:
    """Whether the caller manages a Pcloud, as its owner or for everybody."""
    return pcloud.owner == call.project_id or call.manages_all


def visible_head(call: api_call.Call, pcloud_id: str) -> pclouds.Head:
    """Return a Pcloud without hosts, if the caller may see the Pcloud.

    One query, and the first query of each call about a Pcloud: what else is
    read of the Pcloud is read after the query, for a caller who may see the
    Pcloud.

    :raises: `exception.PcloudNotFound`, the same for an unknown Pcloud and for
        a Pcloud that the caller may not see

    Rule: reference-pclouds-visible
    """
    project_id = call.project_id
    if call.manages_all:
        return pclouds.head(call.context, pcloud_id)
    return pclouds.head_for(call.context, pcloud_id, project_id)


def visible_pcloud(call: api_call.Call) -> pclouds.Pcloud:
    """Return the Pcloud in the path, if the caller may see the Pcloud.

    :raises: `exception.PcloudNotFound`, as `visible_head`
    """
    return pclouds.show(
        call.context, visible_head(call, call.parameters['id']).id)


def own_pcloud(call: api_call.Call) -> pclouds.Pcloud:
    """Return the Pcloud in the path, for the owner and administrators only.

    :raises: as `own_head`
    """
    return pclouds.show(call.context, own_head(call).id)


def own_head(call: api_call.Call) -> pclouds.Head:
    """Return the Pcloud in the path without hosts, for the same callers.

    :raises: as `own`
    """
    return own(call, call.parameters['id'])


def own(call: api_call.Call, pcloud_id: str) -> pclouds.Head:
    """Return a Pcloud without hosts, for the owner and administrators only.

    :raises: `exception.PcloudNotFound`, `exception.Denied` for a
        tenant that is not the owner, and for a caller who does not pass the
        route's rule for the owner's project
    """
    pcloud = visible_head(call, pcloud_id)
    if not is_own(call, pcloud) or not call.can(call.rule, pcloud.owner):
        raise exception.Denied(
            f"Only the owner of Pcloud '{pcloud.id}' may do this.")
    return pcloud
