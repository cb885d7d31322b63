# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-policies``."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping

from oslo_utils import strutils

from pcloud.api import call as api_call
from pcloud.api import constraint_levels
from pcloud.api.policies import others
from pcloud.api.policies import scoped_policies as policies
from pcloud.api import projects
from pcloud.api.views import scoped_policies as views
from pcloud.api import wishes
from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud.objects import host_flavors
from pcloud.objects import pclouds
from pcloud.objects.placing import machine_constraints
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import affinity
from pcloud.rules.placing import constraints as constraint_rules
from pcloud.rules.placing import default_pcloud
from pcloud.rules import waiting

# Member -> scopes with the member. Rule: reference-scoped-policies-members
_SCOPES = {
    'system_keys': (scoped_policies.CLOUD, scoped_policies.DOMAIN,
                    scoped_policies.PROJECT, scoped_policies.PCLOUD),
    'customer_keys': (scoped_policies.DOMAIN, scoped_policies.PROJECT,
                      scoped_policies.PCLOUD),
    'constraints': scoped_policies.SCOPES,
    'default_pcloud': scoped_policies.DEFAULT_SCOPES,
    'share': (scoped_policies.PROJECT,)}
# Scope -> member -> the policy of those who may set the member of their own,
# and are no administrators. Rule: reference-scoped-policies-rights
_OWN = {
    scoped_policies.PCLOUD: {'constraints': policies.UPDATE,
                             'customer_keys': policies.UPDATE},
    scoped_policies.PROJECT: {'constraints': policies.PROJECT,
                              'customer_keys': policies.PROJECT,
                              'default_pcloud': policies.DEFAULT},
    scoped_policies.DOMAIN: {'customer_keys': policies.DOMAIN}}
_CHECKS = {'system_keys': affinity.check_system,
           'customer_keys': affinity.check_customer}


def show(call: api_call.Call) -> dict:
    """Show the policy of a scope.

    The owner of a Pcloud sees the constraints and the customer keys of the
    Pcloud, a member of a project those and the default Pcloud of the project;
    administrators see all policies.

    :raises: `exception.PolicyForbids`, `exception.ScopedPolicyNotFound` when
        nothing is set that the caller sees, and as `_check_own`
    """
    scope, scope_id = _scope(call)
    everything = call.can(policies.ALL)
    if not everything:
        _check_own(call, scope, scope_id)
    if strutils.bool_from_string(call.query.get('effective', '0')):
        if not everything and scope == scoped_policies.DOMAIN:
            raise exception.PolicyForbids(rule=policies.ALL)
        return {'policy': _effective(call, scope, scope_id)}
    if scope in scoped_policies.DEFAULT_SCOPES:
        return {'policy': _with_default(call, scope, scope_id)}
    policy = scoped_policies.show(scope, scope_id)
    if not everything and not (policy.customer_keys or policy.constraints):
        raise exception.ScopedPolicyNotFound(scope=scope, id=scope_id)
    return {'policy': _view(call, scope)(policy)}


def _with_default(
    call: api_call.Call, scope: str, scope_id: str,
) -> dict:
    """Return the policy of a scope, with the default Pcloud that counts.

    :raises: `exception.ScopedPolicyNotFound` when nothing is set that the
        caller sees, and no default of a level above counts
    """
    scopes = _levels(call, scope, scope_id)
    there = scoped_policies.by_scopes(scopes)
    counting = scoped_policies.default_pcloud(there.values())
    shown = _view(call, scope)(there.get(
        (scope, scope_id), scoped_policies.Policy(scope, scope_id)))
    if not counting and not any(shown.get(member) for member in _SCOPES):
        raise exception.ScopedPolicyNotFound(scope=scope, id=scope_id)
    return shown | views.default(counting)


def _view(
    call: api_call.Call, scope: str,
) -> Callable[[scoped_policies.Policy], dict]:
    if call.can(policies.ALL):
        return views.detail
    return views.keys if scope == scoped_policies.DOMAIN else views.show


def _effective(call: api_call.Call, scope: str, scope_id: str) -> dict:
    """Return the policy of a scope, with the effective constraints."""
    scopes = _levels(call, scope, scope_id)
    there = scoped_policies.by_scopes(scopes)
    chain = [there.get(level, scoped_policies.Policy(*level))
             for level in scopes]
    settings = machine_constraints.of_policies({}, chain)
    if call.can(policies.ALL):
        shown = [views.setting(setting) for setting in settings.values()]
    else:
        # Whoever sees the policy of the scope sees the values from there.
        sources = *machine_constraints.TENANT_SEES, scope
        shown = [views.open_setting(setting, sources)
                 for setting in settings.values()]
    return {**_view(call, scope)(chain[0]), 'effective': shown}


def _levels(
    call: api_call.Call, scope: str, scope_id: str,
) -> list[tuple[str, str]]:
    """Return the scope and the levels above the scope, lowest first."""
    if scope == scoped_policies.PCLOUD:
        return constraint_levels.levels_of_pcloud(
            call.context, api_call.visible_head(call, scope_id))
    if scope == scoped_policies.PROJECT:
        return constraint_levels.levels_of_project(call.context, scope_id)
    if scope == scoped_policies.DOMAIN:
        return [(scope, scope_id), constraint_levels.CLOUD]
    return [(scope, scope_id)]


def update(call: api_call.Call) -> dict:
    """Replace members in the policy of a scope.

    :raises: `exception.PolicyForbids` when the caller may not set the policy,
        or a member; `exception.Invalid` for a member of another scope;
        `exception.ProjectUnknown`, `exception.InvalidValue`; and as
        `_default`
    """
    scope, scope_id = _scope(call)
    everything = call.can(policies.ALL)
    if not everything:
        _check_own(call, scope, scope_id)
        for member in call.body:
            rule = _OWN[scope].get(member, policies.ALL)
            if not call.can(rule):
                raise exception.PolicyForbids(rule=rule)
    elif scope == scoped_policies.PROJECT:
        projects.check(call.context, scope_id)
    elif scope == scoped_policies.DOMAIN:
        projects.check_domain(call.context, scope_id)
    for member in call.body:
        if scope not in _SCOPES[member]:
            raise exception.Invalid(
                f"'{member}' cannot be set in scope {scope}; the scopes of "
                f"'{member}' are {', '.join(_SCOPES[member])}.")
    changes: dict[str, Iterable[affinity.Key] | Mapping[str, str]] = {
        member: affinity.distinct(call.body[member], check)
        for member, check in _CHECKS.items() if member in call.body}
    if 'constraints' in call.body:
        changes['constraints'] = _constraints(call, scope, scope_id)
    if 'default_pcloud' in call.body:
        changes['default_pcloud'] = _default(call)
    if 'share' in call.body:
        changes['share'] = waiting.stored_share(call.body['share'])
    # What is read after the change could refuse a change that is made.
    warning = _warning(call, scope, scope_id) if everything else {}
    policy = scoped_policies.update(call.context, scope, scope_id, changes)
    shown = _view(call, scope)(policy)
    if policy.default:
        shown |= views.default((scope, policy.default))
    return {'policy': shown | warning}


def _warning(
    call: api_call.Call, scope: str, scope_id: str,
) -> dict[str, str]:
    """Return what an administrator should know of the default to set.

    :returns: ``warning``, where the default counts for projects that are no
        tenants of the Pcloud
    :raises: `exception.PcloudNotFound`

    Rule: reference-default-pcloud-warning
    """
    default = call.body.get('default_pcloud')
    if default is None:
        return {}
    tenants = pclouds.head(call.context, default['pcloud']).tenants
    if scope == scoped_policies.PROJECT and scope_id in tenants:
        return {}
    return {'warning': views.unusable(
        scope, scope_id, default['pcloud'], default['mode'], len(tenants))}


def _default(call: api_call.Call) -> dict[str, str]:
    """Return the default Pcloud to set, as it is stored.

    :raises: `exception.InvalidValue`, `exception.PcloudNotFound`,
        `exception.HostFlavorNotFound`, `exception.NotFound` for an unknown
        zone; and unless the caller is an administrator
        `exception.PcloudUnusable` for a Pcloud that the caller's project may
        not use, and as `_check_grower`
    """
    user = call.context.user_id
    stored = default_pcloud.written(
        call.body['default_pcloud'],
        default_pcloud.Setter(user, call.project_id) if user else None)
    default = default_pcloud.read(stored)
    if default is None:
        return stored
    if call.can(policies.ALL):
        pclouds.head(call.context, default.pcloud)
    else:
        isolation.usable_pcloud(
            call.context, default.pcloud, call.project_id)
        if default.growth is not None:
            _check_grower(call, default.pcloud)
    if default.growth is not None:
        host_flavors.units(call.context, default.growth.host_flavor)
        if default.growth.zone is not None:
            inherited_metadata.check_zone(call.context, default.growth.zone)
    return stored


def _check_grower(call: api_call.Call, pcloud_id: str) -> None:
    """Refuse growth to whoever may not add hosts to a Pcloud.

    :raises: `exception.Denied` for a tenant that is not the owner,
        `exception.PolicyForbids`
    """
    pcloud = api_call.own(call, pcloud_id)
    wishes.check(call, pcloud.owner, [wishes.GROW])


def _constraints(
    call: api_call.Call, scope: str, scope_id: str,
) -> dict[str, str]:
    """Return the constraints to set.

    A ``host`` constraint that an administrator has set stays, as others do not
    see the constraint.
    """
    constraints = constraint_levels.read(call.body['constraints'], call.can)
    if scope == scoped_policies.ROLE:
        constraint_rules.check_role(constraints)
        if not constraints:
            machine_constraints.check_unused(call.context, scope_id)
    if not call.can(others.CONSTRAINTS_HOST):
        there = scoped_policies.by_scopes([(scope, scope_id)])
        for policy in there.values():
            constraints |= {
                key: value for key, value in policy.constraints.items()
                if key == constraint_rules.HOST}
    return constraints


def delete(call: api_call.Call) -> None:
    """Delete the policy of a scope.

    :raises: `exception.Conflict` for a role that is named in constraints
    """
    scope, scope_id = _scope(call)
    if scope == scoped_policies.ROLE:
        machine_constraints.check_unused(call.context, scope_id)
    scoped_policies.delete(call.context, scope, scope_id)


def _scope(call: api_call.Call) -> tuple[str, str]:
    """Return scope and id in the path, if the scope can have the id.

    :raises: `exception.NotFound`, `exception.PcloudNotFound`
    """
    scope, scope_id = call.parameters['scope'], call.parameters['id']
    if scope == scoped_policies.CLOUD and (
            scope_id != scoped_policies.DEFAULT):
        raise exception.NotFound(
            f"There are no policies of {scope} '{scope_id}': the only id of "
            f"{scope} is '{scoped_policies.DEFAULT}'.")
    if scope == scoped_policies.PCLOUD:
        api_call.visible_head(call, scope_id)
    return scope, scope_id


def _check_own(call: api_call.Call, scope: str, scope_id: str) -> None:
    """Refuse a policy that is not about what is the caller's own.

    The domain of a caller is the domain of the caller's project; a token
    without one has no domain.

    :raises: `exception.PolicyForbids`, and as `api_call.own_head`
    """
    if scope == scoped_policies.PCLOUD:
        api_call.own_head(call)
    elif not (
            (scope, scope_id) == (scoped_policies.PROJECT, call.project_id) or
            ((scope, scope_id) == (scoped_policies.DOMAIN,
                                   call.context.project_domain_id) and
             call.can(policies.DOMAIN))):
        raise exception.PolicyForbids(rule=policies.ALL)
