# SPDX-License-Identifier: Apache-2.0

"""Checks of Nova's and Pcloud's policy rules for a caller."""

from nova import context as nova_context
from nova.policies import base
# Registers the check that Nova's own rules are written with.
from nova import policy as nova_policy  # noqa: F401
from oslo_config import cfg
from oslo_policy import policy

from pcloud.api import policies

CONF = cfg.CONF


class Enforcer:
    """The rules in force: defaults of Pcloud and Nova, and overrides."""

    def __init__(self) -> None:
        self._enforcer = policy.Enforcer(CONF)
        # As in Nova: the defaults changed years ago, and a warning for every
        # rule fills the log.
        self._enforcer.suppress_default_change_warnings = True
        self._enforcer.suppress_deprecation_warnings = True
        self._enforcer.register_defaults(base.list_rules())
        self._enforcer.register_defaults(policies.list_rules())

    def allow(
        self, context: nova_context.RequestContext, rule: str,
        project_id: str | None,
    ) -> bool:
        """Whether a caller passes a rule.

        No token of the system or of a domain passes, not even where
        ``[oslo_policy] enforce_scope`` of earlier series lets such tokens
        pass: all rules are about projects.

        :param project_id: the project that owns the resource of the rule; None
            for the caller's project
        """
        if context.system_scope or context.domain_id:
            return False
        target = {'project_id': project_id or context.project_id,
                  'user_id': context.user_id}
        return bool(self._enforcer.authorize(
            rule, target, context, do_raise=False))
