# SPDX-License-Identifier: Apache-2.0

"""The policies of Pcloud's API, to be overridden in Nova's policy file."""

import itertools

from pcloud.api.policies import about
from pcloud.api.policies import attributes
from pcloud.api.policies import audit
from pcloud.api.policies import explain
from pcloud.api.policies import hidden_servers
from pcloud.api.policies import host_constraint
from pcloud.api.policies import host_flavors
from pcloud.api.policies import hosts
from pcloud.api.policies import pclouds
from pcloud.api.policies import quotas
from pcloud.api.policies import rebalance
from pcloud.api.policies import rehearsal
from pcloud.api.policies import room
from pcloud.api.policies import scoped_policies
from pcloud.api.policies import servers
from pcloud.api.policies import simulate
from pcloud.api.policies import tenants


def list_rules() -> list:
    """Return every rule (``oslo.policy.policies``)."""
    return list(itertools.chain(
        host_flavors.rules, pclouds.rules, hosts.rules, tenants.rules,
        quotas.rules, attributes.rules, scoped_policies.rules,
        host_constraint.rules, room.rules, explain.rules,
        simulate.rules, rebalance.rules, rehearsal.rules, hidden_servers.rules,
        servers.rules,
        about.rules, audit.rules))
