# SPDX-License-Identifier: Apache-2.0

"""What servers need of the parts of a host: providers, cells and devices.

Rule: reference-planning-parts
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import objects

from pcloud.planning.programs import providers
from pcloud.rules import capacity
from pcloud.scheduler import candidates

# Placement is asked about so many different groups of resources at most.
MOST_GROUPS = 20

# Nova gives a server of these classes as much as a host has.
_FIRST = capacity.VCPU, capacity.MEMORY, capacity.DISK


@dataclasses.dataclass(frozen=True)
class Demand:
    """What a server needs of the parts of a host.

    :ivar cells: the NUMA cells of the server, None for any
    """

    providers: providers.Demand
    cells: objects.InstanceNUMATopology | None
    devices: Sequence[objects.InstancePCIRequest]


@dataclasses.dataclass(frozen=True)
class Demands:
    """What servers of several kinds need of the parts of a host.

    :ivar of: ``place of a kind -> demand``, without kinds of which what is
        free of each class tells all
    :ivar classes: the resource classes that are told provider by provider
    :ivar unknown: ``place of a kind -> what is not known``, as
        `coded.DOUBTS` names it
    """

    of: Mapping[int, Demand]
    classes: frozenset[str]
    unknown: Mapping[int, str]

    @property
    def groups(self) -> bool:
        """Whether it matters for any server which provider gives a class."""
        return any(demand.providers.groups for demand in self.of.values())


def read(
    context: nova_context.RequestContext,
    parts: Sequence[candidates.Parts], specs: Sequence[objects.RequestSpec],
    hosts: Collection[capacity.Host], destination: objects.Destination | None,
) -> Demands:
    """Return what the servers of some requests need of the parts of hosts.

    Placement is called once for each different group of resources for which
    it matters which provider gives it, and not at all for flavors of which
    each resource has one provider on a host.

    :param parts: of each kind what a server needs, group by group
    :param specs: of each kind a request
    :param hosts: what Placement has of the hosts; without any it is not asked
    :raises: `exception.Unavailable`
    """
    tracked = frozenset(_tracked(specs, parts, _shared_out(hosts)))
    answers = _Answers(context, destination)
    of, unknown = {}, {}
    for place, (spec, its) in enumerate(zip(specs, parts)):
        devices = _devices(spec)
        if asks_for_accelerators(spec):
            unknown[place] = 'accelerators'
        elif its.is_tied or any(not group.amounts for group in its.groups) or (
                its.groups and not its.loose.amounts):
            unknown[place] = 'tied_groups'
        needs_providers = hosts and not tracked.isdisjoint(_classes(its))
        groups = list(_groups(answers, its, tracked)
                      ) if needs_providers and place not in unknown else []
        if groups and answers.are_too_many:
            # What Placement was not asked about proves nothing.
            groups = []
            unknown[place] = 'too_many_groups'
        if groups or devices or spec.numa_topology is not None:
            of[place] = Demand(
                providers.Demand(groups, its.is_isolated),
                spec.numa_topology, devices)
    return Demands(of, tracked, unknown)


def asks_for_accelerators(spec: objects.RequestSpec) -> bool:
    """Whether a device profile names resources, which Cyborg alone knows."""
    return 'accel:device_profile' in spec.flavor.extra_specs


def chunks(parts: candidates.Parts) -> Iterator[tuple[str, int]]:
    """Yield each class with an amount that one provider has to give."""
    for part in (parts.loose, *parts.groups):
        yield from part.amounts.items()


def _devices(
    spec: objects.RequestSpec,
) -> Sequence[objects.InstancePCIRequest]:
    return [] if spec.pci_requests is None else spec.pci_requests.requests


def _classes(parts: candidates.Parts) -> set[str]:
    return {name for name, _ in chunks(parts)}


def _shared_out(hosts: Iterable[capacity.Host]) -> set[str]:
    """Return the classes that a host has from several providers."""
    return {name for host in hosts
            for name, amounts in host.free.items() if len(amounts) > 1}


def _tracked(
    specs: Sequence[objects.RequestSpec], parts: Sequence[candidates.Parts],
    shared_out: Collection[str],
) -> Iterator[str]:
    """Yield the classes for which it matters which provider gives them.

    It does not matter where each server has one and the same amount of a
    class from any provider that has the class.
    """
    for spec, its in zip(specs, parts):
        for group in its.groups:
            if len(group.amounts) > 1 or group.traits or _devices(spec):
                yield from group.amounts
    for name in set().union(*map(_classes, parts)):
        amounts = [[amount for other, amount in chunks(its) if other == name]
                   for its in parts]
        sizes = set().union(*amounts)
        if any(len(its) > 1 for its in amounts) or (
                name not in _FIRST and max(sizes) > 1) or (
                name in shared_out and len(sizes) > 1):
            yield name


def _groups(
    answers: _Answers, parts: candidates.Parts, tracked: frozenset[str],
) -> Iterator[providers.Group]:
    """Yield the groups of a request for which the provider matters."""
    named = [group for group in parts.groups
             if not tracked.isdisjoint(group.amounts)]
    for group in named:
        able = answers.of(parts.loose, group)
        yield providers.Group(group.suffix, group.amounts, frozenset(
            uuid for name in group.amounts
            for uuid in able.get((group.suffix, name), ())))
    able = answers.of(parts.loose, named[0] if named else None)
    for name, amount in parts.loose.amounts.items():
        if name in tracked:
            yield providers.Group('', {name: amount},
                                  able.get(('', name), frozenset()))


class _Answers:
    """What Placement has answered about groups of resources."""

    def __init__(
        self, context: nova_context.RequestContext,
        destination: objects.Destination | None,
    ) -> None:
        self._context, self._destination = context, destination
        self._known: dict[str, Mapping[
            tuple[str, str], frozenset[str]]] = {}
        self.are_too_many = False

    def of(
        self, loose: candidates.Part, group: candidates.Part | None,
    ) -> Mapping[tuple[str, str], frozenset[str]]:
        """Return which providers may give a group beside what is loose."""
        key = repr((loose, group and (group.amounts, group.traits)))
        if key not in self._known:
            if len(self._known) == MOST_GROUPS:
                self.are_too_many = True
                return {}
            self._known[key] = candidates.givers(
                self._context, loose, group and dataclasses.replace(
                    group, suffix=_NAME), self._destination)
        # Groups that differ by their names alone have one answer.
        return {(suffix and group.suffix if group else suffix, name): uuids
                for (suffix, name), uuids in self._known[key].items()}


# The name of any group in the questions to Placement.
_NAME = '1'
