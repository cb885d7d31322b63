# SPDX-License-Identifier: Apache-2.0

"""Have Nova make the next moves of a rebalance, or end the rebalance.

What has been done so far is read from Nova. The rows of servers that have
arrived are deleted, and so are all rows once the world is not as planned.

Rule: reference-rebalancing-steps
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import time

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import maintenance_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.aggregates import step_rows
from pcloud.backend.calls import server_calls
from pcloud.backend.cells import computes
from pcloud.backend.cells import occupants
from pcloud.backend.cells import past_moves
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import request_specs
from pcloud.moving import asking
from pcloud.moving import drain_plan
from pcloud.moving import drains
from pcloud.moving import failed_hosts
from pcloud import names
from pcloud.objects import pclouds
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.moving import assignments
from pcloud.rules.moving import blockers
from pcloud.rules.moving import moves
from pcloud.rules.placing import access
from pcloud.scheduler import candidates
from pcloud.scheduler import open_hosts

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# What the next look at a server tells more about.
_PASSING = (
    nova_exception.InstanceInvalidState, nova_exception.InstanceIsLocked,
    nova_exception.InstanceNotFound)


def step(
    context: nova_context.RequestContext, pcloud: pclouds.Head, end: float,
) -> None:
    """Do what is due for the rebalance of a Pcloud, if any.

    One process at a time does so. The number of queries depends on the steps
    done, and neither on the number of hosts nor of servers.

    :param end: no server sets off later, by the monotonic clock
    :raises: as `outages.ANY`, and nothing was done then
    """
    aggregate = pcloud_rows.find(context, pcloud.id)
    while aggregate is not None and names.rebalance(aggregate.metadata):
        if not _Rebalance(context, pcloud, aggregate, end).step():
            return
        aggregate = pcloud_rows.find(context, pcloud.id)


def ended(
    pcloud_id: str, servers: Iterable[str], reason: coded.Reason,
) -> dict[str, str | None]:
    """Return the metadata of a rebalance that stops before the last step."""
    return {
        **{names.rebalance_key(pcloud_id, server): None
           for server in servers},
        names.REBALANCE_STOPPED: assignments.stopped(
            int(timeutils.utcnow_ts()), reason).text()}


@dataclasses.dataclass(frozen=True)
class _World:
    """The present Pcloud.

    :ivar host_of: ``uuid of the node -> service host``
    :ivar place_of: ``server uuid -> uuid of the node``
    :ivar states: ``server uuid -> occupant``
    :ivar pasts: ``server uuid -> past migrations``
    :ivar confirming: the servers whose migration Pcloud has to confirm
    """

    access: access.Pcloud
    uuid: str
    host_of: Mapping[str, str]
    place_of: Mapping[str, str]
    states: Mapping[str, occupants.Occupant]
    pasts: Mapping[str, Sequence[moves.Past]]
    confirming: frozenset[str]

    @property
    def under_way(self) -> int:
        """The number of servers under way."""
        return sum(drain_plan.is_under_way(occupant.state)
                   for occupant in self.states.values())


class _Rebalance:
    """A rebalance under way, for one look at the Pcloud."""

    def __init__(
        self, context: nova_context.RequestContext, pcloud: pclouds.Head,
        aggregate: rows.Aggregate, end: float,
    ) -> None:
        self._context, self._pcloud, self._end = context, pcloud, end
        self._aggregate = aggregate
        self._texts = names.rebalance(aggregate.metadata)

    def step(self) -> bool:
        """Do what is due; return whether there may be more to do now."""
        try:
            return self._step()
        except assignments.Stop as error:
            self._stop(error.reason)
            return False

    def _step(self) -> bool:
        assigned = {server: row for server, text in self._texts.items()
                    if (row := assignments.Assignment.known(text)) is not None}
        if len(assigned) < len(self._texts):
            raise assignments.Stop(coded.Reason('rows_unreadable'))
        known = computes.load(self._context, self._aggregate.hosts)
        if not all(compute.answered for compute in known.values()):
            return False
        world = self._world({
            compute.nodes[0].uuid: host for host, compute in known.items()
            if len(compute.nodes) == 1})
        if world is None:
            return False
        return self._go_on(world, assigned)

    def _name(self, host: str) -> str:
        """Return the owner's name of a service host."""
        node = names.nodes(self._aggregate.metadata).get(host)
        return next((name for name, its in names.hosts(
            self._aggregate.metadata).items() if its == node), '?')

    def _world(self, host_of: Mapping[str, str]) -> _World | None:
        """Return the present Pcloud; None while a part does not answer."""
        context, hosts = self._context, list(host_of.values())
        pair = isolation.pcloud_access(context, self._pcloud.id)
        instances, silent = computes.known_instances(context, hosts)
        found, silent_too = occupants.of_hosts(context, hosts)
        if pair is None or silent or silent_too:
            return None
        now = timeutils.utcnow_ts()
        return _World(
            pair[1], pair[0], host_of,
            {server: node for node, host in host_of.items()
             for server in instances.get(host, ())},
            {occupant.uuid: occupant for there in found.values()
             for occupant in there},
            past_moves.of_hosts(context, hosts, now),
            frozenset(past_moves.to_confirm(context, hosts)))

    def _go_on(
        self, world: _World, assigned: Mapping[str, assignments.Assignment],
    ) -> bool:
        """Make the present step, as far as possible.

        :returns: whether the step is done, and another is left
        :raises: `assignments.Stop`
        """
        present = assignments.current(assigned)
        asked = request_specs.asked(self._context, present)
        nexts = {server: _next(world, server, row, asked.get(server))
                 for server, row in present.items()}
        done = [server for server in present
                if nexts[server] == assignments.DONE]
        if done:
            self._drop(done)
        left = {server: row for server, row in assigned.items()
                if nexts.get(server) != assignments.DONE}
        if not left:
            return False
        self._check_hosts(world, left.values())
        self._repair(world, present.keys() & left.keys(), left)
        going = {server: row for server, row in present.items()
                 if nexts[server] == assignments.GO}
        if going:
            self._set_off(world, going, asked)
        return len(done) == len(present)

    def _check_hosts(
        self, world: _World, left: Collection[assignments.Assignment],
    ) -> None:
        """Make sure that hosts are there, not drained, and take servers.

        :raises: `assignments.Stop`
        """
        nodes = {node for row in left for node in (row.source, row.target)}
        if not nodes <= world.host_of.keys():
            raise assignments.Stop(coded.Reason('host_left'))
        targets = {world.host_of[row.target] for row in left}
        closed = {row.host for row, _ in drains.drained(
            self._context, self._pcloud)} | {
            each.host for each in failed_hosts.begun(
                self._context, self._pcloud)} | (
            targets - open_hosts.serving(
                self._context, world.access).keys()) | (
            {row.host for row in maintenance_rows.maintenances(
                self._context, hosts=sorted(targets))})
        for host in sorted(world.host_of[node] for node in nodes):
            if host in closed:
                raise assignments.Stop(coded.Reason(
                    'host_takes_none', host=self._name(host)))

    def _repair(
        self, world: _World, servers: Collection[str],
        left: Mapping[str, assignments.Assignment],
    ) -> None:
        """Confirm moves that have arrived, and forget moves that got lost."""
        for server in sorted(world.confirming.intersection(servers)):
            asking.ask(server_calls.confirm, self._context, server)
        sources = {world.host_of[left[server].source] for server in servers}
        for server in past_moves.lost(
                self._context, sources,
                timeutils.utcnow_ts() - CONF.pcloud.settle_limit):
            if server in servers:
                asking.ask(server_calls.forget_move, self._context, server)

    def _drop(self, servers: Sequence[str]) -> None:
        """Delete the rows of servers that have arrived."""
        def work(written: writes.Rows) -> None:
            for server in servers:
                written.drop_if(
                    self._aggregate.id,
                    names.rebalance_key(self._pcloud.id, server),
                    self._texts[server])

        change.run(self._context, [
            journal.moving_anchor(self._pcloud.id)], work)
        self._texts = {server: text for server, text in self._texts.items()
                       if server not in servers}

    def _set_off(
        self, world: _World, going: Mapping[str, assignments.Assignment],
        asked: Mapping[str, request_specs.Asked],
    ) -> None:
        """Have servers moved, as many as may be under way.

        :raises: `assignments.Stop` when a server does not fit
        """
        needs = drain_plan.Needs()
        need_of = {server: _need(needs, server, asked[server])
                   for server in going}
        left = candidates.offered(
            self._context, capacity.smallest(need_of.values()),
            objects.Destination(aggregates=[world.uuid]))
        begun = 0
        for server, row in sorted(going.items()):
            if (begun >= CONF.pcloud.drain_parallel - world.under_way or
                    time.monotonic() > self._end):
                return
            need = need_of[server]
            there = left.get(row.target)
            if there is None or not capacity.fits(need, there):
                self._miss_room(world, server, row)
                continue
            left[row.target] = capacity.without(there, need)
            if not begun:
                server_calls.check_services(self._context)
            error = asking.refusal(
                server_calls.move_live if moves.goes_live(
                    world.states[server].state) else server_calls.move_cold,
                self._context, server, world.host_of[row.target])
            if error is not None and not isinstance(error, _PASSING):
                raise assignments.Stop(coded.Reason(
                    'nova_refuses_move', server=server))
            begun += error is None

    def _miss_room(
        self, world: _World, server: str, row: assignments.Assignment,
    ) -> None:
        """Wait for capacity that comes back in a moment.

        :raises: `assignments.Stop` when there is none to come
        """
        if not assignments.waits_for_room(
                [past.ended for pasts in world.pasts.values()
                 for past in pasts if past.arrived],
                timeutils.utcnow_ts()):
            raise assignments.Stop(coded.Reason(
                'host_without_capacity', server=server,
                host=self._name(world.host_of[row.target])))

    def _stop(self, reason: coded.Reason) -> None:
        """End the rebalance, unless another has begun meanwhile."""
        aggregate_id = self._aggregate.id

        def work(written: writes.Rows) -> bool:
            if step_rows.rebalance(
                    self._context, self._pcloud.id) != self._texts:
                return False
            written.set(aggregate_id, ended(
                self._pcloud.id, self._texts, reason))
            return True

        if change.run(self._context, [
                journal.moving_anchor(self._pcloud.id)], work):
            LOG.warning('The rebalance of Pcloud %(pcloud)s has stopped '
                        'before its end: %(reason)s', {
                            'pcloud': self._pcloud.id, 'reason': reason})


def _next(
    world: _World, server: str, row: assignments.Assignment,
    asked: request_specs.Asked | None,
) -> str:
    """Return what is next for a server.

    :raises: `assignments.Stop`
    """
    return assignments.next_of(
        server, row, _seen(world, server, row, asked))


def _need(
    needs: drain_plan.Needs, server: str, asked: request_specs.Asked,
) -> capacity.Need:
    need, obstacle = needs.of(asked)
    if need is None:
        _, reason = obstacle or drain_plan.UNUSABLE
        raise assignments.Stop(coded.Reason(
            'server_stays', server=server, why=reason.code, **reason.params))
    return need


def _seen(
    world: _World, server: str, row: assignments.Assignment,
    asked: request_specs.Asked | None,
) -> assignments.Seen:
    place, occupant = world.place_of.get(server), world.states.get(server)
    if place is None or occupant is None:
        return assignments.Seen(None, False, False, None)
    why = blockers.why(occupant.state)
    is_arriving = place == row.target and why is not None and (
        why[0] == blockers.RESIZE_NOT_CONFIRMED)
    return assignments.Seen(
        place, is_arriving or drain_plan.is_under_way(occupant.state),
        any(past.ended > row.since for past in world.pasts.get(server, ())),
        drain_plan.obstacle_of(world.access, row.move, occupant, asked))
