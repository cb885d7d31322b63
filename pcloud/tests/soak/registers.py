# SPDX-License-Identifier: Apache-2.0

"""Registers: the values that an owner can change, read from the rows.

A register is (anchor, what, detail). The anchor is the id of a Pcloud, of a
project, of a host flavor, or the name of a host attribute.
"""

import collections
from collections.abc import Iterable

from pcloud.rules.moving import draining
from pcloud.tests.soak import rows
from pcloud.tests.support import bulk

Register = tuple[str, str, str]

HALF = 'half-made: '
# The state of a drained host that leaves as soon as it is empty.
LEAVING = 'leaving'
STATES = ('enabled', 'disabled', LEAVING)
_HOST, _STATE = 'pcloud:host:', 'pcloud:host_state:'
_TENANT, _ATTRIBUTE, _QUOTA = 'pcloud:', 'pcloud:attr:', 'pcloud:quota:units'
_RATIOS = ('cpu_allocation_ratio', 'ram_allocation_ratio')
_SETTINGS = ('pcloud:constraint:', 'pcloud:system_key:',
             'pcloud:customer_key:')


def read(reader: rows.Reader, project: str, mark: str) -> dict:
    """Return register -> value, for the registers of an owner.

    :param mark: the name of the owner's attribute, and the prefix of the ids
        of the owner's host flavors
    """
    found = reader.aggregates(
        'a.id IN (SELECT aggregate_id FROM aggregate_metadata WHERE '
        '(`key` = "pcloud:owner" AND value = %(project)s) '
        'OR `key` = %(attribute)s) OR a.name LIKE %(flavors)s '
        'OR a.name = %(policy)s OR a.name LIKE "Pcloud:policy:pcloud:%%"',
        {'project': project, 'attribute': _ATTRIBUTE + mark,
         'flavors': f'{rows.POOL}{mark}-%',
         'policy': f'{rows.POLICY}project:{project}'})
    values: dict[Register, object] = {}
    own = {each.metadata['pcloud:id'] for each in found
           if each.metadata.get('pcloud:owner') == project}
    for each in found:
        if each.name.startswith(rows.POOL):
            values |= _flavor(each)
        elif each.name.startswith(rows.ATTRIBUTE):
            _add_attribute(values, each)
        elif each.name.startswith(rows.POLICY):
            anchor = each.name.split(':', 3)[3]
            if anchor in own or anchor == project:
                values |= _policy(anchor, each)
        else:
            values |= _pcloud(each)
    return values


def _flavor(pool: rows.Aggregate) -> dict:
    name = pool.name.removeprefix(rows.POOL)
    metadata = pool.metadata
    return {(name, 'flavor', ''): (metadata.get('pcloud:units'),
                                   metadata.get('pcloud:description')),
            **{(name, 'pool', host): True for host in pool.hosts}}


def _add_attribute(values: dict, aggregate: rows.Aggregate) -> None:
    name, value = aggregate.name.removeprefix(rows.ATTRIBUTE).split('=', 1)
    for host in aggregate.hosts:
        register = (name, 'attribute', host)
        twice = register in values
        values[register] = (
            f'{HALF}{values[register]} and {value}' if twice else value)


def _policy(anchor: str, aggregate: rows.Aggregate) -> dict:
    settings = frozenset(
        (key, value) for key, value in aggregate.metadata.items()
        if key.startswith(_SETTINGS))
    found: dict = {(anchor, 'policy', ''): settings} if settings else {}
    if _QUOTA in aggregate.metadata:
        found[anchor, 'quota', ''] = int(aggregate.metadata[_QUOTA])
    return found


def _pcloud(aggregate: rows.Aggregate) -> dict:
    anchor, metadata = aggregate.metadata['pcloud:id'], aggregate.metadata
    found: dict = {(anchor, 'pcloud', ''): metadata.get('pcloud:name')}
    for key, value in metadata.items():
        if key in _RATIOS:
            found[anchor, key, ''] = float(value)
        elif value == 'pcloud-tenant':
            found[anchor, 'tenant', key.removeprefix(_TENANT)] = True
    for name, value in hosts(aggregate).items():
        found[anchor, 'host', name] = value
    return found


def hosts(aggregate: rows.Aggregate) -> dict[str, str]:
    """Return name of a host, in lower case, -> state, for a Pcloud's hosts.

    The value of a host without name, membership or state is a text that begins
    with `HALF`. The key of a host without a name is a star and the node.
    """
    metadata = aggregate.metadata
    names = collections.defaultdict(list)
    for key, node in metadata.items():
        if key.startswith(_HOST):
            names[node].append(key.removeprefix(_HOST).lower())
    states = {key.removeprefix(_STATE): value
              for key, value in metadata.items() if key.startswith(_STATE)}
    states |= {node: LEAVING for node, state in states.items()
               if (drain := draining.of(state, metadata.get(
                   rows.DRAIN + node.removesuffix(bulk.NODE_SUFFIX))))
               and drain.release}
    members = {host + bulk.NODE_SUFFIX for host in aggregate.hosts}
    found = {}
    for node in names.keys() | states.keys() | members:
        for name in names[node] or [f'*{node}']:
            found[name] = _state(len(names[node]), states.get(node),
                                 node in members)
    return found


def _state(named: int, state: str | None, member: bool) -> str:
    if named == 1 and member and state in STATES:
        return state
    return f'{HALF}{named} names, state {state}, member {member}'


def is_half(value: object) -> bool:
    """Return whether a value is that of an incomplete host or attribute."""
    return isinstance(value, str) and value.startswith(HALF)


def used(pclouds: Iterable[rows.Aggregate],
         pools: Iterable[rows.Aggregate]) -> dict[str, int]:
    """Return project -> units of all hosts in the project's Pclouds."""
    units = {host: int(pool.metadata['pcloud:units'])
             for pool in pools for host in pool.hosts}
    total: collections.Counter[str] = collections.Counter()
    for each in pclouds:
        total[each.metadata['pcloud:owner']] += sum(
            units.get(host, 0) for host in each.hosts)
    return dict(total)
