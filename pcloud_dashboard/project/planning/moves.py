# SPDX-License-Identifier: Apache-2.0

"""Moves that make hosts empty, or further servers fit."""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import typing

from django import http
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pcloud_dashboard import shown
from pcloud_dashboard.words import reasons

from pcloud.client import plan_resources
from pcloud.client import resources

FREE_HOSTS, FIT = 'free_hosts', 'fit'
# The members of a question in a query or a form.
_MEMBERS = ('goal', 'flavor', 'count', 'max_moves', 'move')


@dataclasses.dataclass(frozen=True)
class RebalanceForm:
    """What is to be reached, as the user has filled in the form.

    :ivar flavor: the id of the flavor that is to fit, '' for none
    :ivar count: how many servers are to fit, '' for one
    :ivar max_moves: the most moves, '' for as many as it takes
    :ivar move: 'live', or 'any' to move stopped servers too
    """

    goal: str = FREE_HOSTS
    flavor: str = ''
    count: str = ''
    max_moves: str = ''
    move: str = 'live'

    @property
    def wish(self) -> dict[str, typing.Any]:
        """The arguments of the client.

        A number that is none is passed on, so that the API names what is
        wrong.
        """
        given = {'max_moves': shown.number(self.max_moves), 'move': self.move}
        if self.goal == FIT:
            given |= {'flavor': self.flavor,
                      'count': shown.number(self.count)}
        return {'goal': self.goal, **{
            name: value for name, value in given.items() if value != ''}}


def question(query: http.QueryDict) -> RebalanceForm:
    """Return the question in a query or a form."""
    return RebalanceForm(**{
        member: query[member].strip() for member in _MEMBERS
        if query.get(member, '').strip()})


@dataclasses.dataclass(frozen=True)
class Move:
    """A server that moves from a host to another.

    :ivar step: moves with the same number may run at once
    """

    step: int
    server: shown.ShownServer
    source: str
    target: str


@dataclasses.dataclass(frozen=True)
class Box:
    """A server of a stack.

    :ivar kind: stays, leaves or arrives
    """

    kind: str
    title: str


@dataclasses.dataclass(frozen=True)
class Stack:
    """A host of a plan, before and after the moves.

    :ivar text: both in words
    """

    host: str
    before: list[Box]
    after: list[Box]
    text: str


def stacks(rebalance: plan_resources.Rebalance,
           hosts: Iterable[resources.Host],
           names: Mapping[str, str]) -> list[Stack]:
    """Return the hosts that servers leave or arrive at, those first.

    :param names: the names of servers, by id
    """
    there = {host.name: host.instances or () for host in hosts}
    sources = dict.fromkeys(move['from'] for move in rebalance.moves)
    targets = dict.fromkeys(move['to'] for move in rebalance.moves)
    leaving = {move['server'] for move in rebalance.moves}
    return [_stack(host, there[host], leaving, [
        move['server'] for move in rebalance.moves if move['to'] == host],
        names) for host in {**sources, **targets} if host in there]


def _stack(host: str, servers: Iterable[str], leaving: Collection[str],
           arriving: list[str], names: Mapping[str, str]) -> Stack:
    def box(kind: str, server: str) -> Box:
        return Box(kind, str(shown.ShownServer(server, names.get(server))))

    before = [box('leaves' if server in leaving else 'stays', server)
              for server in servers]
    after = [each for each in before if each.kind == 'stays'] + [
        box('arrives', server) for server in arriving]
    return Stack(host, before, after, _(
        '%(host)s: %(before)d instances now, %(after)d after') % {
            'host': host, 'before': len(before), 'after': len(after)})


@dataclasses.dataclass(frozen=True)
class ShownPlan:
    """A plan in words.

    :ivar headline: what the moves are good for, '' without moves
    :ivar valid_for: what has to be sent to have the plan done
    :ivar left: what an earlier plan has still to move
    :ivar stopped: why an earlier plan has ended before its end, or None
    """

    headline: str
    texts: list[str]
    moves: list[Move]
    valid_for: str
    pinned: list[str]
    left: list[Move]
    stopped: str | None


def plan(rebalance: plan_resources.Rebalance,
         names: Mapping[str, str]) -> ShownPlan:
    """Return a plan in words.

    :param names: the names of servers, by id
    """
    def move(step: int, value: Mapping[str, typing.Any]) -> Move:
        return Move(step, shown.ShownServer(
            value['server'], names.get(value['server'])), value['from'],
            value['to'] or _('a host that has left'))

    return ShownPlan(
        _headline(rebalance), list(_sentences(rebalance)),
        [move(step, rebalance.moves[place])
         for step, places in enumerate(rebalance.steps, 1)
         for place in places],
        rebalance.valid_for,
        [*(_pinned(pin, names) for pin in rebalance.pinned),
         *(reasons.spoken(each, 'text')
           for each in rebalance.not_explained)],
        [move(each['step'], each) for each in rebalance.under_way],
        _('An earlier plan ended before its end: %s')
        % reasons.of_body(rebalance.stopped) if rebalance.stopped else None)


def _headline(rebalance: plan_resources.Rebalance) -> str:
    number = len(rebalance.moves)
    if not number or not rebalance.units_saved:
        return ''
    moves = ngettext('%d move gives', '%d moves give', number) % number
    return ngettext('%(moves)s %(units)d unit back',
                    '%(moves)s %(units)d units back',
                    rebalance.units_saved) % {
                        'moves': moves, 'units': rebalance.units_saved}


def _sentences(rebalance: plan_resources.Rebalance) -> Iterator[str]:
    if rebalance.frees:
        yield ngettext('%s becomes empty.', '%s become empty.',
                       len(rebalance.frees)) % ', '.join(rebalance.frees)
        yield ngettext('%d unit can be given back then.',
                       '%d units can be given back then.',
                       rebalance.units_saved) % rebalance.units_saved
    if rebalance.fits is not None:
        yield _fits(rebalance)
    elif not rebalance.moves:
        yield _empties(rebalance)
    if not rebalance.exact:
        yield _('There may be a better plan.')


def _empties(rebalance: plan_resources.Rebalance) -> str:
    if not rebalance.exact:
        return _('No moves are known that make a host empty.')
    return _('No host can be made empty.')


def _fits(rebalance: plan_resources.Rebalance) -> str:
    if not rebalance.fits:
        return _('No moves are known that free capacity for all of them.')
    if rebalance.moves:
        return _('All of them fit after these moves.')
    return _('All of them fit now; nothing has to move.')


def _pinned(pin: Mapping[str, str], names: Mapping[str, str]) -> str:
    return _('%(server)s stays on %(host)s: %(reason)s') % {
        'server': shown.ShownServer(pin['server'], names.get(pin['server'])),
        'host': pin['host'], 'reason': reasons.of_body(pin)}
