# SPDX-License-Identifier: Apache-2.0

"""Find hosts that lack what other hosts have: placement keys, attributes.

Rule: reference-placement-keys-nodes, reference-attributes
"""

from collections.abc import Collection
from collections.abc import Iterator

from nova import context as nova_context

from pcloud.audit import findings
from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import isolation
from pcloud.backend.cells import asking
from pcloud import names
from pcloud.objects.placing import affinity_keys
from pcloud.objects.placing import host_attributes
from pcloud.rules.placing import attributes
from pcloud import text

# How many hosts a finding names.
_MOST_NAMED = 20


def check_keys(
    context: nova_context.RequestContext,
) -> Iterator[findings.Finding]:
    """Find placement keys that some hosts have and others lack.

    Three queries, one without keys. A key that a host lacks scores 0 there,
    which only for keys of positive weights is the worst score.
    """
    having: dict[str, set[str]] = {}
    for aggregate in inherited_metadata.saying_node_keys(context):
        values, _ = affinity_keys.of_node([aggregate.metadata])
        for name in values:
            having.setdefault(name, set()).update(aggregate.hosts)
    if not any(having.values()):
        return
    hosts = frozenset().union(*asking.of_hosts(context).values())
    for name, its_hosts in sorted(having.items()):
        lacking = hosts - its_hosts
        if its_hosts and lacking:
            yield findings.Finding(
                'node-key-missing', names.NODE_KEY_PREFIX + name, '',
                _lack(lacking, 'the key', len(its_hosts & hosts)) +
                '. All hosts are to have the same keys; set the key with: '
                f'openstack pcloud key set {name} VALUE --host HOST')


def check_attributes(
    context: nova_context.RequestContext,
) -> Iterator[findings.Finding]:
    """Find hosts of pools and Pclouds without an attribute that rules read.

    Four queries. An attribute that no host of the cloud has is no finding: the
    operator does not use the attribute.
    """
    statements = host_attributes.statements(
        inherited_metadata.saying_attributes(context))
    hosts = frozenset().union(
        *(aggregate.hosts
          for aggregate in isolation.closed_aggregates(context)))
    for name in (attributes.RACK, attributes.PLATFORM, attributes.HARDWARE):
        having = {host for host, its in statements if its == name}
        lacking = hosts - having
        if having and lacking:
            yield findings.Finding(
                'attribute-missing', names.ATTRIBUTE_PREFIX + name, '',
                _lack(lacking, 'the attribute', len(having)) +
                f'. {_EFFECTS[name]} Set it with: openstack pcloud attribute '
                f'set {name} VALUE --host HOST')


_EFFECTS = {
    attributes.RACK: 'Such a host is in the same rack as no other.',
    attributes.PLATFORM: 'Such a host counts as one of the oldest platform.',
    attributes.HARDWARE: 'Such a host counts as one of the lowest class.'}


def _lack(lacking: Collection[str], what: str, having: int) -> str:
    """Tell which hosts lack something that others have."""
    named = sorted(lacking)[:_MOST_NAMED]
    more = len(lacking) - len(named)
    return (text.counted(len(lacking), 'host lacks', 'hosts lack') +
            f' {what}, which ' + text.counted(having, 'host has', 'hosts have')
            + ': ' + ', '.join(named) + (f' and {more} more' if more else ''))
