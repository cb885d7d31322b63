# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/rebalance``."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import itertools

import jsonschema

from pcloud.api import call as api_call
from pcloud.api import projects
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.api.views import reasons
from pcloud.api.views import times
from pcloud.api import wishes
from pcloud.backend import flavors
from pcloud import exception
from pcloud.objects import pclouds
from pcloud.planning import bundles
from pcloud.planning.programs import relocation
from pcloud.planning import rebalance
from pcloud.rules.moving import assignments
from pcloud.rules.moving import draining

MOST_SERVERS = 1000

_NUMBER = {'type': 'string',
           'pattern': rf'^([1-9][0-9]{{0,2}}|{MOST_SERVERS})\Z',
           'description': f'a whole number from 1 to {MOST_SERVERS}'}
_GOAL = {'type': 'string', 'enum': list(relocation.GOALS),
         'description': f'one of {", ".join(relocation.GOALS)}'}
_MOVES = [draining.LIVE, draining.ANY]
_MOVE = {'type': 'string', 'enum': _MOVES,
         'description': f'one of {", ".join(_MOVES)}'}
_COUNT = {'type': 'integer', 'minimum': 1, 'maximum': MOST_SERVERS}

SHOW_QUERY = {
    'type': 'object',
    'properties': {
        'goal': _GOAL,
        'flavor': types.flavor_id,
        'count': _NUMBER,
        'max_moves': _NUMBER,
        'move': _MOVE,
    },
    'required': ['goal'],
    'additionalProperties': False,
}

_QUESTION = {'goal': _GOAL, 'flavor': types.flavor_id, 'count': _COUNT,
             'max_moves': _COUNT, 'move': _MOVE}

# What a plan was made for, as the plan has it.
QUESTION = {
    'type': 'object', 'properties': _QUESTION, 'required': ['goal'],
    'additionalProperties': False}

BEGIN_BODY = types.body(
    'rebalance',
    {'valid_for': {'type': 'string', 'maxLength': rebalance.LONGEST,
                   'pattern': r'^[A-Za-z0-9._=-]+\Z',
                   'description': 'as the plan has it'}, **_QUESTION},
    required=['valid_for'])
# Without a goal the goal of the plan counts, with all that belongs to it.
BEGIN_BODY['properties']['rebalance']['dependentRequired'] = {
    member: ['goal'] for member in _QUESTION if member != 'goal'}

_SERVER_MOVE = {'server': shown.UUID, 'from': shown.TEXT, 'to': shown.TEXT}
ANSWER = shown.named('rebalance', shown.members({
    'moves': shown.list_of(shown.members(_SERVER_MOVE)),
    'steps': shown.list_of(shown.list_of(shown.COUNT)),
    'frees': shown.list_of(shown.TEXT),
    'units_saved': shown.COUNT,
    'fits': shown.or_null(shown.FLAG),
    'exact': shown.FLAG,
    'pinned': shown.list_of(shown.members({
        'server': shown.UUID, 'host': shown.TEXT, 'rule': shown.TEXT,
        **reasons.members('reason')})),
    'not_explained': reasons.ALL,
    'valid_for': shown.TEXT,
    'under_way': shown.list_of(shown.members({
        **_SERVER_MOVE, 'step': shown.COUNT})),
    'stopped': shown.or_null(shown.members({
        'at': shown.MOMENT, **reasons.members('reason')}))}))


def show(call: api_call.Call) -> dict:
    """Show which servers to move so that a goal is reached.

    :raises: `exception.FlavorNotFound`, `exception.Invalid`

    Rule: reference-rebalancing
    """
    pcloud = api_call.own_pcloud(call)
    return {'rebalance': _view(rebalance.propose(
        call.context, pcloud, _question(call, pcloud, call.query)))}


def begin(call: api_call.Call) -> dict:
    """Have the servers of a plan moved.

    :raises: `exception.FlavorNotFound`, `exception.Invalid`,
        `exception.RebalanceOutdated`

    Rule: reference-rebalancing-begin
    """
    pcloud = api_call.own_pcloud(call)
    wishes.check(call, pcloud.owner, [wishes.REBALANCE])
    return {'rebalance': _view(rebalance.begin(
        call.context, pcloud, _question(call, pcloud, _asked(call, pcloud)),
        call.body['valid_for']))}


def end(call: api_call.Call) -> None:
    """End the rebalance of a Pcloud, if there is one.

    Rule: reference-rebalancing-end
    """
    rebalance.end(call.context, api_call.own_pcloud(call))


def _asked(call: api_call.Call, pcloud: pclouds.Pcloud) -> Mapping:
    """Return the body, and where the body has no goal, that of the plan.

    :raises: `exception.RebalanceOutdated` for a text that is no plan
    """
    if 'goal' in call.body:
        return call.body
    asked = rebalance.asked(call.body['valid_for'])
    if not isinstance(asked, dict) or not jsonschema.Draft202012Validator(
            QUESTION).is_valid(asked):
        raise exception.RebalanceOutdated(pcloud=pcloud.id)
    return asked


def _question(
    call: api_call.Call, pcloud: pclouds.Pcloud, asked: Mapping,
) -> rebalance.RebalanceGoal:
    """Read a goal.

    :param asked: the query, the body, or what a plan was made for
    :raises: `exception.Invalid`, `exception.FlavorNotFound`,
        `exception.FlavorUnusable`
    """
    fits = asked['goal'] == relocation.FIT
    given = {'flavor', 'count'} & asked.keys()
    if fits and 'flavor' not in given:
        raise exception.Invalid(
            'Invalid input for field/attribute flavor. The goal '
            f'{relocation.FIT} needs a flavor.')
    if given and not fits:
        raise exception.Invalid(
            'Invalid input for field/attribute goal. A flavor and a '
            f'count are for the goal {relocation.FIT}.')
    # A query has texts.
    return rebalance.RebalanceGoal(
        int(asked.get('max_moves', MOST_SERVERS)),
        asked.get('move', draining.LIVE),
        _bundle(call, pcloud, asked['flavor'], int(asked.get('count', 1)))
        if fits else None)


def _bundle(
    call: api_call.Call, pcloud: pclouds.Pcloud, flavor_id: str, count: int,
) -> bundles.Bundle:
    flavor, = flavors.by_ids(call.context, [flavor_id])
    return bundles.make(
        call.context, pcloud,
        [bundles.Entry(flavor, count, False)],
        projects.known_domain(call.context, pcloud.owner))


def _view(proposal: rebalance.Proposal) -> dict:
    """Return a plan for the owner, with the owner's names of hosts."""
    return {
        'moves': [{'server': each.server, 'from': each.source.name,
                   'to': each.target.name}
                  for step in proposal.steps for each in step],
        'steps': list(_steps(proposal.steps)),
        'frees': [host.name for host in proposal.frees],
        'units_saved': sum(host.units for host in proposal.frees),
        'fits': proposal.fits,
        'exact': proposal.exact,
        'pinned': [{'server': each.server, 'host': each.host,
                    'rule': each.rule, **reasons.show('reason', each.reason)}
                   for each in proposal.pinned],
        'not_explained': reasons.show_all(proposal.unknown),
        'valid_for': proposal.valid_for,
        'under_way': [{'server': each.server, 'from': each.source,
                       'to': each.target, 'step': each.step}
                      for each in proposal.under_way],
        'stopped': _stopped(proposal.stopped)}


def _steps(
    steps: Sequence[Sequence[rebalance.ServerMove]],
) -> Iterator[list[int]]:
    """Yield the places of each step's moves in the list of all moves."""
    number = itertools.count()
    for step in steps:
        yield [next(number) for _ in step]


def _stopped(stopped: assignments.Stopped | None) -> dict | None:
    if stopped is None:
        return None
    return {'at': times.shown_seconds(stopped.at),
            **reasons.show('reason', stopped.reason)}
