# SPDX-License-Identifier: Apache-2.0

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

from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import host_counts
from pcloud import exception
from pcloud import names
from pcloud.objects import free_hosts
from pcloud.objects import host_resources
from pcloud.objects.placing import host_attributes
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import constraints as constraint_rules
from pcloud.rules.placing import machines
from pcloud import text

_MIB = 1024
# The amounts of the resource classes and those of the traits that are wanted,
# of a host; None for traits that are not known.
_Held = tuple[tuple[int, ...], frozenset[str] | None]
_UNKNOWN: _Held = (), None
# The sources whose values a tenant and the owner of the Pcloud may see.
TENANT_SEES = (constraint_rules.REQUEST, constraint_rules.IMAGE,
               constraint_rules.BUILT_IN)
OWNER_SEES = (*TENANT_SEES, scoped_policies.PCLOUD)


def effective(
    request: Mapping[str, str], scopes: Sequence[tuple[str, str]],
) -> dict[str, constraint_rules.Setting]:
    """Return the constraints that count.

    One query, and another query where a role is named.

    :param request: the constraints in the request itself
    :param scopes: scope and id of the levels above the request, the lowest
        first
    :returns: ``key -> setting``
    :raises: `exception.Invalid` for an unknown role
    """
    policies = scoped_policies.by_scopes(scopes)
    return of_policies(request, [
        policies[scope] for scope in scopes if scope in policies])


def of_policies(
    request: Mapping[str, str], policies: Iterable[scoped_policies.Policy],
    image: Mapping[str, str] = types.MappingProxyType({}),
) -> dict[str, constraint_rules.Setting]:
    """Return the constraints that count, of policies that were read before.

    One query where a role is named, else none.

    :param request: the constraints in the request itself
    :param image: the constraints of the server's image
    :param policies: the policies of the levels above the request, the lowest
        first
    :returns: ``key -> setting``
    :raises: `exception.Invalid` for an unknown role
    """
    levels = [(constraint_rules.REQUEST, request),
              (constraint_rules.IMAGE, image),
              *((_source(policy), policy.constraints) for policy in policies)]
    role = constraint_rules.role_of(levels)
    return constraint_rules.effective(
        levels, role_constraints(role) if role else {})


def _source(policy: scoped_policies.Policy) -> str:
    if policy.scope == scoped_policies.ROLE:
        return constraint_rules.role_source(policy.id)
    return policy.scope


def role_constraints(role: str) -> Mapping[str, str]:
    """Return the constraints of a role (one query).

    :raises: `exception.Invalid` for an unknown role
    """
    scope = scoped_policies.ROLE, role
    policy = scoped_policies.by_scopes([scope]).get(scope)
    if policy is None:
        raise exception.Invalid(
            f"Role '{role}' is not defined; administrators define it as a "
            'policy of scope role.')
    return policy.constraints


def check_attributes(
    context: nova_context.RequestContext, constraints: Mapping[str, str],
) -> None:
    """Refuse constraints on attributes that no host can have.

    One query where constraints ask for attributes, else none. An attribute
    that is in the metadata of an aggregate without hosts is accepted: hosts
    may come back.

    :raises: `exception.Invalid` with a likely other pair

    Rule: reference-hints-wrong
    """
    asked = constraint_rules.attribute_names(constraints)
    known = inherited_metadata.known_attributes(
        context, frozenset(asked.values()))
    for key, name in sorted(asked.items()):
        if name in known:
            continue
        value = constraints[key]
        likely = constraint_rules.likely_key(name)
        right = (constraint_rules.text({likely: value}) if likely else
                 'cpu, ram, storage, or an attribute that the hosts have')
        raise exception.Invalid(
            f"No host meets the constraint "
            f"'{constraint_rules.text({key: value})}': no host has an "
            f"attribute '{name}'; it has to be {right}.")


def check_unused(
    context: nova_context.RequestContext, role: str,
) -> None:
    """Refuse to remove the constraints of a role named in a policy.

    One query. Requests with a role that does not exist are refused.

    :raises: `exception.Conflict`
    """
    policies = rows.names_with(
        context, names.CONSTRAINT_PREFIX + constraint_rules.ROLE, role)
    if policies:
        named = ', '.join(
            policy.removeprefix(names.POLICY_PREFIX) for policy in policies)
        raise exception.Conflict(
            f"Role '{role}' is named in the constraints of {named}; set those "
            'first.')


@dataclasses.dataclass(frozen=True)
class _Lot:
    """Free hosts of a host flavor that no constraint tells apart."""

    flavor_id: str
    hosts: frozenset[str]
    machine: machines.Machine


def choose_flavor(
    context: nova_context.RequestContext,
    settings: Mapping[str, constraint_rules.Setting], zone: str | None,
    count: int,
) -> tuple[free_hosts.HostFlavor, frozenset[str]]:
    """Choose the host flavor that fits with the least waste.

    Among equal host flavors the flavor with the fewest units wins, then the
    first by id. Where a constraint is on a resource class or on a trait, two
    queries more, one query a cell, and the calls of `host_resources.of_hosts`
    to Placement.

    :param zone: the availability zone of the hosts, None for any zone
    :param count: how many hosts of the host flavor are wanted
    :returns: the flavor, and the flavor's free hosts that fit
    :raises: `exception.NothingFits`, `exception.Unavailable` when a silent
        cell has hosts that may be free and fit, and when Placement does not
        answer
    """
    there = {supply.flavor.id: supply
             for supply in free_hosts.index(context)}
    what = machines.wanted(settings)
    lots = _lots(context, what, there.values(), zone)
    unmet = machines.unmet(what, [lot.machine for lot in lots])
    fitting: dict[str, list[_Lot]] = collections.defaultdict(list)
    for lot, keys in zip(lots, unmet, strict=True):
        if not keys:
            fitting[lot.flavor_id].append(lot)
    counts = {flavor_id: sum(len(lot.hosts) for lot in its_lots)
              for flavor_id, its_lots in fitting.items()}
    enough = [flavor_id for flavor_id, its_count in counts.items()
              if its_count >= count]
    if not enough:
        if any(supply.silent and zone in (None, *supply.silent)
               for supply in there.values()):
            raise exception.Unavailable()
        if fitting:
            raise exception.NothingFits(
                f'No host flavor has {count} free '
                f'hosts{text.in_zone(zone)} that meet the '
                f'constraints; the most are {max(counts.values())}. Nothing '
                'was changed.')
        raise exception.NothingFits(
            zone=text.in_zone(zone),
            reasons='; '.join(_reasons(
                settings, [supply.flavor for supply in there.values()],
                lots, unmet)))
    best = min(enough, key=lambda flavor_id: (
        min(machines.waste(what, lot.machine.sizes, lot.machine.resources)
            for lot in fitting[flavor_id]),
        there[flavor_id].flavor.units, flavor_id))
    return there[best].flavor, frozenset().union(
        *(lot.hosts for lot in fitting[best]))


def _lots(
    context: nova_context.RequestContext, what: machines.Wanted,
    there: Iterable[free_hosts.Supply], zone: str | None,
) -> list[_Lot]:
    """Return the free hosts as machines of the host flavors' sizes."""
    flavors = {supply.flavor.id: supply.flavor for supply in there}
    free = {supply.flavor.id: supply.free_in(zone) for supply in there}
    hosts = frozenset().union(*free.values())
    asked = what.all_attributes
    values = host_attributes.all_values(
        context, hosts if asked else (), asked)
    named = (frozenset() if what.host is None else
             host_counts.named(context, hosts, what.host))
    held = (_held(context, what, free)
            if hosts and (what.resources or what.traits) else {})
    return [
        _Lot(flavor_id, alike, machines.Machine(
            _sizes(flavors[flavor_id]), dict(its_values),
            (what.host or '',) if is_named else (),
            dict(zip(what.resources, amounts)), traits))
        for flavor_id, its_hosts in free.items()
        for (its_values, is_named, (amounts, traits)), alike in _alike(
            its_hosts, values, named, held).items()]


def _held(
    context: nova_context.RequestContext, what: machines.Wanted,
    free: Mapping[str, frozenset[str]],
) -> Mapping[str, _Held]:
    """Return what Placement has of the free hosts, of what is wanted.

    :param free: ``host flavor id -> free hosts``
    """
    hosts = frozenset().union(*free.values())
    known, _ = compute_nodes.known_nodes(context, hosts)
    nodes = {host: known[host] for host in hosts & known.keys()}
    there = host_resources.of_hosts(
        context, nodes.values(), pool_rows.uuids(context, free),
        [*dict.fromkeys([*host_resources.COMMON[:1], *what.resources,
                         *host_resources.COMMON])])
    return {
        host: (tuple(its.total.get(name, 0) for name in what.resources),
               its.traits.intersection(what.traits))
        for host, node in nodes.items() if (its := there.get(node.uuid))}


def _alike(
    hosts: frozenset[str], values: Mapping[str, Mapping[str, frozenset]],
    named: frozenset[str], held: Mapping[str, _Held],
) -> Mapping[tuple[frozenset, bool, _Held], frozenset[str]]:
    """Group hosts by attributes, by names, and by what Placement has."""
    found = collections.defaultdict(set)
    for host in hosts & (values.keys() | named | held.keys()):
        found[frozenset(values.get(host, {}).items()), host in named,
              held.get(host, _UNKNOWN)].add(host)
    others = hosts.difference(values, named, held)
    if others:
        found[frozenset(), False, _UNKNOWN] |= others
    return {alike: frozenset(there) for alike, there in found.items()}


def _sizes(flavor: free_hosts.HostFlavor) -> dict[str, int]:
    # The size of a free host is known, but for what the host does not report.
    what = flavor.what
    return {constraint_rules.CPU: what.cpus or 0,
            constraint_rules.RAM: what.memory_mb or 0,
            constraint_rules.STORAGE: (what.disk_gb or 0) * _MIB}


def _reasons(
    settings: Mapping[str, constraint_rules.Setting],
    flavors: Sequence[free_hosts.HostFlavor], lots: Sequence[_Lot],
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
    for ruling_out in machines.unmeetable(unmet):
        if len(ruling_out) > 1:
            yield ('no free host meets ' +
                   in_words(settings, ruling_out, OWNER_SEES))
    if not total:
        yield 'there is no host flavor'


def settling(flavors: Iterable[free_hosts.HostFlavor]) -> str:
    """Return, in words, how many hosts settle; '' where no host does."""
    count = sum(flavor.settling for flavor in flavors)
    if not count:
        return ''
    return f' yet ({count} more are settling, try again later)'


def shown(setting: constraint_rules.Setting, sources: Collection[str]) -> str:
    """Return a constraint as the owner or a tenant may see the constraint.

    :param sources: `OWNER_SEES` or `TENANT_SEES`
    """
    if is_open(setting, sources):
        return str(setting)
    return f'{constraint_rules.label(setting.key)} ({setting.source})'


def in_words(
    settings: Mapping[str, constraint_rules.Setting], keys: Sequence[str],
    sources: Collection[str],
) -> str:
    """Return, in words, constraints that no host meets together.

    :param keys: of `machines.unmeetable`
    :param sources: `OWNER_SEES` or `TENANT_SEES`
    """
    *first, last = [shown(settings[key], sources) for key in keys]
    if not first:
        return last
    alone = ('each alone is met' if len(keys) == 2 else
             'the others are met where any one is left out')
    return f'{", ".join(first)} and {last} together, although {alone}'


def is_open(
    setting: constraint_rules.Setting, sources: Collection[str],
) -> bool:
    """Whether the owner or a tenant may see the value of a constraint.

    The operator's values may name a rack or a host, and the values of a
    Pcloud's owner are not for the tenants.

    :param sources: `OWNER_SEES` or `TENANT_SEES`
    """
    if setting.key == constraint_rules.HOST:
        return False
    return setting.source in sources or (
        setting.source != scoped_policies.PCLOUD and (
            setting.key in (*constraint_rules.SIZES, constraint_rules.ROLE) or
            constraint_rules.is_of_placement(setting.key)))
