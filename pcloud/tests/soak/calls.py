# SPDX-License-Identifier: Apache-2.0

"""Calls of the API, each with the call's effects."""

from collections.abc import Mapping
import dataclasses

from pcloud.tests.soak import registers

RATIOS = ('cpu_allocation_ratio', 'ram_allocation_ratio')


@dataclasses.dataclass(frozen=True)
class Call:
    """A call.

    :ivar kind: the name of the call in the figures
    :ivar effects: register -> value after success; None is no value
    :ivar clears: the anchor whose registers the call removes
    :ivar birth: the name of the Pcloud that the call makes; until the id is
        known, the anchor of the effects is empty
    :ivar refusals: the status codes with which the API may refuse the call,
        apart from 503
    :ivar lowers: whether more units than the quota may be in use afterwards
    """

    kind: str
    method: str
    path: str
    body: dict | None = None
    admin: bool = False
    effects: Mapping[registers.Register, object] = dataclasses.field(
        default_factory=dict)
    clears: str | None = None
    birth: str | None = None
    refusals: frozenset[int] = frozenset()
    lowers: bool = False


def _call(kind: str, path: str, body: dict | None = None,
          effects: Mapping | None = None, refusals: tuple = (),
          **more) -> Call:
    method = kind.split()[0]
    return Call(kind, method, path, body, effects=effects or {},
                refusals=frozenset(refusals), **more)


def make_pcloud(project: str, name: str) -> Call:
    """Make a Pcloud, whose first tenant is the owner."""
    return _call('POST pcloud', '/os-pclouds', {'pcloud': {'name': name}},
                 {('', 'pcloud', ''): name, ('', 'tenant', project): True},
                 birth=name)


def found_pcloud(name: str) -> Call:
    """Make the only Pcloud of a project, if there is none."""
    return _call('POST pcloud', '/os-pclouds?if_absent=1',
                 {'pcloud': {'name': name}})


def change_pcloud(pcloud: str, changes: Mapping[str, object]) -> Call:
    """Change name or ratios of a Pcloud."""
    effects = {(pcloud, 'pcloud' if key == 'name' else key, ''): value
               for key, value in changes.items()}
    return _call('PUT pcloud', f'/os-pclouds/{pcloud}',
                 {'pcloud': dict(changes)}, effects)


def delete_pcloud(pcloud: str, has_hosts: bool) -> Call:
    """Delete a Pcloud."""
    return _call('DELETE pcloud', f'/os-pclouds/{pcloud}', clears=pcloud,
                 refusals=(409,) if has_hosts else ())


def add_host(pcloud: str, name: str, by: str, **wish: str) -> Call:
    """Add a host.

    :param by: 'flavor' or 'constraints'
    """
    return _call(f'POST host by {by}', f'/os-pclouds/{pcloud}/hosts',
                 {'host': {'name': name, **wish}},
                 {(pcloud, 'host', name.lower()): 'disabled'}, (403, 409))


def wait_for_host(pcloud: str, name: str, flavor: str, until: str) -> Call:
    """Add a host, or wait for the host.

    :param until: when to wait no longer, in ISO 8601
    """
    return _call('POST waiting', f'/os-pclouds/{pcloud}/hosts',
                 {'host': {'name': name, 'host_flavor': flavor,
                           'wait_until': until}})


def wait_no_longer(pcloud: str, entry: str) -> Call:
    """End an entry of a waiting list."""
    return _call('DELETE waiting', f'/os-pclouds/{pcloud}/waiting/{entry}')


def _if_gone(state: str | None) -> tuple[int, ...]:
    """Return the refusal of a call for a host that may have left by now."""
    return (404,) if state == registers.LEAVING else ()


def set_state(pcloud: str, name: str, state: str,
              before: str | None = None) -> Call:
    """Enable or disable a host.

    :param before: the state of the host, None where it does not matter
    """
    # Until Placement agrees a new host cannot be enabled.
    return _call('PUT host', f'/os-pclouds/{pcloud}/hosts/{name}',
                 {'host': {'state': state}},
                 {(pcloud, 'host', name): state}, (409, *_if_gone(before)))


def drain(pcloud: str, name: str, wish: Mapping[str, object],
          before: str) -> Call:
    """Drain a host.

    :param before: the state of the host
    """
    release = bool(wish.get('release'))
    return _call(f'PUT drain{" and release" * release}',
                 f'/os-pclouds/{pcloud}/hosts/{name}',
                 {'host': {'state': 'draining', 'drain': dict(wish)}},
                 {(pcloud, 'host', name):
                  registers.LEAVING if release else 'disabled'},
                 _if_gone(before))


def announce(flavor: str, host: str, maintenance: object) -> Call:
    """Announce or withdraw the maintenance of a host."""
    return _call('PUT maintenance', f'/os-host-flavors/{flavor}/hosts/{host}',
                 {'host': {'maintenance': maintenance}}, refusals=(404,),
                 admin=True)


def remove_host(pcloud: str, name: str, before: str | None = None) -> Call:
    """Remove a host.

    :param before: as for `set_state`
    """
    return _call('DELETE host', f'/os-pclouds/{pcloud}/hosts/{name}',
                 effects={(pcloud, 'host', name): None},
                 refusals=(409, *_if_gone(before)))


def add_tenant(pcloud: str, project: str) -> Call:
    """Make a project a tenant of a Pcloud."""
    return _call('PUT tenant', f'/os-pclouds/{pcloud}/tenants/{project}',
                 effects={(pcloud, 'tenant', project): True})


def cap_tenant(pcloud: str, project: str, servers: int) -> Call:
    """Make a project a tenant that may have some servers and no more."""
    return _call('PUT tenant with cap',
                 f'/os-pclouds/{pcloud}/tenants/{project}',
                 {'tenant': {'max_servers': servers}})


def remove_tenant(pcloud: str, project: str) -> Call:
    """Remove a tenant from a Pcloud."""
    return _call('DELETE tenant', f'/os-pclouds/{pcloud}/tenants/{project}',
                 effects={(pcloud, 'tenant', project): None})


def set_quota(project: str, limit: int, lowers: bool) -> Call:
    """Set the limit of a project."""
    return _call('PUT quota', f'/os-pcloud-quotas/{project}',
                 {'quota': {'units': {'limit': limit}}},
                 {(project, 'quota', ''): limit}, admin=True, lowers=lowers)


def reset_quota(project: str) -> Call:
    """Reset the limit of a project."""
    return _call('DELETE quota', f'/os-pcloud-quotas/{project}',
                 effects={(project, 'quota', ''): None}, admin=True,
                 lowers=True)


def set_policy(scope: str, anchor: str, value: int) -> Call:
    """Set the policy of a project (system keys) or Pcloud (constraints)."""
    member, key, text = {
        'project': ('system_keys', 'pcloud:system_key:KEY', f'{value}:1'),
        'pcloud': ('constraints', 'pcloud:constraint:cpu', str(value)),
    }[scope]
    policy = {'system_keys': [f'KEY={value}:1'],
              'constraints': f'cpu={value}'}[member]
    return _call(f'PUT policy of a {scope}',
                 f'/os-pcloud-policies/{scope}/{anchor}',
                 {'policy': {member: policy}},
                 {(anchor, 'policy', ''): frozenset({(key, text)})},
                 (409,), admin=True)


def set_share(project: str, share: float | None) -> Call:
    """Set the share of a project in waiting lists."""
    return _call('PUT share', f'/os-pcloud-policies/project/{project}',
                 {'policy': {'share': share}}, admin=True)


def set_default(project: str, default: Mapping[str, object] | None) -> Call:
    """Set the default Pcloud of a project, by a member of the project."""
    return _call('PUT default', f'/os-pcloud-policies/project/{project}',
                 {'policy': {'default_pcloud': default and dict(default)}})


def delete_policy(scope: str, anchor: str, there: bool) -> Call:
    """Delete the policy of a project or Pcloud."""
    return _call(f'DELETE policy of a {scope}',
                 f'/os-pcloud-policies/{scope}/{anchor}',
                 effects={(anchor, 'policy', ''): None},
                 refusals=(409,) if there else (404, 409), admin=True)


def set_attribute(name: str, value: str, hosts: list[str]) -> Call:
    """Give hosts a value of an attribute."""
    return _call('PUT attribute', f'/os-pcloud-attributes/{name}',
                 {'attribute': {'value': value, 'hosts': hosts}},
                 {(name, 'attribute', host): value for host in hosts},
                 (409,), admin=True)


def delete_attribute(name: str, hosts: list[str]) -> Call:
    """Take an attribute from hosts."""
    query = '&'.join(f'host={host}' for host in hosts)
    return _call('DELETE attribute',
                 f'/os-pcloud-attributes/{name}?{query}',
                 effects={(name, 'attribute', host): None for host in hosts},
                 refusals=(409,), admin=True)


def make_flavor(flavor: str, units: int) -> Call:
    """Define a host flavor."""
    return _call('POST flavor', '/os-host-flavors', {'host_flavor': {
        'id': flavor, 'units': units, 'description': ''}},
        {(flavor, 'flavor', ''): (str(units), '')}, admin=True)


def change_flavor(flavor: str, units: int, description: str) -> Call:
    """Change a host flavor."""
    return _call('PUT flavor', f'/os-host-flavors/{flavor}', {'host_flavor': {
        'units': units, 'description': description}},
        {(flavor, 'flavor', ''): (str(units), description)}, admin=True)


def delete_flavor(flavor: str, has_hosts: bool) -> Call:
    """Delete a host flavor."""
    return _call('DELETE flavor', f'/os-host-flavors/{flavor}',
                 clears=flavor, refusals=(409,) if has_hosts else (),
                 admin=True)


def fill_pool(flavor: str, host: str) -> Call:
    """Put a host into a pool."""
    return _call('POST pool host', f'/os-host-flavors/{flavor}/hosts',
                 {'host': {'host': host}}, {(flavor, 'pool', host): True},
                 (409,), admin=True)


def empty_pool(flavor: str, host: str) -> Call:
    """Take a host out of a pool."""
    return _call('DELETE pool host',
                 f'/os-host-flavors/{flavor}/hosts/{host}',
                 effects={(flavor, 'pool', host): None}, refusals=(409,),
                 admin=True)


def read(path: str, admin: bool = False) -> Call:
    """Read a resource that exists."""
    return _call('GET', path, admin=admin)
