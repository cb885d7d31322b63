# SPDX-License-Identifier: Apache-2.0

"""What becomes of the servers of all hosts of a Pcloud to be emptied.

Servers of drained hosts are moved. Servers of failed hosts are started anew,
and look for places first.

Rule: reference-draining-moving, reference-recovery-servers
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
from pcloud.backend.cells import guests
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
from pcloud.rules.moving import recovery
from pcloud.rules.placing import access
from pcloud.rules.placing import hints
from pcloud.scheduler import candidates
from pcloud.scheduler import open_hosts

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

UNUSABLE = blocker_rules.NOT_MIGRATABLE, coded.Reason('flavor_unusable')
# Of a flavor: its servers have a virtual TPM, which Nova cannot start anew.
_TPM = 'hw:tpm_version'
_HOST_DOWN = blocker_rules.NOT_MIGRATABLE, coded.Reason('host_down_no_moves')


@dataclasses.dataclass(frozen=True)
class Drained:
    """A host to be emptied.

    :ivar host: the service host
    :ivar node: the hypervisor hostname
    :ivar has_failed: whether the servers of the host are started anew on other
        hosts
    """

    host: str
    node: str
    drain: draining.Drain
    has_failed: bool = False


@dataclasses.dataclass(frozen=True)
class Move:
    """A server that can be moved.

    :ivar is_live: whether the migration is live, or cold
    :ivar has_failed: whether the server is started anew instead of migrated
    :ivar place: a service host with capacity
    :ivar only_there: whether the server may be moved to no other host
    """

    server: str
    is_live: bool
    has_failed: bool
    place: str
    only_there: bool


@dataclasses.dataclass(frozen=True)
class DrainPlan:
    """What becomes of the servers of drained hosts.

    :ivar moves: the servers that can be moved, in order
    :ivar blockers: ``service host -> blockers`` of the hosts in cells that
        answer
    :ivar under_way: the number of servers under way from drained hosts
    :ivar starting: the number of servers of failed hosts that are started
        anew
    """

    moves: Sequence[Move]
    blockers: Mapping[str, Sequence[blockers.Blocker]]
    under_way: int
    starting: int

    @property
    def most(self) -> int:
        """The number of servers of drained hosts that may set off now."""
        return max(0, CONF.pcloud.drain_parallel - self.under_way)

    @property
    def most_started(self) -> int:
        """The number of servers of failed hosts that may be started now."""
        return max(0, CONF.pcloud.recovery_parallel - self.starting)


def read(
    context: nova_context.RequestContext, pcloud_id: str,
    drained: Sequence[Drained],
) -> DrainPlan:
    """Plan the moves of the servers of hosts to be emptied.

    The number of queries does not depend on the number of hosts and servers,
    but for one query for five hundred servers. Placement is called once. While
    Placement does not answer, no server can be moved.

    :param drained: the hosts with a drain that moves servers
    :raises: `exception.PcloudNotFound`
    """
    now = timeutils.utcnow_ts()
    uuid, pcloud = _access(context, pcloud_id, drained)
    its = {each.host: each for each in drained}
    found, silent = occupants.of_hosts(context, its)
    known = computes.load(context, pcloud.hosts) if any(
        found.values()) else {}
    cases = list(_cases(context, pcloud, known, its, found, now))
    places = _places(context, uuid, pcloud, known, {
        case.uuid: case.need for case in cases
        if case.need is not None and not case.drain.is_overdue(now)}, {
        case.uuid: case.rank for case in cases})
    return DrainPlan(
        _moves(cases, places or {}, now),
        {host: [blocker for case in cases if case.host == host
                if (blocker := case.blocker(places, now)) is not None]
         for host in its if host not in silent},
        *(len({case.uuid for case in cases if case.is_under_way and
               (case.guest is not None) == has_failed})
          for has_failed in (False, True)))


@dataclasses.dataclass(frozen=True)
class _Case:
    """A server on a drained host.

    :ivar host: the service host
    :ivar obstacle: what keeps the server wherever the server fits, the rule
        and the reason
    :ivar need: what the server needs; None with an obstacle
    :ivar wait: what the past of the server says
    :ivar only_prefers: whether Nova may move the server out of the Pcloud
    :ivar guest: what decides about a server on a failed host; None on any
        other host
    """

    host: str
    drain: draining.Drain
    occupant: occupants.Occupant
    obstacle: blocker_rules.Why | None
    need: capacity.Need | None
    wait: moves.Wait | None
    only_prefers: bool
    guest: recovery.Guest | None

    @property
    def rank(self) -> int:
        """Which servers look for places first, the lowest rank first."""
        if self.guest is None:
            return 2
        return 0 if self.guest.comes_first else 1

    @property
    def uuid(self) -> str:
        """The uuid of the server."""
        return self.occupant.uuid

    @property
    def is_under_way(self) -> bool:
        """Whether the server is being moved."""
        state = self.occupant.state
        return is_under_way(state) or (
            self.guest is not None and
            state.task_state == past_moves.STARTING)

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
    drained: Mapping[str, Drained],
    found: Mapping[str, Sequence[occupants.Occupant]], now: float,
) -> Iterator[_Case]:
    """Yield the servers on hosts to be emptied.

    :param known: ``service host -> compute`` of the hosts of the Pcloud
    :param drained: ``service host -> Drained``
    :param found: ``service host -> occupants``
    """
    asked = request_specs.asked(context, {
        occupant.uuid for there in found.values() for occupant in there})
    pasts = past_moves.of_hosts(context, drained, now)
    known_guests = guests.of_hosts(context, [
        host for host, each in drained.items() if each.has_failed])
    needs = Needs()
    for host, there in found.items():
        is_up = host in known and known[host].up
        drain = drained[host].drain
        for occupant in there:
            its, past = asked.get(occupant.uuid), pasts[occupant.uuid]
            guest = None
            if drained[host].has_failed:
                guest = _guest(known_guests.get(occupant.uuid), its)
                obstacle = _obstacle_to_start(
                    pcloud, occupant, its, guest, bool(
                        recovery.failures(past, drain.since)))
                wait = recovery.wait(past, drain.since, now)
            else:
                obstacle = obstacle_of(
                    pcloud, drain.move, occupant, its) or (
                    None if is_up else _HOST_DOWN)
                wait = moves.wait([each for each in past
                                   if not each.is_evacuation], now)
            need = None
            if obstacle is None and its is not None:
                need, obstacle = needs.of(its)
            yield _Case(
                host, drain, occupant, obstacle, need, wait,
                its is not None and hints.PCLOUD not in its.hints, guest)


def _guest(
    known: recovery.Guest | None, asked: request_specs.Asked | None,
) -> recovery.Guest:
    """Return what decides about a server on a failed host."""
    if known is None:
        return recovery.Guest()
    if asked is not None and _TPM in (asked.flavor.extra_specs or {}):
        return dataclasses.replace(known, refused='a vTPM')
    return known


def _obstacle_to_start(
    pcloud: access.Pcloud, occupant: occupants.Occupant,
    asked: request_specs.Asked | None, guest: recovery.Guest,
    may_retry: bool,
) -> blocker_rules.Why | None:
    """Return why a server of a failed host is not started on another host.

    :param asked: what the server was asked for with; None while unknown
    :param may_retry: whether an earlier attempt has failed
    """
    return recovery.obstacle(
        occupant.state, guest, CONF.pcloud.recovery_shared_disks, may_retry,
    ) or moves.misplaced(*_ties(pcloud, asked))


def is_under_way(state: blocker_rules.ServerState) -> bool:
    """Whether a server is being moved, or started anew."""
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
    return moves.obstacle(occupant.state, move, *_ties(pcloud, asked))


def _ties(
    pcloud: access.Pcloud, asked: request_specs.Asked | None,
) -> tuple[bool, bool, bool, bool]:
    """Return the arguments of `moves.misplaced`."""
    if asked is None:
        return False, False, False, False
    try:
        is_inside = pcloud.id in hints.places(asked.hints)
    except exception.InvalidHint:
        is_inside = False
    return (True, is_inside, bool(access.project_verdict(
        pcloud, asked.project)), hints.HOST in asked.hints)


def _places(
    context: nova_context.RequestContext, uuid: str, pcloud: access.Pcloud,
    known: Mapping[str, computes.Compute],
    needs: Mapping[str, capacity.Need], ranks: Mapping[str, int],
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
                       if node.uuid in free}, needs, ranks)


def _moves(
    cases: Iterable[_Case], places: Mapping[str, str], now: float,
) -> list[Move]:
    """Return the servers that can be moved now, in the order of `places`."""
    movable = {case.uuid: case for case in cases
               if case.uuid in places and (
                   case.wait is None or case.wait.until <= now)}
    return [Move(uuid, moves.goes_live(movable[uuid].occupant.state),
                 movable[uuid].guest is not None, place,
                 movable[uuid].only_prefers)
            for uuid, place in places.items() if uuid in movable]
