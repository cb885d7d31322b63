# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/rehearsal``."""

import dataclasses

from pcloud.api import call as api_call
from pcloud.api.schemas import shown
from pcloud.api.views import reasons
from pcloud.planning.handlers import simulate
from pcloud.planning import rehearse

SHOW_QUERY = {
    'type': 'object',
    'properties': {'lose': {
        'type': 'string', 'enum': list(rehearse.LOSSES),
        'description': f'one of {", ".join(rehearse.LOSSES)}'}},
    'additionalProperties': False,
}

# The host by the owner's name, or the rack by its number.
_LOST = {'host': shown.TEXT, 'rack': shown.COUNT_OR_NULL}
ANSWER = shown.named('rehearsal', shown.members({
    'survives': shown.COUNT,
    'of': shown.COUNT,
    'exact': shown.FLAG,
    'bounds': shown.members({'least': shown.COUNT, 'most': shown.COUNT}),
    'worst': shown.or_null(shown.members({'servers': shown.COUNT}, _LOST)),
    'losses': shown.list_of(shown.members({
        'servers': shown.COUNT_OR_NULL,
        'survives': shown.or_null(shown.FLAG),
        'no_room': shown.members({
            'least': shown.COUNT, 'most': shown.COUNT_OR_NULL}),
    }, {**_LOST, 'hosts': shown.list_of(shown.TEXT)})),
    'more': simulate.MORE,
    'refused_servers': shown.list_of(shown.members({
        'host': shown.TEXT, 'server': shown.UUID,
        **reasons.members('reason')})),
    'not_explained': reasons.ALL}))


def show(call: api_call.Call) -> dict:
    """Return which hosts or racks may fail with capacity for their servers.

    Rule: reference-planning-rehearsal
    """
    pcloud = api_call.own_pcloud(call)
    return {'rehearsal': _view(rehearse.rehearse(
        call.context, pcloud, call.query.get('lose', rehearse.HOST)))}


def _view(rehearsal: rehearse.Rehearsal) -> dict:
    """Return a rehearsal for the owner, with the owner's names of hosts."""
    worst = rehearsal.worst
    return {
        'survives': rehearsal.least,
        'of': len(rehearsal.losses),
        'exact': rehearsal.least == rehearsal.most,
        'bounds': {'least': rehearsal.least, 'most': rehearsal.most},
        'worst': None if worst is None else {
            rehearsal.lose: worst.name, 'servers': worst.least},
        'losses': [{
            rehearsal.lose: lost.name,
            **({} if rehearsal.lose == rehearse.HOST else
               {'hosts': list(lost.hosts)}),
            'servers': lost.servers,
            'survives': lost.survives,
            'no_room': {'least': lost.least, 'most': lost.most},
        } for lost in rehearsal.losses],
        'more': [dataclasses.asdict(each) for each in rehearsal.more],
        'refused_servers': [{
            'host': each.host, 'server': each.server,
            **reasons.show('reason', each.reason),
        } for each in rehearsal.refused_servers],
        'not_explained': reasons.show_all(rehearsal.not_explained),
    }
