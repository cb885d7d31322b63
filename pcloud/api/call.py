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

"""One call of the API, after routing and before its handler."""

from collections.abc import Mapping
import dataclasses
import functools

from nova import context as nova_context

from pcloud.api import enforcer
from pcloud.api.policies import pclouds as rules


@dataclasses.dataclass(frozen=True)
class Call:
    """What a handler is told.

    :ivar context: the caller's context
    :ivar rbac: what tells whether the caller passes a policy rule
    :ivar rule: the policy rule of the route
    :ivar parameters: what stands in the path where the route has braces
    :ivar query: the query string, valid for the route's schema
    :ivar body: the inside of the body's one object, valid for the route's
        schema; empty where the route takes none
    """

    context: nova_context.RequestContext
    rbac: enforcer.Enforcer
    rule: str
    parameters: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping

    @property
    def project_id(self) -> str:
        """The caller's project."""
        return self.context.project_id

    @functools.cached_property
    def manages_all(self) -> bool:
        """Whether the caller sees and manages everybody's Pclouds.

        A list asks this for every Pcloud in it.
        """
        return self.can(rules.ALL_PROJECTS)

    def can(self, rule: str, project_id: str | None = None) -> bool:
        """Whether the caller passes a rule.

        :param project_id: the project that owns what the rule is about; the
            caller's own where it is left out
        """
        return self.rbac.allow(self.context, rule, project_id)
