# SPDX-License-Identifier: Apache-2.0

"""A call of the API, after routing and before the call's handler.

A handler asks here for the Pclouds that a caller sees, and for the Pclouds
that a caller manages.
"""

from collections.abc import Mapping
import dataclasses
import functools
import typing

from nova import context as nova_context
from oslo_utils import strutils

from pcloud.api import enforcer
from pcloud.api.policies import pclouds as policies
from pcloud import exception
from pcloud.objects import pclouds


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer of a handler with another status than the route's.

    :ivar status: one of the route's `also`
    """

    status: int
    body: dict


@dataclasses.dataclass(frozen=True)
class Call:
    """The arguments of a handler.

    :ivar context: the caller's context
    :ivar rbac: the enforcer that decides which policy rules the caller passes
    :ivar rule: the policy rule of the route
    :ivar parameters: name -> value of the ``{name}`` parameters in the route's
        path
    :ivar query: the query string, valid for the route's schema
    :ivar body: the members of the single object in the body, or the list in
        the body by its name, valid for the route's schema; empty without a
        body
    :ivar has_body: whether the request has a body that the route takes
    """

    context: nova_context.RequestContext
    rbac: enforcer.Enforcer
    rule: str
    parameters: Mapping[str, str]
    query: Mapping[str, typing.Any]
    body: Mapping
    has_body: bool = False

    @property
    def project_id(self) -> str:
        """The caller's project.

        :raises: `exception.PolicyForbids` for a token of no project
        """
        project_id = self.context.project_id
        if project_id is None:
            raise exception.PolicyForbids(rule=self.rule)
        return project_id

    @functools.cached_property
    def manages_all(self) -> bool:
        """Whether the caller sees and manages everybody's Pclouds.

        The answer is kept: a list of Pclouds needs the answer for every
        Pcloud.
        """
        return self.can(policies.ALL_PROJECTS)

    def asks_for(self, name: str) -> bool:
        """Whether a flag of the query string is set."""
        return strutils.bool_from_string(self.query.get(name, '0'))

    def can(self, rule: str, project_id: str | None = None) -> bool:
        """Whether the caller passes a rule.

        :param project_id: the project that owns the resource of the rule; by
            default the caller's project
        """
        return self.rbac.allow(self.context, rule, project_id)


def is_own(call: Call, pcloud: pclouds.Head) -> bool:
    """Whether the caller manages a Pcloud, as its owner or for everybody."""
    return pcloud.owner == call.project_id or call.manages_all


def visible_head(call: Call, pcloud_id: str) -> pclouds.Head:
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


def visible_pcloud(call: Call) -> pclouds.Pcloud:
    """Return the Pcloud in the path, if the caller may see the Pcloud.

    :raises: `exception.PcloudNotFound`, as `visible_head`
    """
    return pclouds.show(
        call.context, visible_head(call, call.parameters['id']).id)


def own_pcloud(call: Call) -> pclouds.Pcloud:
    """Return the Pcloud in the path, for the owner and administrators only.

    :raises: as `own_head`
    """
    return pclouds.show(call.context, own_head(call).id)


def own_head(call: Call) -> pclouds.Head:
    """Return the Pcloud in the path without hosts, for the same callers.

    :raises: as `own`
    """
    return own(call, call.parameters['id'])


def own(call: Call, pcloud_id: str) -> pclouds.Head:
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
