# SPDX-License-Identifier: Apache-2.0

"""A call of the API, after routing and before the call's handler."""

from collections.abc import Mapping
import dataclasses
import functools
import typing

from nova import context as nova_context
from oslo_utils import strutils

from pcloud.api import enforcer
from pcloud.api.policies import pclouds as rules
from pcloud import exception


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
    :ivar body: the members of the single object in the body, valid for the
        route's schema; empty where the route takes no body
    """

    context: nova_context.RequestContext
    rbac: enforcer.Enforcer
    rule: str
    parameters: Mapping[str, str]
    query: Mapping[str, typing.Any]
    body: Mapping

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
        return self.can(rules.ALL_PROJECTS)

    def asks_for(self, name: str) -> bool:
        """Whether a flag of the query string is set."""
        return strutils.bool_from_string(self.query.get(name, '0'))

    def can(self, rule: str, project_id: str | None = None) -> bool:
        """Whether the caller passes a rule.

        :param project_id: the project that owns the resource of the rule; by
            default the caller's project
        """
        return self.rbac.allow(self.context, rule, project_id)
