# SPDX-License-Identifier: Apache-2.0

"""Find invalid values written by hand."""

from collections.abc import Iterator
from collections.abc import Sequence

from nova import context as nova_context

from pcloud.audit import findings
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import rows
from pcloud.backend import flavors
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import right_values
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import default_pcloud

KIND = 'value-not-valid'


def check(
    context: nova_context.RequestContext,
) -> Iterator[findings.Finding]:
    """Find invalid values of aggregates and of flavors.

    Three queries. `attribute_checks` checks the values of host attributes.
    """
    aggregates = rows.with_values(context)
    yield from _check_defaults(aggregates)
    for aggregate in aggregates:
        for key, value in sorted(aggregate.metadata.items()):
            if not key.startswith(names.ATTRIBUTE_KEY_PREFIX):
                yield from _check_metadata(aggregate, key, value)
        yield from _check_frame(aggregate)
    for flavor, key, value in flavors.extra_specs(context):
        try:
            right_values.check_extra_spec(key, value)
        except exception.Invalid as error:
            yield findings.KeyFinding(
                KIND, f'flavor {flavor}', key,
                f'it is {value!r}. {error} It counts nowhere. Set it right, '
                'or take it away with: openstack flavor unset --property '
                f'{key} {flavor}')


def _check_metadata(
    aggregate: rows.Aggregate, key: str, value: str,
) -> Iterator[findings.Finding]:
    try:
        right_values.check_metadata(key, value)
        if right_values.is_ratio_of_pcloud(aggregate.name, aggregate.metadata):
            right_values.check_ratio(key, value)
    except exception.Invalid as error:
        yield findings.KeyFinding(
            KIND, aggregate.name, key,
            f'it is {value!r}. {error} {_effect(key)} Set it right with: '
            f'openstack aggregate set --property {key}=... {aggregate.id}, '
            'or take it away with: openstack aggregate unset --property '
            f'{key} {aggregate.id}')


def _check_frame(
    aggregate: rows.Aggregate,
) -> Iterator[findings.Finding]:
    """Find missing and wrong metadata of a Pcloud or a policy."""
    metadata = aggregate.metadata
    if pcloud_rows.is_whole(aggregate.name, metadata):
        for key in (names.NAME, names.OWNER):
            if key not in metadata:
                yield findings.KeyFinding(
                    KIND, aggregate.name, key,
                    'it is missing. Set it with: openstack aggregate set '
                    f'--property {key}=... {aggregate.id}')
    elif aggregate.name.startswith(names.POLICY_PREFIX):
        wanted = _frame_of_policy(aggregate.name)
        wrong = [key for key, value in wanted.items()
                 if metadata.get(key) != value]
        if wrong:
            yield findings.Finding(
                'incomplete-aggregate', aggregate.name, '',
                'its settings count for what its name says, but ' + ', '.join(
                    f'{key} is {metadata.get(key)!r}' for key in wrong) +
                '. Set it right with: openstack aggregate set ' +
                ' '.join(f'--property {key}={wanted[key]}' for key in wrong) +
                f' {aggregate.id}')


def _check_defaults(
    aggregates: Sequence[rows.Aggregate],
) -> Iterator[findings.Finding]:
    """Find defaults that name what is gone, or closed to the project."""
    flavors = {pool.metadata[names.FLAVOR_ID] for pool in aggregates
               if pool_rows.is_whole(pool.name, pool.metadata)}
    tenants = {pcloud.metadata[names.ID]: names.tenants(pcloud.metadata)
               for pcloud in pcloud_rows.whole(aggregates)}
    for aggregate in aggregates:
        scope, _, scope_id = aggregate.name.removeprefix(
            names.POLICY_PREFIX).partition(':')
        default = _default(aggregate)
        if default is None or scope not in scoped_policies.DEFAULT_SCOPES:
            continue
        if default.pcloud not in tenants:
            wrong = 'which does not exist'
        elif scope == scoped_policies.PROJECT and (
                scope_id not in tenants[default.pcloud]):
            wrong = 'of which the project is no tenant'
        elif default.growth and default.growth.host_flavor not in flavors:
            wrong = ('which would grow by host flavor '
                     f"'{default.growth.host_flavor}', which does not exist")
        else:
            continue
        yield findings.KeyFinding(
            'default-not-usable', aggregate.name,
            names.DEFAULT_PREFIX + default_pcloud.PCLOUD,
            f'it names Pcloud {default.pcloud}, {wrong}: servers without a '
            f'hint {_FATES[default.mode]}. Set another default with: '
            'openstack pcloud default set')


_FATES = {default_pcloud.STRICT: 'are refused',
          default_pcloud.PREFER: 'start outside',
          default_pcloud.GROW: 'are refused'}


def _default(aggregate: rows.Aggregate) -> default_pcloud.Default | None:
    """Return the default that an aggregate sets, None for none to be read."""
    try:
        return default_pcloud.read(
            names.stripped(aggregate.metadata, names.DEFAULT_PREFIX))
    except exception.InvalidValue:
        return None


def _frame_of_policy(name: str) -> dict[str, str]:
    scope, _, scope_id = name.removeprefix(
        names.POLICY_PREFIX).partition(':')
    return {names.TYPE: names.TYPE_POLICY, names.SCOPE: scope,
            names.SCOPE_ID: scope_id}


def _effect(key: str) -> str:
    """Return the effect of a value that cannot be read."""
    if key in _EFFECTS:
        return _EFFECTS[key]
    if key.startswith((names.STATE_PREFIX, names.DUE_PREFIX)):
        return 'No project gets the host.'
    if key.startswith(names.UNOPENED_PREFIX):
        return 'The host takes no servers.'
    if key.startswith(names.CAPS_PREFIX):
        return 'The tenant starts no more servers in the Pcloud.'
    if key.startswith(names.DRAIN_PREFIX):
        return 'The host is disabled, and not drained.'
    if key.startswith(names.REACTION_PREFIX):
        return 'Nothing was done for a maintenance of the host.'
    if key.startswith(names.RECOVERY_PREFIX):
        return 'The host is not being recovered.'
    if key.startswith(names.RECOVERED_PREFIX):
        return 'It counts for no limit of recoveries.'
    if key.startswith(names.REPLACES_PREFIX):
        return 'The host counts, takes no new servers, and leaves the Pcloud.'
    if key.startswith(names.IDLE_PREFIX):
        return 'The host counts as empty from now on.'
    if key.startswith(names.SPARE_PREFIX):
        return 'The host is disabled, and no spare.'
    if key.startswith(names.REBALANCE_PREFIX):
        return 'The rebalance of the Pcloud ends.'
    if key.startswith(names.MAINTENANCE_PREFIX):
        return 'The host has no announced maintenance.'
    if key.startswith(names.UNTIL_PREFIX):
        return 'The host stays.'
    if key.startswith(names.WAITING_PREFIX):
        return 'Nobody waits by it.'
    if key.startswith(names.DEFAULT_PREFIX):
        return 'Servers for which it counts are not started.'
    return 'It counts nowhere.'


_CLOSED = 'No project gets a host of the Pcloud.'
_INCOMPLETE = ('The aggregate is not taken for what it is; its hosts are '
               'given to no project.')
_EFFECTS = {
    names.CPU_RATIO: _CLOSED, names.RAM_RATIO: _CLOSED,
    names.TYPE: _INCOMPLETE, names.ID: _INCOMPLETE,
    names.FLAVOR_ID: _INCOMPLETE,
    names.UNITS: f'{_INCOMPLETE} Each of its hosts in a Pcloud fills the '
                 'quota of the owner.',
    names.PRICE: 'The host flavor has no price.',
    names.SHARE: 'The project has the share 1.',
    names.NAME: 'It is shown as it is.',
    names.MAINTENANCE_POLICY: 'Servers stay during a maintenance.',
    names.SHRINK: 'No host leaves by itself.',
    names.HOST_RECOVERY: 'Servers stay on a host that has failed.',
    names.DESCRIPTION: 'It is shown as it is.',
    names.OWNER: 'The Pcloud belongs to no project.',
    names.QUOTA_UNITS: 'The project gets no more hosts.'}
