# SPDX-License-Identifier: Apache-2.0

"""What keeps servers on their hosts, and what servers ask for.

Rule: reference-rebalancing-pinned
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools

from nova import context as nova_context
from nova import exception as nova_exception
from nova import filters as nova_filters
from nova import objects
from nova.scheduler import host_manager
from oslo_utils import timeutils

from pcloud.backend.cells import occupants
from pcloud.backend import complaints
from pcloud.backend import request_specs
from pcloud.explain import filtering
from pcloud.moving import drain_plan
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.planning import bundles
from pcloud.planning import obstacles
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.moving import blockers
from pcloud.rules.moving import moves
from pcloud.rules.placing import access
from pcloud.rules.placing import hints
from pcloud.rules.placing import locality
from pcloud.scheduler import candidates

# What keeps a server beside the rules of `blockers`.
DRAINED, HOST_DOWN = 'drained', 'host_down'
# Hints that other hosts may fulfil as well. Filters are asked about them.
_LOOSE = frozenset((
    hints.PCLOUD, hints.PREFER, hints.CONSTRAINTS, hints.NEAR, hints.FAR,
    hints.DOMAIN_RECORD, hints.IMAGE_CONSTRAINTS_RECORD))

_LOCAL = hints.NEAR, hints.FAR
_BESIDE = hints.IN, hints.WITH, hints.BESIDE

# The names of hints that owners are told.
_TOLD = frozenset((
    *hints.GIVEN, 'group', 'same_host', 'different_host', 'query',
    'build_near_host_ip', 'cidr', 'target_cell'))

_NAMED = blockers.PLACEMENT, coded.Reason('near_or_far')

_STICKY = blockers.PLACEMENT, coded.Reason('sticky_keys')

_ARRIVES = blockers.MIGRATION, coded.Reason('migration_of_host')


@dataclasses.dataclass(frozen=True)
class Request:
    """The answers to equal requests.

    :ivar hosts: the service hosts right for the servers
    :ivar obstacle: the rule and the reason that keep the servers, or None
    """

    need: capacity.Need
    hosts: frozenset[str]
    obstacle: blockers.Why | None = None


@dataclasses.dataclass(frozen=True)
class Reader:
    """All rows and answers but for what is free.

    :ivar tenancy: who may use the Pcloud, and on which hosts
    :ivar found: ``service host -> occupants``
    :ivar requests: ``server uuid -> request``
    :ivar sticky: the servers that sticky keys may keep from hosts
    """

    context: nova_context.RequestContext
    pcloud: pclouds.Pcloud
    tenancy: access.Pcloud
    there: Sequence[hosts.Host]
    found: Mapping[str, Sequence[occupants.Occupant]]
    requests: Mapping[str, request_specs.Kept]
    sticky: frozenset[str]
    states: Sequence[host_manager.HostState]
    loaded: filtering.Loaded

    def all_occupants(
        self,
    ) -> Iterator[tuple[hosts.Host, occupants.Occupant]]:
        """Yield each server with each host that the server occupies."""
        for host in self.there:
            for occupant in self.found.get(host.compute.host, ()):
                yield host, occupant

    def obstacle(
        self, host: hosts.Host, occupant: occupants.Occupant, move: str,
        pasts: Mapping[str, Collection[moves.Past]],
    ) -> blockers.Why | None:
        """Return the rule and the reason that keep a server on a host."""
        if occupant.uuid not in (host.instances or ()):
            return blockers.why(occupant.state) or _ARRIVES
        if host.drain is not None:
            return DRAINED, coded.Reason('drained')
        if not host.compute.up:
            return HOST_DOWN, coded.Reason('its_host_down')
        kept = self.requests.get(occupant.uuid)
        obstacle = drain_plan.obstacle_of(
            self.tenancy, move, occupant,
            None if kept is None else kept.asked)
        if obstacle is not None or kept is None:
            return obstacle
        now = timeutils.utcnow_ts()
        wait = moves.wait(pasts.get(occupant.uuid, ()), now)
        if wait is not None and wait.until > now:
            return wait.rule, wait.reason
        tied = sorted(kept.asked.hints.keys() - _LOOSE)
        if tied:
            # Other tenants may have chosen any name.
            return blockers.PLACEMENT, (
                coded.Reason('hint_ties', hint=tied[0])
                if tied[0] in _TOLD else coded.Reason('unknown_hint_ties'))
        if occupant.uuid in self.sticky:
            return _STICKY
        if (occupant.uuid in self.named or
                kept.project in self.strict_projects):
            return _NAMED
        return None

    @functools.cached_property
    def named(self) -> frozenset[str]:
        """What other servers have to be near to, or far from, or beside."""
        return frozenset(
            value for kept in self.requests.values()
            for name in (*_BESIDE, *(
                _LOCAL if hints.LOCALITY in kept.hints else ()))
            for value in kept.hints.get(name) or ())

    @functools.cached_property
    def strict_projects(self) -> frozenset[str]:
        """The projects with strict hints for tags.

        Any server of the project may have the tag.
        """
        return frozenset(
            kept.project for kept in self.requests.values()
            if hints.LOCALITY in kept.hints and any(
                locality.is_tag(value)
                for name in _LOCAL for value in kept.hints.get(name) or ()))

    @property
    def filters(self) -> list[nova_filters.BaseFilter]:
        """The filters to ask."""
        return obstacles.asked(self.loaded)

    def unknown(self) -> list[coded.Reason]:
        """Return what no plan knows of any server."""
        return bundles.unknown(self._bundle({}), self.states)

    def _bundle(
        self, specs: Mapping[str, objects.RequestSpec],
    ) -> bundles.Bundle:
        return bundles.Bundle(
            (), specs, {}, self.filters, self.loaded.missing.keys())

    def request(
        self, kept: request_specs.Kept, source: str,
    ) -> Request:
        """Return what is known of a request.

        :param source: the service host of a server
        """
        spec = kept.spec()
        # What is asked for with a preference is settled: the Pcloud.
        spec.scheduler_hints = {
            **{name: values for name, values in kept.hints.items()
               if name != hints.PREFER}, hints.PCLOUD: [self.pcloud.id]}
        spec.requested_destination = objects.Destination(
            aggregates=[self.pcloud.aggregate.uuid])
        # Nova would ask Placement for the aggregates of the zone.
        zone, spec.availability_zone = spec.availability_zone, None
        where = bundles.where(spec)
        if obstacles.refusal_of_nova(self.context, spec) is not None:
            return Request(capacity.Need({}), frozenset(), (
                blockers.PLACEMENT, coded.Reason('nova_finds_no_host')))
        if where != bundles.where(spec):
            return Request(capacity.Need({}), frozenset(), (
                blockers.PLACEMENT, coded.Reason('some_aggregates')))
        try:
            need = candidates.need(spec)
        except nova_exception.Invalid as error:
            # Owners may not see flavors of other tenants.
            complaints.once(error.format_message())
            return Request(
                capacity.Need({}), frozenset(), drain_plan.UNUSABLE)
        flavor = spec.flavor.flavorid
        doubts = bundles.unknown_of(
            self._bundle({flavor: spec}), flavor, self.states)
        if doubts:
            # Owners may not see flavors of other tenants.
            return Request(need, frozenset(), (
                blockers.PLACEMENT,
                coded.Reason('its_flavor_unplanned', doubt=doubts[0])))
        cell = {state.host: state.cell_uuid for state in self.states}
        kept_hosts = obstacles.kept(self.states, self.filters, spec)
        return Request(need, frozenset(
            host.compute.host for host in self.there
            if host.compute.host in kept_hosts and
            cell.get(host.compute.host) == cell.get(source) and
            (zone is None or host.compute.zone == zone)))
