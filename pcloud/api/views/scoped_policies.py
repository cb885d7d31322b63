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

"""How a scoped policy is shown."""

from pcloud.objects import machine_constraints
from pcloud.objects import scoped_policies
from pcloud.rules import constraints as rules


def show(policy: scoped_policies.Policy) -> dict:
    """Return a policy for the owner of a Pcloud, without system keys.

    The real host that an administrator may have named is not shown.
    """
    return {'scope': policy.scope,
            'id': policy.id,
            'constraints': rules.text({
                key: value for key, value in policy.constraints.items()
                if key != rules.HOST}),
            'customer_keys': [str(key) for key in policy.customer_keys]}


def detail(policy: scoped_policies.Policy) -> dict:
    """Return a policy with system keys, for administrators."""
    return {**show(policy),
            'constraints': rules.text(policy.constraints),
            'system_keys': [str(key) for key in policy.system_keys]}


def setting(constraint: rules.Setting) -> dict:
    """Return an effective constraint, for administrators."""
    return {'key': constraint.key, 'value': constraint.value,
            'source': constraint.source}


def open_setting(constraint: rules.Setting) -> dict:
    """Return an effective constraint for the owner of a Pcloud.

    The value is None where the owner may not see the value.
    """
    if machine_constraints.is_open(constraint, machine_constraints.OWNER_SEES):
        return setting(constraint)
    return {**setting(constraint), 'value': None}
