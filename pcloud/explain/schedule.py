# SPDX-License-Identifier: Apache-2.0

"""Go the way of nova-scheduler with a request, and record each step.

Nothing is claimed: the way ends before the claim.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import collections
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import copy
import dataclasses

from nova import context as nova_context
from nova import exception as nova_exception
from nova import filters as nova_filters
from nova import objects
from nova.scheduler import filters as host_filters
from nova.scheduler import host_manager
from oslo_config import cfg

from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud.explain import conductor
from pcloud.explain import filtering
from pcloud.explain import offers
from pcloud.explain import weighing
from pcloud.scheduler import memo

CONF = cfg.CONF

# As in Nova: with this hint a forced host is filtered too.
_CHECK = '_nova_check_type'


@dataclasses.dataclass(frozen=True)
class Step:
    """A filter on the way.

    :ivar outcome: the result for the hosts kept by the filters before
    :ivar asked: the number of hosts kept by the filters before
    :ivar alone: how many of all candidates the filter would keep by itself
    :ivar is_explained: whether the filter gives reasons
    """

    outcome: filtering.Outcome
    asked: int
    alone: int
    is_explained: bool


@dataclasses.dataclass(frozen=True)
class Explanation:
    """The result of a request.

    The steps after a refusal, or after a filter that keeps no host, are
    computed as if the way went on.

    :ivar refusals: refusals by request filters; a single refusal ends the
        request
    :ivar no_such_host: why Placement was not asked, None when Placement was
        asked
    :ivar nodes: the number of compute nodes
    :ivar left_out: the compute nodes not offered by Placement
    :ivar excluded: service hosts offered by Placement that the filters do not
        get: hosts without a compute service in Nova, and hosts excluded by the
        request
    :ivar candidates: how many hosts the filters get
    :ivar is_forced: whether the request skips the filters
    :ivar steps: the filters in their order
    :ivar missing: ``filter or weigher -> reason`` for each class which could
        not be loaded here
    :ivar weighed: the hosts kept by all filters, the best first
    """

    spec: objects.RequestSpec
    refusals: Sequence[conductor.RequestRefused]
    nodes: int
    no_such_host: str | None = None
    left_out: Sequence[offers.Node] = ()
    excluded: Sequence[str] = ()
    candidates: int = 0
    is_forced: bool = False
    steps: Sequence[Step] = ()
    missing: Mapping[str, str] = dataclasses.field(default_factory=dict)
    weighed: Sequence[weighing.Weighed] = ()

    @property
    def best(self) -> list[weighing.Weighed]:
        """The hosts among which nova-scheduler chooses; may be empty.

        There are several hosts where chance decides: among the best
        ``host_subset_size``, and among equal hosts.
        """
        usable = [weighed for weighed in self.weighed
                  if weighed.host_state.allocation_candidates]
        if self.refusals or not usable:
            return []
        size = min(CONF.filter_scheduler.host_subset_size, len(usable))
        least = usable[size - 1].total
        return [weighed for weighed in usable if weighed.total >= least]


def explain(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> Explanation:
    """Explain the result of a request.

    The request is changed, as nova-scheduler does.

    :raises: `exception.Unavailable` when a part of the cloud does not answer
    """
    manager = _Manager()
    conductor.look_up_group(context, spec)
    refusals = conductor.refusals(context, spec)
    nodes = compute_nodes.every_node(context)
    try:
        offer = offers.ask(context, spec, manager)
    except nova_exception.NoValidHost as error:
        return Explanation(spec, refusals, len(nodes), conductor.reason(error))
    manager.know_servers(context, {
        nodes[uuid][0] for uuid in offer.providers if uuid in nodes})
    states = _host_states(context, spec, offer, manager)
    asked = list(manager.get_filtered_hosts(states, spec))
    handed_out = {host for uuid, (host, _) in nodes.items()
                  if uuid in offer.providers}
    loaded, (weighers, missing) = filtering.load(), weighing.load()
    is_forced = _is_forced(spec)
    steps, passing = _filtered(
        [] if is_forced else loaded.filters, asked, spec)
    return Explanation(
        spec, refusals, len(nodes),
        left_out=offers.left_out(
            context, spec, offer, nodes, manager.aggs_by_id.values()),
        excluded=sorted(
            handed_out - {host_state.host for host_state in asked}),
        candidates=len(asked), is_forced=is_forced, steps=steps,
        missing={**loaded.missing, **missing},
        weighed=weighing.weigh(weighers, passing, spec))


class _Manager(host_manager.HostManager):
    """Nova's host manager, fresh, without filters and weighers.

    Filters and weighers are loaded apart, for some may be missing on this
    machine. The servers of hosts are read when the hosts are known, not by a
    thread beforehand.
    """

    def __init__(self) -> None:
        self.refresh_cells_caches()
        self.filter_handler = host_filters.HostFilterHandler()
        self.enabled_filters: list = []
        self.aggs_by_id: dict = {}
        self.host_aggregates_map: dict[str, set] = (
            collections.defaultdict(set))
        self._init_aggregates()
        self._instance_info: dict[str, dict] = {}

    def know_servers(
        self, context: nova_context.RequestContext, hosts: Collection[str],
    ) -> None:
        """Read the servers of some service hosts (one query a cell).

        Nova would make a query for each unknown host.
        """
        there = computes.instances(context, hosts)
        self._instance_info = {
            host: {'updated': True, 'instances': {
                uuid: objects.Instance(context, uuid=uuid)
                for uuid in there.get(host, ())}} for host in hosts}


def _host_states(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    offer: offers.Offer, manager: host_manager.HostManager,
) -> list[host_manager.HostState]:
    host_states = sorted(
        manager.get_host_states_by_uuids(
            context.elevated(), list(offer.providers), spec),
        key=lambda host_state: (host_state.host, host_state.nodename))
    for host_state in host_states:
        host_state.allocation_candidates = copy.deepcopy(
            offer.requests.get(host_state.uuid, []))
    return host_states


def _is_forced(spec: objects.RequestSpec) -> bool:
    """Whether Nova does not ask its filters."""
    hints = spec.scheduler_hints if 'scheduler_hints' in spec else None
    return bool((spec.force_hosts or spec.force_nodes) and
                _CHECK not in (hints or {}))


def _filtered(
    asked: Sequence[nova_filters.BaseFilter],
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> tuple[list[Step], list[host_manager.HostState]]:
    """Ask the filters one after the other, and each filter by itself.

    :returns: the steps, and the hosts kept by all filters
    """
    alone = [_alone(filter_, host_states, spec) for filter_ in asked]
    steps = []
    passing = list(host_states)
    for filter_, number in zip(asked, alone, strict=True):
        outcome = filtering.outcome(filter_, passing, spec)
        steps.append(Step(outcome, len(passing), number,
                          filtering.is_explained(filter_)))
        passing = outcome.hosts
    return steps, passing


def _alone(
    filter_: nova_filters.BaseFilter,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> int:
    """Return how many hosts a filter keeps, and leave the hosts unchanged."""
    with filtering.keeping_candidates(host_states):
        # A copy lacks the values that other filters keep with a request.
        copied = copy.deepcopy(spec)
        before, memory = memo.of_request(spec), memo.of_request(copied)
        memory.place, memory.maintenances = before.place, before.maintenances
        passing, _ = filtering.ask(filter_, host_states, copied)
    return len(passing)
