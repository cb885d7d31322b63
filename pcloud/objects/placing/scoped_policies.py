# SPDX-License-Identifier: Apache-2.0

"""Settings for all servers of a cloud, domain, project or Pcloud.

Scoped policies are settings of the scheduler, not the RBAC policies of the
API. Each scope has an aggregate without hosts.

Rule: reference-scoped-policies
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import re

from nova import context as nova_context
from oslo_utils import uuidutils

from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import complaints
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import affinity_keys
from pcloud.rules import forms
from pcloud.rules.placing import affinity
from pcloud.rules.placing import constraints
from pcloud.rules.placing import default_pcloud as default_rules

CLOUD, DOMAIN, PROJECT, PCLOUD, ROLE = SCOPES = (
    'cloud', 'domain', 'project', 'pcloud', 'role')
# The scopes with a default Pcloud, the most specific first.
DEFAULT_SCOPES = PROJECT, DOMAIN, CLOUD
# The one id of scope cloud.
DEFAULT = 'default'
_ID = re.compile(forms.SCOPE_ID)


@dataclasses.dataclass(frozen=True)
class Policy:
    """The settings of one scope.

    :ivar constraints: ``key -> value`` of the machine constraints
    :ivar system_keys: the placement keys of the administrator, by name
    :ivar customer_keys: the placement keys of the customer, by name
    :ivar default: the stored default Pcloud, for
        `rules.placing.default_pcloud`; empty
        where no default is set
    :ivar share: the share of a project in waiting lists, None for no share of
        its own
    """

    scope: str
    id: str
    constraints: Mapping[str, str] = dataclasses.field(default_factory=dict)
    system_keys: tuple[affinity.Key, ...] = ()
    customer_keys: tuple[affinity.Key, ...] = ()
    default: Mapping[str, str] = dataclasses.field(default_factory=dict)
    share: float | None = None

    def __bool__(self) -> bool:
        return bool(self.constraints or self.system_keys or
                    self.customer_keys or self.default or self.share)


def is_id(text: str) -> bool:
    """Whether a text can be the id of a domain, project or role."""
    return _ID.fullmatch(text) is not None


def show(scope: str, scope_id: str) -> Policy:
    """Return the policy of a scope.

    :raises: `exception.ScopedPolicyNotFound` when nothing is set,
        `exception.NameTooLong`
    """
    policies = by_scopes([(scope, scope_id)])
    if not policies:
        raise exception.ScopedPolicyNotFound(scope=scope, id=scope_id)
    return policies[scope, scope_id]


def by_scopes(
    scopes: Collection[tuple[str, str]],
) -> dict[tuple[str, str], Policy]:
    """Return the policies of several scopes (one query).

    A scope without settings has no entry. What a change has set counts from
    the change's commit on, as in `rows.connected`.

    :returns: ``(scope, id) -> policy``
    """
    return of_metadata(scopes, rows.committed_metadata(
        [names.policy(*scope) for scope in scopes]))


def of_metadata(
    scopes: Collection[tuple[str, str]],
    metadata: Mapping[str, Mapping[str, str]],
) -> dict[tuple[str, str], Policy]:
    """Return the policies of several scopes, made of metadata.

    A scope without settings has no entry.

    :param metadata: ``aggregate name -> metadata``
    :returns: ``(scope, id) -> policy``
    """
    policies = {scope: _policy(*scope, metadata[name]) for scope in scopes
                if (name := names.policy(*scope)) in metadata}
    return {scope: policy for scope, policy in policies.items() if policy}


def default_pcloud(
    policies: Iterable[Policy],
) -> tuple[str, Mapping[str, str]] | None:
    """Return the stored default Pcloud that counts, and the scope; or None.

    :param policies: the policies of some scopes, the most specific first;
        scopes without defaults are left out

    Rule: reference-default-pcloud-levels
    """
    return default_rules.counting(
        (policy.scope, policy.default) for policy in policies
        if policy.scope in DEFAULT_SCOPES)


def update(
    context: nova_context.RequestContext, scope: str, scope_id: str,
    changes: Mapping[str, Iterable[affinity.Key] | Mapping[str, str]],
) -> Policy:
    """Set members of the policy of a scope.

    The members are 'constraints', 'system_keys', 'customer_keys', and as
    stored 'default_pcloud' and 'share'. A new member replaces the old member;
    a member that is left out stays.

    :raises: `exception.NameTooLong`, `exception.Conflict` for an id that the
        database takes for another, `exception.PcloudNotFound` for scope
        Pcloud, and as `change.run`
    """
    new: dict[str, str | None] = {}
    for member, values in changes.items():
        new |= _written(member, values)
    metadata = set_rows(context, scope, scope_id, new,
                        [_PREFIXES[member] for member in changes])
    return _policy(scope, scope_id, metadata)


def delete(
    context: nova_context.RequestContext, scope: str, scope_id: str,
) -> None:
    """Delete all settings of a scope; the quota stays.

    :raises: `exception.ScopedPolicyNotFound` when nothing is set
    """
    show(scope, scope_id)
    set_rows(context, scope, scope_id, {}, list(_PREFIXES.values()))


def set_rows(
    context: nova_context.RequestContext, scope: str, scope_id: str,
    new: Mapping[str, str | None], replaced: Collection[str] = (),
) -> dict[str, str]:
    """Write the rows of a scope: the settings, and a project's quota.

    The aggregate of the scope is created with the first row and deleted with
    the last row.

    :param new: ``metadata key -> value``; None deletes a key
    :param replaced: prefixes of keys that are deleted first
    :returns: all the rows after the change
    :raises: `exception.NameTooLong`, `exception.Conflict` for an id that the
        database takes for another, `exception.PcloudNotFound` for scope
        Pcloud, and as `change.run`
    """
    name = names.policy(scope, scope_id)
    frame = {names.TYPE: names.TYPE_POLICY, names.SCOPE: scope,
             names.SCOPE_ID: scope_id}

    def work(written: writes.Rows) -> dict[str, str]:
        if scope == PCLOUD and written.find(names.pcloud(scope_id)) is None:
            raise exception.PcloudNotFound(pcloud=scope_id)
        there = written.find(name)
        if there is None:
            settings = {key: value for key, value in new.items()
                        if value is not None}
            if not settings:
                return {}
            written.create(
                uuidutils.generate_uuid(), name, frame | settings)
            return frame | settings
        if there.name != name:
            raise exception.Conflict(
                f"The database cannot tell {scope} '{scope_id}' from another "
                'one that has a policy already; use that one.')
        written.drop_prefixes(there.id, replaced)
        written.set(there.id, new)
        metadata = written.metadata(there.id)
        if not metadata.keys() - _FRAME:
            written.delete(there.id)
        return metadata

    anchors = [journal.policy_anchor(scope, scope_id)]
    if scope == PCLOUD:
        # Settings of a Pcloud do not outlive the Pcloud.
        anchors.append(journal.pcloud_anchor(scope_id))
    return change.run(context, anchors, work)


_PREFIXES = {'constraints': names.CONSTRAINT_PREFIX,
             'system_keys': names.SYSTEM_KEY_PREFIX,
             'customer_keys': names.CUSTOMER_KEY_PREFIX,
             'default_pcloud': names.DEFAULT_PREFIX,
             'share': names.SHARE_PREFIX}
_FRAME = {names.TYPE, names.SCOPE, names.SCOPE_ID}


def _written(
    member: str, values: Iterable[affinity.Key] | Mapping[str, str],
) -> dict[str, str]:
    """Return a member of a policy as metadata."""
    prefix = _PREFIXES[member]
    if isinstance(values, Mapping):
        return {prefix + constraints.stored_key(key): value
                for key, value in values.items()}
    return {names.placement_key(prefix, key.name):
            str(key).partition('=')[2] for key in values}


def _policy(
    scope: str, scope_id: str, metadata: Mapping[str, str],
) -> Policy:
    return Policy(scope, scope_id, dict(_constraints(metadata)),
                  tuple(affinity_keys.system(metadata)),
                  tuple(affinity_keys.customer(metadata)),
                  names.stripped(metadata, names.DEFAULT_PREFIX),
                  readings.share(metadata))


def _constraints(
    metadata: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Yield the constraints in metadata, without bad constraints."""
    stored = names.stripped(metadata, names.CONSTRAINT_PREFIX)
    for key, value in sorted(stored.items()):
        try:
            constraints.check_stored(key, value)
        except exception.InvalidValue as error:
            complaints.once('A constraint in the metadata of a policy is '
                            f'left out: {error}')
        else:
            yield constraints.key_of_stored(key), value
