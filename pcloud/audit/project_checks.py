# SPDX-License-Identifier: Apache-2.0

"""Find projects and domains that Keystone does not know any more.

Keystone does not announce the end of a project, so what Pcloud keeps of the
project stays.

Rule: reference-audit-projects
"""

from collections.abc import Iterator
from collections.abc import Sequence
from typing import TypeAlias

from nova import context as nova_context

from pcloud.audit import findings
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend import complaints
from pcloud.backend import identity
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import scoped_policies

# Whose scope is gone -> the kind of the finding.
KINDS = {scoped_policies.PROJECT: 'project-gone',
         scoped_policies.DOMAIN: 'domain-gone'}
_NO_POLICY = {names.TYPE, names.SCOPE, names.SCOPE_ID, names.QUOTA_UNITS}

# The id of a project or domain, and the finding in case that it is gone.
_Kept: TypeAlias = tuple[str, findings.Finding]


def check(
    context: nova_context.RequestContext,
) -> Iterator[findings.Finding]:
    """Find owners, tenants and settings of deleted projects and domains.

    Two queries, and the questions of `identity.gone`. Where Pcloud may not
    ask Keystone nothing is found, and the log says so.

    :raises: `exception.Unavailable`
    """
    aggregates = rows.with_values(context)
    yield from _check(context, identity.PROJECT, [
        *_of_pclouds(aggregates),
        *_of_policies(aggregates, scoped_policies.PROJECT)])
    yield from _check(context, identity.DOMAIN, list(
        _of_policies(aggregates, scoped_policies.DOMAIN)))


def _check(
    context: nova_context.RequestContext, kind: str, kept: Sequence[_Kept],
) -> Iterator[findings.Finding]:
    try:
        gone = frozenset(identity.gone(
            context, kind, {record_id for record_id, _ in kept}))
    except exception.KeystoneUnasked as error:
        complaints.once(str(error))
        return
    for record_id, finding in kept:
        if record_id in gone:
            yield finding


def _of_pclouds(aggregates: Sequence[rows.Aggregate]) -> Iterator[_Kept]:
    """Yield the owner and the tenants of each Pcloud."""
    for pcloud in pcloud_rows.whole(aggregates):
        pcloud_id = pcloud.metadata[names.ID]
        owner = pcloud.metadata.get(names.OWNER, '')
        yield owner, _finding(
            scoped_policies.PROJECT, pcloud, names.OWNER,
            f'project {owner}, the owner',
            'Administrators alone manage the Pcloud, whose hosts no '
            'other project gets. Remove the hosts, and delete the Pcloud '
            'with: '
            f'openstack pcloud delete {pcloud_id}')
        for tenant in sorted(names.tenants(pcloud.metadata) - {owner}):
            yield tenant, _finding(
                scoped_policies.PROJECT, pcloud, names.tenant_key(tenant),
                f'project {tenant}, a tenant',
                'Remove the tenant with: openstack pcloud tenant remove '
                f'{pcloud_id} {tenant}')


def _of_policies(
    aggregates: Sequence[rows.Aggregate], scope: str,
) -> Iterator[_Kept]:
    """Yield the projects, or domains, with a policy, default or quota."""
    prefix = f'{names.POLICY_PREFIX}{scope}:'
    for policy in aggregates:
        if not policy.name.startswith(prefix):
            continue
        scope_id = policy.name.removeprefix(prefix)
        if names.QUOTA_UNITS in policy.metadata:
            yield scope_id, _finding(
                scope, policy, names.QUOTA_UNITS,
                f'{scope} {scope_id}, with a quota',
                'Remove the quota with: openstack pcloud quota set --default '
                f'{scope_id}')
        if policy.metadata.keys() - _NO_POLICY:
            yield scope_id, _finding(
                scope, policy, names.SCOPE_ID,
                f'{scope} {scope_id}, with a policy',
                'Remove the policy, and the default Pcloud, with: openstack '
                f'pcloud policy unset {scope} {scope_id}')


def _finding(
    scope: str, aggregate: rows.Aggregate, key: str, who: str, what: str,
) -> findings.Finding:
    return findings.KeyFinding(
        KINDS[scope], aggregate.name, key,
        f'{who}, does not exist in Keystone any more. {what}')
