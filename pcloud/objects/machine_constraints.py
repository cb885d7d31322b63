# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Machine constraints: the constraints that count, and the best host flavor.

Rule: reference-constraints-levels, reference-constraints-host-flavor
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import types

from nova import context as nova_context

from pcloud.backend import census
from pcloud.backend import inherited_metadata
from pcloud.backend import rows
from pcloud import exception
from pcloud import names
from pcloud.objects import host_attributes
from pcloud.objects import host_flavors
from pcloud.objects import scoped_policies
from pcloud.objects import supplies
from pcloud.rules import constraints as rules

_MIB = 1024
# The sources whose values a tenant and the owner of the Pcloud may see.
TENANT_SEES = (rules.REQUEST, rules.IMAGE, rules.BUILT_IN)
OWNER_SEES = (*TENANT_SEES, scoped_policies.PCLOUD)


def effective(
    request: Mapping[str, str], scopes: Sequence[tuple[str, str]],
) -> dict[str, rules.Setting]:
    """Return the constraints that count.

    One query, and another query where a role is named.

    :param request: the constraints in the request itself
    :param scopes: scope and id of the levels above the request, the lowest
        first
    :returns: ``key -> setting``
    :raises: `exception.RoleUnknown`
    """
    policies = scoped_policies.by_scopes(scopes)
    return of_policies(request, [
        policies[scope] for scope in scopes if scope in policies])


def of_policies(
    request: Mapping[str, str], policies: Iterable[scoped_policies.Policy],
    image: Mapping[str, str] = types.MappingProxyType({}),
) -> dict[str, rules.Setting]:
    """Return the constraints that count, of policies that were read before.

    One query where a role is named, else none.

    :param request: the constraints in the request itself
    :param image: the constraints of the server's image
    :param policies: the policies of the levels above the request, the lowest
        first
    :returns: ``key -> setting``
    :raises: `exception.RoleUnknown`
    """
    levels = [(rules.REQUEST, request), (rules.IMAGE, image),
              *((_source(policy), policy.constraints) for policy in policies)]
    role = rules.role_of(levels)
    return rules.effective(
        levels, role_constraints(role) if role else {})


def _source(policy: scoped_policies.Policy) -> str:
    if policy.scope == scoped_policies.ROLE:
        return rules.role_source(policy.id)
    return policy.scope


def role_constraints(role: str) -> Mapping[str, str]:
    """Return the constraints of a role (one query).

    :raises: `exception.RoleUnknown`
    """
    scope = scoped_policies.ROLE, role
    policy = scoped_policies.by_scopes([scope]).get(scope)
    if policy is None:
        raise exception.RoleUnknown(role=role)
    return policy.constraints


def check_attributes(
    context: nova_context.RequestContext, constraints: Mapping[str, str],
) -> None:
    """Refuse constraints on attributes that no host can have.

    One query where constraints ask for attributes, else none. An attribute
    that is in the metadata of an aggregate without hosts is accepted: hosts
    may come back.

    :raises: `exception.AttributeOfNoHost`

    Rule: reference-hints-wrong
    """
    asked = rules.attribute_names(constraints)
    known = inherited_metadata.known_attributes(
        context, frozenset(asked.values()))
    for key, name in sorted(asked.items()):
        if name in known:
            continue
        likely = rules.likely_key(name)
        raise exception.AttributeOfNoHost(
            pair=rules.text({key: constraints[key]}), name=name,
            expected=rules.text({likely: constraints[key]}) if likely else
            'cpu, ram, storage, or an attribute that the hosts have')


def check_unused(
    context: nova_context.RequestContext, role: str,
) -> None:
    """Refuse to remove the constraints of a role named in a policy.

    One query. Requests with a role that does not exist are refused.

    :raises: `exception.RoleInUse`
    """
    policies = rows.names_with(
        context, names.CONSTRAINT_PREFIX + rules.ROLE, role)
    if policies:
        raise exception.RoleInUse(role=role, policies=', '.join(
            policy.removeprefix(names.POLICY_PREFIX) for policy in policies))


@dataclasses.dataclass(frozen=True)
class _Lot:
    """Free hosts of a host flavor that no constraint tells apart."""

    flavor_id: str
    hosts: frozenset[str]
    machine: rules.Machine


def choose_flavor(
    context: nova_context.RequestContext,
    settings: Mapping[str, rules.Setting], zone: str | None, count: int,
) -> tuple[host_flavors.HostFlavor, frozenset[str]]:
    """Choose the host flavor that fits with the least waste.

    Among equal host flavors the flavor with the fewest units wins, then the
    first by id.

    :param zone: the availability zone of the hosts, None for any zone
    :param count: how many hosts of the host flavor are wanted
    :returns: the flavor, and the flavor's free hosts that fit
    :raises: `exception.NothingFits`, `exception.Unavailable` when a silent
        cell has hosts that may be free and fit
    """
    there = {supply.flavor.id: supply for supply in supplies.with_kinds(
        context, supplies.index(context))}
    what = rules.wanted(settings)
    lots = _lots(context, what, there.values(), zone)
    unmet = rules.unmet(what, [lot.machine for lot in lots])
    fitting: dict[str, set[str]] = collections.defaultdict(set)
    for lot, keys in zip(lots, unmet, strict=True):
        if not keys:
            fitting[lot.flavor_id] |= lot.hosts
    enough = [flavor_id for flavor_id, its_hosts in fitting.items()
              if len(its_hosts) >= count]
    if not enough:
        if any(supply.silent and zone in (None, *supply.silent)
               for supply in there.values()):
            raise exception.Unavailable()
        if fitting:
            raise exception.TooFewFit(
                zone=host_flavors.in_zone(zone), wanted=count,
                free=max(map(len, fitting.values())))
        raise exception.NothingFits(
            zone=host_flavors.in_zone(zone),
            reasons='; '.join(_reasons(
                settings, [supply.flavor for supply in there.values()],
                lots, unmet)))
    best = min(enough, key=lambda flavor_id: (
        rules.waste(what, _sizes(there[flavor_id].flavor)),
        there[flavor_id].flavor.units, flavor_id))
    return there[best].flavor, frozenset(fitting[best])


def _lots(
    context: nova_context.RequestContext, what: rules.Wanted,
    there: Iterable[supplies.Supply], zone: str | None,
) -> list[_Lot]:
    """Return the free hosts as machines of the host flavors' sizes."""
    free = [(supply.flavor, supply.free_in(zone)) for supply in there]
    hosts = frozenset().union(*(its_hosts for _, its_hosts in free))
    values = host_attributes.all_values(
        context, hosts if what.attributes else (), what.attributes)
    named = (frozenset() if what.host is None else
             census.named(context, hosts, what.host))
    return [
        _Lot(flavor.id, alike, rules.Machine(
            _sizes(flavor), dict(its_values),
            (what.host or '',) if is_named else ()))
        for flavor, its_hosts in free
        for (its_values, is_named), alike in _alike(
            its_hosts, values, named).items()]


def _alike(
    hosts: frozenset[str], values: Mapping[str, Mapping[str, frozenset]],
    named: frozenset[str],
) -> Mapping[tuple[frozenset, bool], frozenset[str]]:
    """Group hosts by values of attributes, and by whether a host is named."""
    found = collections.defaultdict(set)
    for host in hosts & (values.keys() | named):
        found[frozenset(values.get(host, {}).items()), host in named].add(host)
    others = hosts.difference(values, named)
    if others:
        found[frozenset(), False] |= others
    return {alike: frozenset(there) for alike, there in found.items()}


def _sizes(flavor: host_flavors.HostFlavor) -> dict[str, int]:
    # The size of a free host is known, but for what the host does not report.
    return {rules.CPU: flavor.vcpus or 0, rules.RAM: flavor.memory_mb or 0,
            rules.STORAGE: (flavor.disk_gb or 0) * _MIB}


def _reasons(
    settings: Mapping[str, rules.Setting],
    flavors: Sequence[host_flavors.HostFlavor], lots: Sequence[_Lot],
    unmet: Sequence[frozenset[str]],
) -> Iterable[str]:
    """Yield how many host flavors each constraint rules out, naming no host.

    A constraint rules a flavor out when none of the flavor's free hosts meets
    the constraint.

    :param flavors: all host flavors
    """
    total = len(flavors)
    of_flavor = collections.defaultdict(list)
    for lot, keys in zip(lots, unmet, strict=True):
        of_flavor[lot.flavor_id].append(keys)
    ruled_out = {flavor_id: frozenset.intersection(*key_sets)
                 for flavor_id, key_sets in of_flavor.items()}
    if total > len(of_flavor):
        yield (f'{total - len(of_flavor)} of {total} have no free host' +
               settling(flavor for flavor in flavors
                        if flavor.id not in of_flavor))
    counts = collections.Counter(
        key for keys in ruled_out.values() for key in keys)
    for key, count in sorted(counts.items()):
        yield (f'{shown(settings[key], OWNER_SEES)} rules out {count} of '
               f'{total}')
    together = sum(not keys for keys in ruled_out.values())
    if together:
        yield f'all together rule out {together} of {total}'
    if not total:
        yield 'there is no host flavor'


def settling(flavors: Iterable[host_flavors.HostFlavor]) -> str:
    """Return, in words, how many hosts settle; '' where no host does."""
    count = sum(flavor.settling for flavor in flavors)
    if not count:
        return ''
    return f' yet ({count} more are settling, try again later)'


def shown(setting: rules.Setting, sources: Collection[str]) -> str:
    """Return a constraint as the owner or a tenant may see the constraint.

    :param sources: `OWNER_SEES` or `TENANT_SEES`
    """
    if is_open(setting, sources):
        return str(setting)
    return f'{rules.label(setting.key)} ({setting.source})'


def is_open(setting: rules.Setting, sources: Collection[str]) -> bool:
    """Whether the owner or a tenant may see the value of a constraint.

    The operator's values may name a rack or a host, and the values of a
    Pcloud's owner are not for the tenants.

    :param sources: `OWNER_SEES` or `TENANT_SEES`
    """
    if setting.key == rules.HOST:
        return False
    return setting.source in sources or (
        setting.source != scoped_policies.PCLOUD and (
            setting.key in (*rules.SIZES, rules.ROLE) or
            rules.is_of_placement(setting.key)))
