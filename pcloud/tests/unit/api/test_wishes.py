# SPDX-License-Identifier: Apache-2.0


import types

from oslotest import base

from pcloud.api.policies import hosts
from pcloud.api import routes
from pcloud.api import wishes
from pcloud import exception
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import recovery

RULES = (hosts.UPDATE, hosts.MOVE, hosts.ADD, hosts.REMOVE)

# Which of the rules each wish needs.
TABLE = (
    (wishes.of_drain(draining.Drain(0, draining.NONE)), (1, 0, 0, 0)),
    (wishes.of_drain(draining.Drain(0, draining.LIVE)), (1, 1, 0, 0)),
    (wishes.of_drain(draining.Drain(0, draining.ANY)), (1, 1, 0, 0)),
    (wishes.of_drain(draining.Drain(0, draining.NONE, True)), (1, 0, 0, 1)),
    (wishes.of_drain(draining.Drain(0, draining.LIVE, True)), (1, 1, 0, 1)),
    (wishes.of_policy(None), (0, 0, 0, 0)),
    (wishes.of_policy(maintenance_policies.STAY), (0, 0, 0, 0)),
    (wishes.of_policy(maintenance_policies.MIGRATE), (1, 1, 0, 0)),
    (wishes.of_policy(maintenance_policies.REPLACE), (1, 1, 1, 1)),
    (wishes.of_recovery(None), (0, 0, 0, 0)),
    (wishes.of_recovery(recovery.OFF), (0, 0, 0, 0)),
    (wishes.of_recovery(recovery.IN_PLACE), (1, 1, 0, 0)),
    (wishes.of_recovery(recovery.REPLACE), (1, 1, 1, 1)),
    ([wishes.GROW], (1, 0, 1, 0)),
    ([wishes.REBALANCE], (0, 1, 0, 0)),
    (wishes.of_shrink(None), (0, 0, 0, 0)),
    (wishes.of_shrink({'after_hours': 1, 'min_hosts': 0, 'keep_spare': 0}),
     (1, 0, 0, 1)))


class CheckTest(base.BaseTestCase):
    """The rows of the table in `wishes.check`."""

    def check(self, wanted, *forbidden):
        """Check wishes of a caller to whom some rules are refused."""
        asked = []

        def can(rule, project_id):
            asked.append((rule, project_id))
            return rule not in forbidden

        wishes.check(types.SimpleNamespace(can=can), 'owner', wanted)
        return asked

    def test_table(self):
        for wanted, row in TABLE:
            needed = {rule for rule, is_needed in zip(RULES, row, strict=True)
                      if is_needed}
            asked = self.check(wanted)
            # Of the owner of the Pcloud, whoever calls.
            self.assertEqual({(rule, 'owner') for rule in needed}, set(asked))
            for rule in RULES:
                if rule in needed:
                    error = self.assertRaises(
                        exception.PolicyForbids, self.check, wanted, rule)
                    self.assertIn(rule, str(error))
                else:
                    self.check(wanted, rule)

    def test_all_that_is_missing_is_named(self):
        error = self.assertRaises(
            exception.PolicyForbids, self.check,
            wishes.of_policy(maintenance_policies.REPLACE), hosts.ADD,
            hosts.REMOVE)
        self.assertIn(f'{hosts.ADD} and {hosts.REMOVE}', str(error))
        self.assertNotIn(hosts.MOVE, str(error))

    def test_rules_of_the_routes(self):
        """The rule of a route is among the rules of the wish."""
        for method, path, wish in (
                ('PUT', '/os-pclouds/{id}/hosts/{name}', wishes.CLOSE),
                ('POST', '/os-pclouds/{id}/rebalance', wishes.REBALANCE)):
            self.assertIn(routes.methods_of(path)[method].rule,
                          wishes.RULES[wish])
