# SPDX-License-Identifier: Apache-2.0

"""What becomes of the servers of all drained hosts of a Pcloud together.

Rule: reference-draining-moving
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime

from nova import context as nova_context
from nova import objects
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import isolation
from pcloud.backend.cells import computes
from pcloud.backend.cells import occupants
from pcloud.backend.cells import past_moves
from pcloud.backend import complaints
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.objects import blockers
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.moving import blockers as blocker_rules
from pcloud.rules.moving import draining
from pcloud.rules.moving import moves
from pcloud.rules.placing import access
from pcloud.rules.placing import hints
from pcloud.scheduler import candidates
from pcloud.scheduler import open_hosts

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

UNUSABLE = blocker_rules.NOT_MIGRATABLE, coded.Reason('flavor_unusable')
_HOST_DOWN = blocker_rules.NOT_MIGRATABLE, coded.Reason('host_down_no_moves')


@dataclasses.dataclass(frozen=True)
class Drained:
    """A drained host.

    :ivar host: the service host
    :ivar node: the hypervisor hostname
    """

    host: str
    node: str
    drain: draining.Drain


@dataclasses.dataclass(frozen=True)
class Move:
    """A server that can be moved.

    :ivar is_live: whether the migration is live, or cold
    :ivar place: a service host with capacity
    :ivar only_there: whether the server may be moved to no other host
    """

    server: str
    is_live: bool
    place: str
    only_there: bool


@dataclasses.dataclass(frozen=True)
class DrainPlan:
    """What becomes of the servers of drained hosts.

    :ivar moves: the servers that can be moved, in order
    :ivar blockers: ``service host -> blockers`` of the hosts in cells that
        answer
    :ivar under_way: the number of servers under way
    """

    moves: Sequence[Move]
    blockers: Mapping[str, Sequence[blockers.Blocker]]
    under_way: int

    @property
    def most(self) -> int:
        """The number of servers that may set off now."""
        return max(0, CONF.pcloud.drain_parallel - self.under_way)


def read(
    context: nova_context.RequestContext, pcloud_id: str,
    drained: Sequence[Drained],
) -> DrainPlan:
    """Plan the moves of the servers of drained hosts.

    The number of queries does not depend on the number of hosts and servers,
    but for one query for five hundred servers. Placement is called once. While
    Placement does not answer, no server can be moved.

    :param drained: the hosts with a drain that moves servers
    :raises: `exception.PcloudNotFound`
    """
    now = timeutils.utcnow_ts()
    uuid, pcloud = _access(context, pcloud_id, drained)
    drains = {each.host: each.drain for each in drained}
    found, silent = occupants.of_hosts(context, drains)
    known = computes.load(context, pcloud.hosts) if any(
        found.values()) else {}
    cases = list(_cases(context, pcloud, known, drains, found, now))
    places = _places(context, uuid, pcloud, known, {
        case.uuid: case.need for case in cases
        if case.need is not None and not case.drain.is_overdue(now)})
    return DrainPlan(
        _moves(cases, places or {}, now),
        {host: [blocker for case in cases if case.host == host
                if (blocker := case.blocker(places, now)) is not None]
         for host in drains if host not in silent},
        len({case.uuid for case in cases if case.is_under_way}))


@dataclasses.dataclass(frozen=True)
class _Case:
    """A server on a drained host.

    :ivar host: the service host
    :ivar obstacle: what keeps the server wherever the server fits, the rule
        and the reason
    :ivar need: what the server needs; None with an obstacle
    :ivar wait: what the past of the server says
    :ivar only_prefers: whether Nova may move the server out of the Pcloud
    """

    host: str
    drain: draining.Drain
    occupant: occupants.Occupant
    obstacle: blocker_rules.Why | None
    need: capacity.Need | None
    wait: moves.Wait | None
    only_prefers: bool

    @property
    def uuid(self) -> str:
        """The uuid of the server."""
        return self.occupant.uuid

    @property
    def is_under_way(self) -> bool:
        """Whether the server is being moved."""
        return is_under_way(self.occupant.state)

    def blocker(
        self, places: Mapping[str, str] | None, now: float,
    ) -> blockers.Blocker | None:
        """Return why the server stays, None for the server to move next.

        :param places: ``server uuid -> host``, None while not known
        :param now: seconds since the epoch
        """
        if self.obstacle is not None:
            return blockers.Blocker(
                self.uuid, *self.obstacle, self.occupant.since)
        if self.drain.is_overdue(now):
            return None
        if places is not None and self.uuid not in places:
            return blockers.Blocker(
                self.uuid, blocker_rules.NO_ROOM, _no_room(self.need),
                _moment(self.drain.since))
        return None if self.wait is None else blockers.Blocker(
            self.uuid, self.wait.rule, self.wait.reason,
            _moment(self.wait.since))


def _no_room(need: capacity.Need | None) -> coded.Reason:
    return coded.Reason('no_room', needed='' if need is None else
                        ', '.join(capacity.words(need)))


def _moment(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(
        seconds, datetime.timezone.utc).replace(tzinfo=None)


def _access(
    context: nova_context.RequestContext, pcloud_id: str,
    drained: Sequence[Drained],
) -> tuple[str, access.Pcloud]:
    """Return a Pcloud in which the drained hosts take no servers."""
    pair = isolation.pcloud_access(context, pcloud_id)
    if pair is None:
        raise exception.PcloudNotFound(pcloud=pcloud_id)
    uuid, pcloud = pair
    return uuid, dataclasses.replace(pcloud, states={
        **pcloud.states, **{each.node: access.DISABLED for each in drained}})


def _cases(
    context: nova_context.RequestContext, pcloud: access.Pcloud,
    known: Mapping[str, computes.Compute],
    drains: Mapping[str, draining.Drain],
    found: Mapping[str, Sequence[occupants.Occupant]], now: float,
) -> Iterator[_Case]:
    """Yield the servers on drained hosts.

    :param known: ``service host -> compute`` of the hosts of the Pcloud
    :param drains: ``service host -> drain``
    :param found: ``service host -> occupants``
    """
    asked = request_specs.asked(context, {
        occupant.uuid for there in found.values() for occupant in there})
    pasts = past_moves.of_hosts(context, drains, now)
    needs = Needs()
    for host, there in found.items():
        is_up = host in known and known[host].up
        for occupant in there:
            its = asked.get(occupant.uuid)
            obstacle = obstacle_of(
                pcloud, drains[host].move, occupant, its) or (
                None if is_up else _HOST_DOWN)
            need = None
            if obstacle is None and its is not None:
                need, obstacle = needs.of(its)
            yield _Case(
                host, drains[host], occupant, obstacle, need,
                moves.wait(pasts[occupant.uuid], now),
                its is not None and hints.PCLOUD not in its.hints)


def is_under_way(state: blocker_rules.ServerState) -> bool:
    """Whether a server is being moved."""
    return state.task_state in past_moves.SETTING_OFF or (
        blocker_rules.why(state) or ('',))[0] == blocker_rules.MIGRATION


class Needs:
    """What servers need; most servers have the same flavor."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bool], tuple[
            capacity.Need | None, blocker_rules.Why | None]] = {}

    def of(
        self, asked: request_specs.Asked,
    ) -> tuple[capacity.Need | None, blocker_rules.Why | None]:
        """Return what a server needs, or the obstacle in a wrong flavor."""
        kind = asked.flavor.flavorid, asked.on_volume
        if kind not in self._known:
            try:
                self._known[kind] = candidates.need_of(
                    asked.flavor, asked.on_volume), None
            except exception.FlavorUnusable as error:
                # Owners may not see flavors of other tenants.
                complaints.once(str(error))
                self._known[kind] = None, UNUSABLE
        return self._known[kind]


def obstacle_of(
    pcloud: access.Pcloud, move: str, occupant: occupants.Occupant,
    asked: request_specs.Asked | None,
) -> blocker_rules.Why | None:
    """Return the rule and the reason that keep a server from being moved.

    :param move: `draining.LIVE` or `draining.ANY`
    :param asked: what the server was asked for with; None while unknown

    Rule: reference-draining-blockers
    """
    try:
        is_inside = asked is not None and pcloud.id in hints.places(
            asked.hints)
    except exception.InvalidHint:
        is_inside = False
    return moves.obstacle(
        occupant.state, move, asked is not None, is_inside,
        asked is not None and bool(access.project_verdict(
            pcloud, asked.project)),
        asked is not None and hints.HOST in asked.hints)


def _places(
    context: nova_context.RequestContext, uuid: str, pcloud: access.Pcloud,
    known: Mapping[str, computes.Compute],
    needs: Mapping[str, capacity.Need],
) -> dict[str, str] | None:
    """Return ``server uuid -> host``, None while Placement does not answer.

    :param uuid: the uuid of the Pcloud's aggregate
    :param known: ``service host -> compute`` of the hosts of the Pcloud
    """
    if not needs:
        return {}
    nodes = open_hosts.serving_among(pcloud, known)
    try:
        free = candidates.offered(
            context, capacity.smallest(needs.values()),
            objects.Destination(aggregates=[uuid]))
    except exception.Unavailable as error:
        LOG.warning('Where the servers of drained hosts of Pcloud %(pcloud)s '
                    'have capacity is not known: %(error)s',
                    {'pcloud': pcloud.id, 'error': error})
        return None
    return moves.plan({host: free[node.uuid] for host, node in nodes.items()
                       if node.uuid in free}, needs)


def _moves(
    cases: Iterable[_Case], places: Mapping[str, str], now: float,
) -> list[Move]:
    """Return the servers that can be moved now, in the order of `places`."""
    movable = {case.uuid: case for case in cases
               if case.uuid in places and (
                   case.wait is None or case.wait.until <= now)}
    return [Move(uuid, moves.goes_live(movable[uuid].occupant.state), place,
                 movable[uuid].only_prefers)
            for uuid, place in places.items() if uuid in movable]
