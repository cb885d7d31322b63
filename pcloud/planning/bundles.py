# SPDX-License-Identifier: Apache-2.0

"""The servers of a bundle: what they need, and what no plan knows of them.

Rule: reference-planning-simulate, reference-planning-unknown
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools

from nova import context as nova_context
from nova import filters as nova_filters
from nova import objects
from nova.scheduler import host_manager

from pcloud import exception
from pcloud.explain import filtering
from pcloud.objects import pclouds
from pcloud.objects.placing import sticky_keys
from pcloud.planning import demands
from pcloud.planning import obstacles
from pcloud.planning.programs import fitting
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.placing import colocation
from pcloud.scheduler import candidates
from pcloud.scheduler import request_keys

# Filters that keep a host, or drop a host, however many servers come. The
# builds that IoOpsFilter counts end by themselves.
_SETTLED = frozenset((
    'AggregateImagePropertiesIsolation', 'AggregateInstanceExtraSpecsFilter',
    'AggregateIoOpsFilter', 'AggregateTypeAffinityFilter', 'AllHostsFilter',
    'ColocationFilter', 'ComputeCapabilitiesFilter', 'ComputeFilter',
    'ConstraintsFilter', 'DifferentHostFilter', 'ImagePropertiesFilter',
    'IoOpsFilter', 'IsolatedHostsFilter', 'LocalityFilter', 'PcloudFilter',
    'RebootFilter', 'SameHostFilter', 'ServerGroupAffinityFilter',
    'ServerGroupAntiAffinityFilter', 'SimpleCIDRAffinityFilter'))
# Filters of which the flavor tells whether they count.
_ASK_FLAVOR = frozenset((
    'AffinityFilter', 'NUMATopologyFilter', 'PciPassthroughFilter'))
_AFFINITY = 'AffinityFilter'

# How many resource classes Placement is asked about.
_CLASSES = 2
_FIRST = capacity.VCPU, capacity.MEMORY, capacity.DISK


@dataclasses.dataclass(frozen=True)
class Entry:
    """Equal servers that are asked about.

    :ivar apart: whether each of the servers is on another host
    :ivar label: what tells the request of the servers from the requests of
        other servers of the flavor, None for a request of the flavor alone
    """

    flavor: objects.Flavor
    count: int
    apart: bool
    label: str | None = None

    @property
    def key(self) -> str:
        """The key of the request in a bundle."""
        return self.flavor.flavorid if self.label is None else self.label


@dataclasses.dataclass(frozen=True)
class Bundle:
    """All servers that are asked about.

    :ivar specs: ``key of an entry -> request``
    :ivar needs: ``key of an entry -> need``
    :ivar filters: the filters that are asked about each host
    :ivar missing: the filters that this process cannot load
    """

    entries: Sequence[Entry]
    specs: Mapping[str, objects.RequestSpec]
    needs: Mapping[str, capacity.Need]
    filters: Sequence[nova_filters.BaseFilter]
    missing: Collection[str]

    @property
    def kinds(self) -> tuple[fitting.ServerKind, ...]:
        """The entries as they are packed."""
        return tuple(fitting.ServerKind(
            {name: amount for name, amount
             in self.needs[entry.key].amounts.items() if amount},
            entry.count, entry.apart) for entry in self.entries)

    @property
    def classes(self) -> list[str]:
        """The resource classes to ask Placement about.

        Placement tells of hosts with a little free of one class. A host that
        is left out has nothing free of the class, so each flavor needs one of
        the classes.

        :raises: `exception.FlavorUnusable` when a flavor needs none
        """
        chosen = common_classes(self.needs.values())
        for key, need in self.needs.items():
            if need.amounts.keys().isdisjoint(chosen):
                raise exception.FlavorUnusable(
                    flavor=self.specs[key].flavor.flavorid,
                    reason='it needs none of the resources '
                    'that the other flavors need; ask about it alone.')
        return chosen

    @functools.cached_property
    def parts(self) -> list[candidates.Parts]:
        """What a server of each entry needs, group by group."""
        return [candidates.parts(self.specs[entry.key])
                for entry in self.entries]

    @property
    def destination(self) -> objects.Destination:
        """Where the servers go; of one of them, where they differ."""
        return next(iter(self.specs.values())).requested_destination

    def amounts(self, host: capacity.Host) -> dict[str, int]:
        """Return what is free on a host of each class that servers need.

        Where it is not known, it is not less. Of what comes from several
        providers no more counts than whole servers get.
        """
        return {name: self._amount(name, host)
                for name in fitting.classes(self.kinds)}

    def _amount(self, name: str, host: capacity.Host) -> int:
        free = [max(amount, 0) for amount in host.free.get(name, ())]
        if self._may_be_shared(name, host):
            return fitting.amount(
                self.kinds, (kind.count for kind in self.kinds), name)
        sizes = self._sizes(name)
        if len(free) < 2 or len(sizes) > 1:
            return sum(free)
        size, = sizes
        return sum(amount // size * size for amount in free)

    def _sizes(self, name: str) -> set[int]:
        return {amount for parts in self.parts
                for other, amount in demands.chunks(parts) if other == name}

    def _may_be_shared(self, name: str, host: capacity.Host) -> bool:
        """Whether a provider of several hosts may have a class for a host.

        Nova knows this for disks.
        """
        return (name == capacity.DISK and bool(host.free) and
                name not in host.free)

    def doubts(self, host: capacity.Host) -> list[coded.Reason]:
        """Return what is not known of the amounts on a host."""
        return [coded.Reason('shared_provider', resource=name)
                for name in fitting.classes(self.kinds)
                if self._may_be_shared(name, host)]

    def refused(
        self, traits: frozenset[str], host: str,
        kept: Mapping[str, Collection[str]],
    ) -> frozenset[int]:
        """Return the places of the entries that a host does not take.

        :param traits: the traits of the host
        :param host: the service host
        :param kept: ``key -> service hosts`` that filters keep
        """
        known = capacity.Host({}, traits)
        return frozenset(
            place for place, entry in enumerate(self.entries)
            if host not in kept[entry.key] or
            capacity.wrong_traits(self.needs[entry.key], known))

    def kept(
        self, states: Sequence[host_manager.HostState],
    ) -> dict[str, set[str]]:
        """Return ``key -> service hosts`` that all filters keep."""
        return {key: obstacles.kept(states, self.filters, spec)
                for key, spec in self.specs.items()}


def common_classes(needs: Collection[capacity.Need]) -> list[str]:
    """Return the resource classes that Placement is asked about.

    There are two at most, so a need may have none of the classes.
    """
    chosen: list[str] = []
    left = list(needs)
    for _ in range(_CLASSES):
        best = _commonest(left or needs, chosen)
        if best is not None:
            chosen.append(best)
            left = [need for need in left if best not in need.amounts]
    return chosen


def _commonest(
    needs: Iterable[capacity.Need], but: Collection[str],
) -> str | None:
    """Return the class that most needs have; cpus, memory and disk first."""
    counts: dict[str, int] = {}
    for need in needs:
        for name, amount in need.amounts.items():
            if amount and name not in but:
                counts[name] = counts.get(name, 0) + 1
    return min(counts, key=lambda name: (
        -counts[name],
        _FIRST.index(name) if name in _FIRST else len(_FIRST), name),
        default=None)


def make(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    entries: Sequence[Entry], domain: str | None,
) -> Bundle:
    """Return a bundle of servers of the owner.

    :param domain: the domain of the owner's project, None when unknown
    :raises: `exception.FlavorUnusable`; `exception.PcloudUnusable` when no
        host at all is right for the servers of the owner
    """
    flavors = {entry.key: entry.flavor for entry in entries}
    specs = {key: obstacles.request_of(context, pcloud, flavor, domain)
             for key, flavor in flavors.items()}
    for spec in specs.values():
        refusal = obstacles.refusal(context, pcloud, spec)
        if refusal is not None:
            raise exception.PcloudUnusable(pcloud=pcloud.id, reason=refusal)
    return of_requests(entries, specs, filtering.load())


def of_requests(
    entries: Sequence[Entry], specs: Mapping[str, objects.RequestSpec],
    loaded: filtering.Loaded,
) -> Bundle:
    """Return a bundle of servers whose requests are known.

    :param specs: ``key of an entry -> request``
    """
    return Bundle(
        entries, specs,
        {key: obstacles.need_of(spec) for key, spec in specs.items()},
        obstacles.asked(loaded), loaded.missing.keys())


def unknown(
    bundle: Bundle, states: Sequence[host_manager.HostState],
) -> list[coded.Reason]:
    """Return what may keep servers away and few plans know.

    :param states: hosts of the Pcloud
    """
    return [*unknown_of_all(bundle), *(
        coded.Reason('flavor_unplanned', flavor=spec.flavor.flavorid,
                     doubt=doubt)
        for key, spec in bundle.specs.items()
        for doubt in unknown_of(bundle, key, states))]


def unknown_beside_parts(
    bundle: Bundle, states: Sequence[host_manager.HostState],
) -> list[coded.Reason]:
    """Return the same for a plan that knows of the parts of hosts."""
    return [*unknown_of_all(bundle), *(
        coded.Reason('flavor_unplanned', flavor=spec.flavor.flavorid,
                     doubt=doubt)
        for key, spec in bundle.specs.items()
        for doubt in unknown_of_flavor(bundle, key, states))]


def unknown_of_all(bundle: Bundle) -> list[coded.Reason]:
    """Return what may keep any of the servers away, as `unknown`."""
    return [
        *(coded.Reason('filter_unasked', filter=name)
          for name in sorted(bundle.missing)),
        *(coded.Reason('filter_counts', filter=name)
          for name in _named(bundle) if name not in _SETTLED | _ASK_FLAVOR),
        *([coded.Reason('several_aggregates')]
          if len({where(spec) for spec in bundle.specs.values()}) > 1
          else [])]


def unknown_of(
    bundle: Bundle, key: str, states: Sequence[host_manager.HostState],
) -> list[str]:
    """Return what may keep the servers of an entry away.

    :param key: the key of the entry
    :returns: names of `coded.DOUBTS`
    """
    return [*_of_parts(bundle.specs[key]),
            *unknown_of_flavor(bundle, key, states)]


def unknown_of_flavor(
    bundle: Bundle, key: str, states: Sequence[host_manager.HostState],
) -> list[str]:
    """Return the same for a plan that knows of the parts of hosts."""
    return list(_of_flavor(
        bundle.specs[key], states if _AFFINITY in _named(bundle) else None))


def sticky_servers(
    context: nova_context.RequestContext, loaded: filtering.Loaded,
    there: Mapping[str, str],
) -> frozenset[str]:
    """Return the servers that sticky keys may keep from other hosts.

    :param loaded: the filters; without `AffinityFilter` there is no query
    :param there: ``server uuid -> service host``
    """
    if _AFFINITY not in map(filtering.name, loaded.filters):
        return frozenset()
    return sticky_keys.holders(context, there)


def _named(bundle: Bundle) -> list[str]:
    return [filtering.name(filter_) for filter_ in bundle.filters]


def where(spec: objects.RequestSpec) -> tuple:
    """Return the aggregates that a request is for, and those forbidden."""
    destination = spec.requested_destination
    return (tuple(destination.aggregates or ()),
            tuple(sorted(destination.forbidden_aggregates or ())))


def _of_flavor(
    spec: objects.RequestSpec,
    states: Sequence[host_manager.HostState] | None,
) -> Iterator[str]:
    """Yield what no plan knows of a flavor, as `coded.DOUBTS` names it.

    :param states: hosts, None where placement keys drop no host
    """
    if colocation.EXTRA_SPEC in spec.flavor.extra_specs:
        yield 'colocation'
    if states and request_keys.compiled(spec, states).system:
        yield 'placement_keys'


def _of_parts(spec: objects.RequestSpec) -> Iterator[str]:
    """Yield what a plan does not know of a flavor without parts of hosts."""
    if spec.numa_topology is not None:
        yield 'numa_cells'
    if spec.pci_requests is not None and spec.pci_requests.requests:
        yield 'pci_devices'
    extra_specs = spec.flavor.extra_specs
    if any(name.partition(':')[0] not in ('resources', 'trait') and
           name.startswith(('resources', 'trait')) for name in extra_specs):
        yield 'groups'
    if demands.asks_for_accelerators(spec):
        yield 'accelerators'
