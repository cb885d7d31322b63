# SPDX-License-Identifier: Apache-2.0

"""The right values of everything that Pcloud keeps in Nova.

The guard in front of Nova's own calls refuses wrong values, and `audit` finds
wrong values that were written by other means.

Rule: reference-metadata, reference-isolation-values
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
import re
from typing import TypeAlias

from pcloud.backend.aggregates import readings
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import affinity_keys
from pcloud.objects.placing import scoped_policies
from pcloud.rules import forms
from pcloud.rules import looks
from pcloud.rules.moving import assignments
from pcloud.rules.moving import dates
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.moving import recovery
from pcloud.rules.moving import shrinking
from pcloud.rules.moving import spares
from pcloud.rules.placing import access
from pcloud.rules.placing import affinity
from pcloud.rules.placing import attributes
from pcloud.rules.placing import colocation
from pcloud.rules.placing import constraints
from pcloud.rules.placing import default_pcloud
from pcloud.rules.placing import filling
from pcloud.rules.placing import house_rules
from pcloud.rules import ratios
from pcloud.rules import record
from pcloud.rules import turns
from pcloud.rules import units
from pcloud.rules.usage import caps
from pcloud.rules.usage import ledger
from pcloud.rules import waiting

# Gets the rest of a key after the prefix, and the value.
Check: TypeAlias = Callable[[str, str], object]

_TYPES = (names.TYPE_POOL, names.TYPE_PCLOUD, names.TYPE_POLICY,
          names.TYPE_ATTRIBUTE, names.TYPE_JOURNAL)


def check_metadata(key: str, value: str) -> None:
    """Refuse a value that a metadata key of Pcloud can have on no aggregate.

    Keys of other programs may have any value, and so may the ratios of
    aggregates other than Pclouds.

    :raises: `exception.Invalid`
    """
    if key in _EXACT:
        _EXACT[key](key, value)
    elif prefix := _prefix(_PREFIXES, key):
        _PREFIXES[prefix](key.removeprefix(prefix), value)
    elif key.startswith(names.TENANT_PREFIX):
        _check_tenant(key, value)


def check_ratio(key: str, value: str) -> None:
    """Refuse a ratio that no Pcloud can have; other keys may have any value.

    :raises: `exception.InvalidValue`
    """
    if key in readings.RATIOS:
        ratios.of_pcloud(value)


def check_extra_spec(key: str, value: str) -> None:
    """Refuse a value that no extra spec of Pcloud can have.

    :raises: `exception.Invalid`
    """
    if key == colocation.EXTRA_SPEC:
        colocation.check_flag(value)
    elif prefix := _prefix(_KEYS, key):
        _KEYS[prefix](key.removeprefix(prefix), value)


def check_image_property(key: str, value: str) -> None:
    """Refuse a value that no image property of Pcloud can have.

    :raises: `exception.Invalid`
    """
    if key == colocation.IMAGE_PROPERTY:
        colocation.check_flag(value)
    elif key == constraints.IMAGE_PROPERTY:
        constraints.parse(value)
    elif prefix := _prefix(_IMAGE_KEYS, key):
        _IMAGE_KEYS[prefix](key.removeprefix(prefix), value)


def is_ratio_of_pcloud(name: str, metadata: Mapping[str, str]) -> bool:
    """Whether ratios in metadata are a Pcloud's, or meant for a Pcloud."""
    kind = metadata.get(names.TYPE)
    return kind == names.TYPE_PCLOUD or kind is None and (
        name.startswith(names.PREFIX) and not name.startswith(
            (names.POOL_PREFIX, *names.OPEN_PREFIXES)))


def _prefix(checks: Collection[str], key: str) -> str | None:
    return next((prefix for prefix in checks if key.startswith(prefix)), None)


def _choice(*words: str) -> Check:
    def check(key: str, value: str) -> None:
        if value not in words:
            raise exception.InvalidValue(
                f'Metadata key {key}', value, f'one of {", ".join(words)}')
    return check


def _rule(is_right: Callable[[str], object], expected: str) -> Check:
    def check(key: str, value: str) -> None:
        if not is_right(value):
            raise exception.InvalidValue(
                f'Metadata key {key}', value, expected)
    return check


def _is_name(value: str) -> bool:
    return bool(value.strip()) and value.isprintable()


_check_name = _rule(_is_name, 'a text that is not blank and can be printed')


def _check_tenant(key: str, value: str) -> None:
    """Check a key that can only mean that a project is a tenant.

    Keys with another colon mean nothing.
    """
    project = key.removeprefix(names.TENANT_PREFIX)
    if ':' not in project and value != names.TENANT_VALUE:
        raise exception.InvalidValue(
            f'Metadata key {key}', value,
            f'{names.TENANT_VALUE}, for the project to be a tenant')


def _record(kind: type[record.Record]) -> Check:
    def check(key: str, value: str) -> None:
        kind.read(value)
    return check


def _ids(form: str, what: str) -> Check:
    return _rule(re.compile(f'({form}(,{form})*)?').fullmatch,
                 f'{what} with commas between, as an update writes them')


def _check_own_ratios(host: str, value: str) -> None:
    if not host:
        raise exception.InvalidValue(
            f'Metadata key {names.OWN_PREFIX}', value,
            'about a service host')
    ratios.OwnRatios.read(value)


def _check_due(host: str, value: str) -> None:
    if due.Due.known(value) is None:
        raise exception.InvalidValue(
            f'Metadata key {names.DUE_PREFIX + host}', value,
            'as a change has written it; delete the key once the '
            'host is empty, and audit finds what is left to do')


def _check_rebalance(move: str, value: str) -> None:
    if not all(map(forms.is_uuid, move.partition(':')[::2])):
        raise exception.InvalidValue(
            f'Metadata key {names.REBALANCE_PREFIX + move}', value,
            'about the id of a Pcloud and the uuid of a server, with a colon '
            'between')
    assignments.Assignment.read(value)


def _check_changes(anchor: str, value: str) -> None:
    if not value.split() or not all(map(due.is_mark, value.split())):
        raise exception.InvalidValue(
            f'Metadata key {names.CHANGES_PREFIX + anchor}', value,
            f'at most {journal.KEPT + 1} marks of changes; delete the key, '
            'and the next change writes it anew')


def _check_node_key(name: str, value: str) -> None:
    affinity_keys.node_key_name(name)
    affinity.number(value)


def _check_sticky_key(name: str, value: str) -> None:
    affinity_keys.node_key_name(name)
    # A server's copy of the sticky key is a key with the weight.
    affinity.key(name, f'0:{value}')


def _check_system_key(name: str, value: str) -> None:
    affinity.check_system(affinity.key(name, value))


def _check_customer_key(name: str, value: str) -> None:
    affinity.check_customer(affinity.key(name, value))


_EXACT: Mapping[str, Check] = {
    names.TYPE: _choice(*_TYPES),
    names.ID: _rule(forms.is_uuid, 'a uuid in small letters'),
    names.NAME: _check_name,
    names.OWNER: _check_name,
    names.FLAVOR_ID: _rule(
        re.compile(forms.HOST_FLAVOR_ID).fullmatch,
        '1 to 64 letters, digits, ".", "_" or "-", and not "." or ".."'),
    names.DESCRIPTION: _rule(str.isprintable, 'a text that can be printed'),
    names.MAINTENANCE_POLICY: _choice(*maintenance_policies.POLICIES),
    names.HOST_RECOVERY: _choice(*recovery.POLICIES),
    names.PIN_BY_TENANTS: _choice(house_rules.ON, house_rules.OFF),
    names.FILLING: _choice(*filling.CHOICES),
    names.SHRINK: _record(shrinking.Shrink),
    names.PRICE: lambda key, value: ledger.read_price(value),
    names.UNITS: lambda key, value: units.read(value),
    names.SHARE: lambda key, value: waiting.share(value),
    names.SCOPE: _choice(*scoped_policies.SCOPES),
    names.SCOPE_ID: _check_name,
    names.GROWTH_TURN: _record(turns.Turn),
    names.WORKER: _record(looks.Look),
    names.REBALANCE_STOPPED: _record(assignments.Stopped),
    names.QUOTA_UNITS: lambda key, value: units.limit(value)}
_KEYS: Mapping[str, Check] = {
    names.SYSTEM_KEY_PREFIX: _check_system_key,
    names.CUSTOMER_KEY_PREFIX: _check_customer_key}
_IMAGE_KEYS: Mapping[str, Check] = {
    affinity_keys.IMAGE_SYSTEM_PREFIX: _check_system_key,
    affinity_keys.IMAGE_CUSTOMER_PREFIX: _check_customer_key}
_PREFIXES: Mapping[str, Check] = {
    **_KEYS,
    names.FLAVORS_PREFIX: _ids(forms.FLAVOR_ID, 'ids of flavors'),
    names.IMAGES_PREFIX: _ids(forms.UUID, 'ids of images'),
    names.CAPS_PREFIX: _record(caps.Caps),
    names.HOST_PREFIX: _check_name,
    names.NODE_PREFIX: _check_name,
    names.STATE_PREFIX: _choice(*access.STATES),
    names.DRAIN_PREFIX: _record(draining.Drain),
    names.REACTION_PREFIX: _record(maintenance_policies.Reaction),
    names.REPLACES_PREFIX: _record(maintenance_policies.StandIn),
    names.SPARE_PREFIX: _record(spares.Spare),
    names.IDLE_PREFIX: _record(shrinking.Idle),
    names.UNTIL_PREFIX: _record(dates.Until),
    names.RECOVERY_PREFIX: _record(recovery.Recovery),
    names.RECOVERED_PREFIX: _record(recovery.Begun),
    names.WAITING_PREFIX: _record(waiting.Entry),
    names.REBALANCE_PREFIX: _check_rebalance,
    names.MAINTENANCE_PREFIX: _record(maintenance_windows.KeptMaintenance),
    names.OWN_PREFIX: _check_own_ratios,
    names.DUE_PREFIX: _check_due,
    names.UNOPENED_PREFIX: _rule(forms.is_uuid, 'the id of a Pcloud'),
    names.RELEASED_PREFIX: _record(journal.Released),
    names.MOVING_PREFIX: _record(turns.Turn),
    names.STRICT_PREFIX: _record(turns.Turn),
    names.SPAN_PREFIX: _record(ledger.Span),
    names.RATE_PREFIX: _record(ledger.Rate),
    names.SUM_PREFIX: _record(ledger.Sum),
    names.DEFAULT_PREFIX: default_pcloud.check,
    names.CHANGES_PREFIX: _check_changes,
    names.CONSTRAINT_PREFIX: constraints.check_stored,
    names.ATTRIBUTE_KEY_PREFIX: attributes.read,
    names.NODE_KEY_PREFIX: _check_node_key,
    names.STICKY_PREFIX: _check_sticky_key}
