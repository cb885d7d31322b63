# SPDX-License-Identifier: Apache-2.0

"""Machine constraints in requests, and the levels of the fallback."""

from collections.abc import Callable

from nova import context as nova_context

from pcloud.api.policies import others
from pcloud.api import projects
from pcloud import exception
from pcloud.objects import pclouds
from pcloud.objects.placing import machine_constraints
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import constraints as constraint_rules


def read(text: str, can: Callable[[str], bool]) -> dict[str, str]:
    """Read the constraints in a request.

    A role among the constraints takes a query.

    :param can: whether the caller passes a policy rule
    :raises: `exception.InvalidValue`, `exception.Invalid` for an unknown role,
        `exception.HostConstraint` when the caller may not name hosts
    """
    constraints = constraint_rules.parse(text)
    if constraint_rules.HOST in constraints and not can(
            others.CONSTRAINTS_HOST):
        raise exception.HostConstraint(host=constraints[constraint_rules.HOST])
    if constraints.get(constraint_rules.ROLE):
        machine_constraints.role_constraints(
            constraints[constraint_rules.ROLE])
    return constraints


def levels_of_pcloud(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> list[tuple[str, str]]:
    """Return (scope, id) of a Pcloud and of the levels above, lowest first."""
    return [(scoped_policies.PCLOUD, pcloud.id),
            *levels_of_project(context, pcloud.owner)]


def levels_of_project(
    context: nova_context.RequestContext, project_id: str,
) -> list[tuple[str, str]]:
    """Return (scope, id) of a project and of the levels above, lowest first.

    Keystone is asked for the domain, unless the project is the caller's.
    Without an answer, or when the project is gone, the domain's level is left
    out.
    """
    domain = projects.known_domain(context, project_id)
    return [(scoped_policies.PROJECT, project_id),
            *([(scoped_policies.DOMAIN, domain)] if domain else []), CLOUD]


CLOUD = scoped_policies.CLOUD, scoped_policies.DEFAULT
