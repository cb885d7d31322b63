# SPDX-License-Identifier: Apache-2.0

"""Whether whoever has set a default may still add hosts to its Pcloud.

A right is asked when it is used: the rows of the default, the owner of the
Pcloud, Keystone's answer about the user, and the policies in force count as
they are when the Pcloud is about to grow.

Rule: reference-default-pcloud-grow-rights
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from nova import context as nova_context
from nova import objects

from pcloud.api import enforcer
from pcloud.api.policies import hosts
from pcloud.api.policies import pclouds as pcloud_rules
from pcloud.backend import grants
from pcloud import exception
from pcloud.objects import pclouds
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import default_pcloud
from pcloud.scheduler import request


def growth(
    spec: objects.RequestSpec, pcloud: pclouds.Head,
) -> default_pcloud.Growth:
    """Return how a Pcloud may grow for a launch.

    One query, and the calls of `grants.of_user`.

    :raises: `exception.GrowthForbidden` when another default counts by now,
        or whoever has set the default may not add hosts any more;
        `exception.Unavailable`
    """
    growth = _counting(spec, pcloud)
    if growth is None:
        raise exception.GrowthForbidden(
            reason='its default does not let it grow any more')
    if growth.setter is None:
        raise exception.GrowthForbidden(
            reason='who has set its default is not recorded')
    if not _may_add(growth.setter, pcloud):
        raise exception.GrowthForbidden(
            reason='the user who has set its default may not add hosts any '
                   'more')
    return growth


def _counting(
    spec: objects.RequestSpec, pcloud: pclouds.Head,
) -> default_pcloud.Growth | None:
    """Return how a Pcloud grows by the default that counts now."""
    counting = scoped_policies.default_pcloud(request.policies(spec))
    try:
        default = counting and default_pcloud.read(counting[1])
    except exception.InvalidValue:
        return None
    return (default.growth if default and default.pcloud == pcloud.id
            else None)


def _may_add(
    setter: default_pcloud.Setter, pcloud: pclouds.Head,
) -> bool:
    """Whether a user may add hosts to a Pcloud, as if the user called."""
    grant = grants.of_user(setter.user, setter.project)
    if grant is None:
        return False
    caller = nova_context.RequestContext(
        user_id=setter.user, project_id=setter.project,
        user_domain_id=grant.user_domain, project_domain_id=grant.domain,
        roles=list(grant.roles), overwrite=False)
    rbac = enforcer.Enforcer()
    return rbac.allow(caller, hosts.ADD, pcloud.owner) and (
        setter.project == pcloud.owner or
        rbac.allow(caller, pcloud_rules.ALL_PROJECTS, None))
