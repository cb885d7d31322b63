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

"""How the settings of a scope are shown."""

from pcloud.objects import machine_constraints
from pcloud.objects import scoped_policies
from pcloud.rules import constraints as rules


def show(policy: scoped_policies.Policy) -> dict:
    """Return what the owner of a Pcloud sees: what customers wish.

    Which real host an administrator may have chosen is not shown.
    """
    return {'scope': policy.scope,
            'id': policy.id,
            'constraints': rules.text({
                key: value for key, value in policy.constraints.items()
                if key != rules.HOST}),
            'customer_keys': [str(key) for key in policy.customer_keys]}


def detail(policy: scoped_policies.Policy) -> dict:
    """Return what an administrator sees: what the cloud wishes too."""
    return {**show(policy),
            'constraints': rules.text(policy.constraints),
            'system_keys': [str(key) for key in policy.system_keys]}


def setting(found: rules.Setting) -> dict:
    """Return a constraint that counts, as an administrator sees it."""
    return {'key': found.key, 'value': found.value, 'source': found.source}


def open_setting(found: rules.Setting) -> dict:
    """Return it as a tenant sees it."""
    if machine_constraints.is_open(found, machine_constraints.OWNER_SEES):
        return setting(found)
    return {**setting(found), 'value': None}
