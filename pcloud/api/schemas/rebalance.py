# SPDX-License-Identifier: Apache-2.0

"""Query and body of ``/os-pclouds/{id}/rebalance``."""

from pcloud.api.schemas import types
from pcloud.moving import rebalances
from pcloud.rules import draining
from pcloud.rules import rebalancing

MOST_SERVERS = 1000

_NUMBER = {'type': 'string',
           'pattern': rf'^([1-9][0-9]{{0,2}}|{MOST_SERVERS})\Z',
           'description': f'a whole number from 1 to {MOST_SERVERS}'}
_GOAL = {'type': 'string', 'enum': list(rebalancing.GOALS),
         'description': f'one of {", ".join(rebalancing.GOALS)}'}
_MOVES = [draining.LIVE, draining.ANY]
_MOVE = {'type': 'string', 'enum': _MOVES,
         'description': f'one of {", ".join(_MOVES)}'}
_COUNT = {'type': 'integer', 'minimum': 1, 'maximum': MOST_SERVERS}

show_query = {
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
question = {
    'type': 'object', 'properties': _QUESTION, 'required': ['goal'],
    'additionalProperties': False}

begin = types.body(
    'rebalance',
    {'valid_for': {'type': 'string', 'maxLength': rebalances.LONGEST,
                   'pattern': r'^[A-Za-z0-9._=-]+\Z',
                   'description': 'as the plan has it'}, **_QUESTION},
    required=['valid_for'])
# Without a goal the goal of the plan counts, with all that belongs to it.
begin['properties']['rebalance']['dependentRequired'] = {
    member: ['goal'] for member in _QUESTION if member != 'goal'}
