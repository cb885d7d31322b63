# SPDX-License-Identifier: Apache-2.0

"""How a scoped policy is shown."""

from collections.abc import Collection
from collections.abc import Mapping

from pcloud.api.schemas import shown as answers
from pcloud import exception
from pcloud.objects.placing import machine_constraints
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import constraints
from pcloud.rules.placing import default_pcloud

_KEYS = answers.list_of(answers.TEXT)

# A default that cannot be read is shown as it is stored.
POLICY = answers.members({
    'scope': {'type': 'string', 'enum': [*scoped_policies.SCOPES]},
    'id': answers.TEXT,
    'customer_keys': _KEYS,
}, {
    'constraints': answers.TEXT,
    'system_keys': _KEYS,
    'share': answers.NUMBER_OR_NULL,
    'default_pcloud': answers.or_null({**answers.members({}, {
        **dict.fromkeys(('pcloud', 'mode', 'host_flavor',
                         'availability_zone'), answers.TEXT),
        'max_hosts': {'type': ['integer', 'string']}}),
        'additionalProperties': True}),
    'default_pcloud_source': answers.TEXT_OR_NULL,
    'effective': answers.list_of(answers.members({
        'key': answers.TEXT, 'value': answers.TEXT_OR_NULL,
        'source': answers.TEXT})),
    'warning': answers.TEXT,
})


def default(counting: tuple[str, Mapping[str, str]] | None) -> dict:
    """Return the default Pcloud that counts, and the scope of the default.

    A default that cannot be read is shown as it is stored.

    :param counting: the scope, and the stored default
    """
    scope, stored = counting or (None, default_pcloud.written(None))
    try:
        value = default_pcloud.read(stored)
        shown = None if value is None else value.members
    except exception.InvalidValue:
        shown = {**default_pcloud.shown(stored)}
    return {'default_pcloud': shown, 'default_pcloud_source': scope}


def unusable(
    scope: str, scope_id: str, pcloud_id: str, mode: str, tenants: int,
) -> str:
    """Return who may not use the default Pcloud of a scope, in a sentence.

    :param tenants: the number of the Pcloud's tenants
    """
    whose = (f'project {scope_id}, which is no tenant'
             if scope == scoped_policies.PROJECT else
             f'every project but the tenants ({tenants})')
    fate = ('start outside of Pclouds' if mode == default_pcloud.PREFER
            else 'are refused')
    return (f'Servers without a hint of {whose} of Pcloud {pcloud_id} '
            f'{fate}.')


def keys(policy: scoped_policies.Policy) -> dict:
    """Return a policy without constraints and system keys."""
    return {'scope': policy.scope, 'id': policy.id,
            'customer_keys': [str(key) for key in policy.customer_keys]}


def show(policy: scoped_policies.Policy) -> dict:
    """Return a policy for a Pcloud's owner or a project's members.

    Neither system keys nor the real host that an administrator may have named
    are shown.
    """
    return {**keys(policy),
            'constraints': constraints.text({
                key: value for key, value in policy.constraints.items()
                if key != constraints.HOST})}


def detail(policy: scoped_policies.Policy) -> dict:
    """Return a policy with system keys, for administrators."""
    shown = {**show(policy),
             'constraints': constraints.text(policy.constraints),
             'system_keys': [str(key) for key in policy.system_keys]}
    if policy.scope == scoped_policies.PROJECT:
        shown['share'] = policy.share
    return shown


def setting(constraint: constraints.Setting) -> dict:
    """Return an effective constraint, for administrators."""
    return {'key': constraint.key, 'value': constraint.value,
            'source': constraint.source}


def open_setting(
    constraint: constraints.Setting, sources: Collection[str],
) -> dict:
    """Return an effective constraint for others than administrators.

    The value is None where the caller may not see the value.

    :param sources: the sources whose values the caller sees
    """
    if machine_constraints.is_open(constraint, sources):
        return setting(constraint)
    return {**setting(constraint), 'value': None}
