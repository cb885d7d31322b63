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

"""``/os-pcloud-policies``."""

from pcloud.aggregates import scoped_policies
from pcloud.api import call as api_call
from pcloud.api.handlers import access
from pcloud.api.policies import scoped_policies as rules
from pcloud.api import projects
from pcloud.api.views import scoped_policies as views
from pcloud import exception
from pcloud.rules import affinity

# The scopes in which there are keys; source: CONTRACT section 6.
_SCOPES = {
    'system_keys': (scoped_policies.CLOUD, scoped_policies.DOMAIN,
                    scoped_policies.PROJECT, scoped_policies.PCLOUD),
    'customer_keys': (scoped_policies.PROJECT, scoped_policies.PCLOUD)}
_CHECKS = {'system_keys': affinity.check_system,
           'customer_keys': affinity.check_customer}


def show(call: api_call.Call) -> dict:
    """Show the settings of a scope.

    The owner of a Pcloud sees its customer keys; nobody else but
    administrators sees anything.
    """
    scope, scope_id = _scope(call)
    everything = call.can(rules.ALL)
    if not everything:
        _check_own(call, scope)
    found = scoped_policies.show(call.context, scope, scope_id)
    if not everything and not found.customer_keys:
        raise exception.ScopedPolicyNotFound(scope=scope, id=scope_id)
    return {'policy': (views.detail if everything else views.show)(found)}


def update(call: api_call.Call) -> dict:
    """Set keys of a scope, in place of those that were set.

    :raises: `exception.PolicyForbids` when system keys are not for the
        caller
    """
    scope, scope_id = _scope(call)
    everything = call.can(rules.ALL)
    if not everything:
        _check_own(call, scope)
        if 'system_keys' in call.body:
            raise exception.PolicyForbids(rule=rules.ALL)
    elif scope == scoped_policies.PROJECT:
        projects.check(call.context, scope_id)
    for member in call.body:
        if scope not in _SCOPES[member]:
            raise exception.NotInScope(member=member, scope=scope,
                                       scopes=', '.join(_SCOPES[member]))
    changes = {member: affinity.distinct(texts, _CHECKS[member])
               for member, texts in call.body.items()}
    found = scoped_policies.update(call.context, scope, scope_id, changes)
    return {'policy': (views.detail if everything else views.show)(found)}


def delete(call: api_call.Call) -> None:
    """Take back all settings of a scope."""
    scoped_policies.delete(call.context, *_scope(call))


def _scope(call: api_call.Call) -> tuple[str, str]:
    """Return scope and id from the path, if there can be such a one.

    :raises: `exception.ScopedPolicyNotFound`
    """
    scope, scope_id = call.parameters['scope'], call.parameters['id']
    is_default = scope_id == scoped_policies.DEFAULT
    if scope not in scoped_policies.SCOPES or (
            scope == scoped_policies.CLOUD and not is_default):
        raise exception.ScopedPolicyNotFound(scope=scope, id=scope_id)
    if scope == scoped_policies.PCLOUD:
        access.visible_pcloud(call)
    else:
        projects.check_id(scope_id)
    return scope, scope_id


def _check_own(call: api_call.Call, scope: str) -> None:
    if scope != scoped_policies.PCLOUD:
        raise exception.PolicyForbids(rule=rules.ALL)
    access.own_pcloud(call)
