# SPDX-License-Identifier: Apache-2.0

"""Plans that move servers so that hosts become empty, or servers fit.

Rule: reference-rebalancing
"""

import base64
import binascii
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import hashlib
import itertools
import json
import secrets
import zlib

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import step_rows
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud.moving import rebalancer
from pcloud import names
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.planning import bundles
from pcloud.planning import pcloud_layout
from pcloud.planning.programs import relocation
from pcloud.planning.programs import relocation_search
from pcloud.planning.programs import solvers
from pcloud.rules import coded
from pcloud.rules.moving import assignments

# The most characters of `valid_for`.
LONGEST = 65535
# What plans do not depend on: who does something now.
_TURNS = (names.GROWTH_TURN, names.REBALANCE_STOPPED)


@dataclasses.dataclass(frozen=True)
class RebalanceGoal:
    """What a plan is for.

    :ivar move: `draining.LIVE`, or `draining.ANY` where stopped servers are
        moved too
    :ivar bundle: the equal servers that are to fit; None for a plan that
        makes hosts empty
    """

    max_moves: int
    move: str
    bundle: bundles.Bundle | None

    @property
    def goal(self) -> relocation.Goal:
        """The goal of the rules."""
        if self.bundle is None:
            return relocation.Goal(self.max_moves)
        entry, = self.bundle.entries
        need, = self.bundle.needs.values()
        return relocation.Goal(self.max_moves, entry.count, {
            name: amount for name, amount in need.amounts.items() if amount})

    @property
    def members(self) -> dict[str, str | int]:
        """The question as the API takes questions."""
        given: dict[str, str | int] = {
            'goal': relocation.FREE_HOSTS, 'max_moves': self.max_moves,
            'move': self.move}
        if self.bundle is not None:
            entry, = self.bundle.entries
            given |= {'goal': relocation.FIT, 'count': entry.count,
                      'flavor': entry.flavor.flavorid}
        return given

    def __str__(self) -> str:
        """Return all that distinguishes the question."""
        return json.dumps(
            [self.members, sorted(self.goal.amounts.items())])


@dataclasses.dataclass(frozen=True)
class ServerMove:
    """A move of a server, by the owner's names of hosts."""

    server: str
    source: hosts.Host
    target: hosts.Host


@dataclasses.dataclass(frozen=True)
class UnderWay:
    """A move of a rebalance under way, before arrival.

    :ivar source: the owner's name of the host; None for a host that has left
        the Pcloud, and in a silent cell; so is `target`
    """

    server: str
    source: str | None
    target: str | None
    step: int


@dataclasses.dataclass(frozen=True)
class Proposal:
    """A plan.

    :ivar steps: groups of moves that may run together, one after the other
    :ivar frees: the hosts that become empty
    :ivar fits: whether the new servers fit afterwards; None for a plan
        that makes hosts empty
    :ivar exact: whether no plan is better, by proof
    :ivar unknown: what may be otherwise
    :ivar valid_for: what the plan depends on, and the plan
    :ivar under_way: the moves that an earlier plan has still to make
    :ivar stopped: why an earlier plan has ended before its end
    """

    steps: Sequence[Sequence[ServerMove]]
    frees: Sequence[hosts.Host]
    fits: bool | None
    exact: bool
    pinned: Sequence[pcloud_layout.Pinned]
    unknown: Sequence[coded.Reason]
    valid_for: str
    under_way: Sequence[UnderWay]
    stopped: assignments.Stopped | None


def propose(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    question: RebalanceGoal,
) -> Proposal:
    """Return the best plan found, and write nothing.

    The cost is that of `pcloud_layout.read`, and about a second of a solver.

    :raises: as `pcloud_layout.read`
    """
    layout = pcloud_layout.read(
        context, pcloud, question.move, question.bundle)
    return _proposal(pcloud, question, layout, relocation_search.best(
        layout.world, question.goal,
        solvers.Solver(solvers.MOVES).within(solvers.EACH_OF_MOVES)))


def begin(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    question: RebalanceGoal, valid_for: str,
) -> Proposal:
    """Have the servers of a plan moved, in one change.

    An earlier rebalance of the Pcloud ends.

    :param valid_for: as `propose` has returned it
    :returns: the plan, which is under way
    :raises: `exception.RebalanceOutdated` when the plan depends on rows or
        answers that have changed; as `pcloud_layout.read` and `change.run`
    """
    layout = pcloud_layout.read(
        context, pcloud, question.move, question.bundle)
    plan = _planned(pcloud, question, layout, valid_for)
    proposal = _proposal(pcloud, question, layout, plan)
    _write(context, pcloud, question, proposal)
    return dataclasses.replace(proposal, stopped=None, under_way=[
        UnderWay(each.server, each.source.name, each.target.name, number)
        for number, step in zip(itertools.count(1), proposal.steps)
        for each in step])


def end(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
) -> None:
    """End the rebalance of a Pcloud, if any, in one change.

    Servers under way arrive.

    :raises: as `change.run`
    """
    aggregate_id = pcloud.aggregate.id

    def work(written: writes.Rows) -> None:
        assigned = step_rows.rebalance(context, pcloud.id)
        if assigned:
            written.set(aggregate_id, rebalancer.ended(
                pcloud.id, assigned, coded.Reason('ended_on_request')))

    change.run(context, [journal.pcloud_anchor(pcloud.id),
                         journal.moving_anchor(pcloud.id)], work)


def _proposal(
    pcloud: pclouds.Pcloud, question: RebalanceGoal,
    layout: pcloud_layout.Layout,
    plan: relocation.Relocation,
) -> Proposal:
    steps = _server_moves(layout, plan.steps)
    return Proposal(
        steps, [layout.hosts[place] for place in relocation.freed(
            layout.world, plan.moves)],
        None if question.bundle is None else
        plan.reached and not layout.unknown,
        plan.exact and not (layout.unknown or layout.silent), layout.pinned,
        [*layout.unknown, *layout.silent],
        f'{_fingerprint(pcloud, question, layout)}.'
        f'{_encoded(question, plan)}',
        _under_way(pcloud, layout.hosts),
        assignments.Stopped.known(
            pcloud.aggregate.metadata.get(names.REBALANCE_STOPPED)))


def _server_moves(
    layout: pcloud_layout.Layout, steps: relocation.Steps,
) -> list[list[ServerMove]]:
    """Return moves of servers; of equal servers the first are moved first."""
    left = [[iter(servers) for servers in there] for there in layout.servers]
    return [[ServerMove(next(left[move.kind][move.source]),
                        layout.hosts[move.source], layout.hosts[move.target])
             for move in step] for step in steps]


def _under_way(
    pcloud: pclouds.Pcloud, there: Sequence[hosts.Host],
) -> list[UnderWay]:
    name_of = {host.node.uuid: host.name for host in there}
    rows = {server: row for server, text
            in names.rebalance(pcloud.aggregate.metadata).items()
            if (row := assignments.Assignment.known(text)) is not None}
    return sorted(
        (UnderWay(server, name_of.get(row.source), name_of.get(row.target),
                  row.step) for server, row in rows.items()),
        key=lambda each: (each.step, each.server))


def _state(metadata: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in metadata.items()
            if not key.startswith(_TURNS)}


def _fingerprint(
    pcloud: pclouds.Pcloud, question: RebalanceGoal,
    layout: pcloud_layout.Layout,
) -> str:
    # Nobody who guesses the names in the metadata knows the uuid.
    text = json.dumps([pcloud.aggregate.uuid, str(question), layout.facts,
                       sorted(_state(pcloud.aggregate.metadata).items())])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _encoded(question: RebalanceGoal, plan: relocation.Relocation) -> str:
    """Return a question and a plan as text, which `_decoded` reads."""
    text = json.dumps(
        [question.members, plan.reached, plan.exact, plan.steps],
        separators=(',', ':'))
    return base64.urlsafe_b64encode(zlib.compress(text.encode())).decode()


def asked(valid_for: str) -> object:
    """Return what a plan was made for, None for a text that is no plan.

    Users may write any text, so any members may be returned.

    :param valid_for: as of `Proposal`
    :returns: as `RebalanceGoal.members`
    """
    found = _decoded(valid_for.partition('.')[2])
    return None if found is None else found[0]


def _decoded(text: str) -> tuple[object, relocation.Relocation] | None:
    """Read a question and a plan, None for a text that is no plan.

    Users may write any text. What is read is checked by the caller.
    """
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.urlsafe_b64decode(text), LONGEST)
        question, reached, exact, steps = json.loads(data)
        return question, relocation.Relocation(tuple(
            tuple(relocation.Move(*map(int, move)) for move in step)
            for step in steps), bool(reached), bool(exact))
    except (binascii.Error, zlib.error, ValueError, TypeError,
            OverflowError, RecursionError):
        return None


def _planned(
    pcloud: pclouds.Pcloud, question: RebalanceGoal,
    layout: pcloud_layout.Layout,
    valid_for: str,
) -> relocation.Relocation:
    """Return the plan in `valid_for`, checked.

    :raises: `exception.RebalanceOutdated`
    """
    fingerprint, _, text = valid_for.partition('.')
    _, plan = _decoded(text) or (None, None)
    if (fingerprint != _fingerprint(pcloud, question, layout) or
            plan is None or not _is_right(layout, question, plan)):
        raise exception.RebalanceOutdated(pcloud=pcloud.id)
    return dataclasses.replace(plan, reached=relocation.reaches(
        layout.world, plan.steps, question.goal))


def _is_right(
    layout: pcloud_layout.Layout, question: RebalanceGoal,
    plan: relocation.Relocation,
) -> bool:
    goal = question.goal
    places = range(len(layout.hosts))
    return len(plan.moves) <= goal.max_moves and all(
        move.kind in range(len(layout.world.kinds)) and
        move.source in places and move.target in places
        for move in plan.moves
    ) and all(plan.steps) and relocation.is_executable(
        layout.world, plan.steps) and (
        not plan.moves or relocation.reaches(
            layout.world, plan.steps, goal))


def _write(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    question: RebalanceGoal, proposal: Proposal,
) -> None:
    """Write what is to be moved, unless the Pcloud has changed.

    :raises: `exception.RebalanceOutdated`, and as `change.run`
    """
    aggregate = pcloud.aggregate
    assigned = dict(_assigned(pcloud, question, proposal))

    def work(written: writes.Rows) -> None:
        there = pcloud_rows.find(context, pcloud.id)
        if (there is None or there.hosts != aggregate.hosts or
                _state(there.metadata) != _state(aggregate.metadata)):
            raise exception.RebalanceOutdated(pcloud=pcloud.id)
        written.drop(aggregate.id, [names.REBALANCE_STOPPED, *(
            names.rebalance_key(pcloud.id, server) for server
            in names.rebalance(aggregate.metadata))])
        written.insert(aggregate.id, assigned)

    change.run(context, [journal.pcloud_anchor(pcloud.id),
                         journal.moving_anchor(pcloud.id)], work)


def _assigned(
    pcloud: pclouds.Pcloud, question: RebalanceGoal, proposal: Proposal,
) -> Iterator[tuple[str, str]]:
    """Yield metadata keys and values of servers to be moved."""
    plan, now = secrets.token_hex(4), int(timeutils.utcnow_ts())
    for number, step in zip(itertools.count(1), proposal.steps):
        for each in step:
            yield (names.rebalance_key(pcloud.id, each.server),
                   assignments.Assignment(
                       plan, number, now, question.move,
                       each.source.node.uuid or '',
                       each.target.node.uuid or '').text())
