# SPDX-License-Identifier: Apache-2.0

"""The policies of Pcloud's API, to be overridden in Nova's policy file."""

from pcloud.api.policies import host_flavors
from pcloud.api.policies import hosts
from pcloud.api.policies import others
from pcloud.api.policies import pclouds
from pcloud.api.policies import scoped_policies


def list_rules() -> list:
    """Return every rule (``oslo.policy.policies``)."""
    return [*host_flavors.rules, *pclouds.rules, *hosts.rules,
            *scoped_policies.rules, *others.rules]
