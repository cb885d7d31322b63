# SPDX-License-Identifier: Apache-2.0

"""How a Pcloud is shown."""

import dataclasses

from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.objects import pclouds
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import recovery

# A tenant that is not the owner sees the first three members alone.
PCLOUD = shown.members({
    'id': shown.UUID, 'name': shown.TEXT, 'owner': shown.TEXT,
}, {
    'tenants': shown.list_of(shown.TEXT),
    'host_count': shown.COUNT,
    'units': shown.COUNT_OR_NULL,
    'cpu_allocation_ratio': shown.NUMBER_OR_NULL,
    'ram_allocation_ratio': shown.NUMBER_OR_NULL,
    'maintenance_policy': shown.TEXT,
    'host_recovery': shown.TEXT,
    'pin_by_tenants': shown.FLAG,
    'placement': shown.TEXT,
    'shrink': types.shrink,
    'flavors': shown.list_of(shown.TEXT),
    'images': shown.list_of(shown.TEXT),
    'free': shown.or_null(shown.members({
        'hosts': shown.COUNT, 'vcpus': shown.COUNT,
        'memory_mb': shown.COUNT})),
    'servers': shown.COUNT_OR_NULL,
})


def summary(pcloud: pclouds.Pcloud) -> dict:
    """Return what a tenant that is not the owner sees of a Pcloud."""
    return {'id': pcloud.id, 'name': pcloud.name, 'owner': pcloud.owner}


def detail(pcloud: pclouds.Pcloud) -> dict:
    """Return what the owner and administrators see of a Pcloud.

    A Pcloud whose servers stay during maintenances has no member
    'maintenance_policy', a Pcloud that recovers no hosts has no member
    'host_recovery', and a rule that the owner has never set is no member.
    """
    return {**summary(pcloud), **_policy(pcloud), **_rules(pcloud),
            'tenants': sorted(pcloud.tenants),
            'host_count': len(pcloud.aggregate.hosts),
            'units': pcloud.units,
            'cpu_allocation_ratio': pcloud.cpu_allocation_ratio,
            'ram_allocation_ratio': pcloud.ram_allocation_ratio}


def _policy(pcloud: pclouds.Pcloud) -> dict:
    policies = {}
    if pcloud.maintenance_policy != maintenance_policies.STAY:
        policies['maintenance_policy'] = pcloud.maintenance_policy
    if pcloud.host_recovery != recovery.OFF:
        policies['host_recovery'] = pcloud.host_recovery
    return policies


def _rules(pcloud: pclouds.Pcloud) -> dict:
    rules = {'pin_by_tenants': pcloud.pin_by_tenants,
             'placement': pcloud.placement,
             'shrink': (None if pcloud.shrink is None else
                        dataclasses.asdict(pcloud.shrink)),
             **{name: None if ids is None else sorted(ids) for name, ids in (
                 ('flavors', pcloud.flavors), ('images', pcloud.images))}}
    return {name: rule for name, rule in rules.items() if rule is not None}


def usage(known: pclouds.Usage | None) -> dict:
    """Return what is free in a Pcloud, and how many servers there are.

    :param known: None while the cell of a host does not answer
    """
    if known is None:
        return {'free': None, 'servers': None}
    return {'free': {'hosts': known.empty_hosts, 'vcpus': known.vcpus,
                     'memory_mb': known.memory_mb},
            'servers': known.servers}
